import assert from "node:assert/strict";
import test from "node:test";

import { SinewError, load } from "sinew/core";

const { Chain, Chain2d, Curve, DrawList, Skeleton } = await load();

const fails = (kind, words, action) =>
  assert.throws(action, (error) => error instanceof SinewError && error.kind === kind && words.test(error.message));
const near = (found, expected, within = 1e-6) => {
  assert.equal(found.length, expected.length);
  [...found].forEach((value, i) => assert.ok(Math.abs(value - expected[i]) <= within, `${[...found]} is not ${[...expected]}`));
};
/** Linear intensity of an sRGB value of 0 to 255, by IEC 61966-2-1. */
const linear = (value) => (value <= 0.04045 * 255 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
const groups = (numbers, each) => Array.from({ length: numbers.length / each }, (_, i) => [...numbers.subarray(each * i, each * i + each)]);
const arm = () =>
  Skeleton.from([
    { name: "shoulder", position: [0, 1, 0] },
    { name: "elbow", parent: 0, position: [0.5, 0, 0], limits: { hinge: { axis: [0, 0, 1], min: 0, max: 1 } } },
    { name: "hand", parent: 1, position: [0.5, 0, 0] },
  ]);

test("each kind of shape is in its own array, point by point, in the theme's or its own colour", () => {
  const list = new DrawList();
  const points = Array.from({ length: 18 }, (_, i) => i / 8);
  for (const kind of ["segments", "triangles", "area", "discs"]) list.push(kind, "path", points, { color: 0x336699, radius: 0.25 });
  const { lines, solids, areas, discs } = list.batches("dark");
  for (const [vertices, opacity] of [[lines, 1], [solids, 1], [areas, 0.2], [discs, 1]]) {
    near(vertices.positions, points);
    for (const color of groups(vertices.colors, 4)) near(color, [linear(0x33), linear(0x66), linear(0x99), opacity]);
  }
  near(discs.radii, Array(6).fill(0.25));
  list.clear().push("polyline", "path", points.slice(0, 9));
  near(list.batches().lines.positions, [...points.slice(0, 6), ...points.slice(3, 9)]);
  const light = [...list.batches("light").lines.colors];
  assert.notDeepEqual(light, [...list.batches("dark").lines.colors]);
});

test("bones end at joints, on their sides", () => {
  const list = new DrawList();
  const pose = arm().rest();
  list.bones(pose, { joints: ["elbow"], side: "left" }).bones(pose, { joints: ["hand"], side: "right", thickness: 0 });
  const { solids, lines, discs } = list.batches();
  assert.equal(solids.positions.length, 3 * 24);
  const xs = groups(solids.positions, 3).map(([x]) => x);
  near([Math.min(...xs), Math.max(...xs)], [0, 0.5]);
  near(lines.positions, [0.5, 1, 0, 1, 1, 0]);
  near(discs.positions, [0.5, 1, 0, 1, 1, 0]);
  // Blue and vermilion on light.
  near(solids.colors.subarray(0, 3), [0x00, 0x72, 0xb2].map(linear));
  near(lines.colors.subarray(0, 3), [0xd5, 0x5e, 0x00].map(linear));
});

test("a goal that is missed has a dashed line to it from the end", () => {
  const list = new DrawList();
  const skeleton = arm();
  const pose = skeleton.rest();
  const goal = { position: [0, 4, 0] };
  const report = new Chain(skeleton, "shoulder", "hand").solve(pose, goal);
  const end = pose.model("hand").position;
  assert.ok(!report.reached && report.outOfReach > 0);
  list.solvedGoal(goal, end, report, 0.1);
  const points = groups(list.batches().lines.positions, 3);
  near(points.slice(0, 6).flat(), [-0.1, 4, 0, 0.1, 4, 0, 0, 3.9, 0, 0, 4.1, 0, 0, 4, -0.1, 0, 4, 0.1]);
  assert.ok(points.length > 8);
  // In dashes on the line between both, from end to end.
  near(points[6], end);
  near(points.at(-1), goal.position);
  const direction = goal.position.map((value, i) => value - end[i]);
  for (const point of points.slice(6)) {
    const along = point.map((value, i) => value - end[i]);
    const share = Math.hypot(...along) / Math.hypot(...direction);
    near(along, direction.map((value) => value * share), 1e-5);
  }
});

test("limits are wedges between their angles", () => {
  const chain = new Chain2d([1, 2], [{ length: 1, angle: 0.5 }, { length: 1, angle: 0.2, limits: [-0.4, 1.1] }]);
  const list = new DrawList().chain2dLimits(chain, 0.25).chain2d(chain);
  const { areas, solids } = list.batches();
  const at = [1 + Math.cos(0.5), 2 + Math.sin(0.5)];
  const angles = groups(areas.positions, 3)
    .map(([x, y, z]) => (assert.equal(z, 0), [x - at[0], y - at[1]]))
    .filter(([x, y]) => Math.hypot(x, y) > 1e-3)
    .map(([x, y]) => (near([Math.hypot(x, y)], [0.25], 1e-5), Math.atan2(y, x)));
  near([Math.min(...angles), Math.max(...angles)], [0.5 - 0.4, 0.5 + 1.1], 1e-5);
  assert.equal(solids.positions.length, 2 * 3 * 24);
  const pose = arm().rest();
  assert.ok(list.clear().limits(pose, 0.1).batches().areas.positions.length > 0);
});

test("labels have texts, positions and colours", () => {
  const list = new DrawList();
  const pose = arm().rest();
  list.names(pose).label("goal", { x: 1, y: 2, z: 3 }, "Ziel, 目标", [0, 0, 5]).angle([0, 0, 0], [[1, 0, 0], [0, 1, 0]], 0.5, "90");
  const labels = list.labels("light");
  assert.deepEqual(labels.map(({ text }) => text), ["shoulder", "elbow", "hand", "Ziel, 目标", "90"]);
  assert.deepEqual(labels[3], { text: "Ziel, 目标", at: [1, 2, 3], away: [0, 0, 1], role: "goal", color: 0x8a1a78 });
  near(labels[1].at, [0.5, 1, 0]);
  const beside = labels[4].away;
  near(beside, [Math.SQRT1_2, Math.SQRT1_2, 0]);
});

test("curves, casts, poles, axes and bones have the points that they are given", () => {
  const list = new DrawList().curve(new Curve([0, 0, 0, 1, 0, 0, 2, 0, 0]), 8);
  near(list.batches().lines.positions.slice(-3), [2, 0, 0]);
  near(list.clear().ray([0, 1, 0], [0, 0, 0], true, 0.1).batches().discs.positions, [0, 0, 0]);
  near(list.clear().pole([0, 0, 0], [0, 0, 1], 0.1).batches().lines.positions, [0, 0, 0, 0, 0, 1]);
  near(list.clear().bone([0, 0, 0], [0, 2, 0], { thickness: 0 }).batches().lines.positions, [0, 0, 0, 0, 2, 0]);
  const turned = [0, 0, Math.SQRT1_2, Math.SQRT1_2];
  near(list.clear().axes([0, 0, 0], turned, 2).batches().lines.positions, [0, 0, 0, 0, 2, 0, 0, 0, 0, -2, 0, 0, 0, 0, 0, 0, 0, 2]);
});

test("lists grow with the memory, and leave out what is not finite", () => {
  const list = new DrawList();
  const points = Float32Array.from({ length: 3 * 200_000 }, (_, i) => i % 1000);
  const small = list.goal([0, 0, 0], 1).batches().lines.positions;
  assert.equal(list.push("discs", "hit", points, { radius: 1 }).batches().discs.positions.length, points.length);
  assert.equal(small.length, 0, "the memory has not grown");
  assert.equal(list.batches().lines.positions.length, 18);
  list.clear().goal([NaN, 0, 0], 1).push("discs", "hit", [0, 0, 0], { radius: Infinity });
  assert.equal(list.batches().lines.positions.length, 0);
  assert.equal(list.batches().discs.positions.length, 0);
});

test("bad input is a sentence", () => {
  const list = new DrawList();
  const pose = arm().rest();
  fails("type", /the role must be one of bone, joint/, () => list.push("segments", "bones", []));
  fails("type", /the kind must be one of segments/, () => list.push("lines", "bone", []));
  fails("type", /3 numbers each, not 4/, () => list.push("segments", "bone", [1, 2, 3, 4]));
  fails("type", /no `colour` in a style/, () => list.bones(pose, { colour: 1 }));
  fails("type", /a colour must be a whole number/, () => list.bones(pose, { color: "#ffffff" }));
  fails("type", /the side must be one of left, right/, () => list.bones(pose, { side: "top" }));
  fails("input", /there is no joint/, () => list.bones(pose, { joints: [7] }));
  fails("type", /must be a list, not "hand"/, () => list.bones(pose, { joints: "hand" }));
  fails("type", /the theme must be one of light, dark, not "sepia"/, () => list.batches("sepia"));
  fails("type", /the second direction must be 3 numbers/, () => list.angle([0, 0, 0], [[1, 0, 0]], 1, "a"));
  fails("type", /whole number from 1/, () => list.curve(new Curve([0, 0, 0, 1, 0, 0]), 0));
  fails("type", /the radius must be a number, not undefined/, () => list.limits(pose));
  pose.free();
  fails("freed", /this Pose has been freed/, () => list.bones(pose));
  list.free();
  fails("freed", /this DrawList has been freed/, () => list.clear());
});
