//! Restarts of stalled solvers: preferred values, a bend, scattered poses. Each is deterministic for a chain.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use super::{Ask, ChainState};
use crate::{math, solve::arc::distance};

/// Share of its length by which a chain is shorter from root to end and still counts as straight: then no small turn of a
/// joint moves the end along the chain's line. The bones of two are within 3.6 degrees of it.
const STRAIGHT: f32 = 1e-3;

impl ChainState {
    /// Moves the joints to the `n`-th restart: preferred values or a bend first, where they are any use. A tip without a
    /// task keeps its state.
    pub(crate) fn restart(&mut self, n: u32, ask: &Ask) {
        let tip = self.links.len() - 1;
        let kept = (self.links[tip].rotation, self.links[tip].offset);
        if n > 0 || !self.prefer() {
            if n == 0 && self.is_straight() {
                self.bend();
            } else {
                self.scatter(n);
            }
        }
        if ask.turn.is_none() && self.chain().tip_offset() == Vec3::ZERO {
            let (rotation, offset) = kept;
            self.links[tip].rotation = rotation;
            if !self.links[tip].limits.slides() {
                self.links[tip].offset = offset;
            }
        }
    }

    /// Moves joints to their preferred values. Returns false if there are none.
    fn prefer(&mut self) -> bool {
        let mut any = false;
        for link in &mut self.links {
            if let Some(rotation) = link.limits.preferred() {
                link.rotation = rotation;
                any = true;
            }
            for n in 0..3 {
                if let Some(to) = link.limits.slide_preferred(n) {
                    link.slide_to(n, to);
                    any = true;
                }
            }
        }
        any
    }

    /// Whether the end is as far from the root as the chain is long, to [`STRAIGHT`].
    fn is_straight(&self) -> bool {
        let (far, length) = (distance(self.end(), self.place(0)), self.length());
        far >= (1.0 - STRAIGHT) * length
    }

    /// Bends the chain from its current state into an arc of one radian in all, each joint within its limits. A hinge
    /// bends about its own axis, to whichever side its limits allow.
    fn bend(&mut self) {
        let (root, end) = (self.place(0), self.end());
        let along = (end - root).try_normalize().unwrap_or(Vec3::Y);
        let axis = math::perpendicular(along, Vec3::X + Vec3::Z);
        let count = self.links.len();
        // A hundred joints bend by a hundredth of a radian each; two joints by half a radian.
        let angle = 1.0 / count.max(2) as f32;
        self.send_down(root + axis, Some(Quat::IDENTITY));
        for i in 0..count {
            // The model's frame in the pre-rotation frame carries the axis there. In a mirrored frame, the bend goes to
            // the other side.
            let link = &mut self.links[i];
            let axis = math::rotate(link.turn, axis);
            let bent = if link.limits.turns_about_axes() {
                let at = link.limits.coordinates(link.rotation);
                let mut best = link.rotation;
                for side in [angle, -angle] {
                    let mut to = at;
                    for (n, to) in to.iter_mut().enumerate() {
                        if let Some(own) = link.limits.turn_axis(n, at) {
                            *to += if own.dot(axis) < 0.0 { -side } else { side };
                        }
                    }
                    let next = link.limits.clamp(link.limits.rotation(to));
                    if math::angle_between(next, link.rotation) > 0.5 * angle {
                        best = next;
                        break;
                    }
                }
                best
            } else {
                let turned = |a: f32| {
                    let wanted = math::normalize(math::mul(math::axis_angle(axis, a), link.rotation));
                    link.limits.clamp(wanted)
                };
                let next = turned(angle);
                if math::angle_between(next, link.rotation) > 0.5 * angle { next } else { turned(-angle) }
            };
            link.rotation = bent;
        }
    }

    /// Sets each joint to a pseudorandom state within its limits.
    fn scatter(&mut self, seed: u32) {
        let mut x = 0x9E37_79B9u32.wrapping_mul(seed + 1);
        let mut noise = || {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            (x >> 8) as f32 / (1u32 << 23) as f32 - 1.0
        };
        for link in &mut self.links {
            let q = math::normalize(Quat::from_xyzw(noise(), noise(), noise(), noise()));
            if link.limits.turns() {
                link.rotation = link.limits.clamp(q);
            }
            for n in 0..3 {
                let Some((from, to)) = link.limits.slide_range(n) else { continue };
                if (to - from).is_finite() {
                    link.slide_to(n, from + (to - from) * (0.5 + 0.5 * noise()));
                }
            }
        }
    }

    /// Turns each bone towards the goal, from the root outward. For a chain without limits, that is the answer to a
    /// goal out of reach. Restores the start unless the residual is smaller.
    pub(crate) fn pull_straight(&mut self, ask: &Ask, left: (f32, f32), before: &mut Vec<(Quat, Vec3)>) {
        self.keep(before);
        let count = self.links.len();
        for i in 0..count {
            self.send_down(ask.place, None);
            let bone =
                if i + 1 < count { self.links[i + 1].offset * self.links[i].scale } else { self.tip_arm() };
            let link = &mut self.links[i];
            let (Some(e), Some(g)) =
                (math::rotate(link.rotation, bone).try_normalize(), link.goal.try_normalize())
            else {
                continue;
            };
            let arc = math::shortest_arc(e, g, Vec3::ZERO);
            let wanted = math::normalize(math::mul(arc, link.rotation));
            if math::angle_between(wanted, link.rotation) > 2e-7 {
                link.rotation = link.limits.step(link.rotation, wanted);
            }
        }
        if ask.cost(self.measure(ask)) >= ask.cost(left) {
            self.put(before);
        }
    }
}
