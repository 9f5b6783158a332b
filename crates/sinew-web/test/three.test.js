import assert from "node:assert/strict";
import test from "node:test";

import { SinewError, load } from "sinew/core";
import { Bone, BufferGeometry, Group, Quaternion, Skeleton as Bones, SkinnedMesh, Vector3 } from "three";
import { clone } from "three/addons/utils/SkeletonUtils.js";

const { Skeleton, TwoBone } = await load();

/** A leg as loaders make it: the mesh beside its bones, in an armature that is moved, turned and scaled. */
function leg() {
  const scene = new Group();
  const armature = new Group();
  armature.name = "armature";
  armature.position.set(5, 1, 0);
  armature.rotation.set(-Math.PI / 2, 0, 0.3);
  armature.scale.setScalar(0.5);
  scene.add(armature);
  const bones = ["hip", "knee", "ankle"].map((name) => Object.assign(new Bone(), { name }));
  bones[0].position.set(0.1, 0, 2);
  bones[1].position.set(0, 0.02, -1);
  bones[2].position.set(0, -0.02, -0.9);
  bones[0].add(bones[1]);
  bones[1].add(bones[2]);
  const mesh = new SkinnedMesh(new BufferGeometry());
  armature.add(bones[0], mesh);
  scene.updateMatrixWorld(true);
  mesh.bind(new Bones([bones[2], bones[0], bones[1]]));
  return { scene, armature, mesh, bones };
}

/** Where a bone is in the world, by three.js. */
function world(bone) {
  return bone.getWorldPosition(new Vector3());
}

test("bones of a skinned mesh reach a goal of the world", () => {
  const { scene, armature, mesh, bones } = leg();
  const skeleton = Skeleton.from(mesh);
  assert.deepEqual([...skeleton.names], ["hip", "knee", "ankle"]);
  assert.equal(skeleton.space, armature);
  const target = world(bones[2]).add(new Vector3(0.2, 0.15, 0.1));
  const pose = skeleton.rest();
  const report = new TwoBone(skeleton, ...bones).solve(pose, { position: skeleton.space.worldToLocal(target.clone()) });
  assert.ok(report.reached);
  pose.applyTo(mesh);
  scene.updateMatrixWorld(true);
  assert.ok(world(bones[2]).distanceTo(target) < 1e-5);
});

test("copies of a scene share a skeleton", () => {
  const { scene } = leg();
  const copy = clone(scene);
  const skeleton = Skeleton.from(scene);
  const pose = skeleton.rest();
  const turned = new Quaternion().setFromAxisAngle(new Vector3(1, 0, 0), 0.4);
  copy.getObjectByName("knee").quaternion.copy(turned);
  pose.readFrom(copy);
  const at = 4 * skeleton.index("knee");
  assert.ok(Math.abs(pose.rotations[at] - turned.x) < 1e-7);
  pose.reset().applyTo(copy);
  assert.equal(copy.getObjectByName("knee").quaternion.x, 0);
  assert.equal(scene.getObjectByName("knee").quaternion.x, 0);
  pose.rotations.set([Math.fround(0.6), 0, 0, Math.fround(0.8)], at);
  pose.applyTo(copy);
  assert.equal(scene.getObjectByName("knee").quaternion.x, 0, "the first scene is left alone");
  assert.equal(copy.getObjectByName("knee").quaternion.x, Math.fround(0.6));
});

test("another scene is refused in a sentence", () => {
  const { scene } = leg();
  const other = clone(scene);
  other.getObjectByName("knee").name = "elbow";
  const skeleton = Skeleton.from(scene);
  const refused = (kind, words, action) =>
    assert.throws(action, (error) => error instanceof SinewError && error.kind === kind && words.test(error.message));
  refused("input", /joint 2 is `elbow` there, `knee` here/, () => skeleton.rest().applyTo(other));
  refused("input", /joint 3 is absent there, `ankle` here/, () => {
    const shorter = clone(scene);
    shorter.getObjectByName("ankle").removeFromParent();
    shorter.traverse((node) => node.isSkinnedMesh && (node.skeleton = new Bones(node.skeleton.bones.filter(({ name }) => name !== "ankle"))));
    skeleton.rest().readFrom(shorter);
  });
  refused("input", /no bones/, () => skeleton.rest().applyTo(new Group()));
  refused("type", /must be a node, not undefined/, () => skeleton.rest().applyTo());
  refused("input", /not made from/, () => skeleton.index(new Bone()));
});
