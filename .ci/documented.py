"""Runs the command blocks of the documentation as they are printed: each in a home of its own, and servers on a PostgreSQL of its own.

A comment before a block says how: `<!-- run: RECIPE -->`, where RECIPE is a function below, `as printed` (with `, N answers`),
`here` (with `, N answers`), or `no, WHY`. `here with a memory` stores a memory first, and `here with the last revision` sets `rev`. A
block of shell or SQL without such a comment is an error, so that no new one is forgotten.
All blocks `here` of a document run one after another in the same home at a terminal of 80 columns, as a reader types them. A block
after `<!-- output -->` must equal what the block before it printed, apart from dates and the random names of secrets."""

import difflib
import os
import pathlib
import pty
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import terminal

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENTS = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]
PROGRAMS = pathlib.Path(sys.argv[1]).resolve()
# Only documents whose path contains this text.
ONLY = sys.argv[2] if len(sys.argv) > 2 else ""
SAMPLES = ROOT.parent / "shared/data/import-samples"
BLOCK = re.compile(r"^(?:<!-- (?:run: (?P<how>[^>]*?)|(?P<output>output)) -->\n)?```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S)
# What differs between two runs: dates, times, and the random names of secrets.
VARIABLE = [(r"\b20\d\d-\d\d-\d\d\b", "DATE"), (r"\b\d\d:\d\d\b", "TIME"), (r"\bs[0-9a-z]{5}\b(?=: |`|$| )", "NAME")]
NOBODY = 65534


class Failed(Exception):
    """A block that does not do what the document says."""


class Place:
    """A home, a directory to work in, and what stands in the environment."""

    def __init__(self, base):
        self.dir = pathlib.Path(tempfile.mkdtemp(dir=base))
        self.work = self.dir / "work"
        self.work.mkdir()
        kept = {name: os.environ[name] for name in ("CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN") if name in os.environ}
        user = pathlib.Path.home()
        kept.setdefault("CARGO_HOME", str(user / ".cargo"))
        kept.setdefault("RUSTUP_HOME", str(user / ".rustup"))
        self.env = {**kept, "HOME": str(self.dir), "PATH": f"{PROGRAMS}:{os.environ['PATH']}", "LANG": "C.UTF-8"}

    def shell(self, text, answers=0, cwd=None):
        """Runs lines of shell. Questions get `y`, as from somebody at a terminal."""
        ours, theirs = pty.openpty()
        os.write(ours, b"y\n" * answers)
        try:
            ran = subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", text], cwd=cwd or self.work, env=self.env, stdin=theirs,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
            )
        finally:
            os.close(ours)
            os.close(theirs)
        if ran.returncode != 0:
            raise Failed(f"exit code {ran.returncode}\n{ran.stdout}")
        return ran.stdout

    def terminal(self, text, answers=0):
        """Runs lines of shell at a terminal, in the directory where the previous lines ended. Questions get `y`."""
        left = self.dir / "left"
        env = {**self.env, "TERM": "xterm", "NO_COLOR": "1", "PAGER": "cat"}
        cwd = left.read_text().strip() if left.exists() else self.dir
        command = ["bash", "-e", "-c", f"{text}\npwd >'{left}'"]
        code, said, unasked = terminal.run(command, env, cwd, (50, 80), answers)
        if code != 0 or unasked:
            raise Failed(f"exit code {code}, {unasked} questions were not asked\n{said}")
        return said

    def expect(self, text, *words, **how):
        said = self.shell(text, **how)
        for word in words:
            if word not in said:
                raise Failed(f"{word!r} is missing in\n{said}")
        return said


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Postgres:
    """A cluster of one block's own."""

    def __init__(self, place):
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
        self.programs = found[-1] if found else pathlib.Path(
            subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, check=True).stdout.strip())
        self.dir, self.port = pathlib.Path(tempfile.mkdtemp(dir="/tmp")), free_port()
        self.how = {"user": NOBODY, "group": NOBODY} if os.getuid() == 0 else {}
        if self.how:
            os.chown(self.dir, NOBODY, NOBODY)
        data = self.dir / "data"
        self.run("initdb", "-D", data, "-U", "postgres", "--auth=trust", "--no-sync")
        self.server = subprocess.Popen(
            [self.programs / "postgres", "-D", data, "-p", str(self.port), "-k", self.dir, "-c", "fsync=off"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.dir, **self.how)
        place.env.update({"PGHOST": "localhost", "PGPORT": str(self.port), "PGUSER": "postgres"})
        place.env["PATH"] = f"{self.programs}:{place.env['PATH']}"
        for _ in range(100):
            if subprocess.run([self.programs / "pg_isready", "-h", "localhost", "-p", str(self.port)],
                              capture_output=True).returncode == 0:
                return
            time.sleep(0.1)
        raise Failed("PostgreSQL does not start")

    def run(self, program, *arguments):
        subprocess.run([self.programs / program, *map(str, arguments)], check=True, capture_output=True, cwd=self.dir, **self.how)

    def stop(self):
        self.server.terminate()
        self.server.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


def without(text, line):
    """The block without a line that installs what is there already."""
    lines = [one for one in text.splitlines() if not one.startswith(line)]
    if len(lines) == len(text.splitlines()):
        raise Failed(f"the block has no line that begins with {line!r}")
    return "\n".join(lines)


def demo(place, text):
    if "cargo run --release --locked --" not in text:
        raise Failed("the block does not run the program")
    place.expect(text.replace("cargo run --release --locked --", "tessera"), "tokens")


def first(place, text):
    place.expect(without(text, "cargo install"), "1 found", "I prefer Svelte over React for new front ends")


def team_demo(place, text):
    # The script builds both programs in release form; here the tests' own are run.
    release = place.dir / "target/release"
    release.mkdir(parents=True)
    for program in ("tessera", "tessera-server"):
        (release / program).symlink_to(PROGRAMS / program)
    shim = place.dir / "bin"
    shim.mkdir()
    (shim / "cargo").write_text("#!/bin/sh\nexit 0\n")
    (shim / "cargo").chmod(0o755)
    place.env.update({"CARGO_TARGET_DIR": str(place.dir / "target"), "PATH": f"{shim}:{place.env['PATH']}"})
    place.expect(text, "keeps both texts", cwd=ROOT)


def server(place, text):
    postgres, serving = Postgres(place), None
    try:
        lines = without(text, "cargo install").splitlines()
        start = next(line for line in lines if line.startswith("tessera-server --listen"))
        place.shell("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost "
                    "-addext basicConstraints=CA:FALSE -keyout key.pem -out cert.pem 2>&1")
        before = "\n".join(line for line in lines if line is not start)
        said = place.expect(before, "this key is shown only once")
        key = re.search(r"tsr_\S+", said).group()
        port = free_port()
        environment = "\n".join(line for line in lines if line.startswith("export"))
        script = f"{environment}\nexec {start.replace('8765', str(port))}"
        serving = subprocess.Popen(["bash", "-c", script], cwd=place.work, env=place.env, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        ask = f"curl -sf --cacert cert.pem https://localhost:{port}/ready"
        for _ in range(100):
            if subprocess.run(["bash", "-c", ask], cwd=place.work, env=place.env, capture_output=True).returncode == 0:
                break
            time.sleep(0.1)
        place.env["SSL_CERT_FILE"] = str(place.work / "cert.pem")
        place.shell("tessera remember 'the database password is Kestrel-42-Dawn'")
        joined = f"TESSERA_API_KEY={key} tessera sync join --upload all https://localhost:{port}"
        place.expect(joined, "changes sent")
    finally:
        if serving:
            serving.terminate()
            serving.wait()
        postgres.stop()


def plugin_in_rust(place, text):
    place.env["CARGO_TARGET_DIR"] = ""
    del place.env["CARGO_TARGET_DIR"]
    place.expect(text, "team-tags", answers=2)


def plugin_that_is_a_program(place, text):
    for file in (ROOT / "desk/plugins/examples/journal").iterdir():
        if file.is_file():
            shutil.copy(file, place.work)
    place.shell(text, answers=2)
    place.expect("tessera plugin list", "journal")


def older_database(place, text):
    postgres = Postgres(place)
    try:
        place.shell("createuser oldapp && createdb --owner=oldapp claude_memory")
        place.shell(f"psql -q -v ON_ERROR_STOP=1 -U oldapp claude_memory < '{ROOT}/fixtures/db/older-postgresql.sql' >/dev/null")
        (place.work / "roles.sql").write_text(text.replace("<owner of its tables>", "oldapp"))
        place.shell("psql -v ON_ERROR_STOP=1 --file=roles.sql claude_memory")
        place.env["DATABASE_URL"] = "postgres://tessera@localhost/claude_memory"
        place.expect("tessera-server migrate", "up to date")
    finally:
        postgres.stop()


def older(place, text, answers, sample, target, words):
    """Moves a sample of an older system to where that system keeps it."""
    if not SAMPLES.is_dir():
        return "there are no samples"
    to = place.dir / target
    to.parent.mkdir(parents=True, exist_ok=True)
    source = SAMPLES / sample
    (shutil.copytree if source.is_dir() else shutil.copy)(source, to)
    subprocess.run(["chmod", "-R", "u+w", str(place.dir)], check=True)
    place.expect(text, *words, answers=answers)


def basic_memory(place, text):
    skipped = older(place, "true", 0, "basic-memory/vault", "basic-memory", [])
    if skipped:
        return skipped
    shutil.copytree(SAMPLES / "basic-memory/dot-basic-memory", place.dir / ".basic-memory")
    subprocess.run(["chmod", "-R", "u+w", str(place.dir)], check=True)
    config = place.dir / ".basic-memory/config.json"
    config.write_text(config.read_text().replace("/home/ada", str(place.dir)))
    place.shell(text, answers=1)


def claude_memory_mcp(place, text):
    return older(place, text, 2, "viktorbarzin-sqlite/memory.db", ".claude/claude-memory/memory/memory.db", ["3 stored"])


def memory_mcp(place, text):
    return older(place, text, 2, "whenmoon-v2.5.0/memory.db", ".memory-mcp/memory.db", [])


def plain(text, home="~"):
    """A text without what differs between two runs, and without white space, because the length of a path moves line breaks."""
    # The random name of a secret also changes the number of tokens.
    of_secret = [(r"\b\d+ tokens", "N tokens")] if "[secret " in text else []
    for expression, name in VARIABLE + of_secret:
        text = re.sub(expression, name, text, flags=re.M)
    return "".join(text.split()).replace(home, "~")


def compare(printed, said, home):
    """Fails if the output differs from what the document prints."""
    if plain(printed) != plain(said, home):
        lines = difflib.unified_diff(printed.splitlines(), said.splitlines(), "document", "program", lineterm="")
        raise Failed("the output differs\n" + "\n".join(lines))


def run(how, place, text):
    printed = re.fullmatch(r"as printed(?:, (\d+) answers?)?", how)
    if printed:
        place.shell(text, answers=int(printed.group(1) or 0))
        return None
    recipe = globals().get(how.replace("-", "_").replace(" ", "_").lower())
    if recipe is None:
        raise Failed(f"there is no recipe {how!r}")
    return recipe(place, text)


def main():
    failed = count = outputs = 0
    with tempfile.TemporaryDirectory() as base:
        for document in (one for one in DOCUMENTS if ONLY in one):
            text, shared, said = (ROOT / document).read_text(), None, None
            for block in BLOCK.finditer(text):
                kind, how = block["kind"], block["how"]
                where = f"{document}:{text[:block.start('text')].count(chr(10))}"
                if kind not in ("sh", "bash", "sql") and how is None and not block["output"]:
                    continue
                count += 1
                here = re.fullmatch(r"here(?: with (a memory|the last revision))?(?:, (\d+) answers?)?", how or "")
                try:
                    if block["output"]:
                        outputs += 1
                        if said is None:
                            raise Failed("there is no command before this output")
                        compare(block["text"], said, str(shared.dir))
                        print(f"{where}: equal")
                    elif how is None:
                        raise Failed("no comment says how it is run")
                    elif here:
                        shared = shared or Place(base)
                        if here.group(1) == "a memory":
                            shared.terminal("tessera remember The office closes at six")
                        elif here.group(1):
                            # The reader reads the revision from the list of `tessera history`, whose latest change is first.
                            shared.env["rev"] = re.search(r"^ (\d+) ", said, re.M).group(1)
                        said = shared.terminal(block["text"], answers=int(here.group(2) or 0))
                        print(f"{where}: ran")
                    elif how.startswith("no, "):
                        print(f"{where}: not run: {how[4:]}")
                    else:
                        skipped = run(how, Place(base), block["text"])
                        print(f"{where}: {'not run: ' + skipped if skipped else 'ran'}")
                except (Failed, subprocess.SubprocessError) as error:
                    print(f"{where}: FAILED: {error}")
                    failed += 1
    print(f"{count} blocks, {outputs} outputs, {failed} failed")
    return 1 if failed or count < 10 else 0


sys.exit(main())
