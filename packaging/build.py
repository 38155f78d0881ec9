"""Makes the packages of a release from the archives that `dist build` wrote.

    python3 packaging/build.py ARCHIVES OUTPUT

Writes npm packages, bundles for Claude Desktop, archives of the Claude Code plugin, the manifests of winget, server.json for the MCP
registry. Also writes `packages.sha256`, the checksums of these files and of the installers. Needs Python 3.11 and npm. Leaves out
platforms whose archive is missing.
"""

import sys
import tempfile
from pathlib import Path

from steps import bundles, listings, npm, plugin
from steps.archives import PLATFORMS, Failure, sha256, unpack

# Files of packaging/global without a checksum of their own.
SHARED = ["*-installer.*", "*.rb", "*.cdx.json"]


def build(archives, out):
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        found = {platform: unpack(archives, platform, work / "programs") for platform in PLATFORMS}
        programs = {platform: program for platform, program in found.items() if program}
        if not programs:
            raise Failure(f"{archives} contains no archive of a release; run `dist build` first")
        desktop = bundles.build(programs, out)
        built = npm.build(programs, work, out) + desktop + plugin.build(programs, work, out)
        built += listings.winget(archives, out) + listings.registry(desktop, out)
    shared = [file for pattern in SHARED for file in sorted(archives.glob(pattern))]
    (out / "packages.sha256").write_text("".join(f"{sha256(file)}  {file.name}\n" for file in built + shared))
    return built


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: build.py ARCHIVES OUTPUT")
    try:
        for file in build(Path(sys.argv[1]), Path(sys.argv[2]).resolve()):
            print(file.name)
    except Failure as failure:
        sys.exit(f"build.py: {failure}")


if __name__ == "__main__":
    main()
