//! Active limits of a joint that turns every way.

use glam::{Quat, Vec3};

use super::eases::Eases;
use crate::math;

/// Normals of the limits that stop a joint: unit vectors in its pre-rotation frame, out of the limits.
///
/// A clamped step adds the direction of its correction. The next steps exclude turns along the normals, and release those
/// whose constraint's multiplier points inward.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Normals {
    /// Zero vectors beyond `count`.
    list: [Vec3; 3],
    count: usize,
}

impl Normals {
    pub fn as_slice(&self) -> &[Vec3] {
        &self.list[..self.count]
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Unit vectors that span the turns which none of the normals blocks, rotated by `frame`; the rest are zero vectors. Those
    /// of a joint that eases are along and across its limits, as far as they are free. One that does not has a normal.
    pub fn free_axes(&self, frame: Quat, eases: Option<&Eases>) -> [Vec3; 3] {
        let mut hint = Vec3::ZERO;
        if let Some(Eases { axes, .. }) = eases {
            if self.is_empty() {
                return *axes;
            }
            hint = axes[1];
        }
        let a = math::rotate(frame, self.list[0]);
        let u = math::perpendicular(a, hint);
        let v = a.cross(u);
        let across = a.cross(math::rotate(frame, self.list[1]));
        // Nearly parallel normals count as one, as does one alone beside a zero vector.
        let square = across.length_squared();
        if square <= 1e-4 {
            return [u, v, Vec3::ZERO];
        }
        let only = across * (1.0 / math::sqrt(square));
        if self.count == 2 { [only, Vec3::ZERO, Vec3::ZERO] } else { [Vec3::ZERO; 3] }
    }

    /// Adds the limit that kept a joint at `next` instead of `wanted`, if it took more than `least` radians. A smaller
    /// correction comes from the curvature of the limit, and is not its normal.
    pub fn add(&mut self, wanted: Quat, next: Quat, least: f32) {
        if wanted == next {
            return;
        }
        let taken = math::rotation_vector(math::mul(wanted, math::conjugate(next)));
        let length = math::sqrt(taken.length_squared());
        if length <= least + 1e-7 {
            return;
        }
        let normal = taken / length;
        // A similar normal is that of the same limit, further along it.
        if let Some(known) = self.list[..self.count].iter_mut().find(|n| n.dot(normal) > 0.7) {
            *known = normal;
        } else if self.count < 3 {
            self.list[self.count] = normal;
            self.count += 1;
        }
    }

    /// Removes the normals for which `leaves` is true.
    pub fn release(&mut self, mut leaves: impl FnMut(usize, Vec3) -> bool) {
        for n in (0..self.count).rev() {
            if leaves(n, self.list[n]) {
                self.count -= 1;
                self.list[n] = self.list[self.count];
                self.list[self.count] = Vec3::ZERO;
            }
        }
    }
}
