// Files in `sinew/files`.

import assert from "node:assert/strict";
import test from "node:test";

import { SinewError, load } from "sinew/files";

const { Body, Chain, Clip, FootPlanter, Ground, JointSpaceSolver, Model, Rig, RigKeys, readGround, readUrdf } = await load();

const bytes = (text) => new TextEncoder().encode(text);
const fails = (kind, words, action) =>
  assert.throws(action, (error) => {
    assert.ok(error instanceof SinewError && error.kind === kind && words.test(error.message), `${error.kind}: ${error.message}`);
    return true;
  });

const URDF = `<robot name="rail">
  <link name="base"/> <link name="cart"/> <link name="arm"/>
  <joint name="slide" type="prismatic">
    <parent link="base"/> <child link="cart"/> <axis xyz="1 0 0"/> <limit lower="-0.5" upper="0.5" effort="1" velocity="2"/>
  </joint>
  <joint name="swing" type="revolute">
    <parent link="cart"/> <child link="arm"/> <origin xyz="0 0 0.3" rpy="0 0 0"/> <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="3"/>
  </joint>
</robot>`;

test("a URDF is an arm", () => {
  const arm = readUrdf(URDF, "rail.urdf");
  assert.deepEqual([arm.name, arm.dofs.map(({ name, min, max, speed }) => [name, min, max, speed])], ["rail", [["slide", -0.5, 0.5, 2], ["swing", -1, 1, 3]]]);
  const solver = new JointSpaceSolver(arm, [{ link: "arm", offset: [0, 0, 0.4] }]);
  const values = arm.rest();
  const report = solver.solve(values, [{ position: [0.2 + 0.4 * Math.sin(0.6), 0, 0.3 + 0.4 * Math.cos(0.6)] }]);
  assert.ok(report.reached && Math.abs(values[0] - 0.2) < 1e-5 && Math.abs(values[1] - 0.6) < 1e-5, `${values}`);
  fails("file", /rail\.urdf/, () => readUrdf(URDF.replace("</robot>", ""), "rail.urdf"));
  fails("file", /x\.urdf: joint `swing`/, () => readUrdf(URDF.replace("revolute", "spherical"), "x.urdf"));
  fails("type", /a URDF is a text/, () => readUrdf(bytes(URDF)));
});

const BVH = `HIERARCHY
ROOT Hips
{
  OFFSET 0 1 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Spine
  {
    OFFSET 0 0.5 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 0.3 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.5
0 1 0 0 0 0 0 0 0
1 1 0 0 0 0 90 0 0
`;

test("a BVH is a model", () => {
  const model = Model.read(bytes(BVH), "turn.bvh", { scale: 2 });
  assert.deepEqual([model.skeleton.names.slice(0, 2), model.clips.length, model.problems.length], [["Hips", "Spine"], 1, 0]);
  const pose = model.skeleton.rest();
  model.clips[0].sample(0.25, pose);
  const { position } = pose.model("Spine");
  assert.ok(Math.hypot(position[0] - 1, position[1] - 3) < 1e-5, `${position}`);
  fails("file", /turn\.bvh:\d+/, () => Model.read(bytes(BVH.replace("Frame Time: 0.5", "Frame Time: no")), "turn.bvh"));
  fails("file", /model\.fbx/, () => Model.read(bytes(BVH), "model.fbx"));
  fails("type", /ArrayBuffer/, () => Model.read(BVH, "turn.bvh"));
});

test("a ground is read from an OBJ", () => {
  const ground = readGround(bytes("v -1 0.2 -1\nv -1 0.2 1\nv 1 0.2 1\nv 1 0.2 -1\nf 1 2 3 4\n"), "floor.obj");
  assert.ok(Math.abs(ground.cast([0, 1, 0.3], [0, -1, 0], 2).distance - 0.8) < 1e-6);
  fails("file", /floor\.obj/, () => readGround(bytes("v 0 0 x\n"), "floor.obj"));
  fails("file", /floor\.png/, () => readGround(bytes(""), "floor.png"));
});

test("damaged files are told", () => {
  for (const content of ["", "{", '{"asset":{"version":"1.0"}}', "glTF\0\0\0\0", '{"asset":{"version":"2.0"},"buffers":[{"uri":"other.bin","byteLength":4}]}']) {
    fails("file", /hero\.(glb|gltf)/, () => Model.read(bytes(content), content.startsWith("{") ? "hero.gltf" : "hero.glb"));
  }
});

test("the mannequin is planted on stairs, and its file is read back", () => {
  const model = Model.mannequin();
  assert.deepEqual(model.clips.map(({ name }) => name), ["walk"]);
  const figure = model.figure();
  for (const role of ["hips", "spine 1", "head", "left upper arm", "right hand", "left thigh", "right toes"]) assert.ok(figure.body.roles.has(role), role);
  const ground = Ground.stairs({ rise: 0.12, going: 0.4, lead: 1 });
  const { clip, glb, plantedShare, stride, contacts } = model.plant("walk", figure, ground, { stride: "fit" });
  assert.equal(clip.name, "walk (planted)");
  assert.ok(plantedShare > 0.95 && stride > 0.3 && stride < 1.2 && contacts.length > 8, `${plantedShare}, ${stride}, ${contacts.length}`);
  // The feet are on the treads while they stand: measured on the file.
  const again = Model.read(glb, "planted.glb");
  assert.deepEqual(again.clips.map(({ name }) => name), ["walk", "walk (planted)"]);
  const pose = again.skeleton.rest();
  const toes = ["left", "right"].map((side) => again.skeleton.names[figure.body.joint(`${side} toes`)]);
  let [standing, higher] = [0, 0];
  for (const { side, point, from, to, unplanted } of contacts) {
    if (point !== "ball" || unplanted !== undefined) continue;
    const places = [0.2, 0.5, 0.8].map((share) => {
      again.clips[1].sample(from + share * (to - from), pose);
      return pose.model(toes[side === "left" ? 0 : 1]).position;
    });
    for (const at of places) assert.ok(Math.hypot(...at.map((v, i) => v - places[1][i])) < 0.02, `${side} slides from ${places[1]} to ${at}`);
    const tread = ground.cast([places[1][0], 3, places[1][2]], [0, -1, 0], 5).point[1];
    assert.ok(places[1][1] - tread > -0.01 && places[1][1] - tread < 0.09, `${side} is ${places[1][1] - tread} over its tread`);
    standing += 1;
    if (tread > 0.3) higher += 1;
  }
  assert.ok(standing > 4 && higher > 1, `${standing}, ${higher}`);
  fails("input", /no clip "run": there are `walk`/, () => model.plant("run", figure, ground));
  fails("type", /"keep", "fit"/, () => model.plant("walk", figure, ground, { stride: "long" }));
  fails("solve", /ground/, () => model.plant("walk", figure, Ground.mesh([50, 0, 50, 50, 0, 51, 51, 0, 50])));
});

test("the mannequin walks over a floor frame by frame: feet that stand stay", () => {
  const model = Model.mannequin();
  const figure = model.figure();
  const [walk] = model.clips;
  const planter = new FootPlanter(figure).learnFloor(walk).setLookAhead(0.3);
  const [feet, pose, ground] = [planter.state(), model.skeleton.rest(), Ground.level(0.05)];
  const foot = figure.body.joint("left toes");
  let before;
  let stood = 0;
  for (let frame = 0; frame < 60 * walk.duration; frame++) {
    planter.stepWith(feet, ground, pose, 1 / 60, (later, sampled) => walk.sample(frame / 60 + later, sampled));
    const { position } = pose.model(foot);
    if (feet.foot("left") === "standing") {
      if (before) assert.ok(Math.hypot(...position.map((v, i) => v - before[i])) < 0.012, `at ${frame / 60} s: ${before} to ${position}`);
      assert.ok(position[1] > 0.05 && position[1] < 0.16, `${position}`);
      before = position;
      stood++;
    } else before = undefined;
  }
  assert.ok(stood > 60, `${stood}`);
  assert.ok(Body.find(model.bindPose()).roles.size > 10);
});

test("a model's body, nodes and GLB", () => {
  const model = Model.mannequin();
  const body = model.body();
  const skeleton = body.limited();
  const pose = body.standAtEase(skeleton.rest());
  const shoulder = pose.model(body.joint("left upper arm")).position;
  const hand = pose.model(body.joint("left hand")).position;
  assert.ok(hand[1] < shoulder[1] - 0.4 && Math.abs(hand[0]) < 0.45, `${hand}`);
  // Behind the back, where a free arm would reach: a person's does not.
  const limb = new Chain(skeleton, body.joint("left upper arm"), body.joint("left hand"));
  const report = limb.solve(pose, { position: [0.05, shoulder[1] - 0.1, -0.45] });
  assert.ok(!report.reached, "people's arms do not reach far behind");
  const again = Model.read(model.toGlb(), "again.glb");
  assert.deepEqual([...again.nodes], [...model.nodes]);
  assert.deepEqual(again.skeleton.names, model.skeleton.names);
  fails("input", /another model/, () => again.figure(body));
  fails("input", /./, () => Model.read(bytes(BVH), "turn.bvh").body());
  assert.ok(Model.read(Model.read(bytes(BVH), "turn.bvh").toGlb(), "turn.glb").skeleton.index("Spine") >= 0);
});

test("clips and keys of rigs are added to a model's file, and read again", () => {
  const model = Model.mannequin();
  const walk = model.clips[0];
  const { clip: spot } = walk.takeRootMotion(model.skeleton.rest(), model.body().joint("hips"));
  const rig = Rig.humanoid(model.body());
  const keys = new RigKeys(rig);
  const key = (time, value, more = {}) => ({ goal: "left hand", channel: "position", time, value, ...more });
  keys.edit([key(0, [0.4, 1.2, 0.3]), key(0.5, [0.4, 1.6, 0.3], { interpolation: "linear" }), key(1, [0.3, 1.3, 0.4])]);
  const other = Clip.from(model.skeleton, "wave", [{ joint: model.body().joint("head"), part: "rotation", times: [0, 1], values: [0, 0, 0, 1, 0, Math.sin(0.2), 0, Math.cos(0.2)] }]);
  const glb = model.toGlb([spot, { name: "reach", keys }, { name: "reach and wave", keys, clip: other }]);

  const again = Model.read(glb, "again.glb");
  assert.deepEqual(again.problems, []);
  assert.deepEqual(again.clips.map(({ name }) => name).slice(0, 4), ["walk", "walk", "reach", "reach and wave"]);
  const [a, b] = [model.skeleton.rest(), again.skeleton.rest()];
  for (const time of [0, 0.3, spot.duration]) {
    spot.sample(time, a);
    again.clips[1].sample(time, b);
    for (const joint of model.skeleton.names.keys()) {
      const [from, to] = [a.model(joint).position, b.model(model.skeleton.names[joint]).position];
      assert.ok(Math.hypot(...from.map((v, i) => v - to[i])) < 1e-5, model.skeleton.names[joint]);
    }
  }
  const rigAgain = Rig.humanoid(again.body());
  for (const clip of ["reach", "reach and wave", 2]) {
    const read = again.keys(clip, rigAgain);
    assert.ok(read instanceof RigKeys && read.rig === rigAgain);
    const positions = (of) => of.keys().filter(({ goal, channel }) => goal === "left hand" && channel === "position");
    assert.deepEqual(positions(read).map(({ time, value, interpolation }) => [time, [...value], interpolation]), positions(keys).map(({ time, value, interpolation }) => [time, [...value], interpolation]));
    for (const time of [0, 0.2, 0.7, 1]) {
      const [was, now] = [keys, read].map((of) => [...of.sample(time)["left hand"].position]);
      assert.ok(Math.hypot(...was.map((v, i) => v - now[i])) < 1e-5, `${was} is ${now} at ${time}`);
    }
    read.free();
  }
  // A BVH's model can be added to as well.
  const turn = Model.read(bytes(BVH), "turn.bvh");
  const more = Clip.from(turn.skeleton, "nod", [{ joint: "Spine", part: "rotation", times: [0, 1], values: [0, 0, 0, 1, Math.sin(0.3), 0, 0, Math.cos(0.3)] }]);
  assert.deepEqual(Model.read(turn.toGlb([more]), "turn.glb").clips.map(({ name }) => name), ["turn", "nod"]);

  fails("input", /no clip "run"/, () => again.keys("run", rigAgain));
  fails("input", /another skeleton/, () => again.keys("reach", rig));
  fails("input", /another skeleton/, () => again.toGlb([spot]));
  fails("input", /another skeleton/, () => again.toGlb([{ name: "x", keys }]));
  fails("input", /no key/, () => model.toGlb([{ name: "empty", keys: new RigKeys(rig) }]));
  fails("type", /there is no `key`/, () => model.toGlb([{ name: "x", key: keys }]));
  fails("type", /must be a list, not a Clip/, () => model.toGlb(spot));
  fails("type", /the keys must be a RigKeys/, () => model.toGlb([{ name: "x", keys: [] }]));
  fails("type", /name must be a text/, () => model.toGlb([{ keys }]));
  spot.free();
  fails("freed", /Clip has been freed/, () => model.toGlb([spot]));
});
