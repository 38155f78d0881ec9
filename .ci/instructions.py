"""Counts instructions for .ci/instructions: usage instructions.py PROGRAM [accept].

Also counts those of values that are built once per process (`LazyLock`, `OnceLock`), without those of the encoder. A value
that takes more than a few microseconds belongs into a table that is built with the program.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BUDGETS = Path(__file__).with_suffix(".tsv")
# Hash tables have random seeds, and times have more or fewer digits.
TOLERANCE = 0.03
# How many thousands more a command may need for values that it builds once.
TOLERANCE_ONCE = 10
SERVICES = ["gateway", "ledger", "mailer", "search indexer", "report builder", "session cache", "audit log", "billing worker"]
FACTS = ["listens on port {}", "keeps its logs for {} days", "was rewritten in Rust in week {}", "is owned by team {}"]
QUESTION = "which port does the gateway listen on?"
HOOK = {"hook_event_name": "UserPromptSubmit", "session_id": "SESSION", "prompt": QUESTION}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "count", "version": "1"}},
}


def notes():
    for number in range(1000):
        service, fact = SERVICES[number % len(SERVICES)], FACTS[number // len(SERVICES) % len(FACTS)]
        text = f"The {service} of region {number // 32} {fact.format(1000 + number)}."
        yield json.dumps({"content": text, "category": "facts"}) + "\n"


def environment(home, semantic):
    return {
        "PATH": os.environ["PATH"],
        "HOME": home,
        "TESSERA_HOME": f"{home}/tessera",
        "TESSERA_RECALL_SEMANTIC": semantic,
        "TZ": "UTC",
    }


def counted(program, home, arguments, text="", semantic="off", runs=1):
    """The least instructions of some runs of a command, in thousands, and those of values that are built once. Threads
    make the counts of single runs differ."""
    texts = (text.replace("SESSION", f"{semantic} {run}") for run in range(runs))
    return min(counted_once(program, home, arguments, text, semantic) for text in texts)


def built_once(profile):
    """The instructions of values that are built once, in thousands, from callgrind's profile: the costs of all calls of
    `Once::call`, through which the standard library builds them. A value that another one needs counts twice."""
    names, callee, total, is_call = {}, "", 0, False

    def name(text):
        number, _, known = text.partition(" ")
        if known:
            names[number] = known
        return names.get(number, text)

    for line in profile.read_text(errors="replace").splitlines():
        if line.startswith("fn="):
            name(line[3:])
        elif line.startswith("cfn="):
            callee = name(line[4:])
        elif is_call and callee.endswith("Once>::call"):
            total += int(line.split()[1])
        is_call = line.startswith("calls=")
    return total // 1000


def counted_once(program, home, arguments, text, semantic):
    profile = Path(home) / "profile"
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", program, *arguments]
    done = subprocess.run(command, input=text, text=True, capture_output=True, env=environment(home, semantic), cwd=home)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"{' '.join(arguments)} failed: {done.stdout}{done.stderr}")
    return int(found[1]) // 1000, built_once(profile)


def all_counts(program):
    with tempfile.TemporaryDirectory() as home:
        def run(arguments, text="", semantic="off"):
            command = [program, *arguments]
            subprocess.run(command, input=text, text=True, check=True, capture_output=True, env=environment(home, semantic))

        def count(*rest, **options):
            return counted(program, home, *rest, **options)

        run(["import", "-", "--mine"], "".join(notes()))
        prompt = json.dumps({**HOOK, "cwd": home})
        yield "version", count(["--version"])
        yield "get", count(["get", "7"])
        yield "list", count(["list"])
        yield "stats", count(["stats"])
        yield "mcp start", count(["mcp"], json.dumps(HELLO) + "\n", runs=3)
        yield "recall, words only", count(["recall", QUESTION])
        yield "remember, words only", count(["remember", "The depot is open on Mondays"])
        yield "hook, words only", count(["hook", "UserPromptSubmit"], prompt, runs=3)
        run(["doctor", "--repair"], semantic="on")
        # A hook leaves out the encoder if it takes too long, as it does here.
        yield "recall", (count(["recall", QUESTION], semantic="on")[0], 0)


def main():
    counts = dict(all_counts(str(Path(sys.argv[1]).resolve())))
    if sys.argv[2:] == ["accept"]:
        BUDGETS.write_text("".join(f"{name}\t{count}\t{once}\n" for name, (count, once) in counts.items()))
        return
    rows = (line.split("\t") for line in BUDGETS.read_text().splitlines())
    budgets = {name: (int(count), int(once)) for name, count, once in rows}
    exceeded = False
    for name, (count, once) in counts.items():
        budget, budget_once = budgets.get(name, (0, 0))
        is_over = count > budget * (1 + TOLERANCE) or once > budget_once + TOLERANCE_ONCE
        exceeded |= is_over
        verdict = "  TOO MANY" if is_over else ""
        print(f"{name:24}{count:>10} of {budget:>8} thousand instructions, {once:>5} of {budget_once:>5} built once{verdict}")
    if exceeded:
        sys.exit("find out what became slower; `.ci/instructions accept` writes new budgets if the cost is justified")


main()
