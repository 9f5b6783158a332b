//! Arms for tests of joint space, and forward kinematics by the textbook to judge them.
#![allow(dead_code)]

use sinew::{
    glam::{DQuat, DVec3, Vec3},
    joint::{Dof, Joint},
    mechanism::{JointSpec, LinkFrames, LinkId, Mechanism, position_and_rotation},
};

/// A joint of a chain: where it is in the last one's frame, its axis, whether it slides, its limits.
pub struct Step(pub [f64; 3], pub [f64; 3], pub bool, pub f64, pub f64);

/// A chain of steps with a tip.
pub struct Arm {
    pub mechanism: Mechanism,
    pub tip: LinkId,
    steps: Vec<Step>,
    end: [f64; 3],
}

impl Arm {
    pub fn new(steps: Vec<Step>, end: [f64; 3]) -> Self {
        let mut b = Mechanism::builder("arm");
        b.link("l0");
        for (i, Step(at, axis, slides, lower, upper)) in steps.iter().enumerate() {
            b.link(format!("l{}", i + 1));
            let axis = DVec3::from_array(*axis);
            let motion = match slides {
                true => Joint::slider(axis, Dof::range(*lower, *upper)),
                false => Joint::hinge(axis, Dof::range(*lower, *upper)),
            };
            let spec = JointSpec::new(
                format!("j{i}"),
                format!("l{i}"),
                format!("l{}", i + 1),
                motion.with_speed(2.0),
            );
            b.joint(JointSpec { translation: DVec3::from_array(*at), ..spec });
        }
        b.link("tip");
        let tip = JointSpec::new("tip", format!("l{}", steps.len()), "tip", Joint::FIXED);
        b.joint(JointSpec { translation: DVec3::from_array(end), ..tip });
        let mechanism = b.build().unwrap();
        let tip = mechanism.find_link("tip").unwrap();
        Self { mechanism, tip, steps, end }
    }

    /// Seven turning joints, shoulder, elbow and wrist, with narrow limits.
    pub fn seven() -> Self {
        let (z, y) = ([0.0, 0.0, 1.0], [0.0, 1.0, 0.0]);
        Self::new(
            vec![
                Step([0.0, 0.0, 0.3], z, false, -2.8, 2.8),
                Step([0.0; 3], y, false, -1.7, 1.7),
                Step([0.0, 0.0, 0.32], z, false, -2.8, 2.8),
                Step([0.08, 0.0, 0.0], [0.0, -1.0, 0.0], false, -3.0, -0.1),
                Step([-0.08, 0.0, 0.38], z, false, -2.8, 2.8),
                Step([0.0; 3], y, false, -0.1, 3.7),
                Step([0.09, 0.0, 0.0], [0.0, 0.0, -1.0], false, -2.8, 2.8),
            ],
            [0.0, 0.0, -0.1],
        )
    }

    /// Six turning joints, a wrist whose axes do not meet.
    pub fn six() -> Self {
        let (z, y) = ([0.0, 0.0, 1.0], [0.0, 1.0, 0.0]);
        Self::new(
            vec![
                Step([0.0, 0.0, 0.1], z, false, -6.2, 6.2),
                Step([0.0, 0.13, 0.0], y, false, -6.2, 6.2),
                Step([0.0, -0.12, 0.42], y, false, -3.1, 3.1),
                Step([0.0, 0.0, 0.39], y, false, -6.2, 6.2),
                Step([0.0, 0.09, 0.0], z, false, -6.2, 6.2),
                Step([0.0, 0.0, 0.09], y, false, -6.2, 6.2),
            ],
            [0.0, 0.08, 0.0],
        )
    }

    /// A slider that carries a turning arm with another slider.
    pub fn sliding() -> Self {
        let (x, y, z) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]);
        Self::new(
            vec![
                Step([0.0; 3], z, true, 0.0, 0.4),
                Step([0.1, 0.0, 0.2], z, false, -2.5, 2.5),
                Step([0.0; 3], y, false, -1.5, 1.5),
                Step([0.2, 0.0, 0.0], x, true, 0.0, 0.5),
                Step([0.2, 0.0, 0.0], x, false, -3.0, 3.0),
                Step([0.0; 3], y, false, -1.8, 1.8),
                Step([0.0; 3], x, false, -3.0, 3.0),
            ],
            [0.15, 0.0, 0.0],
        )
    }

    /// Twenty-four joints that bend by turns.
    pub fn snake() -> Self {
        let step = |i: usize| {
            let axis = if i.is_multiple_of(2) { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
            Step([0.0, 0.0, 0.08], axis, false, -1.0, 1.0)
        };
        Self::new((0..24).map(step).collect(), [0.0, 0.0, 0.08])
    }

    /// `n` bones of a length in the plane z = 0, from a joint at the origin.
    pub fn planar(n: usize, bone: f64, limit: f64) -> Self {
        let z = [0.0, 0.0, 1.0];
        let step = |i| Step([if i == 0 { 0.0 } else { bone }, 0.0, 0.0], z, false, -limit, limit);
        Self::new((0..n).map(step).collect(), [bone, 0.0, 0.0])
    }

    /// Values uniform within limits.
    pub fn draw(&self, random: &mut Random) -> Vec<f64> {
        self.steps.iter().map(|Step(.., lower, upper)| lower + (upper - lower) * random.next()).collect()
    }

    pub fn within(&self, values: &[f64]) -> bool {
        self.steps.iter().zip(values).all(|(Step(.., lower, upper), v)| (lower..=upper).contains(&v))
    }

    /// Where the tip is, by the textbook.
    pub fn tip(&self, values: &[f64]) -> (DVec3, DQuat) {
        let mut at = Rigid { q: [0.0, 0.0, 0.0, 1.0], p: [0.0; 3] };
        for (Step(place, axis, slides, ..), v) in self.steps.iter().zip(values) {
            at = at.then(&Rigid { q: [0.0, 0.0, 0.0, 1.0], p: *place });
            at = at.then(&match slides {
                true => Rigid { q: [0.0, 0.0, 0.0, 1.0], p: axis.map(|c| c * v) },
                false => Rigid::turn(*axis, *v),
            });
        }
        (DVec3::from_array(at.apply(self.end)), DQuat::from_array(at.q))
    }

    /// The engine's own word on where the tip is.
    pub fn own_tip(&self, values: &[f64]) -> (DVec3, DQuat) {
        let mut placement = LinkFrames::new(&self.mechanism);
        self.mechanism.forward_kinematics(values, &mut placement).unwrap();
        position_and_rotation(&self.mechanism.link_transform(&placement, self.tip))
    }
}

/// Metres and radians between two poses.
pub fn apart(a: (DVec3, DQuat), b: (DVec3, DQuat)) -> (f64, f64) {
    let d = a.1.conjugate() * b.1;
    ((a.0 - b.0).length(), 2.0 * DVec3::new(d.x, d.y, d.z).length().atan2(d.w.abs()))
}

/// Numbers without pattern (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A unit vector.
    pub fn direction(&mut self) -> Vec3 {
        loop {
            let v = DVec3::from_array([0; 3].map(|_| 2.0 * self.next() - 1.0));
            if v.length() > 0.1 && v.length() < 1.0 {
                return v.normalize().as_vec3();
            }
        }
    }
}

/// A rigid transform as quaternion and vector, by the textbook: nothing here is the engine's.
#[derive(Clone, Copy)]
pub struct Rigid {
    pub q: [f64; 4],
    pub p: [f64; 3],
}

impl Rigid {
    pub fn turn(axis: [f64; 3], angle: f64) -> Self {
        let n = axis.iter().map(|c| c * c).sum::<f64>().sqrt();
        let (s, c) = (0.5 * angle).sin_cos();
        Self { q: [axis[0] / n * s, axis[1] / n * s, axis[2] / n * s, c], p: [0.0; 3] }
    }

    pub fn apply(&self, v: [f64; 3]) -> [f64; 3] {
        let [x, y, z, w] = self.q;
        let t = [2.0 * (y * v[2] - z * v[1]), 2.0 * (z * v[0] - x * v[2]), 2.0 * (x * v[1] - y * v[0])];
        [
            v[0] + w * t[0] + y * t[2] - z * t[1] + self.p[0],
            v[1] + w * t[1] + z * t[0] - x * t[2] + self.p[1],
            v[2] + w * t[2] + x * t[1] - y * t[0] + self.p[2],
        ]
    }

    pub fn then(&self, o: &Rigid) -> Self {
        let ([ax, ay, az, aw], [bx, by, bz, bw]) = (self.q, o.q);
        Self {
            q: [
                aw * bx + ax * bw + ay * bz - az * by,
                aw * by - ax * bz + ay * bw + az * bx,
                aw * bz + ax * by - ay * bx + az * bw,
                aw * bw - ax * bx - ay * by - az * bz,
            ],
            p: self.apply(o.p),
        }
    }
}
