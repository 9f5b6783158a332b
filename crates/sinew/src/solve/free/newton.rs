//! Newton's method on the directions of a chain's bones: the iteration of [`FreeChain`](super::FreeChain).

use glam::Vec3;

use super::fours::{Fours, Moments};
use crate::{math, solve::arc::max};

/// Target of Newton's method.
#[derive(Clone, Copy, Debug)]
pub(super) struct To {
    /// Unit direction of the target from the root.
    pub aim: Vec3,
    /// Distance of the target from the root, as a share of the length.
    pub d: f32,
    /// Permitted distance of the end from the target, as a share of the length.
    pub floor: f32,
}

impl To {
    #[inline(always)]
    pub fn met(&self, at: &Moments) -> bool {
        (self.aim * self.d - at.end()).length_squared() <= self.floor * self.floor
    }
}

/// Runs Newton's method (see [`super`]) from the current directions, for `max_passes` passes at most. Returns the number of
/// passes.
#[inline]
pub(super) fn newton(bones: &mut Fours, at: &mut Moments, to: &To, max_passes: u32) -> u32 {
    let To { aim, d, .. } = *to;
    let target = aim * d;
    let (mut passes, mut slow) = (0, 0);
    let mut residual = target - at.end();
    while !to.met(at) && passes < max_passes {
        let (mut x, rest) = step(at, residual, aim, d);
        let mut next = bones.boost(x, rest);
        passes += 1;
        // Halve the step while it increases the residual. Rapidities along one line add: half of the map x is the map
        // that, applied twice, gives x.
        while (target - next.end()).length_squared() > residual.length_squared() {
            if passes >= max_passes || x.length_squared() < 1e-12 {
                *at = next;
                return passes;
            }
            x /= 1.0 + math::sqrt(1.0 - x.length_squared());
            next = bones.boost(-x, 1.0 - x.length_squared());
            passes += 1;
        }
        let before = residual.length_squared();
        *at = next;
        residual = target - at.end();
        // Only parallel bones, which no map parts, keep it from progress. Far out the test does not hold, as bones that
        // point back turn slowly.
        slow += u32::from(d < 0.9 && residual.length_squared() > 0.9 * before);
        if slow > 1 {
            break;
        }
    }
    passes
}

/// Returns the vector x of the Moebius map for one Newton step, and 1 - |x|^2. `at` is the chain now, `left` the
/// displacement of its end that remains, and `aim * d` the target.
#[inline(always)]
fn step(at: &Moments, left: Vec3, aim: Vec3, d: f32) -> (Vec3, f32) {
    // (1 - M)^-1 left = y / determinant, by the adjugate.
    let [xx, yy, yz, zx, xy] = at.second();
    let (a, b, c) = (1.0 - xx, 1.0 - yy, xx + yy);
    let (aa, bb, cc) = (b * c - yz * yz, c * a - zx * zx, a * b - xy * xy);
    let (dd, ee, ff) = (zx * xy + a * yz, xy * yz + b * zx, yz * zx + c * xy);
    // Below 1e-9 all bones are parallel but for rounding, and no finite step helps.
    let determinant = max(a * aa - (xy * ff + zx * ee), 1e-9);
    let row = |x: f32, y: f32, z: f32| x * left.x + y * left.y + z * left.z;
    let y = Vec3::new(row(aa, ff, ee), row(ff, bb, dd), row(ee, dd, cc));

    // With S = |end| and the step measured by the logarithm, the map's vector x along y is
    //   y tau / 2 / (|y tau / 2|^2 + determinant^2 (1 - t^2))^(1/2),
    //   t = (k - 1) / (k + 1),  tau = 4 (1 - S) / ((1 - d) (k + 1)^2),  k^2 = (1 + d) (1 - S) / ((1 - d) (1 + S)) = a / b.
    // Over a common denominator with one root inside, one outside and a single quotient:
    //   y (1 - S) (1 + S) / (|y|^2 (1 - S)^2 (1 + S)^2 + determinant^2 ((a + b) (a b)^(1/2) + 2 a b))^(1/2).
    // The end lies in the goal's direction but for the residual, so this is its distance, without a root.
    let s = at.end().dot(aim);
    let (out, want, sum) = (max(1.0 - s, 1e-7), max(1.0 - d, 1e-7), 1.0 + s);
    let (a, b) = ((1.0 + d) * out, want * sum);
    let root = math::sqrt(a * b);
    let mut scale = out * sum;
    let mut along = y.length_squared() * (scale * scale);
    let mut rest = (determinant * determinant) * ((a + b) * root + 2.0 * (a * b));
    // The logarithm's slope overshoots for a chain that becomes much straighter: its bend decreases ever more slowly.
    // So limit the step to full stretch.
    if want < 0.2 * out {
        let t = (root - b) / (root + b);
        if along * (1.0 - t * t) > rest * (t * t) {
            (scale, along, rest) = (t / y.length(), t * t, 1.0 - t * t);
        }
    }
    // Next to |x| = 1, the map degenerates in f32: limit |x|^2 to about 0.9998.
    rest = max(rest, 2e-4 * along);
    let over = 1.0 / math::sqrt(along + rest);
    let x = y * (scale * over);
    // Near |x| = 1 the difference has few digits, and boosts normalise directions there. Elsewhere `rest` must have the
    // rounding of x, or directions would change their lengths.
    let rest = rest * (over * over);
    (x, if rest <= 0.5 { rest } else { 1.0 - x.length_squared() })
}
