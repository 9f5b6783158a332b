// Rigs, their keys, and rig files.

import assert from "node:assert/strict";
import test from "node:test";

import { SinewError, load } from "sinew/files";

const { Body, Clip, FootPlanter, Ground, Mirror, Model, Pose, Rig, RigKeys, Skeleton, readRig } = await load();

const apart = (a, b) => Math.hypot(...[...a].map((v, i) => v - b[i]));
const close = (a, b, within, what = "") => assert.ok(a.length === b.length && apart(a, b) <= within, `${what} ${[...a]} is not ${[...b]}`);
const fails = (kind, words, action) =>
  assert.throws(action, (error) => {
    assert.ok(error instanceof SinewError && error.kind === kind && words.test(error.message), `${error.kind}: ${error.message}`);
    return true;
  });

/** An arm of 0.3 and 0.28 m along x, slightly bent down. */
const arm = () =>
  Skeleton.from([
    { name: "shoulder", position: [0.2, 1.4, 0] },
    { name: "elbow", parent: 0, position: [0.3, -0.02, 0] },
    { name: "hand", parent: 1, position: [0.28, 0.02, 0] },
  ]);
const at = (pose, joint) => [...pose.model(joint).position];
const FRAME = 1 / 60;

test("an arm by its handle: the goal, the bend, out of reach", () => {
  const skeleton = arm();
  const rig = new Rig(skeleton.rest(), [{ name: "arm", solver: "two-bone", from: "preferred", chain: ["shoulder", "hand"] }]);
  assert.deepEqual([rig.handles, rig.goals, rig.solvers], [["arm"], ["arm"], ["two-bone"]]);
  const [state, pose] = [rig.state(), skeleton.rest()];
  const [a, b] = [Math.hypot(0.3, 0.02), Math.hypot(0.28, 0.02)];
  for (const position of [[0.5, 1.5, 0.3], [0.2, 1.0, 0.2], [0.4, 1.4, -0.2]]) {
    pose.reset();
    const { handles, planted } = rig.apply(state, pose, FRAME, { arm: { position } });
    assert.ok(planted === undefined && handles.length === 1 && handles[0].name === "arm" && handles[0].isSet && handles[0].report.reached);
    assert.deepEqual(handles[0].influence, [1, 1]);
    close(at(pose, "hand"), position, 1e-5);
    // The cosine rule.
    const reach = apart(position, [0.2, 1.4, 0]);
    const [upper, lower] = [at(pose, "shoulder").map((v, i) => v - at(pose, "elbow")[i]), at(pose, "hand").map((v, i) => v - at(pose, "elbow")[i])];
    const cos = upper.reduce((sum, v, i) => sum + v * lower[i], 0) / (a * b);
    assert.ok(Math.abs(cos - (a * a + b * b - reach * reach) / (2 * a * b)) < 1e-4);
  }
  const { report } = rig.apply(state, pose, FRAME, { arm: { position: [2, 1.4, 0] } }).handles[0];
  assert.ok(!report.reached && Math.abs(report.outOfReach - (1.8 - a - b)) < 1e-5);
  // An unset goal leaves the bits.
  pose.reset();
  const before = pose.rotations.slice();
  for (const goals of [{}, { arm: null }, { arm: undefined }, { arm: {} }]) {
    assert.equal(rig.apply(state, pose, FRAME, goals).handles[0].isSet, false);
    assert.deepEqual(pose.rotations.slice(), before);
  }
});

test("from preferred values the past does not count, from the last frame it does", () => {
  const names = ["a", "b", "c", "d", "e"];
  const skeleton = Skeleton.from(names.map((name, i) => ({ name, ...(i > 0 ? { parent: i - 1 } : {}), position: [i > 0 ? 0.3 : 0, i === 0 ? 1 : 0, i % 2 ? 0.02 : -0.02] })));
  const shown = (from, path) => {
    const rig = new Rig(skeleton.rest(), [{ name: "tail", solver: "ccd", from, chain: ["a", "e"] }]);
    const [state, pose] = [rig.state(), skeleton.rest()];
    for (const position of path) {
      pose.reset();
      rig.apply(state, pose, FRAME, { tail: { position } });
    }
    return pose.rotations.slice();
  };
  const end = [0.5, 1.3, 0.4];
  const [short, long] = [[end], [[0.4, 0.3, -0.2], [-0.3, 1, 0.6], [0.2, 1.8, 0.1], end]];
  assert.deepEqual(shown("preferred", short), shown("preferred", long));
  assert.notDeepEqual(shown("last", short), shown("last", long));
});

test("handles fade, and are switched by their names", () => {
  const skeleton = arm();
  const rig = new Rig(skeleton.rest(), [{ name: "arm", solver: "two-bone", chain: ["shoulder", "hand"], fade: 0.5, color: 0xff8800 }]);
  const [state, pose] = [rig.state(), skeleton.rest()];
  const goals = { arm: { position: [0.4, 1.6, 0.2] } };
  const fade = () => (pose.reset(), rig.apply(state, pose, 0.1, goals).handles[0].fade);
  assert.equal(fade(), 1);
  state.setOn("arm", false);
  assert.equal(state.isOn("arm"), false);
  const falling = [fade(), fade(), fade(), fade(), fade()];
  // 3 t^2 - 2 t^3 in fifths.
  close(falling, [0.8, 0.6, 0.4, 0.2, 0].map((t) => 3 * t ** 2 - 2 * t ** 3), 1e-5);
  fade();
  assert.deepEqual([...pose.rotations], [...skeleton.rest().rotations]);
  state.setOn("arm", true);
  state.reset();
  assert.equal(fade(), 1);
});

test("spaces: the world, a joint, and numbers that come back", () => {
  const skeleton = arm();
  const rig = new Rig(skeleton.rest(), [{ name: "arm", solver: "two-bone", chain: ["shoulder", "hand"], goal: { space: "world" } }]);
  const [state, pose] = [rig.state(), skeleton.rest()];
  // Half a turn about y, and 10 m along x.
  const placement = { position: [10, 0, 0], rotation: [0, 1, 0, 0] };
  rig.apply(state, pose, FRAME, { arm: { position: [9.6, 1.6, -0.2] } }, { placement });
  close(at(pose, "hand"), [0.4, 1.6, 0.2], 1e-5);
  pose.reset();
  rig.apply(state, pose, FRAME, { arm: { position: [0.4, 1.6, 0.2], space: "model" } }, { placement });
  close(at(pose, "hand"), [0.4, 1.6, 0.2], 1e-5);
  close(rig.read(pose, {}, placement).arm.position, [9.6, 1.6, -0.2], 1e-5);
  const converted = rig.convert("arm", { position: [9.6, 1.6, -0.2] }, { space: "model" }, pose, placement);
  close(converted.position, [0.4, 1.6, 0.2], 1e-5);
  assert.equal(converted.space, "model");
  fails("solve", /shoulder|elbow/, () => rig.apply(state, pose, FRAME, { arm: { position: [0, 0, 0], space: { joint: "elbow" } } }));
  fails("input", /there is no role "wing"/, () => rig.apply(state, pose, FRAME, { arm: { position: [0, 0, 0], space: { role: "wing" } } }));
});

const model = Model.mannequin();
const body = model.body();

test("a humanoid: the body is lowered, feet stay, a hand is where the head says", () => {
  const rig = Rig.humanoid(body);
  assert.deepEqual([...rig.goals].sort(), ["body", "left foot", "left hand", "look", "right foot", "right hand"]);
  const [state, bind, pose] = [rig.state(), body.bindPose(), body.bindPose()];
  const rotations = pose.rotations.slice();
  rig.apply(state, pose, FRAME);
  assert.deepEqual(pose.rotations.slice(), rotations, "alone it changes nothing");
  const [hips, feet] = [body.joint("hips"), ["left foot", "right foot"].map((role) => body.joint(role))];
  const low = at(bind, hips).map((v, i) => v - (i === 1 ? 0.1 : 0));
  const report = rig.apply(state, pose, FRAME, { body: { position: low }, "right hand": { position: [-0.15, -0.1, 0.35], space: { role: "head" } } });
  assert.ok(report.handles.every(({ report, isSet }) => !isSet || report.reached));
  close(at(pose, hips), low, 1e-5);
  for (const foot of feet) close(at(pose, foot), at(bind, foot), 1e-4);
  const [head, hand] = ["head", "right hand"].map((role) => at(pose, body.joint(role)));
  assert.ok(apart(head, hand) < 0.6 && hand[2] > head[2], `${hand}`);
  // In one body, the goals have the same names.
  const whole = Rig.humanoid(body, { limbs: "full-body" });
  assert.ok(["body", "left hand", "right foot"].every((name) => whole.goals.includes(name)));
  const named = new Rig(bind, [{ name: "hands", solver: "full-body", chain: [hips, body.joint("left hand")], effectors: [{ joint: body.joint("left hand") }, { joint: body.joint("right hand"), name: "right" }], root: "free" }], { body });
  assert.deepEqual(named.goals, [`hands/${model.skeleton.names[body.joint("left hand")]}`, "right"]);
});

test("a rig on stairs plants the animation before its handles, as the planter does", () => {
  const [walk] = model.clips;
  const planter = () => new FootPlanter(model.figure(body)).learnFloor(walk).setLookAhead(0.3);
  const ground = Ground.stairs({ rise: 0.12, going: 0.4 });
  const rig = Rig.humanoid(body).plantWith(planter());
  const [state, pose, other] = [rig.state(), model.skeleton.rest(), model.skeleton.rest()];
  const [alone, feet] = [planter(), planter().state()];
  const sample = (frame) => (later, to) => walk.sample(Math.fround(Math.fround(frame / 60) + later), to);
  for (let frame = 0; frame < 90; frame++) {
    sample(frame)(0, pose);
    const { planted } = rig.apply(state, pose, FRAME, {}, { ground, lookAhead: sample(frame) });
    const { raise, standing } = alone.stepWith(feet, ground, other, FRAME, sample(frame));
    assert.deepEqual([planted.raise, planted.standing], [raise, standing], `${frame}`);
    assert.deepEqual(pose.rotations, other.rotations, `${frame}`);
  }
  const plain = Rig.humanoid(body);
  const own = plain.state();
  fails("solve", /planter/, () => plain.apply(own, pose, FRAME, {}, { ground }));
  assert.throws(() => rig.apply(state, pose, FRAME, {}, { ground, lookAhead: () => { throw new RangeError("mine"); } }), RangeError);
});

test("FK and IK are switched without a jump", () => {
  const rig = Rig.humanoid(body);
  const [state, pose] = [rig.state(), body.bindPose()];
  const [upper, hand] = [body.joint("left upper arm"), body.joint("left hand")];
  pose.rotations.set([0, 0, Math.SQRT1_2, Math.SQRT1_2], 4 * upper);
  const before = pose.modelPositions().slice();
  const goals = rig.matchGoals(state, pose, {}, { handle: "left hand", seconds: 0.3 });
  close(goals["left hand"].position, at(pose, hand), 1e-5);
  rig.apply(state, pose, 0, { "left hand": goals["left hand"] });
  assert.ok(pose.modelPositions().every((v, i) => Math.abs(v - before[i]) < 1e-4));
  // And back: what the handles show is in the pose.
  const moved = { "left hand": { ...goals["left hand"], position: [0.3, 1.3, 0.3] } };
  const animation = body.bindPose();
  rig.matchPose(state, animation, moved, { handle: "left hand" });
  const fresh = rig.state();
  const shown = body.bindPose();
  rig.apply(fresh, shown, 0, moved);
  close(animation.model(hand).position, shown.model(hand).position, 1e-3);
  fails("input", /there is no handle "tail": there are body/, () => rig.matchGoals(state, pose, {}, { handle: "tail" }));
});

test("a drag of the hips leaves the feet, and is kept as goals", () => {
  const rig = Rig.humanoid(body);
  const [state, animation] = [rig.state(), body.bindPose()];
  const hips = body.joint("hips");
  const [from, feet] = [at(animation, hips), ["left foot", "right foot"].map((role) => body.joint(role))];
  const drag = rig.grab(state, animation, hips);
  for (let n = 1; n <= 20; n++) {
    const position = [0.05, -0.12, 0.08].map((v, i) => from[i] + (v * n) / 20);
    const report = drag.to({ position }, FRAME);
    assert.ok(report.positionResidual < 0.05);
    for (const foot of feet) close(drag.pose.model(foot).position, at(animation, foot), 1e-3);
  }
  const [pose, again] = [body.bindPose(), rig.state()];
  pose.copy(drag.animation);
  rig.apply(again, pose, FRAME, drag.goals);
  assert.ok(pose.modelPositions().every((v, i) => Math.abs(v - drag.pose.modelPositions()[i]) < 1e-4));
  const { pose: shown } = drag;
  drag.free();
  assert.ok(shown.freed);
  fails("freed", /has been freed/, () => drag.to({ position: from }, FRAME));
});

test("keys: edits and their inverses, times, curves, recording", () => {
  const skeleton = arm();
  const rig = new Rig(skeleton.rest(), [{ name: "arm", solver: "two-bone", chain: ["shoulder", "hand"] }]);
  const keys = new RigKeys(rig);
  assert.deepEqual([keys.span, keys.keys()], [undefined, []]);
  const key = (time, value, more = {}) => ({ goal: "arm", channel: "position", time, value, ...more });
  const undo = keys.edit([key(0, [0.4, 1.4, 0.1], { interpolation: "linear" }), key(1, [0.4, 1.6, 0.1], { interpolation: "step" }), key(2, [0.2, 1.6, 0.1])]);
  assert.deepEqual(undo.map(({ time, value }) => [time, value]), [[0, null], [1, null], [2, null]]);
  assert.deepEqual(keys.span, [0, 2]);
  assert.deepEqual(keys.keys().map(({ goal, channel, space, time, interpolation }) => [goal, channel, space, time, interpolation]), [
    ["arm", "position", "model", 0, "linear"],
    ["arm", "position", "model", 1, "step"],
    ["arm", "position", "model", 2, "smooth"],
  ]);
  close(keys.sample(0.25).arm.position, [0.4, 1.45, 0.1], 1e-6, "linear");
  close(keys.sample(1.9).arm.position, [0.4, 1.6, 0.1], 1e-6, "held");
  assert.equal(keys.sample(0.5, { arm: { rotation: [0, 0, 0, 1] } }).arm.rotation.length, 4, "parts without keys are as given");
  // Twice as long, then onto frames of a rate, then back.
  keys.edit(keys.retime(({ time }) => time > 0, { scale: 2, shift: 0.01 }));
  close(keys.keys().map(({ time }) => time), [0, 2.01, 4.01], 1e-6);
  const back = keys.edit(keys.snap(() => true, 10));
  close(keys.keys().map(({ time }) => time), [0, 2, 4], 1e-6);
  keys.edit(back);
  close(keys.keys().map(({ time }) => time), [0, 2.01, 4.01], 1e-6);
  keys.edit(keys.keys().map((one) => ({ ...one, value: null })));
  assert.deepEqual(keys.keys(), []);
  // Auto key of a goal and of a joint.
  const [before, after] = [{ arm: { position: [0.4, 1.4, 0.1] } }, { arm: { position: [0.4, 1.7, 0.1] } }];
  keys.edit(keys.record(2, before, after, { interpolation: "linear" }));
  close(keys.sample(0).arm.position, before.arm.position, 1e-6);
  close(keys.sample(1).arm.position, [0.4, 1.55, 0.1], 1e-6);
  const [rest, turned] = [skeleton.rest(), skeleton.rest()];
  turned.rotations.set([0, 0, Math.SQRT1_2, Math.SQRT1_2], 4);
  keys.edit(keys.recordJoints(2, rest, turned));
  assert.deepEqual(keys.recordJoints(2, rest, rest), []);
  const sampled = skeleton.rest();
  keys.samplePose(2, sampled);
  close(sampled.rotations.slice(4, 8), [0, 0, Math.SQRT1_2, Math.SQRT1_2], 1e-6);
  assert.deepEqual(keys.keys().filter(({ joint }) => joint !== undefined).map(({ joint, channel, time }) => [joint, channel, time]), [[1, "localRotation", 0], [1, "localRotation", 2]]);
  // A rotation, an angle, a space and slopes go there and back.
  const varied = [
    { goal: "arm", channel: "rotation", time: 0, space: "world", stay: 1, value: [0, 1, 0, 0] },
    { goal: "arm", channel: "swivel", time: 0.5, space: "model", value: 0.25, slopes: [0.5, -1] },
    { goal: "arm", channel: "positionInfluence", time: 0, value: 0.5 },
    { goal: "arm", channel: "space", time: 0.5, value: "world", valueStay: 1 },
  ];
  const all = new RigKeys(rig);
  all.edit(varied);
  const found = all.keys();
  for (const one of varied) {
    const same = found.find(({ channel }) => channel === one.channel);
    for (const name of Object.keys(one)) assert.deepEqual(same[name], one[name], `${one.channel} ${name}`);
  }
  fails("type", /the channel of a key must be one of "space"/, () => keys.edit([key(0, [0, 0, 0], { channel: "speed" })]));
  fails("input", /there is no goal "leg": there are arm/, () => keys.edit([key(0, [0, 0, 0], { goal: "leg" })]));
  fails("input", /0 to 1/, () => keys.edit([{ goal: "arm", channel: "positionInfluence", time: 0, value: 2 }]));
  fails("type", /either a goal or a joint/, () => keys.edit([{ channel: "roll", time: 0, value: 0 }]));
  fails("input", /NaN/, () => keys.edit([key(NaN, [0, 0, 0])]));
  fails("input", /0.7/, () => keys.edit([key(0.7, null)]));
});

test("a change of space leaves the hand where it is, and sides are mirrored", () => {
  const rig = Rig.humanoid(body);
  const keys = new RigKeys(rig);
  keys.edit([0, 1, 2].map((time) => ({ goal: "left hand", channel: "position", time, value: [0.35, 1.2 + 0.1 * time, 0.3] })));
  const state = rig.state();
  const hand = body.joint("left hand");
  const play = (time, pose) => {
    pose.reset();
    rig.apply(state, pose, 0, keys.sample(time));
  };
  const before = [0.5, 1.2, 1.7].map((time) => {
    const pose = body.bindPose();
    play(time, pose);
    return at(pose, hand);
  });
  const undo = keys.edit(keys.changeSpace("left hand", 1, { role: "head" }, (time, pose) => play(time, pose)));
  assert.deepEqual(keys.sample(1.5)["left hand"].space, { role: "head" });
  [0.5, 1.2, 1.7].forEach((time, i) => {
    const pose = body.bindPose();
    play(time, pose);
    close(at(pose, hand), before[i], 1e-3, `${time}`);
  });
  keys.edit(undo);
  assert.equal(keys.keys().length, 3);
  const mirror = new Mirror(rig, body);
  const mirrored = mirror.goals({ "left hand": { position: [0.35, 1.2, 0.3] } });
  assert.deepEqual(Object.keys(mirrored), ["right hand"]);
  close(mirrored["right hand"].position, [-0.35, 1.2, 0.3], 1e-4);
  keys.edit(mirror.keys(keys, "left"));
  close(keys.sample(0)["right hand"].position, [-0.35, 1.2, 0.3], 1e-4);
  close(keys.sample(0)["left hand"].position, [0.35, 1.2, 0.3], 1e-6);
});

test("a baked clip shows what the rig shows", () => {
  const skeleton = arm();
  const rest = skeleton.rest();
  const rig = new Rig(rest, [{ name: "arm", solver: "two-bone", chain: ["shoulder", "hand"] }]);
  const rising = Clip.from(skeleton, "rise", [{ joint: "shoulder", part: "position", times: [0, 1], values: [0.2, 1.4, 0, 0.2, 1.5, 0] }]);
  const times = [];
  const baked = rig.bake(rest, rising, (time, pose) => {
    times.push(time);
    close(at(pose, "shoulder"), [0.2, 1.4 + 0.1 * time, 0], 1e-5);
    return { arm: { position: [0.6, 1.3, 0.1] } };
  });
  assert.ok(times.length > 29 && times[0] === 0 && times.at(-1) === 1 && baked.name === "rise (baked)");
  const pose = skeleton.rest();
  for (const time of [0, 0.33, 0.66, 1]) {
    baked.sample(time, pose);
    close(at(pose, "hand"), [0.6, 1.3, 0.1], 1e-3, `${time}`);
  }
  assert.throws(() => rig.bake(rest, rising, () => { throw new RangeError("mine"); }), RangeError);
  fails("input", /there is no goal "leg"/, () => rig.bake(rest, rising, () => ({ leg: { position: [0, 0, 0] } })));
});

test("a rig file", () => {
  const text = `rig = 1
[humanoid]
limbs = "two-bone"
[goal."right hand"]
space = "head"
position = [-0.15, -0.1, 0.35]
[[handle]]
name = "wrist"
solver = "twist"
chain = ["upper_arm.L", "hand.L"]
`;
  const rig = readRig(text, body, "salute.toml");
  assert.ok(rig.handles.includes("wrist") && rig.solvers.includes("twist"));
  const [state, pose] = [rig.state(), body.bindPose()];
  assert.ok(rig.apply(state, pose, FRAME).handles.find(({ name }) => name === "right hand").report.reached);
  const plain = readRig(`rig = 1\n[[handle]]\nname = "leg"\nchain = ["thigh.L", "foot.L"]\n`, model.bindPose());
  assert.deepEqual(plain.goals, ["leg"]);
  fails("file", /^salute\.toml:3: .*`limbz`.*did you mean `limbs`/, () => readRig(text.replace("limbs", "limbz"), body, "salute.toml"));
  fails("file", /:5: .*role|space/, () => readRig(text.replace('"head"', '"tail"'), body));
  fails("type", /a rig file is a text/, () => readRig(new Uint8Array(3), body));
});

test("what is wrong is said", () => {
  const skeleton = arm();
  const rest = skeleton.rest();
  const chain = ["shoulder", "hand"];
  const made = (...handles) => new Rig(rest, handles);
  fails("input", /handle `arm`|arm.*name/, () => made({ name: "arm", chain }, { name: "arm", chain }));
  fails("input", /no joint `knee`/, () => made({ name: "arm", chain: ["shoulder", "knee"] }));
  fails("input", /no solver "magic" of a handle: there are auto, two-bone/, () => made({ name: "arm", chain, solver: "magic" }));
  fails("input", /no start "today" of a handle: there are pose, preferred, last/, () => made({ name: "arm", chain, from: "today" }));
  fails("type", /no `fad` in a handle/, () => made({ name: "arm", chain, fad: 1 }));
  fails("input", /fade/, () => made({ name: "arm", chain, fade: -1 }));
  const rig = made({ name: "arm", chain });
  const state = rig.state();
  fails("type", /no `positon` in goal `arm`/, () => rig.apply(state, rest, 0, { arm: { positon: [0, 0, 0] } }));
  fails("input", /that of another rig/, () => made({ name: "arm", chain }).apply(state, rest, 0));
  fails("input", /another skeleton/, () => rig.apply(state, arm().rest(), 0));
  fails("input", /there is no goal "hand": there are arm/, () => rig.apply(state, rest, 0, { hand: { position: [0, 0, 0] } }));
  fails("solve", /arm.*NaN/, () => rig.apply(state, rest, 0, { arm: { position: [NaN, 0, 0] } }));
  fails("solve", /-1/, () => rig.apply(state, rest, -1));
  fails("solve", /roll/, () => rig.apply(state, rest, 0, { arm: { roll: 1 } }));
  fails("type", /the state must be a RigState/, () => rig.apply(rest, rest, 0));
  fails("type", /by their names, not an array of 1/, () => rig.apply(state, rest, 0, [{ position: [0, 0, 0] }]));
  assert.ok([...rest.rotations].every((v, i) => v === (i % 4 === 3 ? 1 : 0)), "errors leave the pose");
  state.free();
  fails("freed", /this RigState has been freed/, () => rig.apply(state, rest, 0));
  fails("input", /chain|below/, () => made({ name: "arm", chain: ["hand", "shoulder"] }));
});
