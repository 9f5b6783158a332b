// Creatures that walk by themselves.

import assert from "node:assert/strict";
import test from "node:test";

import { SinewError, load } from "sinew/files";

const { Creature, Ground, Model, Skeleton, Walker } = await load();

const fails = (kind, words, action) =>
  assert.throws(action, (error) => error instanceof SinewError && error.kind === kind && words.test(error.message));

/** Rotates a vector. */
function turned([i, j, k, w], [x, y, z]) {
  const [tx, ty, tz] = [2 * (j * z - k * y), 2 * (k * x - i * z), 2 * (i * y - j * x)];
  return [x + w * tx + j * tz - k * ty, y + w * ty + k * tx - i * tz, z + w * tz + i * ty - j * tx];
}

/** Where a point of a pose is in the world. */
function inWorld({ position, rotation, scale }, point) {
  return turned(rotation, [...point].map((v) => v * scale)).map((v, i) => v + position[i]);
}

test("creatures of four to eight legs walk where they are told, and their feet stand still", () => {
  for (const legs of [4, 6, 8]) {
    const model = Model.crawler(legs);
    const creature = model.creature();
    assert.equal(creature.legs.length, legs);
    assert.deepEqual(creature.legs.map(({ side }) => side), Array.from({ length: legs }, (_, n) => ["left", "right"][n % 2]));
    assert.deepEqual(creature.doubts, []);
    assert.ok(Math.abs(creature.heading) < 1e-6 && creature.legLength > 0.5);
    const walker = new Walker(creature);
    const [state, pose, ground] = [walker.state({ position: [1, 5, 2] }), model.skeleton.rest(), Ground.rough({ amplitude: 0.05, size: [20, 20] })];
    const start = walker.step(state, pose, ground, 0, {});
    assert.equal(start.standing, legs);
    let last;
    let stood = 0;
    let report;
    for (let frame = 0; frame < 300; frame++) {
      report = walker.step(state, pose, ground, 1 / 60, { velocity: [0, 0, 0.3] });
      assert.ok(report.outOfReach < 0.02 && report.standing >= legs / 2, JSON.stringify(report));
      const feet = state.feet();
      for (const [n, { position, stands, refused }] of feet.entries()) {
        assert.equal(refused, undefined);
        // By forward kinematics: the foot's joint goes with the sole.
        const at = inWorld(report.placement, pose.model(creature.legs[n].tip).position);
        assert.ok(Math.hypot(...at.map((v, i) => v - position[i])) < 0.08 * creature.legLength);
        if (!stands || !last?.[n].stands) continue;
        stood += 1;
        assert.ok(Math.hypot(...position.map((v, i) => v - last[n].position[i])) < 1e-5);
      }
      last = feet;
    }
    assert.ok(stood > 150 * legs, `${stood}`);
    const gone = report.placement.position.map((v, i) => v - start.placement.position[i]);
    assert.ok(Math.abs(gone[2] - 1.47) < 0.1 && Math.abs(gone[0]) < 0.05, `${gone}`);
    assert.ok(walker.maxSpeed > 0.5);
  }
});

test("a walk names its gait, what it cannot do, and blends with the pose", () => {
  const model = Model.crawler(6);
  const creature = model.creature();
  const [pose, ground] = [model.skeleton.rest(), Ground.level(0)];
  const walker = new Walker(creature, { gait: "tripod", ride: 1.1, castRate: 10, trail: 0.3 });
  const state = walker.state();
  const run = (frames, command) => {
    let report;
    for (let frame = 0; frame < frames; frame++) report = walker.step(state, pose, ground, 1 / 60, command);
    return report;
  };
  assert.equal(run(60, { velocity: [0, 0, 0.2] }).gait, "tripod");
  const fast = run(60, { velocity: [0, 0, 50] });
  assert.ok(fast.maxSpeed > 0.5 && fast.maxSpeed < 5, `${fast.maxSpeed}`);
  assert.equal(run(120, {}).maxSpeed, undefined);
  // On the spot.
  const before = run(1, {}).placement;
  const after = run(120, { turn: 0.5 }).placement;
  assert.ok(Math.hypot(...after.position.map((v, i) => v - before.position[i])) < 0.05);
  assert.ok(Math.abs(2 * Math.atan2(after.rotation[1], after.rotation[3]) - 0.9) < 0.12, `${after.rotation}`);
  // Without influence the legs are the pose's.
  const rest = model.skeleton.rest();
  state.setInfluence(0);
  pose.rotations.set(rest.rotations);
  run(1, { velocity: [0, 0, 0.2] });
  assert.deepEqual(pose.rotations, rest.rotations);
  walker.reset(state, { position: [3, 0, 3] });
  assert.ok(Math.abs(walker.step(state, pose, ground, 0, {}).placement.position[0] - 3) < 1e-5);
});

test("legs may be given, for a skeleton without a file", () => {
  const joints = [{ name: "trunk", position: [0, 0.58, 0] }];
  for (const [x, z] of [[0.2, 0.5], [-0.2, 0.5], [0.2, -0.5], [-0.2, -0.5]]) {
    const at = joints.length;
    joints.push({ name: `thigh ${at}`, parent: 0, position: [x, 0, z] });
    joints.push({ name: `shin ${at}`, parent: at, position: [0, -0.29, 0.08] });
    joints.push({ name: `hoof ${at}`, parent: at + 1, position: [0, -0.29, -0.08] });
  }
  const bind = Skeleton.from(joints).rest();
  const found = Creature.of(bind);
  const given = Creature.of(bind, { legs: [[1, 3], [4, 6], ["thigh 7", "hoof 7"], [10, 12]] });
  assert.deepEqual(given.legs, found.legs);
  const walker = new Walker(given);
  const state = walker.state();
  const report = walker.step(state, bind, Ground.level(0), 1 / 60, { velocity: [0, 0, 0.3] });
  assert.ok(report.standing >= 3 && ["walk", "trot"].includes(report.gait));
  fails("type", /a leg must be its first and its last joint/, () => Creature.of(bind, { legs: [[1, 2, 3]] }));
  fails("input", /legs/, () => Creature.of(Skeleton.from([{ name: "a" }, { name: "b", parent: 0, position: [0, 1, 0] }]).rest()));
});

test("what is wrong is named", () => {
  const model = Model.crawler();
  const creature = model.creature();
  fails("input", /there is no gait "hop": there are wave, ripple/, () => new Walker(creature, { gait: "hop" }));
  fails("input", /the gait `walk` is for 4 legs, not for 8/, () => new Walker(creature, { gait: "walk" }));
  fails("input", /ride must be from 0.2 to 2, not 9/, () => new Walker(creature, { ride: 9 }));
  fails("input", /trail must be from 0 to 10, not -1/, () => new Walker(creature, { trail: -1 }));
  fails("type", /there is no `speed`/, () => new Walker(creature, { speed: 1 }));
  fails("input", /even and from 4 to 40, not 5/, () => Model.crawler(5));
  const walker = new Walker(creature);
  const [state, pose, ground] = [walker.state(), model.skeleton.rest(), Ground.level(0)];
  fails("solve", /must be finite/, () => walker.step(state, pose, ground, 1 / 60, { velocity: [NaN, 0, 0] }));
  fails("solve", /at least 0 s, not -1 s/, () => walker.step(state, pose, ground, -1));
  fails("solve", /from 0 to 1, not 2/, () => state.setInfluence(2));
  fails("input", /another skeleton/, () => walker.step(state, Model.crawler(6).skeleton.rest(), ground, 0));
  fails("solve", /no ground under any foot/, () => walker.step(walker.state({ position: [500, 0, 0] }), pose, Ground.stairs(), 0));
  state.free();
  fails("freed", /WalkState has been freed/, () => walker.step(state, pose, ground, 0));
});
