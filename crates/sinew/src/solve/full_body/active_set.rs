//! Active set of a joint: the limits that block it in a step.

use glam::{Quat, Vec3};

use super::{
    column::{Column, Kind, State},
    cost::Twist,
};
use crate::math;

/// Active limits of one joint, and the kinds of its dofs that move a task.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ActiveSet {
    /// Unit normals of active limits of a ball, in the parent's orientation.
    pub normals: [Vec3; 3],
    pub count: usize,
    /// For single coordinates (three angles, then three slides): sign of the active bound, 0 for none.
    pub sides: [f32; 6],
    /// Whether a rotation, or a slide, of the joint moves any task.
    pub turns: bool,
    pub slides: bool,
    /// Whether the joint is a ball without active limits.
    pub free_ball: bool,
}

impl ActiveSet {
    /// Unit vectors in model space that span the rotations tangent to all active limits; the rest are zero vectors.
    pub fn free_axes(&self, base: Quat) -> [Vec3; 3] {
        let a = math::rotate(base, self.normals[0]);
        let u = math::perpendicular(a, Vec3::ZERO);
        let v = a.cross(u);
        if self.count == 1 {
            return [u, v, Vec3::ZERO];
        }
        let across = a.cross(math::rotate(base, self.normals[1]));
        // Nearly parallel normals count as one.
        let Some(only) = (across.length_squared() > 1e-4).then(|| across.normalize_or_zero()) else {
            return [u, v, Vec3::ZERO];
        };
        if self.count == 2 { [only, Vec3::ZERO, Vec3::ZERO] } else { [Vec3::ZERO; 3] }
    }

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
        for k in (0..self.count).rev() {
            if released[k] {
                self.count -= 1;
                self.normals[k] = self.normals[self.count];
            }
        }
    }

    /// Activates a limit by its normal, in the parent's orientation.
    pub fn add_normal(&mut self, normal: Vec3) {
        // A similar normal is that of the same limit, further along it.
        if let Some(known) = self.normals[..self.count].iter_mut().find(|n| n.dot(normal) > 0.7) {
            *known = normal;
        } else if self.count < 3 {
            self.normals[self.count] = normal;
            self.count += 1;
        }
    }

    /// Activates the bound of a coordinate whose change fell `short` of the `wanted` one.
    pub fn add_bound(&mut self, side: usize, wanted: f32, short: f32) {
        if short.abs() > 1e-6 {
            self.sides[side] = wanted.signum();
        }
    }
}
