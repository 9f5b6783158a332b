// Repeats the solves that the native engine has written (lab/web).

/** Makes what a case needs; `solve(i)` solves its i-th goal and returns the report. */
export function prepare({ Skeleton, TwoBone, Chain, PointChain, FullBody }, { task, joints, goals, poleDirection, ends }) {
  const goal = (i) => [goals[3 * i], goals[3 * i + 1], goals[3 * i + 2]];
  if (task === "points") {
    const [limbs, out] = [Float32Array.from(goals), new Float32Array((goals.length / 12) * 8)];
    return { count: goals.length / 12, out, many: () => TwoBone.solvePoints(limbs, out) };
  }
  const skeleton = Skeleton.from(joints.map((joint) => ({ ...joint, parent: joint.parent < 0 ? null : joint.parent })));
  const pose = skeleton.rest();
  const count = goals.length / 3;
  const positions = Float32Array.from(goals);
  if (task === "point chain") {
    const rest = pose.modelPositions();
    const chain = new PointChain(rest);
    const points = rest.slice();
    const solve = (i) => (points.set(rest), chain.solve(points, goal(i)));
    return { count, solve, answer: () => points };
  }
  if (task === "body") {
    const body = new FullBody(skeleton, 0, ends);
    const each = (i) => ends.map((_, k) => ({ position: goal(i * ends.length + k) }));
    const solve = (i) => (pose.reset(), body.solve(pose, each(i)));
    return { count: count / ends.length, solve, answer: () => pose.rotations };
  }
  const last = joints.length - 1;
  const limb = task.endsWith("limb");
  const solver = limb
    ? new TwoBone(skeleton, 0, 1, 2, { withinLimits: task === "limited limb" })
    : new Chain(skeleton, 0, last, { solver: task });
  const following = task === "following limb";
  const solve = (i) => {
    if (!following) pose.reset();
    return solver.solve(pose, { position: goal(i), ...(poleDirection && { poleDirection }) });
  };
  const out = new Float32Array((limb ? 8 : 4 * joints.length) * count);
  const many = () => solver.solveMany(pose, positions, out);
  return { count, solve, many, pose, solver, out, answer: () => pose.rotations };
}

/** FNV-1a over words. */
export class Hash {
  value = 0x811c9dc5;

  add(floats) {
    const words = new Uint32Array(floats.buffer, floats.byteOffset, floats.length);
    for (const word of words) this.value = Math.imul(this.value ^ word, 0x01000193) >>> 0;
  }
}
