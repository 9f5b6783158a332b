//! Solvers for chains of free joints of any length: [`FreeChain`] on a pose, [`PointChain`] on bare points.

pub(crate) mod bones;
mod fours;
mod newton;
mod point_chain;

pub use point_chain::{PointChain, PointChainOptions};

use alloc::vec::Vec;
use core::cmp::min;

use glam::{Mat3, Quat, Vec3, Vec4};

use super::{
    ChainSolver, ChainSolverError,
    arc::{FAR, distance, twist_towards},
    branch,
    chain_solver::Request,
    chain_state::{self, ChainState, Newton, Part},
    check,
    iterate::Trace,
    nearest::Nearest,
    options::{IterativeOptions, check_stretch},
    parent_space, partial,
    soft::softened,
};
use crate::{
    Chain, ChainError, Goal, JointId, JointTransform, Outcome, Pole, Pose, Report, Skeleton, SolveError,
    Workspace,
    joint::{Attributes, Capability},
    math,
};
use bones::{Bones, Found, ROUNDING, Task};
use fours::{Arcs, THERE, shifted, transposed};

/// Solver for a chain of free joints: a tail, tentacle, spine, rope, or arm without limits. `auto` chooses it for every
/// chain of three or more bones.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, JointTransform, Pose, Skeleton, Workspace, glam::Vec3, solve::{FreeChain, IterativeOptions}};
///
/// let mut builder = Skeleton::builder();
/// let mut joint = builder.add("tail", None, JointTransform::from_translation(Vec3::Y));
/// for name in ["tail 1", "tail 2", "tail 3", "tail 4"] {
///     joint = builder.add(name, Some(joint), JointTransform::from_translation(Vec3::new(0.02, 0.0, -0.2)));
/// }
/// let (skeleton, ids) = builder.build()?;
/// let skeleton = Arc::new(skeleton);
///
/// let tail = FreeChain::new(&skeleton, ids[0], ids[4])?;
/// let mut pose = Pose::rest(&skeleton);
/// let fly = Vec3::new(0.3, 1.2, -0.3);
/// let options = IterativeOptions::new().with_max_turn(3.0);
/// let report = tail.solve(&mut Workspace::new(), &mut pose, &Goal::position(fly), &options)?;
/// assert!(pose.position(ids[4]).distance(fly) < 1e-4);
/// assert!(report.iterations <= 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # The mathematics
///
/// A chain's pose is a set of unit directions v_i, one per bone. The bones' lengths l_i, normalised to sum 1, are their
/// weights. The chain's end lies at S = sum l_i v_i. The map of the unit sphere by a vector x of the unit ball,
///
/// ```text
/// v -> x + (1 - |x|^2) (v + x) / |v + x|^2
/// ```
///
/// draws all directions towards x at once. It is the conformal map that multiplies the tangent of half of each
/// direction's angle to x by (1 - |x|) / (1 + |x|). Small angles scale in proportion, so the chain's bend keeps its shape;
/// no angle passes a half turn. Written with the rapidity vector h (x = tanh(|h| / 2) along h), a small map moves v by
/// h - v (v . h), and so the end by
///
/// ```text
/// dS = H h,   H = sum l_i (1 - v_i v_i^T)
/// ```
///
/// Of all h that move the end by dS, this one turns the bones least (weighted by length). S is the gradient of a
/// function of the map that is convex in hyperbolic space, with Hessian H. Newton's method, h = H^-1 (goal - S),
/// therefore finds the one map that leads to the goal, and has no local minimum in which to stop. For a goal at
/// S = 0, the centre of that map is the conformal barycentre (Douady & Earle 1986; used to close polygons by Millson & Zombro 1996 and
/// Cantarella & Schumacher 2022).
///
/// Near full stretch, a Newton step only halves the residual. If all v_i were at one angle to S, then
///
/// ```text
/// log((1 + |S|) / (1 - |S|)) / 2
/// ```
///
/// would change by exactly |h|. Near full stretch, any chain approaches that case. The solver takes the step's length
/// in this measure, which needs a square root but no logarithm. Goals in reach usually take two or three passes. A
/// chain with one bone longer than all others together also has a smallest reach r. Near it, the measure has the
/// further term log((|S| - r) / (|S| + r)).
///
/// Bones then turn by shortest arcs from their old directions. One further shortest arc turns the whole chain from the
/// end's old direction to the goal's. The animation's roll is kept. If the goal or the end is near the root, that
/// direction means little: the whole-chain turn fades out, and the map leads the end to the goal directly.
///
/// # Where direction is undefined
///
/// - Bones that are exactly parallel stay parallel under any map. Joints within half a degree of straight (or folded)
///   are therefore bent first, by half a degree over the whole chain. The axis is [`bend`](Self::bend), else the normal
///   of the chain's existing bend. Chains with parallel bones that are not neighbours get more of it when the map alone
///   fails.
/// - A goal opposite to the end, seen from the root, does not determine the axis of the turn. The chain turns in its
///   own bend plane.
///
/// # Rotation
///
/// With a tip offset and a goal rotation, the offset's point meets the goal's position while the tip takes the goal's
/// rotation; the solver then refuses a tip that is not free. Rotation comes first: the tip takes it exactly, and the
/// position is met as closely as that rotation permits. The position residual never exceeds that of the input pose with
/// its tip so rotated. Influences between 0 and 1 scale each joint's turn, as swing and twist about its bone. Bones
/// below non-uniform scales change length as joints turn. For such chains, and when iterations (200 by default) run
/// out, the solver keeps the round with the smallest residual, or the input pose. It makes no restarts: the map knows no
/// stall. [`Outcome::Stalled`] is reported if such bones, a bound on turns or a rotation goal keep the end from the
/// position that the solver works towards.
///
/// Drawn by the example `free_chain`:
///
#[doc = include_str!("../../../pictures/free_chain.svg")]
#[derive(Clone, Debug)]
pub struct FreeChain {
    chain: Chain,
    /// Largest factor by which each bone may lengthen, 1 (none) or more. Bones lengthen when the goal is out of reach
    /// or, with a soft zone, within that zone. No chain becomes longer than 1e15 m.
    pub stretch: f32,
    /// Axis about which a straight chain bends, in the space of the root's parent. Only its part perpendicular to the
    /// chain counts. Without one, the solver chooses an axis that is always the same for the same chain.
    pub bend: Option<Vec3>,
    /// Degrees of freedom, in the order of the chain.
    columns: Vec<Part>,
}

/// Buffers of one solve.
#[derive(Debug, Default)]
struct FreeScratch {
    bones: Bones,
    /// Input rotations, four joints at a time.
    initial: Vec<Arcs>,
    /// Input local transforms of all joints of the chain.
    kept: Vec<JointTransform>,
    /// Local transforms of the round whose end is nearest to the goal.
    nearest: Vec<JointTransform>,
    /// Chain state that goes part of the way to an answer.
    links: ChainState,
    newton: Newton,
    answer: Vec<(Quat, Vec3)>,
}

/// State of one solve.
struct Solve<'a> {
    of: &'a FreeChain,
    on: &'a mut FreeScratch,
    options: &'a IterativeOptions,
    max_iterations: u32,
    stretch: f32,
    /// With a pole: the input line and bend, of any length.
    side: (Vec3, Vec3),
}

/// Result of bringing the chain's end to a position.
#[derive(Clone, Copy, Debug, Default)]
struct Brought {
    /// Number of rounds that wrote rotations.
    rounds: u32,
    /// Input length of the chain in metres.
    length: f32,
    /// Uncertainty of the end's position in f32, in metres.
    uncertain: f32,
    /// Input position of the end in model space, set after more than one round.
    from: Vec3,
    /// Squared sine of half the largest turn of a joint.
    sine: f32,
    /// Distance that the end moved, in chain lengths.
    moved: f32,
    /// With a pole: whether the bend turned to the other side.
    flipped: bool,
}

/// Share of the maximum turn that the turn towards a pole may use. The rest is left to the turn that brings the end to
/// the goal.
const POLE: f32 = 0.6;

/// Name of the solver in error messages.
pub(super) const CAPABILITY: Capability = Capability::new("a free chain", Attributes::NONE);

/// Error of a position after forward kinematics in f32, as a share of its [`Pose::extent`]; see the constant of the
/// two-bone solver.
const UNCERTAIN: f32 = 3e-7;

impl FreeChain {
    /// Returns the solver for a chain, which may have an offset at its tip (then the tip turns, too). Refuses a single
    /// joint without an offset, as it cannot move anything.
    pub fn from_chain(skeleton: &Skeleton, chain: Chain) -> Result<Self, ChainSolverError> {
        let count = chain.joints().len() - usize::from(chain.tip_offset() == Vec3::ZERO);
        if count == 0 {
            return Err(ChainSolverError::Single { joint: skeleton.name(chain.tip()).into() });
        }
        CAPABILITY.check(skeleton, chain.joints()[..count].iter().copied())?;
        let columns = chain_state::columns(&chain_state::parts(skeleton, &chain));
        Ok(Self { chain, stretch: 1.0, bend: None, columns })
    }

    fn fit(&self, scratch: &mut FreeScratch) {
        let joints = self.chain.joints().len();
        let FreeScratch { bones, initial: came, kept, nearest, links, newton, answer } = scratch;
        bones.fit(self.bones());
        came.resize(self.bones().div_ceil(4), [Vec4::ZERO; 4]);
        for kept in [kept, nearest] {
            kept.clear();
            kept.reserve(joints);
        }
        links.reserve(&self.chain);
        newton.begin(&self.columns, joints, false);
        answer.clear();
        answer.reserve(joints);
    }

    /// Returns the scratch buffers, sized for this chain.
    fn fitted<'a>(&self, workspace: &'a mut Workspace) -> &'a mut FreeScratch {
        let scratch = workspace.scratch::<FreeScratch>();
        if scratch.bones.count() != self.bones() || scratch.kept.capacity() < self.chain.joints().len() {
            self.fit(scratch);
        }
        scratch
    }

    fn bones(&self) -> usize {
        self.chain.joints().len() - usize::from(self.chain.tip_offset() == Vec3::ZERO)
    }

    /// Solves with bones that may lengthen by up to the factor `stretch`.
    pub(super) fn stretched(
        &self,
        stretch: f32,
        workspace: &mut Workspace,
        request: Request,
    ) -> Result<Report, SolveError> {
        let Request { pose, goal, options, .. } = request;
        pose.update();
        let asked_rotation = check::goal(goal)?;
        options.check()?;
        check_stretch(stretch)?;
        self.check(pose, asked_rotation.is_some())?;
        let tip = self.chain.tip();
        if !pose.unscaled(tip) {
            let root = self.chain.root();
            if parent_space::is_sheared(pose, root) {
                if goal.rotation.is_none() {
                    let ends = (root, tip, self.chain.tip_offset());
                    return parent_space::solve(pose, ends, goal, |pose, goal, space| {
                        let options = IterativeOptions {
                            position_tolerance: space.tolerance(options.position_tolerance),
                            ..*options
                        };
                        self.stretched(
                            stretch,
                            workspace,
                            Request { pose, goal, options: &options, watch: None },
                        )
                    });
                }
                check::turnable(pose, root)?;
            }
            self.check_scales(pose)?;
        }
        let on = self.fitted(workspace);
        let max_iterations = options.max_iterations.unwrap_or(200);
        let side = (Vec3::ZERO, Vec3::ZERO);
        Ok(Solve { of: self, on, options, max_iterations, stretch, side }.run(pose, goal, asked_rotation))
    }

    fn check(&self, pose: &Pose, turned: bool) -> Result<(), SolveError> {
        if turned {
            CAPABILITY.check(pose.skeleton(), [self.chain.tip()])?;
        }
        if let Some(bend) = self.bend {
            check::finite("the bend axis", bend)?;
        }
        let scaled = turned || self.chain.tip_offset() != Vec3::ZERO;
        check::frame(pose, self.chain.tip(), "the tip's frame", scaled)
    }

    /// Returns an error if a joint inside the chain is sheared or too large to square in f32.
    fn check_scales(&self, pose: &Pose) -> Result<(), SolveError> {
        for joints in self.chain.joints().windows(2) {
            if pose.local(joints[0]).scale != Vec3::ONE {
                check::turnable(pose, joints[1])?;
            }
        }
        // The tip may have any scale with which its offset's position can be squared.
        let (tip, offset) = (self.chain.tip(), self.chain.tip_offset());
        let shear = if offset == Vec3::ZERO { 0.0 } else { math::shear(&pose.model(tip).matrix3) };
        if shear == f32::INFINITY {
            let joint = pose.skeleton().name(tip).into();
            return Err(ChainError::Sheared { joint, shear }.into());
        }
        Ok(())
    }
}

impl ChainSolver for FreeChain {
    fn chain(&self) -> &Chain {
        &self.chain
    }

    fn run(&self, workspace: &mut Workspace, request: Request) -> Result<Report, SolveError> {
        self.stretched(self.stretch, workspace, request)
    }

    fn reserve(&self, workspace: &mut Workspace) {
        self.fit(workspace.scratch());
    }
}

impl Solve<'_> {
    fn run(&mut self, pose: &mut Pose, goal: &Goal, asked_rotation: Option<Quat>) -> Report {
        let tip = self.of.chain.tip();
        let position_weight = goal.position_influence * self.options.influence;
        let rotation_weight = goal.rotation_influence * self.options.influence;
        let asked = goal.position.unwrap_or_else(|| self.of.chain.end(pose));
        let mut report = Report::default();
        let mut brought = Brought::default();
        let rotation = asked_rotation.filter(|_| rotation_weight > 0.0);
        let by_joint = rotation.is_some() && self.of.chain.tip_offset() != Vec3::ZERO;
        let poled = goal.pole != Pole::Keep || goal.swivel != 0.0;
        let (held, partly) = (self.options.max_turn.is_finite(), position_weight < 1.0);
        // A chain brought to its goal in one whole step reports its motion itself.
        let initial_end = if held || partly || by_joint { self.of.chain.end(pose) } else { Vec3::ZERO };
        let tip_before = rotation.map(|_| (pose.local(tip).rotation, pose.model(tip).matrix3));
        if held || partly || self.stretch > 1.0 {
            self.keep(pose);
        }
        if position_weight > 0.0 && (goal.position.is_some() || poled) {
            if let (Some(wanted), true) = (rotation, by_joint) {
                // The tip's turn moves the offset's point about the tip joint. So compute the tip's final rotation
                // first, from the rotation that it has now; the tip joint then goes to the position that this rotation
                // requires.
                let now = pose.model_rotation(tip);
                let last = towards(now, wanted, rotation_weight);
                let arm = initial_end - pose.position(tip);
                let length = math::sqrt(arm.length_squared());
                let arm = math::rotate(math::mul(last, math::conjugate(now)), arm);
                let side = self.of.chain.line_and_bend(pose);
                brought = self.bring(pose, asked - arm, goal, true, &mut report);
                brought.length += length;
                self.side = side;
            } else {
                brought = self.bring(pose, asked, goal, false, &mut report);
            }
            if partly {
                self.blend(pose, position_weight);
            }
        }
        if let Some(wanted) = rotation {
            let now = pose.model_rotation(tip);
            let delta = math::mul(towards(now, wanted, rotation_weight), math::conjugate(now));
            // A turn below f32's rounding of rotations would only change the last bits.
            if Vec3::new(delta.x, delta.y, delta.z).length_squared() > 2.5e-13 {
                pose.turn(tip, delta);
                pose.update();
                report.iterations = report.iterations.max(1);
            }
        }
        if held {
            self.hold(pose, asked, position_weight > 0.0, rotation, &mut report);
        }
        if let Some(wanted) = asked_rotation {
            report.rotation_residual = math::angle_between(pose.model_rotation(tip), wanted);
        }
        let last = self.of.chain.end(pose);
        report.position_residual = distance(last, asked);
        self.tolerate(pose, &brought, &mut report);
        // A pose without any iteration keeps its branch.
        if report.iterations > 0 {
            // The first round's account of the motion holds if nothing followed it.
            if held || partly || by_joint || brought.rounds > 1 {
                let from = if brought.rounds > 1 && !(held || partly || by_joint) {
                    brought.from
                } else {
                    initial_end
                };
                self.see(pose, from, poled, by_joint, &mut brought);
            }
            report.branch_changed =
                if poled { brought.flipped } else { self.turned_away(pose, &brought, tip_before) };
        }
        report
    }

    /// Sets the report's tolerances.
    #[inline]
    fn tolerate(&self, pose: &Pose, brought: &Brought, report: &mut Report) {
        let Brought { mut length, mut uncertain, .. } = *brought;
        if length <= 0.0 {
            (length, uncertain) = (self.of.chain.length(pose), UNCERTAIN * pose.extent(self.of.chain.tip()));
        }
        report.position_tolerance =
            self.options.position_tolerance.metres(length) + length * ROUNDING + 3.0 * uncertain;
        report.rotation_tolerance = self.options.rotation_tolerance;
    }

    /// Measures on the final pose how far joints turned and the end moved, and to which side the chain bends.
    #[cold]
    fn see(&self, pose: &Pose, from: Vec3, poled: bool, by_joint: bool, brought: &mut Brought) {
        if brought.rounds == 0 {
            return;
        }
        if poled {
            let (line, bend) = self.of.chain.line_and_bend(pose);
            brought.flipped = branch::flipped(self.side.0, self.side.1, line, bend);
        }
        let joints = &self.of.chain.joints()[..self.on.bones.count() - usize::from(by_joint)];
        let turn = |(i, &joint): (usize, &JointId)| {
            branch::sine_between(lane(&self.on.initial, i), pose.local(joint).rotation)
        };
        brought.sine = joints.iter().enumerate().map(turn).fold(0.0, f32::max);
        brought.moved = ((self.of.chain.end(pose) - from) / brought.length).length();
    }

    /// Whether a joint turned further than the motion of the tip explains; see [`branch::changed`]. `tip_before` is the
    /// tip's input local rotation and model frame, if the goal has a rotation.
    #[inline]
    fn turned_away(&self, pose: &Pose, brought: &Brought, tip_before: Option<(Quat, Mat3)>) -> bool {
        let Some((local, frame)) = tip_before else {
            return branch::changed_by_sine(brought.sine, brought.moved, || 0.0);
        };
        let tip = self.of.chain.tip();
        let sine = brought.sine.max(branch::sine_between(local, pose.local(tip).rotation));
        branch::changed_by_sine(sine, brought.moved, || {
            math::angle_between(math::rotation_of(&frame), pose.model_rotation(tip))
        })
    }

    /// Brings the chain's end (`by_joint`: the tip joint) to a position in model space.
    fn bring(
        &mut self,
        pose: &mut Pose,
        to: Vec3,
        bend: &Goal,
        by_joint: bool,
        report: &mut Report,
    ) -> Brought {
        let Self { of: FreeChain { chain, .. }, on: FreeScratch { bones, initial: came, .. }, side, .. } =
            self;
        let (max_turn, tolerance) = (self.options.max_turn, self.options.position_tolerance);
        let kept = bend.pole == Pole::Keep && bend.swivel == 0.0;
        let mut brought = Brought::default();
        let (joints, tip) = (chain.joints(), chain.tip());
        let mut ask = Task {
            root: pose.position(joints[0]),
            goal: to,
            tolerance: 0.0,
            uncertain: UNCERTAIN * pose.extent(tip),
            soft: self.options.soft,
            stretch: self.stretch,
            passes: self.max_iterations,
            bend: self.of.bend.map_or(Vec3::ZERO, |bend| axis(pose, joints[0], bend)),
        };
        // Rounding of rotations in f32 leaves a residual on a long chain, which a second round removes. A chain below a
        // scale along one axis shears as it bends, and takes more rounds.
        let (given, mut met) = (ask.uncertain, false);
        brought.uncertain = given;
        let mut nearest: Option<Nearest> = None;
        let mut cut_short = false;
        for round in 0..8 {
            // A chain without an offset at its tip has as many points as joints.
            let end = match (chain.tip_offset() == Vec3::ZERO, by_joint) {
                (true, _) => Vec4::ZERO,
                (_, true) => pose.position(tip).extend(0.0),
                _ => chain.end(pose).extend(0.0),
            };
            let (frames, _) = pose.parts();
            if !bones.load(|i| joints.get(i).map_or(end, |&j| frames[j.index()].at)) {
                let by = distance(to, ask.root);
                if by > ask.uncertain {
                    report.out_of_reach = by;
                }
                return brought;
            }
            ask.tolerance = tolerance.share(bones.total());
            let mut found = bones.reach(&ask);
            if round == 0 && !kept {
                // The pole's turn gets a share of the maximum turn; the rest is left to the turn towards the goal.
                *side = bones.line_and_bend();
                brought.flipped = follow(bones, &mut found, &ask, bend, max_turn * POLE, *side);
            }
            let still = found.passes == 0 && found.stretch == 1.0;
            if round == 0 {
                report.out_of_reach = found.by;
                brought.length = bones.total();
            }
            if still {
                met = true;
                break;
            }
            report.iterations += found.passes;
            brought.rounds += 1;
            brought.sine = write(joints, bones, pose, &found, came, round == 0);
            if found.stretch > 1.0 {
                // Later rounds bring the longer bones to the reach that they have now, which already includes the soft
                // zone.
                (ask.goal, ask.soft, ask.stretch) = (ask.root + found.ahead * found.distance, 0.0, 1.0);
                for &joint in &joints[1..] {
                    pose.set_translation(joint, pose.local(joint).translation * found.stretch);
                }
            }
            pose.update();
            let end = if by_joint { pose.position(tip) } else { chain.end(pose) };
            let way = end - ask.root;
            let missed = (way - found.ahead * found.distance).length();
            // The next solve derives the uncertainty of positions from the final pose, and must find its goal met. So
            // an end near the rounding bound takes one more round, measured by the new uncertainty.
            ask.uncertain = UNCERTAIN * pose.extent(tip);
            brought.uncertain = ask.uncertain;
            let unsure = bones.total() * ROUNDING + ask.uncertain;
            let near = bones.total() * ask.tolerance;
            met = missed <= (near + given).max(bones.total() * ROUNDING + given).max(unsure);
            let surely = missed <= near.max(unsure) - 0.5 * unsure;
            if round == 0 {
                if kept {
                    brought.moved = bones.moved(way);
                }
                if surely && pose.unscaled(tip) {
                    return brought;
                }
                brought.from = ask.root + bones.initial_end();
            }
            let nearest = nearest.get_or_insert_with(|| {
                let place = softened(to, ask.root, brought.length, self.options.soft, self.stretch);
                Nearest::new(place, brought.from)
            });
            // With bones that lengthened, an end within the tolerance may still be further from a goal out of reach.
            if surely && round == 0 && nearest.is_met_by(end, 0.0) {
                return brought;
            }
            // Without scales, lengths are constant and a later round is never worse.
            if !pose.unscaled(tip) && nearest.note(end, brought.rounds) {
                self.on.nearest.clear();
                self.on.nearest.extend(joints.iter().map(|&j| *pose.local(j)));
            }
            cut_short = !surely && report.iterations >= self.max_iterations;
            if surely || cut_short {
                break;
            }
        }
        if !met {
            report.outcome = if cut_short { Outcome::OutOfIterations } else { Outcome::Stalled };
        }
        if let Some(nearest) = nearest.filter(|_| !met || !pose.unscaled(tip)) {
            self.put_nearest(pose, &nearest, by_joint, &mut brought, report);
        }
        brought
    }

    /// Restores the round with the smallest residual if the last round is worse; pass 0 is the input pose.
    #[cold]
    fn put_nearest(
        &self,
        pose: &mut Pose,
        nearest: &Nearest,
        by_joint: bool,
        brought: &mut Brought,
        report: &mut Report,
    ) {
        let tip = self.of.chain.tip();
        let end = if by_joint { pose.position(tip) } else { self.of.chain.end(pose) };
        let uncertain = ROUNDING * brought.length + 2.0 * UNCERTAIN * pose.extent(tip);
        if nearest.is_met_by(end, uncertain) {
            return;
        }
        for (i, &joint) in self.of.chain.joints()[..self.on.bones.count()].iter().enumerate() {
            let rotation = match nearest.pass {
                0 => lane(&self.on.initial, i),
                _ => self.on.nearest[i].rotation,
            };
            pose.set_rotation(joint, rotation);
        }
        if self.stretch > 1.0 {
            let locals = if nearest.pass == 0 { &self.on.kept } else { &self.on.nearest };
            for (local, &joint) in locals.iter().zip(self.of.chain.joints()) {
                pose.set_translation(joint, local.translation);
            }
        }
        pose.update();
        // The last round's account of the branch does not hold for another round's pose.
        brought.rounds = u32::MAX;
        if report.outcome == Outcome::Converged {
            report.outcome = Outcome::Stalled;
        }
    }

    /// Saves the chain's local transforms.
    #[cold]
    fn keep(&mut self, pose: &Pose) {
        self.on.kept.clear();
        self.on.kept.extend(self.of.chain.joints().iter().map(|&j| *pose.local(j)));
    }

    /// If a joint has turned further than the maximum turn, goes part of the way that all joints permit; see
    /// [`Newton::part_way`].
    #[cold]
    fn hold(&mut self, pose: &mut Pose, asked: Vec3, placed: bool, turn: Option<Quat>, report: &mut Report) {
        let FreeChain { chain, columns, .. } = self.of;
        let FreeScratch { kept, links, newton, answer, .. } = &mut *self.on;
        let (joints, max_turn) = (chain.joints(), self.options.max_turn);
        let now = |(kept, &joint): (&JointTransform, &JointId)| {
            math::angle_between(kept.rotation, pose.local(joint).rotation)
        };
        if kept.iter().zip(joints).map(now).fold(0.0, f32::max) <= max_turn {
            return;
        }
        newton.begin(columns, joints.len(), false);
        answer.clear();
        answer.extend(joints.iter().map(|&j| (pose.local(j).rotation, pose.local(j).translation)));
        // Without a goal position, the end goes where the tip's rotation takes it.
        let asked = if placed { asked } else { chain.end(pose) };
        for (kept, &joint) in kept.iter().zip(joints) {
            pose.set_local(joint, *kept);
        }
        pose.update();
        links.take(chain, pose);
        links.turn_at_most(max_turn);
        let place = if placed {
            let place = links.in_sight(asked, links.length(), self.stretch, FAR);
            links.drawn_in(place, self.options.soft, self.stretch).0
        } else {
            asked
        };
        let ask = links.ask(place, turn, self.options);
        let initial = ask.cost(links.measure(&ask));
        report.iterations += newton.part_way(links, &ask, answer, self.max_iterations);
        if ask.cost(links.measure(&ask)) > initial {
            // No part of the way improves the input: approach as closely as steps permit.
            links.reset();
            report.iterations += newton.run(links, &ask, self.max_iterations, &mut Trace::none());
        }
        let left = links.measure(&ask);
        links.store(pose);
        if report.outcome == Outcome::Converged && !ask.met(left) {
            report.outcome = Outcome::Stalled;
        }
    }

    /// Blends by `weight` from the saved pose to the current one. Turns are blended as swing and twist about each bone,
    /// so that the blend is within the limits wherever both ends are.
    #[cold]
    fn blend(&mut self, pose: &mut Pose, weight: f32) {
        let joints = self.of.chain.joints();
        for (i, (kept, &joint)) in self.on.kept.iter().zip(joints).enumerate() {
            let now = *pose.local(joint);
            let bone = joints.get(i + 1).map_or(self.of.chain.tip_offset(), |&j| pose.local(j).translation);
            let axis = math::rotate(kept.rotation, bone).normalize_or(Vec3::Y);
            let turn = math::mul(now.rotation, math::conjugate(kept.rotation));
            let turn = partial::partial_swing_twist(turn, axis, weight);
            if now != *kept {
                let rotation = math::normalize(math::mul(turn, kept.rotation));
                let translation = kept.translation + (now.translation - kept.translation) * weight;
                pose.set_local(joint, JointTransform { translation, rotation, ..now });
            }
        }
        pose.update();
    }
}

/// Returns a direction in the root's parent's space as a unit vector in model space; zero for zero.
#[cold]
fn axis(pose: &Pose, root: JointId, bend: Vec3) -> Vec3 {
    (pose.parent_model(root).matrix3 * bend).normalize_or_zero()
}

/// Turns the chain about the line to the goal so that its middle lies towards the pole, by at most `max_twist` radians.
/// Returns whether the bend changed sides. `initial` is the input line and bend.
#[cold]
fn follow(
    bones: &mut Bones,
    found: &mut Found,
    ask: &Task,
    bend: &Goal,
    max_twist: f32,
    initial: (Vec3, Vec3),
) -> bool {
    if found.passes == 0 {
        bones.stay();
    }
    found.turn = math::normalize(found.turn);
    let mut own = math::rotate(found.turn, bones.middle());
    // Take the component across the line: next to straight, the component along it would hide the bend's side.
    let across = own - found.ahead * own.dot(found.ahead);
    let wanted = bend.pole.direction(ask.root, across, found.ahead, bend.swivel);
    let (twist, _) = twist_towards(found.ahead, own, wanted);
    let mut twist = math::normalize(twist);
    if max_twist < core::f32::consts::PI {
        let angle = 2.0
            * math::atan2(math::sqrt(Vec3::new(twist.x, twist.y, twist.z).length_squared()), twist.w.abs());
        if angle > max_twist {
            twist = partial::partial(twist, max_twist / angle);
        }
    }
    if Vec3::new(twist.x, twist.y, twist.z).length_squared() > 2.5e-13 {
        found.turn = math::normalize(math::mul(twist, found.turn));
        found.passes = found.passes.max(1);
        own = math::rotate(twist, own);
    }
    branch::flipped_onto(initial.0, initial.1, found.ahead, own)
}

/// Writes the joint rotations that turn the bones into the directions found.
///
/// With the arcs A_i of the bones, each in model space, joint i turns against its parent by A_(i-1)^-1 A_i, in the
/// parent's old frame. Turns of the joints above cancel out.
///
/// Processes four joints at a time. Quaternions are normalised once, at the end.
///
/// Stores the joints' input rotations in `initial` if `first`. Returns the squared sine of half the largest turn.
#[inline]
fn write(
    joints: &[JointId],
    bones: &mut Bones,
    pose: &mut Pose,
    found: &Found,
    initial: &mut [Arcs],
    first: bool,
) -> f32 {
    let count = bones.count();
    let arcs = bones.arcs(found.normal);
    let mut parent = pose.parent_frame(joints[0]);
    let mut scale = math::uniform_scale(&parent.linear());
    let plain = pose.unscaled(joints[count - 1]);
    let (frames, locals) = pose.parts();
    let mut scales = Vec4::splat(scale);
    let turn = found.turn;
    let mut last = [-turn.x, -turn.y, -turn.z, turn.w].map(Vec4::splat);
    let mut max_sine = Vec4::ZERO;
    for ((arcs, initial), joints) in arcs.iter().zip(initial).zip(joints[..count].chunks(4)) {
        // Lanes past the last joint repeat it. They are written before it, so that its own lane wins.
        let of = [0, 1, 2, 3].map(|i| joints[min(i, joints.len() - 1)].index());
        // Parents' frames, into which the turns are converted: see math::into_frame.
        let parents = [parent, frames[of[0]], frames[of[1]], frames[of[2]]];
        parent = frames[of[3]];
        if !plain {
            scales = Vec4::from_array(of.map(|at| {
                let above = scale;
                if locals[at].scale != Vec3::ONE {
                    scale = math::uniform_scale(&frames[at].linear());
                }
                above
            }));
        }
        let before = [0, 1, 2, 3].map(|k| shifted(last[k], arcs[k]));
        last = *arcs;
        let [x, y, z, w] = mul4([-before[0], -before[1], -before[2], before[3]], *arcs);
        let seen = |columns: [Vec4; 4]| {
            let [a, b, c, _] = transposed(columns);
            a * x + b * y + c * z
        };
        let turn =
            [seen(parents.map(|p| p.x)), seen(parents.map(|p| p.y)), seen(parents.map(|p| p.z)), w * scales];
        let old = of.map(|at| {
            let q = locals[at].rotation;
            Vec4::new(q.x, q.y, q.z, q.w)
        });
        let old = transposed(old);
        let [tx, ty, tz, tw] = turn;
        let sine = tx * tx + ty * ty + tz * tz;
        max_sine = max_sine.max(sine / (sine + tw * tw) * THERE[joints.len() % 4]);
        let [x, y, z, w] = mul4(turn, old);
        let over = Vec4::ONE / (x * x + y * y + z * z + w * w).sqrt();
        let new = transposed([x * over, y * over, z * over, w * over]);
        if first {
            *initial = old;
        }
        for i in (0..4).rev() {
            let q = new[i];
            locals[of[i]].rotation = Quat::from_xyzw(q.x, q.y, q.z, q.w);
        }
    }
    pose.mark(joints[0]);
    max_sine.max_element()
}

/// Returns the rotation of one joint out of its group of four.
fn lane(fours: &[Arcs], joint: usize) -> Quat {
    Quat::from_vec4(Vec4::from_array(fours[joint / 4].map(|lanes| lanes[joint % 4])))
}

/// Four products of quaternions, with the order of sums of [`math::mul`].
#[inline(always)]
fn mul4(a: Arcs, b: Arcs) -> Arcs {
    let ([ax, ay, az, aw], [bx, by, bz, bw]) = (a, b);
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

/// Rotation at the share `weight` from `from` to `to`; exactly `to` for 1 and above.
fn towards(from: Quat, to: Quat, weight: f32) -> Quat {
    if weight >= 1.0 { to } else { math::slerp(from, to, weight) }
}
