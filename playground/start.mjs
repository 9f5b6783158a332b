// Builds the npm package of the engine if it is absent, and starts the dev server: `node start.mjs [--package]`.
//
// With `--package` only the first.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const engine = join(import.meta.dirname, "../crates/sinew-web");
const TARGET = "wasm32-unknown-unknown";

if (!["core", "files"].every((name) => existsSync(join(engine, `dist/${name}.js`)))) {
  console.log("Building the engine's npm package, once. This takes a few minutes.");
  const sysroot = spawnSync("rustc", ["--print", "sysroot"], { encoding: "utf8" });
  if (sysroot.error) stop("The engine is built by Rust, which is not installed here: https://rustup.rs has it.");
  if (!existsSync(join(sysroot.stdout.trim(), "lib/rustlib", TARGET))) {
    stop(`Rust's target ${TARGET} is not installed: \`rustup target add ${TARGET}\` installs it.`);
  }
  run("ci", "--loglevel=error");
  run("run", "--silent", "build", "--", "core", "files");
}

if (!process.argv.includes("--package")) {
  const { createServer } = await import("vite");
  const server = await createServer({ root: import.meta.dirname, server: { open: true } });
  await server.listen();
  server.printUrls();
}

function run(...given) {
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const { status, error } = spawnSync(npm, given, { cwd: engine, stdio: "inherit", shell: process.platform === "win32" });
  if (error) stop(`npm cannot be run: ${error.message}`);
  if (status !== 0) stop(`The engine's npm package cannot be built: \`npm ${given.join(" ")}\` in crates/sinew-web has failed.`);
}

function stop(why) {
  console.error(why);
  process.exit(1);
}
