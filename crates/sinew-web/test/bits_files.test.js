import assert from "node:assert/strict";
import test from "node:test";

import { load } from "sinew/files";

import { nativeFiles } from "./read.js";
import { arm, creature, rig, walk } from "./replay_files.js";

const classes = await load();

for (const native of (await nativeFiles()).filter(({ task }) => task !== "frame")) {
  test(`${native.name}: the bits of the native engine`, () => {
    if (native.task === "creature") return assert.equal(creature(classes, native), native.hash);
    if (native.task === "walk") return assert.equal(walk(classes, native), native.hash);
    if (native.task === "rig") {
      assert.equal(native.goals.length, 6000);
      return assert.equal(rig(classes, native), native.hash);
    }
    const { hash, reached } = arm(classes, native);
    assert.equal(native.goals.length, 3000);
    assert.deepEqual([reached, hash], [native.reached, native.hash]);
  });
}
