// Calls with whatever a program may hand over by mistake: a `SinewError` of a kind, or a result.

import assert from "node:assert/strict";
import test from "node:test";

import { SinewError, load } from "sinew/files";

const sinew = await load();
const { Aim, Body, Chain, Chain2d, Curve, Drag, DrawList, FabrikTree, Follow, FootPlanter, FullBody, Ground, JointSpaceSolver, LookAt } = sinew;
const { Clip, Figure, Mechanism, Mirror, Model, PointChain, Pose, Rig, RigKeys, Skeleton, Spline, Trackers, TwoBone, Walker } = sinew;

/** Objects of all classes. */
function things() {
  const model = Model.mannequin();
  const [body, skeleton, pose] = [model.body(), model.skeleton, model.bindPose()];
  const [hips, hand, foot, head, arm] = ["hips", "left hand", "left foot", "head", "left upper arm"].map((role) => body.joint(role));
  const rig = Rig.humanoid(body);
  const keys = new RigKeys(rig);
  keys.edit([0, 1].map((time) => ({ goal: "left hand", channel: "position", time, value: [0.3, 1.2 + time, 0.3] })));
  const three = Skeleton.from([{ name: "a" }, { name: "b", parent: 0, position: [0, 1, 0] }, { name: "c", parent: 1, position: [0, 1, 0] }]);
  const hinge = { hinge: { axis: [0, 0, 1], min: -1, max: 1 } };
  const mechanism = Mechanism.from("crane", [
    { name: "slew", parent: "base", child: "mast", limits: hinge },
    { name: "luff", parent: "mast", child: "jib", position: [1, 0, 0], limits: hinge },
  ]);
  const figure = model.figure();
  const planter = new FootPlanter(figure);
  const crawler = Model.crawler(6);
  const walker = new Walker(crawler.creature());
  const clip = model.clips[0].reduced(pose, 0.01);
  return [
    ...[model, body, skeleton, pose, rig, rig.state(), keys, figure, planter, planter.state(), three, three.rest(), new Chain(three, 0, 2)],
    ...[new Chain(skeleton, arm, hand, { solver: "ccd" }), new TwoBone(three, 0, 1, 2), new Curve([0, 0, 0, 1, 0, 0, 2, 1, 0])],
    ...[new Spline(three, 0, 2), new Follow(three, 0, 2), new FullBody(skeleton, hips, [hand, foot]), new Drag(pose, hips, hand, [foot])],
    ...[mechanism, new JointSpaceSolver(mechanism, ["jib"]), clip, clip.takeRootMotion(pose, hips).motion, Ground.stairs(), Ground.level(0)],
    ...[new Mirror(rig, body), new DrawList(), new Trackers(body, [head, hand], pose)],
    ...[crawler, crawler.skeleton.rest(), walker.creature, walker, walker.state()],
  ];
}

/** What is no argument of anything, or of something else. */
const odd = (clip, keys) => [
  ...[undefined, null, NaN, Infinity, -1, 0, 1, 2, 0.5, 1e9, 1e38, -1e-45, 7n, true, false, Symbol.iterator, new Date(0)],
  ...["", "a", "hips", "left hand", "x".repeat(300), [], {}, [0, 0, 0], [0, 0, 0, 1], [0, 1], [NaN, 0, 0], [1e30, 1e30, 1e30], [null, null]],
  ...[new Float32Array(0), new Float32Array(3), new Float32Array(1000), new Float64Array(4), () => 1, (...given) => given],
  ...[{ position: [0, 1, 0] }, { position: [NaN, 0, 0] }, { position: [1e25, 0, 0], rotation: [0, 0, 0, 0] }, [{ position: [0, 1, 0] }, { position: [0.2, 1, 0] }]],
  ...[{ looped: true }, { yaw: false }, { balance: { support: [[0, 0, 0]] } }, { balance: { support: [[1e20, 0, 0], [0, 0, 1e20]], up: [1e30, 1e30, 1e30] } }],
  ...[{ root: "free", iterations: 1e9 }, { influence: 2 }, { offset: 1e30, reversed: true }, { stretch: { shortest: 0, longest: 1e30 } }, { roll: { axis: [0, 0, 0] } }],
  ...[[clip], [{ name: "keys", keys }], { "left hand": { position: [0.3, 1, 0.2], space: "world" } }],
  ...[{ velocity: [0, 0, 1e30], turn: 1e30 }, { velocity: [0, 0, 0.3] }, { ride: 1.1 }, { gait: "hop" }, { legs: [[0, 1], [2, 3]] }],
  [{ goal: "left hand", channel: "position", time: NaN, value: null }],
  [{ goal: "left hand", channel: "rotation", time: 1e30, value: [0, 0, 0, 0] }],
];

/** Methods of a class and of those that it extends, but those for the package itself. */
const INTERNAL = ["constructor", "free", "put", "copy", "mirrored"];
// It takes seconds.
const SLOW = ["plant"];
function methods(prototype) {
  const names = [];
  for (let at = prototype; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    names.push(...Object.getOwnPropertyNames(at).filter((name) => typeof Object.getOwnPropertyDescriptor(at, name).value === "function"));
  }
  return [...new Set(names)].filter((name) => !INTERNAL.includes(name) && !SLOW.includes(name));
}

test("no call with odd values ends the engine, or throws anything but a SinewError", () => {
  const objects = things();
  const pool = [...objects, ...odd(objects.find((one) => one instanceof Clip), objects.find((one) => one instanceof RigKeys))];
  // Those with a constructor for users, and those with functions that make them.
  const made = [Aim, Chain, Chain2d, Curve, Drag, DrawList, FabrikTree, Follow, FootPlanter, FullBody, JointSpaceSolver, LookAt, Mirror, PointChain, Rig, RigKeys, Spline, Trackers, TwoBone, Walker];
  const makers = [Body, Clip, Ground, Mechanism, Model, Rig, Skeleton].flatMap((type) => {
    const base = Object.getPrototypeOf(type);
    return Object.getOwnPropertyNames(base).filter((name) => typeof base[name] === "function" && name !== "of").map((name) => [type, name]);
  });
  assert.ok(makers.length >= 10 && objects.flatMap((one) => methods(Object.getPrototypeOf(one))).length > 100);
  const callable = objects.filter((one) => methods(Object.getPrototypeOf(one)).length > 0);
  let state = 20261128;
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const pick = (list) => list[Math.floor(random() * list.length)];
  const counts = { refused: 0, done: 0 };
  for (let n = 0; n < 8_000; n++) {
    const given = Array.from({ length: Math.floor(random() * 5) }, () => pick(pool));
    const kind = random();
    let [what, call] = [];
    if (kind < 0.75) {
      const one = pick(callable);
      const name = pick(methods(Object.getPrototypeOf(one)));
      [what, call] = [`${one.constructor.name}.${name}`, () => one[name](...given)];
    } else if (kind < 0.9) {
      const type = pick(made);
      [what, call] = [`new ${type.name}`, () => new type(...given)];
    } else {
      const [type, name] = pick(makers);
      [what, call] = [`${type.name}.${name}`, () => type[name](...given)];
    }
    try {
      const result = call();
      counts.done += 1;
      if (!objects.includes(result)) result?.free?.();
    } catch (error) {
      counts.refused += 1;
      const shown = given.map((value) => value?.constructor?.name ?? String(value)).join(", ");
      assert.ok(error instanceof SinewError && error.kind !== "internal", `${what}(${shown}): ${error.stack}`);
    }
  }
  // Both happen, and the engine is alive.
  assert.ok(counts.done > 800 && counts.refused > 2000, JSON.stringify(counts));
  const pose = Skeleton.from([{ name: "a" }, { name: "b", parent: 0, position: [0, 1, 0] }]).rest();
  assert.ok(pose instanceof Pose && Math.abs(pose.model("b").position[1] - 1) < 1e-6);
  assert.ok(Figure && objects.every((one) => !one.freed));
});
