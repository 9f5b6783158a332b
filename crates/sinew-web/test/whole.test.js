// What `sinew` has beyond `sinew/core`; `sinew/files` has all of it.

import assert from "node:assert/strict";
import test from "node:test";

import { load as loadCore } from "sinew/core";
import { SinewError, load } from "sinew/files";
import { Bone, Group, Vector3 } from "three";

const sinew = await load();
const { Body, Clip, Curve, Drag, Figure, FootPlanter, FullBody, Ground, JointSpaceSolver, Mechanism, Pose, Skeleton, Trackers } = sinew;

const close = (a, b, within, what = "") => assert.ok(Math.hypot(...[...a].map((v, i) => v - b[i])) <= within, `${what} ${[...a]} is not ${[...b]}`);
const fails = (kind, words, action) =>
  assert.throws(action, (error) => error instanceof SinewError && error.kind === kind && words.test(error.message));

const crane = () =>
  Mechanism.from("crane", [
    { name: "slew", parent: "base", child: "mast", limits: { hinge: { axis: [0, 0, 1], min: -3, max: 3 } } },
    { name: "luff", parent: "mast", child: "jib", position: [0, 0, 2], limits: { hinge: { axis: [0, -1, 0], min: 0, max: 1.4, speed: 0.5 } } },
    { name: "trolley", parent: "jib", child: "hook", limits: { fixed: true, slide: { x: { min: 1, max: 4 } } } },
  ]);

test("a mechanism's links are where its values put them, and a solver finds values", () => {
  const arm = crane();
  assert.deepEqual(arm.links.map(({ name, parent, joint }) => [name, parent, joint]), [["base", -1, undefined], ["mast", 0, "slew"], ["jib", 1, "luff"], ["hook", 2, "trolley"]]);
  assert.deepEqual(arm.dofs.map(({ name, min, max, slides }) => [name, min, max, slides]), [["slew", -3, 3, false], ["luff", 0, 1.4, false], ["trolley", 1, 4, true]]);
  assert.deepEqual(arm.links.map(({ axis, dofs }) => [axis, dofs]), [[undefined, []], [[0, 0, 1], [0]], [[0, -1, 0], [1]], [[1, 0, 0], [2]]]);
  assert.equal(arm.dofs[1].speed, 0.5);
  // The jib rises about -y, and the mast turns about z.
  const hook = ([slew, luff, out]) => [out * Math.cos(luff) * Math.cos(slew), out * Math.cos(luff) * Math.sin(slew), 2 + out * Math.sin(luff)];
  const solver = new JointSpaceSolver(arm, ["hook"]);
  const values = arm.rest();
  assert.deepEqual([...values], [0, 0, 2.5]);
  for (const wanted of [[0.3, 0.5, 2], [-2.5, 1.3, 1.5], [2.9, 0.1, 3.9], [0, 0, 1]]) {
    const report = solver.solve(values, [{ position: hook(wanted) }]);
    assert.ok(report.reached && report.outcome === "converged", `${wanted}`);
    close(values, wanted, 1e-5);
    close(arm.forward(values).subarray(21, 24), hook(wanted), 1e-5);
  }
  const short = solver.solve(values, [{ position: [9, 0, 2] }]);
  assert.ok(!short.reached);
  close(values, [0, 0, 4], 1e-4, "as near as it can");
  // Beyond mast and jib in a line.
  assert.ok(Math.abs(short.outOfReach - (Math.hypot(9, 2) - 6)) < 1e-6, `${short.outOfReach}`);
  assert.deepEqual([...arm.clamp(Float64Array.of(7, -1, 0))], [3, 0, 1]);
});

test("goals of mechanisms: rotations, weights, looks, priorities, history", () => {
  const arm = Mechanism.from("wrist", [
    ...["z", "y", "x"].map((axis, i) => ({
      name: axis, parent: `l${i}`, child: `l${i + 1}`, position: [i === 0 ? 0 : 0.2, 0, 0],
      limits: { hinge: { axis: [Number(axis === "x"), Number(axis === "y"), Number(axis === "z")], min: -2, max: 2 } },
    })),
    { name: "tool", parent: "l3", child: "tool", position: [0.1, 0, 0], limits: { fixed: true } },
  ]);
  const half = Math.SQRT1_2;
  const turned = new JointSpaceSolver(arm, ["tool"]);
  const values = arm.rest();
  assert.ok(turned.solve(values, [{ rotation: [0, 0, half, half] }]).reached);
  close(values, [Math.PI / 2, 0, 0], 1e-5);
  const look = new JointSpaceSolver(arm, [{ link: "tool", offset: [0.05, 0, 0] }]);
  assert.ok(look.solve(values, [{ lookAt: { axis: [1, 0, 0], point: [0, 0, -5] } }]).reached);
  const frames = arm.forward(values);
  const [x, y, z, w] = frames.subarray(7 * arm.link("tool") + 3);
  const axis = [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)];
  const at = frames.subarray(7 * arm.link("tool"), 7 * arm.link("tool") + 3);
  const to = [-at[0], -at[1], -5 - at[2]];
  close(axis, to.map((v) => v / Math.hypot(...to)), 1e-5);
  const [once, again] = [Float64Array.of(1, 1, 1), Float64Array.of(-1, 0, 0.5)];
  for (const start of [once, again]) turned.solve(start, [{ rotation: [half, 0, 0, half] }], { history: "none" });
  assert.deepEqual(once, again);
  // A turn about the tool's own axis that is free, and beyond the limits otherwise.
  values.set([0, 0, 0.7]);
  const twisted = { rotation: [-half, half, 0, 0], weights: [1, 1, 1, 0, 1, 1] };
  assert.ok(turned.solve(values, [twisted]).reached && Math.abs(values[0] + Math.PI / 2) < 1e-5, `${values}`);
  assert.ok(!turned.solve(values, [{ rotation: twisted.rotation }]).reached);
});

test("what a mechanism refuses", () => {
  const arm = crane();
  const solver = new JointSpaceSolver(arm, ["hook"]);
  const values = arm.rest();
  fails("input", /there is no link "claw": there are `base`/, () => new JointSpaceSolver(arm, ["claw"]));
  fails("input", /no joint moves link `base`/, () => new JointSpaceSolver(arm, ["base"]));
  fails("type", /a list of 1/, () => solver.solve(values, []));
  fails("type", /must have a position/, () => solver.solve(values, [{}]));
  fails("type", /there is no `positon`/, () => solver.solve(values, [{ positon: [0, 0, 0] }]));
  fails("type", /a Float64Array of 3/, () => solver.solve([0, 0, 0], [{ position: [0, 0, 0] }]));
  fails("solve", /not finite/, () => solver.solve(values, [{ position: [NaN, 0, 0] }]));
  assert.deepEqual([...values], [0, 0, 2.5]);
  fails("input", /`x` is its own ancestor/, () => Mechanism.from("loop", [{ name: "a", parent: "x", child: "x", limits: { fixed: true } }]));
  fails("type", /must be a text/, () => Mechanism.from("arm", [{ name: "a", parent: 0, child: "x", limits: { fixed: true } }]));
  fails("instance", /take Mechanism from what load\(\) returns/, () => Object.getPrototypeOf(Mechanism).from("arm", []));
  arm.free();
  fails("freed", /has been freed/, () => arm.rest());
});

test("grounds are where their measures say, and keep the rays", () => {
  const down = (ground, x, z) => ground.cast([x, 5, z], [0, -2, 0], 10);
  const stairs = Ground.stairs({ rise: 0.2, going: 0.3, steps: 3, lead: 1 });
  for (const [z, height] of [[0.5, 0], [1.1, 0.2], [1.45, 0.4], [1.7, 0.6], [3, 0.6]]) {
    const hit = down(stairs, 0.2, z);
    assert.ok(Math.abs(hit.point[1] - height) < 1e-5 && Math.abs(hit.distance - (5 - height)) < 1e-5, `${z}: ${hit.point}`);
    close(hit.normal, [0, 1, 0], 1e-5);
  }
  assert.equal(down(stairs, 5, 1), null);
  const slope = Ground.slope({ angle: 0.3, lead: 1, heading: Math.PI / 2 });
  close(down(slope, 2, 0).normal, [-Math.sin(0.3), Math.cos(0.3), 0], 1e-5);
  assert.ok(Math.abs(down(Ground.level(0.4), 7, -9).point[1] - 0.4) < 1e-6);
  const rough = Ground.rough({ amplitude: 0.1, size: [4, 4], seed: 7 });
  const heights = Array.from({ length: 40 }, (_, i) => down(rough, -1.9 + 0.09 * i, 1.3).point[1]);
  assert.ok(Math.max(...heights) <= 0.1 && Math.min(...heights) >= -0.1 && Math.max(...heights) - Math.min(...heights) > 0.03);
  const again = Ground.mesh(rough.positions, rough.indices);
  heights.forEach((height, i) => assert.equal(down(again, -1.9 + 0.09 * i, 1.3).point[1], height));
  rough.keepRays();
  down(rough, 0, 0);
  down(rough, 9, 9);
  const rays = rough.rays;
  assert.equal(rays.length, 14);
  close(rays.subarray(7), [9, 5, 9, 9, -5, 9, 0], 1e-6);
  assert.equal(rays[6], 1);
  rough.keepRays(false);
  assert.equal(rough.rays.length, 0);
  fails("input", /rise/, () => Ground.stairs({ rise: -1 }));
  fails("type", /whole number/, () => Ground.stairs({ steps: 1.5 }));
  fails("type", /there is no `rize`/, () => Ground.stairs({ rize: 1 }));
  fails("type", /the flight must be/, () => Ground.stairs({ flight: "sideways" }));
  fails("input", /triangle|index|vertex/, () => Ground.mesh([0, 0, 0, 1, 0, 0, 0, 0, 1], [0, 1, 3]));
  fails("type", /3 numbers each/, () => Ground.mesh([0, 0]));
  fails("input", /no length/, () => rough.cast([0, 0, 0], [0, 0, 0], 1));
});

test("clips are sampled between their keys, and go round", () => {
  const skeleton = Skeleton.from([{ name: "a" }, { name: "b", parent: "a", position: [0, 1, 0] }]);
  const turn = (angle) => [0, 0, Math.sin(angle / 2), Math.cos(angle / 2)];
  const clip = Clip.from(skeleton, "turn", [
    { joint: "b", part: "rotation", times: [0, 2], values: [...turn(0), ...turn(1)] },
    { joint: "a", part: "position", times: [0, 1, 2], values: [0, 0, 0, 2, 0, 0, 0, 0, 4], interpolation: "step" },
  ]);
  assert.deepEqual([clip.name, clip.start, clip.end, clip.duration], ["turn", 0, 2, 2]);
  const pose = skeleton.rest();
  clip.sample(0.5, pose);
  close(pose.rotations.subarray(4), turn(0.25), 1e-6);
  close(pose.positions, [0, 0, 0, 0, 1, 0], 1e-6);
  clip.sample(5.5, pose, { looped: true });
  close(pose.rotations.subarray(4), turn(0.75), 1e-6);
  close(pose.positions.subarray(0, 3), [2, 0, 0], 1e-6);
  fails("solve", /finite, not NaN/, () => clip.sample(NaN, pose));
  fails("input", /./, () => Clip.from(skeleton, "none", []));
  fails("input", /./, () => Clip.from(skeleton, "back", [{ joint: "b", part: "rotation", times: [1, 0], values: [...turn(0), ...turn(1)] }]));
});

test("a clip's tracks make the same clip, its joints and interpolation", () => {
  const skeleton = Skeleton.from([{ name: "a" }, { name: "b", parent: "a", position: [0, 1, 0] }]);
  const [s, c] = [Math.sin(0.5), Math.cos(0.5)];
  const given = [
    { joint: 0, part: "position", times: [0, 1], values: [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 2, 0, 0, 0, 0, 0], interpolation: "cubic" },
    { joint: 0, part: "scale", times: [0.5, 1], values: [1, 1, 1, 2, 2, 2], interpolation: "step" },
    { joint: 1, part: "rotation", times: [0, 2], values: [0, 0, 0, 1, 0, 0, s, c], interpolation: "linear" },
  ];
  const clip = Clip.from(skeleton, "all", given);
  const tracks = clip.tracks();
  assert.deepEqual(tracks.map((track) => ({ ...track, times: [...track.times], values: [...track.values] })), given.map((track) => ({ ...track, values: track.values.map(Math.fround) })));
  const [again, a, b] = [Clip.from(skeleton, "all", tracks), skeleton.rest(), skeleton.rest()];
  for (const time of [0, 0.3, 0.7, 1.4, 2]) {
    clip.sample(time, a);
    again.sample(time, b);
    assert.deepEqual([...a.positions, ...a.rotations, ...a.scales], [...b.positions, ...b.rotations, ...b.scales]);
  }
  // A cubic Hermite spline half-way: half the values, an eighth of the tangents' difference.
  clip.sample(0.5, a);
  close(a.positions.subarray(0, 3), [1 + 1 / 8, -3 / 8, 0], 1e-6);
  fails("type", /"linear", "step" or "cubic"/, () => Clip.from(skeleton, "x", [{ ...given[0], interpolation: "smooth" }]));
  fails("input", /./, () => Clip.from(skeleton, "x", [{ ...given[0], values: [0, 0, 0, 1, 1, 1] }]));
});

test("keys that a clip does not need are removed, within the tolerances", () => {
  const skeleton = Skeleton.from([{ name: "a" }, { name: "b", parent: "a", position: [0, 1, 0] }]);
  const times = Array.from({ length: 41 }, (_, n) => n / 20);
  const path = (time) => [time, 0.1 * Math.sin(3 * time), 0];
  const clip = Clip.from(skeleton, "wave", [{ joint: "a", part: "position", times, values: times.flatMap(path) }]);
  let last = 41;
  for (const tolerance of [0.001, 0.01, new Float32Array([0.05, 0.05])]) {
    const reduced = clip.reduced(skeleton.rest(), tolerance);
    const [track] = reduced.tracks();
    assert.ok(track.times.length < last && track.times.length >= 2, `${track.times.length} keys of ${last}`);
    last = track.times.length;
    const [a, b] = [skeleton.rest(), skeleton.rest()];
    for (const time of times) {
      clip.sample(time, a);
      reduced.sample(time, b);
      const off = Math.hypot(...[0, 1, 2].map((i) => a.positions[i] - b.positions[i]));
      assert.ok(off <= (typeof tolerance === "number" ? tolerance : tolerance[0]) + 1e-6, `${off} at ${time}`);
    }
  }
  assert.equal(clip.tracks()[0].times.length, 41);
  fails("input", /-1/, () => clip.reduced(skeleton.rest(), -1));
  fails("type", /one for each of 2 joints, not 3/, () => clip.reduced(skeleton.rest(), [1, 1, 1]));
  fails("type", /the pose must be a Pose/, () => clip.reduced(skeleton, 0.1));
});

test("root motion is taken out of a clip and put on its placement, in a loop too", () => {
  const skeleton = Skeleton.from([{ name: "root" }, { name: "hips", parent: "root", position: [0, 1, 0] }, { name: "head", parent: "hips", position: [0, 0.6, 0.1] }]);
  // Along a circle of radius 2, a quarter of a turn in two seconds, bobbing.
  const angle = (time) => (Math.PI / 4) * time;
  const times = Array.from({ length: 41 }, (_, n) => n / 20);
  const at = (time) => [2 - 2 * Math.cos(angle(time)), 1 + 0.05 * Math.sin(2 * Math.PI * time), 2 * Math.sin(angle(time))];
  const turn = (time) => [0, Math.sin(angle(time) / 2), 0, Math.cos(angle(time) / 2)];
  const walk = Clip.from(skeleton, "circle", [
    { joint: "hips", part: "position", times, values: times.flatMap(at) },
    { joint: "hips", part: "rotation", times, values: times.flatMap(turn) },
  ]);
  const { clip, motion } = walk.takeRootMotion(skeleton.rest(), "hips");
  const [whole, spot] = [skeleton.rest(), skeleton.rest()];
  const place = ({ position: [x, y, z], rotation: [, qy, , qw] }, [a, b, c]) => {
    const [cos, sin] = [qw * qw - qy * qy, 2 * qy * qw];
    return [x + cos * a + sin * c, y + b, z - sin * a + cos * c];
  };
  for (const time of [0, 0.4, 1, 1.75, 2]) {
    walk.sample(time, whole);
    clip.sample(time, spot);
    const hips = spot.model("hips").position;
    close([hips[0], hips[2]], [0, 0], 1e-5, "on the spot");
    close(place(motion.at(time), spot.model("head").position), whole.model("head").position, 1e-5, `${time} s`);
  }
  // Four rounds are the whole circle.
  const round = motion.at(8 - 1e-4, { looped: true });
  close(round.position, [0, 0, 0], 1e-3, "around");
  close(place(motion.at(5, { looped: true }), [0, 0, 0]), [2 - 2 * Math.cos(angle(5)), 0, 2 * Math.sin(angle(5))], 1e-3, "two rounds and a half");
  // Without yaw the clip turns by itself.
  const straight = walk.takeRootMotion(skeleton.rest(), "hips", { yaw: false });
  close(straight.motion.at(2).rotation, [0, 0, 0, 1], 1e-7);
  straight.clip.sample(2, spot);
  close(spot.model("hips").rotation, turn(2), 1e-6);
  fails("input", /root/, () => Clip.from(skeleton, "x", [{ joint: "root", part: "position", times: [0, 1], values: [0, 0, 0, 1, 0, 0] }]).takeRootMotion(skeleton.rest(), "hips"));
  fails("solve", /finite, not inf/, () => motion.at(Infinity));
  fails("input", /elbow/, () => walk.takeRootMotion(skeleton.rest(), "elbow"));
  motion.free();
  fails("freed", /RootMotion/, () => motion.at(0));
});

const LEGS = [
  { name: "Hips", position: [0, 0.95, 0] },
  ...["Left", "Right"].flatMap((side) => [
    { name: `${side}UpLeg`, parent: "Hips", position: [side === "Left" ? 0.1 : -0.1, -0.05, 0] },
    { name: `${side}Leg`, parent: `${side}UpLeg`, position: [0, -0.42, 0.02] },
    { name: `${side}Foot`, parent: `${side}Leg`, position: [0, -0.42, -0.02] },
    { name: `${side}ToeBase`, parent: `${side}Foot`, position: [0, -0.06, 0.14] },
  ]),
];

test("a standing figure's feet are on the ground, by step and by stepWith, and influence takes them off it", () => {
  const skeleton = Skeleton.from(LEGS);
  const body = Body.find(skeleton.rest());
  const figure = Figure.of(body);
  assert.equal(skeleton.names[body.joint("left shin")], "LeftLeg");
  close(body.front, [0, 0, 1], 1e-6);
  assert.ok(body.doubts.length > 0 && Math.abs(figure.legLength - 2 * Math.hypot(0.42, 0.02)) < 1e-6);
  // Under the left foot the ground is 10 cm higher.
  const quad = (x0, x1, y) => [x0, y, -3, x0, y, 3, x1, y, 3, x0, y, -3, x1, y, 3, x1, y, -3];
  const ground = Ground.mesh([...quad(0, 3, 0.1), ...quad(-3, 0, 0)]);
  const rest = skeleton.rest();
  const height = (pose, name) => pose.model(name).position[1];
  for (const kind of ["step", "stepWith"]) {
    const planter = new FootPlanter(figure, { minFlexion: 0 });
    const feet = planter.state();
    const pose = skeleton.rest();
    let report;
    for (let frame = 0; frame < 120; frame++) {
      if (kind === "step") report = planter.step(feet, ground, pose.copy(rest), 1 / 60, { position: [0, 0, 0.01] });
      else report = planter.stepWith(feet, ground, pose, 1 / 60, (_, sampled) => (sampled.copy(rest), { position: [0, 0, 0.01] }));
    }
    assert.equal(report.standing, 2, kind);
    assert.deepEqual([feet.foot("left"), feet.foot("right"), feet.why("left")], ["standing", "standing", undefined]);
    assert.ok(Math.abs(height(pose, "LeftFoot") - height(rest, "LeftFoot") - 0.1) < 2e-3, `${kind}: ${height(pose, "LeftFoot")}`);
    assert.ok(Math.abs(height(pose, "RightFoot") - height(rest, "RightFoot")) < 2e-3, `${kind}: ${height(pose, "RightFoot")}`);
    feet.setInfluence(0);
    planter.step(feet, ground, pose.copy(rest), 1 / 60);
    assert.deepEqual(pose.rotations, rest.rotations);
  }
});

test("what figures and planters refuse", async () => {
  const skeleton = Skeleton.from(LEGS);
  const [rest, pose] = [skeleton.rest(), skeleton.rest()];
  const body = Body.find(rest);
  const figure = Figure.of(body);
  const planter = new FootPlanter(figure);
  const [feet, ground] = [planter.state(), Ground.level()];
  const other = Skeleton.from(LEGS.slice(0, 4));
  fails("input", /hips|leg|feet|ankle|thigh/i, () => Body.find(other.rest()));
  fails("input", /no joint has the role "tail": there are hips/, () => body.joint("tail"));
  fails("type", /2 joints for 1/, () => Figure.of(body, { joints: [0, 0], positions: [0, 0, 0] }));
  fails("input", /no joint 99/, () => Figure.of(body, { joints: [99], positions: [0, 0, 0] }));
  fails("type", /the left and the right ankle/, () => Body.find(rest, { feet: ["LeftFoot"] }));
  fails("input", /contact_height must be/, () => new FootPlanter(figure, { contactHeight: -1 }));
  fails("type", /there is no `contactheight`/, () => new FootPlanter(figure, { contactheight: 1 }));
  fails("solve", /time/, () => planter.step(feet, ground, pose, NaN));
  fails("solve", /./, () => planter.step(feet, ground, pose, 1 / 60, { position: [NaN, 0, 0] }));
  fails("input", /another skeleton/, () => planter.step(feet, ground, Skeleton.from(LEGS).rest(), 1 / 60));
  fails("type", /sampler must be a function/, () => planter.stepWith(feet, ground, pose, 1 / 60, null));
  assert.throws(() => planter.stepWith(feet, ground, pose, 1 / 60, () => { throw new RangeError("mine"); }), /^RangeError: mine$/);
  planter.stepWith(feet, ground, pose, 1 / 60, () => {});
  fails("input", /from 0 to 1, not 2/, () => figure.setLeg("left", { influence: 2 }));
  fails("type", /"left" or "right"/, () => figure.setLeg("middle", {}));
  fails("solve", /./, () => feet.setInfluence(3));
  // Objects of another instance.
  const core = await loadCore();
  fails("instance", /another instance/, () => Body.find(core.Skeleton.from(LEGS).rest()));
  fails("type", /must be a Pose/, () => Body.find(skeleton));
  assert.ok(pose instanceof Pose);
});

const PERSON = [
  ...LEGS,
  { name: "Spine", parent: "Hips", position: [0, 0.15, 0] },
  { name: "Spine1", parent: "Spine", position: [0, 0.2, 0] },
  { name: "Neck", parent: "Spine1", position: [0, 0.22, 0] },
  { name: "Head", parent: "Neck", position: [0, 0.1, 0] },
  ...["Left", "Right"].flatMap((side) => {
    const s = side === "Left" ? 1 : -1;
    return [
      { name: `${side}Arm`, parent: "Spine1", position: [0.18 * s, 0.15, 0] },
      { name: `${side}ForeArm`, parent: `${side}Arm`, position: [0.28 * s, 0, 0] },
      { name: `${side}Hand`, parent: `${side}ForeArm`, position: [0.25 * s, 0, 0] },
    ];
  }),
];

test("head and hands lead a body whose feet stay and whose balance holds", () => {
  const bind = Skeleton.from(PERSON).rest();
  const body = Body.find(bind);
  const skeleton = body.limited();
  assert.deepEqual(skeleton.names, bind.skeleton.names);
  const pose = body.standAtEase(skeleton.rest());
  const [left, right] = [pose.model("LeftFoot").position, pose.model("RightFoot").position];
  assert.ok(pose.model("LeftHand").position[1] < pose.model("LeftArm").position[1] - 0.4, "arms hang");
  const trackers = new Trackers(body, ["left hand", "right hand", "head"].map((role) => body.joint(role)), pose);
  const before = pose.model("Hips").position[1];
  const goals = [[0.2, 1, 0.4], [-0.2, 1, 0.4], [0, 1.25, 0.05]];
  const report = trackers.solve(pose, goals.map((position) => ({ position })));
  assert.ok(report.positionResidual < 1e-3, `${report.positionResidual}`);
  ["LeftHand", "RightHand", "Head"].forEach((name, i) => {
    close(pose.model(name).position, goals[i], 1e-3, name);
    assert.ok(trackers.residuals(i).position < 1e-3);
  });
  assert.ok(pose.model("Hips").position[1] < before - 0.05, "knees bend");
  close(pose.model("LeftFoot").position, left, 1e-3, "left foot");
  close(pose.model("RightFoot").position, right, 1e-3, "right foot");
  assert.ok(trackers.outOfBalance(pose) < 0.02, `${trackers.outOfBalance(pose)}`);
  // A goal that is left out, and a step.
  assert.ok(trackers.solve(pose, [{ position: goals[0] }, null, { position: [0, 1.3, 0.02] }]).positionResidual < 1e-3);
  trackers.stand(pose);
  fails("input", /another skeleton/, () => trackers.solve(bind, [null, null, null]));
  fails("type", /a list of 3/, () => trackers.solve(pose, []));
  fails("input", /other joints than the body/, () => new Trackers(body, [0], Skeleton.from(LEGS).rest()));
  fails("input", /there is no effector 7/, () => trackers.residuals(7));
  fails("solve", /./, () => trackers.solve(pose, [{ position: [NaN, 0, 0] }, null, null]));
});

test("trackers lead an avatar of three.js, whose bones have names that say nothing", () => {
  const scene = new Group();
  scene.position.set(3, 0, -2);
  scene.scale.setScalar(2);
  const bones = new Map();
  for (const { name, parent, position } of PERSON) {
    const bone = Object.assign(new Bone(), { name: `b${bones.size}` });
    bone.position.fromArray(position);
    (bones.get(parent) ?? scene).add(bone);
    bones.set(name, bone);
  }
  scene.updateMatrixWorld(true);
  const vrm = { hips: "Hips", spine: "Spine", head: "Head", leftHand: "LeftHand", rightHand: "RightHand", leftFoot: "LeftFoot", rightFoot: "RightFoot" };
  for (const side of ["left", "right"]) {
    const [S, V] = [side === "left" ? "Left" : "Right", side];
    Object.assign(vrm, { [`${V}UpperLeg`]: `${S}UpLeg`, [`${V}LowerLeg`]: `${S}Leg`, [`${V}UpperArm`]: `${S}Arm`, [`${V}LowerArm`]: `${S}ForeArm` });
  }
  const roles = Object.fromEntries(Object.entries(vrm).map(([role, name]) => [role, bones.get(name)]));
  const body = Body.find(Skeleton.from(scene).rest(), { roles });
  const skeleton = body.limited();
  const pose = body.standAtEase(skeleton.rest());
  const trackers = new Trackers(body, [bones.get("Head"), bones.get("LeftHand"), bones.get("RightHand")], pose);
  const wanted = [[0, 1.3, 0.05], [0.25, 1.05, 0.35], [-0.2, 0.95, 0.3]];
  const report = trackers.solve(pose, wanted.map((position) => ({ position })));
  assert.ok(report.positionResidual < 1e-3, `${report.positionResidual}`);
  pose.applyTo(scene);
  scene.updateMatrixWorld(true);
  ["Head", "LeftHand", "RightHand"].forEach((name, i) => {
    const at = bones.get(name).getWorldPosition(new Vector3());
    close(at.toArray(), scene.localToWorld(new Vector3(...wanted[i])).toArray(), 5e-3, name);
  });
});

test("ten thousand objects leave the memory as it was", () => {
  const skeleton = Skeleton.from(LEGS);
  const rest = skeleton.rest();
  const once = () => {
    const body = Body.find(rest);
    const figure = Figure.of(body);
    const planter = new FootPlanter(figure);
    const feet = planter.state();
    const ground = Ground.level();
    planter.step(feet, ground, rest, 1 / 60);
    [feet, planter, ground, figure, body].forEach((object) => object.free());
  };
  for (let i = 0; i < 100; i++) once();
  const { byteLength } = rest.rotations.buffer;
  for (let i = 0; i < 3000; i++) once();
  assert.ok(rest.rotations.buffer.byteLength - byteLength <= 1e6);
});

const REACHER = [
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

test("a body keeps its centre of mass over its support", () => {
  const skeleton = Skeleton.from(REACHER);
  const goals = [{ position: [0.9, 1.1, 0.5] }, { position: [0.1, 0.05, 0] }, { position: [-0.1, 0.05, 0] }];
  const support = [[-0.15, 0, -0.08], [0.15, 0, -0.08], [-0.15, 0, 0.14], { x: 0.15, y: 0, z: 0.14 }];
  const body = new FullBody(skeleton, "hips", ["hand.l", "foot.l", "foot.r"], { root: "free", iterations: 300 });
  // The centre of mass, where bones weigh as much as they are long.
  const centre = (pose, weigh = (length) => length) => {
    let [sum, total] = [[0, 0, 0], 0];
    for (const { name, parent } of REACHER.filter(({ parent }) => parent)) {
      const [a, b] = [pose.model(parent).position, pose.model(name).position];
      const mass = weigh(Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]), parent);
      sum = sum.map((value, i) => value + (mass * (a[i] + b[i])) / 2);
      total += mass;
    }
    return sum.map((value) => value / total);
  };
  // How far it is outside of the rectangle, which a margin shrinks towards its middle.
  const off = ([x, , z], margin) => Math.hypot(Math.max(0, Math.abs(x) - 0.15 * (1 - margin)), Math.max(0, Math.abs(z - 0.03) - 0.11 * (1 - margin)));
  const [without, balanced] = [skeleton.rest(), skeleton.rest()];
  body.solve(without, goals);
  body.solve(balanced, goals, { balance: { support } });
  assert.ok(off(centre(without), 0.2) > 0.05, `${off(centre(without), 0.2)} m without`);
  assert.ok(off(centre(balanced), 0.2) < 0.005, `${off(centre(balanced), 0.2)} m with balance`);
  for (const [pose, margin] of [[without, 0.2], [without, 0], [without, 0.7], [balanced, 0.2]]) {
    const told = body.outOfBalance(pose, { support, margin });
    assert.ok(Math.abs(told - off(centre(pose), margin)) < 1e-4, `${told}, not ${off(centre(pose), margin)}`);
  }
  // What is heavy counts: all in the left arm, whose elbow is its child.
  const masses = REACHER.map(({ name }) => (name === "arm.l" ? 1 : 0));
  const elbow = [0, 1, 2].map((i) => (without.model("arm.l").position[i] + without.model("elbow.l").position[i]) / 2);
  assert.ok(Math.abs(body.outOfBalance(without, { support, masses }) - off(elbow, 0.2)) < 1e-4);
  // Without masses again, and without balance, it is as at first.
  const again = skeleton.rest();
  body.solve(again, goals, { balance: { support } });
  assert.deepEqual(again.rotations, balanced.rotations);
  body.solve(again.reset(), goals);
  assert.deepEqual(again.rotations, without.rotations);
  // A drag takes it up too.
  const dragged = skeleton.rest();
  const drag = new Drag(dragged, "hips", "hand.l", ["foot.l", "foot.r"]);
  for (let n = 1; n <= 30; n++) drag.to(dragged, { position: [0.74 + 0.01 * n, 1.45 - 0.01 * n, 0.02 * n] }, { balance: { support } });
  assert.ok(off(centre(dragged), 0.2) < 0.02, `${off(centre(dragged), 0.2)} m in a drag`);

  const solve = (balance) => () => body.solve(skeleton.rest(), goals, { balance });
  fails("type", /1 to 16 points, not an array of 0/, solve({ support: [] }));
  fails("type", /1 to 16 points/, solve({ support: Array.from({ length: 17 }, () => [0, 0, 0]) }));
  fails("type", /there is no `feet`/, solve({ support, feet: 2 }));
  fails("type", /a point of the support must be 3 numbers/, solve({ support: [[0, 0]] }));
  fails("solve", /support/, solve({ support: [[NaN, 0, 0]] }));
  fails("solve", /margin/, solve({ support, margin: 2 }));
  fails("solve", /number of masses/, solve({ support, masses: [1, 2] }));
  fails("type", /priority must be 0, 1 or 2/, solve({ support, priority: 3 }));
  fails("solve", /up/, solve({ support, up: [0, 0, 0] }));
  fails("type", /the balance must be an object/, () => body.outOfBalance(without));
});

test("masses that make the memory grow do not lose the balance", () => {
  const count = 60_000;
  const skeleton = Skeleton.from([{ name: "root" }, ...Array.from({ length: count }, (_, n) => ({ name: `${n}`, parent: 0, position: [1, 0, 0] }))]);
  const [body, pose] = [new FullBody(skeleton, 0, [1]), skeleton.rest()];
  const { memory } = FullBody.engine;
  // All ends are 1 m beside the root.
  const masses = new Float32Array(count + 1).fill(1, 1);
  // What is free is filled up, with what is large and then with what is small.
  const filled = [];
  for (const points of [20_000, 2_000, 200]) {
    const line = Float32Array.from({ length: 3 * points }, (_, n) => n);
    for (let size = memory.buffer.byteLength; memory.buffer.byteLength === size; ) filled.push(new Curve(line));
  }
  const before = memory.buffer.byteLength;
  const off = body.outOfBalance(pose, { support: [[0, 0, 0]], masses });
  assert.ok(memory.buffer.byteLength > before, "the memory grows");
  assert.ok(Math.abs(off - 1) < 1e-5, `${off} m`);
  for (const one of [...filled, body, pose, skeleton]) one.free();
});
