"""npm packages: one for each platform with the program, and `tessera-memory`, which starts the program of this platform."""

import json
import shutil
import subprocess

from .archives import APP, PLATFORMS, ROOT, manifest

SCOPE = f"@{APP}"
SERVER = "io.github.tessera-memory/tessera"
SOURCES = ROOT / "packaging" / "npm"


def folder(name):
    """The name of a folder for a package."""
    return name.replace("/", "-").lstrip("@")


def described(name, description):
    """The fields that all packages share."""
    cargo = manifest()
    return {
        "name": name,
        "version": cargo["version"],
        "description": description,
        "license": cargo["license"],
        "homepage": cargo["homepage"],
        "repository": {"type": "git", "url": f"git+{cargo['repository']}.git"},
        "engines": {"node": ">=18"},
        "publishConfig": {"access": "public"},
    }


def of_platform(platform):
    about = described(f"{SCOPE}/{platform.npm}", f"The program of {APP} for {platform.target}")
    about |= {"os": [platform.os], "cpu": [platform.cpu], "files": ["bin"], "preferUnplugged": True}
    if platform.libc:
        about["libc"] = [platform.libc]
    return about


def of_launcher(platforms):
    about = described(APP, "A token-budgeted memory for coding agents: what an agent learns in one session is available in the next")
    about |= {
        "keywords": ["claude-code", "mcp", "memory", "recall", "coding-agents"],
        # The MCP registry compares this name with server.json.
        "mcpName": SERVER,
        "bin": {"tessera": "bin/tessera.js"},
        "files": ["bin"],
        "optionalDependencies": {f"{SCOPE}/{platform.npm}": about["version"] for platform in platforms},
    }
    return about


def pack(about, files, work, out):
    """Writes the package and returns its archive."""
    staged = work / "npm" / folder(about["name"])
    (staged / "bin").mkdir(parents=True)
    (staged / "package.json").write_text(json.dumps(about, indent=2) + "\n")
    shutil.copy(ROOT / "LICENSE", staged)
    shutil.copy(SOURCES / ("README.md" if about["name"] == APP else "PLATFORM.md"), staged / "README.md")
    for file in files:
        shutil.copy(file, staged / "bin")
    command = ["npm", "pack", "--silent", "--pack-destination", out, staged]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    return out / told.stdout.strip().splitlines()[-1]


def build(programs, work, out):
    """Builds the launcher, and the packages of the platforms whose programs exist."""
    built = [pack(of_platform(platform), [program], work, out) for platform, program in programs.items()]
    return built + [pack(of_launcher(PLATFORMS), [SOURCES / "tessera.js"], work, out)]
