/** The reader's own character, whose ends follow goals. */

import type { DrawList } from "sinew/core";
import type { Files, FullBody, Pose, Report } from "sinew/files";

import { literal } from "../figure/copy.ts";
import { takeFiles } from "../figure/drop.ts";
import { number, numbers, rounded, type StateOf } from "../figure/fields.ts";
import { Figure } from "../figure/figure.ts";
import { drawDrop, drawFloor } from "../figure/floor.ts";
import { apart, fixed } from "../figure/format.ts";
import { Solids } from "../figure/solids.ts";
import { spaceView } from "../figure/view.ts";
import { CROSS, dashed, type Xyz } from "../shapes.ts";
import type { Character } from "./character.ts";

/** A step to the side, with a hand up, by the ends of a person: hips, head, hands, feet. */
const SHIFT = [-0.05, -0.08, 0.02, -0.1, -0.07, 0.05, 0, 0, 0, -0.05, 0.75, 0.25, 0.1, 0, -0.04, 0, 0, 0];
const MOST = 42;

interface Shown {
  character: Character;
  pose: Pose;
  body: FullBody;
  /** Where the ends are in the pose at first, in the scene. */
  ends: Xyz[];
  file: string | undefined;
}

/** Makes the figure. The engine's files are loaded once it comes near the screen. */
export function ownCharacter(drawList: DrawList): void {
  const fields = {
    // By how much each end is moved from where it is at first, in the scene.
    shifts: numbers(SHIFT, { min: -5, max: 5 }, { min: 3, max: MOST }),
    last: number(3, { min: 0, max: MOST / 3, whole: true }),
  };
  type State = StateOf<typeof fields>;
  let files: Files;
  let shown: Shown | undefined;
  let report: Report | undefined;
  const solids = new Solids(1.4);
  const shift = ({ shifts }: State, n: number): Xyz => [shifts[3 * n] ?? 0, shifts[3 * n + 1] ?? 0, shifts[3 * n + 2] ?? 0];
  const target = ({ ends }: Shown, state: State, n: number): Xyz => {
    const by = shift(state, n);
    return [ends[n]![0] + by[0], ends[n]![1] + by[1], ends[n]![2] + by[2]];
  };
  const last = ({ ends }: Shown, state: State) => Math.min(state.last, ends.length - 1);
  const goals = (of: Shown, state: State) => of.ends.map((_, n) => ({ position: of.character.meant(target(of, state, n)) }));
  const away = (of: Shown, state: State) => of.character.ends.map(({ joint }, n) => apart(of.character.at(of.pose, joint), target(of, state, n)));
  let probed: State = { shifts: [], last: 0 };
  const figure = new Figure({
    id: "own",
    fields,
    list: drawList,
    solve(state) {
      if (shown === undefined) return;
      probed = state;
      shown.pose.copy(shown.character.ease);
      report = shown.body.solve(shown.pose, goals(shown, state));
    },
    read(state) {
      if (shown === undefined) return "";
      const { character } = shown;
      const off = away(shown, state);
      const worst = off.indexOf(Math.max(...off));
      const met = off.filter((distance) => distance < 0.01).length;
      const kind = character.human ? "a person's ranges of motion" : "free joints, as it has no two legs";
      const furthest = met < off.length ? `; furthest away is ${character.ends[worst]!.name}, by ${fixed(off[worst]!)} m` : "";
      return `${character.model.name}: ${character.model.skeleton.length} joints, ${kind}; ${met} of ${off.length} goals are met${furthest}`;
    },
    code: {
      typescript: (state: State) => (shown ? typescript(shown, goals(shown, state), last(shown, state)) : ""),
      rust: (state: State) => (shown ? rust(shown, goals(shown, state), last(shown, state)) : ""),
    },
    probe: () => ({
      tip: shown && [...shown.pose.model(shown.character.ends[last(shown, probed)]!.joint).position],
      model: shown?.character.model.name,
      human: shown?.character.human,
      ends: shown?.character.ends.map(({ name }) => name),
      away: shown && away(shown, probed),
      // The mesh is where the pose is: joints of the scene, and of the pose.
      scene: shown?.character.ends.map(({ joint }) => shown!.character.at(shown!.pose, joint)),
      reached: report?.reached,
    }),
  });
  const pane = figure.pane("main", {
    view: spaceView({ target: [0, 0.88, 0], radius: 1.12, yaw: 26, pitch: 9 }),
    solids: solids.scene,
    draw(list, theme, pixel) {
      solids.show(theme);
      drawFloor(list, theme, 1.4);
      if (shown === undefined) return;
      const { character, pose } = shown;
      const { state } = figure;
      character.show(pose);
      character.ends.forEach(({ joint }, n) => {
        const [at, to] = [character.at(pose, joint), target(shown!, state, n)];
        if (apart(at, to) > 0.01) dashed(list, at, to, "residual");
        list.goal([...to], CROSS * pixel);
      });
      drawDrop(list, target(shown, state, last(shown, state)));
    },
  });

  takeFiles(figure, "Open a character", [".glb", ".vrm", ".gltf", ".bvh"], async (file) => {
    files ??= await (await import("sinew/files")).load();
    await show(new Uint8Array(await file.arrayBuffer()), file.name, file.name);
  });
  figure.controls.button({
    label: "The mannequin",
    press: () => void example().then(() => figure.reset()),
    enabled: () => shown?.file !== undefined,
  });
  figure.controls.button({ label: "At ease", press: () => figure.set({ shifts: SHIFT.map(() => 0) }) });

  /** Shows a character at ease; an error leaves what is shown. */
  async function show(bytes: Uint8Array<ArrayBuffer>, name: string, file: string | undefined): Promise<void> {
    const character = await (await import("./character.ts")).Character.read(files, bytes, name);
    let body: FullBody;
    try {
      const ends = character.ends.map(({ joint }) => joint);
      body = new files.FullBody(character.skeleton, character.root, ends, { root: "free", restarts: 0 });
    } catch (error) {
      character.free();
      throw error;
    }
    const before = shown;
    const ends = character.ends.map(({ joint }) => character.at(character.ease, joint));
    shown = { character, pose: character.ease.clone(), body, ends, file };
    solids.scene.add(character.container);
    before?.body.free();
    before?.pose.free();
    before?.character.free();
    pane.dropHandles(0);
    character.ends.forEach(({ name }, n) =>
      pane.handle({
        name: name.charAt(0).toUpperCase() + name.slice(1),
        look: "target",
        at: () => shown && target(shown, figure.state, n),
        move([x, y, z]) {
          const shifts = Array.from({ length: 3 * ends.length }, (_, i) => figure.state.shifts[i] ?? 0);
          [x, Math.max(y, 0), z].forEach((value, axis) => (shifts[3 * n + axis] = value - ends[n]![axis]!));
          figure.set({ shifts, last: n });
        },
        step: 0.03,
      }),
    );
    if (file !== undefined) figure.set({ shifts: SHIFT.map(() => 0), last: Math.min(3, ends.length - 1) });
  }

  async function example(): Promise<void> {
    const made = files.Model.mannequin();
    const glb = made.toGlb();
    made.free();
    await show(glb, "mannequin.glb", undefined);
  }

  figure.later(async () => {
    files ??= await (await import("sinew/files")).load();
    if (shown === undefined) await example();
  });
}

type Goal = { position: Xyz };
const listed = (at: readonly number[]) => at.map(rounded).join(", ");
const real = (at: readonly number[]) => at.map(literal).join(", ");

function typescript({ character, file }: Shown, goals: readonly Goal[], last: number): string {
  const { human, root, ends } = character;
  const read =
    file === undefined
      ? "Model.mannequin()"
      : `Model.read(await (await fetch(${JSON.stringify(file)})).arrayBuffer(), ${JSON.stringify(file)})`;
  return `import { load } from "sinew/files";

const { FullBody, Model } = await load();
const model = ${read};
${
  human
    ? `const body = model.body();
// With a person's ranges of motion.
const skeleton = body.limited();
const pose = body.standAtEase(skeleton.rest());`
    : `const { skeleton } = model;
const pose = skeleton.rest();`
}

// Joints, and where they are to be, in model space.
const wanted = [
${ends.map(({ name, joint }, n) => `  { joint: ${joint}, position: [${listed(goals[n]!.position)}] }, // ${name.replaceAll(/[^ -~]/g, "?")}`).join("\n")}
];
const solver = new FullBody(skeleton, ${root}, wanted.map(({ joint }) => joint), { root: "free", restarts: 0 });
const report = solver.solve(pose, wanted.map(({ position }) => ({ position })));
if (!report.reached) console.error(\`\${report.positionResidual} m away\`);

const [x, y, z] = pose.model(wanted[${last}].joint).position;
console.log(x, y, z);
`;
}

function rust({ character, file }: Shown, goals: readonly Goal[], last: number): string {
  const { human, root, ends } = character;
  const [body, path] = [human ? "\n    body::{BodyRoles, HumanLimits}," : "", file === undefined ? "sample" : "Model, ReadOptions"];
  return `use std::error::Error;

use sinew::{
    Goal, Pose, Workspace,${body}
    glam::Vec3,
    solve::{Effector, FullBody, FullBodyOptions, RootMode},
};
use sinew_files::${file === undefined ? path : `{${path}}`};

fn main() -> Result<(), Box<dyn Error>> {
    let ${human ? "mut " : ""}model = ${file === undefined ? "sample::mannequin()?" : `Model::read(${JSON.stringify(file)}.as_ref(), &ReadOptions::default())?`};
${
  human
    ? `    let bind = model.bind_pose();
    let body = BodyRoles::find(&bind, &model.declared_roles)?;
    let human = HumanLimits::of(&bind, &body);
    human.apply(std::sync::Arc::make_mut(&mut model.skeleton))?;
    let mut pose = Pose::rest(&model.skeleton);
    human.stand_at_ease(&bind, &body, &mut pose);
`
    : `    let mut pose = Pose::rest(&model.skeleton);
`
}
    // Joints, and where they are to be, in model space.
    let wanted = [
${ends.map(({ name, joint }, n) => `        (${joint}, [${real(goals[n]!.position)}]), // ${name.replaceAll(/[^ -~]/g, "?")}`).join("\n")}
    ];
    let joint = |index| model.skeleton.joint_at(index).ok_or("there is no such joint");
    let (mut effectors, mut goals) = (Vec::new(), Vec::new());
    for (index, at) in wanted {
        effectors.push(Effector::new(joint(index)?));
        goals.push(Goal::position(Vec3::from(at)));
    }
    let body = FullBody::new(&model.skeleton, joint(${root})?, &effectors)?;
    let options = FullBodyOptions::new().with_root(RootMode::Free).with_max_restarts(0);
    let report = body.solve(&mut Workspace::new(), &mut pose, &goals, &options)?;
    if !report.reached() {
        eprintln!("{} m away", report.position_residual);
    }

    let tip = pose.position(joint(wanted[${last}].0)?);
    println!("{} {} {}", tip.x, tip.y, tip.z);
    Ok(())
}
`;
}
