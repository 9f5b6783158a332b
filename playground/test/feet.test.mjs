// The page Feet: a walk planted on the ground, by mouse, touch and keys, with grounds and files.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";

import { awake, browse, dragMouse, dragTouch, look, pressKeys, serve } from "./browser.mjs";
import { distance } from "./points.mjs";

const server = await serve();
const browser = await browse({ hasTouch: true });
const url = `${server.root}feet.html`;
after(async () => {
  await browser.close();
  server.close();
});

/** The walk, frame by frame: balls of both feet, the ground below them, and whether they stand. */
const frames = (page, change = {}) =>
  page.evaluate((change) => {
    const figure = window.playground.figures.walk;
    figure.set(change);
    const list = [];
    for (let frame = 0; frame < 324; frame += 2) {
      figure.set({ time: frame / 60 });
      const { balls, below, stands } = figure.probe();
      list.push({ balls, below, stands: stands.map((all) => all[frame] === 1) });
    }
    return list;
  }, change);

for (const ground of ["flat", "stairs", "down", "slope", "rough"]) {
  test(`${ground}: feet that stand stay on the ground`, async () => {
    const { page, errors } = await browser.open(`${url}#walk=ground:${ground}`);
    await awake(page);
    const all = await frames(page);
    for (const side of [0, 1]) {
      let [stood, steps, first] = [0, 0, undefined];
      for (const { balls, below, stands } of all) {
        if (!stands[side]) {
          first = undefined;
          continue;
        }
        if (first === undefined) steps++;
        first ??= balls[side];
        stood++;
        const over = balls[side][1] - below[side];
        // The joint of the toes lies some centimetres over the sole; the ball leaves the ground as the heel has before.
        assert.ok(over > -0.01 && over < 0.13, `${ground}: ${over} m over the ground at ${balls[side]}`);
      }
      assert.ok(stood > 60 && steps >= 3, `${ground}: ${stood} frames, ${steps} steps`);
      // While a foot stands firmly, from a third of each stance to its half, it does not move.
      let run = [];
      const still = () => {
        const part = run.slice(Math.floor(run.length / 3), Math.floor(run.length / 2));
        for (const at of part) assert.ok(distance(at, part[0]) < 0.012, `${ground}: slides from ${part[0]} to ${at}`);
        run = [];
      };
      for (const { balls, stands } of all) stands[side] ? run.push(balls[side]) : still();
      still();
    }
    assert.deepEqual(errors, []);
    await page.close();
  });
}

test("without planting, or without influence, it is the walk as it is; with casts that are too short, feet sink", async () => {
  const { page } = await browser.open(`${url}#walk=ground:stairs`);
  await awake(page);
  const heights = (all) => all.map(({ balls }) => balls.map(([, y]) => y));
  const plain = await frames(page, { planted: false });
  assert.ok(Math.max(...heights(plain).flat()) < 0.35, "the walk's own floor is level");
  const none = await frames(page, { planted: true, influence: 0 });
  none.forEach(({ balls }, n) => balls.forEach((at, side) => assert.ok(distance(at, plain[n].balls[side]) < 1e-6, `${at}`)));
  const sinks = (all) => Math.min(...all.flatMap(({ balls, below }) => balls.map(([, y], side) => y - below[side])));
  const deep = [sinks(await frames(page, { influence: 1 })), sinks(await frames(page, { castAbove: 0.02 }))];
  assert.ok(deep[0] > -0.1 && deep[1] < -0.3, `${deep}`);
  await page.close();
});

test("settings: toes turn outwards, and soles lie above", async () => {
  const { page } = await browser.open(`${url}#walk=ground:flat`);
  await awake(page);
  const seen = async (change) =>
    page.evaluate((change) => {
      const figure = window.playground.figures.walk;
      figure.set({ time: 0.1, ...change });
      return figure.probe();
    }, change);
  const yaw = ({ balls, ankles }, side) => Math.atan2(balls[side][0] - ankles[side][0], balls[side][2] - ankles[side][2]);
  const [before, out] = [await seen({}), await seen({ toeOut: 0.4 })];
  assert.ok(Math.abs(yaw(out, 0) - yaw(before, 0) - 0.4) < 0.03 && Math.abs(yaw(out, 1) - yaw(before, 1) + 0.4) < 0.03, `${yaw(out, 0)}, ${yaw(out, 1)}`);
  const high = await seen({ toeOut: 0, offset: 0.08 });
  for (const side of [0, 1]) assert.ok(Math.abs(high.balls[side][1] - before.balls[side][1] - 0.08) < 0.01, `${high.balls[side]}`);
  await page.close();
});

test("time goes by mouse, touch, keys and the button, and rays are cast", async () => {
  const { page, errors } = await browser.open(url);
  await awake(page);
  const time = async () => (await look(page, "walk")).state.time;
  const handle = await page.$('#walk .handle[aria-label="Time"]');
  const start = await time();
  await dragMouse(page, handle, -120, 0);
  const back = await time();
  assert.ok(back < start - 0.3, `${back}`);
  await dragTouch(page, handle, 60, 0);
  const on = await time();
  assert.ok(on > back + 0.1, `${on}`);
  await pressKeys(page, handle, "ArrowRight", 3);
  assert.ok(Math.abs((await time()) - on - 0.3) < 1e-3, `${await time()}`);
  await pressKeys(page, handle, "ArrowLeft", 99);
  assert.equal(await time(), 0);
  await page.click('#walk button:has-text("Walk")');
  await page.waitForFunction(() => window.playground.figures.walk.state.time > 0.5);
  await page.click('#walk button:has-text("Pause")');
  const rays = await page.evaluate(() => {
    const figure = window.playground.figures.walk;
    return [0.5, 1, 1.5, 2, 2.5, 3].map((time) => (figure.set({ time }), figure.probe().rays));
  });
  assert.ok(rays.some((count) => count > 10), `${rays}`);
  assert.match(await page.textContent("#walk .readout"), /stand/);
  assert.deepEqual(errors, []);
  await page.close();
});

test("a ground of the reader's, and what is none", async () => {
  const { page, errors } = await browser.open(url);
  await awake(page);
  const open = (name, text) => page.setInputFiles("#walk input[type=file]", { name, mimeType: "model/obj", buffer: Buffer.from(text) });
  const shows = (key) => page.waitForFunction((key) => window.playground.figures.walk.probe().ground === key, key);
  await open("hill.obj", "v -3 0.25 -2\nv -3 0.25 9\nv 3 0.25 9\nv 3 0.25 -2\nf 1 2 3 4\n");
  await shows("own hill.obj");
  const all = await frames(page);
  const standing = all.flatMap(({ balls, stands }) => balls.filter((_, side) => stands[side]));
  assert.ok(standing.length > 100);
  for (const [, y] of standing) assert.ok(y > 0.24 && y < 0.4, `${y}`);
  assert.match((await look(page, "walk")).code.typescript, /readGround\(await \(await fetch\("hill\.obj"\)\)/);
  await open("hole.obj", "v 0 0\n");
  await page.waitForFunction(() => /^hole\.obj/.test(document.querySelector("#walk .error:not([hidden])")?.textContent ?? ""));
  assert.equal((await look(page, "walk")).probe.ground, "own hill.obj");
  await page.click('#walk label:has-text("slope")');
  await shows("slope");
  assert.deepEqual(errors, []);
  await page.close();
});

test("the whole clip is planted in a worker and saved", async () => {
  const { page, errors, foreign } = await browser.open(`${url}#walk=ground:stairs`);
  await awake(page);
  const [download] = await Promise.all([page.waitForEvent("download", { timeout: 60_000 }), page.click('#walk button:has-text("Save as GLB")')]);
  assert.equal(download.suggestedFilename(), "planted.glb");
  const file = readFileSync(await download.path());
  assert.equal(file.toString("latin1", 0, 4), "glTF");
  const json = JSON.parse(file.toString("utf8", 20, 20 + file.readUInt32LE(12)));
  assert.deepEqual(json.animations.map(({ name }) => name), ["walk", "walk (planted)"]);
  assert.ok(json.nodes.some(({ name }) => name === "ground"));
  await page.waitForFunction(() => /saved, \d+ % of the contacts are planted/.test(document.querySelector("#walk .readout").textContent));
  assert.deepEqual([errors, foreign], [[], []]);
  await page.close();
});

test("the address restores the figure", async () => {
  const { page } = await browser.open(`${url}#walk=ground:down;time:1.7;pelvisRate:0.9;rays:off`);
  await awake(page);
  const { state } = await look(page, "walk");
  assert.deepEqual([state.ground, state.time, state.pelvisRate, state.rays], ["down", 1.7, 0.9, false]);
  await page.close();
});
