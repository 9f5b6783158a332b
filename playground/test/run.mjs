// The tests in Chromium of what is built: `node test/run.mjs [--all]`.
//
// Without `--all`: the first page and the first three of the essay, what pages share on two of them, and of the others that
// they load, answer in time and say nothing. With it: every page, those that are not linked yet too.

import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const all = process.argv.includes("--all");
const first = ["index", "follow", "two_bones", "solvers", "pages"];
const files = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith(".test.mjs") && (all || first.includes(name.split(".")[0])))
  .map((name) => join(import.meta.dirname, name));
const root = join(import.meta.dirname, "..");
const env = { ...process.env, PLAYGROUND_ALL: all ? "1" : "" };
const run = (command, ...given) => {
  const { status, error } = spawnSync(command, given, { cwd: root, stdio: "inherit", env, shell: process.platform === "win32" });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
};
run("npm", "run", "--silent", "build");
// Two files at a time, as each browser draws by the processor where there is no graphics card. The time is that of a
// file, three times what the longest takes on a slow machine.
const timeout = (all ? 30 : 10) * 60_000;
run("node", "--test", "--test-concurrency=2", "--test-force-exit", `--test-timeout=${timeout}`, ...files);
