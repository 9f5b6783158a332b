//! Goals as a pose has them, and their conversion between spaces.

use glam::{Affine3, Quat, Vec3};

use super::{
    HandleFault, HandleSolver, Rig, RigError, RigGoal, Space, StartFrom,
    handle::Handle,
    space::{Base, Frame, Spaces},
};
use crate::{Goal, JointTransform, Placement, Pole, Pose, math, solve::check};

/// Bends of a chain, as shares of its line from root to end, between which its plane passes from what the roll of the root tells
/// to what the positions tell. Positions of f32 have 3e-7 of their extent, some 5e-7 m at the height of an arm of 0.55 m: at the
/// lower bound they tell the plane to 3e-4 radians. At a third of it a plane that is read is off by 1e-3; at twice the upper bound,
/// limbs with 3 degrees of flexion would be read by their roll, which need not be that of their plane.
const STRAIGHT: [f32; 2] = [3e-3, 6e-3];

/// The same of a chain that bends to the other side than its root's roll tells: up to 7 degrees of overextension. A plane that is
/// read by the positions would turn the limb's roll by half a turn. As what is read by the roll fades, the limb passes through
/// straight, and its end leaves the goal by twice the square of the share: 2 mm for a leg of 0.9 m (`lab/rig` allows no more).
const OVEREXTENDED: [f32; 2] = [0.029, 0.033];

impl Rig {
    /// Converts a goal, by its index in the rig, to other spaces, so that it stays where it is in the world. `pose` has the
    /// joints of the spaces as the handles before leave them; the spaces that the goal comes in are those that
    /// [`apply`](Self::apply) would take. The result names its spaces.
    ///
    /// # Errors
    ///
    /// The pose or the goal is invalid, the index is out of range, a space does not exist, or a joint of one has no size.
    pub fn convert(
        &self,
        index: usize,
        goal: &RigGoal,
        [space, pole_space]: [Space; 2],
        pose: &Pose,
        placement: &Placement,
    ) -> Result<RigGoal, RigError> {
        self.check_skeleton(pose)?;
        let (handle, n) = self.handle_of(index)?;
        goal.check().map_err(|error| handle.refuse(error))?;
        let fault = |fault| handle.misplaced(fault);
        let to = RigGoal { space: Some(space), pole_space: Some(pole_space), ..*goal };
        for goal in [goal, &to] {
            handle.check_spaces(n, goal, &self.spaces, pose)?;
        }
        let view = View { spaces: &self.spaces, placement, pose };
        let model = handle.in_model_space(n, goal, &view).map_err(fault)?;
        handle.in_spaces(n, &RigGoal { goal: model, ..to }, &view).map_err(fault)
    }

    /// Reads where a pose has the goals, in their spaces: position and rotation of their joints, and the bend. Solving with them
    /// from this pose changes nothing, up to rounding, but for what the handle cannot show ([`match_goals`](Self::match_goals)
    /// keeps that).
    ///
    /// `goals` come with their spaces, influences and kind of pole; the rest is overwritten. A bend is read as a point or a
    /// direction where the goal comes with one. Else it is read as a swivel from the plane in which the handle bends without one:
    /// from [preferred values](StartFrom::Preferred), or by the pole that it follows. Other handles keep the pose's plane. Roll,
    /// bank and pivot of a foot are 0, and a limb has no turns. The goal of an aim or a look-at is as far ahead as the figure is tall, 1.8 m where its
    /// roles are unknown. A twist needs no goal. A full body is read without poles; a [spline](HandleSolver::Spline) bends its chain
    /// into its curve wherever the chain was.
    ///
    /// # Errors
    ///
    /// As [`convert`](Self::convert), and for another number of goals than the rig's.
    pub fn read(&self, pose: &Pose, placement: &Placement, goals: &mut [RigGoal]) -> Result<(), RigError> {
        self.check_skeleton(pose)?;
        if goals.len() != self.goals {
            return Err(RigError::GoalCount { given: goals.len(), wanted: self.goals });
        }
        let view = View { spaces: &self.spaces, placement, pose };
        // All are checked before any is written.
        for write in [false, true] {
            for handle in &*self.handles {
                for n in 0..handle.sources.len() {
                    let goal = &mut goals[handle.first + n];
                    let read = handle.read(n, goal, &view)?;
                    if write {
                        *goal = read;
                    }
                }
            }
        }
        Ok(())
    }

    fn handle_of(&self, index: usize) -> Result<(&Handle, usize), RigError> {
        let of = |h: &&Handle| (h.first..h.first + h.sources.len()).contains(&index);
        let handle = self.handles.iter().find(of);
        handle.map(|h| (h, index - h.first)).ok_or(RigError::NoGoal { index, count: self.goals })
    }
}

/// What goals are seen in.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub spaces: &'a Spaces,
    pub placement: &'a Placement,
    pub pose: &'a Pose,
}

impl Handle {
    /// Checks the frames of a goal's and a pole's space.
    fn check_spaces(&self, n: usize, goal: &RigGoal, spaces: &Spaces, pose: &Pose) -> Result<(), RigError> {
        let frames = self.spaces(n, goal, spaces, pose).map_err(|fault| self.misplaced(fault))?;
        frames.into_iter().filter_map(Base::joint).try_for_each(|joint| {
            check::frame(pose, joint, "a joint's frame", true).map_err(|error| self.refuse(error))
        })
    }

    /// Reads a goal, with the spaces, influences and kind of pole of `given`.
    pub fn read(&self, n: usize, given: &RigGoal, view: &View) -> Result<RigGoal, RigError> {
        let &View { spaces, pose, .. } = view;
        let joint = self.sources[n].joint;
        for joint in [Some(joint), Some(self.chain.root()), self.sources[n].pole].into_iter().flatten() {
            check::frame(pose, joint, "a joint's frame", true).map_err(|error| self.refuse(error))?;
        }
        self.check_spaces(n, given, spaces, pose)?;
        let (at, frame) = (pose.position(joint), pose.model(joint));
        let mut goal =
            Goal { pole: Pole::Keep, swivel: 0.0, rotation: None, position: Some(at), ..given.goal };
        if self.rotates {
            goal.rotation = Some(math::rotation_of(&frame.matrix3));
        }
        let ahead = |axis: Vec3| (frame.matrix3 * axis).normalize_or_zero();
        match self.solver {
            HandleSolver::Twist => goal.position = None,
            HandleSolver::LookAt => goal.position = Some(at + ahead(self.axis) * spaces.height),
            HandleSolver::Aim => {
                goal.position = Some(at + ahead(self.axis) * spaces.height);
                let up = ahead(self.up());
                goal.pole = match given.goal.pole {
                    Pole::Point(_) => Pole::Point(at + up * spaces.height),
                    Pole::Keep if self.from != StartFrom::Preferred && self.sources[n].pole.is_none() => {
                        Pole::Keep
                    }
                    _ => Pole::Direction(up),
                };
            }
            _ if self.is_poled() => {
                if let Some(bend) = self.bend_of(pose) {
                    goal.pole = match given.goal.pole {
                        Pole::Point(_) => Pole::Point(bend.point),
                        Pole::Direction(_) => Pole::Direction(bend.across),
                        Pole::Keep => Pole::Keep,
                    };
                    if goal.pole == Pole::Keep {
                        goal.swivel = self.swivel_of(n, &bend, pose);
                    }
                }
            }
            _ => {}
        }
        let seen = RigGoal { goal, roll: 0.0, bank: 0.0, pivot: 0.0, turns: [Quat::IDENTITY; 2], ..*given };
        self.in_spaces(n, &seen, view).map_err(|fault| self.misplaced(fault))
    }

    /// The swivel that gives a bend, from the plane that the handle has without one.
    fn swivel_of(&self, n: usize, bend: &Bend, pose: &Pose) -> f32 {
        let source = &self.sources[n];
        let (from, offset) = match source.pole {
            Some(pole) => (pose.position(pole) - bend.root, source.swivel),
            None if self.from == StartFrom::Preferred => {
                let (line, bent, _) = self.preferred_bend(pose);
                let Some(line) = line.try_normalize() else { return 0.0 };
                let (_, offset) = self.ranged_goal(pose, bend.end);
                (math::rotate(math::shortest_arc(line, bend.axis, line.cross(bent)), bent), offset)
            }
            None => return 0.0,
        };
        let angle = math::atan2(bend.axis.dot(from.cross(bend.across)), from.dot(bend.across));
        angle - offset
    }

    /// The line from root to end of the chain, its bend, and the bend in the frame of the root's joint: with preferred rotations
    /// below the frame that the root has in a pose.
    fn preferred_bend(&self, pose: &Pose) -> (Vec3, Vec3, Vec3) {
        let joints = self.chain.joints();
        let mut frame = pose.parent_model(joints[0]);
        let (mut root, mut first, mut end, mut sum) = (Vec3::ZERO, Affine3::IDENTITY, Vec3::ZERO, Vec3::ZERO);
        for (k, &j) in joints.iter().enumerate() {
            let (own, wanted) = (pose.local(j), &self.preferred[k]);
            let slides = pose.skeleton().limits(j).slides();
            let translation = if slides { wanted.translation } else { own.translation };
            frame *= JointTransform { translation, rotation: wanted.rotation, ..*own }.to_affine();
            if k == 0 {
                (root, first) = (frame.translation, frame);
            } else if k + 1 < joints.len() {
                sum += self.share_of_bend(k) * (frame.translation - root);
            }
            end = frame.translation;
        }
        let rotation = math::conjugate(math::rotation_of(&first.matrix3));
        let line = end - root;
        let across = math::perpendicular(line.normalize_or(Vec3::X), sum);
        (line, sum, math::rotate(rotation, across))
    }

    /// Where a handle from preferred values leads its end for a goal without a pole, and with which swivel beside the goal's: that of
    /// the nearest pose within a person's ranges, which give way to no goal. Both in model space.
    pub fn ranged_goal(&self, pose: &Pose, goal: Vec3) -> (Vec3, f32) {
        extern crate std;
        if std::env::var("FREE").is_ok() {
            return (goal, 0.0);
        }
        let (Some(ranges), Some(middle)) = (self.ranges, self.middle) else { return (goal, 0.0) };
        let joints = self.chain.joints();
        let space = pose.parent_model(joints[0]);
        let root = pose.position(joints[0]);
        let (mut frame, mut bend) = (Affine3::IDENTITY, Vec3::ZERO);
        for (k, &j) in joints.iter().enumerate() {
            let own = pose.local(j);
            let translation = if k == 0 { Vec3::ZERO } else { own.translation };
            frame *= JointTransform { translation, rotation: self.preferred[k].rotation, ..*own }.to_affine();
            if k == middle {
                bend = frame.translation;
            }
        }
        let (to_parent, to_model) = (space.matrix3.as_dmat3().inverse(), space.matrix3.as_dmat3());
        let local = to_parent * (goal - root).as_dvec3();
        let at = [bend, frame.translation].map(|v| v.as_dvec3());
        let (to, swivel) = ranges.lead(pose, at, joints[0], self.preferred[0].rotation, local);
        let goal = to.map_or(goal, |to| root + (to_model * to).as_vec3());
        (goal, (swivel * to_model.determinant().signum()) as f32)
    }

    /// The share that an inner joint of the chain has in its bend.
    fn share_of_bend(&self, k: usize) -> f32 {
        match self.middle {
            Some(middle) => f32::from(u8::from(k == middle)),
            None => 1.0 / (self.chain.joints().len() - 2) as f32,
        }
    }

    /// The bend of the chain in a pose; `None` where its end is on its root.
    fn bend_of(&self, pose: &Pose) -> Option<Bend> {
        let joints = self.chain.joints();
        let root = pose.position(joints[0]);
        let line = pose.position(joints[joints.len() - 1]) - root;
        let axis = line.try_normalize()?;
        let inner = 1..joints.len() - 1;
        let bent: Vec3 = inner.map(|k| self.share_of_bend(k) * (pose.position(joints[k]) - root)).sum();
        let along = bent.dot(axis);
        let seen = bent - axis * along;
        let share = seen.length() / line.length();
        let mut across = seen.normalize_or_zero();
        if share < OVEREXTENDED[1] {
            let (_, _, local) = self.preferred_bend(pose);
            let rolled = math::perpendicular(axis, math::rotate(pose.model_rotation(joints[0]), local));
            let opposite = (-across.dot(rolled)).max(0.0);
            let [low, high] = [0, 1].map(|n| STRAIGHT[n] + (OVEREXTENDED[n] - STRAIGHT[n]) * opposite);
            let by_positions = ((share - low) / (high - low)).clamp(0.0, 1.0);
            across = across * by_positions + rolled * (1.0 - by_positions);
        }
        let across = math::perpendicular(axis, across);
        let point = root + axis * along + across * self.chain.length(pose);
        Some(Bend { root, end: root + line, axis, across, point })
    }
}

/// The bend of a chain in model space.
struct Bend {
    root: Vec3,
    end: Vec3,
    /// Unit vector from the root to the end.
    axis: Vec3,
    /// Unit vector across the axis, towards the bend.
    across: Vec3,
    /// A point to which the chain bends, as far from its axis as the chain is long.
    point: Vec3,
}

impl Handle {
    /// A goal in model space.
    fn in_model_space(&self, n: usize, given: &RigGoal, view: &View) -> Result<Goal, HandleFault> {
        let of = self.spaces(n, given, view.spaces, view.pose)?;
        let frames = of.map(|space| space.frame(view.pose, view.placement));
        let goal = frames[0].goal_to_model(given.goal, self.sources[n].at_bind);
        Ok(Goal { pole: frames[1].pole_to_model(goal.pole), ..goal })
    }

    /// A goal, given in model space, in its spaces.
    fn in_spaces(&self, n: usize, given: &RigGoal, view: &View) -> Result<RigGoal, HandleFault> {
        let &View { spaces, placement, pose } = view;
        let of = self.spaces(n, given, spaces, pose)?;
        let [frame, pole_frame]: [Frame; 2] = of.map(|space| space.frame(pose, placement));
        let flat = |n: usize| {
            let name = of[n].joint().map_or("", |j| pose.skeleton().name(j));
            HandleFault::Flat { joint: name.into() }
        };
        let goal = frame.goal_from_model(given.goal, self.sources[n].at_bind).ok_or_else(|| flat(0))?;
        let pole = pole_frame.pole_from_model(goal.pole).ok_or_else(|| flat(1))?;
        Ok(RigGoal { goal: Goal { pole, ..goal }, ..*given })
    }
}
