//! Random skeletons of 1 to 100 joints, with lengths over six orders of magnitude, bones of no length, scaled and mirrored
//! parents, and random limits. Hostile skeletons have scales of any size, sign and shape above and inside them, more bones
//! of no length, and poses with rotations of other lengths or with invalid data.

use std::sync::Arc;

use sinew::{
    Chain, JointId, JointTransform, Pose, Skeleton,
    glam::{Quat, Vec3},
    joint::{Dof, Joint, Range, RotationOrder, Turning},
    math,
};

use common::Noise;

/// Kinds of joints of a skeleton.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Freedom {
    Free,
    /// A root that is free or a ball, a tip with any limits, and hinges between: also such as people's limbs have.
    Limb,
    Turning,
    Sliding,
}

/// A skeleton with a chain in it, or with limbs that branch.
pub struct Rig {
    pub skeleton: Arc<Skeleton>,
    /// The joints with their limits: the chain from root to tip, or the limbs, parents before children.
    pub joints: Vec<JointId>,
    pub tip_offset: Vec3,
    pub size: f32,
    pub hostile: bool,
    pub freedom: Freedom,
}

impl Rig {
    pub fn random(r: &mut Noise, freedom: Freedom, branching: bool, hostile: bool) -> Self {
        let count = match r.below(24) {
            0..2 if !branching => 1 + r.below(2),
            // Half of them short of 40, and few at the end. (They take most of the time as it is.)
            2 => 12 + (r.unit() * r.unit() * 89.0) as usize,
            _ => 3 + r.below(10),
        };
        let size = 10f32.powf(r.between(-3.0, 3.0));
        let scales =
            [Vec3::ONE, Vec3::ONE, Vec3::splat(0.01), Vec3::splat(-100.0), Vec3::new(1.0, -1.0, 1.0)];
        let mut b = Skeleton::builder();
        let at = |translation, rotation, scale| JointTransform { translation, rotation, scale };
        let mut above = at(Vec3::splat(0.3 * size), r.rotation(), scales[r.below(5)]);
        // None are scaled, the one above, it and one in four, or all: chains with one bad joint are refused as a whole.
        let scaled = if hostile { r.below(4) } else { 0 };
        if scaled > 0 {
            above.scale = scale(r);
        }
        let dots = hostile && r.below(16) == 0;
        let above = b.add("above", None, above);
        let mut places: Vec<usize> = Vec::new();
        for i in 0..count {
            let shorter = match r.below(10) {
                0 => r.between(0.0, 6.0),
                1 => f32::INFINITY,
                _ => r.between(0.0, 1.0),
            };
            let parent = match places.last() {
                None => above,
                // Limbs of some length, not one bush.
                Some(_) if branching && r.below(4) == 0 => places[r.below(places.len())],
                Some(last) => *last,
            };
            let mut local = at(r.vector() * size * 10f32.powf(-shorter), r.rotation(), Vec3::ONE);
            if dots && r.below(4) > 0 {
                local.translation = Vec3::ZERO;
            }
            if scaled == 3 || scaled == 2 && r.below(4) == 0 {
                local.scale = scale(r);
            }
            if hostile && r.below(4) == 0 {
                local.rotation = longer(r, local.rotation, 0.3, 3.9);
            }
            places.push(b.add(format!("{i}"), Some(parent), local));
        }
        b.add("beside", Some(places[0]), at(Vec3::X * size, Quat::IDENTITY, Vec3::splat(1.5)));
        let (mut skeleton, ids) = b.build().expect("the joints are a tree");
        let joints: Vec<_> = places.iter().map(|&i| ids[i]).collect();
        // The solvers of sliding joints honour ease, stiffness and preferred values too.
        let resists = freedom == Freedom::Sliding && r.below(4) == 0;
        if freedom != Freedom::Free {
            for (n, &id) in joints.iter().enumerate() {
                let mut one = match freedom {
                    Freedom::Limb if n == 0 => root(&skeleton, &joints, r),
                    Freedom::Limb if n + 1 < joints.len() => bending(&skeleton, &joints, n, r),
                    _ => joint(r),
                };
                if freedom == Freedom::Sliding && r.below(8) == 0 {
                    let far = f64::from(r.unit() * 0.5 * size);
                    one.slide[r.below(3)] = Some(Dof::range(-far, 2.0 * far));
                }
                if resists && r.below(4) > 0 {
                    resist(&mut one, r);
                }
                // Numbers that make no joint (axes in line) leave a free one.
                let _ = skeleton.set_joint(id, one);
            }
        }
        let tip_offset = if count == 1 || r.below(2) == 0 { r.vector() * size } else { Vec3::ZERO };
        Self { skeleton: Arc::new(skeleton), joints, tip_offset, size, hostile, freedom }
    }

    pub fn chain(&self) -> Option<Chain> {
        let chain = Chain::new(&self.skeleton, self.joints[0], self.joints[self.joints.len() - 1]).ok()?;
        chain.with_tip_offset(&self.skeleton, self.tip_offset).ok()
    }

    /// Puts every joint anywhere, or anywhere within its limits; one in eight of those that turn about axes, next to a pole
    /// of its middle one.
    pub fn pose(&self, pose: &mut Pose, inside: bool, r: &mut Noise) {
        pose.reset();
        for &id in &self.joints {
            let mut q = r.rotation();
            if let Turning::Axes { order, .. } = self.skeleton.joint(id).turning
                && r.below(8) == 0
            {
                let axes = order.axes();
                let turn = |n: usize, angle: f32| math::axis_angle(Vec3::AXES[axes[n]], angle);
                let off = 10f32.powf(r.between(-5.0, -1.0));
                let pole = (std::f32::consts::FRAC_PI_2 - off) * if r.below(2) == 0 { 1.0 } else { -1.0 };
                let (first, last) = (r.between(-3.1, 3.1), r.between(-3.1, 3.1));
                let own = math::mul(math::mul(turn(0, first), turn(1, pole)), turn(2, last));
                q = math::normalize(math::mul(self.skeleton.rest(id).rotation, own));
            }
            pose.set_rotation(id, if inside { self.skeleton.clamp_rotation(id, q) } else { q });
        }
        if self.hostile {
            self.twist(pose, r);
            if r.below(4) == 0 {
                return;
            }
        }
        pose.update();
    }

    /// Gives rotations another length; one pose in eight gets what no solver can work with, somewhere.
    fn twist(&self, pose: &mut Pose, r: &mut Noise) {
        for &id in &self.joints {
            if r.below(4) == 0 {
                pose.set_rotation(id, longer(r, pose.local(id).rotation, 0.3, 3.9));
            }
        }
        if r.below(8) > 0 {
            return;
        }
        let id = self.joints[r.below(self.joints.len())];
        let mut local = *pose.local(id);
        match r.below(6) {
            0 => local.rotation = longer(r, local.rotation, 0.0, 0.2),
            1 => local.rotation = longer(r, local.rotation, 4.2, 1e30),
            2 => local.rotation = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0),
            3 => local.scale = Vec3::ZERO,
            4 => local.scale[r.below(3)] = 0.0,
            _ => {
                let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY][r.below(3)];
                match r.below(3) {
                    0 => local.translation[r.below(3)] = bad,
                    1 => local.scale[r.below(3)] = bad,
                    _ => local.rotation.x = bad,
                }
            }
        }
        pose.set_local(id, local);
    }
}

/// Scales that a joint should not have: tiny, huge, mirrored, unequal by little or much.
fn scale(r: &mut Noise) -> Vec3 {
    let sign = |r: &mut Noise| if r.below(2) == 0 { -1.0 } else { 1.0 };
    let power = |r: &mut Noise, from, to| 10f32.powf(r.between(from, to));
    match r.below(8) {
        0 => Vec3::splat(power(r, -6.0, -3.0)),
        1 => Vec3::splat(power(r, 3.0, 6.0)),
        2 => Vec3::new(sign(r), sign(r), sign(r)),
        3 => Vec3::new(sign(r), sign(r), sign(r)) * power(r, -6.0, 6.0),
        4 => Vec3::new(1.0, power(r, -1.0, 1.0), 1.0),
        5 => Vec3::new(power(r, -0.05, 0.05), power(r, -0.05, 0.05), power(r, -0.05, 0.05)),
        6 => Vec3::new(power(r, -1.0, 1.0), power(r, -1.0, 1.0), sign(r) * power(r, -1.0, 1.0)),
        _ => Vec3::new(power(r, -6.0, 6.0), power(r, -6.0, 6.0), power(r, -6.0, 6.0)),
    }
}

/// A rotation whose squared length lies between two numbers.
pub fn longer(r: &mut Noise, q: Quat, from: f32, to: f32) -> Quat {
    let by = r.between(from, to).sqrt();
    Quat::from_xyzw(q.x * by, q.y * by, q.z * by, q.w * by)
}

fn range(r: &mut Noise) -> Dof {
    match r.below(8) {
        0 => Dof::FREE,
        1 => {
            let at = f64::from(r.between(-1.0, 1.0));
            Dof::range(at, at)
        }
        _ => {
            let from = f64::from(r.between(-2.5, 1.0));
            Dof::range(from, from + f64::from(r.between(0.0, 3.5)))
        }
    }
}

/// Gives the degrees of freedom of a joint ease, stiffness (of 1, one in eight) and preferred values.
fn resist(joint: &mut Joint, r: &mut Noise) {
    let mut any = |dof: &mut Dof| {
        let Range { min, max } = dof.range;
        let share = f64::from(r.unit());
        match r.below(4) {
            0 if dof.range.is_bounded() => dof.ease = share,
            1 => dof.stiffness = if r.below(8) == 0 { 1.0 } else { share },
            2 if dof.range.is_bounded() => dof.preferred = Some(dof.range.clamp(min + (max - min) * share)),
            _ => {}
        }
    };
    joint.slide.iter_mut().flatten().for_each(&mut any);
    match &mut joint.turning {
        Turning::Hinge { dof, .. } => any(dof),
        Turning::Ball { swing, twist, .. } => {
            swing.iter_mut().chain([twist]).for_each(any);
            // Both swings have one ease.
            swing[1].ease = swing[0].ease;
        }
        Turning::Axes { angles, .. } => angles.iter_mut().flatten().for_each(any),
        _ => {}
    }
}

/// A hip or a shoulder: free, a ball within people's limits about the bone, or any ball.
fn root(skeleton: &Skeleton, joints: &[JointId], r: &mut Noise) -> Joint {
    let bone = joints.get(1).map_or(Vec3::Y, |&j| skeleton.rest(j).translation);
    match r.below(4) {
        0 => Joint::FREE,
        1 => Joint::ball(bone, r.vector(), [(-2.1, 0.5), (-0.8, 0.5)], (-0.8, 0.7)),
        _ => ball(r),
    }
}

/// A knee or an elbow: a hinge across its bones or anywhere, turns about a single axis, or a ball with play.
fn bending(skeleton: &Skeleton, joints: &[JointId], n: usize, r: &mut Noise) -> Joint {
    let [u, v] = [joints[n], joints[n + 1]].map(|j| skeleton.rest(j).translation.normalize_or(Vec3::Y));
    let across = u.cross(v) + r.vector() * r.unit() * 0.1;
    match r.below(5) {
        0 => Joint::hinge(across, Dof::range(0.0, 2.6)),
        1 => Joint::hinge(across, range(r)),
        2 => {
            let mut angles = [None; 3];
            angles[r.below(3)] = Some(range(r));
            Turning::Axes { order: RotationOrder::Zxy, angles }.into()
        }
        3 => Joint::ball(v, across, [(-2.6, 0.05), (-0.1, 0.05)], (-0.5, 0.5)),
        _ => Joint::hinge(r.vector(), range(r)),
    }
}

fn ball(r: &mut Noise) -> Joint {
    let mut half = || f64::from(10f32.powf(r.between(-1.5, 0.47)));
    let half = [[half(), half()], [half(), half()]];
    let (z, x) = (r.vector().as_dvec3(), r.vector().as_dvec3());
    let twist = range(r);
    // Also so that rest is outside.
    let centre = if r.below(3) > 0 { [0.0; 2] } else { [0; 2].map(|_| f64::from(r.between(-1.5, 1.5))) };
    let swing = [0, 1].map(|k| Dof::range(centre[k] - half[k][0], centre[k] + half[k][1]));
    Turning::Ball { twist_axis: z, swing_axis: x, swing, twist, centre }.into()
}

fn joint(r: &mut Noise) -> Joint {
    match r.below(14) {
        0..4 => Joint::FREE,
        4 => Joint::FIXED,
        5..8 => Joint::hinge(r.vector(), range(r)),
        8..12 => ball(r),
        _ => {
            let order =
                [RotationOrder::Xyz, RotationOrder::Zxy, RotationOrder::Yzx, RotationOrder::Zyx][r.below(4)];
            let angles = [0; 3].map(|_| (r.below(3) > 0).then(|| range(r)));
            Turning::Axes { order, angles }.into()
        }
    }
}
