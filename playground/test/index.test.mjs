// The arm of the first page, by mouse, touch and keys, within and out of its reach.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { browse, dragMouse, dragTouch, look, pressKeys, serve } from "./browser.mjs";

const server = await serve();
const browser = await browse({ hasTouch: true });
after(async () => {
  await browser.close();
  server.close();
});

test("the hand reaches the target, or as far as the arm does; the shoulder stays", async () => {
  const { page, errors } = await browser.open(`${server.root}index.html`);
  const target = await page.$("#arm .handle-target");
  const root = (await look(page, "arm")).probe.arm.root;
  const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
  const check = async (what, reached) => {
    const { state, probe } = await look(page, "arm");
    const { points, angles } = probe.arm;
    assert.deepEqual(points[0], root, what);
    [1.3, 1.1, 0.5].forEach((length, n) => assert.ok(Math.abs(distance(points[n], points[n + 1]) - length) < 1e-4, `${what}: bone ${n}`));
    assert.ok(angles[1] >= -2.6 - 1e-5 && angles[1] <= 1e-5 && Math.abs(angles[2]) <= 1.3 + 1e-5, `${what}: ${angles}`);
    const missed = distance(points.at(-1), state.target);
    // Straight towards a target that is too far.
    const least = Math.max(0, distance(root, state.target) - 2.9);
    assert.ok(Math.abs(missed - least) < 2e-3, `${what}: ${missed} away, not ${least}`);
    assert.equal(least === 0, reached, what);
  };
  await check("at first", true);
  await dragMouse(page, target, -60, -40);
  await check("by mouse", true);
  await dragTouch(page, target, 70, 30);
  await check("by touch", true);
  await pressKeys(page, target, "ArrowUp", 2);
  await check("by keys", true);
  await pressKeys(page, target, "ArrowRight", 14);
  await check("out of reach", false);
  assert.match(await page.textContent("#arm .readout"), /the hand is \d\.\d\d away$/);
  await pressKeys(page, target, "ArrowLeft", 14);
  await check("back again", true);
  assert.deepEqual(errors, []);
  await page.close();
});
