// Ten bones beside three.js's CCDIKSolver: the same goals to 1e-3 of the chain's length, bones written by both.
//
// CCDIKSolver has no tolerance: it sweeps as often as it is told, and stops early only where no bone turns by 1e-5 rad.

import { Bone, BufferGeometry, Skeleton as Bones, SkinnedMesh, Vector3 } from "three";
import { CCDIKSolver } from "three/addons/animation/CCDIKSolver.js";

import { fastest } from "./fastest.js";

const BONES = 10;
const GOALS = 300;
const TOLERANCE = 1e-3;
/** Sweeps of CCDIKSolver: the smallest power of 2 that solves 98 % of the goals from rest. */
const SWEEPS = 256;

function figure() {
  const bones = [new Bone()];
  for (let i = 0; i < BONES; i++) {
    const bone = new Bone();
    bone.position.set(0, 0, 1 / BONES);
    bones.at(-1).add(bone);
    bones.push(bone);
  }
  const target = new Bone();
  const mesh = new SkinnedMesh(new BufferGeometry());
  mesh.add(bones[0], target);
  mesh.bind(new Bones([...bones, target]));
  mesh.updateMatrixWorld(true);
  return { mesh, bones, target };
}

/** Goals in every direction, at 10 to 95 % of the length. */
function scattered() {
  let state = 1;
  const unit = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  return Array.from({ length: GOALS }, () => {
    const goal = new Vector3();
    do goal.set(2 * unit() - 1, 2 * unit() - 1, 2 * unit() - 1);
    while (goal.length() < 0.1 || goal.length() > 1);
    return goal.setLength(0.1 + 0.85 * unit());
  });
}

/** A figure 8 in front of the chain's root, from 35 to 80 % of the length away. */
function path() {
  return Array.from({ length: GOALS }, (_, i) => {
    const angle = (2 * Math.PI * i) / GOALS;
    return new Vector3(0.6 * Math.sin(angle), 0.3 * Math.sin(2 * angle), 0.5 + 0.15 * Math.cos(angle));
  });
}

function theirs({ mesh, bones, target }) {
  const links = bones.slice(0, -1).map((_, index) => ({ index })).reverse();
  const solver = new CCDIKSolver(mesh, [{ target: BONES + 1, effector: BONES, links, iteration: SWEEPS }]);
  const tip = new Vector3();
  return {
    rest: () => bones.forEach((bone) => bone.quaternion.identity()),
    solve(goal) {
      target.position.copy(goal);
      mesh.updateMatrixWorld(true);
      solver.update();
      return tip.setFromMatrixPosition(bones[BONES].matrixWorld).distanceTo(goal) <= TOLERANCE;
    },
  };
}

function ours({ Skeleton, Chain }, { mesh, bones }, method) {
  const skeleton = Skeleton.from(mesh);
  const pose = skeleton.rest();
  const chain = new Chain(skeleton, bones[0], bones[BONES], { solver: method, tolerance: TOLERANCE });
  return {
    rest: () => pose.reset(),
    solve(position) {
      const { reached } = chain.solve(pose, { position });
      pose.applyTo(mesh);
      return reached;
    },
  };
}

/** Microseconds a goal, and the share of goals that were solved. */
export function race(classes) {
  const results = [];
  for (const [name, goals, continuing] of [["from rest", scattered(), false], ["along a path", path(), true]]) {
    const contenders = {
      CCDIKSolver: theirs(figure()),
      auto: ours(classes, figure(), "auto"),
      ccd: ours(classes, figure(), "ccd"),
    };
    const row = { name };
    for (const [contender, { rest, solve }] of Object.entries(contenders)) {
      let solved = 0;
      const pass = () => {
        solved = 0;
        for (const goal of goals) {
          if (!continuing) rest();
          if (solve(goal)) solved++;
        }
      };
      rest();
      const micros = fastest(goals.length, pass) / 1e3;
      row[contender] = { micros, solved: solved / goals.length };
    }
    results.push(row);
  }
  return results;
}
