"""Makes the pictures of the README and the book from the real program: `pictures.py PROGRAMS OUT`.

session.svg is a terminal session, score.svg the parts of a score, and budget.svg replies at several budgets. A picture does not depend
on the time or on the machine, so a test can compare it with the one in docs/pictures."""

import html
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import terminal
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

PROGRAMS, OUT = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
WIDTH, ROWS = 84, 50
# The colours of a dark terminal; readable on a white and on a black page.
THEME = TerminalTheme(
    (22, 27, 34), (201, 209, 217),
    [(72, 79, 88), (255, 123, 114), (63, 185, 80), (210, 153, 34), (88, 166, 255), (188, 140, 255), (57, 197, 207), (177, 186, 196)],
)
SESSION = [
    "tessera remember I prefer Svelte over React for new front ends",
    "tessera remember The nightly backup of the customer database runs at 2 am",
    "tessera recall which front end framework",
    "tessera recall when do we save a copy of client data",
    "tessera recall backup --as-model --max-tokens 100",
    "tessera remember the database password is Kestrel-42-Dawn",
]
NOTES = [
    "The staging database listens on port 5440",
    "Staging deploys run on Tuesdays and need two approvals",
    "The old staging cluster was shut down in May",
    "The staging certificates are renewed by a job on the first Monday of each month",
    "Production database backups run at 2 am",
]
QUESTION = "which port does the staging database use"
# Parts of a score, with the words of the book and a colour.
PARTS = [
    ("embedding", "meaning", "#4c78a8"), ("held", "share of the question", "#72b7b2"), ("text", "words", "#54a24b"),
    ("importance", "importance", "#eeca3b"), ("recency", "recent use", "#f58518"), ("frequency", "frequent use", "#e45756"),
]


class Home:
    """An empty home with a fixed time."""

    def __init__(self, base):
        self.dir = pathlib.Path(tempfile.mkdtemp(dir=base))
        self.env = {"HOME": str(self.dir), "PATH": f"{PROGRAMS}:{os.environ['PATH']}", "LANG": "C.UTF-8", "TERM": "xterm-256color",
                    "TESSERA_NOW": "2026-11-20T10:00:00Z", "PAGER": "cat"}

    def terminal(self, line):
        """The output of a line of shell at a terminal, with its colours."""
        code, said, _ = terminal.run(["sh", "-c", line], self.env, self.dir, (ROWS, WIDTH))
        if code != 0:
            sys.exit(f"{line}: exit code {code}\n{said}")
        return said

    def json(self, *arguments):
        ran = subprocess.run(["tessera", *arguments, "--json"], cwd=self.dir, env=self.env, capture_output=True, text=True, check=True)
        return json.loads(ran.stdout)


def session(base):
    home, console = Home(base), Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for line in SESSION:
        said = home.terminal(line).rstrip("\n")
        # The name of a secret is random, and the path is that of this machine.
        said = re.sub(r"\bs[0-9a-z]{5}\b(?=: |`| shows)", "s7k4q2", said)
        said = re.sub(r"^Redacted .*", lambda found: " ".join(found[0].replace("/\n", "/").split()), said, flags=re.S | re.M)
        said = said.replace(str(home.dir), "~")
        said = re.sub(r"\b1[0-9] tokens\)", "12 tokens)", said) if "[secret" in said else said
        console.print(Text.from_markup(f"[bold green]$[/] [bold]{line}[/]"), soft_wrap=False)
        console.print(Text.from_ansi(said))
        console.print()
    picture = console.export_svg(title="tessera", theme=THEME, unique_id="session", font_aspect_ratio=0.61)
    # A page must not load fonts from another server.
    picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.S)
    return re.sub(r"<!-- Generated with Rich.*?-->\s*", "", picture, flags=re.S).replace("Fira Code", "ui-monospace")


def svg(width, height, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'font-family="sans-serif" font-size="14">\n<rect width="{width}" height="{height}" fill="#ffffff"/>\n' + "".join(parts) + "</svg>\n")


def text(x, y, said, anchor="start", fill="#222222", size=14, font=""):
    font = f' font-family="{font}"' if font else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{fill}" font-size="{size}"{font}>{html.escape(said)}</text>\n'


def box(x, y, width, height, fill):
    return f'<rect x="{x:.1f}" y="{y:g}" width="{width:.1f}" height="{height}" fill="{fill}" stroke="#ffffff"/>\n'


def filled(base):
    home = Home(base)
    for note in NOTES:
        home.json("remember", note)
    return home


def score(base):
    """The parts of the score of each memory, also of those below the relevance threshold."""
    reply = filled(base).json("recall", QUESTION, "--explain", "--weak", "--max-tokens", "1000")
    rows = [(NOTES[row["id"] - 1], row["parts"], row["score"]) for row in reply["details"] + reply["index"]]
    others = [note for note in NOTES if note not in [content for content, _, _ in rows]]
    rows += [(note, {}, 0.0) for note in others]
    scale, left, parts = 380, 420, [text(16, 28, f"Question: {QUESTION}?", size=15)]
    for number, (content, shares, total) in enumerate(rows):
        y, x = 48 + number * 34, float(left)
        parts.append(text(left - 10, y + 18, content if len(content) < 56 else content[:54] + "…", "end", size=13))
        for name, _, colour in PARTS:
            width = shares.get(name, 0.0) * scale
            if width > 0.5:
                parts.append(box(x, y, width, 24, colour))
                x += width
        shown = f"{total:.2f}" if shares else "below the threshold"
        parts.append(text(x + 8, y + 17, shown, size=13, fill="#222222" if shares else "#777777"))
    y = 60 + len(rows) * 34
    for number, (_, name, colour) in enumerate(PARTS):
        x = 24 + sum(40 + 8 * len(before) for _, before, _ in PARTS[:number])
        parts += [box(x, y, 14, 14, colour), text(x + 20, y + 12, name, size=13)]
    return svg(880, y + 30, parts)


def budget(base):
    """The reply for the same question at several budgets."""
    home, parts, y = filled(base), [text(16, 28, "tessera recall staging --max-tokens N", size=15, font="monospace")], 48
    for most in (60, 80, 120):
        said = home.terminal(f"tessera recall staging --as-model --max-tokens {most}").rstrip("\n").split("\n")
        used = re.search(r"(\d+) tokens", said[0])[1]
        parts.append(text(16, y + 16, f"N = {most}"))
        parts.append(text(16, y + 36, f"{used} used", fill="#777777", size=12))
        for line in said:
            kind = "#dbe9f6" if line.startswith("#") else "#fdebd0" if line.startswith("-") else "#eeeeee"
            parts += [box(110, y, 750, 20, kind), text(116, y + 15, line, size=12, font="monospace")]
            y += 21
        y += 16
    for number, (name, colour) in enumerate([("full text", "#dbe9f6"), ("summary or ID", "#fdebd0"), ("header and end", "#eeeeee")]):
        parts += [box(110 + number * 160, y, 14, 14, colour), text(130 + number * 160, y + 12, name, size=13)]
    return svg(880, y + 30, parts)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as base:
        for name, draw in (("session", session), ("score", score), ("budget", budget)):
            (OUT / f"{name}.svg").write_text(draw(base))


main()
