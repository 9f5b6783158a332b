//! The two-bone limb within the limits of its joints: the middle joint turns about one axis, and the root is a ball or free.
//!
//! All in the space of the root's parent, in f64. Let u be the upper bone in the root's own frame, h the hinge's axis there and v
//! the lower bone at the hinge's angle t; R is the root's rotation and g the vector to the goal.
//!
//! **Flexion.** About its axis the lower bone describes a circle, v(t) = k + cos(t) p + sin(t) q, with k along h. A hinge is
//! seldom exactly across both bones, so that the cosine rule has one more term; with c = u + k, still
//!
//! ```text
//! |u + v(t)|^2 = c^2 + p^2 + 2 c . p cos(t) + 2 c . q sin(t) = C + D cos(t - t0).
//! ```
//!
//! So the distance falls to both sides of t0, where the limb is straightest, and the goal's distance is met at t0 + x and at t0 -
//! x. Of those within the range, the one on the side that is asked for, or of the pose, comes first. Where neither is, the end
//! of the range with the nearest distance serves.
//!
//! **Swivel.** With t known, the root's rotations that lead the end u + v(t) to the goal's direction are one turn about that
//! direction, the swivel, after any one of them. The one that keeps the bend (as for a limb without limits: the shortest arcs
//! from the end as it bends back to its direction, then to the goal) or faces the pole is wanted; the nearest to it within the
//! ball's limits is taken (see `joint::limits::socket`).
//!
//! **Nothing within.** Where no swivel is within for any flexion at the goal's distance, the nearest pose minimises the distance
//! over all four variables within their limits (`solve::nearest_turn`).

use core::f64::consts::PI;

use glam::{DMat3, DQuat, DVec3, Quat, Vec3};

use super::{
    BendSide, Brought, CAPABILITY, Input, LimbPoints, LimbTurns, Task, TwoBone, TwoBoneError, Within,
    general::BLUR, towards,
};
use crate::{
    Chain, ChainError, Goal, JointId, Pole, Pose, Report, Skeleton, SolveError,
    joint::{
        Attribute, Attributes, Capability, Limits, Pivot, Socket, UnsupportedAttribute, around, in_f64, turn,
    },
    math,
    math64::{self, atan2, sin_cos, sqrt},
    solve::{
        LimbOptions, Tolerance,
        arc::{direction, distance, twist_towards},
        branch, check,
        nearest_turn::{Arm, NearestTurn, arc},
        partial::largest_share,
        soft::soften,
    },
};

const fn honouring(list: &[Attribute]) -> Capability {
    Capability { honoured: Attributes::of(list), ..CAPABILITY }
}

const ROOT: Capability = honouring(&[Attribute::Ball, Attribute::Preferred]);
const HINGE: Capability =
    honouring(&[Attribute::Hinge, Attribute::Ball, Attribute::Axes, Attribute::Preferred]);
const NO_HINGE: Capability = honouring(&[Attribute::Hinge, Attribute::Preferred]);
/// The tip alone meets the goal's rotation, so that what it resists is of no weight.
const TIP: Capability = Capability { honoured: PARTLY, ..CAPABILITY };
/// What a limb within limits honours of any of its joints.
pub(super) const PARTLY: Attributes =
    Attributes::TURNING.union(Attributes::of(&[Attribute::Stiffness, Attribute::Preferred]));

/// Excess of an input over its limits, in radians, up to which it counts as within: that of what limits promise.
const KEPT: f32 = 1e-5;
/// Angle from straight, in radians, within which a hinge that may bend to both sides bends to its preferred one.
const STRAIGHT: f64 = 1e-4;
/// Turn in radians that is left out: f32 rounds rotations by as much.
pub(super) const STILL: f64 = 3e-7;
/// Share of the limb's length that counts as rounding.
pub(super) const ROUNDING: f64 = 1e-6;
/// Limb's lengths from which on a goal that cannot be met counts as a direction.
const FAR: f64 = 1e4;

/// The limb in the frame of its root.
pub(super) struct Limb {
    /// The end as the hinge turns.
    pub arm: Arm,
    /// The upper bone, and the bones' lengths.
    u: DVec3,
    lengths: [f64; 2],
    /// The hinge's axis, a unit vector.
    about: DVec3,
    pub pivot: Pivot,
}

/// Where the limb is brought to.
#[derive(Clone, Copy)]
struct Found {
    /// Local rotations of the root and the middle joint; `None` where they stay.
    rotations: Option<[Quat; 2]>,
    /// Whether limits keep the end from where the goal wants it.
    held: bool,
    /// Distance from the goal to the limb's reach, in metres.
    out_of_reach: f64,
    /// Motion of the goal, in limb's lengths, that surely explains a motion of the limb where the goal is not met.
    explained: f64,
}

impl Limb {
    /// The limb at these positions, where the hinge's axis is `about` in the same space and `root` is the root's rotation.
    pub fn of(at: [DVec3; 3], about: DVec3, root: DQuat, pivot: Pivot) -> Self {
        let (u, v) = (root.conjugate() * (at[1] - at[0]), root.conjugate() * (at[2] - at[1]));
        let about = root.conjugate() * about;
        let along = about * about.dot(v);
        let (w, z) = (v - along, about.cross(v));
        // The circle from the angle 0.
        let (s, c) = sin_cos(pivot.now);
        let arm = Arm { centre: u + along, p: w * c - z * s, q: w * s + z * c };
        Self { arm, u, lengths: [u.length(), v.length()], about, pivot }
    }

    fn size(&self) -> f64 {
        self.lengths[0] + self.lengths[1]
    }

    fn range(&self) -> [f64; 2] {
        let Pivot { now, ends, .. } = self.pivot;
        if ends[0] == f64::NEG_INFINITY { [now - PI, now + PI] } else { ends }
    }

    fn far(&self, t: f64) -> f64 {
        self.arm.end(t).length()
    }

    /// The angle at which the limb is straightest, and C and D of the distance.
    fn straightest(&self) -> (f64, f64, f64) {
        let Arm { centre, p, q } = self.arm;
        let (x, y) = (centre.dot(p), centre.dot(q));
        (atan2(y, x), centre.length_squared() + p.length_squared(), 2.0 * sqrt(x * x + y * y))
    }

    /// The smallest and the largest distance of the end from the root.
    pub fn reach(&self) -> [f64; 2] {
        let t0 = self.straightest().0;
        [PI, 0.0].map(|x| self.far(self.pivot.clamp(t0 + x)))
    }

    /// Angles at the distance `d` from the root within the range, and their number: that of the side `first` of straight comes
    /// first. Where neither is within, the nearest end of the range.
    pub fn flexions(&self, d: f64, first: f64) -> ([f64; 2], usize) {
        let (t0, c, dd) = self.straightest();
        let Pivot { now, ends, .. } = self.pivot;
        let size = self.size();
        if dd <= ROUNDING * size * size {
            // The hinge is along the limb, or there is one bone only: no angle changes the distance.
            return ([self.pivot.clamp(now); 2], 1);
        }
        let y = (d * d - c).clamp(-dd, dd);
        let x = atan2(sqrt((dd - y) * (dd + y)), y);
        let (mut found, mut count) = ([0.0; 2], 0);
        for side in [first, -first] {
            // The end of the range may miss the distance by the rounding of the goal.
            let t = self.pivot.clamp(t0 + side * x);
            if (self.far(t) - d).abs() <= ROUNDING * size {
                found[count] = t;
                count += 1;
            }
        }
        if count == 0 {
            let [a, b] = ends.map(|t| (self.far(t) - d).abs());
            let nearer = if (a - b).abs() <= 1e-9 * size {
                (ends[0] - now).abs() <= (ends[1] - now).abs()
            } else {
                a < b
            };
            (found[0], count) = (ends[usize::from(!nearer)], 1);
        }
        (found, count)
    }

    /// What is brought near to the distance `to` in the direction `aim`.
    pub fn nearby<'a>(&self, socket: &'a Socket, aim: DVec3, to: f64) -> NearestTurn<'a> {
        let (Arm { centre, p, q }, size) = (self.arm, self.size());
        NearestTurn {
            socket,
            arm: Arm { centre: centre / size, p: p / size, q: q / size },
            to: aim * (to / size).min(FAR),
            range: self.range(),
        }
    }

    /// The root's rotation that leads the end, at `e` now, to the direction `aim` at the angle `t`, with the limb's own bend.
    pub fn carried(&self, root: DQuat, e: DVec3, aim: DVec3, t: f64) -> DQuat {
        let (end, plane) = (root * self.arm.end(t), root * self.about);
        let e = if e.length() > ROUNDING * self.size() { e } else { end };
        (arc(e, aim, plane) * arc(end, e, plane) * root).normalize()
    }

    /// Keeps to one side of straight, with the end at most at the distance `reach`.
    fn narrow(&mut self, side: f64, reach: f64) {
        let (t0, c, dd) = self.straightest();
        let y = (reach * reach - c).clamp(-dd, dd);
        let x = atan2(sqrt((dd - y) * (dd + y)), y);
        let Pivot { now, ends, .. } = &mut self.pivot;
        let t0 = *now - side * (around(side * (*now - t0) - 0.5 * PI) + 0.5 * PI);
        if ends[0] == f64::NEG_INFINITY {
            *ends = [t0 - PI, t0 + PI];
        }
        let [low, high] = *ends;
        *ends = if side > 0.0 { [t0 + x, high] } else { [low, t0 - x] }.map(|t| t.clamp(low, high));
    }
}

/// The root's rotation and the hinge's angle that bring the end to its place in the direction `aim`, or nearest to it: one of the
/// angles `ts`, with the swivel within the ball's limits that is nearest to the rotation `wanted`; where there is none, what the
/// search finds from the coordinates `now` and from swivels at the angles `starts`.
pub(super) fn led(
    nearby: &NearestTurn,
    now: [f64; 4],
    aim: DVec3,
    [ts, starts]: [&[f64]; 2],
    wanted: impl Fn(f64) -> DQuat,
) -> (DQuat, f64) {
    for &t in ts {
        let wanted = wanted(t);
        if let Some(angle) = nearby.socket.swivel(wanted, aim) {
            return ((turn(aim, angle) * wanted).normalize(), t);
        }
    }
    let [x, y, z, t] = nearby.search(now, aim, starts, wanted);
    (math64::quaternion(&nearby.socket.turned([x, y, z]).0), t)
}

impl TwoBone {
    /// The limb along a chain, bending at `middle`, within the limits of its joints. See [`from_chain`](Self::from_chain), which
    /// makes limbs of joints without limits.
    ///
    /// The middle joint has a hinge (or turns about single axes of which one moves, or is a ball that swings about one axis and
    /// by at most 9 degrees about the other: the limb bends it about the first, without the play about the other). The root is
    /// free or a ball. Preferred values choose the side to which a straight limb bends. The tip may have any limits of turning;
    /// a goal's rotation turns it within them. It may be stiff, but not held: no other joint could take over.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use sinew::{Chain, Goal, JointTransform, Pose, Skeleton, glam::Vec3, joint::{Dof, Joint}};
    /// use sinew::solve::{LimbOptions, TwoBone};
    ///
    /// let mut builder = Skeleton::builder();
    /// let down = JointTransform::from_translation(Vec3::new(0.0, -0.45, 0.0));
    /// let hip = builder.add("hip", None, JointTransform::from_translation(Vec3::new(0.0, 0.9, 0.0)));
    /// let knee = builder.add("knee", Some(hip), down);
    /// builder.add("ankle", Some(knee), down);
    /// let (mut skeleton, ids) = builder.build()?;
    /// skeleton.set_joint(ids[knee], Joint::hinge(Vec3::X, Dof::range(0.0, 2.0)))?;
    /// let skeleton = Arc::new(skeleton);
    ///
    /// let leg = TwoBone::within_limits(&skeleton, Chain::new(&skeleton, ids[0], ids[2])?, ids[1])?;
    /// let mut pose = Pose::rest(&skeleton);
    /// // The knee bends by 2 radians at most, so that the ankle stays 0.49 m away from the hip.
    /// let report = leg.solve(&mut pose, &Goal::position(Vec3::new(0.0, 0.6, 0.0)), &LimbOptions::new())?;
    /// assert!((report.position_residual - (0.9 * 1f32.cos() - 0.3)).abs() < 1e-5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The middle joint is not between root and tip, or it or the root has an attribute that a limb cannot honour.
    pub fn within_limits(skeleton: &Skeleton, chain: Chain, middle: JointId) -> Result<Self, TwoBoneError> {
        let free = Self::of_chain(skeleton, chain, middle)?;
        ROOT.check(skeleton, [free.chain.root()])?;
        let hinged = skeleton.limits(middle).has_pivot();
        if hinged { HINGE } else { NO_HINGE }.check(skeleton, [middle])?;
        let Some(pivot) = skeleton.limits(middle).pivot(skeleton.rest(middle).rotation) else {
            return Err(TwoBoneError::TurnsFreely { middle: free.name });
        };
        let limited = Within {
            across: (pivot.before * pivot.axis).as_vec3(),
            solve: Self::solve_limited,
            bring: Self::bring_within,
        };
        Ok(Self { hinge: Some(pivot.axis.as_vec3()), within: Some(limited), ..free })
    }

    fn solve_limited(
        &self,
        pose: &mut Pose,
        goal: &Goal,
        options: &LimbOptions,
        tolerance: Tolerance,
    ) -> Result<Report, SolveError> {
        if let Some(report) = self.solve_plain_within(pose, goal, options, tolerance) {
            return Ok(report);
        }
        let skeleton = pose.skeleton();
        let (tip, name) = (self.chain.tip(), |joint| skeleton.name(joint).into());
        if goal.rotation.is_some() {
            TIP.check(skeleton, [tip])?;
            if skeleton.joint(tip).dofs().any(|dof| dof.stiffness >= 1.0) {
                let (joint, attribute) = (name(tip), Attribute::Stiffness);
                return Err(UnsupportedAttribute { joint, attribute, solver: TIP.solver }.into());
            }
        }
        for &joint in self.chain.joints().iter().filter(|&&joint| joint != tip) {
            let scale = pose.local(joint).scale.abs();
            let shear = 1.0 - scale.min_element() / scale.max_element();
            if shear > check::SIMILAR {
                return Err(ChainError::Sheared { joint: name(joint), shear }.into());
            }
        }
        self.solve_general(pose, goal, options, tolerance)
    }

    /// [`TwoBone::bring`] within limits and the bound on turns; see the module's docs. Unsettled where they hold the limb back.
    fn bring_within(&self, pose: &mut Pose, task: &Task, input: &Input, weights: [f32; 2]) -> Brought {
        let mut brought = self.bring_freely_within(pose, task, input, weights);
        if self.turned(pose, input.before) > task.options.max_turn {
            self.hold_back_within(pose, task, input);
            brought.settled = false;
        }
        let (start, end) = (&input.start, self.chain.end(pose));
        brought.turns.branch_changed |= self.changed(pose, end, start, input.before, None, task.is_poled());
        brought
    }

    /// [`Self::bring_within`] without the bound on turns.
    fn bring_freely_within(&self, pose: &mut Pose, task: &Task, input: &Input, weights: [f32; 2]) -> Brought {
        let tip = self.chain.tip();
        let limits = self.relaxed(pose);
        let rotation = task.goal.rotation.filter(|_| weights[1] > 0.0);
        let Some(q) = rotation else {
            return self.lead(pose, task, input, &limits, weights[0], false);
        };
        let by_joint = self.chain.tip_offset() != Vec3::ZERO;
        let mut led = *task;
        if by_joint {
            // The tip joint is led to where the tip's final rotation needs it.
            let now = pose.model_rotation(tip);
            let mut last = q;
            if weights[1] < 1.0 {
                self.lead(pose, task, input, &limits, weights[0], false);
                last = towards(pose.model_rotation(tip), q, weights[1]);
                self.restore(pose, input.before);
            }
            led.to -=
                math::rotate(math::mul(last, math::conjugate(now)), input.start.tip - pose.position(tip));
        }
        let mut brought = self.lead(pose, &led, input, &limits, weights[0], by_joint);
        let (now, kept) = (pose.model_rotation(tip), pose.local(tip).rotation);
        let delta = math::mul(towards(now, q, weights[1]), math::conjugate(now));
        // A turn below f32's rounding of rotations would only change the last bits.
        if Vec3::new(delta.x, delta.y, delta.z).length_squared() > 2.5e-13 {
            let delta = math::into_frame(&pose.parent_model(tip).matrix3, delta);
            let wanted = math::normalize(math::mul(delta, kept));
            let turned = limits[2].clamp(wanted);
            let held = math::angle_between(wanted, turned) > KEPT;
            if held && by_joint && self.middle != tip {
                // The tip cannot follow. Its end is led with the rotation that it may have.
                self.restore(pose, [input.before[0], input.before[1], turned]);
                let input = Input { start: self.points(pose), ..*input };
                brought = self.lead(pose, task, &input, &limits, weights[0], false);
            }
            pose.set_rotation(tip, turned);
            pose.update();
            brought.moved = true;
            brought.settled &= !held;
        }
        brought
    }

    /// The limits of the joints that turn, as the input needs them.
    fn relaxed(&self, pose: &Pose) -> [Limits; 3] {
        let skeleton = pose.skeleton();
        self.turning().map(|joint| skeleton.limits(joint).relaxed_beyond(pose.local(joint), KEPT))
    }

    /// Brings the end (or the tip joint) to the task's place, as a share `weight` of the way in the joints' coordinates.
    fn lead(
        &self,
        pose: &mut Pose,
        task: &Task,
        input: &Input,
        limits: &[Limits; 3],
        weight: f32,
        by_joint: bool,
    ) -> Brought {
        let mut at = input.start;
        if by_joint {
            at.tip = pose.position(self.chain.tip());
        }
        let found = self.find(pose, task, &at, limits, input);
        let mut moved = false;
        if let Some(rotations) = found.rotations.filter(|_| weight > 0.0) {
            for (n, joint) in [self.chain.root(), self.middle].into_iter().enumerate() {
                pose.set_rotation(joint, limits[n].blend(input.before[n], rotations[n], weight));
            }
            pose.update();
            moved = true;
        }
        let unexplained = moved
            && !task.is_poled()
            && task.goal.rotation.is_none()
            && branch::changed(self.turned(pose, input.before), found.explained as f32, 0.0);
        let turns = LimbTurns {
            middle: Quat::IDENTITY,
            root: Quat::IDENTITY,
            out_of_reach: found.out_of_reach.min(f32::MAX.into()) as f32,
            branch_changed: unexplained,
        };
        Brought { at, to: task.to, turns, moved, settled: !found.held || weight <= 0.0 }
    }

    /// The rotations that bring the end to the task's place, or nearest to it.
    fn find(&self, pose: &Pose, task: &Task, at: &LimbPoints, limits: &[Limits; 3], input: &Input) -> Found {
        let LimbOptions { soft, min_flexion, .. } = *task.options;
        let [root, before] = [0, 1].map(|n| in_f64(input.before[n]));
        let none = Found { rotations: None, held: false, out_of_reach: 0.0, explained: f64::INFINITY };
        // A pose of another skeleton, whose joint has no hinge.
        let Some(pivot) = limits[1].pivot(input.before[1]) else { return Found { held: true, ..none } };
        // All in the space of the root's parent.
        let space = pose.parent_model(self.chain.root()).matrix3.as_dmat3();
        let into = space.inverse();
        let unit_length = into.x_axis.length();
        let mirrored = if space.determinant() < 0.0 { -1.0 } else { 1.0 };
        let seen = |p: Vec3| into * (p.as_dvec3() - at.root.as_dvec3());
        let [middle, e, goal] = [at.middle, at.tip, task.to].map(seen);
        let above = into * pose.parent_model(self.middle).matrix3.as_dmat3();
        let sign = if above.determinant() < 0.0 { -1.0 } else { 1.0 };
        let turned = |v: DVec3| above * v * (sign / above.x_axis.length());
        // A ball's play is taken out.
        let play = (in_f64(pivot.local(pivot.now)) * before.conjugate()).normalize();
        let play = DQuat::from_vec4(turned(play.xyz()).extend(play.w));
        let end = middle + play * (e - middle);
        let mut limb = Limb::of([DVec3::ZERO, middle, end], turned(pivot.before * pivot.axis), root, pivot);
        let ([a, b], size, x) = (limb.lengths, limb.size(), goal.length());
        if !(size > 0.0 && size < f64::INFINITY && x < f64::INFINITY) {
            return Found { out_of_reach: if size == 0.0 { x / unit_length } else { 0.0 }, ..none };
        }

        let side = self.bends(&limb, task.side, pose);
        if min_flexion > 0.0 || task.side != BendSide::Keep {
            limb.narrow(side, sqrt((a * a + b * b + 2.0 * a * b * sin_cos(min_flexion.into()).1).max(0.0)));
        }
        let [nearest, reach] = limb.reach();
        // A soft zone leads the end to another place than the goal.
        let to = if soft > 0.0 { soften(x as f32, reach as f32, soft).into() } else { x };
        let d = to.min(reach).max(nearest);
        let by = (x - x.min(reach).max(nearest)).abs();
        let out_of_reach = if by > ROUNDING * size { by / unit_length } else { 0.0 };
        // A goal on the root keeps the limb's direction.
        let aim = if x > ROUNDING * size { goal / x } else { e / e.length().max(f64::MIN_POSITIVE) };
        let place = aim * to;

        let socket = limits[0].socket();
        let nearby = limb.nearby(&socket, aim, to);
        let [cx, cy, cz] = socket.coordinates(root);
        let now = [cx, cy, cz, limb.pivot.now];
        let off = (e - place).length();
        let held = |off: f64| off - (to - d).abs() > 2.0 * ROUNDING * size;
        // Nearer than rounding: the chain is at its goal.
        let places = f64::from(at.root.abs().max_element().max(task.to.abs().max_element()));
        let uncertain = 3e-7 * places.min(1e6) + f64::from(input.uncertain);
        let there = (e - aim * d).length() <= 7e-7 * size + uncertain * unit_length;
        let still = Found {
            held: held(off) && !there,
            out_of_reach: out_of_reach.min((e - goal).length() / unit_length),
            ..none
        };

        let found = |to: DQuat, t: f64| {
            let rotations = [limits[0].clamp(math::normalize(to.as_quat())), limb.pivot.local(t)];
            // Of what f32 and the limits make of it. The pose was nearer where next to half a turn they make much of little.
            let left = (in_f64(rotations[0]) * limb.arm.end(t) - place).length();
            let turned = 2.0 * ((root.conjugate() * to).xyz()).length();
            let bent = around(t - limb.pivot.now).abs().max(2.0 * play.xyz().length());
            let moved = turned > if there { 2e-6 } else { STILL } || bent > STILL;
            if !moved || off < left - ROUNDING * size {
                return still;
            }
            let unmet = left > 2.0 * ROUNDING * size;
            let explained = if unmet { nearby.along(&now) } else { f64::INFINITY };
            Found { rotations: Some(rotations), held: held(left), out_of_reach, explained }
        };
        let (ts, count) = limb.flexions(d, side);
        let sided = task.side == BendSide::Keep || around(ts[0] - limb.pivot.now).abs() < 0.1;
        if there && sided && !task.is_poled() {
            return still;
        }
        let facing = |t: f64| self.facing(task, &limb, root, e, aim, t, (&into, mirrored), at.root);
        let [low, high] = nearby.range;
        let starts = [ts[0], ts[count - 1], low, 0.5 * (low + high), high];
        let (to, t) = led(&nearby, now, aim, [&ts[..count], &starts], facing);
        found(to, t)
    }

    /// The side of straight, 1 or -1, to which the limb bends.
    fn bends(&self, limb: &Limb, side: BendSide, pose: &Pose) -> f64 {
        let t0 = limb.straightest().0;
        let positive = match self.hinge {
            Some(hinge) if limb.pivot.axis.dot(hinge.as_dvec3()) < 0.0 => -1.0,
            _ => 1.0,
        };
        let off = around(limb.pivot.now - t0);
        match side {
            BendSide::Positive => positive,
            BendSide::Negative => -positive,
            BendSide::Keep if off.abs() > STRAIGHT => off.signum(),
            BendSide::Keep => {
                let limits = pose.skeleton().limits(self.middle);
                let preferred = limits.preferred().and_then(|q| limits.pivot(q));
                preferred.map_or(positive, |p| if around(p.now - t0) < 0.0 { -1.0 } else { 1.0 })
            }
        }
    }

    /// The root's rotation that leads the end at the angle `t` to the direction `aim`, and the bend where the goal wants it.
    #[allow(clippy::too_many_arguments)]
    fn facing(
        &self,
        task: &Task,
        limb: &Limb,
        root: DQuat,
        e: DVec3,
        aim: DVec3,
        t: f64,
        (into, mirrored): (&DMat3, f64),
        at: Vec3,
    ) -> DQuat {
        let mut q = limb.carried(root, e, aim, t);
        if task.is_poled() {
            let u = limb.u / limb.lengths[0].max(f64::MIN_POSITIVE);
            let along = q.conjugate() * aim;
            let across = u - along * along.dot(u);
            // A straight limb faces the pole with the side to which it flexes: the middle joint goes away from the end.
            let side = if around(t - limb.straightest().0) < 0.0 { -1.0 } else { 1.0 };
            let own =
                across + along.cross(limb.about) * (side * (f64::from(BLUR) - across.length()).max(0.0));
            let mut angle = f64::from(task.goal.swivel) * mirrored;
            if task.goal.pole != Pole::Keep {
                let pole = task.goal.pole.direction(at, Vec3::ZERO, Vec3::ZERO, 0.0);
                let pole = *into * direction(pole).as_dvec3();
                let pole = (pole / pole.length().max(f64::MIN_POSITIVE)).as_vec3();
                let (twist, _) = twist_towards(aim.as_vec3(), (q * own).as_vec3(), pole);
                angle +=
                    2.0 * atan2(Vec3::new(twist.x, twist.y, twist.z).as_dvec3().dot(aim), twist.w.into());
            }
            q = turn(aim, angle) * q;
        }
        // What rounding (and a half turn's fallback) has left.
        (arc(q * limb.arm.end(t), aim, root * limb.about) * q).normalize()
    }

    /// Goes from the input pose to the solved one until a joint has turned by the bound, or the end would go further from its goal
    /// than at both, and rotation and end together than at first (in a soft zone: from where the solved pose has the end).
    fn hold_back_within(&self, pose: &mut Pose, task: &Task, input: &Input) {
        let tip = self.chain.tip();
        let after = self.turning().map(|joint| pose.local(joint).rotation);
        let place = if task.options.soft > 0.0 { self.chain.end(pose) } else { task.to };
        let lengths = self.lengths(pose);
        let size = lengths.0 + lengths.1;
        self.restore(pose, input.before);
        let limits = self.relaxed(pose);
        let mut go = |share: f32| {
            self.restore(pose, [0, 1, 2].map(|n| limits[n].blend(input.before[n], after[n], share)));
            let turn = task.goal.rotation.map_or(0.0, |q| math::angle_between(pose.model_rotation(tip), q));
            let off = distance(self.chain.end(pose), place);
            let both = math::sqrt(off * off + 0.25 * size * size * turn * turn);
            (self.turned(pose, input.before), off, both)
        };
        let (from, to, slack) = (go(0.0), go(1.0), 1e-6 * size);
        let mut share = largest_share(20, |share| go(share).0 <= task.options.max_turn);
        for _ in 0..8 {
            let (_, off, both) = go(share);
            // A tip that its limits keep from the rotation may leave it behind.
            if off <= from.1.max(to.1) + slack || both <= from.2 + slack {
                return;
            }
            share *= 0.5;
        }
        go(0.0);
    }
}
