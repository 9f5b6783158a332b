import assert from "node:assert/strict";
import test from "node:test";

import { load } from "sinew/core";
import { load as loadAll } from "sinew/files";

import { nativeCases } from "./read.js";
import { Hash, prepare } from "./replay.js";

const classes = await load();
// The solvers that the smallest build has not.
const others = { fold: await loadAll() };

for (const native of await nativeCases()) {
  test(`${native.name}: the bits of the native engine`, () => {
    const { count, solve, many, out, answer } = prepare(others[native.task] ?? classes, native);
    const hash = new Hash();
    let reached = 0;
    if (solve === undefined) {
      many();
      hash.add(out);
    } else {
      for (let i = 0; i < count; i++) {
        const report = solve(i);
        hash.add(answer());
        hash.add(Float32Array.of(report.positionResidual, report.iterations));
        reached += report.reached;
      }
    }
    assert.equal(count, 1000);
    assert.equal(reached, native.reached);
    assert.equal(hash.value, native.hash);
  });
}
