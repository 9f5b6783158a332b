// The page Two bones: each figure by mouse, touch and keys, beside the triangle worked out here.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { browse, dragMouse, dragTouch, handle, look, pressKeys, serve, settled, slide } from "./browser.mjs";
import { cross, distance, dot, minus, near, size } from "./points.mjs";

const server = await serve();
const browser = await browse({ hasTouch: true });
const url = `${server.root}two-bones.html`;
after(async () => {
  await browser.close();
  server.close();
});

const across = (a, axis) => minus(a, axis.map((value) => (value * dot(a, axis)) / dot(axis, axis)));

/** Drags a handle by mouse and by touch and steps it by keys, and checks each time. */
async function tryAll(page, id, name, check, keys) {
  const target = await handle(page, id, name);
  for (const drag of [dragMouse, dragTouch]) {
    for (const [dx, dy] of [[40, -25], [-70, 40], [15, 30]]) {
      const before = await look(page, id);
      await drag(page, target, dx, dy);
      const now = await look(page, id);
      assert.notDeepEqual(now.state, before.state, `${id}: ${name} by ${drag.name}`);
      check(now, `${id}: ${name} by ${drag.name}`);
    }
  }
  for (const [key, field, axis, by] of keys) {
    const before = await look(page, id);
    await pressKeys(page, target, key, 1);
    const now = await look(page, id);
    near(now.state[field][axis], before.state[field][axis] + by, 1e-6, `${id}: ${key}`);
    check(now, `${id}: ${key}`);
  }
}

test("triangle: the bones close it, on the side that is chosen", async () => {
  const { page, errors } = await browser.open(url);
  const check = ({ state, probe }, what) => {
    const { root, target, upper, lower, side } = state;
    near(distance(root, probe.middle), upper, 1e-4, `${what}: upper bone`);
    near(distance(probe.middle, probe.end), lower, 1e-4, `${what}: forearm`);
    const r = distance(root, target);
    const reach = Math.min(Math.max(r, Math.abs(upper - lower)), upper + lower);
    near(distance(probe.end, target), Math.abs(r - reach), 1e-4, `${what}: hand`);
    const [a, b] = [minus(probe.middle, root), minus(target, root)];
    const turn = b[0] * a[1] - b[1] * a[0];
    assert.ok(side === "left" ? turn >= -1e-4 : turn <= 1e-4, `${what}: bends ${side}, not by ${turn}`);
    // The angles of the formulas are those of the engine's triangle.
    const angle = (u, v) => Math.acos(Math.min(Math.max(dot(u, v) / size(u) / size(v), -1), 1));
    near(probe.angles.root, angle(a, minus(probe.end, root)), 2e-3, `${what}: angle at the root`);
    near(probe.angles.joint, angle(minus(root, probe.middle), minus(probe.end, probe.middle)), 2e-3, `${what}: angle at the joint`);
  };
  for (const side of ["left", "right"]) {
    await page.click(`#triangle label:has-text("${side}")`);
    await tryAll(page, "triangle", "Target", check, [["ArrowRight", "target", 0, 0.1], ["Shift+ArrowUp", "target", 1, 0.01]]);
    await tryAll(page, "triangle", "Root", check, [["ArrowUp", "root", 1, 0.1]]);
  }
  await slide(page, "triangle", "Length a", 0.4);
  const short = await look(page, "triangle");
  assert.equal(short.state.upper, 0.4);
  check(short, "a short upper bone");
  const shown = await page.$$eval("#triangle .sums strong", (all) => all.map(({ textContent }) => textContent));
  assert.equal(shown[1], `α = ${Math.round((short.probe.angles.root * 180) / Math.PI)}°`);
  assert.deepEqual(errors, []);
  await page.close();
});

test("reach: straight at the target out of reach, and behind it in a soft zone", async () => {
  const { page, errors } = await browser.open(url);
  const check = ({ state, probe }, what) => {
    const r = size(state.target);
    near(distance(probe.elbow, [0, 0, 0]), 1, 1e-4, `${what}: upper bone`);
    near(distance(probe.elbow, probe.tip), 0.8, 1e-4, `${what}: forearm`);
    const end = size(probe.tip);
    // On the line to the target, and never beyond it.
    near(dot(probe.tip, [...state.target, 0]) / r, end, 1e-3, `${what}: direction`);
    if (state.soft === 0) near(end, Math.min(Math.max(r, 0.2), 1.8), 1e-3, `${what}: hand`);
    else assert.ok(end <= Math.max(r, 0.2) + 1e-4 && end < 1.8, `${what}: ${end} of ${r}`);
  };
  for (const soft of [0, 0.2]) {
    await slide(page, "reach", "Soft zone", soft);
    await tryAll(page, "reach", "Target", check, [["ArrowLeft", "target", 0, -0.1], ["ArrowUp", "target", 1, 0.1]]);
    // The plot: the bend never grows with distance. Without a soft zone it ends at a wall, with one it does not.
    const { curve } = (await look(page, "reach")).probe;
    let steepest = 0;
    curve.slice(1).forEach(([share, bend], n) => {
      assert.ok(bend <= curve[n][1] + 1e-4, `bend grows to ${bend} at ${share}`);
      steepest = Math.max(steepest, (curve[n][1] - bend) / (share - curve[n][0]));
    });
    assert.ok(soft === 0 ? steepest > 20 : steepest < 10, `the bend falls by ${steepest} with a soft zone of ${soft}`);
  }
  await page.click('#reach button:has-text("Move in and out")');
  const { time } = await look(page, "reach");
  await page.waitForFunction((solves) => window.playground.figures.reach.time.solves > solves + 5, time.solves);
  await page.click('#reach button:has-text("Pause")');
  check(await look(page, "reach"), "in motion");
  assert.deepEqual(errors, []);
  await page.close();
});

const UPPER = 0.72;
const FOREARM = 0.62;

function checkArm({ state, probe }, what) {
  near(distance(probe.shoulder, [0, 0.9, 0]), 0, 1e-6, `${what}: shoulder`);
  near(distance(probe.shoulder, probe.elbow), UPPER, 1e-4, `${what}: upper bone`);
  near(distance(probe.elbow, probe.tip), FOREARM, 1e-4, `${what}: forearm`);
  const r = distance(probe.shoulder, state.target);
  const reach = Math.min(Math.max(r, UPPER - FOREARM), UPPER + FOREARM);
  near(distance(probe.tip, state.target), Math.abs(r - reach), 1e-3, `${what}: hand`);
}

test("space: a turn about the vertical, then the triangle in that plane", async () => {
  const { page, errors } = await browser.open(url);
  for (const side of ["up", "down"]) {
    await page.click(`#space .choice:has-text("Elbow") label:has-text("${side}")`);
    const check = (now, what) => {
      checkArm(now, what);
      const { state, probe } = now;
      const [elbow, target] = [minus(probe.elbow, probe.shoulder), minus(state.target, probe.shoulder)];
      // Shoulder, elbow, hand and the vertical are in one plane.
      near(dot(elbow, cross(target, [0, 1, 0])), 0, 2e-3, `${what}: plane`);
      const above = across(elbow, target)[1];
      assert.ok(side === "up" ? above > -1e-3 : above < 1e-3, `${what}: the elbow is ${above} above the line`);
    };
    await tryAll(page, "space", "Target", check, [
      ["ArrowUp", "target", 1, 0.1],
      ["PageUp", "target", 2, 0.1],
      ["Shift+PageDown", "target", 2, -0.01],
    ]);
  }
  await page.click('#space label:has-text("turned")');
  const { state, probe } = await look(page, "space");
  near(distance(probe.elbow, [0, 0.9, 0]), UPPER, 1e-4, "upper bone");
  near(probe.elbow[1], 0.9, 1e-4, "level");
  const level = (at) => [at[0], 0, at[2]];
  near(size(cross(level(probe.tip), level(state.target))), 0, 1e-3, "turned to the target");
  assert.ok(dot(level(probe.tip), level(state.target)) > 0);
  await page.click('#space label:has-text("rest")');
  near(distance((await look(page, "space")).probe.tip, [UPPER + FOREARM, 0.9, 0]), 0, 1e-4, "at rest");
  assert.deepEqual(errors, []);
  await page.close();
});

test("space: the view turns by the background and by keys, and the target stays", async () => {
  const { page } = await browser.open(url);
  const pane = await page.$("#space .pane");
  await pane.scrollIntoViewIfNeeded();
  const box = async () => (await handle(page, "space", "Target")).boundingBox();
  for (const turn of [() => dragMouse(page, pane, 120, 30, [30, 30]), () => pressKeys(page, pane, "ArrowLeft", 1)]) {
    const [before, state] = [await box(), (await look(page, "space")).state];
    await turn();
    const after = await box();
    assert.ok(Math.hypot(after.x - before.x, after.y - before.y) > 2, `from ${before.x}, ${before.y} to ${after.x}, ${after.y}`);
    assert.deepEqual((await look(page, "space")).state, state);
  }
  await page.close();
});

test("pole: the elbow turns to it, and on by the swivel, while the hand stays", async () => {
  const { page, errors } = await browser.open(url);
  const plane = ({ state, probe }) => {
    const axis = minus(probe.tip, probe.shoulder);
    return { axis, elbow: across(minus(probe.elbow, probe.shoulder), axis), pole: across(minus(state.pole, probe.shoulder), axis) };
  };
  const check = (now, what) => {
    checkArm(now, what);
    const { elbow, pole } = plane(now);
    // Near a straight arm, or a pole on its line, there is no direction to compare.
    if (size(elbow) > 0.02 && size(pole) > 0.05) near(dot(elbow, pole) / size(elbow) / size(pole), 1, 1e-3, `${what}: towards the pole`);
  };
  await tryAll(page, "pole", "Target", check, [["ArrowLeft", "target", 0, -0.1], ["PageDown", "target", 2, -0.1]]);
  await tryAll(page, "pole", "Pole", check, [["ArrowUp", "pole", 1, 0.1], ["PageUp", "pole", 2, 0.1]]);
  const before = await look(page, "pole");
  await slide(page, "pole", "Swivel", 1);
  const now = await look(page, "pole");
  checkArm(now, "swivel");
  near(distance(now.probe.tip, before.probe.tip), 0, 1e-3, "the hand");
  const [a, b] = [plane(before), plane(now)];
  const turn = Math.atan2(dot(cross(a.elbow, b.elbow), a.axis) / size(a.axis), dot(a.elbow, b.elbow));
  near(turn, 1, 5e-3, "the swivel");
  await page.click('#pole label:has-text("Pole")');
  assert.equal((await look(page, "pole")).state.held, false);
  assert.ok(await (await handle(page, "pole", "Pole")).isHidden());
  assert.deepEqual(errors, []);
  await page.close();
});

test("the address restores all figures", async () => {
  const { page } = await browser.open(url);
  for (const id of ["triangle", "reach", "space", "pole"]) await dragMouse(page, await handle(page, id, "Target"), 33, -17);
  await page.click('#triangle label:has-text("right")');
  await slide(page, "reach", "Soft zone", 0.1);
  await page.click('#space label:has-text("turned")');
  await slide(page, "pole", "Swivel", -0.5);
  await settled(page);
  const restored = await browser.open(page.url());
  for (const id of ["triangle", "reach", "space", "pole"]) {
    const [a, b] = [await look(page, id), await look(restored.page, id)];
    near(distance(a.probe.tip, b.probe.tip), 0, 1e-3, id);
    for (const field of ["side", "stage", "held"]) assert.equal(a.state[field], b.state[field]);
  }
  await page.close();
  await restored.page.close();
});
