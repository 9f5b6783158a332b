// Repeats the walks and the arm that the native engine has written (lab/web).

import { Hash } from "./replay.js";

const RATE = 60;

/** The built-in walker, with seconds of look-ahead. */
function walker({ FootPlanter, Model }, ahead) {
  const model = Model.mannequin();
  const [clip] = model.clips;
  const planter = new FootPlanter(model.figure()).learnFloor(clip).setLookAhead(ahead);
  return { clip, planter, feet: planter.state(), pose: model.skeleton.rest() };
}

/** Hash of a walk's poses and of the pelvis's offsets. */
export function walk(classes, { ground, frames }) {
  const { clip, planter, feet, pose } = walker(classes, 0.3);
  const { Ground } = classes;
  const on = { level: () => Ground.level(0), stairs: () => Ground.stairs({ rise: 0.12, going: 0.4 }), slope: () => Ground.slope(), rough: () => Ground.rough() }[ground]();
  const hash = new Hash();
  for (let frame = 0; frame < frames; frame++) {
    const { raise } = planter.stepWith(feet, on, pose, 1 / RATE, (later, sampled) => clip.sample(Math.fround(Math.fround(frame / RATE) + later), sampled));
    const { rotations, positions } = pose;
    for (let joint = 0; joint < rotations.length / 4; joint++) {
      hash.add(rotations.slice(4 * joint, 4 * joint + 4));
      hash.add(positions.slice(3 * joint, 3 * joint + 3));
    }
    hash.add(Float32Array.of(raise));
  }
  return hash.value;
}

/** Hash of a creature's poses and places. */
export function creature({ Ground, Model, Walker }, { frames }) {
  const model = Model.crawler(8);
  const walker = new Walker(model.creature());
  const [state, pose, ground] = [walker.state(), model.skeleton.rest(), Ground.rough()];
  const hash = new Hash();
  for (let frame = 0; frame < frames; frame++) {
    const turn = frame % 120 < 60 ? 0.5 : -0.25;
    const { placement } = walker.step(state, pose, ground, 1 / RATE, { velocity: [0, 0, 0.3], turn });
    const { rotations } = pose;
    for (let joint = 0; joint < rotations.length / 4; joint++) hash.add(rotations.slice(4 * joint, 4 * joint + 4));
    hash.add(Float32Array.from(placement.position));
  }
  return hash.value;
}

/** Plants frames that are there already, on a plane; `pass` plants them all. */
export function plantedFrames(classes, { frames }) {
  const { clip, planter, feet, pose } = walker(classes, 0);
  const samples = Array.from({ length: frames }, (_, frame) => {
    clip.sample(frame / RATE, pose);
    return [pose.rotations.slice(), pose.positions.slice()];
  });
  const ground = classes.Ground.level(0);
  const out = new Float32Array(pose.rotations.length);
  return () => {
    feet.reset();
    for (const [rotations, positions] of samples) {
      pose.rotations.set(rotations);
      pose.positions.set(positions);
      planter.step(feet, ground, pose, 1 / RATE);
      out.set(pose.rotations);
    }
  };
}

/** Hash of an arm's values and counts of iterations, and how many goals it reaches. */
export function arm({ JointSpaceSolver, readUrdf }, { urdf, goals }) {
  const made = readUrdf(urdf);
  const solver = new JointSpaceSolver(made, ["l7"]);
  const values = made.rest();
  const hash = new Hash();
  let reached = 0;
  for (let i = 0; i < goals.length; i += 3) {
    const report = solver.solve(values, [{ position: goals.slice(i, i + 3) }]);
    reached += report.reached;
    hash.add(Float32Array.from(values));
    hash.add(Float32Array.of(report.iterations));
  }
  return { hash: hash.value, reached };
}

/** Hash of the poses of a humanoid's rig, whose body and hands follow goals; hands in the space of the head. */
export function rig({ Model, Rig }, { goals }) {
  const body = Model.mannequin().body();
  const made = Rig.humanoid(body);
  const [state, bind, pose] = [made.state(), body.bindPose(), body.bindPose()];
  const hash = new Hash();
  for (let i = 0; i < goals.length; i += 6) {
    pose.copy(bind);
    made.apply(state, pose, 1 / RATE, {
      body: { position: goals.slice(i, i + 3) },
      "left hand": { position: goals.slice(i + 3, i + 6), space: { role: "head" } },
    });
    const { rotations, positions } = pose;
    for (let joint = 0; joint < rotations.length / 4; joint++) {
      hash.add(rotations.slice(4 * joint, 4 * joint + 4));
      hash.add(positions.slice(3 * joint, 3 * joint + 3));
    }
  }
  return hash.value;
}
