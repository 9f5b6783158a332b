//! Planting before the handles.

use alloc::{boxed::Box, sync::Arc};

use glam::Vec3;

use super::{FootPlanting, Rig, RigError, RigFrame, RigState};
use crate::{
    JointId, Pose, Skeleton,
    body::BodyRoles,
    ground::plant::{
        Figure, FigureError, FootPlanter, FootPlanterError, FootPlanterReport, FootPlanterState,
    },
};

/// Memory of one figure for the planter of its rig.
#[derive(Clone, Debug)]
pub(super) struct Feet {
    now: FootPlanterState,
    /// The state after the frame that runs.
    next: FootPlanterState,
    /// Whether `next` is to replace `now`.
    planted: bool,
    /// Pose of ticks.
    tick: Pose,
}

impl PartialEq for Feet {
    fn eq(&self, other: &Self) -> bool {
        self.now == other.now
    }
}

impl Feet {
    pub fn new(planter: &FootPlanter, skeleton: &Arc<Skeleton>) -> Self {
        let now = planter.state();
        Self { next: now.clone(), now, planted: false, tick: Pose::rest(skeleton) }
    }

    /// Replaces the state by that after the frame.
    pub fn commit(&mut self) {
        if core::mem::take(&mut self.planted) {
            core::mem::swap(&mut self.now, &mut self.next);
        }
    }

    /// Forgets the past motion.
    pub fn reset(&mut self) {
        self.now.reset();
    }
}

impl RigState {
    /// Memory of the feet, where the rig has a [foot planter](Rig::with_planter): their contacts, the influence of planting and
    /// whether the figure is on the ground are set there.
    pub fn feet_mut(&mut self) -> Option<&mut FootPlanterState> {
        self.feet.as_mut().map(|feet| &mut feet.now)
    }

    /// Memory of the feet, where the rig has a [foot planter](Rig::with_planter).
    pub fn feet(&self) -> Option<&FootPlanterState> {
        self.feet.as_ref().map(|feet| &feet.now)
    }
}

/// Contact of a foot in a pose, by the offset of a joint from its parent.
fn contact(joint: JointId, pose: &Pose) -> f32 {
    let (now, rest) = (pose.local(joint).translation, pose.skeleton().rest(joint).translation);
    let axis = [1, 0, 2].into_iter().find(|&axis| now[axis] != rest[axis]);
    now[axis.unwrap_or(1)]
}

impl Rig {
    /// Makes the figure of a [foot planter](Self::with_planter): that of [`Figure::of_body`], with the settings that the rig has for
    /// its feet.
    ///
    /// # Errors
    ///
    /// Those of [`Figure::of_body`], and a setting is outside its range.
    pub fn figure(
        &self,
        bind: &Pose,
        body: &BodyRoles,
        skin: &[(JointId, Vec3)],
    ) -> Result<Figure, FigureError> {
        let mut figure = Figure::of_body(bind, body, skin)?;
        self.set_legs(&mut figure);
        figure.check_settings(bind)?;
        Ok(figure)
    }

    /// Sets the legs of a figure as the rig has its feet.
    pub fn set_legs(&self, figure: &mut Figure) {
        // Turns are counter-clockwise seen from above: outwards on the left.
        for ((leg, feet), out) in figure.legs_mut().iter_mut().zip(&self.feet).zip([1.0, -1.0]) {
            let &FootPlanting { height, toe_out, follows_slope, contact: _ } = feet;
            (leg.sole_height, leg.yaw, leg.follows_slope) = (height, out * toe_out, follows_slope);
        }
    }

    /// Planting of the left and the right foot, as the rig's specification has it.
    pub fn feet(&self) -> &[FootPlanting; 2] {
        &self.feet
    }

    /// Sets the contacts that joints carry.
    fn set_contacts(&self, feet: &mut FootPlanterState, pose: &Pose) -> Result<(), FootPlanterError> {
        for (leg, joint) in self.feet.iter().enumerate().filter_map(|(leg, foot)| Some((leg, foot.contact?)))
        {
            feet.set_contact(leg, Some(contact(joint, pose)))?;
        }
        Ok(())
    }

    /// Plants the animation before the handles, in frames that have a [ground](RigFrame::ground). States that were made before
    /// are refused.
    ///
    /// Handles get the planted pose: an unset goal is where planting has it, and feet that [hold](super::HandleSpec::holds) keep
    /// the place on the ground when the body is moved. The goal of a foot moves it from there by its influence.
    ///
    /// [`figure`](Self::figure) makes the planter's figure. Contacts of feet that [joints](FootPlanting::contact) carry are those of
    /// the planter's first two legs.
    ///
    /// # Errors
    ///
    /// [`RigError::Figure`] or [`RigError::Plant`]: the planter's figure does not fit the rig's skeleton, or has fewer legs than
    /// contacts are carried for; [`RigError::NoContact`]: one is carried by a joint that the skeleton does not have.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use sinew::{JointTransform, Pose, Skeleton};
    /// use sinew::{Goal, Workspace, body::BodyRoles, glam::Vec3, ground::Plane};
    /// use sinew::ground::plant::{FootPlanter, PlantOptions};
    /// use sinew::rig::{HumanoidSpec, Rig, RigFrame, RigGoal};
    /// # let mut builder = Skeleton::builder();
    /// # let mut add = |name: &str, parent, x, y, z| {
    /// #     builder.add(name, parent, JointTransform::from_translation(Vec3::new(x, y, z)))
    /// # };
    /// # let hips = add("Hips", None, 0.0, 0.95, 0.0);
    /// # let spine = add("Spine", Some(hips), 0.0, 0.2, 0.0);
    /// # add("Head", Some(spine), 0.0, 0.45, 0.0);
    /// # for (side, x) in [("Left", 1.0), ("Right", -1.0)] {
    /// #     let thigh = add(&format!("{side}UpLeg"), Some(hips), 0.1 * x, -0.05, 0.0);
    /// #     let shin = add(&format!("{side}Leg"), Some(thigh), 0.0, -0.42, 0.03);
    /// #     let foot = add(&format!("{side}Foot"), Some(shin), 0.0, -0.4, -0.03);
    /// #     add(&format!("{side}ToeBase"), Some(foot), 0.0, -0.06, 0.13);
    /// # }
    /// # let bind = Pose::rest(&Arc::new(builder.build()?.0));
    /// let body = BodyRoles::find(&bind, &[])?;
    /// let rig = Rig::new(&bind, Some(&body), &HumanoidSpec::new().rig(&body))?;
    /// let planter = FootPlanter::new(&rig.figure(&bind, &body, &[])?, PlantOptions::default())?;
    /// let rig = rig.with_planter(planter)?;
    ///
    /// // A hill that rises towards +Z, and a figure that stands on it.
    /// let ground = Plane { point: Vec3::ZERO, normal: Vec3::new(0.0, 1.0, -0.2).normalize() };
    /// let (mut state, mut workspace) = (rig.state(), Workspace::new());
    /// let frame = RigFrame::new(1.0 / 60.0).with_ground(&ground);
    /// let mut pose = bind.clone();
    /// let report = rig.apply(&mut state, &mut workspace, &mut pose, &frame)?;
    /// assert_eq!(report.planted.map(|feet| feet.standing), Some(2));
    ///
    /// // The body stoops. The feet stay.
    /// let [foot, hips] = [body.legs[0].foot, body.hips];
    /// let stood = pose.position(foot);
    /// let mut goals = vec![RigGoal::new(); rig.goal_count()];
    /// goals[rig.find_goal("body", None).unwrap()] = Goal::position(pose.position(hips) - 0.1 * Vec3::Y).into();
    /// pose.copy_from(&bind); // the animation's, each frame
    /// rig.apply(&mut state, &mut workspace, &mut pose, &frame.with_goals(&goals))?;
    /// assert!(pose.position(foot).distance(stood) < 1e-4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_planter(mut self, planter: FootPlanter) -> Result<Self, RigError> {
        let figure = planter.figure();
        let (joint, joints) = (figure.last_joint(), self.skeleton.len());
        if joint >= joints {
            return Err(FootPlanterError::Figure { joint, joints }.into());
        }
        figure.check_joints(&self.skeleton).map_err(|error| RigError::Figure(Box::new(error)))?;
        let count = figure.legs().len();
        for (leg, joint) in self.feet.iter().enumerate().filter_map(|(leg, foot)| Some((leg, foot.contact?)))
        {
            if joint.index() >= joints {
                return Err(RigError::NoContact { joint, count: joints });
            }
            if leg >= count {
                return Err(FootPlanterError::Leg { leg, count }.into());
            }
        }
        self.moved.extend(figure.joints());
        self.moved.sort_unstable_by_key(|j| j.index());
        self.moved.dedup();
        self.planter = Some(Arc::new(planter));
        self.identity = Arc::new(());
        Ok(self)
    }

    /// The foot planter, if the rig has one.
    pub fn planter(&self) -> Option<&FootPlanter> {
        self.planter.as_deref()
    }

    /// Plants the animation, if there is a ground. The state's feet change with [`Feet::commit`] alone.
    pub(super) fn plant(
        &self,
        state: &mut RigState,
        pose: &mut Pose,
        frame: &RigFrame<'_>,
    ) -> Result<Option<FootPlanterReport>, RigError> {
        let (Some(planter), Some(feet)) = (self.planter(), &mut state.feet) else {
            return Ok(None);
        };
        let Feet { now, next, planted, tick } = feet;
        *planted = false;
        let Some(ground) = frame.ground else {
            // Feet that come back to a ground begin anew on it.
            if !now.is_fresh() {
                next.copy_from(now);
                next.reset();
                *planted = true;
            }
            return Ok(None);
        };
        next.copy_from(now);
        if let Some(look_ahead) = frame.look_ahead {
            planter.give_ticks(next, tick, frame.dt, |next, later, tick| {
                // The look-ahead may have put another figure's pose there.
                if !Arc::ptr_eq(tick.skeleton(), pose.skeleton()) {
                    *tick = pose.clone();
                }
                tick.copy_from(pose);
                let placement = look_ahead(later, tick);
                self.set_contacts(next, tick)?;
                Ok(placement)
            })?;
        }
        self.set_contacts(next, pose)?;
        planter.sense(next, ground, pose, &frame.placement)?;
        let report = planter.step(next, pose, &frame.placement, frame.dt)?;
        *planted = true;
        Ok(Some(report))
    }
}
