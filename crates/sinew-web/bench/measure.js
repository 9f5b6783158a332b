// What is measured, in Node and on a page.

import { load } from "sinew/core";
import { load as loadFiles } from "sinew/files";

import { nativeCases, nativeFiles } from "../test/read.js";
import { prepare } from "../test/replay.js";
import { plantedFrames } from "../test/replay_files.js";
import { race } from "./ccd.js";
import { fastest } from "./fastest.js";

/** Nanoseconds of each timed case, and of the chains beside three.js's. */
export async function measure() {
  const classes = await load();
  const times = {};
  for (const native of (await nativeCases()).filter(({ nanos }) => nanos !== undefined)) {
    const { count, many, solve, answer } = prepare(classes, native);
    let sum = 0;
    const each = () => {
      for (let i = 0; i < count; i++) {
        solve(i);
        // The rotations of the limb are read, as a program that draws it does.
        const rotations = answer();
        for (let k = 0; k < 8; k++) sum += rotations[k];
      }
    };
    times[native.name] = fastest(count, native.task === "following limb" || many === undefined ? each : many);
    if (Number.isNaN(sum)) throw new Error("a rotation is NaN");
  }
  const files = await loadFiles();
  for (const native of (await nativeFiles()).filter(({ nanos }) => nanos !== undefined)) {
    times[native.name] = fastest(native.frames, plantedFrames(files, native));
  }
  return { times, ccd: race(classes) };
}
