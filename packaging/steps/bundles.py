"""Bundles for Claude Desktop (`.mcpb`): ZIP archives with a manifest, an icon and the program."""

import json
import zipfile

from .archives import ROOT

# Unix permissions, as ZIP archives store them.
FILE, PROGRAM = 0o100644 << 16, 0o100755 << 16


def described(platform):
    """The manifest of the bundle for one platform. Claude Desktop rejects a bundle of another operating system."""
    about = json.loads((ROOT / "packaging" / "mcpb" / "manifest.json").read_text())
    about["compatibility"]["platforms"] = [platform.os]
    if platform.os == "win32":
        about["server"]["entry_point"] += ".exe"
    else:
        del about["server"]["mcp_config"]["platform_overrides"]
    return about


def add(opened, name, content, mode):
    entry = zipfile.ZipInfo(name)
    entry.external_attr = mode
    entry.compress_type = zipfile.ZIP_DEFLATED
    opened.writestr(entry, content)


def build(programs, out):
    """Builds a bundle for each platform except musl, because Claude Desktop needs glibc on Linux."""
    built = []
    for platform, program in programs.items():
        if platform.libc == "musl":
            continue
        bundle = out / f"tessera-{platform.target}.mcpb"
        with zipfile.ZipFile(bundle, "w") as opened:
            add(opened, "manifest.json", json.dumps(described(platform), indent=2) + "\n", FILE)
            add(opened, "LICENSE", (ROOT / "LICENSE").read_bytes(), FILE)
            add(opened, "icon.png", (ROOT / "plugin" / ".claude-plugin" / "icon.png").read_bytes(), FILE)
            add(opened, f"server/{platform.executable}", program.read_bytes(), PROGRAM)
        built.append(bundle)
    return built
