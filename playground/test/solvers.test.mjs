// The page Solvers: each figure by mouse, touch and keys, beside textbook sweeps in f64.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { browse, dragMouse, dragTouch, handle, look, pressKeys, serve, settled, slide } from "./browser.mjs";
import { distance, lengths, near } from "./points.mjs";

const server = await serve();
const browser = await browse({ hasTouch: true });
const url = `${server.root}solvers.html`;
after(async () => {
  await browser.close();
  server.close();
});

const flat = ([x, y]) => [x, y, 0];

/** Points turned about one of them. */
function turned(points, about, from, angle) {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const [x, y] = points[about];
  return points.map((at, n) => (n < from ? at : [x + c * (at[0] - x) - s * (at[1] - y), y + s * (at[0] - x) + c * (at[1] - y), 0]));
}

/** A sweep of cyclic coordinate descent (Wang & Chen 1991) in the plane. */
function ccd(points, target) {
  for (let joint = points.length - 2; joint >= 0; joint--) {
    const direction = (to) => Math.atan2(to[1] - points[joint][1], to[0] - points[joint][0]);
    points = turned(points, joint, joint + 1, direction(target) - direction(points.at(-1)));
  }
  return points;
}

/** A sweep of FABRIK (Aristidou & Lasenby 2011) on points. */
function fabrik(points, target) {
  const size = lengths(points);
  const [root, chain] = [points[0], points.map((at) => [...at])];
  const towards = (from, to, length) => {
    const d = distance(from, to);
    return from.map((value, axis) => value + ((to[axis] - value) * length) / d);
  };
  chain[chain.length - 1] = flat(target);
  for (let n = chain.length - 2; n >= 0; n--) chain[n] = towards(chain[n + 1], chain[n], size[n]);
  chain[0] = root;
  for (let n = 1; n < chain.length; n++) chain[n] = towards(chain[n - 1], chain[n], size[n - 1]);
  return chain;
}

test("race: mouse, touch and keys move all targets and bases; lengths hold", async () => {
  const { page, errors } = await browser.open(url);
  const sizes = lengths((await look(page, "race")).probe.methods.ccd.points);
  const check = ({ state, probe }, what) => {
    for (const [id, { points, residuals }] of Object.entries(probe.methods)) {
      lengths(points).forEach((length, n) => near(length, sizes[n], 1e-4, `${what}, ${id}: bone ${n}`));
      if (id === "follow") near(distance(points.at(-1), flat(state.target)), 0, 1e-4, `${what}: Follow`);
      else near(distance(points[0], flat(state.base)), 0, 1e-5, `${what}, ${id}: base`);
      // The plot and the picture tell the same.
      const shown = residuals[Math.min(state.sweeps, residuals.length - 1)];
      near(shown, distance(points.at(-1), flat(state.target)), 1e-4, `${what}, ${id}: residual`);
    }
    // Both CCDs are the same method.
    probe.methods.ccd.points.forEach((at, n) => near(distance(at, probe.methods.three.points[n]), 0, 2e-3, `${what}: joint ${n} beside three.js`));
  };
  for (const [name, field] of [["Target, FABRIK", "target"], ["Base, CCD", "base"]]) {
    const target = await handle(page, "race", name);
    for (const drag of [dragMouse, dragTouch]) {
      for (const [dx, dy] of [[25, -15], [-40, -20]]) {
        const before = await look(page, "race");
        await drag(page, target, dx, dy);
        const now = await look(page, "race");
        assert.notDeepEqual(now.state[field], before.state[field]);
        check(now, `${name} by ${drag.name}`);
      }
    }
    const before = await look(page, "race");
    await pressKeys(page, target, "ArrowUp", 1);
    const now = await look(page, "race");
    near(now.state[field][1], before.state[field][1] + 0.1, 1e-6, `${name} by keys`);
    check(now, `${name} by keys`);
  }
  assert.deepEqual(errors, []);
  await page.close();
});

test("race: sweeps are those of the textbooks", async () => {
  const { page } = await browser.open(url);
  await page.evaluate(() => (location.hash = "#race=target:0.8,-0.3;base:-0.3,-0.9;sweeps:1"));
  await page.waitForFunction(() => window.playground.figures.race.state.target[0] === 0.8);
  await slide(page, "race", "Sweeps", 10);
  const { state, probe } = await look(page, "race");
  assert.equal(state.sweeps, 10);
  // The rest pose, by its definition: a straight bone up, and each further one turned by 0.16 rad.
  let rest = [flat(state.base)];
  for (let n = 0; n < 8; n++) {
    const angle = Math.PI / 2 - 0.16 * n;
    rest.push([rest[n][0] + 0.26 * Math.cos(angle), rest[n][1] + 0.26 * Math.sin(angle), 0]);
  }
  for (const [id, sweep] of [["ccd", ccd], ["fabrik", fabrik]]) {
    let points = rest;
    const { residuals } = probe.methods[id];
    residuals.forEach((residual, n) => {
      if (n > 0) points = sweep(points, state.target);
      near(residual, distance(points.at(-1), flat(state.target)), 2e-4, `${id}: after ${n} sweeps`);
    });
    assert.ok(residuals.length > 3, `${id}: ${residuals.length - 1} sweeps`);
  }
  for (const [id, { residuals }] of Object.entries(probe.methods)) {
    assert.ok(residuals.at(-1) < 0.02, `${id}: ${residuals.at(-1)} left`);
  }
  await page.close();
});

test("race: from the last frame, sweeps go on", async () => {
  const { page } = await browser.open(url);
  await slide(page, "race", "Sweeps", 1);
  const rest = await look(page, "race");
  await page.click('#race label:has-text("the last frame")');
  const residuals = [];
  for (let n = 0; n < 12; n++) {
    await page.evaluate(() => window.playground.figures.race.refresh());
    residuals.push(distance((await look(page, "race")).probe.methods.fabrik.points.at(-1), flat(rest.state.target)));
  }
  assert.ok(residuals.at(-1) < 1e-4 && residuals[0] > 1e-4, `${residuals}`);
  await page.click('#race label:has-text("rest")');
  const again = await look(page, "race");
  again.probe.methods.ccd.points.forEach((at, n) => near(distance(at, rest.probe.methods.ccd.points[n]), 0, 1e-6, `joint ${n}`));
  await page.click('#race button:has-text("Play a figure 8")');
  await page.waitForFunction((solves) => window.playground.figures.race.time.solves > solves + 5, again.time.solves);
  await page.click('#race button:has-text("Pause")');
  await page.close();
});

test("steps: each is what the method says", async () => {
  const { page, errors } = await browser.open(url);
  const target = await handle(page, "steps", "Target");
  for (const solver of ["CCD", "FABRIK", "least squares"]) {
    await page.click(`#steps label:has-text("${solver}")`);
    for (const move of [() => dragMouse(page, target, -50, -20), () => dragTouch(page, target, 30, 35), () => pressKeys(page, target, "ArrowLeft", 1)]) {
      await move();
      await slide(page, "steps", "Steps done", 0);
      let before = await look(page, "steps");
      const size = lengths(before.probe.points.slice(0, -1));
      const { target: goal } = before.state;
      const count = before.probe.steps.length;
      assert.ok(count > 0);
      for (let done = 1; done <= Math.min(count, 12); done++) {
        await page.click('#steps button:has-text("Step")');
        const { state, probe } = await look(page, "steps");
        assert.equal(state.done, done);
        const [step, points] = [probe.steps[done - 1], probe.points];
        if (step.kind === "joint") {
          // Joint, tip and target are on one line, the tip towards the target.
          const [at, tip] = [points[step.joint], points.at(-2)];
          const [a, b] = [[tip[0] - at[0], tip[1] - at[1]], [goal[0] - at[0], goal[1] - at[1]]];
          near((a[0] * b[1] - a[1] * b[0]) / Math.hypot(...a) / Math.hypot(...b), 0, 1e-3, `CCD, joint ${step.joint}`);
          assert.ok(a[0] * b[0] + a[1] * b[1] > 0);
          lengths(points.slice(0, -1)).forEach((length, n) => near(length, size[n], 1e-4, `bone ${n}`));
        } else if (step.kind === "point") {
          // The moved point is a bone away from the one before it in the pass, and the others stay.
          const from = step.pass === "backward" ? step.point + 1 : step.point - 1;
          if (step.pass === "backward" && step.point === size.length) near(distance(points[step.point], flat(goal)), 0, 1e-5, "the end");
          else if (from >= 0) near(distance(points[step.point], points[from]), size[Math.min(from, step.point)], 1e-4, `FABRIK, point ${step.point}`);
          points.forEach((at, n) => n !== step.point && near(distance(at, before.probe.points[n]), 0, 1e-6, `point ${n}`));
        } else {
          lengths(points.slice(0, -1)).forEach((length, n) => near(length, size[n], 1e-4, `bone ${n}`));
        }
        before = { state, probe };
      }
      await page.click('#steps button:has-text("Back")');
      assert.equal((await look(page, "steps")).state.done, before.state.done - 1);
    }
  }
  assert.deepEqual(errors, []);
  await page.close();
});

test("branches: the fork goes to the middle of what is asked, and the tips to their targets", async () => {
  const { page, errors } = await browser.open(url);
  for (const side of ["left", "right"]) {
    const target = await handle(page, "branches", `Target of the ${side} branch`);
    for (const drag of [dragMouse, dragTouch]) {
      const before = await look(page, "branches");
      await drag(page, target, side === "left" ? 30 : -25, 20);
      assert.notDeepEqual((await look(page, "branches")).state[side], before.state[side]);
    }
    await pressKeys(page, target, "ArrowDown", 1);
  }
  const { probe } = await look(page, "branches");
  let asks = [];
  let centroids = 0;
  for (const step of probe.steps) {
    if (step.kind === "sub-base") asks.push(Object.values(step.position));
    else if (asks.length > 0) {
      assert.ok(step.kind === "point" && asks.length === 2);
      const middle = asks[0].map((value, axis) => (value + asks[1][axis]) / 2);
      near(distance(Object.values(step.position), middle), 0, 1e-4, "the fork");
      [asks, centroids] = [[], centroids + 1];
    }
  }
  assert.ok(centroids >= 2, `${centroids} centroids`);
  await page.click('#branches label:has-text("Live")');
  const live = await look(page, "branches");
  for (const [n, side] of ["left", "right"].entries()) near(distance(live.probe.tips[n], flat(live.state[side])), 0, 1e-3, `${side} tip`);
  // Targets that are too far apart share what is left.
  await page.evaluate(() => (location.hash = "#branches=left:-2,1;right:2,1;live:on"));
  await page.waitForFunction(() => window.playground.figures.branches.state.left[0] === -2);
  const far = await look(page, "branches");
  const left = ["left", "right"].map((side, n) => distance(far.probe.tips[n], flat(far.state[side])));
  assert.ok(left[0] > 0.2 && left[1] > 0.2 && Math.abs(left[0] - left[1]) < 0.5, `${left}`);
  assert.deepEqual(errors, []);
  await page.close();
});

test("ellipse: directions stay within it, and twists within their range", async () => {
  const { page, errors } = await browser.open(url);
  const target = await handle(page, "ellipse", "Target");
  /** Of each joint: the swing's place in the ellipse (1 at its edge), and the twist; by the quaternion's swing and twist about y. */
  const places = ({ probe, state }) =>
    Array.from({ length: 4 }, (_, n) => {
      const [x, y, z, w] = probe.rotations.slice(4 * n, 4 * n + 4);
      const twist = 2 * Math.atan2(y, w);
      // swing = q * conj(twist): its rotation vector lies across y.
      const size = Math.hypot(y, w);
      const [tw, ty] = [w / size, y / size];
      const [sx, sz] = [x * tw + z * ty, z * tw - x * ty];
      const half = Math.hypot(sx, sz);
      const angle = 2 * Math.atan2(half, Math.hypot(y, w));
      const vector = half > 0 ? [(sx / half) * angle, (sz / half) * angle] : [0, 0];
      return [Math.hypot(vector[0] / state.x, vector[1] / state.z), Math.atan2(Math.sin(twist), Math.cos(twist))];
    });
  let outermost = 0;
  const check = (now, what) => {
    for (const [place, twist] of places(now)) {
      assert.ok(place <= 1 + 1e-3, `${what}: ${place} of the ellipse`);
      assert.ok(Math.abs(twist) <= 0.2 + 1e-3, `${what}: twisted by ${twist}`);
      outermost = Math.max(outermost, place);
    }
  };
  for (const drag of [dragMouse, dragTouch]) {
    for (const [dx, dy] of [[60, 30], [-120, 40], [-40, -60]]) {
      const before = await look(page, "ellipse");
      await drag(page, target, dx, dy);
      const now = await look(page, "ellipse");
      assert.notDeepEqual(now.state.target, before.state.target);
      check(now, drag.name);
    }
  }
  for (const [key, axis] of [["ArrowLeft", 0], ["ArrowDown", 1], ["PageDown", 2]]) {
    const before = await look(page, "ellipse");
    await pressKeys(page, target, key, 3);
    const now = await look(page, "ellipse");
    near(now.state.target[axis], before.state.target[axis] - 0.3, 1e-6, key);
    check(now, key);
  }
  for (const [label, field] of [["about x", "x"], ["about z", "z"]]) {
    await slide(page, "ellipse", label, 0.15);
    const now = await look(page, "ellipse");
    assert.equal(now.state[field], 0.15);
    check(now, `narrow ${label}`);
  }
  assert.ok(outermost > 0.999, `no joint came to its limit: ${outermost}`);
  await page.click('#ellipse label:has-text("Limits")');
  assert.ok(places(await look(page, "ellipse")).some(([place]) => place > 1.5), "without limits the chain stays inside");
  assert.deepEqual(errors, []);
  await page.close();
});

test("the address restores all figures", async () => {
  const { page } = await browser.open(url);
  await dragMouse(page, await handle(page, "race", "Target, CCD"), -30, -17);
  await slide(page, "race", "Sweeps", 4);
  await dragMouse(page, await handle(page, "steps", "Target"), -33, 17);
  await page.click('#steps label:has-text("FABRIK")');
  await dragMouse(page, await handle(page, "branches", "Target of the left branch"), 20, 10);
  await dragMouse(page, await handle(page, "ellipse", "Target"), 20, 10);
  await slide(page, "ellipse", "about z", 0.5);
  await settled(page);
  const restored = await browser.open(page.url());
  for (const id of ["race", "steps", "branches", "ellipse"]) {
    const [a, b] = [await look(page, id), await look(restored.page, id)];
    near(distance(a.probe.tip, b.probe.tip), 0, 2e-3, id);
    for (const field of ["sweeps", "solver", "done", "z"]) assert.equal(a.state[field], b.state[field], `${id}: ${field}`);
  }
  await page.close();
  await restored.page.close();
});
