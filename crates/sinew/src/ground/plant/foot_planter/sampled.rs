//! A frame of a game that can sample its animation at any time.

use super::{FootPlanter, FootPlanterError, FootPlanterReport, FootPlanterState};
use crate::{Placement, Pose, ground::Ground};

impl FootPlanter {
    /// Does all that a frame needs: asks for the animation at each tick that is due and at the frame, casts, and plants the
    /// frame in `pose`, which is `dt` seconds after the last one. This is the way for a game that can sample its
    /// animation at any time, and the one on which feet do not depend on the frame rate.
    ///
    /// `sample` is given a time in seconds from the frame (0 at the frame, negative before it, positive with
    /// look-ahead), and writes the animation at that time into the pose (its matrices need not be updated). It
    /// returns the figure's placement in the world at that time, as [`FootPlanter::step`] takes it. It is called once
    /// for the frame and once for each tick: in the mean thirty more times a second, at most eight more times in a
    /// frame that took long, and in the first frame with look-ahead up to fifteen more. The frame comes last, so that
    /// what a sampler remembers is of the frame.
    ///
    /// Everything is decided by the animation at the ticks, and ticks are a thirtieth of a second apart, counted from the
    /// first frame. Two games that show the same animation at different frame rates give the same numbers, but for
    /// rounding of times, and so lock the same feet in the same places at the same times. What may differ is how far
    /// between two ticks a foot has come when a frame shows it. Without a sampler, by [`FootPlanter::sense`] and
    /// [`FootPlanter::step`] alone, the animation at a tick is taken from the frames around it: to a millimetre or so at 60
    /// Hz and above, and at slower rates whose frames are not on ticks (as 30 Hz has them) but for up to a centimetre and
    /// more where a clip bends sharply.
    ///
    /// A game whose contacts are given ([`FootPlanterState::set_contact`]), or that casts at the physics' rate,
    /// calls [`FootPlanter::next_tick`], [`FootPlanter::give_tick`], [`FootPlanter::sense`] and [`FootPlanter::step`]
    /// itself, in this order: this does nothing else.
    ///
    /// On an error the pose holds what was sampled last.
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
    /// // It steps on the spot: each leg is drawn up for a half of each second.
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
    ///     Placement::IDENTITY // Here a game says where its character is at that time.
    /// };
    /// // A slow game and a fast one, for two seconds: where the left foot is, six times a second.
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
        if !(dt >= 0.0 && dt.is_finite()) {
            return Err(FootPlanterError::Time(dt));
        }
        self.knows(feet)?;
        while let Some(later) = self.next_tick(feet, dt) {
            let placement = sample(later, pose);
            pose.update();
            self.give_tick(feet, pose, &placement)?;
        }
        let placement = sample(0.0, pose);
        pose.update();
        self.sense(feet, ground, pose, &placement)?;
        self.step(feet, pose, &placement, dt)
    }
}
