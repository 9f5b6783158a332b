//! Planting for a game that can sample its animation at any time.

use super::{FootPlanter, FootPlanterError, FootPlanterReport, FootPlanterState};
use crate::{Placement, Pose, ground::Ground};

impl FootPlanter {
    /// Plants a frame, `dt` seconds after the last one, in one call: samples the animation at each tick that is due and at
    /// the frame, casts rays, and writes the planted frame to `pose`. Feet then do not depend on the frame rate.
    ///
    /// `sample` takes a time in seconds from the frame: 0 at the frame, negative before it, positive with look-ahead. It
    /// writes the local transforms of the animation at that time into the pose and returns the figure's placement in the
    /// world then, as [`FootPlanter::step`] takes it. It is called for each tick and last for the frame itself. Ticks add 30
    /// calls per second in the mean, at most eight a frame, and up to 16 with look-ahead in the first frame and in one after
    /// more than 0.27 s.
    ///
    /// Ticks are 1/30 s apart, counted from the first frame, and all decisions use the animation at ticks. Two games with
    /// the same animation at different frame rates therefore lock the same feet on the same footholds at the same times, up
    /// to the rounding of times. Without a sampler, see [`FootPlanter::next_tick`] for the accuracy.
    ///
    /// A game that sets contacts ([`FootPlanterState::set_contact`]), or that casts at the rate of its physics, calls
    /// [`FootPlanter::next_tick`], [`FootPlanter::give_tick`], [`FootPlanter::sense`] and [`FootPlanter::step`] itself, in
    /// this order. This method does nothing else, but that after more than 0.27 s it casts anew around the frame.
    ///
    /// # Errors
    ///
    /// The errors of [`FootPlanter::step`]. The pose then holds the last sample.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use sinew::{
    ///     Placement, Pose, Skeleton, JointTransform,
    ///     glam::{Quat, Vec3},
    ///     ground::{Plane, plant::{Figure, Leg, PlantOptions, Sole, FootPlanter}},
    /// };
    /// let mut b = Skeleton::builder();
    /// let at = |x, y, z| JointTransform::from_translation(Vec3::new(x, y, z));
    /// let hips = b.add("hips", None, at(0.0, 0.95, 0.0));
    /// let mut parts = Vec::new();
    /// for x in [0.1, -0.1] {
    ///     let thigh = b.add("thigh", Some(hips), at(x, 0.0, 0.0));
    ///     let shin = b.add("shin", Some(thigh), at(0.0, -0.43, 0.02));
    ///     let foot = b.add("foot", Some(shin), at(0.0, -0.43, -0.02));
    ///     parts.push([thigh, shin, foot]);
    /// }
    /// let (skeleton, ids) = b.build()?;
    /// let rest = Pose::rest(&Arc::new(skeleton));
    /// let sole = Sole {
    ///     heel: Vec3::new(0.0, -0.09, -0.05),
    ///     ball: Vec3::new(0.0, -0.09, 0.13),
    ///     tip: Vec3::new(0.0, -0.09, 0.2),
    /// };
    /// let legs = parts.iter().map(|&[t, s, f]| Leg::new(ids[t], ids[s], ids[f], None, sole)).collect();
    /// let figure = Figure::new(&rest, ids[hips], legs, 1.8)?;
    /// let ground = Plane { point: Vec3::ZERO, normal: Vec3::new(0.0, 1.0, -0.2).normalize() };
    ///
    /// // Steps on the spot: each leg lifts for half of each second.
    /// let animate = |time: f32, pose: &mut Pose| {
    ///     pose.copy_from(&rest);
    ///     for (i, &[thigh, shin, _]) in parts.iter().enumerate() {
    ///         let lift = (std::f32::consts::TAU * (time + 0.5 * i as f32)).sin().max(0.0);
    ///         for (part, angle) in [(thigh, -0.6 * lift * lift), (shin, 0.9 * lift * lift)] {
    ///             let joint = ids[part];
    ///             let turned = JointTransform { rotation: Quat::from_rotation_x(angle), ..*rest.local(joint) };
    ///             pose.set_local(joint, turned);
    ///         }
    ///     }
    ///     Placement::IDENTITY // Here a game returns the placement of its character at that time.
    /// };
    /// // Positions of the left foot six times a second, in a slow game and a fast one, over two seconds.
    /// let play = |rate: usize| -> Result<Vec<Vec3>, Box<dyn std::error::Error>> {
    ///     let planter = FootPlanter::new(&figure, PlantOptions::default())?;
    ///     let (mut pose, mut feet, mut places) = (rest.clone(), planter.state(), Vec::new());
    ///     for frame in 0..2 * rate {
    ///         let (time, dt) = (frame as f32 / rate as f32, 1.0 / rate as f32);
    ///         let sample = |later: f32, pose: &mut Pose| animate(time + later, pose);
    ///         planter.step_with(&mut feet, &ground, &mut pose, dt, sample)?;
    ///         if frame % (rate / 6) == 0 {
    ///             places.push(pose.position(figure.legs()[0].foot));
    ///         }
    ///     }
    ///     Ok(places)
    /// };
    /// for (slow, fast) in play(30)?.iter().zip(&play(144)?) {
    ///     assert!((*slow - *fast).length() < 1e-3);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn step_with(
        &self,
        feet: &mut FootPlanterState,
        ground: &dyn Ground,
        pose: &mut Pose,
        dt: f32,
        mut sample: impl FnMut(f32, &mut Pose) -> Placement,
    ) -> Result<FootPlanterReport, FootPlanterError> {
        self.give_ticks(feet, pose, dt, |_, later, pose| Ok(sample(later, pose)))?;
        let placement = sample(0.0, pose);
        pose.update();
        self.sense(feet, ground, pose, &placement)?;
        self.step(feet, pose, &placement, dt)
    }

    /// Gives the ticks of a coming step, sampled into `pose`. The sampler may set contacts.
    pub(crate) fn give_ticks(
        &self,
        feet: &mut FootPlanterState,
        pose: &mut Pose,
        dt: f32,
        mut sample: impl FnMut(&mut FootPlanterState, f32, &mut Pose) -> Result<Placement, FootPlanterError>,
    ) -> Result<(), FootPlanterError> {
        if !(dt >= 0.0 && dt.is_finite()) {
            return Err(FootPlanterError::Time(dt));
        }
        self.knows(feet)?;
        // Before the casts, which are then around the frame.
        if feet.ends_before(dt) {
            feet.restart();
            feet.known.clear();
        }
        while let Some(later) = self.next_tick(feet, dt) {
            let placement = sample(feet, later, pose)?;
            pose.update();
            self.give_tick(feet, pose, &placement)?;
        }
        Ok(())
    }
}
