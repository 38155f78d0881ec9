"""Files for other sites that list a release: the manifests of winget, and server.json of the MCP registry."""

import json

from .archives import APP, PLATFORMS, manifest, sha256
from .npm import SERVER

WINGET = "1.12.0"
PUBLISHER = "Tessera"
WORDS = "A memory for coding agents within a token budget. Local, offline, no account."


def download(name):
    cargo = manifest()
    return f"{cargo['repository']}/releases/download/v{cargo['version']}/{name}"


def winget(folder, out):
    """Writes the three winget manifests, if the folder contains the archive for Windows."""
    windows = next(platform for platform in PLATFORMS if platform.os == "win32")
    archive = folder / windows.archive
    if not archive.is_file():
        return []
    cargo = manifest()
    about = {"PackageIdentifier": f"{PUBLISHER}.{PUBLISHER}", "PackageVersion": cargo["version"]}
    installer = about | {
        "InstallerType": "zip",
        "NestedInstallerType": "portable",
        "NestedInstallerFiles": [{"RelativeFilePath": windows.executable, "PortableCommandAlias": "tessera"}],
        "Commands": ["tessera"],
        "Installers": [
            {"Architecture": windows.cpu, "InstallerUrl": download(archive.name), "InstallerSha256": sha256(archive).upper()}
        ],
    }
    locale = about | {
        "PackageLocale": "en-US",
        "Publisher": cargo["authors"][0],
        "PackageName": PUBLISHER,
        "PackageUrl": cargo["homepage"],
        "License": cargo["license"],
        "LicenseUrl": f"{cargo['repository']}/blob/main/LICENSE",
        "ShortDescription": WORDS,
        "Moniker": "tessera",
        "Tags": ["claude-code", "mcp", "memory"],
        "ReleaseNotesUrl": f"{cargo['repository']}/releases/tag/v{cargo['version']}",
    }
    kinds = {
        "": ("version", about | {"DefaultLocale": "en-US"}),
        ".installer": ("installer", installer),
        ".locale.en-US": ("defaultLocale", locale),
    }
    built = []
    for suffix, (kind, fields) in kinds.items():
        fields |= {"ManifestType": kind, "ManifestVersion": WINGET}
        file = out / f"{PUBLISHER}.{PUBLISHER}{suffix}.yaml"
        # JSON is valid YAML, and needs no library.
        file.write_text(
            f"# yaml-language-server: $schema=https://aka.ms/winget-manifest.{kind}.{WINGET}.schema.json\n"
            + json.dumps(fields, indent=2)
            + "\n"
        )
        built.append(file)
    return built


def registry(bundles, out):
    """Writes server.json: the npm package and the bundles of this release. It omits the wheel, because `uvx` can start only a program
    with the name of its package."""
    cargo = manifest()
    stdio = {"transport": {"type": "stdio"}}
    npm = {"registryType": "npm", "identifier": APP, "version": cargo["version"], "runtimeHint": "npx"}
    packages = [npm | stdio | {"packageArguments": [{"type": "positional", "value": "mcp"}]}]
    packages += [
        {"registryType": "mcpb", "identifier": download(bundle.name), "fileSha256": sha256(bundle)} | stdio for bundle in bundles
    ]
    entry = {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": SERVER,
        "title": "Tessera",
        "description": WORDS,
        "version": cargo["version"],
        "repository": {"url": cargo["repository"], "source": "github"},
        "packages": packages,
    }
    file = out / "server.json"
    file.write_text(json.dumps(entry, indent=2) + "\n")
    return [file]
