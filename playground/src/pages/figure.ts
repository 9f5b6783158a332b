/** The page Figure: a whole body that is dragged, follows goals, and looks. */

import type { Core, DrawList, Pose, Report } from "sinew/core";

import { rust, typescript } from "../body/code.ts";
import { bodySkeleton, EASE, index, JOINTS, NAMES, numbersOf, parentOf, place } from "../body/joints.ts";
import { ownCharacter } from "../body/own.ts";
import { Mannequin } from "../body/mannequin.ts";
import { list, literal, reals } from "../figure/copy.ts";
import { choice, flag, numbers, point3, rounded, type StateOf } from "../figure/fields.ts";
import { Figure } from "../figure/figure.ts";
import { drawDrop, drawFloor } from "../figure/floor.ts";
import { apart, coordinates, degrees, fixed } from "../figure/format.ts";
import { Solids } from "../figure/solids.ts";
import { spaceView, type Point3 } from "../figure/view.ts";
import { start } from "../page.ts";
import { CROSS, dashed, triple, type Xyz } from "../shapes.ts";

const FAR = 5;
const POSE = { min: -4, max: 4 };
const SIZE = 3 + 3 * NAMES.length;
const poseField = () => numbers(EASE, POSE, { min: SIZE, max: SIZE });

const view = () => spaceView({ target: [0, 0.9, 0], radius: 1.08, yaw: 28, pitch: 8 });
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** A joint of a limb, and those above it on the limb. */
function limb(name: string): string[] {
  const parent = parentOf(name);
  return parent === null || !name.includes(" ") ? [] : [name, ...limb(parent)];
}

/** A skeleton, a pose on it, and the solids that show it. */
function body(core: Core) {
  const skeleton = bodySkeleton(core);
  const pose: Pose = skeleton.rest();
  const solids = new Solids(1.3);
  const mannequin = new Mannequin(solids);
  const at = (name: string): Xyz => triple(pose.model(index(name)).position);
  return { skeleton, pose, solids, mannequin, at };
}

type Probe = { tip: Xyz } & Record<string, unknown>;

// Any joint, dragged

type Way = "ik" | "fk";
const GRABBED = NAMES.filter((name) => name !== "hips" && name !== "waist" && !name.endsWith("toes") && !name.endsWith("fingers") && !name.endsWith("collar"));
/** Way of a dragged joint from solve to solve, in metres. */
const STEP = 0.025;
const ENDS = { hands: ["left hand", "right hand"], feet: ["left foot", "right foot"] } as const;

function drag(core: Core, drawList: DrawList): void {
  const fields = {
    pose: poseField(),
    joint: choice<string>("right hand", ["hips", ...GRABBED]),
    target: point3([-0.42, 1.05, 0.32], FAR),
    way: choice<Way>("ik", ["ik", "fk"]),
    hands: flag(false),
    feet: flag(true),
  };
  type State = StateOf<typeof fields>;
  const { skeleton, pose, solids, mannequin, at } = body(core);
  let report: Report | undefined;
  const pins = ({ joint, hands, feet }: State) =>
    // What hangs on a limb's joint goes along with it.
    [...(hands ? ENDS.hands : []), ...(feet ? ENDS.feet : [])].filter((name) => !limb(name).includes(joint));
  const turns = (name: string) => parentOf(name) !== null && parentOf(name) !== "hips";
  const figure = new Figure({
    id: "drag",
    fields,
    list: drawList,
    solve(state) {
      const { joint, target, way } = state;
      place(pose.reset(), state.pose);
      if (way === "fk") {
        // The parent alone turns; the hips, which nothing is above, move.
        if (joint === "hips") pose.positions.set(target, 0);
        else if (turns(joint)) {
          const aim = new core.Aim(skeleton, parentOf(joint)!, [...JOINTS[index(joint)]!.at]);
          report = aim.solve(pose, [...target]);
          aim.free();
        }
        return;
      }
      const held = new core.Drag(pose, "hips", joint, pins(state).map((name) => ({ joint: name, turned: true })));
      try {
        // As a hand moves: a drag follows small steps, and lags behind large ones.
        const from = at(joint);
        const steps = Math.max(1, Math.ceil(apart(from, target) / STEP));
        for (let n = 1; n <= steps; n++) {
          report = held.to(pose, { position: from.map((value, axis) => value + ((target[axis]! - value) * n) / steps) });
        }
      } finally {
        held.free();
      }
    },
    read(state) {
      const away = apart(at(state.joint), state.target);
      const held = pins(state);
      const pinned = state.way === "ik" && held.length > 0 ? `; pinned: ${held.join(", ")}` : "";
      const left = away < 0.005 ? "where it is dragged to" : `${fixed(away)} m behind`;
      return `${capital(state.joint)} at ${coordinates(at(state.joint))}, ${left}${pinned}`;
    },
    code: {
      typescript: (state: State) =>
        state.way === "ik"
          ? `${typescript("Drag", state.pose)}
const pins = [${pins(state).map((name) => `"${name}"`).join(", ")}].map((joint) => ({ joint, turned: true }));
const drag = new Drag(pose, "hips", "${state.joint}", pins);
// In steps, as a hand moves.
const [from, to] = [pose.model("${state.joint}").position, [${list(state.target)}]];
const steps = Math.max(1, Math.ceil(Math.hypot(...to.map((value, axis) => value - from[axis])) / ${STEP}));
for (let n = 1; n <= steps; n++) drag.to(pose, { position: to.map((value, axis) => from[axis] + ((value - from[axis]) * n) / steps) });

const [x, y, z] = pose.model("${state.joint}").position;
console.log(x, y, z);
`
          : `${typescript("Aim", state.pose)}
${
  state.joint === "hips"
    ? `pose.positions.set([${list(state.target)}]);`
    : turns(state.joint)
      ? `new Aim(skeleton, "${parentOf(state.joint)}", [${list(JOINTS[index(state.joint)]!.at)}]).solve(pose, [${list(state.target)}]);`
      : "// Nothing turns: the joint is fixed to the hips."
}

const [x, y, z] = pose.model("${state.joint}").position;
console.log(x, y, z);
`,
      rust: (state: State) => {
        const goal = `Vec3::new(${reals(state.target)})`;
        const print = `
    let tip = pose.position(find("${state.joint}")?);
    println!("{} {} {}", tip.x, tip.y, tip.z);
    Ok(())`;
        if (state.way === "ik") {
          const held = pins(state);
          const pinned = held.length > 0 ? `[${held.map((name) => `Pin::pose(find("${name}")?)`).join(", ")}]` : "[]";
          return rust(
            `Goal, JointTransform, Pose, Skeleton, Workspace,
    glam::{DVec3, Quat, Vec3},
    joint::{Dof, Joint, Turning},
    solve::{Drag, Effector${held.length > 0 ? ", Pin" : ""}},`,
            `
    let pins = ${pinned};
    let mut drag = Drag::new(&pose, ids[0], Effector::new(find("${state.joint}")?), &pins)?;
    // In steps, as a hand moves.
    let (from, to) = (pose.position(find("${state.joint}")?), ${goal});
    let steps = (from.distance(to) / ${literal(STEP)}).ceil().max(1.0) as u32;
    let mut workspace = Workspace::new();
    for n in 1..=steps {
        let at = from.lerp(to, n as f32 / steps as f32);
        drag.to(&mut workspace, &mut pose, &Goal::position(at), &Drag::OPTIONS)?;
    }
${print}`,
            state.pose,
          );
        }
        const moves = state.joint === "hips" ? `pose.set_translation(ids[0], ${goal});\n    pose.update();` : `Aim::new(find("${parentOf(state.joint)}")?, Vec3::new(${reals(JOINTS[index(state.joint)]!.at)})).solve(&mut pose, ${goal}, &Options::new())?;`;
        const aims = state.joint !== "hips" && turns(state.joint);
        return rust(
          `JointTransform, Pose, Skeleton,
    glam::{DVec3, Quat, Vec3},
    joint::{Dof, Joint, Turning},${aims ? "\n    solve::{Aim, Options}," : ""}`,
          `
    ${aims || state.joint === "hips" ? moves : "// Nothing turns: the joint is fixed to the hips."}
${print}`,
          state.pose,
        );
      },
    },
    probe: (): Probe => ({
      tip: at(figure.state.joint),
      points: Object.fromEntries(NAMES.map((name) => [name, at(name)])),
      pose: numbersOf(pose),
      reached: report?.reached,
    }),
  });
  const pane = figure.pane("main", {
    view: view(),
    solids: solids.scene,
    draw(list, theme, pixel) {
      const { joint, target } = figure.state;
      solids.show(theme);
      mannequin.show(pose);
      drawFloor(list, theme, 1.2);
      drawDrop(list, at(joint));
      if (apart(at(joint), target) > 0.01) dashed(list, at(joint), target, "residual");
      for (const name of figure.state.way === "ik" ? pins(figure.state) : []) list.goal([...at(name)], CROSS * pixel);
    },
  });
  for (const name of [...GRABBED, "hips"]) {
    pane.handle({
      name: capital(name),
      look: name.endsWith("hand") ? "target" : "joint",
      at: () => at(name),
      move: ([x, y, z]: Point3) => figure.set({ pose: numbersOf(pose), joint: name, target: [x, Math.max(y, 0.02), z] }),
      step: 0.03,
    });
  }
  figure.controls.choice<Way>({
    label: "What moves",
    options: [
      ["ik", "all above it"],
      ["fk", "one joint"],
    ],
    get: () => figure.state.way,
    set: (way) => figure.set({ pose: numbersOf(pose), target: at(figure.state.joint), way }),
  });
  const pinned = (name: "hands" | "feet") =>
    figure.controls.toggle({
      label: `Pin the ${name}`,
      get: () => figure.state[name],
      set: (on) => figure.set({ pose: numbersOf(pose), target: at(figure.state.joint), [name]: on }),
      enabled: () => figure.state.way === "ik",
    });
  pinned("feet");
  pinned("hands");
  figure.controls.button({ label: "Start again", press: () => figure.reset() });
}

// Nine goals

const GOALS = ["head", "chest", "hips", "left hand", "right hand", "left knee", "right knee", "left foot", "right foot"] as const;
type GoalName = (typeof GOALS)[number];
type Which = "all" | "limbs" | "few";
const USED: Record<Which, readonly GoalName[]> = {
  all: GOALS,
  limbs: ["left hand", "right hand", "left foot", "right foot"],
  few: ["head", "left hand", "right hand"],
};
const MOST = 10;

function goals(core: Core, drawList: DrawList): void {
  const made = body(core);
  const { skeleton, pose, solids, mannequin, at } = made;
  place(pose, EASE);
  const targets = GOALS.flatMap((name) => [...at(name)]);
  // A step to the side, with a hand that reaches up.
  const shift: Partial<Record<GoalName, Xyz>> = { hips: [-0.06, -0.09, 0.02], chest: [-0.1, -0.08, 0.05], head: [-0.12, -0.08, 0.06], "right hand": [-0.1, 0.75, 0.25], "left foot": [0.12, 0, -0.05], "left knee": [0.06, -0.03, 0.06] };
  GOALS.forEach((name, n) => shift[name]?.forEach((by, axis) => (targets[3 * n + axis]! += by)));
  const fields = {
    targets: numbers(targets.map(rounded), { min: -FAR, max: FAR }, { min: 27, max: 27 }),
    weights: numbers(GOALS.map(() => 1), { min: 0, max: MOST }, { min: 9, max: 9 }),
    which: choice<Which>("all", ["all", "limbs", "few"]),
    last: choice<GoalName>("right hand", [...GOALS]),
  };
  type State = StateOf<typeof fields>;
  let solver: { body: InstanceType<Core["FullBody"]>; key: string } | undefined;
  let report: Report;
  const target = ({ targets }: State, name: GoalName): Xyz => triple(targets.slice(3 * GOALS.indexOf(name)));
  const used = ({ which, weights }: State) => USED[which].filter((name) => weights[GOALS.indexOf(name)]! > 0);
  // With head and hands alone, the feet stay where they are.
  const stays = ({ which }: State): readonly (GoalName)[] => (which === "few" ? ENDS.feet : []);
  const weight = (state: State, name: GoalName) => state.weights[GOALS.indexOf(name)]!;
  const feet = Object.fromEntries(ENDS.feet.map((name) => [name, at(name)]));
  /** Joint, weight and place of each goal. */
  const wanted = (state: State) => [
    ...used(state).map((name) => ({ name, weight: weight(state, name), at: target(state, name) })),
    ...stays(state).map((name) => ({ name, weight: 1, at: feet[name]! })),
  ];
  const make = (state: State) => {
    const key = `${state.which} ${state.weights}`;
    if (solver?.key === key) return solver.body;
    solver?.body.free();
    const effectors = wanted(state).map(({ name, weight }) => ({ joint: name, positionWeight: weight }));
    return (solver = { body: new core.FullBody(skeleton, "hips", effectors, { root: "free", restarts: 0 }), key }).body;
  };
  const figure = new Figure({
    id: "goals",
    fields,
    list: drawList,
    solve(state) {
      place(pose.reset(), EASE);
      if (used(state).length === 0) return;
      report = make(state).solve(pose, wanted(state).map(({ at }) => ({ position: [...at] })));
    },
    read(state) {
      const off = used(state).map((name) => [name, apart(at(name), target(state, name))] as const).filter(([, away]) => away > 0.01);
      const worst = off.sort((a, b) => b[1] - a[1])[0];
      const count = used(state).length;
      return worst ? `${count - off.length} of ${count} goals are met; furthest away is the ${worst[0]}, by ${fixed(worst[1])} m` : `All ${count} goals are met`;
    },
    code: {
      typescript: (state: State) => `${typescript("FullBody", EASE)}
const effectors = [
${wanted(state).map(({ name, weight }) => `  { joint: "${name}", positionWeight: ${rounded(weight)} },`).join("\n")}
];
const body = new FullBody(skeleton, "hips", effectors, { root: "free", restarts: 0 });
const report = body.solve(pose, [
${wanted(state).map(({ at }) => `  { position: [${list(at)}] },`).join("\n")}
]);
if (!report.reached) console.error(\`\${report.positionResidual} m away\`);

const [x, y, z] = pose.model("${state.last}").position;
console.log(x, y, z);
`,
      rust: (state: State) =>
        rust(
          `Goal, JointTransform, Pose, Skeleton, Workspace,
    glam::{DVec3, Quat, Vec3},
    joint::{Dof, Joint, Turning},
    solve::{Effector, FullBody, FullBodyOptions, RootMode},`,
          `
    // Joint, weight and place of each goal.
    let wanted = [
${wanted(state).map(({ name, weight, at }) => `        ("${name}", ${literal(weight)}, [${reals(at)}]),`).join("\n")}
    ];
    let (mut effectors, mut goals) = (Vec::new(), Vec::new());
    for (name, weight, at) in wanted {
        effectors.push(Effector::new(find(name)?).with_position_weight(weight));
        goals.push(Goal::position(Vec3::from(at)));
    }
    let body = FullBody::new(&skeleton, ids[0], &effectors)?;
    let options = FullBodyOptions::new().with_root(RootMode::Free).with_max_restarts(0);
    let report = body.solve(&mut Workspace::new(), &mut pose, &goals, &options)?;
    if !report.reached() {
        eprintln!("{} m away", report.position_residual);
    }

    let tip = pose.position(find("${state.last}")?);
    println!("{} {} {}", tip.x, tip.y, tip.z);
    Ok(())`,
          EASE,
        ),
    },
    probe: (): Probe => ({
      tip: at(figure.state.last),
      points: Object.fromEntries(NAMES.map((name) => [name, at(name)])),
      pose: numbersOf(pose),
      reached: report?.reached,
    }),
  });
  const pane = figure.pane("main", {
    view: view(),
    solids: solids.scene,
    draw(list, theme, pixel) {
      solids.show(theme);
      mannequin.show(pose);
      drawFloor(list, theme, 1.2);
      drawDrop(list, target(figure.state, figure.state.last));
      for (const name of used(figure.state)) {
        const to = target(figure.state, name);
        if (apart(at(name), to) > 0.01) dashed(list, at(name), to, "residual");
        list.goal([...to], CROSS * pixel);
      }
    },
  });
  for (const name of GOALS) {
    pane.handle({
      name: capital(name),
      look: "target",
      at: () => (USED[figure.state.which].includes(name) ? target(figure.state, name) : undefined),
      move([x, y, z]) {
        const targets = [...figure.state.targets];
        targets.splice(3 * GOALS.indexOf(name), 3, x, Math.max(y, 0), z);
        figure.set({ targets, last: name });
      },
      step: 0.03,
    });
  }
  figure.controls.choice<Which>({
    label: "Goals",
    options: [
      ["all", "all nine"],
      ["limbs", "limbs"],
      ["few", "head and hands"],
    ],
    get: () => figure.state.which,
    set: (which) => figure.set({ which, last: USED[which].includes(figure.state.last) ? figure.state.last : "right hand" }),
  });
  figure.controls.slider({
    label: "Weight",
    ...{ min: 0, max: MOST, step: 0.1, format: (value: number) => `${figure.state.last}: ${fixed(value, 1)}` },
    get: () => figure.state.weights[GOALS.indexOf(figure.state.last)]!,
    set(value) {
      const weights = [...figure.state.weights];
      weights[GOALS.indexOf(figure.state.last)] = value;
      figure.set({ weights });
    },
  });
  figure.controls.button({ label: "Start again", press: () => figure.reset() });
}

// A look

const LINE = [
  { joint: "waist", share: 0.12, cone: 0.35 },
  { joint: "chest", share: 0.2, cone: 0.35 },
  { joint: "neck", share: 0.45, cone: 0.7 },
  { joint: "head", cone: 0.9 },
] as const;

function look(core: Core, drawList: DrawList): void {
  const fields = { target: point3([-0.5, 1.35, 0.8], FAR), shared: flag(true) };
  type State = StateOf<typeof fields>;
  const { skeleton, pose, solids, mannequin, at } = body(core);
  const settings = { axis: [0, 0, 1] as Point3, offset: [0, 0.1, 0.09] as Point3 };
  const looks = { on: new core.LookAt(skeleton, [...LINE], settings), off: new core.LookAt(skeleton, [LINE[3]], settings) };
  let report: Report;
  /** The point between the eyes, and the direction in which they look. */
  const eyes = (): { from: Xyz; ahead: Xyz } => {
    const { position, rotation } = pose.model("head");
    const turn = ([x, y, z]: Xyz): Xyz => {
      const [a, b, c, w] = rotation as unknown as [number, number, number, number];
      const t = [2 * (b * z - c * y), 2 * (c * x - a * z), 2 * (a * y - b * x)] as const;
      return [x + w * t[0] + b * t[2] - c * t[1], y + w * t[1] + c * t[0] - a * t[2], z + w * t[2] + a * t[1] - b * t[0]];
    };
    const from = turn(settings.offset);
    return { from: triple(from.map((value, axis) => value + position[axis]!)), ahead: turn([0, 0, 1]) };
  };
  const off = (): number => {
    const { from, ahead } = eyes();
    const to = figure.state.target.map((value, axis) => value - from[axis]!);
    const cosine = to.reduce((sum, value, axis) => sum + value * ahead[axis]!, 0) / Math.hypot(...to);
    return Math.acos(Math.min(Math.max(cosine, -1), 1));
  };
  const figure = new Figure({
    id: "look",
    fields,
    list: drawList,
    solve({ target, shared }) {
      place(pose.reset(), EASE);
      report = looks[shared ? "on" : "off"].solve(pose, [...target]);
    },
    read({ target }) {
      const left = off();
      return `Target at ${coordinates(target)}; ${left < 0.01 ? "the figure looks at it" : `it is ${degrees(left)} away from where the figure looks`}`;
    },
    code: {
      typescript: ({ target, shared }: State) => `${typescript("LookAt", EASE)}
const line = [
${(shared ? LINE : [LINE[3]]).map((one) => `  { joint: "${one.joint}", ${"share" in one ? `share: ${one.share}, ` : ""}cone: ${one.cone} },`).join("\n")}
];
new LookAt(skeleton, line, { axis: [0, 0, 1], offset: [${list(settings.offset)}] }).solve(pose, [${list(target)}]);

const [x, y, z] = pose.model("crown").position;
console.log(x, y, z);
`,
      rust: ({ target, shared }: State) =>
        rust(
          `JointTransform, Pose, Skeleton,
    glam::{DVec3, Quat, Vec3},
    joint::{Dof, Joint, Turning},
    solve::{LookAt, LookJoint, Options},`,
          `
    let line = [
${(shared ? LINE : [LINE[3]]).map((one) => `        LookJoint::new(find("${one.joint}")?)${"share" in one ? `.with_share(${literal(one.share)})` : ""}.with_cone(${literal(one.cone)}),`).join("\n")}
    ];
    let mut look = LookAt::new(&skeleton, &line, Vec3::Z)?;
    look.offset = Vec3::new(${reals(settings.offset)});
    look.solve(&mut look.state(), &mut pose, Vec3::new(${reals(target)}), &Options::new())?;

    let tip = pose.position(find("crown")?);
    println!("{} {} {}", tip.x, tip.y, tip.z);
    Ok(())`,
          EASE,
        ),
    },
    probe: (): Probe => ({ tip: at("crown"), ...eyes(), off: off(), pose: numbersOf(pose), reached: report.reached }),
  });
  const pane = figure.pane("main", {
    view: spaceView({ target: [0, 1.2, 0.1], radius: 0.95, yaw: 30, pitch: 8 }),
    solids: solids.scene,
    draw(list, theme, pixel) {
      const { target } = figure.state;
      solids.show(theme);
      mannequin.show(pose);
      drawFloor(list, theme, 1.2);
      drawDrop(list, target);
      const { from, ahead } = eyes();
      const reach = apart(from, target);
      const end = triple(from.map((value, axis) => value + ahead[axis]! * reach));
      dashed(list, from, end, "reference");
      if (apart(end, target) > 0.02) dashed(list, end, target, "residual");
      list.goal([...target], CROSS * pixel);
    },
  });
  pane.handle({ name: "Target", look: "target", at: () => figure.state.target, move: ([x, y, z]) => figure.set({ target: [x, Math.max(y, 0), z] }), step: 0.05 });
  figure.controls.toggle({ label: "The spine turns too", get: () => figure.state.shared, set: (shared) => figure.set({ shared }) });
  figure.motion("Walk around", (seconds) => ({ target: [1.1 * Math.sin(0.8 * seconds), 1.45 + 0.3 * Math.sin(1.1 * seconds), 1.1 * Math.cos(0.8 * seconds)] as const }));
  figure.controls.button({ label: "Start again", press: () => figure.reset() });
}

await start((core, drawList) => {
  drag(core, drawList);
  goals(core, drawList);
  look(core, drawList);
  ownCharacter(drawList);
});
