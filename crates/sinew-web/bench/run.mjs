// `npm run bench`: the solves of lab/web in Node and in Chromium beside the native engine, and chains beside three.js's
// CCDIKSolver. Exit code 1 if a bound is missed in Chromium.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { browse, serve } from "../test/browser/server.mjs";
import { measure } from "./measure.js";

const root = join(import.meta.dirname, "..");

/** Bounds in nanoseconds. */
const BOUNDS = {
  "limb on points": 120,
  "limb in a pose": 300,
  "limb, rotations read": 500,
  "ten free bones": 2000,
  "ten cones": 16000,
  "body of five goals": 50000,
  "body of five goals within limits": 100000,
  "planted frame on a plane": 15000,
};
/** Largest ratio to native. */
const RATIO = 3.5;
/** Least ratio of CCDIKSolver's time to that of `auto`. */
const FASTER = { "from rest": 60, "along a path": 40 };

const imports = {
  "sinew/core": "/dist/core.js",
  "sinew/files": "/dist/files.js",
  three: "/node_modules/three/build/three.module.js",
  "three/addons/": "/node_modules/three/examples/jsm/",
};
const body = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<script type="importmap">${JSON.stringify({ imports })}</script>
<script type="module">import { measure } from "/bench/measure.js"; window.measure = measure;</script>`;

const node = await measure();
const server = await serve(root, (path) => (path === "/" ? { type: "text/html", body } : undefined));
const browser = await browse();
const { page } = await browser.open(server.origin);
await page.waitForFunction(() => window.measure !== undefined);
const chromium = await page.evaluate(() => window.measure());
await browser.close();
server.close();

let missed = false;
const holds = (held) => {
  missed ||= !held;
  return held ? "" : "  missed";
};
console.log("nanoseconds a solve, fastest of 15 rounds        native    Node  Chromium  bound   ratio");
const native = ["native", "native.files"].flatMap((name) => JSON.parse(readFileSync(join(root, `build/${name}.json`), "utf8")));
for (const { name, nanos } of native) {
  if (nanos === undefined) continue;
  const time = chromium.times[name];
  const show = (value) => value.toFixed(0).padStart(8);
  const ratio = time / nanos;
  const end = holds(time <= BOUNDS[name] && ratio <= RATIO);
  console.log(`${name.padEnd(46)}${show(nanos)}${show(node.times[name])}  ${show(time)}${show(BOUNDS[name])}  ${ratio.toFixed(2)}${end}`);
}
for (const [where, { ccd }] of Object.entries({ Node: node, Chromium: chromium })) {
  for (const { name, ...contenders } of ccd) {
    console.log(`\nten bones ${name}, 300 goals to 1e-3, bones written, ${where}`);
    for (const [contender, { micros, solved }] of Object.entries(contenders)) {
      const faster = contenders.CCDIKSolver.micros / micros;
      const bound = contender === "auto" && where === "Chromium" ? holds(faster >= FASTER[name] && solved === 1) : "";
      console.log(`  ${contender.padEnd(12)}${micros.toFixed(2).padStart(10)} us  ${(100 * solved).toFixed(1)} % solved  ${faster.toFixed(1)} times as fast${bound}`);
    }
  }
}
process.exitCode = missed ? 1 : 0;
