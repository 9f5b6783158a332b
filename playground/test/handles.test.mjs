// The page Handles: each figure by mouse, touch and keys.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { awake, browse, dragMouse, dragTouch, drawn, handle, look, pressKeys, serve, settled } from "./browser.mjs";
import { near } from "./points.mjs";

const server = await serve();
const browser = await browse({ hasTouch: true });
const url = `${server.root}handles.html`;
after(async () => {
  await browser.close();
  server.close();
});

const together = (a, b, by, what) => [0, 1].forEach((axis) => near(a[axis], b[axis], by, what));
const apart = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
const farthest = (a, b) => Math.max(...a.map((point, n) => apart(point, b[n])));
const lengths = (points) => points.slice(1).map((point, n) => apart(point, points[n]));

/** Forward kinematics in f64: joints of a chain whose joints are turned, where it lies at `rest` without. */
function turned(rest, angles) {
  let [at, direction] = [rest[0], 0];
  return [at, ...rest.slice(1).map(([x, y], n) => {
    direction += angles[n];
    const [dx, dy] = [x - rest[n][0], y - rest[n][1]];
    at = [at[0] + dx * Math.cos(direction) - dy * Math.sin(direction), at[1] + dx * Math.sin(direction) + dy * Math.cos(direction)];
    return at;
  })];
}
/** The chain of six bones at rest: its first bone points up, and each of the next turns by 0.24 to the right. */
const SIX = [[0, 0]];
for (let n = 0; n < 6; n++) {
  const angle = Math.PI / 2 - 0.24 * n;
  SIX.push([SIX[n][0] + 0.25 * Math.cos(angle), SIX[n][1] + 0.25 * Math.sin(angle)]);
}
const ARM = [[0, 0], [0.4, 0.45], [0.9, 0.2], [1.18, 0.22]];

const panes = { limb: "limb", independent: "history-independent", dependent: "history-dependent", spline: "spline" };
const press = async (page, id, text) => {
  await page.click(`#${id} button:has-text("${text}")`);
  await drawn(page);
};
const open = async (address = url) => {
  const opened = await browser.open(address);
  await awake(opened.page);
  return opened;
};
const listed = ({ keys }) => Array.from({ length: keys.length / 3 }, (_, n) => keys.slice(3 * n, 3 * n + 3));
// Times are single precision.
const times = (state) => listed(state).map(([time]) => Math.round(1e6 * time) / 1e6);
/** Distance of a point from the bones of a chain. */
const beside = (at, points) =>
  Math.min(
    ...points.slice(1).map(([x, y], n) => {
      const [from, to] = [points[n], [x - points[n][0], y - points[n][1]]];
      const along = ((at[0] - from[0]) * to[0] + (at[1] - from[1]) * to[1]) / (to[0] ** 2 + to[1] ** 2);
      const near = Math.min(Math.max(along, 0), 1);
      return apart(at, [from[0] + near * to[0], from[1] + near * to[1]]);
    }),
  );
/** A chain of bones 0.25 long lies along a curve: it passes its points by a third of a bone at most, as far as it is long enough. */
const laid = (chain, middle, goal, what) => {
  assert.ok(beside(middle, chain) < 0.25 / 3, `${what}: the middle is ${beside(middle, chain)} from the chain`);
  const short = Math.max(0, apart([0, 0], middle) + apart(middle, goal) - 1.4);
  assert.ok(beside(goal, chain) < 0.25 / 3 + 1.3 * short, `${what}: the goal is ${beside(goal, chain)} from the chain, which is ${short} short`);
};
/** Brings the ring of time to a time, in steps, as a reader does. */
async function scrub(page, to) {
  const ring = await handle(page, "keys", "Time");
  const { state } = await look(page, "keys");
  const steps = Math.round((to - state.time) * 100);
  const key = steps > 0 ? "ArrowRight" : "ArrowLeft";
  await pressKeys(page, ring, key, Math.floor(Math.abs(steps) / 10));
  await pressKeys(page, ring, `Shift+${key}`, Math.abs(steps) % 10);
  near((await look(page, "keys")).state.time, to, 1e-6, "the time");
}

for (const [pane, title] of Object.entries(panes)) {
  test(`keys: the goal of the ${title} handle by mouse, touch and keys sets a key, and all four follow it`, async () => {
    const { page, errors } = await open();
    const goal = await handle(page, "keys", `Goal, ${title}`);
    const first = await look(page, "keys");
    const check = ({ state, probe }, what) => {
      assert.deepEqual(times(state), [0, 0.6, 1.2, 2.4, 4], what);
      const [, x, y] = listed(state)[1];
      together(probe.goal, [x, y], 1e-6, `${what}: the goal is its key's value`);
      for (const [name, points] of Object.entries(probe.chains)) {
        // A curve that turns back at its middle is cut short by bones of this length: see the test of the middle.
        if (name === "spline") assert.ok(apart(points.at(-1), [x, y]) < apart(first.probe.chains.spline.at(-1), [x, y]) + 0.3, what);
        else together(points.at(-1), [x, y], 5e-3, `${what}: the tip of ${name}`);
        lengths(points).forEach((length, n) => near(length, lengths(first.probe.chains[name])[n], 1e-4, `${what}: bone ${n} of ${name}`));
      }
      assert.ok(farthest(turned(SIX, probe.angles), probe.chains.dependent) < 1e-4, `${what}: angles and joints of the history-dependent chain`);
    };
    for (const [kind, drag] of Object.entries({ mouse: dragMouse, touch: dragTouch })) {
      for (const [dx, dy] of [[40, -20], [-70, 35], [20, 30]]) {
        const pointer = await drag(page, goal, dx, dy);
        check(await look(page, "keys"), kind);
        const box = await goal.boundingBox();
        together([box.x + box.width / 2, box.y + box.height / 2], pointer, 1, `${kind}: the handle under the pointer`);
      }
    }
    for (const [key, axis, by] of [["ArrowRight", 0, 0.1], ["ArrowDown", 1, -0.1], ["Shift+ArrowLeft", 0, -0.01], ["Shift+ArrowUp", 1, 0.01]]) {
      const before = await look(page, "keys");
      await pressKeys(page, goal, key, 1);
      const now = await look(page, "keys");
      near(now.probe.goal[axis], before.probe.goal[axis] + by, 1e-5, key);
      check(now, key);
    }
    // All these are changes of one key.
    await press(page, "keys", "Undo");
    assert.deepEqual((await look(page, "keys")).state.keys, first.state.keys);
    assert.deepEqual(errors, []);
    await page.close();
  });
}

test("keys: a key is moved in time by mouse, touch and keys between its neighbours, deleted, and all is undone", async () => {
  const { page } = await open();
  const first = (await look(page, "keys")).state;
  const key = await handle(page, "keys", "Key 2");
  for (const drag of [dragMouse, dragTouch]) {
    const before = times((await look(page, "keys")).state);
    await drag(page, key, 60, 0);
    const after = times((await look(page, "keys")).state);
    assert.ok(after[1] > before[1] + 0.1, `${before[1]} to ${after[1]} by ${drag.name}`);
    assert.deepEqual(after.filter((_, n) => n !== 1), before.filter((_, n) => n !== 1));
  }
  await pressKeys(page, key, "ArrowRight", 60);
  near(times((await look(page, "keys")).state)[1], 2.35, 1e-4, "next to its neighbour");
  await dragMouse(page, key, -900, 0);
  near(times((await look(page, "keys")).state)[1], 0.05, 1e-4, "next to the other");
  // It is deleted where the ring stands.
  assert.ok(await page.isDisabled('#keys button:has-text("Delete key")'));
  await scrub(page, 2.4);
  await press(page, "keys", "Delete key");
  let { state } = await look(page, "keys");
  assert.equal(times(state).length, 3);
  assert.ok(!times(state).includes(2.4));
  together(listed(state).at(-1).slice(1), listed(first).at(-1).slice(1), 1e-6, "the last key");
  await press(page, "keys", "Undo");
  await press(page, "keys", "Undo");
  ({ state } = await look(page, "keys"));
  assert.deepEqual(state.keys, first.keys);
  assert.ok(await page.isDisabled('#keys button:has-text("Undo")'));
  // The last key is not deleted.
  for (const time of [2.4, 1.2, 0]) {
    await scrub(page, time);
    await press(page, "keys", "Delete key");
  }
  await scrub(page, 4);
  assert.ok(await page.isDisabled('#keys button:has-text("Delete key")'));
  const { probe } = await look(page, "keys");
  together(probe.goal, listed(first).at(-1).slice(1), 1e-6, "one key holds the goal");
  await page.close();
});

test("keys: without auto key nothing is keyed, and a new time brings the goal back", async () => {
  const { page } = await open();
  await page.click('#keys label:has-text("Auto key")');
  const before = await look(page, "keys");
  await dragMouse(page, await handle(page, "keys", "Goal, limb"), 50, 30);
  const moved = await look(page, "keys");
  assert.deepEqual(moved.state.keys, before.state.keys);
  together(moved.probe.goal, moved.state.loose, 1e-6, "the goal");
  assert.ok(apart(moved.probe.goal, before.probe.goal) > 0.2);
  assert.match(await page.textContent("#keys .readout"), /not keyed$/);
  await scrub(page, 0.61);
  await scrub(page, 0.6);
  const back = await look(page, "keys");
  assert.ok(apart(back.probe.goal, before.probe.goal) < 1e-6);
  await page.close();
});

test("keys: there and back, the history-independent chain comes back and the history-dependent one lies otherwise", async () => {
  const { page } = await open();
  const first = await look(page, "keys");
  await scrub(page, 4);
  await scrub(page, 0.6);
  const now = await look(page, "keys");
  for (const name of ["limb", "independent", "spline"]) assert.ok(farthest(now.probe.chains[name], first.probe.chains[name]) < 1e-6, name);
  const between = farthest(now.probe.chains.dependent, first.probe.chains.dependent);
  assert.ok(between > 0.1, `the history-dependent chain is ${between} from where it was`);
  together(now.probe.chains.dependent.at(-1), now.probe.goal, 5e-3, "and reaches its goal");
  assert.match(await page.textContent("#keys .readout"), /are up to \d/);
  // At the keys the goal is where they say.
  for (const [time, x, y] of listed(first.state)) {
    await scrub(page, time);
    together((await look(page, "keys")).probe.goal, [x, y], 1e-5, `${time} s`);
  }
  await page.close();
});

test("keys: the middle of the spline's curve by mouse, touch and keys bends its chain alone", async () => {
  const { page } = await open();
  const middle = await handle(page, "keys", "Middle of the curve");
  const moves = [
    () => dragMouse(page, middle, -60, 10),
    () => dragTouch(page, middle, 90, -10),
    () => pressKeys(page, middle, "ArrowLeft", 4),
  ];
  for (const move of moves) {
    const before = await look(page, "keys");
    await move();
    const now = await look(page, "keys");
    const { chains, goal } = now.probe;
    assert.ok(farthest(chains.spline, before.probe.chains.spline) > 0.05);
    laid(chains.spline, now.state.middle, goal, "moved middle");
    for (const name of ["limb", "independent"]) assert.ok(farthest(chains[name], before.probe.chains[name]) < 1e-6, name);
  }
  await page.close();
});

test("keys: the motion plays by its button, round and round, and pauses", async () => {
  const { page, errors } = await open();
  await (await page.$("#keys .controls")).scrollIntoViewIfNeeded();
  const { time } = await look(page, "keys");
  await press(page, "keys", "Play");
  await page.waitForFunction((solves) => window.playground.figures.keys.time.solves > solves + 8, time.solves);
  await press(page, "keys", "Pause");
  const paused = await look(page, "keys");
  assert.ok(paused.state.time > 0.65, `${paused.state.time} s`);
  await settled(page, 200);
  assert.deepEqual((await look(page, "keys")).state, paused.state);
  await press(page, "keys", "Start again");
  near((await look(page, "keys")).state.time, 0.6, 1e-6, "the time at first");
  assert.deepEqual(errors, []);
  await page.close();
});

test("beside: each bone is turned by its end by mouse, touch and keys, and carries those behind it", async () => {
  const { page, errors } = await open();
  for (const [n, name] of ["Upper arm", "Forearm", "Hand"].entries()) {
    const end = await handle(page, "beside", `${name}, turned by its end`);
    const moves = [
      () => dragMouse(page, end, -30, -25),
      () => dragTouch(page, end, -10, 40),
      () => pressKeys(page, end, "ArrowUp", 4),
    ];
    for (const [kind, move] of moves.entries()) {
      const before = await look(page, "beside");
      await move();
      const { state, probe } = await look(page, "beside");
      state.turned.forEach((angle, joint) => assert.equal(angle !== before.state.turned[joint], joint === n, `${name}: joint ${joint}`));
      assert.ok(farthest(turned(ARM, state.turned), probe.fk) < 1e-4, `${name}: turned as forward kinematics has it`);
      assert.deepEqual(probe.ik, before.probe.ik, "the other arm rests");
      if (kind === 2) near(state.turned[n], before.state.turned[n] + 0.2, 1e-6, `${name} by keys`);
    }
  }
  assert.deepEqual(errors, []);
  await page.close();
});

test("beside: the goal by mouse, touch and keys, and both matches", async () => {
  const { page, errors } = await open();
  const goal = await handle(page, "beside", "Goal");
  for (const move of [() => dragMouse(page, goal, -120, -60), () => dragTouch(page, goal, 60, 50), () => pressKeys(page, goal, "ArrowLeft", 3)]) {
    const before = await look(page, "beside");
    await move();
    const { state, probe } = await look(page, "beside");
    assert.ok(apart(state.goal, before.state.goal) > 0.1);
    together(probe.ik.at(-1), state.goal, 5e-3, "the hand");
    lengths(probe.ik).forEach((length, n) => near(length, lengths(ARM)[n], 1e-4, `bone ${n}`));
    assert.deepEqual(probe.fk, before.probe.fk, "the other arm rests");
  }
  await press(page, "beside", "Match FK to IK");
  const matched = await look(page, "beside");
  assert.ok(farthest(matched.probe.fk, matched.probe.ik) < 1e-4, "FK matched");
  await dragMouse(page, await handle(page, "beside", "Upper arm, turned by its end"), -40, -50);
  await dragMouse(page, await handle(page, "beside", "Forearm, turned by its end"), 0, -40);
  const away = await look(page, "beside");
  assert.ok(farthest(away.probe.fk, away.probe.ik) > 0.1);
  await press(page, "beside", "Match IK to FK");
  const again = await look(page, "beside");
  assert.deepEqual(again.probe.fk, away.probe.fk, "the arm that is matched to rests");
  assert.ok(farthest(again.probe.fk, again.probe.ik) < 5e-3, `IK matched: ${farthest(again.probe.fk, again.probe.ik)}`);

  // The fourth mark is out of reach, and the figure says how far.
  const marks = [];
  for (let n = 0; n < 4; n++) {
    await press(page, "beside", "Another mark");
    marks.push((await look(page, "beside")).state.mark);
  }
  assert.equal(new Set(marks.map(String)).size, 4);
  const sum = lengths(ARM).reduce((all, one) => all + one);
  assert.equal(marks.filter((mark) => Math.hypot(...mark) > sum).length, 1);
  assert.deepEqual(errors, []);
  await page.close();
});

test("the address restores both figures", async () => {
  const { page } = await open();
  await dragMouse(page, await handle(page, "keys", "Goal, spline"), 33, -17);
  await dragMouse(page, await handle(page, "keys", "Key 3"), 40, 0);
  await scrub(page, 2);
  await dragMouse(page, await handle(page, "keys", "Middle of the curve"), -20, 20);
  await dragMouse(page, await handle(page, "beside", "Forearm, turned by its end"), 20, -20);
  await dragMouse(page, await handle(page, "beside", "Goal"), -50, -20);
  await press(page, "beside", "Another mark");
  await settled(page);
  const address = page.url();
  const restored = await open(address);
  const [a, b] = [await look(page, "keys"), await look(restored.page, "keys")];
  for (const [name, points] of Object.entries(a.probe.chains)) assert.ok(farthest(points, b.probe.chains[name]) < 2e-3, name);
  times(a.state).forEach((time, n) => near(times(b.state)[n], time, 1e-3, `key ${n}`));
  const [c, d] = [await look(page, "beside"), await look(restored.page, "beside")];
  for (const name of ["fk", "ik"]) assert.ok(farthest(c.probe[name], d.probe[name]) < 2e-3, name);
  assert.deepEqual(c.state.mark, d.state.mark);
  // Keys out of order, or too few numbers: as without.
  for (const keys of ["1,0,0,0.5,0,0", "0,1", "0,0,0,9,0,0"]) {
    await restored.page.evaluate((keys) => (location.hash = `#keys=keys:${keys}`), keys);
    await drawn(restored.page);
    assert.deepEqual(times((await look(restored.page, "keys")).state), [0, 1.2, 2.4, 4], keys);
  }
  await page.close();
  await restored.page.close();
});
