// The page Follow: each figure by mouse, touch and keys.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { browse, dragMouse, dragTouch, drawn, handle, look, pressKeys, serve, settled } from "./browser.mjs";
import { lengths, near } from "./points.mjs";

const server = await serve();
const browser = await browse({ hasTouch: true });
const url = `${server.root}follow.html`;
after(async () => {
  await browser.close();
  server.close();
});

const together = (a, b, by, what) => a.forEach((value, axis) => near(value, b[axis], by, what));

/** Angles from each segment to the next, worked out from points alone. */
function bends(points) {
  const directions = points.slice(1).map(([x, y], n) => Math.atan2(y - points[n][1], x - points[n][0]));
  return directions.slice(1).map((angle, n) => Math.atan2(Math.sin(angle - directions[n]), Math.cos(angle - directions[n])));
}

/**
 * Follow by its definition, in f64: the leading end goes to the target, and each segment turns to its end's neighbour and keeps its
 * length.
 */
function followed(points, target, lead) {
  const chain = lead === "tip" ? [...points].reverse() : [...points];
  const sizes = lengths(chain);
  let at = target;
  return [at, ...chain.slice(1).map(([x, y], n) => {
    const distance = Math.hypot(x - at[0], y - at[1]);
    at = [at[0] + ((x - at[0]) / distance) * sizes[n], at[1] + ((y - at[1]) / distance) * sizes[n]];
    return at;
  })][lead === "tip" ? "reverse" : "slice"]();
}

const all = [
  { id: "segment", name: "Target", chains: (probe) => [[probe, "tip"]] },
  { id: "chain", name: "Target", chains: (probe) => [[probe, "tip"]] },
  { id: "ends", name: "Target, led from the tip", chains: (probe) => [[probe.byTip, "tip"], [probe.byRoot, "root"]] },
  { id: "ends", name: "Target, led from the root", chains: (probe) => [[probe.byTip, "tip"], [probe.byRoot, "root"]] },
  { id: "limits", name: "Target, limits off", chains: (probe) => [[probe.off, "tip"], [probe.on, "tip"]] },
  { id: "limits", name: "Target, limits on", chains: (probe) => [[probe.off, "tip"], [probe.on, "tip"]] },
];

function inRange(probe, { min, max }, what) {
  bends(probe.points).forEach((bend, n) => assert.ok(bend >= min[n] - 1e-4 && bend <= max[n] + 1e-4, `${what}: joint ${n + 1} at ${bend}`));
}

for (const { id, name, chains } of all) {
  test(`${id}: ${name} by mouse, touch and keys`, async () => {
    const { page, errors } = await browser.open(url);
    const target = await handle(page, id, name);
    const check = ({ state, probe }, before, what) => {
      chains(probe).forEach(([{ points }, lead], n) => {
        together(lead === "tip" ? points.at(-1) : points[0], state.target, 1e-4, `${what}: the end that leads`);
        const sizes = lengths(chains(before.probe)[n][0].points);
        lengths(points).forEach((length, k) => near(length, sizes[k], 1e-4, `${what}: segment ${k}`));
      });
      if (id === "limits") inRange(probe.on, state, what);
    };
    const moves = {
      mouse: (dx, dy) => dragMouse(page, target, dx, dy),
      touch: (dx, dy) => dragTouch(page, target, dx, dy),
    };
    for (const [kind, move] of Object.entries(moves)) {
      for (const [dx, dy] of [[60, -30], [-130, 45], [40, 60]]) {
        const before = await look(page, id);
        const pointer = await move(dx, dy);
        const now = await look(page, id);
        check(now, before, kind);
        const box = await target.boundingBox();
        together([box.x + box.width / 2, box.y + box.height / 2], pointer, 1, `${kind}: the handle under the pointer`);
        assert.notDeepEqual(now.state.target, before.state.target);
      }
    }
    for (const [key, axis, by] of [["ArrowRight", 0, 0.1], ["ArrowDown", 1, -0.1], ["Shift+ArrowLeft", 0, -0.01], ["Shift+ArrowUp", 1, 0.01]]) {
      const before = await look(page, id);
      await pressKeys(page, target, key, 1);
      const now = await look(page, id);
      near(now.state.target[axis], before.state.target[axis] + by, 1e-6, key);
      check(now, before, key);
    }
    // At rest the result is spoken.
    await page.waitForFunction(() => /^Target at -?\d/.test(document.querySelector("#speech")?.textContent ?? ""));
    assert.deepEqual(errors, []);
    await page.close();
  });
}

test("one move is that of the definition, led from the tip and from the root", async () => {
  const { page } = await browser.open(url);
  const target = await handle(page, "ends", "Target, led from the tip");
  for (const key of ["ArrowUp", "ArrowLeft", "ArrowLeft", "ArrowDown"]) {
    const before = await look(page, "ends");
    await pressKeys(page, target, key, 1);
    const { state, probe } = await look(page, "ends");
    for (const [name, lead] of [["byTip", "tip"], ["byRoot", "root"]]) {
      const expected = followed(before.probe[name].points, state.target, lead);
      probe[name].points.forEach((point, n) => together(point, expected[n], 1e-4, `${key}, led from the ${lead}: joint ${n}`));
    }
  }
  await page.close();
});

test("chain: segments are added, removed, stretched and set, and the tip stays at the target", async () => {
  const { page } = await browser.open(url);
  const count = async () => (await look(page, "chain")).probe.points.length - 1;
  const tipStays = async () => {
    const { state, probe } = await look(page, "chain");
    together(probe.points.at(-1), state.target, 1e-4, "the tip");
    return { state, probe };
  };
  const start = await count();
  await page.click('#chain button[aria-label="Add a segment"]');
  assert.equal(await count(), start + 1);
  await tipStays();
  for (let n = start + 1; n > 1; n--) await page.click('#chain button[aria-label="Remove a segment"]');
  assert.equal(await count(), 1);
  assert.ok(await page.isDisabled('#chain button[aria-label="Remove a segment"]'));
  while (!(await page.isDisabled('#chain button[aria-label="Add a segment"]'))) await page.click('#chain button[aria-label="Add a segment"]');
  assert.equal(await count(), 12);
  await tipStays();
  await page.click('#chain button:has-text("Start again")');
  assert.equal(await count(), start);

  for (const drag of [dragMouse, dragTouch]) {
    const before = await look(page, "chain");
    await drag(page, await handle(page, "chain", "Joint 3"), 14, 40);
    const { state, probe } = await tipStays();
    const moved = probe.points.map((point, n) => Math.hypot(point[0] - before.probe.points[n][0], point[1] - before.probe.points[n][1]));
    moved.forEach((by, n) => assert.ok(n === 3 ? by > 0.1 : by < 1e-4, `joint ${n} moved by ${by}`));
    lengths(probe.points).forEach((length, n) => near(length, state.lengths[n], 1e-4, `segment ${n}`));
  }
  const before = await look(page, "chain");
  await pressKeys(page, await handle(page, "chain", "Joint 2"), "ArrowUp", 2);
  near((await tipStays()).probe.points[2][1], before.probe.points[2][1] + 0.2, 1e-4, "joint 2 by keys");

  const slider = await page.$('#chain input[type="range"]');
  await slider.focus();
  for (let n = 0; n < 10; n++) await page.keyboard.press("ArrowRight");
  const { state, probe } = await tipStays();
  lengths(probe.points).forEach((length) => near(length, state.lengths[0], 1e-4, "all segments"));
  await page.close();
});

test("limits: knobs by mouse, touch and keys, against the child and the parent", async () => {
  const { page, errors } = await browser.open(url);
  for (const lead of ["tip", "root"]) {
    await page.click('#limits button:has-text("Start again")');
    if (lead === "root") await page.click('#limits label:has-text("the parent")');
    const { state } = await look(page, "limits");
    assert.equal(state.lead, lead);
    for (const [edge, name] of [["min", "Lower limit of joint 2"], ["max", "Upper limit of joint 1"]]) {
      const joint = Number(name.at(-1)) - 1;
      const knob = await handle(page, "limits", name);
      for (const drag of [dragMouse, dragTouch]) {
        const before = await look(page, "limits");
        await drag(page, knob, 18, 12);
        const now = await look(page, "limits");
        assert.notEqual(now.state[edge][joint], before.state[edge][joint], `${name} by ${drag.name}`);
        inRange(now.probe.on, now.state, name);
      }
      const before = await look(page, "limits");
      await pressKeys(page, knob, edge === "min" ? "ArrowLeft" : "ArrowRight", 2);
      const now = await look(page, "limits");
      near(now.state[edge][joint], before.state[edge][joint] + (edge === "min" ? -1 : 1) * (Math.PI / 18), 1e-6, `${name} by keys`);
    }
    // Narrow limits hold while the target goes round; without limits the same chain bends further.
    const slider = await page.$('#limits input[type="range"]');
    await slider.evaluate((input) => {
      input.value = "0.35";
      input.dispatchEvent(new Event("input", { bubbles: true }));
    });
    const target = await handle(page, "limits", "Target, limits on");
    let sharpest = 0;
    for (let n = 0; n < 12; n++) {
      await dragMouse(page, target, 60 * Math.cos(n), 60 * Math.sin(n));
      const { state, probe } = await look(page, "limits");
      assert.deepEqual([state.min, state.max], [[-0.35, -0.35, -0.35], [0.35, 0.35, 0.35]]);
      inRange(probe.on, state, `led from the ${lead}`);
      sharpest = Math.max(sharpest, ...bends(probe.off.points).map(Math.abs));
      const leading = ({ points }) => (lead === "tip" ? points.at(-1) : points[0]);
      for (const chain of [probe.off, probe.on]) together(leading(chain), state.target, 1e-4, "the end that leads");
    }
    assert.ok(sharpest > 0.6, `without limits the sharpest bend was ${sharpest}`);
  }
  assert.deepEqual(errors, []);
  await page.close();
});

test("steps: one segment at a time, one pass, or live", async () => {
  const { page } = await browser.open(url);
  const target = await handle(page, "steps", "Target");
  const step = await page.$('#steps button:has-text("Step")');
  for (const drag of [dragMouse, dragTouch]) {
    await drag(page, target, -40, -30);
    const { state, probe } = await look(page, "steps");
    assert.equal(state.done, 0);
    const expected = followed(probe.before.points, state.target, "tip");
    probe.after.points.forEach((point, n) => together(point, expected[n], 1e-4, `joint ${n}`));
    for (let n = 1; n <= 5; n++) {
      await step.click();
      assert.equal((await look(page, "steps")).state.done, n);
    }
    assert.ok(await step.isDisabled());
  }
  await page.click('#steps label:has-text("one pass")');
  await pressKeys(page, target, "ArrowUp", 1);
  assert.equal((await look(page, "steps")).state.done, 0);
  await step.click();
  assert.equal((await look(page, "steps")).state.done, 5);
  await page.click('#steps label:has-text("live")');
  await pressKeys(page, target, "ArrowLeft", 3);
  const live = await look(page, "steps");
  assert.equal(live.state.done, 5);
  together(live.probe.tip, live.state.target, 1e-4, "the tip");
  await page.click('#steps label:has-text("the root")');
  await pressKeys(page, target, "ArrowLeft", 3);
  const root = await look(page, "steps");
  together(root.probe.after.points[0], root.state.target, 1e-4, "the root");
  await page.close();
});

test("a motion plays by its button, pauses off the screen, and ends by its button", async () => {
  const { page } = await browser.open(url);
  await (await page.$("#chain .controls")).scrollIntoViewIfNeeded();
  const before = await look(page, "chain");
  await page.click('#chain button:has-text("Play a figure 8")');
  await page.waitForFunction((solves) => window.playground.figures.chain.time.solves > solves + 5, before.time.solves);
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await drawn(page);
  await settled(page, 300);
  const away = await look(page, "chain");
  await settled(page, 300);
  assert.deepEqual((await look(page, "chain")).state, away.state);
  await (await page.$("#chain .controls")).scrollIntoViewIfNeeded();
  await page.waitForFunction((solves) => window.playground.figures.chain.time.solves > solves + 5, away.time.solves);
  await page.click('#chain button:has-text("Pause")');
  await drawn(page);
  const paused = await look(page, "chain");
  await settled(page, 200);
  assert.deepEqual((await look(page, "chain")).state, paused.state);
  together(paused.probe.tip, paused.state.target, 1e-4, "the tip");
  await page.close();
});

test("the address restores all figures", async () => {
  const { page } = await browser.open(url);
  for (const { id, name } of all) await dragMouse(page, await handle(page, id, name), 33, -17);
  await page.click('#chain button[aria-label="Add a segment"]');
  await dragMouse(page, await handle(page, "chain", "Joint 2"), 12, 20);
  await page.click('#limits label:has-text("the parent")');
  await dragMouse(page, await handle(page, "limits", "Upper limit of joint 2"), 20, 10);
  await dragMouse(page, await handle(page, "steps", "Target"), -50, 20);
  await page.click('#steps button:has-text("Step")');
  await settled(page);
  const address = page.url();
  assert.match(address, /#.*chain=.*target:[-\d.]+,[-\d.]+/);
  const restored = await browser.open(address);
  for (const id of ["segment", "chain", "ends", "limits", "steps"]) {
    const [a, b] = [await look(page, id), await look(restored.page, id)];
    const chains = ({ probe }) => [probe, probe.byTip, probe.byRoot, probe.off, probe.on, probe.after].filter((chain) => chain?.points);
    chains(a).forEach(({ points }, n) => points.forEach((point, k) => together(point, chains(b)[n].points[k], 1e-3, `${id}: joint ${k}`)));
    assert.equal(a.state.done, b.state.done);
    assert.equal(a.state.lead, b.state.lead);
  }
  // Back by the reader: the figure goes along.
  await restored.page.evaluate(() => (location.hash = "#segment=target:0.5,0.5"));
  await restored.page.waitForFunction(() => window.playground.figures.segment.state.target[0] === 0.5);
  await page.close();
  await restored.page.close();
});
