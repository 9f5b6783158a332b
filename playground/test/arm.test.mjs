// The page Arm: the robot by mouse, touch and keys, beside forward kinematics of its own.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { awake, browse, dragMouse, dragTouch, drawn, look, pressKeys, serve, slide } from "./browser.mjs";
import { distance } from "./points.mjs";

const server = await serve();
const browser = await browse({ hasTouch: true });
const url = `${server.root}arm.html`;
after(async () => {
  await browser.close();
  server.close();
});

const RANGES = [[-2.95, 2.95], [-0.7, 2.3], [-2.6, 0.3], [-2.95, 2.95], [-2, 2], [-3.05, 3.05]];
const AXES = ["y", "z", "z", "x", "z", "x"];
const OFFSETS = [[0, 0.13, 0], [0.52, 0, 0], [0.16, 0, 0], [0.3, 0, 0], [0.09, 0, 0], [0.15, 0, 0]];

const times = (m, v) => m.map((row) => row.reduce((sum, value, n) => sum + value * v[n], 0));
const product = (a, b) => a.map((row) => [0, 1, 2].map((k) => row.reduce((sum, value, n) => sum + value * b[n][k], 0)));
function about(axis, angle) {
  const [s, c] = [Math.sin(angle), Math.cos(angle)];
  return { x: [[1, 0, 0], [0, c, -s], [0, s, c]], y: [[c, 0, s], [0, 1, 0], [-s, 0, c]], z: [[c, -s, 0], [s, c, 0], [0, 0, 1]] }[axis];
}

/** The gripper's place, and its axes as columns, at six angles. */
function forward(angles) {
  let [at, turned] = [[0, 0.56, 0], about("x", 0)];
  angles.forEach((angle, n) => {
    turned = product(turned, about(AXES[n], angle));
    const by = times(turned, OFFSETS[n]);
    at = at.map((value, axis) => value + by[axis]);
  });
  return { at, turned };
}

/** Angles in their ranges, and a gripper that is where they put it. Returns its place and axes. */
function sound({ probe }, what) {
  probe.angles.forEach((angle, n) => assert.ok(angle >= RANGES[n][0] - 1e-4 && angle <= RANGES[n][1] + 1e-4, `${what}: joint ${n} at ${angle}`));
  const found = forward(probe.angles);
  assert.ok(distance(probe.tip, found.at) < 1e-4, `${what}: the gripper at ${probe.tip}, not ${found.at}`);
  return found;
}

test("the gripper follows the ball within its reach, downwards, by mouse, touch and keys", async () => {
  const { page, errors } = await browser.open(url);
  const ball = await page.$('#robot .handle[aria-label="Ball"]');
  const check = async (what) => {
    const now = await look(page, "robot");
    const { at, turned } = sound(now, what);
    assert.ok(now.probe.reached && distance(at, now.state.ball) < 1e-3, `${what}: ${at}, not ${now.state.ball}`);
    // The tool's axis points down, and the jaws are turned from z by the angle that is asked for.
    const { turn } = now.state;
    const jaws = [Math.sin(turn), 0, Math.cos(turn)];
    assert.ok(distance(times(turned, [1, 0, 0]), [0, -1, 0]) < 5e-3, `${what}: the tool points to ${times(turned, [1, 0, 0])}`);
    assert.ok(distance(times(turned, [0, 0, 1]), jaws) < 5e-3, `${what}: the jaws`);
    return now.state;
  };
  for (const drag of [dragMouse, dragTouch]) {
    for (const [dx, dy] of [[-60, 20], [-80, -30], [70, 30], [60, -10]]) {
      const before = (await look(page, "robot")).state.ball;
      await drag(page, ball, dx, dy);
      assert.notDeepEqual((await check(drag.name)).ball, before);
    }
  }
  for (const [key, axis, sign] of [["ArrowUp", 1, 1], ["PageDown", 2, -1], ["ArrowLeft", 0, -1]]) {
    const before = (await look(page, "robot")).state.ball;
    await pressKeys(page, ball, key, 2);
    const { ball: now } = await check(key);
    assert.ok(Math.abs(now[axis] - before[axis] - sign * 0.1) < 1e-4, `${key}: ${before} to ${now}`);
  }
  for (const turn of [1.2, -1.4, 0]) {
    await slide(page, "robot", "Turn about its axis", turn);
    assert.ok(Math.abs((await check(`turned by ${turn}`)).turn - turn) < 0.006);
  }
  assert.deepEqual(errors, []);
  await page.close();
});

test("a ball beyond reach is pointed at, and the page says how far away it is", async () => {
  for (const tool of ["free", "down"]) {
    const { page } = await browser.open(`${url}#robot=ball:1.6,1.2,-0.9;tool:${tool}`);
    const now = await look(page, "robot");
    const { at } = sound(now, tool);
    const shoulder = [0, 0.69, 0];
    const reach = 0.52 + 0.16 + 0.3 + 0.09 + 0.15;
    const least = distance(shoulder, now.state.ball) - reach;
    const away = distance(at, now.state.ball);
    assert.ok(!now.probe.reached && away >= least - 1e-3, `${away}`);
    // With a free gripper, as near as a straight arm: the solver gives up a hundredth of its length.
    if (tool === "free") assert.ok(away < least + 0.015, `${away}, where ${least} can be had`);
    assert.match(await page.textContent("#robot .readout"), new RegExp(`${away.toFixed(2)} m away`));
    await page.close();
  }
});

test("sliders turn the joints, and the ball goes with the gripper", async () => {
  const { page, errors } = await browser.open(url);
  const wanted = [0.4, 1.1, -1.3, 0.6, 0.9, -1.2];
  for (const [n, name] of ["Turn", "Shoulder", "Elbow", "Forearm", "Wrist", "Tool"].entries()) {
    await page.$eval(`#robot .columns .slider:nth-child(${n + 1}) input`, (input, value) => {
      input.value = String(value);
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }, wanted[n]);
    const now = await look(page, "robot");
    assert.ok(Math.abs(now.probe.angles[n] - wanted[n]) < 1e-4, `${name}: ${now.probe.angles[n]}`);
    const { at } = sound(now, name);
    assert.ok(distance(at, now.state.ball) < 1e-4, `${name}: the ball at ${now.state.ball}`);
  }
  const { probe } = await look(page, "robot");
  wanted.forEach((angle, n) => assert.ok(Math.abs(probe.angles[n] - angle) < 1e-3, `joint ${n}: ${probe.angles[n]}`));
  assert.deepEqual(errors, []);
  await page.close();
});

test("a ball that bounces is followed without a leap", async () => {
  const { page, errors } = await browser.open(url);
  await page.click('#robot button:has-text("Bounce the ball")');
  // States as the motion makes them, frame by frame: a slow machine has large steps, of 0.1 s at most.
  const seen = await page.evaluate(async () => {
    const figure = window.playground.figures.robot;
    const list = [];
    while (list.length < 90) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      list.push({ ball: [...figure.state.ball], angles: [...figure.probe().angles] });
    }
    return list;
  });
  await page.click('#robot button:has-text("Pause")');
  const bounced = new Set(seen.map(({ ball }) => ball.join()));
  assert.ok(bounced.size > 20, `${bounced.size} places of the ball in ${seen.length} frames`);
  for (const [n, now] of seen.slice(1).entries()) {
    const before = seen[n];
    const moved = distance(now.ball, before.ball);
    const turned = Math.max(...now.angles.map((angle, k) => Math.abs(angle - before.angles[k])));
    assert.ok(turned <= 12 * moved + 0.02, `${turned} rad for ${moved} m at ${now.ball}`);
    assert.ok(now.ball[1] >= 0.0449);
  }
  assert.deepEqual(errors, []);
  await page.close();
});

test("the picture has solids with shadows, in both themes", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const shown = await browse({ colorScheme });
    const { page } = await shown.open(url);
    await drawn(page);
    // Grey values of the pane: those of shells, and those of shadows on the floor.
    const count = await page.$eval(".pane canvas", (canvas) => {
      const context = canvas.getContext("2d");
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      const values = { solid: 0, shade: 0 };
      for (let at = 0; at < data.length; at += 4) {
        if (data[at + 3] === 255) values.solid += 1;
        else if (data[at + 3] > 20 && data[at] + data[at + 1] + data[at + 2] === 0) values.shade += 1;
      }
      return { solid: values.solid / (data.length / 4), shade: values.shade / (data.length / 4) };
    });
    assert.ok(count.solid > 0.02 && count.shade > 0.003, `${colorScheme}: ${JSON.stringify(count)}`);
    await shown.close();
  }
});

// The example of the second figure: a carriage along x, then hinges, with z up.
const RAIL = { ranges: [[-0.6, 0.6], [-3, 3], [-1.6, 1.9], [-2.5, 2.5], [-3, 3], [-2.1, 2.1], [-3, 3]], axes: "xzyyzyz", rises: [0.12, 0.14, 0.12, 0.46, 0.14, 0.26, 0.1, 0.14] };

function railed(values) {
  let [at, turned] = [[values[0], 0, RAIL.rises[0]], about("x", 0)];
  for (let n = 1; n < 8; n++) {
    at = at.map((value, axis) => value + times(turned, [0, 0, RAIL.rises[n]])[axis]);
    if (n < 7) turned = product(turned, about(RAIL.axes[n], values[n]));
  }
  return { at, turned };
}

const checkRail = async (page, what, reached = true) => {
  const { probe } = await look(page, "own");
  probe.values.forEach((value, n) => assert.ok(value >= RAIL.ranges[n][0] - 1e-9 && value <= RAIL.ranges[n][1] + 1e-9, `${what}: value ${n} is ${value}`));
  const { at, turned } = railed(probe.values);
  assert.ok(distance(probe.tip, at) < 1e-9, `${what}: the tool at ${probe.tip}, not ${at}`);
  if (reached) assert.ok(distance(at, probe.goal) < 1e-3, `${what}: ${at}, not ${probe.goal}`);
  return { at, turned, probe };
};

test("an arm on a rail follows by mouse, touch and keys, and points downwards", async () => {
  const { page, errors, loaded } = await browser.open(url);
  assert.ok(!loaded.some((name) => name.includes("files")), "the engine's files are not loaded before they are needed");
  await awake(page);
  const target = await page.$('#own .handle[aria-label="Target"]');
  await checkRail(page, "at first");
  await dragMouse(page, target, 60, -40);
  await checkRail(page, "by mouse");
  await dragTouch(page, target, -90, 20);
  await checkRail(page, "by touch");
  await pressKeys(page, target, "PageUp", 2);
  await checkRail(page, "by keys");
  await page.click('#own label:has-text("Points downwards")');
  for (const [dx, dy] of [[20, 10], [-40, 0], [10, 20]]) {
    await dragMouse(page, target, dx, dy);
    const { turned } = await checkRail(page, "downwards");
    assert.ok(distance(times(turned, [0, 0, 1]), [0, 0, -1]) < 5e-3, `${times(turned, [0, 0, 1])}`);
  }
  await dragMouse(page, target, 500, -200);
  await checkRail(page, "out of reach", false);
  assert.match(await page.textContent("#own .readout"), /is \d\.\d+ m away/);
  await page.$eval("#own .columns .slider:nth-child(4) input", (input) => {
    input.value = "-1";
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
  const { probe } = await checkRail(page, "by a slider");
  assert.ok(Math.abs(probe.values[3] + 1) < 0.01);
  assert.deepEqual(errors, []);
  await page.close();
});

const CRANE = `<robot name="crane"><link name="base"/><link name="mast"/><link name="jib"/><link name="hook"/>
<joint name="slew" type="continuous"><parent link="base"/><child link="mast"/><axis xyz="0 0 1"/></joint>
<joint name="luff" type="revolute"><parent link="mast"/><child link="jib"/><origin xyz="0 0 2"/><axis xyz="0 -1 0"/><limit lower="0" upper="1.4" effort="1" velocity="1"/></joint>
<joint name="trolley" type="prismatic"><parent link="jib"/><child link="hook"/><axis xyz="1 0 0"/><limit lower="1" upper="4" effort="1" velocity="1"/></joint>
</robot>`;

test("a URDF that is opened or dropped takes the arm's place; what is none leaves it", async () => {
  const { page, errors } = await browser.open(url);
  await awake(page);
  const open = async (name, text) => {
    await page.setInputFiles("#own input[type=file]", { name, mimeType: "text/xml", buffer: Buffer.from(text) });
  };
  const shows = (name) => page.waitForFunction((name) => window.playground.figures.own.probe().robot === name, name);
  await open("crane.urdf", CRANE);
  await shows("crane");
  const { probe } = await look(page, "own");
  assert.ok(distance(probe.values, [0, 0, 2.5]) < 1e-5, `${probe.values}`);
  await dragMouse(page, await page.$('#own .handle[aria-label="Target"]'), -40, -30);
  const moved = (await look(page, "own")).probe;
  const [slew, luff, out] = moved.values;
  assert.ok(moved.reached && luff >= 0 && luff <= 1.4 && out >= 1 && out <= 4);
  assert.ok(distance(moved.tip, [out * Math.cos(luff) * Math.cos(slew), out * Math.cos(luff) * Math.sin(slew), 2 + out * Math.sin(luff)]) < 1e-9);
  assert.match((await look(page, "own")).code.typescript, /fetch\("crane\.urdf"\)/);
  const told = async (words) => {
    await page.waitForFunction((words) => new RegExp(words).test(document.querySelector("#own .error:not([hidden])")?.textContent ?? ""), words);
    assert.equal((await look(page, "own")).probe.robot, "crane");
  };
  await open("broken.urdf", CRANE.replace("</robot>", ""));
  await told("^broken\\.urdf");
  await open("still.urdf", '<robot name="still"><link name="base"/></robot>');
  await told("^No joint of the robot still moves");
  await open("point.urdf", CRANE.replaceAll(/xyz="0 0 2"/g, 'xyz="0 0 0"').replaceAll(/lower="1" upper="4"/g, 'lower="0" upper="0"'));
  await told("a reach of 0 m");
  const drop = (name, text) =>
    page.$eval("#own .pane", (pane, [name, text]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([text], name));
      for (const type of ["dragenter", "dragover", "drop"]) pane.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
    }, [name, text]);
  await drop("photo.jpg", "no");
  await told("^photo\\.jpg is none of the files");
  await drop("second.urdf", CRANE.replace('name="crane"', 'name="second"'));
  await shows("second");
  await page.click('#own button:has-text("The example")');
  await shows("rail_arm");
  await checkRail(page, "the example again");
  assert.deepEqual(errors, []);
  await page.close();
});
