#!/usr/bin/env node
// Runs the Khronos glTF validator on files; prints errors and warnings, exit code 1 on errors.
//
// With `--given FILE` (once a file, in the same order) the messages that the given file causes by itself are left out:
// what was wrong before is written back as it was.
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { parseArgs } from "node:util";
import validator from "gltf-validator";

const HELP = "node validate.mjs FILE... [--given FILE]...";
const { values, positionals: files } = parseArgs({
  allowPositionals: true,
  options: { given: { type: "string", multiple: true, default: [] }, help: { type: "boolean" } },
});
if (values.help || !files.length || (values.given.length && values.given.length !== files.length)) {
  console.log(HELP);
  process.exit(values.help ? 0 : 2);
}

const WORDS = ["error", "warning"];
// Of one kind of message this many are shown.
const SHOWN = 3;

async function messages(file) {
  const beside = async (uri) => new Uint8Array(await readFile(resolve(dirname(file), decodeURIComponent(uri))));
  const bytes = new Uint8Array(await readFile(file));
  const report = await validator.validateBytes(bytes, { uri: file, maxIssues: 0, externalResourceFunction: beside });
  return report.issues.messages.filter((m) => m.severity < WORDS.length);
}

const text = (m) => `${m.code} at ${m.pointer ?? m.offset}: ${m.message}`;
let bad = false;
for (const [i, file] of files.entries()) {
  let found;
  let known = new Set();
  try {
    found = await messages(file);
    if (values.given.length) known = new Set((await messages(values.given[i])).map(text));
  } catch (error) {
    console.log(`${file}: ${error.message ?? error}`);
    bad = true;
    continue;
  }
  const fresh = found.filter((m) => !known.has(text(m)));
  const count = (severity) => fresh.filter((m) => m.severity === severity).length;
  const old = found.length - fresh.length;
  console.log(`${file}: ${count(0)} errors, ${count(1)} warnings${old ? ` (and ${old} that the given file has)` : ""}`);
  const seen = {};
  for (const m of fresh) {
    seen[m.code] = (seen[m.code] ?? 0) + 1;
    if (seen[m.code] <= SHOWN) console.log(`  ${WORDS[m.severity]} ${text(m)}`);
  }
  for (const [code, n] of Object.entries(seen)) if (n > SHOWN) console.log(`  ... ${code}: ${n} in all`);
  bad ||= count(0) > 0;
}
process.exitCode = bad ? 1 : 0;
