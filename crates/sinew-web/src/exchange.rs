//! Numbers in and out of calls, at places that `js/exchange.ts` has too.
//!
//! The memory belongs to this thread and never moves. JavaScript writes it before a call and reads it after.

use core::cell::{Cell, RefCell};

use sinew::{
    Goal, JointTransform, Outcome, Pole, Report, Workspace,
    glam::{Quat, Vec3},
    solve::{IterativeOptions, LimbOptions, Tolerance},
};
use wasm_bindgen::prelude::wasm_bindgen;

/// Count of numbers.
const LENGTH: usize = 256;
/// First number of a goal: flags, position, rotation, pole, swivel, influences of position and rotation.
const GOAL: usize = 0;
/// First number of a solver's options.
const OPTIONS: usize = 16;
/// First number of a report.
pub(crate) const REPORT: usize = 32;
/// First number of all else: transforms, joints, vectors.
pub(crate) const OTHER: usize = 48;

const POSITION: u32 = 1;
const ROTATION: u32 = 2;
const POLE_POINT: u32 = 4;
const POLE_DIRECTION: u32 = 8;

thread_local! {
    static NUMBERS: [Cell<f64>; LENGTH] = const { [const { Cell::new(0.0) }; LENGTH] };
    static WORKSPACE: RefCell<Workspace> = const { RefCell::new(Workspace::new()) };
}

/// Address of the exchange in the module's memory, in bytes.
#[wasm_bindgen(js_name = exchangeAddress)]
pub fn exchange_address() -> usize {
    NUMBERS.with(|numbers| numbers.as_ptr() as usize)
}

/// Runs `body` with the scratch memory of all solvers.
pub(crate) fn with_workspace<T>(body: impl FnOnce(&mut Workspace) -> T) -> T {
    WORKSPACE.with(|workspace| body(&mut workspace.borrow_mut()))
}

/// The number at a place.
pub(crate) fn read(at: usize) -> f64 {
    NUMBERS.with(|numbers| numbers[at].get())
}

/// The numbers from a place on.
pub(crate) fn read_f32<const N: usize>(at: usize) -> [f32; N] {
    NUMBERS.with(|numbers| core::array::from_fn(|i| numbers[at + i].get() as f32))
}

/// Writes numbers from a place on.
pub(crate) fn write<T: Copy + Into<f64>>(at: usize, values: &[T]) {
    NUMBERS.with(|numbers| {
        for (i, &value) in values.iter().enumerate() {
            numbers[at + i].set(value.into());
        }
    });
}

pub(crate) fn read_vector(at: usize) -> Vec3 {
    Vec3::from_array(read_f32(at))
}

/// The transform of a joint: translation, rotation, scale.
pub(crate) fn read_transform(at: usize) -> JointTransform {
    let [x, y, z, qx, qy, qz, qw, sx, sy, sz] = read_f32(at);
    let mut transform = JointTransform::from_translation(Vec3::new(x, y, z));
    transform.rotation = Quat::from_xyzw(qx, qy, qz, qw);
    transform.scale = Vec3::new(sx, sy, sz);
    transform
}

/// The goal that JavaScript has written.
pub(crate) fn read_goal() -> Goal {
    let n: [f32; 14] = read_f32(GOAL);
    let vector = |i: usize| Vec3::new(n[i], n[i + 1], n[i + 2]);
    let flags = n[0] as u32;
    let mut goal = Goal::NONE;
    if flags & POSITION != 0 {
        goal.position = Some(vector(1));
    }
    if flags & ROTATION != 0 {
        goal.rotation = Some(Quat::from_xyzw(n[4], n[5], n[6], n[7]));
    }
    goal.pole = match flags & (POLE_POINT | POLE_DIRECTION) {
        POLE_POINT => Pole::Point(vector(8)),
        POLE_DIRECTION => Pole::Direction(vector(8)),
        _ => Pole::Keep,
    };
    [goal.swivel, goal.position_influence, goal.rotation_influence] = [n[11], n[12], n[13]];
    goal
}

/// Leaves a goal to JavaScript.
#[cfg(feature = "whole")]
pub(crate) fn write_goal(goal: &Goal) {
    let (flag, pole) = match goal.pole {
        Pole::Point(point) => (POLE_POINT, point),
        Pole::Direction(direction) => (POLE_DIRECTION, direction),
        _ => (0, Vec3::ZERO),
    };
    let set = |part: bool, flag: u32| if part { flag } else { 0 };
    let flags = set(goal.position.is_some(), POSITION) | set(goal.rotation.is_some(), ROTATION) | flag;
    write(GOAL, &[flags]);
    write(GOAL + 1, &goal.position.unwrap_or_default().to_array());
    write(GOAL + 4, &goal.rotation.unwrap_or_default().to_array());
    write(GOAL + 8, &pole.to_array());
    write(GOAL + 11, &[goal.swivel, goal.position_influence, goal.rotation_influence]);
}

/// The options that JavaScript has written, for a limb and for a chain.
pub(crate) fn read_options() -> (LimbOptions, IterativeOptions) {
    let [influence, max_turn, soft, tolerance, metres, turned, iterations, restarts, min_flexion] =
        read_f32(OPTIONS);
    let limb = LimbOptions::new()
        .with_influence(influence)
        .with_max_turn(max_turn)
        .with_soft(soft)
        .with_min_flexion(min_flexion);
    let count = |given: f32| (given >= 0.0).then_some(given as u32);
    let mut chain = IterativeOptions::new()
        .with_influence(influence)
        .with_max_turn(max_turn)
        .with_soft(soft)
        .with_position_tolerance(if metres == 0.0 {
            Tolerance::Share(tolerance)
        } else {
            Tolerance::Metres(tolerance)
        })
        .with_rotation_tolerance(turned);
    chain.max_iterations = count(iterations);
    chain.max_restarts = count(restarts);
    (limb, chain)
}

/// Leaves a report to JavaScript.
pub(crate) fn write_report(report: &Report) {
    let outcome = match report.outcome {
        Outcome::Converged => 0.0,
        Outcome::Stalled => 1.0,
        _ => 2.0,
    };
    write(
        REPORT,
        &[
            outcome,
            f64::from(report.out_of_reach),
            f64::from(report.iterations),
            f64::from(report.restarts),
            f64::from(report.position_residual),
            f64::from(report.rotation_residual),
            f64::from(report.position_tolerance),
            f64::from(report.rotation_tolerance),
            f64::from(u8::from(report.branch_changed)),
        ],
    );
}
