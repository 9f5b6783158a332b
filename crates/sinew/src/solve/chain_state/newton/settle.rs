//! Unique rest pose of a chain that cannot meet its goal.
//!
//! Many poses come equally near to such a goal, and a descent's path decides which one it finds. The minimum of
//!
//! ```text
//! f(q) = |r(q)| + pull / 2 |q - q0|^2
//! ```
//!
//! within the limits is a single pose, and moves continuously with the goal. Here r is the residual in chain lengths
//! (and half radians), q0 the input pose, and q - q0 the joints' turns in radians. [`Newton::settle`] descends to it
//! from the result of a search, by projected Newton steps (Bertsekas 1982).
//!
//! As |r| <= (|r|^2 / s + s) / 2 for every s, with equality at s = |r|, a step that lowers |r|^2 / 2 + s pull / 2 |q -
//! q0|^2 also lowers f. Far from the goal, the curvature of the tip's path counts. For a joint c and a joint d beyond
//! it, with axes a and arms e from joint to tip, the second derivative of |r|^2 / 2 is (a_c x e_c) . (a_d x e_d) - r .
//! (a_c x (a_d x e_d)). Sums from the root and from the tip multiply it by a direction in one walk each way. So
//! conjugate gradients solve the system, in the subspace that the active set leaves free. The limit of a ball is
//! curved; the force that holds the joint there adds its curvature to the second derivatives.

use glam::Vec3;

use super::{Ask, ChainState, Kind, Newton};
use crate::{joint::Contact, math};

/// Maximum number of steps. Chains of ten cones need eight on average, chains of hinges three.
const STEPS: u32 = 20;

/// Maximum number of Hessian-vector products in one step.
const PRODUCTS: u32 = 40;

/// Tolerance of a step's linear system: the squared residual as a share of the squared right side.
const PRECISE: f32 = 1e-4;

/// Turn in radians of the furthest joint in a step below which a chain has settled. The next step would be of its
/// square.
const SETTLED: f32 = 3e-4;

/// Maximum turn of a joint in one step, in radians.
const FURTHEST: f32 = 0.5;

/// Distance to a limit in radians below which a joint pushed towards the limit moves to it and stays for the step.
const NEAR_LIMIT: f32 = 1e-2;

/// Apparent increase in cost that a step may show from rounding and clamping, in chain lengths of residual.
const ROUNDING: f32 = 3e-6;

/// State of one column in a step of [`Newton::settle`]. Turns are rotation vectors in the frame of the chain's root,
/// slides displacements in chain lengths.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    /// Displacement from the input pose.
    displacement: Vec3,
    /// Whether the column stays where it is.
    fixed: bool,
    /// Only axis about which it turns or along which it slides; none if it turns every way.
    axis: Option<Vec3>,
    /// Normals of active limits of a ball; zero for none.
    normals: [Vec3; 2],
    /// Displacement to the active limits.
    to_limit: Vec3,
    /// Terms that the curvature of an active limit adds: its force times its curvature, half the force, and the axes
    /// perpendicular to the normal.
    bend: (f32, f32),
    across: [Vec3; 2],
    /// Conjugate gradients: step, residual, direction, and its product with the Hessian.
    step: Vec3,
    rest: Vec3,
    direction: Vec3,
    product: Vec3,
}

impl Part {
    /// Projects a vector onto the directions that the axis and the active limits leave free.
    fn project(&self, v: Vec3) -> Vec3 {
        if self.fixed {
            return Vec3::ZERO;
        }
        if let Some(axis) = self.axis {
            return axis * axis.dot(v);
        }
        let v = v - self.normals[0] * self.normals[0].dot(v);
        v - self.normals[1] * self.normals[1].dot(v)
    }
}

/// Terms of f at a pose.
#[derive(Clone, Copy)]
struct Terms {
    /// Residual of the position, residual of the rotation if the task has one, and norm of both.
    off: Vec3,
    spin: Option<Vec3>,
    size: f32,
    /// Half the sum of the squares of the joints' turns.
    turned: f32,
}

impl Newton {
    /// Descends to the rest pose, in at most `max_steps` steps, or until the residual exceeds `allowed`. f does not
    /// increase; the residual may, if joints then turn less.
    pub fn settle(&mut self, links: &mut ChainState, ask: &Ask, max_steps: u32, pull: f32, allowed: f32) {
        self.load(links, ask);
        for c in &mut self.columns {
            let link = &links.links[c.part.link];
            if let Kind::Angle(n) = c.part.kind {
                c.input = link.limits.coordinates(link.input.0)[n];
            }
        }
        let mut here = self.terms(links, ask);
        for _ in 0..max_steps.min(STEPS) {
            let share = pull * here.size;
            let furthest = self.seek(links, here, share);
            // Next to the largest and smallest numbers, products may be NaN. Such a step would move joints anywhere.
            if !self.parts.iter().all(|p| p.step.is_finite()) {
                return;
            }
            self.keep(links);
            // Shorten the step while it leads up.
            let mut k = (FURTHEST / furthest).min(1.0);
            loop {
                self.advance(links, k);
                let now = self.terms(links, ask);
                let cost = |at: Terms| 0.5 * at.size * at.size + share * at.turned;
                if cost(now) < cost(here) + ROUNDING * here.size * (1.0 + here.size) {
                    here = now;
                    if here.size > allowed {
                        return;
                    }
                    break;
                }
                self.put(links);
                k *= 0.3;
                if k * furthest < 0.1 * SETTLED || furthest.is_nan() {
                    return;
                }
            }
            if k * furthest < SETTLED {
                return;
            }
        }
    }

    /// Evaluates the terms of f at the current state.
    fn terms(&mut self, links: &ChainState, ask: &Ask) -> Terms {
        self.measure(links, ask);
        let (off, spin) = self.see(links, ask);
        let mut turned = 0.0;
        for (c, part) in self.columns.iter().zip(&mut self.parts) {
            let link = &links.links[c.part.link];
            let by = match c.part.kind {
                Kind::Whole => {
                    // 4 (1 - w) stands for half the squared angle; its gradient is twice the vector part.
                    let q = math::mul(link.rotation, math::conjugate(link.input.0));
                    let v = Vec3::new(q.x, q.y, q.z);
                    turned += 4.0 * v.length_squared() / (1.0 + q.w.abs());
                    part.displacement = math::rotate(c.frame, v) * if q.w < 0.0 { -2.0 } else { 2.0 };
                    continue;
                }
                Kind::Angle(n) => self.joints[c.part.link].at[n] - c.input,
                Kind::Slide(_) if c.arm.x == 0.0 => 0.0,
                Kind::Slide(n) => {
                    (link.limits.slide_of(link.offset)[n] - link.limits.slide_of(link.input.1)[n]) / c.arm.x
                }
            };
            part.displacement = c.axis * by;
            turned += 0.5 * by * by;
        }
        let size = math::sqrt(off.length_squared() + spin.map_or(0.0, |s| s.length_squared()));
        Terms { off, spin, size, turned }
    }

    /// Computes the step to the minimum of the second-order model, in joint frames. Returns the displacement of the
    /// column that moves furthest.
    fn seek(&mut self, links: &ChainState, at: Terms, share: f32) -> f32 {
        self.activate(links, at, share);
        let mut left = self.sum(|p| p.rest.length_squared());
        let enough = (left * PRECISE).max(1e-16);
        for round in 0..PRODUCTS {
            if left <= enough {
                break;
            }
            let bent = self.multiply(at, share);
            let size = self.sum(|p| p.direction.length_squared());
            // If the model has no minimum in a direction, the step ends before that direction.
            if bent <= 0.1 * share * size {
                if round == 0 {
                    let k = FURTHEST / math::sqrt(size);
                    self.parts.iter_mut().for_each(|p| p.step = p.direction * k);
                }
                break;
            }
            let k = left / bent;
            for p in &mut self.parts {
                p.step += p.direction * k;
                p.rest -= p.product * k;
            }
            let next = self.sum(|p| p.rest.length_squared());
            for p in &mut self.parts {
                p.direction = p.rest + p.direction * (next / left);
            }
            left = next;
        }
        let mut furthest = 0.0f32;
        for (c, p) in self.columns.iter().zip(&mut self.parts) {
            furthest = furthest.max(p.step.length_squared());
            let step = p.step + p.to_limit;
            p.step = match c.part.kind {
                Kind::Whole => math::rotate(math::conjugate(c.frame), step),
                Kind::Angle(_) => Vec3::X * c.axis.dot(step),
                Kind::Slide(_) => Vec3::X * (c.axis.dot(step) * c.arm.x),
            };
        }
        math::sqrt(furthest)
    }

    fn sum(&self, f: impl Fn(&Part) -> f32) -> f32 {
        self.parts.iter().map(f).sum()
    }

    /// Finds the active limits, and the direction of steepest descent within them.
    fn activate(&mut self, links: &ChainState, at: Terms, share: f32) {
        let spin = at.spin.map_or(Vec3::ZERO, |s| s * 0.5);
        for (c, p) in self.columns.iter().zip(&mut self.parts) {
            let link = &links.links[c.part.link];
            let displacement = p.displacement;
            *p = Part { displacement, ..Part::default() };
            let down = match c.part.kind {
                Kind::Slide(_) => at.off,
                _ => c.arm.cross(at.off) + spin,
            } - displacement * share;
            if c.part.kind == Kind::Whole {
                for (n, contact) in link.limits.contacts(link.rotation, NEAR_LIMIT).into_iter().enumerate() {
                    let Some(contact) = contact else { continue };
                    let Contact { both, depth, curvature, .. } = contact;
                    let normal = math::rotate(c.frame, contact.normal);
                    let force = normal.dot(down);
                    if !both && force <= 0.0 {
                        continue;
                    }
                    let first = p.normals[0];
                    p.normals[n] = (normal - first * first.dot(normal)).normalize_or_zero();
                    if !both {
                        p.to_limit += normal * depth.max(0.0);
                        p.across = contact.across.map(|v| math::rotate(c.frame, v));
                        p.bend = (force * curvature, if curvature > 0.0 { 0.5 * force } else { 0.0 });
                    }
                }
            } else {
                let (by, [low, high]) = (c.axis.dot(down), c.room);
                p.axis = Some(c.axis);
                if by < 0.0 && low > -NEAR_LIMIT {
                    (p.fixed, p.to_limit) = (true, c.axis * low);
                } else if by > 0.0 && high < NEAR_LIMIT {
                    (p.fixed, p.to_limit) = (true, c.axis * high);
                }
            }
            p.rest = p.project(down);
            p.direction = p.rest;
        }
    }

    /// Multiplies the Hessian by the direction. Returns the direction's product with the result.
    fn multiply(&mut self, at: Terms, share: f32) -> f32 {
        let off = at.off;
        let (mut moved, mut turned) = (Vec3::ZERO, Vec3::ZERO);
        for (c, p) in self.columns.iter().zip(&mut self.parts).rev() {
            // Displacement of the end by the joints beyond this one.
            p.product = moved;
            if matches!(c.part.kind, Kind::Slide(_)) {
                moved += p.direction;
            } else {
                moved += p.direction.cross(c.arm);
                turned += p.direction;
            }
        }
        let spin = if at.spin.is_some() { turned * 0.25 } else { Vec3::ZERO };
        let (mut before, mut sum) = (Vec3::ZERO, 0.0);
        for (c, p) in self.columns.iter().zip(&mut self.parts) {
            let v = p.direction;
            let mut y = moved - off.cross(before);
            if !matches!(c.part.kind, Kind::Slide(_)) {
                let own = v * off.dot(c.arm) - (off * c.arm.dot(v) + c.arm * off.dot(v)) * 0.5;
                y = c.arm.cross(y) - p.product.cross(off) + own + spin;
                before += v;
            }
            let [a, b] = p.across;
            let (along, about) = (a.dot(v), b.dot(v));
            y += v * share + a * (p.bend.0 * along - p.bend.1 * about) - b * (p.bend.1 * along);
            p.product = p.project(y);
            sum += v.dot(p.product);
        }
        sum
    }

    /// Applies `k` of the step.
    fn advance(&mut self, links: &mut ChainState, k: f32) {
        for (c, p) in self.columns.iter().zip(&self.parts) {
            let step = p.step * k;
            if step == Vec3::ZERO {
                continue;
            }
            let link = &mut links.links[c.part.link];
            match c.part.kind {
                Kind::Whole => {
                    let angle = math::sqrt(step.length_squared());
                    let turn = math::axis_angle(step / angle, angle);
                    link.rotation = link.limits.clamp(math::normalize(math::mul(turn, link.rotation)));
                }
                Kind::Angle(n) => {
                    let joint = &mut self.joints[c.part.link];
                    joint.at[n] = link.limits.stepped(n, joint.at[n], step.x);
                    joint.moved = true;
                }
                Kind::Slide(n) => link.slide_by(n, step.x),
            }
        }
        self.turn(links);
    }
}
