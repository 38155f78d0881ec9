"""Runs commands at a pseudo-terminal, for the scripts that check and draw what a person sees."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time


def run(command, env, cwd, size, answers=0, seconds=300):
    """The exit code of a command, its output, and the number of questions that it did not ask.

    `size` is the number of rows and columns. Questions get `y`, as often as `answers` says. After `seconds`, the command is killed."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    ran = subprocess.Popen(command, cwd=cwd, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    said, ends = b"", time.monotonic() + seconds
    while select.select([ours], [], [], max(0, ends - time.monotonic()))[0]:
        try:
            part = os.read(ours, 65536)
        except OSError:
            # The command has closed the terminal.
            break
        said += part
        if answers and said.endswith(b"[y/N] "):
            os.write(ours, b"y\n")
            answers -= 1
    else:
        os.killpg(ran.pid, 9)
    os.close(ours)
    return ran.wait(), said.decode().replace("\r\n", "\n"), answers
