//! Chains of free joints, of any length: [`FreeChain`] in a pose, [`Strand`] on bare points.

pub(crate) mod bones;
mod fours;
mod newton;
mod strand;

pub use strand::Strand;

use alloc::{boxed::Box, vec, vec::Vec};
use core::cmp::min;

use glam::{Quat, Vec3, Vec4};

use super::{
    ChainSolverError,
    arc::{distance, twist_towards},
    branch, check,
    linkage::{self, Linkage, Newton},
    parent_space, partial,
};
use crate::{
    Chain, ChainError, Goal, JointId, Pole, Pose, Report, Skeleton, SolveError, Status, Transform,
    joint::{Attributes, check_honoured},
    math,
};
use bones::{Ask, Bones, Found, ROUNDING};
use fours::{Arcs, shifted, transposed};

/// A chain of free joints: tail, tentacle, spine, rope, arm without limits. `auto` chooses it for every chain of three
/// bones or more.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, Pose, Skeleton, Transform, glam::Vec3, solve::FreeChain};
///
/// let mut builder = Skeleton::builder();
/// let mut joint = builder.add("tail", None, Transform::from_translation(Vec3::Y));
/// for name in ["tail 1", "tail 2", "tail 3", "tail 4"] {
///     joint = builder.add(name, Some(joint), Transform::from_translation(Vec3::new(0.02, 0.0, -0.2)));
/// }
/// let (skeleton, ids) = builder.build()?;
/// let skeleton = Arc::new(skeleton);
///
/// let mut tail = FreeChain::new(&skeleton, ids[0], ids[4])?;
/// let mut pose = Pose::rest(&skeleton);
/// let fly = Vec3::new(0.3, 1.2, -0.3);
/// let report = tail.solve(&mut pose, &Goal::at(fly))?;
/// assert!(pose.position(ids[4]).distance(fly) < 1e-4);
/// assert!(report.iterations <= 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # The mathematics
///
/// A chain's pose is a set of unit directions v_i, one a bone, with the bones' lengths l_i as weights (their sum made 1).
/// Its end lies at S = sum l_i v_i. The map of the unit sphere by a vector x of the unit ball,
///
/// ```text
/// v -> x + (1 - |x|^2) (v + x) / |v + x|^2
/// ```
///
/// draws all directions towards x at once. It is the conformal map that multiplies the tangent of half of each direction's
/// angle to x by (1 - |x|) / (1 + |x|): for small angles it scales them, the bend of the chain keeps its shape, and no angle
/// is ever scaled past a half turn. Written with the rapidity vector h (x = tanh(|h| / 2) along h), a small map moves v by
/// h - v (v . h), and so the end by
///
/// ```text
/// dS = H h,   H = sum l_i (1 - v_i v_i^T)
/// ```
///
/// This h turns the bones least, as a whole, of all that move the end so (weighted by length). S is the gradient of a
/// function of the map that is convex in hyperbolic space, with the Hessian H. So Newton's method, h = H^-1 (goal - S),
/// finds the one map that leads to the goal; nothing like a pose on the way that it cannot leave exists. Where S is to
/// become 0 the map found is the one whose centre is the conformal barycentre (Douady & Earle 1986; used to close
/// polygons by Millson & Zombro 1996 and Cantarella & Schumacher 2022).
///
/// Near full stretch a step of Newton's method only halves what is left. But were all v_i at one angle to S, then
///
/// ```text
/// log((1 + |S|) / (1 - |S|)) / 2
/// ```
///
/// would change by exactly |h|; near full stretch that tends to be so for any chain. The step's length is taken in this
/// measure, which needs a square root and no logarithm. Two or three passes are the rule, anywhere in reach. Near the
/// smallest reach, which a chain has where one bone is longer than all others together, the same is done with
/// log((|S| - r) / (|S| + r)) added.
///
/// Bones then turn by shortest arcs from their old directions, and all of them by one shortest arc that turns the end's old
/// direction to the goal's; so the animation's roll is kept. Where goal or end are near the root, that direction means
/// little, and the turn fades out: the map then leads the end to the goal directly.
///
/// # Where direction is undefined
///
/// - Bones that are exactly parallel stay so under any map. Joints that are straight (or folded) within half a degree
///   are bent a little first, half a degree over the whole chain, about [`bend`](Self::bend), else about the normal of what
///   bend the chain has. Chains whose bones are parallel without being neighbours get more of it once that proves needed.
/// - A goal opposite to the end, seen from the root, leaves the way round open; the chain turns in its own bend plane.
///
/// Drawn by the example `free_chain`:
///
#[doc = include_str!("../../../pictures/free_chain.svg")]
#[derive(Clone, Debug)]
pub struct FreeChain {
    chain: Chain,
    /// How near the end must come, as a part of the chain's length (what f32 can tell is the least). A chain that is this
    /// near stays as it is.
    pub tolerance: f32,
    /// Updates of the whole chain after which it gives up.
    pub max_iterations: u32,
    /// The soft zone at the end of the reach, as a part of the reach, 0 (none) to 1; see [`soften`](super::soften).
    pub soft: f32,
    /// By what factor each bone may become longer where the goal is too far (or, with a soft zone, in it), 1 (none) or more.
    /// No chain becomes longer than 1e15 m.
    pub stretch: f32,
    /// The axis, in the root's parent's space, about which a straight chain bends; the part across the chain counts. Without
    /// one, it is always the same for the same chain.
    pub bend: Option<Vec3>,
    /// The furthest that a joint may turn in one solve from where it came in, in radians; infinite (the default) for no
    /// bound. In a game, the speed of its joints times the time of a frame. A pole that the goal passes is on the other
    /// side from one frame to the next, and any rule that looks at one pose alone must leap somewhere near it (once
    /// around the pole the chain turns once about the way to the goal, and no map of the disc inside does that without a
    /// leap). Where the last frame's pose comes in, a bound of some eight radians a second lets the chain come round
    /// behind the goal instead, which stays met. Where the answer is further, the chain goes on the way to it as far as it
    /// may, and no frame leaves its end further from the goal than it found it.
    pub max_turn: f32,
    /// How much of the goal is carried out, 0 to 1; it multiplies the goal's own weights.
    pub weight: f32,
    bones: Bones,
    /// Rotations as they came in, four joints at a time.
    came: Vec<Arcs>,
    /// Every joint of the chain as it came in.
    kept: Vec<Transform>,
    /// For bounded turns; none before the first of them.
    bounded: Option<Box<Bounded>>,
}

/// What goes part of the way to an answer.
#[derive(Clone, Debug)]
struct Bounded {
    links: Linkage,
    newton: Newton,
    answer: Vec<(Quat, Vec3)>,
}

/// What was brought to a goal.
#[derive(Clone, Copy, Debug, Default)]
struct Brought {
    /// The largest turn of a joint, or little more, as the square of the chord between unit quaternions: 4 sin^2 of a quarter of
    /// the angle. 0 where nothing was brought anywhere.
    chord: f32,
    /// Length of what was brought there, in metres, as it came in.
    length: f32,
}

/// The part of [`FreeChain::max_turn`] that is for the turn towards a pole.
const POLE: f32 = 0.6;

/// What f32 leaves of twice one less the product of two unit quaternions.
const PRODUCT: f32 = 1e-6;

/// Radians within which a rotation is met where turns are bounded.
const NEAR_TURN: f32 = 1e-3;

/// What refusals call the solver.
const NAME: &str = "a free chain";

/// What forward kinematics in f32 makes of a place, as a part of its [`Pose::extent`]; see the limb's.
const UNCERTAIN: f32 = 3e-7;

impl FreeChain {
    /// The chain from `root` down to `tip`, two joints at least.
    pub fn new(skeleton: &Skeleton, root: JointId, tip: JointId) -> Result<Self, ChainSolverError> {
        Self::from_chain(skeleton, Chain::new(skeleton, root, tip)?)
    }

    /// The solver for a chain, which may have an offset at its tip (then the tip turns, too). A single joint without an
    /// offset cannot bring anything anywhere, and is refused.
    pub fn from_chain(skeleton: &Skeleton, chain: Chain) -> Result<Self, ChainSolverError> {
        let count = chain.joints().len() - usize::from(chain.tip_offset() == Vec3::ZERO);
        if count == 0 {
            return Err(ChainSolverError::Single { joint: skeleton.name(chain.tip()).into() });
        }
        check_honoured(skeleton, chain.joints()[..count].iter().copied(), NAME, Attributes::NONE)?;
        let kept = vec![Transform::IDENTITY; chain.joints().len()];
        Ok(Self {
            chain,
            tolerance: 1e-5,
            max_iterations: 64,
            soft: 0.0,
            stretch: 1.0,
            bend: None,
            max_turn: f32::INFINITY,
            weight: 1.0,
            bones: Bones::new(count),
            came: vec![[Vec4::ZERO; 4]; count.div_ceil(4)],
            kept,
            bounded: None,
        })
    }

    /// Root to tip.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Brings the chain's end to the goal, and turns the tip where the goal names a rotation. The pose is left updated.
    ///
    /// With an offset at the tip and a rotation asked for, it is the offset's point that meets the position, with the tip
    /// turned as asked; a tip that is not free is refused then. Weights between 0 and 1 scale each joint's turn, as swing
    /// and twist about its bone. The pole is what the mean of the joints between root and end turns towards.
    pub fn solve(&mut self, pose: &mut Pose, goal: &Goal) -> Result<Report, SolveError> {
        pose.update();
        self.check(pose, goal)?;
        let root = self.chain.root();
        if parent_space::is_sheared(pose, root) {
            if goal.rotation.is_none() {
                let ends = (root, self.chain.tip(), self.chain.tip_offset());
                return parent_space::solve(pose, ends, goal, |pose, goal, _| self.solve(pose, goal));
            }
            check::turnable(pose, root)?;
        }
        self.check_scales(pose)?;
        let position_weight = goal.position_weight * self.weight;
        let rotation_weight = goal.rotation_weight * self.weight;
        let tip = self.chain.tip();
        let end = self.chain.end(pose);
        let asked = goal.position.unwrap_or(end);
        let mut report = Report::default();
        let mut brought = Brought::default();
        let rotation = goal.rotation.filter(|_| rotation_weight > 0.0).map(math::normalize);

        let held = self.max_turn.is_finite();
        let came = pose.local(tip).rotation;
        let initial = rotation.map(|_| pose.model(tip).matrix3);
        let side = (goal.pole != Pole::Keep).then(|| self.chain.line_and_bend(pose));
        if held {
            self.keep(pose);
        }
        if position_weight > 0.0 && (goal.position.is_some() || goal.pole != Pole::Keep) {
            let by_joint = rotation.is_some() && self.chain.tip_offset() != Vec3::ZERO;
            let partly = position_weight < 1.0;
            if partly && !held {
                self.keep(pose);
            }
            if let (Some(wanted), true) = (rotation, by_joint) {
                // The tip's turn moves the offset's point about the tip joint. So the tip's final rotation is found first
                // (by what the chain makes of it when it is left alone), and the tip joint goes where that needs it.
                let now = pose.model_rotation(tip);
                let last = towards(now, wanted, rotation_weight);
                let arm = self.chain.end(pose) - pose.position(tip);
                let length = math::sqrt(arm.length_squared());
                let arm = math::rotate(math::mul(last, math::conjugate(now)), arm);
                brought = self.bring(pose, asked - arm, goal.pole, true, &mut report);
                brought.length += length;
            } else {
                brought = self.bring(pose, asked, goal.pole, false, &mut report);
            }
            if partly {
                self.blend(pose, position_weight);
            }
            // (What the tip turns is known when it has taken its rotation.)
            if brought.chord > 0.0 && (partly || by_joint) {
                brought.chord = self.chord(pose, self.bones.count() - usize::from(by_joint));
            }
        }
        if let Some(wanted) = rotation {
            let now = pose.model_rotation(tip);
            let delta = math::mul(towards(now, wanted, rotation_weight), math::conjugate(now));
            // A turn below f32's rounding of rotations would only stir the bits.
            if Vec3::new(delta.x, delta.y, delta.z).length_squared() > 2.5e-13 {
                pose.turn(tip, delta);
                pose.update();
                report.iterations = report.iterations.max(1);
            }
        }
        if held {
            self.hold(pose, asked, position_weight > 0.0, rotation, &mut report);
            if brought.chord > 0.0 {
                let by_joint = rotation.is_some() && self.chain.tip_offset() != Vec3::ZERO;
                brought.chord = self.chord(pose, self.bones.count() - usize::from(by_joint));
            }
        }
        if let Some(wanted) = goal.rotation {
            report.rotation_residual = math::angle_between(pose.model_rotation(tip), math::normalize(wanted));
        }
        let last = self.chain.end(pose);
        let position_residual = distance(last, asked);
        let branch_changed = if let Some((line, bend)) = side {
            let (now, bent) = self.chain.line_and_bend(pose);
            branch::flipped(line, bend, now, bent)
        } else {
            let tip_chord = rotation.map_or(0.0, |_| chord(came, pose.local(tip).rotation));
            let moved = if brought.length > 0.0 { ((last - end) / brought.length).length() } else { 0.0 };
            // An angle up to a half turn is at most pi / sqrt(2) times the chord.
            branch::changed(2.2215 * math::sqrt(brought.chord.max(tip_chord)), moved, 0.0) && {
                let by_joint = rotation.is_some() && self.chain.tip_offset() != Vec3::ZERO;
                let count = self.bones.count() - usize::from(by_joint);
                let most = if brought.chord > 0.0 { self.chord(pose, count) } else { 0.0 };
                let half = 0.5 * math::sqrt(most.max(tip_chord));
                let turn = 4.0 * math::atan2(half, math::sqrt((1.0 - half * half).max(0.0)));
                let turned = initial.map_or(0.0, |initial| {
                    math::angle_between(math::rotation_of(&initial), pose.model_rotation(tip))
                });
                branch::changed(turn, moved, turned)
            }
        };
        Ok(Report { position_residual, branch_changed, ..report })
    }

    fn check(&self, pose: &Pose, goal: &Goal) -> Result<(), SolveError> {
        check::goal(goal)?;
        if goal.rotation.is_some() {
            check_honoured(pose.skeleton(), [self.chain.tip()], NAME, Attributes::NONE)?;
        }
        if let Some(bend) = self.bend {
            check::finite("the bend axis", bend)?;
        }
        check::within("the tolerance", "0 to 1", self.tolerance, 0.0, 1.0)?;
        check::within("the soft zone", "0 to 1", self.soft, 0.0, 1.0)?;
        check::within("the stretch", "1 or more", self.stretch, 1.0, f32::MAX)?;
        check::within("the largest turn", "above 0", self.max_turn, f32::MIN_POSITIVE, f32::INFINITY)?;
        check::within("the chain's weight", "0 to 1", self.weight, 0.0, 1.0)?;
        let scaled = goal.rotation.is_some() || self.chain.tip_offset() != Vec3::ZERO;
        check::frame(pose, self.chain.tip(), "the tip's frame", scaled)
    }

    /// An error where a joint inside the chain is sheared, or larger than f32 can square.
    fn check_scales(&self, pose: &Pose) -> Result<(), SolveError> {
        if pose.unscaled(self.chain.tip()) {
            return Ok(());
        }
        for joints in self.chain.joints().windows(2) {
            if pose.local(joints[0]).scale != Vec3::ONE {
                check::turnable(pose, joints[1])?;
            }
        }
        // The tip's own scale may be any that its offset's place can be squared with.
        let (tip, offset) = (self.chain.tip(), self.chain.tip_offset());
        let shear = if offset == Vec3::ZERO { 0.0 } else { math::shear(&pose.model(tip).matrix3) };
        if shear == f32::INFINITY {
            let joint = pose.skeleton().name(tip).into();
            return Err(ChainError::Sheared { joint, shear }.into());
        }
        Ok(())
    }

    /// Brings the chain's end (`by_joint`: the tip joint) to a place.
    fn bring(
        &mut self,
        pose: &mut Pose,
        to: Vec3,
        pole: Pole,
        by_joint: bool,
        report: &mut Report,
    ) -> Brought {
        let Self { chain, bones, max_turn, came, .. } = self;
        let mut brought = Brought::default();
        let (joints, tip) = (chain.joints(), chain.tip());
        let mut ask = Ask {
            root: pose.position(joints[0]),
            goal: to,
            tolerance: self.tolerance,
            uncertain: UNCERTAIN * pose.extent(tip),
            soft: self.soft,
            stretch: self.stretch,
            passes: self.max_iterations,
            bend: self.bend.map_or(Vec3::ZERO, |bend| axis(pose, joints[0], bend)),
        };
        // What rotations in f32 leave of a long chain's way, a second round finds; a chain that the pose stretches along one
        // axis is sheared as it bends, and takes more.
        let (given, mut met) = (ask.uncertain, false);
        for round in 0..8 {
            // (A chain without an offset at its tip has as many points as joints.)
            let end = match (chain.tip_offset() == Vec3::ZERO, by_joint) {
                (true, _) => Vec4::ZERO,
                (_, true) => pose.position(tip).extend(0.0),
                _ => chain.end(pose).extend(0.0),
            };
            let (frames, _) = pose.parts();
            if !bones.load(|i| joints.get(i).map_or(end, |&j| frames[j.index()].at)) {
                let by = distance(to, ask.root);
                if by > ask.uncertain {
                    report.status = Status::Unreachable { by };
                }
                return brought;
            }
            let mut found = bones.reach(&ask);
            if round == 0 && pole != Pole::Keep {
                // (What the way to the goal itself takes of a joint's turn is left to it.)
                follow(bones, &mut found, &ask, pole, *max_turn * POLE);
            }
            let still = found.passes == 0 && found.stretch == 1.0;
            if round == 0 {
                report.status =
                    if found.by > 0.0 { Status::Unreachable { by: found.by } } else { Status::Reached };
                brought.length = bones.total();
            }
            if still {
                return brought;
            }
            report.iterations += found.passes;
            brought.chord = write(joints, bones, pose, &found, came, round == 0);
            if found.stretch > 1.0 {
                // The rounds that follow bring the longer bones to where these reach, as a soft zone had it before them.
                (ask.goal, ask.soft, ask.stretch) = (ask.root + found.ahead * found.distance, 0.0, 1.0);
                for &joint in &joints[1..] {
                    pose.set_translation(joint, pose.local(joint).translation * found.stretch);
                }
            }
            pose.update();
            let end = if by_joint { pose.position(tip) } else { chain.end(pose) };
            let missed = (end - ask.root - found.ahead * found.distance).length();
            // The next solve reads what places are uncertain by from the pose that is left, and must find it met: what is
            // near the bound for f32 goes round once more, by that measure.
            ask.uncertain = UNCERTAIN * pose.extent(tip);
            let unsure = bones.total() * ROUNDING + ask.uncertain;
            let near = bones.total() * self.tolerance;
            met = missed <= (near + given).max(bones.total() * ROUNDING + given).max(unsure);
            if missed <= near.max(unsure) - 0.5 * unsure {
                return brought;
            }
            if report.iterations >= self.max_iterations {
                if !met {
                    report.status = Status::OutOfIterations;
                }
                return brought;
            }
        }
        if !met {
            report.status = Status::Stalled;
        }
        brought
    }

    /// The largest turn of the first joints from where they came in; see [`Brought::chord`].
    #[cold]
    fn chord(&self, pose: &Pose, joints: usize) -> f32 {
        let joints = self.chain.joints()[..joints].iter().enumerate();
        let came = |i: usize| Quat::from_vec4(Vec4::from_array(self.came[i / 4].map(|lanes| lanes[i % 4])));
        joints.map(|(i, &joint)| chord(came(i), pose.local(joint).rotation)).fold(0.0, f32::max)
    }

    /// Remembers the chain as it is.
    #[cold]
    fn keep(&mut self, pose: &Pose) {
        for (kept, &joint) in self.kept.iter_mut().zip(self.chain.joints()) {
            *kept = *pose.local(joint);
        }
    }

    /// Where a joint has turned further than [`max_turn`](Self::max_turn), goes as far on the way as it may; see
    /// [`Newton::part_way`].
    #[cold]
    fn hold(&mut self, pose: &mut Pose, asked: Vec3, placed: bool, turn: Option<Quat>, report: &mut Report) {
        let Self { chain, kept, max_turn, bounded, .. } = self;
        let (joints, skeleton) = (chain.joints(), pose.skeleton().clone());
        let now = |(kept, &joint): (&Transform, &JointId)| {
            math::angle_between(kept.rotation, pose.local(joint).rotation)
        };
        if kept.iter().zip(joints).map(now).fold(0.0, f32::max) <= *max_turn {
            return;
        }
        let Bounded { links, newton, answer } = &mut **bounded.get_or_insert_with(|| {
            let parts = linkage::parts(&skeleton, chain);
            Box::new(Bounded {
                newton: Newton::new(&parts, joints.len()),
                links: Linkage::new(&skeleton, chain.clone()),
                answer: Vec::with_capacity(joints.len()),
            })
        });
        answer.clear();
        answer.extend(joints.iter().map(|&j| (pose.local(j).rotation, pose.local(j).translation)));
        // Where no place is asked for the end goes where the tip's turn takes it.
        let asked = if placed { asked } else { chain.end(pose) };
        for (kept, &joint) in kept.iter().zip(joints) {
            pose.set_local(joint, *kept);
        }
        pose.update();
        links.take(pose);
        links.turn_at_most(*max_turn);
        let length = links.length();
        let ask = linkage::Ask {
            place: if placed {
                links.drawn_in(links.in_sight(asked, length, self.stretch), self.soft, self.stretch).0
            } else {
                asked
            },
            turn,
            radian: 0.5 * length,
            near: (self.tolerance * length).max(links.rounding),
            near_turn: NEAR_TURN,
            first: 0,
        };
        let came = ask.cost(links.measure(&ask));
        report.iterations += newton.part_way(links, &ask, answer, self.max_iterations);
        if ask.cost(links.measure(&ask)) > came {
            // No such place: as near as steps lead.
            links.reset();
            report.iterations += newton.run(links, &ask, self.max_iterations);
        }
        let left = links.measure(&ask);
        links.store(pose);
        if report.status == Status::Reached && !ask.met(left) {
            report.status = Status::Stalled;
        }
    }

    /// The part `weight` of the way from what was kept to the pose: turns as swing and twist about each bone, so that
    /// what is between is within the limits wherever both ends are.
    #[cold]
    fn blend(&mut self, pose: &mut Pose, weight: f32) {
        let joints = self.chain.joints();
        for (i, (kept, &joint)) in self.kept.iter().zip(joints).enumerate() {
            let now = *pose.local(joint);
            let bone = joints.get(i + 1).map_or(self.chain.tip_offset(), |&j| pose.local(j).translation);
            let axis = math::rotate(kept.rotation, bone).normalize_or(Vec3::Y);
            let turn = math::mul(now.rotation, math::conjugate(kept.rotation));
            let turn = partial::partial_swing_twist(turn, axis, weight);
            if now != *kept {
                let rotation = math::normalize(math::mul(turn, kept.rotation));
                let translation = kept.translation + (now.translation - kept.translation) * weight;
                pose.set_local(joint, Transform { translation, rotation, ..now });
            }
        }
        pose.update();
    }
}

/// A direction in the root's parent's space, as a unit vector in model space.
#[cold]
fn axis(pose: &Pose, root: JointId, bend: Vec3) -> Vec3 {
    (pose.parent_model(root).matrix3 * bend).normalize_or_zero()
}

/// Turns the chain about the way to the goal so that its middle lies towards the pole.
#[cold]
fn follow(bones: &mut Bones, found: &mut Found, ask: &Ask, pole: Pole, most: f32) {
    let wanted = match pole {
        Pole::Keep => return,
        // Halves, since the difference of two large places may overflow.
        Pole::Point(p) => p * 0.5 - ask.root * 0.5,
        Pole::Direction(d) => d,
    };
    if found.passes == 0 {
        bones.stay();
    }
    found.turn = math::normalize(found.turn);
    let own = math::rotate(found.turn, bones.middle());
    let (twist, _) = twist_towards(found.ahead, own, wanted);
    let mut twist = math::normalize(twist);
    if most < core::f32::consts::PI {
        let angle = 2.0
            * math::atan2(math::sqrt(Vec3::new(twist.x, twist.y, twist.z).length_squared()), twist.w.abs());
        if angle > most {
            twist = partial::partial(twist, most / angle);
        }
    }
    if Vec3::new(twist.x, twist.y, twist.z).length_squared() > 2.5e-13 {
        found.turn = math::normalize(math::mul(twist, found.turn));
        found.passes = found.passes.max(1);
    }
}

/// Turns the joints of a chain so that its bones go where they were found to go.
///
/// With the arcs A_i of the bones, each in model space, joint i turns against its parent by A_(i-1)^-1 A_i, seen in the
/// parent's old frame: what the joints above it turn, it does not see.
///
/// Four joints at a time. The rotations' lengths are left on the numbers until the last, which
/// makes unit quaternions of them.
///
/// Notes where the joints came in (`first`), and gives the largest turn from there or little more; see [`Brought::chord`].
#[inline]
fn write(
    joints: &[JointId],
    bones: &mut Bones,
    pose: &mut Pose,
    found: &Found,
    came: &mut [Arcs],
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
    let mut least = Vec4::ONE;
    for ((arcs, came), joints) in arcs.iter().zip(came).zip(joints[..count].chunks(4)) {
        // What is past the last joint repeats it, and is written before it.
        let of = [0, 1, 2, 3].map(|i| joints[min(i, joints.len() - 1)].index());
        // The parents' frames, in which the turns are seen: see math::into_frame.
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
        let [x, y, z, w] = mul4(turn, old);
        let over = Vec4::ONE / (x * x + y * y + z * z + w * w).sqrt();
        let new = [x * over, y * over, z * over, w * over];
        if first {
            *came = old;
        }
        let product = new[0] * came[0] + new[1] * came[1] + new[2] * came[2] + new[3] * came[3];
        // Of the nearer of the two signs.
        least = least.min(product.abs());
        let new = transposed(new);
        for i in (0..4).rev() {
            let q = new[i];
            locals[of[i]].rotation = Quat::from_xyzw(q.x, q.y, q.z, q.w);
        }
    }
    pose.changed_below(joints[0]);
    2.0 * (1.0 - least.min_element()) + PRODUCT
}

/// See [`Brought::chord`].
#[inline]
fn chord(a: Quat, b: Quat) -> f32 {
    let [a, b] = [a, b].map(|q| Vec4::new(q.x, q.y, q.z, q.w));
    (a - b).length_squared().min((a + b).length_squared())
}

/// Four products of quaternions; the order of sums is [`math::mul`]'s.
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

/// `to`, or the part `weight` of the way there.
fn towards(from: Quat, to: Quat, weight: f32) -> Quat {
    if weight >= 1.0 { to } else { math::slerp(from, to, weight) }
}
