//! Mesh for a skeleton without one, like an artist's dummy.

use std::sync::Arc;

use glam::Vec3;
use sinew::{JointId, Pose, Skeleton};

use super::{Color, Mesh, Ring, Surface};

/// Side of the body that a joint is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Left,
    Right,
    Center,
}

// Linear RGB. Blue and orange differ in hue and lightness for every kind of colour blindness (Okabe & Ito 2008).
const LEFT: Color = Color { name: "left", rgb: [0.05, 0.22, 0.55], roughness: 0.6 };
const RIGHT: Color = Color { name: "right", rgb: [0.80, 0.25, 0.02], roughness: 0.6 };
const CENTER: Color = Color { name: "center", rgb: [0.42, 0.42, 0.43], roughness: 0.6 };
const BALL: Color = Color { name: "joint", rgb: [0.08, 0.08, 0.09], roughness: 0.5 };

/// Number of joints from which on bones are plain octahedra, which keep the file small.
const MANY: usize = 1000;

/// Builds a mesh for a skeleton in its rest pose: a rounded, tapered segment for each bone and a ball at each joint, blue on
/// the left side, orange on the right, grey in the middle. Each bone is skinned to the joint at which it starts.
///
/// Left and right come from names, or else from positions in model space: left is +X. From 1,000 joints on, bones are
/// octahedra without balls.
pub fn figure(skeleton: &Arc<Skeleton>) -> Mesh {
    let pose = Pose::rest(skeleton);
    let body = Body::new(skeleton, &pose);
    let mut mesh = Mesh::new();
    let columns = if skeleton.len() < MANY { 16 } else { 4 };
    // The radius of each joint's ball is that of the thinnest bone at the joint.
    let mut ball = vec![0.0f32; skeleton.len()];
    for joint in skeleton.joints() {
        let Some(parent) = skeleton.parent(joint) else { continue };
        let (a, b) = (pose.position(parent), pose.position(joint));
        let length = a.distance(b);
        // A bone that is too short to see, or not finite, gets no segment.
        if length.is_nan() || length < 0.004 * body.size {
            continue;
        }
        let color = body.color(joint);
        let shape = body.shape(joint, a, b);
        let thick = 0.62 * shape.wide.min(shape.deep);
        for end in [parent, joint] {
            let r = &mut ball[end.index()];
            *r = if *r == 0.0 { thick } else { r.min(thick) };
        }
        let surface = if skeleton.len() < MANY { shape.rounded(columns) } else { shape.octahedron() };
        surface.add_to(&mut mesh, parent, |_| vec![(parent, 1.0)], |_| color);
    }
    for joint in skeleton.joints().filter(|_| skeleton.len() < MANY) {
        if let Some(block) = body.block(skeleton, &pose, joint) {
            block.rounded(columns).add_to(&mut mesh, joint, |_| vec![(joint, 1.0)], |_| &CENTER);
        }
    }
    for joint in skeleton.joints() {
        let alone = skeleton.len() == 1;
        let radius = if alone { 0.05 * body.size } else { ball[joint.index()] };
        // The end of a limb does not turn.
        let turns = alone || body.below[joint.index()] > 0.0;
        if radius > 0.0 && turns && skeleton.len() < MANY {
            let center = pose.position(joint);
            Surface::ball(center, radius, columns).add_to(
                &mut mesh,
                joint,
                |_| vec![(joint, 1.0)],
                |_| &BALL,
            );
        }
    }
    mesh
}

/// Measures of the whole body, which set the size of each bone. In model space, in metres.
struct Body {
    /// Largest edge of the box around all joints.
    size: f32,
    /// Height of the lowest joint.
    floor: f32,
    /// X of the body's middle.
    middle: f32,
    /// For each joint, the total length of the bones below it.
    below: Vec<f32>,
    sides: Vec<Side>,
}

impl Body {
    fn new(skeleton: &Skeleton, pose: &Pose) -> Self {
        let positions = || skeleton.joints().map(|j| pose.position(j));
        let low = positions().fold(Vec3::INFINITY, Vec3::min);
        let high = positions().fold(Vec3::NEG_INFINITY, Vec3::max);
        let size = (high - low).max_element();
        let size = if size > 0.0 && size.is_finite() { size } else { 1.0 };
        let middle = skeleton.joints().next().map_or(0.0, |j| pose.position(j).x);
        let mut below = vec![0.0; skeleton.len()];
        for joint in skeleton.joints().rev() {
            if let Some(parent) = skeleton.parent(joint) {
                below[parent.index()] +=
                    below[joint.index()] + pose.position(parent).distance(pose.position(joint));
            }
        }
        let mut sides: Vec<Side> = Vec::with_capacity(skeleton.len());
        for joint in skeleton.joints() {
            let x = pose.position(joint).x - middle;
            let above = skeleton.parent(joint).and_then(|p| sides.get(p.index()).copied());
            let side = named_side(skeleton.name(joint)).unwrap_or(match above {
                // Joints below an arm are on the arm's side, even if the arm crosses the middle.
                Some(side @ (Side::Left | Side::Right)) => side,
                _ if x > 0.04 * size => Side::Left,
                _ if x < -0.04 * size => Side::Right,
                _ => Side::Center,
            });
            sides.push(side);
        }
        Self { size, floor: low.y, middle, below, sides }
    }

    /// The pelvis or the chest: a segment between the left and right limb of a joint of the trunk; `None` without both.
    fn block(&self, skeleton: &Skeleton, pose: &Pose, joint: JointId) -> Option<Segment> {
        if self.sides[joint.index()] != Side::Center {
            return None;
        }
        let start = |side: Side| {
            let mut at = skeleton.children(joint).find(|c| self.sides[c.index()] == side)?;
            // Skips collar bones and hip bones, which are shorter than the bone that follows them.
            loop {
                let next = skeleton.children(at).next()?;
                let own = pose.position(at).distance(pose.position(next));
                let after = skeleton.children(next).next();
                let after = after.map_or(0.0, |j| pose.position(next).distance(pose.position(j)));
                if own > 0.17 * self.size || own > 0.9 * after {
                    return Some(pose.position(at));
                }
                at = next;
            }
        };
        let (left, right, own) = (start(Side::Left)?, start(Side::Right)?, pose.position(joint));
        let middle = 0.5 * (left + right);
        // The chest is below and between the shoulders; the pelvis encloses the hips.
        let chest = own.y - self.floor > 0.65 * self.size;
        let apart = left.distance(right);
        let wide = if chest { (0.46 * apart).min(0.09 * self.size) } else { 0.48 * apart };
        if !wide.is_finite() || wide < 0.02 * self.size {
            return None;
        }
        let reach = 0.5 * own.distance(middle) + 0.035 * self.size;
        let high = reach.max(if chest { wide } else { 0.055 * self.size });
        let center = if chest { middle - Vec3::Y * (0.6 * high) } else { own.lerp(middle, 0.5) };
        let (a, b) = (center - Vec3::Y * high, center + Vec3::Y * high);
        let across = (left - right).try_normalize().unwrap_or(Vec3::X);
        Some(Segment { a, b, wide, deep: (0.7 * wide).min(0.06 * self.size), across, swell: 0.5 })
    }

    fn color(&self, joint: JointId) -> &'static Color {
        match self.sides[joint.index()] {
            Side::Left => &LEFT,
            Side::Right => &RIGHT,
            Side::Center => &CENTER,
        }
    }

    /// The segment of the bone from `a` to `b`, which ends at `joint`.
    fn shape(&self, joint: JointId, a: Vec3, b: Vec3) -> Segment {
        let size = self.size;
        let length = a.distance(b);
        let below = self.below[joint.index()];
        let middle = |p: Vec3| (p.x - self.middle).abs() < 0.03 * size;
        let leaf = below == 0.0;
        let low = a.y.max(b.y) - self.floor < 0.13 * size;
        let flat = (b.y - a.y).abs() < 0.8 * length;
        let axis = (b - a) / length;
        // A bone in the middle belongs to the trunk if it carries bones of half the body's size.
        let center = self.sides[joint.index()] == Side::Center;
        if center && middle(a) && middle(b) && below > 0.5 * size {
            let wide = (0.8 * length).clamp(0.055 * size, 0.08 * size);
            // Short vertebrae overlap, so that they look like one trunk and not like a stack of plates.
            let more = axis * (0.75 * wide - 0.5 * length).max(0.0);
            let (a, b) = (a - more, b + more);
            return Segment { a, b, wide, deep: 0.66 * wide, across: Vec3::X, swell: 0.5 };
        }
        if center && leaf && axis.y > 0.5 && a.y - self.floor > 0.6 * size {
            let wide = (0.6 * length).clamp(0.03 * size, 0.05 * size);
            return Segment { a, b, wide, deep: wide, across: Vec3::X, swell: 0.6 };
        }
        if low && flat && !center {
            let wide = (0.3 * length).clamp(0.012 * size, 0.028 * size);
            let across = Vec3::Y.cross(axis).try_normalize().unwrap_or(Vec3::X);
            return Segment { a, b, wide, deep: 0.6 * wide, across, swell: 0.6 };
        }
        // A bone that carries more is thicker: a thigh more than a shin, an arm more than a finger.
        let stout = 0.11 + 0.05 * (below / (below + length)).min(0.8);
        let wide = (stout * length).clamp(0.005 * size, 0.045 * size);
        Segment { a, b, wide, deep: wide, across: Vec3::X, swell: 0.3 }
    }
}

/// Shape of a bone, in model space, in metres.
struct Segment {
    a: Vec3,
    b: Vec3,
    /// Largest half-width along `across`.
    wide: f32,
    /// Largest half-width at a right angle to `across`.
    deep: f32,
    across: Vec3,
    /// Position of the thickest part: 0 at `a`, 1 at `b`.
    swell: f32,
}

impl Segment {
    fn ring(&self, t: f32, part: f32) -> Ring {
        let axis = (self.b - self.a).try_normalize().unwrap_or(Vec3::Y);
        let right = sinew::math::perpendicular(axis, self.across);
        Ring {
            center: self.a.lerp(self.b, t),
            right: right * (self.wide * part),
            front: axis.cross(right) * (self.deep * part),
        }
    }

    /// A surface with rounded ends that is thickest at `swell`.
    fn rounded(&self, columns: usize) -> Surface {
        const ROWS: usize = 14;
        let rings: Vec<Ring> = (1..ROWS)
            .map(|k| {
                // Rows are closer at the ends, where the outline curves most.
                let t = 0.5 - 0.5 * sinew::math::cos(std::f32::consts::PI * k as f32 / ROWS as f32);
                let s = self.swell;
                // A half-ellipse on each side of the swell; for limbs a fuller curve, like turned wood.
                let u = if t < s { (s - t) / s } else { (t - s) / (1.0 - s) };
                let round = sinew::math::sqrt((1.0 - u * u * if s < 0.45 { u } else { 1.0 }).max(0.0));
                // Limbs taper towards their ends; the square makes no edge at the swell.
                let taper = 1.0 - if s < 0.45 { 0.35 * u * u } else { 0.0 };
                self.ring(t, round * taper)
            })
            .collect();
        let mut surface = Surface::through(&rings, columns);
        surface.start = self.a;
        surface.end = self.b;
        surface
    }

    fn octahedron(&self) -> Surface {
        let mut surface = Surface::through(&[self.ring(0.2, 1.0)], 4);
        surface.start = self.a;
        surface.end = self.b;
        surface
    }
}

/// The side that a joint's name tells: `left`, `Right`, `.L`, `_r`, `LHipJoint`, `l_thigh`; `None` if it tells none.
fn named_side(name: &str) -> Option<Side> {
    let lower = name.to_lowercase();
    if lower.contains("left") {
        return Some(Side::Left);
    }
    if lower.contains("right") {
        return Some(Side::Right);
    }
    let letter = |c: char| match c {
        'l' | 'L' => Some(Side::Left),
        'r' | 'R' => Some(Side::Right),
        _ => None,
    };
    let parts: Vec<&str> = name.split(['.', '_', '-', ' ', ':']).collect();
    if parts.len() > 1 {
        let alone = parts.iter().find(|p| p.len() == 1).and_then(|p| p.chars().next());
        if let Some(side) = alone.and_then(letter) {
            return Some(side);
        }
    }
    // `LHipJoint` and `lThigh`, but not `Root` or `lowerback`.
    let mut chars = name.chars();
    match (chars.next(), chars.next()) {
        (Some(first), Some(second)) if second.is_uppercase() => letter(first),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::JointTransform;

    #[test]
    fn names_tell_sides() {
        for (name, side) in [
            ("LeftUpLeg", Some(Side::Left)),
            ("mixamorig:RightFoot", Some(Side::Right)),
            ("thigh.L", Some(Side::Left)),
            ("thigh_r", Some(Side::Right)),
            ("LHipJoint", Some(Side::Left)),
            ("rShin", Some(Side::Right)),
            ("Root", None),
            ("LowerBack", None),
            ("lowerleg", None),
            ("Spine1", None),
        ] {
            assert_eq!(named_side(name), side, "{name}");
        }
    }

    #[test]
    fn a_hand_is_of_its_arm_s_side() {
        let mut b = Skeleton::builder();
        let at = |x, y| JointTransform::from_translation(Vec3::new(x, y, 0.0));
        let hips = b.add("pelvis", None, at(0.0, 1.0));
        let arm = b.add("arm", Some(hips), at(0.3, 0.3));
        b.add("paw", Some(arm), at(-0.5, 0.0));
        let skeleton = Arc::new(b.build().unwrap().0);
        let body = Body::new(&skeleton, &Pose::rest(&skeleton));
        assert_eq!(body.sides, [Side::Center, Side::Left, Side::Left]);
    }
}
