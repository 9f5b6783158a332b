//! Ease of a ball as weights of its turns.

use glam::{Quat, Vec3};

use crate::{joint::Limits, math};

/// Perpendicular axes of turns of a ball, and the weights by which ease multiplies the turns about them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Eases {
    pub axes: [Vec3; 3],
    weights: [f32; 2],
}

impl Eases {
    /// The ease of a ball at a local rotation, in the frame to which `base` turns its parent's; `None` where no turn is eased.
    /// `slope` is the gradient along turns in that frame, which stands for the direction of the step.
    #[cold]
    pub fn new(limits: &Limits, local: Quat, base: Quat, slope: Vec3) -> Option<Self> {
        let (axes, weights) = limits.ball_ease(local, math::rotate(math::conjugate(base), slope))?;
        Some(Self { axes: axes.map(|axis| math::rotate(base, axis)), weights })
    }

    /// Weight of a turn about a unit vector.
    pub fn weight(&self, about: Vec3) -> f32 {
        let part = |n: usize| (1.0 - self.weights[n]) * self.axes[n].dot(about) * self.axes[n].dot(about);
        (1.0 - part(0) - part(1)).max(f32::MIN_POSITIVE)
    }
}
