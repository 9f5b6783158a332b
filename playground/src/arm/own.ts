/** The reader's own robot, in joint space. */

import type { DrawList } from "sinew/core";
import type { Files, JointSpaceSolver, LinkGoal, Mechanism, Report } from "sinew/files";

import type { Controls } from "../figure/controls.ts";
import { literal } from "../figure/copy.ts";
import { takeFiles } from "../figure/drop.ts";
import { flag, numbers, point3, rounded, type StateOf } from "../figure/fields.ts";
import { Figure } from "../figure/figure.ts";
import { drawDrop, drawFloor } from "../figure/floor.ts";
import { apart, degrees, fixed } from "../figure/format.ts";
import { Solids } from "../figure/solids.ts";
import { spaceView } from "../figure/view.ts";
import { CROSS, dashed, triple, type Xyz } from "../shapes.ts";
import { BENT, EXAMPLE } from "./example.ts";
import { Machine, MachineSolids, tips } from "./machine.ts";

const FAR = 3;
/** Largest count of degrees of freedom that get a slider. */
const SLIDERS = 30;
/** Largest count of links that are drawn. */
const LINKS = 1000;

/** A robot that is shown. */
interface Shown {
  machine: Machine;
  solver: JointSpaceSolver;
  parts: MachineSolids;
  /** Name of its file; undefined for the example. */
  file: string | undefined;
}

/** Makes the figure. The engine's files are loaded once it comes near the screen. */
export function ownRobot(drawList: DrawList): void {
  const fields = {
    target: point3([0.42, 0.42, 0.3], FAR),
    down: flag(false),
    values: numbers(BENT, { min: -1e4, max: 1e4 }, { min: 1, max: 200 }),
  };
  type State = StateOf<typeof fields>;
  let files: Files;
  let shown: Shown | undefined;
  let values: Float64Array = new Float64Array();
  let goal: Xyz = [0, 0, 0];
  let report: Report | undefined;
  const solids = new Solids(0.9);

  const tip = ({ machine }: Shown): Xyz => triple(machine.at(values).subarray(7 * machine.tip, 7 * machine.tip + 3));
  const named = ({ machine: { mechanism, tip } }: Shown) => mechanism.links[tip]!.name;
  const goals = ({ machine }: Shown, { target, down }: State): LinkGoal[] => {
    const position = machine.meant(target);
    if (!down) return [{ position }];
    // The tool's z axis points to the floor, far below.
    const [x, y, z] = position;
    return [{ position }, { lookAt: { axis: [0, 0, 1], point: [x, y, z - 1000 / machine.scale] } }];
  };
  const figure = new Figure({
    id: "own",
    fields,
    list: drawList,
    solve(state) {
      if (shown === undefined) return;
      const { machine } = shown;
      values = machine.mechanism.rest();
      if (state.values.length === values.length) values.set(state.values);
      machine.mechanism.clamp(values);
      goal = machine.meant(state.target);
      const wanted = goals(shown, state);
      if (shown.solver.length !== wanted.length) {
        shown.solver.free();
        shown.solver = solverOf(machine, wanted.length);
      }
      // From where the arm is, and nowhere else: it must not leap. It is near already, so that few iterations serve.
      report = shown.solver.solve(values, wanted, { restarts: 0, iterations: 60, tolerance: 1e-5 / machine.scale, rotationTolerance: 1e-4 });
    },
    read() {
      if (shown === undefined || report === undefined) return "";
      const { machine } = shown;
      const away = report.positionResidual;
      const off = report.rotationResidual > 0.01 ? `, ${degrees(report.rotationResidual)} off` : "";
      const held = machine.mechanism.dofs.filter(({ min, max }, n) => values[n]! < min + 1e-6 || values[n]! > max - 1e-6).map(({ name }) => name);
      const ends = held.length > 0 ? `; at the end of its range: ${held.slice(0, 6).join(", ")}${held.length > 6 ? " and more" : ""}` : "";
      const has = away > 2e-3 / machine.scale || off ? `is ${fixed(away, 3)} m away${off}` : "is at the target";
      return `${machine.mechanism.name}: ${named(shown)} ${has}${ends}`;
    },
    code: {
      typescript: (state: State) => typescript(shown, goals, state),
      rust: (state: State) => rust(shown, goals, state),
    },
    probe: () => ({
      tip: shown && tip(shown),
      robot: shown?.machine.mechanism.name,
      values: [...values],
      ranges: shown?.machine.mechanism.dofs.map(({ min, max }) => [min, max]),
      reached: report?.reached,
      goal,
      frames: shown && [...shown.machine.at(values)],
      links: shown?.machine.mechanism.links.map(({ name }) => name),
    }),
  });
  const pane = figure.pane("main", {
    view: spaceView({ target: [0.05, 0.38, 0], radius: 0.75, yaw: 32, pitch: 20 }),
    solids: solids.scene,
    draw(list, theme, pixel) {
      solids.show(theme);
      drawFloor(list, theme, 1);
      if (shown === undefined) return;
      const { target } = figure.state;
      const at = shown.machine.shown(tip(shown));
      shown.parts.show(shown.machine.at(values), target);
      drawDrop(list, target);
      if (apart(at, target) > 0.01) dashed(list, at, target, "residual");
      list.goal(target, CROSS * pixel);
    },
  });
  pane.handle({
    name: "Target",
    look: "target",
    at: () => (shown ? figure.state.target : undefined),
    move: ([x, y, z]) => figure.set({ values: [...values], target: [x, Math.max(y, 0), z] }),
    step: 0.05,
  });

  takeFiles(figure, "Open a URDF", [".urdf", ".xml"], async (file) => {
    files ??= await (await import("sinew/files")).load();
    const mechanism = files.readUrdf(await file.text(), file.name);
    const { length } = mechanism.links;
    if (length > LINKS) {
      mechanism.free();
      throw new Error(`${file.name} has ${length} links; at most ${LINKS} are shown here`);
    }
    show(mechanism, tips(mechanism)[0]!, file.name);
  });
  figure.controls.button({
    label: "The example",
    press: () => {
      example();
      figure.reset();
    },
    enabled: () => shown?.file !== undefined,
  });
  figure.controls.select({
    label: "Ends with",
    options: () => (shown ? tips(shown.machine.mechanism).map((link) => shown!.machine.mechanism.links[link]!.name) : []),
    get: () => (shown ? named(shown) : ""),
    set: (name) => shown && show(shown.machine.mechanism, shown.machine.mechanism.link(name), shown.file),
  });
  figure.controls.toggle({
    label: "Points downwards",
    get: () => figure.state.down,
    set: (down) => figure.set({ values: [...values], down }),
  });
  const sliders = figure.controls.group();

  function solverOf({ mechanism, tip }: Machine, count: number): JointSpaceSolver {
    return new files.JointSpaceSolver(mechanism, Array.from({ length: count }, () => tip));
  }

  /** Shows a robot at rest, its target where it ends. An error leaves what is shown. */
  function show(mechanism: Mechanism, link: number, file: string | undefined): void {
    const machine = new Machine(mechanism, link);
    const solver = solverOf(machine, 1);
    const before = shown;
    before?.parts.remove();
    before?.solver.free();
    if (before !== undefined && before.machine.mechanism !== mechanism) before.machine.mechanism.free();
    shown = { machine, solver, parts: new MachineSolids(solids, machine), file };
    values = mechanism.rest();
    addSliders(sliders, mechanism);
    const [x, y, z] = machine.shown(tip(shown));
    if (file !== undefined || before !== undefined) figure.set({ values: [...values], target: [x, Math.max(y, 0), z], down: false });
  }

  function example(): void {
    const mechanism = files.readUrdf(EXAMPLE, "rail_arm.urdf");
    show(mechanism, mechanism.link("tool"), undefined);
  }

  function addSliders(group: Controls, { dofs }: Mechanism): void {
    group.clear();
    const short = shortened(dofs.map(({ name }) => name));
    for (const [n, { min, max, slides }] of dofs.slice(0, SLIDERS).entries()) {
      const all = slides ? 1 / shown!.machine.scale : Math.PI;
      const [least, most] = [Number.isFinite(min) ? min : -all, Number.isFinite(max) ? max : all];
      group.slider({
        label: short[n]!,
        ...{ min: least, max: most, step: (most - least) / 1000 || 1e-3, format: (value) => (slides ? `${fixed(value)} m` : degrees(value)) },
        get: () => values[n]!,
        set(value) {
          values[n] = value;
          const [x, y, z] = shown!.machine.shown(tip(shown!));
          figure.set({ values: [...values], target: [x, y, z], down: false });
        },
      });
    }
  }

  figure.later(async () => {
    files ??= await (await import("sinew/files")).load();
    if (shown === undefined) example();
  });
}

/** Names without the words that all begin or end with. */
function shortened(names: readonly string[]): string[] {
  const common = (words: readonly string[]) => {
    const [first = ""] = words;
    let length = 0;
    while (length < first.length && words.every((word) => word[length] === first[length])) length++;
    // Whole words only.
    return words.length > 1 ? first.slice(0, length).search(/[^_\s]*$/) : 0;
  };
  const turned = (word: string) => [...word].reverse().join("");
  const [start, end] = [common(names), common(names.map(turned))];
  return names.map((name) => (name.length > start + end ? name.slice(start, name.length - end) : name));
}

const listed = (at: readonly number[]) => at.map(rounded).join(", ");
const real = (at: readonly number[]) => at.map(literal).join(", ");

function typescript(shown: Shown | undefined, goals: (shown: Shown, state: any) => LinkGoal[], state: { values: readonly number[] }): string {
  if (shown === undefined) return "";
  const { machine, file } = shown;
  const { mechanism } = machine;
  const wanted = goals(shown, state);
  const text = file === undefined ? `\`${EXAMPLE}\`` : `await (await fetch(${JSON.stringify(file)})).text()`;
  const position = wanted[0]!.position as Xyz;
  const look = wanted[1]?.lookAt;
  const name = JSON.stringify(mechanism.links[machine.tip]!.name);
  return `import { load } from "sinew/files";

const { JointSpaceSolver, readUrdf } = await load();
const arm = readUrdf(${text});
const tip = ${name};
const solver = new JointSpaceSolver(arm, [${look ? "tip, tip" : "tip"}]);

// The values of its joints before the target moved, in radians and metres.
const values = Float64Array.of(${listed(startOf(mechanism, state))});
const report = solver.solve(values, [
  { position: [${listed(position)}] },${look ? `\n  { lookAt: { axis: [0, 0, 1], point: [${listed(look.point as Xyz)}] } },` : ""}
], { restarts: 0 });
if (!report.reached) console.error(\`\${report.positionResidual} m and \${report.rotationResidual} rad away\`);

const [x, y, z] = arm.forward(values).subarray(7 * arm.link(tip));
console.log(x, y, z);
`;
}

function rust(shown: Shown | undefined, goals: (shown: Shown, state: any) => LinkGoal[], state: { values: readonly number[] }): string {
  if (shown === undefined) return "";
  const { machine, file } = shown;
  const { mechanism } = machine;
  const wanted = goals(shown, state);
  const position = wanted[0]!.position as Xyz;
  const look = wanted[1]?.lookAt;
  const read = file === undefined ? `urdf::parse(ARM, "rail_arm.urdf".as_ref())?` : `urdf::read(${JSON.stringify(file)}.as_ref())?`;
  return `use std::error::Error;

use sinew::{
    Workspace,
    glam::DVec3,
    mechanism::{JointSpaceOptions, JointSpaceSolver, LinkFrames, LinkGoal, LinkTarget},
};
use sinew_files::urdf;
${file === undefined ? `\nconst ARM: &str = r#"${EXAMPLE}"#;\n` : ""}
fn main() -> Result<(), Box<dyn Error>> {
    let arm = ${read};
    let tip = arm.find_link(${JSON.stringify(mechanism.links[machine.tip]!.name)}).ok_or("there is no such link")?;
    let goals = [
        LinkGoal::new(&arm, tip, LinkTarget::Position(DVec3::new(${real(position)}))),${
          look ? `\n        LinkGoal::new(&arm, tip, LinkTarget::LookAt(DVec3::Z, DVec3::new(${real(look.point as Xyz)}))),` : ""
        }
    ];
    let solver = JointSpaceSolver::new(&arm, &goals)?;

    // The values of its joints before the target moved, in radians and metres.
    let mut values = [${real(startOf(mechanism, state))}];
    let options = JointSpaceOptions::new().with_max_restarts(0);
    let report = solver.solve(&mut Workspace::new(), &goals, &mut values, &options)?;
    if !report.reached() {
        eprintln!("{} m and {} rad away", report.position_residual, report.rotation_residual);
    }

    let mut frames = LinkFrames::new(&arm);
    arm.forward_kinematics(&values, &mut frames)?;
    let at = arm.link_transform(&frames, tip).translation;
    println!("{} {} {}", at.x, at.y, at.z);
    Ok(())
}
`;
}

function startOf(mechanism: Mechanism, { values }: { values: readonly number[] }): number[] {
  const start = mechanism.rest();
  if (values.length === start.length) start.set(values);
  return [...mechanism.clamp(start)];
}
