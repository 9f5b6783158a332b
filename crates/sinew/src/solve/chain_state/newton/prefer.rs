//! Preferred values in the null space of a task.
//!
//! Where the task is met, or its residual is minimal, the joints approach their preferred values p as far as the task leaves
//! them free. With g = p - q, weights W and the residual r of the task, a step is
//!
//! ```text
//! d = W (g + J^T y)    with    (J W J^T + mu) y = r - J W g,
//! ```
//!
//! of all steps that remove r the nearest to W g. As g . d >= 0 where r is 0, it leads nearer to p. Such a step leaves the
//! task by the square of its length only, and a few steps for the task alone lead back to it. A step that does not pay is
//! undone, and repeated with a share of g.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use super::{Ask, ChainState, Kind, Newton};
use crate::{math, solve::iterate::Trace};

/// Maximum number of steps.
const STEPS: u32 = 20;

/// Maximum number of steps back to the task after each.
const CORRECTIONS: u32 = 4;

/// Share of the squared distance from the preferred values above which a step gains too little.
const GAIN: f32 = 0.99;

/// Smallest share of g that is tried.
const LEAST: f32 = 0.02;

/// Rounding of a rotation by forward kinematics in f32, in radians.
const ROUNDING: f32 = 1e-6;

impl Newton {
    /// Moves joints towards their preferred values, in at most `max_steps` steps. The residual grows by rounding at most.
    /// `saved` is a buffer.
    #[cold]
    pub fn prefer(
        &mut self,
        links: &mut ChainState,
        ask: &Ask,
        max_steps: u32,
        saved: &mut Vec<(Quat, Vec3)>,
    ) {
        let start = self.measure(links, ask);
        let (near, near_turn) = (start.0.max(links.rounding), start.1.max(ROUNDING));
        let ask = &Ask { near: near.min(ask.near), near_turn: near_turn.min(ask.near_turn), ..*ask };
        let holds = |left| ask.met(left) || !ask.met(start) && ask.cost(left) <= ask.cost(start);
        let mut share = 1.0;
        links.keep(saved);
        for _ in 0..max_steps.min(STEPS) {
            let residual = self.view(links, ask);
            let far = self.pull(links, share);
            if !self.step::<true>(links, residual, 1.0) {
                break;
            }
            self.run(links, ask, CORRECTIONS, &mut Trace::none());
            let left = self.measure(links, ask);
            self.view(links, ask);
            let now = self.pull(links, share);
            if holds(left) && now < far {
                links.keep(saved);
                if now > GAIN * far {
                    break;
                }
                share = (2.0 * share).min(1.0);
            } else {
                links.put(saved);
                self.measure(links, ask);
                share *= 0.25;
                if share < LEAST {
                    break;
                }
            }
        }
        links.put(saved);
    }

    /// Reads the joints' state anew, and returns the residual; see [`Newton::see`].
    fn view(&mut self, links: &ChainState, ask: &Ask) -> (Vec3, Option<Vec3>) {
        (self.curved, self.slow_steps) = (false, 0);
        self.prepare(links, ask);
        self.see(links, ask)
    }

    /// Sets the pulls towards the preferred values to a share of the distances. Returns the sum of the distances' squares, in
    /// radians and chain lengths.
    fn pull(&mut self, links: &ChainState, share: f32) -> f32 {
        let mut far = 0.0;
        for c in &mut self.columns {
            let link = &links.links[c.part.link];
            let way = match c.part.kind {
                Kind::Whole => link.limits.preferring(link.rotation).map(|to| {
                    let turn = math::mul(to, math::conjugate(link.rotation));
                    math::rotate(c.frame, math::rotation_vector(turn))
                }),
                Kind::Angle(n) => {
                    let at = self.joints[c.part.link].at[n];
                    link.limits.angle_to_preferred(n, at).map(|way| Vec3::X * way)
                }
                Kind::Slide(_) if c.arm.x == 0.0 => None,
                Kind::Slide(n) => {
                    let at = link.limits.slide_of(link.offset)[n];
                    link.limits.slide_preferred(n).map(|to| Vec3::X * ((to - at) / c.arm.x))
                }
            };
            let way = way.unwrap_or(Vec3::ZERO);
            far += way.length_squared();
            c.pull = way * share;
        }
        far
    }
}
