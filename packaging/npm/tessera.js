#!/usr/bin/env node
// Starts the program of this platform, which one of the optional dependencies contains.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const SCOPE = "@tessera-memory";

/** Returns the packages that may contain the program of this platform, the best first. */
function candidates() {
  const base = `${SCOPE}/${process.platform}-${process.arch}`;
  if (process.platform !== "linux") return [base];
  // Only a process with glibc has a version of glibc. Older npm versions install the packages of both C libraries.
  // Without the network, because the report would otherwise look up names.
  process.report.excludeNetwork = true;
  const glibc = process.report.getReport().header.glibcVersionRuntime;
  return glibc ? [base, `${base}-musl`] : [`${base}-musl`];
}

function program() {
  const file = process.platform === "win32" ? "tessera.exe" : "tessera";
  for (const name of candidates()) {
    try {
      return require.resolve(`${name}/bin/${file}`);
    } catch (error) {
      if (error.code !== "MODULE_NOT_FOUND") throw error;
    }
  }
  const names = candidates().join(" or ");
  console.error(
    `tessera: the package ${names} is not installed, because npm omitted optional packages or no package supports this ` +
      `platform; run \`npm install --global --include=optional tessera-memory\``,
  );
  process.exit(1);
}

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit", windowsHide: true });
// At a terminal, Ctrl-C reaches the program too. On Windows, `kill` would end the program at once.
const receivesItself = process.platform === "win32" || process.stdin.isTTY;
process.on("SIGINT", () => receivesItself || child.kill("SIGINT"));
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`tessera: cannot start ${child.spawnfile}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
