//! Active set of a joint: the limits that block it in a step.

use super::{
    column::{Column, Kind, State},
    cost::Twist,
};
use crate::solve::normals::Normals;

/// Active limits of one joint, and the kinds of its dofs that move a task.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ActiveSet {
    /// Active limits of a ball.
    pub normals: Normals,
    /// For single coordinates (three angles, then three slides): sign of the active bound, 0 for none.
    pub sides: [f32; 6],
    /// Whether a rotation, or a slide, of the joint moves any task.
    pub turns: bool,
    pub slides: bool,
    /// Whether the joint is a ball without active limits.
    pub free_ball: bool,
}

impl ActiveSet {
    /// Releases each limit whose constraint force points inward, where the joint's body moves by `x`. It takes effect in the
    /// next step.
    pub fn release(&mut self, columns: &[Column], x: &Twist) {
        let mut released = [false; 3];
        for c in columns.iter().filter(|c| c.state == State::Blocked) {
            let force = c.c - c.h.dot(x);
            match c.kind {
                Kind::Normal(k) => released[k] = force < 0.0,
                Kind::Angle(k) if force * f64::from(self.sides[k]) < 0.0 => self.sides[k] = 0.0,
                Kind::Slide(k) if force * f64::from(self.sides[3 + k]) < 0.0 => self.sides[3 + k] = 0.0,
                _ => {}
            }
        }
        self.normals.release(|k, _| released[k]);
    }

    /// Activates the bound of a coordinate whose change fell `short` of the `wanted` one.
    pub fn add_bound(&mut self, side: usize, wanted: f32, short: f32) {
        if short.abs() > 1e-6 {
            self.sides[side] = wanted.signum();
        }
    }
}
