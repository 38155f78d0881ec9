"""The archives that dist built, and the platforms that they are for."""

import functools
import hashlib
import tarfile
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
APP = "tessera-memory"


class Failure(Exception):
    """A package that cannot be built, with the reason and the fix."""


@dataclass(frozen=True)
class Platform:
    """One target of a release, with the names that package managers use for it."""

    target: str
    os: str
    cpu: str
    libc: str | None = None
    # The names in the archives of the Claude Code plugin. `plugin/bin/tessera` computes the same names from `uname`.
    plugin: str | None = None

    @property
    def npm(self):
        """The name of the npm package, without the scope."""
        musl = "-musl" if self.libc == "musl" else ""
        return f"{self.os}-{self.cpu}{musl}"

    @property
    def executable(self):
        return "tessera.exe" if self.os == "win32" else "tessera"

    @property
    def archive(self):
        return f"{APP}-{self.target}" + (".zip" if self.os == "win32" else ".tar.gz")


PLATFORMS = [
    Platform("x86_64-unknown-linux-gnu", "linux", "x64", "glibc", "x86_64-linux"),
    Platform("aarch64-unknown-linux-gnu", "linux", "arm64", "glibc", "aarch64-linux"),
    Platform("x86_64-unknown-linux-musl", "linux", "x64", "musl"),
    Platform("aarch64-unknown-linux-musl", "linux", "arm64", "musl"),
    Platform("x86_64-apple-darwin", "darwin", "x64", None, "x86_64-macos"),
    Platform("aarch64-apple-darwin", "darwin", "arm64", None, "aarch64-macos"),
    Platform("x86_64-pc-windows-msvc", "win32", "x64", None, "x86_64-windows"),
]


@functools.cache
def manifest():
    """The table `[workspace.package]` of Cargo.toml."""
    with open(ROOT / "Cargo.toml", "rb") as file:
        return tomllib.load(file)["workspace"]["package"]


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check(archive):
    """Fails if the archive differs from the checksum in the file beside it."""
    beside = archive.with_name(archive.name + ".sha256")
    if not beside.is_file():
        raise Failure(f"{beside.name} is missing; run `dist build` again")
    wanted = beside.read_text().split()[0]
    if sha256(archive) != wanted:
        raise Failure(f"{archive.name} does not match {beside.name}; run `dist build` again")


def unpack(folder, platform, into):
    """Unpacks the program of a platform. Returns its path, or None if the folder does not contain its archive."""
    archive = folder / platform.archive
    if not archive.is_file():
        return None
    check(archive)
    to = into / platform.target
    to.mkdir(parents=True)
    program = to / platform.executable
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as opened:
            program.write_bytes(opened.read(platform.executable))
    else:
        with tarfile.open(archive) as opened:
            member = opened.extractfile(f"{APP}-{platform.target}/{platform.executable}")
            program.write_bytes(member.read())
    program.chmod(0o755)
    return program
