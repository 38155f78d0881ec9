"""Installs the packages of a release with the real package managers, uses them, and checks that broken packages are rejected.
Started by .ci/release.

    release.py PACKAGES WHEELS DISTRIB
"""

import base64
import hashlib
import http.server
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "packaging"))
from steps import listings  # noqa: E402
from steps.archives import APP, PLATFORMS, manifest  # noqa: E402

MCPB = "@anthropic-ai/mcpb@2.1.2"
TRY = ROOT / "packaging" / "try"


class Registry(http.server.BaseHTTPRequestHandler):
    """The part of an npm registry that `npm install` asks for."""

    packages: dict = {}
    breaks = None

    def do_GET(self):
        name = self.path.lstrip("/").replace("%2f", "/")
        if name.startswith("files/"):
            body = self.packages[name.removeprefix("files/")].read_bytes()
            if self.breaks and self.breaks in name:
                body = body[:-40] + bytes(byte ^ 1 for byte in body[-40:])
        elif name in self.packages:
            body = json.dumps(self.described(name)).encode()
        else:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def described(self, name):
        archive = self.packages[name]
        with tarfile.open(archive) as opened:
            about = json.load(opened.extractfile("package/package.json"))
        digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        address = f"http://127.0.0.1:{self.server.server_port}/files/{archive.name}"
        about["dist"] = {"tarball": address, "integrity": f"sha512-{digest}"}
        return {"name": name, "dist-tags": {"latest": about["version"]}, "versions": {about["version"]: about}}

    def log_message(self, *_):
        pass


def serve(packages):
    for archive in packages.glob("*.tgz"):
        with tarfile.open(archive) as opened:
            name = json.load(opened.extractfile("package/package.json"))["name"]
        Registry.packages |= {name: archive, archive.name: archive}
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    return done.returncode, done.stdout + done.stderr


def expect(told, code, *words):
    """Fails unless the command ended with the exit code and printed the words."""
    if told[0] != code or not all(word in told[1] for word in words):
        sys.exit(f"release: expected exit code {code} and {words}, got {told[0]}:\n{told[1][-2000:]}")


def flip(path):
    """Changes one bit of a file."""
    with open(path, "r+b") as file:
        file.seek(100_000)
        (byte,) = file.read(1)
        file.seek(100_000)
        file.write(bytes([byte ^ 1]))


def npm(packages, work):
    """Installs the npm package as a user does, uses it, and tries it broken and without its optional dependency."""
    address = serve(packages)

    def install(name, *options):
        home = work / name
        home.mkdir()
        # Without the settings of the machine, such as another registry.
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "NPM_CONFIG_REGISTRY": address}
        command = ["npm", "install", "--global", "--no-fund", "--no-audit", "--prefix", home, *options, "tessera-memory"]
        return run(command, env=environment), home / "bin" / "tessera"

    told, program = install("npm")
    expect(told, 0)
    installed = sorted(path.name for path in (work / "npm/lib/node_modules/tessera-memory/node_modules/@tessera-memory").iterdir())
    if installed != ["linux-x64"]:
        sys.exit(f"release: npm installed {installed} instead of the package of this platform")
    expect(run(["sh", TRY, program]), 0, "stores and recalls")
    # The launcher passes the exit code on.
    expect(run([program, "get", "not-an-id"]), 2, "not-an-id")
    # npm ignores this option for a global installation.
    told, _ = install("npm-omitted", "--no-global", "--omit=optional")
    expect(told, 0)
    program = work / "npm-omitted/node_modules/.bin/tessera"
    expect(run([program, "--version"]), 1, "@tessera-memory/linux-x64", "npm install")
    Registry.breaks = "linux-x64"
    told, program = install("npm-broken")
    Registry.breaks = None
    # npm leaves out an optional dependency that it cannot install.
    expect(told, 0, "seems to be corrupted")
    expect(run([program, "--version"]), 1, "is not installed")
    # The release workflow publishes with this script: everything to an empty registry, and nothing twice.
    publish = ["bash", ROOT / "packaging/npm/publish", packages, "--dry-run", "--tag", "next"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(work)}
    told = run(publish, env=environment | {"NPM_CONFIG_REGISTRY": f"{address}/empty/"})
    expect(told, 0, "+ @tessera-memory/linux-x64@", "+ tessera-memory@")
    told = run(publish, env=environment | {"NPM_CONFIG_REGISTRY": address})
    version = manifest()["version"]
    expect(told, 0, f"@tessera-memory/linux-x64@{version} exists", f"\ntessera-memory@{version} exists")
    print("release: the npm package works; npm rejects a broken one")


def wheel(wheels, work):
    """Installs the wheel into a new environment, uses it, and checks that pip rejects a changed one."""
    (built,) = wheels.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", work / "venv"], check=True)
    pip = [work / "venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
    expect(run([*pip, "--find-links", wheels, "tessera-memory"]), 0)
    expect(run(["sh", TRY, work / "venv/bin/tessera"]), 0, "stores and recalls")
    changed = work / "changed" / built.name
    changed.parent.mkdir()
    shutil.copy(built, changed)
    flip(changed)
    digest = hashlib.sha256(built.read_bytes()).hexdigest()
    (work / "requirements.txt").write_text(f"tessera-memory=={manifest()['version']} --hash=sha256:{digest}\n")
    pinned = [*pip, "--force-reinstall", "--require-hashes", "--requirement", work / "requirements.txt", "--find-links"]
    expect(run([*pinned, wheels]), 0)
    expect(run([*pinned, changed.parent]), 1, "DO NOT MATCH")
    print(f"release: {built.name} works; pip rejects a changed one")


def bundles(packages, work):
    """Unpacks the bundle of Claude Desktop and the archive of the plugin, and uses the programs in them."""
    (bundle,) = packages.glob("*.mcpb")
    subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", "--prefix", work, MCPB], check=True)
    # The bundle tool unpacks and validates as Claude Desktop does.
    mcpb = work / "node_modules" / ".bin" / "mcpb"
    expect(run([mcpb, "unpack", bundle, work / "bundle"]), 0)
    expect(run([mcpb, "validate", work / "bundle" / "manifest.json"]), 0)
    about = json.loads((work / "bundle" / "manifest.json").read_text())
    program = work / "bundle" / about["server"]["entry_point"]
    expect(run(["sh", TRY, program]), 0, "stores and recalls")
    (archive,) = packages.glob("tessera-plugin-*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(work / "plugin", filter="fully_trusted")
    # The launcher finds the program beside it, with nothing installed.
    bare = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    expect(run(["sh", TRY, work / "plugin/tessera/bin/tessera"], env=bare), 0, "stores and recalls")
    print(f"release: {bundle.name} and {archive.name} work")


def broken_archives(distrib, work):
    """packaging/build.py accepts no archive that differs from its checksum, and no folder without archives."""
    copy = work / "distrib"
    copy.mkdir()
    build = [sys.executable, ROOT / "packaging" / "build.py", copy, work / "out"]
    expect(run(build), 1, "contains no archive")
    (archive,) = distrib.glob("tessera-memory-x86_64-unknown-linux-gnu.tar.gz")
    shutil.copy(archive, copy)
    expect(run(build), 1, ".sha256 is missing")
    shutil.copy(archive.with_name(archive.name + ".sha256"), copy)
    flip(copy / archive.name)
    expect(run(build), 1, "does not match")
    print("release: packaging/build.py rejects a broken archive")


def lists(packages, work):
    """The files for winget and the MCP registry, with the names and checksums of the files that they list."""
    windows = next(platform for platform in PLATFORMS if platform.os == "win32")
    (work / windows.archive).write_bytes(b"no real archive; only its checksum matters here")
    written = {file.name: file.read_text() for file in listings.winget(work, work)}
    installer = json.loads(written["Tessera.Tessera.installer.yaml"].partition("\n")[2])
    (entry,) = installer["Installers"]
    digest = hashlib.sha256((work / windows.archive).read_bytes()).hexdigest().upper()
    address = f"{manifest()['repository']}/releases/download/v{manifest()['version']}/{windows.archive}"
    if len(written) != 3 or entry["InstallerSha256"] != digest or entry["InstallerUrl"] != address:
        sys.exit(f"release: the winget manifests are wrong: {written}")
    server = json.loads((packages / "server.json").read_text())
    # The limits of the registry's schema 2025-12-11.
    if len(server["description"]) > 100 or server["name"].count("/") != 1:
        sys.exit("release: server.json exceeds the limits of the MCP registry")
    for package in server["packages"]:
        if package["registryType"] == "mcpb":
            file = packages / package["identifier"].rsplit("/", 1)[1]
            if package["fileSha256"] != hashlib.sha256(file.read_bytes()).hexdigest():
                sys.exit(f"release: server.json has a wrong checksum of {file.name}")
    with tarfile.open(next(packages.glob(f"{APP}-[0-9]*.tgz"))) as opened:
        launcher = json.load(opened.extractfile("package/package.json"))
    if launcher["mcpName"] != server["name"]:
        sys.exit("release: the npm package names another server than server.json")
    print("release: the winget manifests and server.json match the files")


def main():
    packages, wheels, distrib = map(Path, sys.argv[1:])
    for step, files in ((npm, packages), (wheel, wheels), (bundles, packages), (broken_archives, distrib), (lists, packages)):
        with tempfile.TemporaryDirectory() as work:
            step(files, Path(work))


if __name__ == "__main__":
    main()
