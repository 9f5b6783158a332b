// The page Creature: legs that walk to a target, by mouse, touch and keys.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { awake, browse, dragMouse, dragTouch, look, pressKeys, serve } from "./browser.mjs";

const server = await serve();
const browser = await browse({ hasTouch: true });
const url = `${server.root}creature.html`;
after(async () => {
  await browser.close();
  server.close();
});

const away = ({ state, probe }) => Math.hypot(probe.at[0] - state.target[0], probe.at[2] - state.target[1]);

/** Waits until the creature rests at its target, and watches its standing feet meanwhile. */
async function arrive(page, most = 30_000) {
  const until = Date.now() + most;
  let before;
  let stood = 0;
  while (Date.now() < until) {
    const seen = await look(page, "crawler");
    const { feet, report } = seen.probe;
    assert.ok(report.standing >= feet.length / 2 && report.outOfReach < 0.02, JSON.stringify(report));
    feet.forEach(({ stands, position }, n) => {
      const last = before?.[n];
      if (!stands || !last?.stands) return;
      const moved = Math.hypot(...position.map((v, axis) => v - last.position[axis]));
      // A foot that does not lift between two looks stays; one that has stepped is elsewhere by far more.
      assert.ok(moved < 1e-5 || moved > 0.005, `foot ${n} slides by ${moved} m`);
      stood += moved < 1e-5 ? 1 : 0;
    });
    before = feet;
    if (away(seen) < 0.05 && report.standing === feet.length && !(await page.$('#crawler button:has-text("Pause")'))) return { ...seen, stood };
    await page.waitForTimeout(60);
  }
  throw new Error(`it has not arrived: ${JSON.stringify((await look(page, "crawler")).probe.report)}`);
}

for (const [legs, place] of [["8", "rough"], ["6", "steps"], ["4", "slope"], ["8", "flat"]]) {
  test(`${legs} legs, ${place}: it walks to its target, rests, and its feet stand still meanwhile`, async () => {
    const { page, errors } = await browser.open(`${url}#crawler=legs:${legs};place:${place};speed:0.8;target:0.4,0.9`);
    await awake(page);
    assert.ok(away(await look(page, "crawler")) > 0.9);
    await page.click('#crawler button:has-text("Walk")');
    const { probe, stood } = await arrive(page);
    assert.equal(probe.feet.length, Number(legs));
    assert.equal(probe.ground, place);
    assert.ok(probe.prints > Number(legs) && stood > 20, `${probe.prints} prints, ${stood}`);
    assert.deepEqual(errors, []);
    await page.close();
  });
}

test("the target is led by mouse, touch and keys, over the ground; it starts the walk", async () => {
  const { page, errors } = await browser.open(`${url}#crawler=speed:1`);
  await awake(page);
  const target = await page.$("#crawler .handle-target");
  const where = async () => (await look(page, "crawler")).state.target;
  let last = await where();
  const moves = async (what, ok) => {
    const now = await where();
    assert.ok(ok(now[0] - last[0], now[1] - last[1]), `${what}: ${last} to ${now}`);
    assert.ok(Math.abs(now[0]) <= 1.9 && Math.abs(now[1]) <= 1.9);
    last = now;
  };
  await dragMouse(page, target, -60, 20);
  await moves("mouse", (x, z) => Math.hypot(x, z) > 0.1);
  assert.ok(await page.$('#crawler button:has-text("Pause")'), "the walk has begun");
  await dragTouch(page, target, 50, -20);
  await moves("touch", (x, z) => Math.hypot(x, z) > 0.1);
  await page.click('#crawler button:has-text("Pause")');
  await pressKeys(page, target, "ArrowUp", 3);
  await moves("away", (x, z) => Math.abs(Math.hypot(x, z) - 0.3) < 0.02);
  await pressKeys(page, target, "ArrowDown", 30);
  await pressKeys(page, target, "ArrowRight", 2);
  last = await where();
  await arrive(page);
  assert.match(await page.textContent("#crawler .readout"), /^All 8 feet stand, 0\.0\d m from the target/);
  assert.deepEqual(errors, []);
  await page.close();
});

test("off the side of the steps it waits, and says why", async () => {
  const { page } = await browser.open(`${url}#crawler=legs:6;place:steps;speed:1;target:1.9,0.5`);
  await awake(page);
  // The steps are 2.4 m wide.
  const ends = await page.evaluate(() => {
    const figure = window.playground.figures.crawler;
    figure.set({ target: [1.9, 0.5] });
    return figure.probe().ground;
  });
  assert.equal(ends, "steps");
  await page.click('#crawler button:has-text("Walk")');
  await page.waitForFunction(() => window.playground.figures.crawler.probe().report.waits?.why);
  const { probe } = await look(page, "crawler");
  assert.ok(probe.at[0] > 0.5 && probe.at[0] < 1.2 && probe.report.outOfReach < 0.05, JSON.stringify(probe.report));
  await page.close();
});

test("other legs, another height and a new start", async () => {
  const { page, errors } = await browser.open(url);
  await awake(page);
  await page.waitForFunction(() => window.playground.figures.crawler.probe().shown === "8");
  const before = (await look(page, "crawler")).probe;
  const set = (change) => page.evaluate((change) => window.playground.figures.crawler.set(change), change);
  await set({ legs: "4" });
  await page.waitForFunction(() => window.playground.figures.crawler.probe().shown === "4");
  assert.equal((await look(page, "crawler")).probe.feet.length, 4);
  await set({ legs: "8", ride: 1.3 });
  await page.click('#crawler button:has-text("Walk")');
  await page.waitForTimeout(1500);
  const after = (await look(page, "crawler")).probe;
  assert.ok(after.at[1] > before.at[1] + 0.03, `${before.at} to ${after.at}`);
  await page.click('#crawler button:has-text("Start again")');
  const again = (await look(page, "crawler")).probe;
  assert.deepEqual(again.at, before.at);
  assert.deepEqual(errors, []);
  await page.close();
});
