"""Archives of the Claude Code plugin that contain the program of a platform."""

import shutil
import tarfile

from .archives import ROOT


def build(programs, work, out):
    """Builds an archive for each platform that the plugin supports."""
    built = []
    for platform, program in programs.items():
        if not platform.plugin:
            continue
        staged = work / "plugin" / platform.plugin / "tessera"
        shutil.copytree(ROOT / "plugin", staged)
        name = platform.executable if platform.os == "win32" else f"tessera-{platform.plugin}"
        shutil.copy(program, staged / "bin" / name)
        archive = out / f"tessera-plugin-{platform.plugin}.tar.gz"
        with tarfile.open(archive, "w:gz") as opened:
            opened.add(staged, arcname="tessera")
        built.append(archive)
    return built
