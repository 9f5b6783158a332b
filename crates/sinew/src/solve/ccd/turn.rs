//! A sweep of cyclic coordinate descent, joint by joint.

use glam::{Quat, Vec3};

use super::brake::Brake;
use crate::{
    math,
    solve::{
        arc::{largest, max, to_unit},
        chain_state::{Ask, ChainState, Kind, Part},
        iterate::{Buffers, Sweep, Trace},
        wahba,
    },
};

/// A sweep over the moving parts, in the order of `parts`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sweeps<'a> {
    pub parts: &'a [Part],
    /// Reduction of each motion.
    pub brake: Brake,
    /// Whether a joint that meets its limits glides along them, and stays where it is if that does not reduce the residual.
    pub glides: bool,
}

impl Sweep for Sweeps<'_> {
    fn sweep(&self, links: &mut ChainState, _: &mut Buffers, ask: &Ask, trace: &mut Trace) {
        // Parts in order from the tip inward, without precedences, need only one walk down the chain.
        let inward = self.parts.windows(2).all(|w| w[0].link >= w[1].link);
        let last = links.links.len() - 1;
        links.send_down(ask.place, ask.turn);
        let mut at = last;
        let (mut arm, mut tip) = (links.tip_arm(), links.tip_turn(last, None));
        for &part in self.parts {
            if inward {
                while at > part.link {
                    at -= 1;
                    arm = links.arm(at, arm);
                    tip = links.tip_turn(at, Some(tip));
                }
            } else {
                links.send_down(ask.place, ask.turn);
                arm = links.arm_of(part.link);
                tip = links.tip_turn_of(part.link);
            }
            let was = trace.is_watched().then(|| links.links[part.link].at());
            match part.kind {
                Kind::Whole => turn(links, part.link, (arm, tip), ask, self),
                Kind::Angle(n) => turn_about(links, part.link, n, (arm, tip), ask, &self.brake),
                Kind::Slide(n) => slide(links, part.link, n, arm, &self.brake),
            }
            if was.is_some_and(|was| was != links.links[part.link].at()) {
                trace.joint(links, part.link);
            }
            if trace.stopped() {
                return;
            }
        }
    }
}

/// Turns a ball joint or a free joint.
fn turn(links: &mut ChainState, link: usize, (arm, tip): (Vec3, Quat), ask: &Ask, sweeps: &Sweeps) {
    let link = &mut links.links[link];
    let unit = link.unit;
    let mut cost = f32::INFINITY;
    // A gliding joint makes up to four arcs, each from where the limits put the last one.
    for round in 0..4 {
        let e = math::rotate(link.rotation, arm);
        let objective = match ask.turn {
            None => arc(e, link.goal),
            Some(_) => {
                let d = math::mul(link.turn, math::conjugate(math::mul(link.rotation, tip)));
                Some(both(e * unit, link.goal * unit, d, ask.radian))
            }
        };
        let Some(objective) = objective else { return };
        let wanted = math::normalize(math::mul(sweeps.brake.turn(objective), link.rotation));
        let next = link.no_further(link.limits.step(link.rotation, wanted));
        let left = |q: Quat| {
            let off = math::sqrt((math::rotate(q, arm) - link.goal).length_squared()) * unit;
            let turn = ask.turn.map_or(0.0, |_| math::angle_between(math::mul(q, tip), link.turn));
            ask.cost((off, turn))
        };
        if round == 0 {
            if next == wanted || !sweeps.glides {
                link.rotation = next;
                return;
            }
            cost = left(link.rotation);
        }
        let now = left(next);
        // Not a comparison with `>=`, so that NaN returns too.
        if now.partial_cmp(&cost) != Some(core::cmp::Ordering::Less) {
            return;
        }
        // A gain of less than a thousandth is not worth another round.
        let worth = now < 0.999 * cost;
        cost = now;
        link.rotation = next;
        if !worth {
            return;
        }
    }
}

/// Turns one coordinate of a joint that turns about axes.
fn turn_about(
    links: &mut ChainState,
    link: usize,
    n: usize,
    (arm, tip): (Vec3, Quat),
    ask: &Ask,
    brake: &Brake,
) {
    let link = &mut links.links[link];
    let at = link.limits.coordinates(link.rotation);
    let Some(axis) = link.limits.turn_axis(n, at) else { return };
    let (e, g) = (math::rotate(link.rotation, arm) * link.unit, link.goal * link.unit);
    // Scales the largest length to between 1 and 2: sine and cosine are squares of lengths, and are squared once more.
    let unit = to_unit(max(max(largest(e), largest(g)), ask.radian));
    let (e, g, radian) = (e * unit, g * unit, ask.radian * unit);
    let mut sine = axis.dot(e.cross(g));
    let mut cosine = e.dot(g) - axis.dot(e) * axis.dot(g);
    if ask.turn.is_some() {
        // Let D turn by the angle 2h, with the vector part v and the scalar part w = cos h. For the axes a_k of a frame and
        // b_k = D a_k, the sums of a_k x b_k . a and of a_k . b_k - (a . a_k) (a . b_k) are 4 w (v . a) and 2 (w^2 - (v .
        // a)^2).
        let d = math::mul(link.turn, math::conjugate(math::mul(link.rotation, tip)));
        let along = axis.dot(Vec3::new(d.x, d.y, d.z));
        let k = 0.5 * radian * radian;
        sine += k * 4.0 * d.w * along;
        cosine += k * 2.0 * (d.w * d.w - along * along);
    }
    // With the end on the axis, every angle is as good.
    let size = radian * radian;
    if sine * sine + cosine * cosine <= 1e-12 * size * size {
        return;
    }
    // See OPPOSITE: 1 + cos is half the square of the sine there.
    if cosine < 0.0 && sine * sine < 2.0 * OPPOSITE * cosine * cosine {
        return;
    }
    let mut wanted = at;
    wanted[n] += brake.angle(math::atan2(sine, cosine));
    let next = link.limits.step_coordinates(at, wanted);
    // A change below rounding would only change the last bits.
    if (next[n] - at[n]).abs() > 1e-7 {
        link.rotation = link.no_further(link.limits.rotation(next));
    }
}

/// Slides a joint along one axis.
fn slide(links: &mut ChainState, link: usize, n: usize, arm: Vec3, brake: &Brake) {
    let link = &mut links.links[link];
    let Some(axis) = link.limits.slide_axis(n) else { return };
    let e = math::rotate(link.rotation, arm);
    let step = axis.dot(link.goal - e) * (1.0 - brake.damping);
    let before = link.offset;
    let from = link.limits.slide_of(before)[n];
    link.slide_to(n, link.limits.slide_step(n, from, from + step));
    link.goal -= link.offset - before;
}

/// 1 + cos of the angle below which two directions count as opposite. All arcs between them are as short, and the choice is
/// left to what knows more: a preferred value, or the bend of the whole chain.
const OPPOSITE: f32 = 1e-6;

/// The shortest arc from `e` to `g`; `None` where either has no direction, or they are opposite.
fn arc(e: Vec3, g: Vec3) -> Option<Quat> {
    let (a, b) = (e.try_normalize()?, g.try_normalize()?);
    (1.0 + a.dot(b) > OPPOSITE).then(|| math::shortest_arc(a, b, Vec3::ZERO))
}

/// The turn that brings `e` near `g` and is near `d`, where a radian counts as `radian` metres.
fn both(e: Vec3, g: Vec3, d: Quat, radian: f32) -> Quat {
    let (e, g, k) = (e.as_dvec3(), g.as_dvec3(), 0.5 * f64::from(radian) * f64::from(radian));
    let b = wahba::outer(g, e, 1.0) + math::to_matrix(d).as_dmat3() * k;
    wahba::best_rotation(&b, e.length() * g.length() + 3.0 * k).unwrap_or(d)
}
