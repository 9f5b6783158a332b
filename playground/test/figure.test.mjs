// The page Figure: drags, goals and looks, beside forward kinematics and ranges of its own.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { awake, browse, dragMouse, dragTouch, drawn, handle, look, pressKeys, serve } from "./browser.mjs";
import { cross, distance, dot } from "./points.mjs";

const server = await serve();
const browser = await browse({ hasTouch: true, viewport: { width: 1280, height: 1000 } });
const url = `${server.root}figure.html`;
after(async () => {
  await browser.close();
  server.close();
});

const click = (page, id, text) => page.click(`#${id} :is(button, label):has-text("${text}")`);

// Parent and place of each joint with spread arms, in the order of a pose's numbers.
const arm = (side, s) => [
  [`${side} collar`, "chest", [0.03 * s, 0.2, 0]],
  [`${side} shoulder`, `${side} collar`, [0.145 * s, 0.01, 0]],
  [`${side} elbow`, `${side} shoulder`, [0.28 * s, 0, 0]],
  [`${side} hand`, `${side} elbow`, [0.25 * s, 0, 0]],
  [`${side} fingers`, `${side} hand`, [0.17 * s, 0, 0]],
];
const leg = (side, s) => [
  [`${side} hip`, "hips", [0.095 * s, -0.06, 0]],
  [`${side} knee`, `${side} hip`, [0, -0.42, 0]],
  [`${side} foot`, `${side} knee`, [0, -0.41, 0]],
  [`${side} toes`, `${side} foot`, [0, -0.06, 0.15]],
];
const TREE = [
  ["hips", null, [0, 0.945, 0]],
  ["waist", "hips", [0, 0.1, 0]],
  ["chest", "waist", [0, 0.16, 0]],
  ["neck", "chest", [0, 0.27, 0]],
  ["head", "neck", [0, 0.09, 0.01]],
  ["crown", "head", [0, 0.2, 0.01]],
  ...arm("left", 1),
  ...arm("right", -1),
  ...leg("left", 1),
  ...leg("right", -1),
];

/** A vector turned by a rotation vector (Rodrigues). */
function turn(r, v) {
  const angle = Math.hypot(...r);
  if (angle === 0) return [...v];
  const k = r.map((value) => value / angle);
  const [s, c] = [Math.sin(angle), Math.cos(angle)];
  const [a, b] = [cross(k, v), dot(k, v) * (1 - c)];
  return v.map((value, n) => value * c + a[n] * s + k[n] * b);
}

/** Places of all joints of a pose. */
function forward(numbers) {
  const made = {};
  TREE.forEach(([name, parent, at], n) => {
    const r = numbers.slice(3 + 3 * n, 6 + 3 * n);
    const above = parent === null ? undefined : made[parent];
    const into = (v) => (above ? above.into(v) : v);
    const place = above ? above.place.map((value, axis) => value + into(at)[axis]) : numbers.slice(0, 3);
    made[name] = { place, into: (v) => into(turn(r, v)) };
  });
  return made;
}

/** Elbows and knees in their ranges, about their axes; shoulders in their ellipses. */
function inRanges(numbers, what) {
  const at = (name) => numbers.slice(3 + 3 * TREE.findIndex(([of]) => of === name)).slice(0, 3);
  const degree = Math.PI / 180;
  for (const [side, s] of [["left", 1], ["right", -1]]) {
    for (const [part, axis, most] of [["elbow", [0, -s, 0], 148], ["knee", [1, 0, 0], 145]]) {
      const r = at(`${side} ${part}`);
      const angle = dot(r, axis);
      assert.ok(distance(r, axis.map((value) => value * angle)) < 1e-3, `${what}: the ${side} ${part} turns about ${r}`);
      assert.ok(angle > -1e-3 && angle < most * degree + 1e-3, `${what}: the ${side} ${part} at ${angle}`);
    }
    // The swing of the upper arm: the least turn that takes it from spread to where it is.
    const bone = turn(at(`${side} shoulder`), [s, 0, 0]);
    const axis = cross([s, 0, 0], bone);
    const size = Math.hypot(...axis);
    const swing = axis.map((value) => (size > 0 ? (value / size) * Math.atan2(size, dot([s, 0, 0], bone)) : 0));
    const share = (angle, low, high) => angle / ((angle < 0 ? -low : high) * degree);
    const place = Math.hypot(share(dot(swing, [0, -s, 0]), -45, 130), share(dot(swing, [0, 0, -s]), -60, 95));
    assert.ok(place < 1 + 1e-3, `${what}: the ${side} shoulder is at ${place} of its range`);
  }
}

function sound({ probe }, what) {
  const found = forward(probe.pose);
  for (const [name] of TREE) {
    assert.ok(distance(found[name].place, probe.points[name]) < 1e-4, `${what}: ${name} at ${probe.points[name]}, not ${found[name].place}`);
  }
  inRanges(probe.pose, what);
}

test("drag: joints follow, within their ranges, and pinned feet stay", async () => {
  const { page, errors } = await browser.open(url);
  const first = (await look(page, "drag")).probe.points;
  const feet = (probe) => Math.max(...["left foot", "right foot"].map((name) => distance(probe.points[name], first[name])));
  for (const drag of [dragMouse, dragTouch]) {
    for (const [name, dx, dy] of [["Right hand", -40, -90], ["Left hand", 60, -20], ["Head", 30, 10], ["Hips", -10, 25], ["Right elbow", -20, -30]]) {
      await drag(page, await handle(page, "drag", name), dx, dy);
      const now = await look(page, "drag");
      sound(now, `${name} by ${drag.name}`);
      assert.equal(now.state.joint, name.toLowerCase());
      assert.ok(feet(now.probe) < 3e-3, `${name} by ${drag.name}: the feet are ${feet(now.probe)} away`);
    }
  }
  const before = (await look(page, "drag")).probe.points["right hand"];
  await pressKeys(page, await handle(page, "drag", "Right hand"), "ArrowUp", 3);
  const now = await look(page, "drag");
  sound(now, "keys");
  assert.ok(now.probe.points["right hand"][1] > before[1] + 0.05);
  assert.deepEqual(errors, []);
  await page.close();
});

test("drag: what is out of reach leaves the feet pinned, and free feet follow", async () => {
  const { page } = await browser.open(url);
  const first = (await look(page, "drag")).probe.points;
  for (let n = 0; n < 6; n++) await dragMouse(page, await handle(page, "drag", "Right hand"), -60, -60);
  let now = await look(page, "drag");
  sound(now, "far");
  for (const name of ["left foot", "right foot"]) assert.ok(distance(now.probe.points[name], first[name]) < 0.01, name);
  await click(page, "drag", "Pin the feet");
  await dragMouse(page, await handle(page, "drag", "Right knee"), -30, -60);
  now = await look(page, "drag");
  sound(now, "knee");
  assert.ok(distance(now.probe.points["right foot"], first["right foot"]) > 0.05);
  await page.close();
});

test("drag: forward kinematics turns one joint alone", async () => {
  const { page } = await browser.open(url);
  await click(page, "drag", "one joint");
  for (const [name, parent] of [["Right hand", "right elbow"], ["Right elbow", "right shoulder"], ["Left knee", "left hip"], ["Head", "neck"]]) {
    const before = (await look(page, "drag")).probe.pose;
    await dragMouse(page, await handle(page, "drag", name), -25, -35);
    const now = await look(page, "drag");
    sound(now, name);
    TREE.forEach(([of], n) => {
      const moved = distance(now.probe.pose.slice(3 + 3 * n, 6 + 3 * n), before.slice(3 + 3 * n, 6 + 3 * n));
      assert.ok(of === parent ? moved > 1e-3 : moved < 1e-4, `${name}: ${of} turned by ${moved}`);
    });
  }
  await page.close();
});

test("goals: those that fit are met, and weight pulls at one that does not", async () => {
  const { page, errors } = await browser.open(url);
  const off = ({ state, probe }, name) => {
    const n = ["head", "chest", "hips", "left hand", "right hand", "left knee", "right knee", "left foot", "right foot"].indexOf(name);
    return distance(probe.points[name], state.targets.slice(3 * n, 3 * n + 3));
  };
  await click(page, "goals", "head and hands");
  for (const drag of [dragMouse, dragTouch]) {
    for (const [name, dx, dy] of [["Right hand", 20, 40], ["Left hand", 30, -60], ["Head", 10, 8]]) {
      await drag(page, await handle(page, "goals", name), dx, dy);
      const now = await look(page, "goals");
      sound(now, name);
      for (const of of ["head", "left hand", "right hand"]) assert.ok(off(now, of) < 0.01, `${name}: the ${of} is ${off(now, of)} away`);
    }
  }
  await click(page, "goals", "all nine");
  await dragMouse(page, await handle(page, "goals", "Right hand"), -160, -40);
  const even = await look(page, "goals");
  sound(even, "far");
  await page.$eval("#goals .slider input", (input) => {
    input.value = "10";
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
  const heavy = await look(page, "goals");
  sound(heavy, "heavy");
  assert.equal(heavy.state.weights[4], 10);
  assert.ok(off(heavy, "right hand") < 0.8 * off(even, "right hand"), `${off(even, "right hand")} to ${off(heavy, "right hand")}`);
  await pressKeys(page, await handle(page, "goals", "Left foot"), "ArrowUp", 2);
  sound(await look(page, "goals"), "keys");
  assert.deepEqual(errors, []);
  await page.close();
});

test("look: the face turns to the target, with the spine further than without", async () => {
  const { page, errors } = await browser.open(url);
  const check = async (what) => {
    const { state, probe } = await look(page, "look");
    inRanges(probe.pose, what);
    const made = forward(probe.pose);
    const from = made.head.place.map((value, axis) => value + made.head.into([0, 0.1, 0.09])[axis]);
    const ahead = made.head.into([0, 0, 1]);
    const to = state.target.map((value, axis) => value - from[axis]);
    const angle = Math.acos(Math.min(dot(to, ahead) / Math.hypot(...to), 1));
    assert.ok(Math.abs(angle - probe.off) < 1e-3, `${what}: ${angle}, not ${probe.off}`);
    return angle;
  };
  const target = await handle(page, "look", "Target");
  for (const drag of [dragMouse, dragTouch]) {
    for (const [dx, dy] of [[60, -20], [40, 30], [-50, -10]]) {
      await drag(page, target, dx, dy);
      assert.ok((await check(drag.name)) < 0.01, drag.name);
    }
  }
  await pressKeys(page, target, "ArrowLeft", 3);
  assert.ok((await check("keys")) < 0.01);
  await page.close();
  const aside = [];
  for (const shared of ["on", "off"]) {
    const opened = await browser.open(`${url}#look=target:-1.2,1.4,0.1;shared:${shared}`);
    const { probe } = await look(opened.page, "look");
    aside.push(probe.off);
    await opened.page.close();
  }
  assert.ok(aside[0] < aside[1] - 0.2, `${aside}`);
  assert.deepEqual(errors, []);
});

/** Ends of the character that is shown are at their goals, or the figure says how far away they are. */
const checkOwn = async (page, what, reached = true) => {
  const { probe } = await look(page, "own");
  const worst = Math.max(...probe.away);
  if (reached) assert.ok(worst < 0.012, `${what}: ${worst} m away`);
  else assert.ok(worst > 0.05, `${what}: ${worst} m away`);
  return probe;
};
const shows = (page, name) => page.waitForFunction((name) => window.playground.figures.own.probe().model === name, name);

test("a character of the reader's follows its goals by mouse, touch and keys", async () => {
  const { page, errors, loaded } = await browser.open(url);
  assert.ok(!loaded.some((name) => /files|GLTF/.test(name)), "files and their loader are not loaded before they are needed");
  await awake(page);
  const first = await checkOwn(page, "at first");
  assert.deepEqual([first.model, first.human, first.ends], ["mannequin", true, ["hips", "head", "left hand", "right hand", "left foot", "right foot"]]);
  const end = (name) => page.$(`#own .handle[aria-label="${name}"]`);
  await dragMouse(page, await end("Right hand"), 20, 60);
  await checkOwn(page, "by mouse");
  await dragTouch(page, await end("Left hand"), 30, -60);
  await checkOwn(page, "by touch");
  await pressKeys(page, await end("Left foot"), "ArrowUp", 3);
  await checkOwn(page, "by keys");
  await dragMouse(page, await end("Right hand"), -300, -60);
  const far = await checkOwn(page, "out of reach", false);
  assert.match(await page.textContent("#own .readout"), /furthest away is right hand, by \d\.\d\d m/);
  // The picture has the mesh where the pose is.
  const before = await page.$eval("#own .pane canvas", (canvas) => canvas.toDataURL());
  await click(page, "own", "At ease");
  await drawn(page);
  assert.notEqual(await page.$eval("#own .pane canvas", (canvas) => canvas.toDataURL()), before);
  const ease = await checkOwn(page, "at ease");
  assert.ok(Math.hypot(...ease.scene[3].map((v, axis) => v - far.scene[3][axis])) > 0.3);
  assert.deepEqual(errors, []);
  await page.close();
});

/** A creature of three legs of three joints each, with a triangle as its mesh, as a glTF with its buffer inside. */
function tripod() {
  const nodes = [{ name: "body", translation: [0, 1, 0], children: [1, 4, 7], mesh: 0 }];
  [0, 1, 2].forEach((leg) => {
    const angle = (2 * Math.PI * leg) / 3;
    ["hip", "knee", "tip"].forEach((part, n) => {
      const translation = n === 2 ? [0, -0.7, 0.02] : [0.4 * Math.sin(angle), n === 1 ? -0.2 : 0, 0.4 * Math.cos(angle)];
      nodes.push({ name: `${part} ${leg}`, translation, ...(n < 2 ? { children: [nodes.length + 1] } : {}) });
    });
  });
  const places = Buffer.from(Float32Array.of(-0.2, 0, 0, 0.2, 0, 0, 0, 0.3, 0).buffer);
  return JSON.stringify({
    asset: { version: "2.0" },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes,
    meshes: [{ primitives: [{ attributes: { POSITION: 0 } }] }],
    accessors: [{ bufferView: 0, componentType: 5126, count: 3, type: "VEC3", min: [-0.2, 0, 0], max: [0.2, 0.3, 0] }],
    bufferViews: [{ buffer: 0, byteLength: 36 }],
    buffers: [{ byteLength: 36, uri: `data:application/octet-stream;base64,${places.toString("base64")}` }],
  });
}

test("creatures take the mannequin's place, and what is no character leaves it", async () => {
  const { page, errors } = await browser.open(url);
  await awake(page);
  const open = (name, text) => page.setInputFiles("#own input[type=file]", { name, mimeType: "model/gltf+json", buffer: Buffer.from(text) });
  await open("tripod.gltf", tripod());
  await shows(page, "tripod");
  const { human, ends } = await checkOwn(page, "a tripod");
  assert.deepEqual([human, [...ends].sort()], [false, ["tip 0", "tip 1", "tip 2"]]);
  await dragMouse(page, await page.$('#own .handle[aria-label="Tip 0"]'), 20, -30);
  await checkOwn(page, "a tripod's leg is lifted");
  const told = async (words) => {
    await page.waitForFunction((words) => new RegExp(words).test(document.querySelector("#own .error:not([hidden])")?.textContent ?? ""), words);
    assert.equal((await look(page, "own")).probe.model, "tripod");
  };
  await open("broken.glb", "glTF");
  await told("^broken\\.glb");
  await open("empty.gltf", "");
  await told("^empty\\.gltf");
  const box = JSON.parse(tripod());
  box.nodes.splice(1);
  delete box.nodes[0].children;
  await open("box.gltf", JSON.stringify(box));
  await told("^The model box has no limbs");
  await click(page, "own", "The mannequin");
  await shows(page, "mannequin");
  await checkOwn(page, "the mannequin again");
  assert.deepEqual(errors, []);
  await page.close();
});
