import assert from "node:assert/strict";
import test from "node:test";

import { SinewError, load } from "sinew/core";

import { read } from "./read.js";

const { Aim, Chain, Chain2d, Curve, Drag, FabrikTree, Follow, FullBody, LookAt, PointChain, Pose, Skeleton, Spline, TwoBone } = await load();

const BODY = [
  { name: "hips", position: [0, 0.95, 0] },
  { name: "chest", parent: "hips", position: [0, 0.4, 0] },
  { name: "head", parent: "chest", position: [0, 0.25, 0] },
  ...["l", "r"].flatMap((side) => {
    const x = side === "l" ? 1 : -1;
    return [
      { name: `arm.${side}`, parent: "chest", position: [0.2 * x, 0.1, 0] },
      { name: `elbow.${side}`, parent: `arm.${side}`, position: [0.28 * x, 0, -0.02] },
      { name: `hand.${side}`, parent: `elbow.${side}`, position: [0.26 * x, 0, 0.02] },
      { name: `knee.${side}`, parent: "hips", position: [0.1 * x, -0.45, 0.03] },
      { name: `foot.${side}`, parent: `knee.${side}`, position: [0, -0.45, -0.03] },
    ];
  }),
];
const close = (a, b, within) => assert.ok(Math.hypot(...[...a].map((v, i) => v - b[i])) <= within, `${[...a]} is not ${[...b]}`);
const fails = (kind, words, action) =>
  assert.throws(action, (error) => error instanceof SinewError && error.kind === kind && words.test(error.message));

test("a chain reaches by every method, and by names, indices and paths", () => {
  const skeleton = Skeleton.from(BODY);
  for (const solver of ["auto", "ccd", "fabrik", "dls", "free"]) {
    const pose = skeleton.rest();
    const chain = new Chain(skeleton, "chest/arm.l", skeleton.index("hand.l"), { solver, iterations: 100 });
    const report = chain.solve(pose, { position: [0.4, 1.3, 0.3] });
    assert.ok(report.reached, solver);
    close(pose.model("hand.l").position, [0.4, 1.3, 0.3], 1e-3);
  }
});

test("limits hold in every chain's answer", () => {
  const hinge = { hinge: { axis: [0, 1, 0], min: 0, max: 0.5 } };
  const skeleton = Skeleton.from(BODY, { limits: { "elbow.l": hinge } });
  const pose = skeleton.rest();
  const report = new Chain(skeleton, "arm.l", "hand.l").solve(pose, { position: [0.25, 1.45, 0] });
  assert.ok(!report.reached && report.positionResidual > 0.1);
  const at = 4 * skeleton.index("elbow.l");
  const angle = 2 * Math.acos(Math.min(Math.abs(pose.rotations[at + 3]), 1));
  assert.ok(angle <= 0.5 + 1e-5, `${angle}`);
});

test("a limb's many answers are its single ones", () => {
  const skeleton = Skeleton.from(BODY);
  const limb = new TwoBone(skeleton, "arm.l", "elbow.l", "hand.l");
  const pose = skeleton.rest();
  const goals = Float32Array.of(0.4, 1.3, 0.3, 0.3, 1.5, 0.2);
  const out = new Float32Array(16);
  assert.equal(limb.solveMany(pose, goals, out), 2);
  for (const n of [0, 1]) {
    pose.reset();
    limb.solve(pose, { position: goals.subarray(3 * n, 3 * n + 3) });
    const [root, middle] = ["arm.l", "elbow.l"].map((name) => 4 * skeleton.index(name));
    const single = [...pose.rotations.subarray(root, root + 4), ...pose.rotations.subarray(middle, middle + 4)];
    assert.deepEqual([...out.subarray(8 * n, 8 * n + 8)], single);
  }
});

test("bodies and drags hold what they are told to", () => {
  const skeleton = Skeleton.from(BODY);
  const pose = skeleton.rest();
  const feet = ["foot.l", "foot.r"].map((foot) => pose.model(foot).position);
  const body = new FullBody(skeleton, "hips", ["foot.l", "foot.r", { joint: "hand.l", priority: 1 }, "head"], { root: "free" });
  const report = body.solve(pose, [{ position: feet[0] }, { position: feet[1] }, { position: [0.5, 1.0, 0.4] }, null]);
  assert.ok(report.reached && body.residuals(2).position < 1e-3);
  const drag = new Drag(pose, "hips", "hand.r", ["foot.l", { joint: "foot.r" }]);
  for (let i = 0; i < 30; i++) drag.to(pose, { position: [-0.5 + 0.01 * i, 1.2, 0.02 * i] });
  ["foot.l", "foot.r"].forEach((foot, i) => close(pose.model(foot).position, feet[i], 2e-3));
});

test("traces have the steps of chains, and leave the solve as it is", () => {
  const skeleton = Skeleton.from(BODY);
  const goal = { position: [0.3, 1.2, 0.35] };
  for (const [solver, kind] of [["ccd", "joint"], ["fabrik", "point"], ["dls", "step"]]) {
    const chain = new Chain(skeleton, "arm.l", "hand.l", { solver, iterations: 20, tipOffset: [0.1, 0, 0] });
    const [pose, other] = [skeleton.rest(), skeleton.rest()];
    const { report, steps, count } = chain.trace(pose, goal);
    assert.deepEqual(report, chain.solve(other, goal), solver);
    assert.deepEqual(pose.rotations, other.rotations);
    assert.ok(report.reached && steps.length === count && count >= report.iterations, solver);
    assert.ok(steps.every((step) => step.kind === kind && step.positions.length === 12), solver);
    // The last step has the pose's positions: of the three joints, and of the end that is at the goal.
    const last = steps.at(-1).positions;
    chain.joints.forEach((joint, i) => close(last.subarray(3 * i, 3 * i + 3), pose.model(joint).position, 1e-6));
    close(last.subarray(9), goal.position, report.positionTolerance);
    if (solver === "ccd") assert.ok(steps.slice(0, 3).every((step, i) => step.iteration === 0 && step.joint === chain.joints[2 - i]));
    if (solver === "dls") assert.ok(steps.some((step) => step.taken) && steps.every((step) => step.damping > 0));
    if (solver === "fabrik") {
      const [first] = steps;
      assert.deepEqual([first.pass, first.point, first.iteration], ["backward", 3, 0]);
      close(first.position, goal.position, 1e-6);
      const ends = steps.filter((step) => step.pass === "forward" && step.point === 3);
      close(ends.at(-1).position, last.subarray(9), 1e-6);
      assert.equal(ends.length, report.iterations);
    }
    const short = chain.trace(skeleton.rest(), goal, { maxSteps: 2 });
    assert.deepEqual([short.steps.length, short.count, short.report], [2, count, report]);
  }
});

test("trees meet at sub-bases, and trace what their chains ask for", () => {
  const skeleton = Skeleton.from(BODY);
  const tree = new FabrikTree(skeleton, "hips", ["hand.l", { joint: "hand.r", positionWeight: 3 }]);
  assert.deepEqual([...tree.joints], ["hips", "chest", "arm.l", "elbow.l", "hand.l", "arm.r", "elbow.r", "hand.r"].map((j) => skeleton.index(j)).sort((a, b) => a - b));
  const goals = [{ position: [0.4, 1.5, 0.3] }, { position: [-0.2, 1.3, 0.45] }];
  const [pose, other] = [skeleton.rest(), skeleton.rest()];
  const { report, steps } = tree.trace(pose, goals);
  assert.deepEqual(report, tree.solve(other, goals));
  assert.deepEqual(pose.rotations, other.rotations);
  assert.ok(report.reached && tree.residual(0) < 1e-3 && tree.residual(1) < 1e-3);
  close(pose.model("hand.l").position, goals[0].position, 1e-3);
  assert.ok(steps.every((step) => step.positions.length === 3 * 10));
  // The sub-base moves to the weighted centroid of what its two chains ask for.
  const asked = steps.filter((step) => step.kind === "sub-base" && step.iteration === 0);
  const chest = tree.joints.indexOf(skeleton.index("chest"));
  assert.deepEqual(asked.map((step) => step.point), [chest, chest]);
  const centroid = steps.find((step) => step.kind === "point" && step.point === chest).position;
  const weights = asked.map((step) => (skeleton.index("arm.r") === tree.joints[step.from] ? 0.75 : 0.25));
  close(centroid, [0, 1, 2].map((i) => weights[0] * asked[0].position[i] + weights[1] * asked[1].position[i]), 1e-6);
  // An effector without a goal rides along.
  pose.reset();
  assert.ok(tree.solve(pose, [goals[0], null]).reached);
  const at = 4 * skeleton.index("elbow.r");
  assert.deepEqual([...pose.rotations.subarray(at, at + 4)], [0, 0, 0, 1]);
});

test("joints point at targets", () => {
  const skeleton = Skeleton.from(BODY);
  const pose = skeleton.rest();
  assert.ok(new Aim(skeleton, "head", [0, 0, 1]).solve(pose, [1, 1.6, 0.5], { up: { axis: [0, 1, 0], direction: [0, 1, 0] } }).reached);
  pose.reset();
  const look = new LookAt(skeleton, [{ joint: "chest", share: 0.3, cone: 0.5 }, { joint: "head" }], { axis: [0, 0, 1] });
  assert.ok(look.solve(pose, [1, 1.6, 1]).reached);
});

test("chains follow, and lie along curves", () => {
  const skeleton = Skeleton.from(Array.from({ length: 9 }, (_, i) => ({ name: `${i}`, parent: i ? i - 1 : null, position: [i ? 0.1 : 0, 0, 0] })));
  const pose = skeleton.rest();
  new Follow(skeleton, 0, 8).solve(pose, [2, 1, 0]);
  close(pose.model(8).position, [2, 1, 0], 1e-5);
  const curve = new Curve([0, 0, 0, 0.4, 0.2, 0, 0.8, 0, 0, 1.2, 0.2, 0.1]);
  assert.ok(curve.length > 1.2);
  const report = new Spline(skeleton, 0, 8).solve(pose, curve, { offset: 0.1 });
  assert.ok(report.reached && report.missed === 0);
  close(pose.model(0).position, curve.at(0.1).position, 1e-5);
  const points = Float32Array.of(0, 0, 0, 0, 1, 0, 0, 2, 0);
  assert.ok(new PointChain(points).solve(points, [1, 1, 0]).reached);
});

test("the plane has chains and the triangle", () => {
  const chain = new Chain2d([0, 0], [{ length: 1 }, { length: 1, limits: [-2, 0] }, { length: 0.5 }]);
  assert.ok(chain.solve([1, 1.2]).reached);
  close(chain.positions.slice(6), [1, 1.2], 1e-3);
  assert.ok(chain.angles[1] <= 1e-6 && chain.angles[1] >= -2);
  chain.follow([3, 3]);
  close(chain.positions.slice(6), [3, 3], 1e-5);
  const { middle, outOfReach } = Chain2d.twoBone([0, 0], 3, 4, [5, 0], "left");
  close(middle, [1.8, 2.4], 1e-5);
  assert.equal(outOfReach, 0);
});

test("bad input is a sentence, and the pose is as it was", () => {
  const skeleton = Skeleton.from(BODY);
  const pose = skeleton.rest();
  const before = Float32Array.from(pose.rotations);
  const arm = new Chain(skeleton, "arm.l", "hand.l");
  fails("solve", /the goal's position is not finite: \[NaN, 0, 0\]/, () => arm.solve(pose, { position: [NaN, 0, 0] }));
  fails("type", /must be 3 numbers, not an array of 2/, () => arm.solve(pose, { position: [1, 2] }));
  fails("type", /must be 3 numbers, not null/, () => arm.solve(pose, { position: null }));
  fails("type", /not null/, () => arm.solve(pose, null));
  fails("type", /it has `positon`/, () => arm.solve(pose, { positon: [0, 0, 0] }));
  fails("type", /no `solvr`/, () => new Chain(skeleton, "arm.l", "hand.l", { solvr: "ccd" }));
  fails("input", /`fold` is in the builds `sinew`/, () => new Chain(skeleton, "arm.l", "hand.l", { solver: "fold" }));
  fails("type", /one of auto, ccd/, () => new Chain(skeleton, "arm.l", "hand.l", { solver: "magic" }));
  fails("solve", /the influence must be 0 to 1, not 2/, () => arm.solve(pose, { position: [0, 0, 0] }, { influence: 2 }));
  fails("type", /iterations must be a whole number/, () => arm.solve(pose, { position: [0, 0, 0] }, { iterations: -1 }));
  fails("input", /does not hang below/, () => new Chain(skeleton, "hand.l", "arm.l"));
  fails("input", /there is no joint `arm.x`/, () => new Chain(skeleton, "arm.x", "hand.l"));
  fails("input", /there is no joint 99/, () => new Chain(skeleton, 0, 99));
  fails("input", /another skeleton/, () => arm.solve(Skeleton.from(BODY).rest(), { position: [0, 0, 0] }));
  fails("type", /a list of 2/, () => new FullBody(skeleton, "hips", ["head", "hand.l"]).solve(pose, [{ position: [0, 0, 0] }]));
  fails("type", /Float32Array of 16 numbers/, () => new TwoBone(skeleton, "arm.l", "elbow.l", "hand.l").solveMany(pose, new Float32Array(6), new Float32Array(3)));
  const bare = Float32Array.of(0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1, NaN);
  const kept = new Float32Array(8);
  fails("solve", /not finite/, () => TwoBone.solvePoints(bare, kept));
  assert.ok(kept.every((number) => number === 0));
  fails("type", /not from 3/, () => Skeleton.from(3));
  fails("input", /no joint has this name/, () => Skeleton.from([{ name: "a", parent: "b" }]));
  fails("input", /several joints/, () => Skeleton.from([{ name: "a" }, { name: "a", parent: 0 }], { limits: { a: { fixed: true } } }));
  fails("type", /no `hing` in limits/, () => Skeleton.from([{ name: "a", limits: { hing: {} } }]));
  fails("input", /lower limit must be at most/, () => Skeleton.from([{ name: "a", limits: { hinge: { axis: [1, 0, 0], min: 1, max: 0 } } }]));
  fails("type", /no `pos` in joints/, () => Skeleton.from([{ name: "a", pos: [0, 0, 0] }]));
  fails("type", /the hinge must be an object, not null/i, () => Skeleton.from([{ name: "a", limits: { hinge: null } }]));
  fails("type", /no `twistaxis` in the ball/, () => Skeleton.from([{ name: "a", limits: { ball: { twistaxis: [0, 1, 0] } } }]));
  fails("type", /must be a number, not NaN/, () => Skeleton.from([{ name: "a", limits: { hinge: { axis: [1, 0, 0], preferred: NaN } } }]));
  fails("type", /must be a number, not NaN/, () => new LookAt(skeleton, [{ joint: "head" }], { axis: [0, 0, 1], deadZone: NaN }));
  fails("type", /no `iterations` in options/, () => new TwoBone(skeleton, "arm.l", "elbow.l", "hand.l").solve(pose, { position: [0, 0, 0] }, { iterations: 3 }));
  fails("type", /no `influence` in options/, () => new PointChain([0, 0, 0, 1, 0, 0]).solve(new Float32Array(6), [0, 1, 0], { influence: 0.5 }));
  const tree = new FabrikTree(skeleton, "hips", ["head", "hand.l"]);
  fails("solve", /goal 1 has a rotation, which the solver `fabrik tree` does not support/, () => tree.solve(pose, [null, { rotation: [0, 0, 0, 1] }]));
  fails("type", /a list of 2/, () => tree.trace(pose, []));
  fails("type", /no `soft` in options/, () => tree.solve(pose, [null, null], { soft: 0.1 }));
  fails("type", /no `priority` in effectors/, () => new FabrikTree(skeleton, "hips", [{ joint: "head", priority: 1 }]));
  fails("input", /at least one effector/, () => new FabrikTree(skeleton, "hips", []));
  fails("input", /no effector 2: the tree has 2/, () => tree.residual(2));
  fails("type", /maxSteps must be a whole number/, () => arm.trace(pose, { position: [0, 0, 0] }, { maxSteps: -1 }));
  fails("input", /the solver free has no trace/, () => new Chain(skeleton, "arm.l", "hand.l", { solver: "free" }).trace(pose, { position: [0, 0, 0] }));
  fails("type", /must be a Skeleton, not undefined/, () => new Pose());
  fails("type", /goals must be an array of numbers, not undefined/, () => arm.solveMany(pose));
  fails("input", /plain data/, () => pose.applyTo({}));
  fails("input", /another skeleton/, () => pose.copy(Skeleton.from(BODY).rest()));
  pose.rotations[0] = NaN;
  fails("solve", /not finite/, () => arm.solve(pose, { position: [0, 1, 0] }));
  pose.rotations[0] = before[0];
  assert.deepEqual(pose.rotations, before);
  assert.ok(arm.solve(pose, { position: [0.4, 1.3, 0.2] }).reached);
});

test("freed objects and those of another instance say so", async () => {
  const skeleton = Skeleton.from(BODY);
  const pose = skeleton.rest();
  const arm = new Chain(skeleton, "arm.l", "hand.l");
  pose.free();
  pose.free();
  fails("freed", /this Pose has been freed/, () => arm.solve(pose, { position: [0, 0, 0] }));
  fails("freed", /this Pose has been freed/, () => pose.rotations);
  const other = await load(await read(new URL("../dist/core.wasm", import.meta.url)));
  fails("instance", /another instance/, () => arm.solve(other.Skeleton.from(BODY).rest(), { position: [0, 0, 0] }));
  fails("instance", /another instance/, () => new other.Chain(skeleton, "arm.l", "hand.l"));
  fails("instance", /load\(\)/, () => Object.getPrototypeOf(Skeleton).from(BODY));
  assert.ok(new Pose(skeleton) instanceof Pose && skeleton.rest() instanceof Pose && skeleton instanceof Skeleton);
  assert.ok(!(skeleton instanceof other.Skeleton));
});

test("arrays follow the memory as it grows", () => {
  const skeleton = Skeleton.from(BODY);
  const pose = skeleton.rest();
  pose.rotations[0] = 0.5;
  const old = pose.rotations;
  const kept = [];
  for (let i = 0; i < 2000 && old.length > 0; i++) kept.push(Skeleton.from(BODY).rest());
  assert.equal(old.length, 0, "the memory has not grown");
  assert.equal(pose.rotations[0], 0.5);
  kept.forEach((pose) => (pose.free(), pose.skeleton.free()));
});

test("balance is refused by a sentence: it takes `sinew`", () => {
  const skeleton = Skeleton.from(BODY);
  const body = new FullBody(skeleton, "hips", ["hand.l"]);
  const balance = { support: [[0, 0, 0]] };
  fails("input", /balance takes the build `sinew`/, () => body.solve(skeleton.rest(), [{ position: [0.5, 1.3, 0.2] }], { balance }));
  fails("input", /balance takes the build `sinew`/, () => body.outOfBalance(skeleton.rest(), balance));
  assert.ok(body.solve(skeleton.rest(), [{ position: [0.5, 1.3, 0.2] }]).reached);
});
