// Builds the package into dist/: `node build.mjs [core] [whole] [files]`, all builds without names.
//
// A build: WebAssembly by cargo, the glue beside it by `bindgen/`, the classes by tsc.
// Exit code 1 if a step fails or a build exceeds its bounds of size.

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const here = import.meta.dirname;
const root = join(here, "../..");
const dist = join(here, "dist");
const TARGET = "wasm32-unknown-unknown";

/**
 * Cargo's features for each build, and its bounds in kB of 1000 bytes, raw and compressed by gzip: a hundredth above what the engine
 * takes today. The aims are 600 and 240, 1200 and 480, 2100 and 820.
 */
const BUILDS = {
  core: { features: [], raw: 880, gzip: 381 },
  whole: { features: ["whole"], raw: 1977, gzip: 845 },
  files: { features: ["files"], raw: 3308, gzip: 1358 },
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(BUILDS);
const unknown = names.find((name) => !(name in BUILDS));
if (unknown) stop(`there is no build ${unknown}: there are ${Object.keys(BUILDS).join(", ")}`);

const cargo = process.env.CARGO ?? "cargo";
const sysroot = output("rustc", ["--print", "sysroot"]);
if (!existsSync(join(sysroot, "lib/rustlib", TARGET))) {
  stop(`Rust's target ${TARGET} is not installed: \`rustup target add ${TARGET}\` installs it`);
}
const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
// Panics name source files: paths of this machine would be part of the module.
const remapped = [
  [root, "sinew"],
  [process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "cargo"],
  [join(sysroot, "lib/rustlib/src/rust"), "rust"],
].map(([path, name]) => `--remap-path-prefix=${path}=${name}`);

const { version } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
if (!readFileSync(join(root, "Cargo.toml"), "utf8").includes(`\nversion = "${version}"\n`)) {
  stop(`package.json has version ${version}, Cargo.toml another`);
}

// LLVM inlines up to a cost of 225 at this level. At 60 the module is 7 % smaller, and solves take 1 % longer; at 50 (7.5 %), 2 or 3 %.
const flags = [...remapped, "-Cllvm-args=-inline-threshold=50"];

const bindgen = join(target, "bindgen");
run(cargo, ["build", "--quiet", "--locked", "--manifest-path", join(here, "bindgen/Cargo.toml"), "--target-dir", bindgen]);

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
let exceeded = false;
for (const name of names) {
  const { features, raw, gzip } = BUILDS[name];
  const only = ["--package", "sinew-web", "--lib", "--features", features.join()];
  run(cargo, ["build", "--quiet", "--profile", "web", "--target", TARGET, "--target-dir", target, ...only], {
    CARGO_ENCODED_RUSTFLAGS: flags.join("\x1f"),
  });
  run(join(bindgen, "debug/sinew-bindgen"), [join(target, TARGET, "web/sinew_web.wasm"), name, dist]);
  const bytes = readFileSync(join(dist, `${name}.wasm`));
  const compressed = gzipSync(bytes, { level: 9 });
  const text = `/** The module, compressed by gzip, as base64. */\nexport const text = "${compressed.toString("base64")}";\n`;
  writeFileSync(join(dist, `${name}.text.js`), text);
  writeFileSync(join(dist, `${name}.text.d.ts`), "export const text: string;\n");
  const size = (length, bound) => `${(length / 1000).toFixed(1)} kB (at most ${bound})`;
  console.log(`${name}.wasm: ${size(bytes.length, raw)}, gzip ${size(compressed.length, gzip)}`);
  exceeded ||= bytes.length > raw * 1000 || compressed.length > gzip * 1000;
}

// Only what has been built: the other entry points have no glue to be checked against. The classes of a build are those of all before it,
// whose types its own glue has too.
const files = names.flatMap((name) => ["", ".inline"].map((kind) => `../js/${name}${kind}.ts`));
const all = Object.keys(BUILDS);
const largest = all.findLast((name) => names.includes(name));
for (const name of all.slice(0, all.indexOf(largest))) {
  const types = join(dist, `${name}.glue.d.ts`);
  if (!existsSync(types)) writeFileSync(types, `export * from "./${largest}.glue.js";\n`);
}
mkdirSync(join(here, "build"), { recursive: true });
const config = join(here, "build/tsconfig.json");
writeFileSync(config, JSON.stringify({ extends: "../tsconfig.json", include: [], files }));
run(process.execPath, [join(here, "node_modules/typescript/bin/tsc"), "--project", config]);
for (const licence of ["LICENSE-MIT", "LICENSE-APACHE"]) copyFileSync(join(root, licence), join(here, licence));
if (exceeded) stop("a module exceeds its bound");

function run(command, given, env = {}) {
  const { status, error } = spawnSync(command, given, { cwd: root, stdio: "inherit", env: { ...process.env, ...env } });
  if (error) stop(`${command} cannot be run: ${error.message}`);
  if (status !== 0) process.exit(1);
}

function output(command, given) {
  const { stdout, error } = spawnSync(command, given, { encoding: "utf8" });
  if (error) stop(`${command} cannot be run (${error.message}): https://rustup.rs has Rust`);
  return stdout.trim();
}

function stop(why) {
  console.error(why);
  process.exit(1);
}
