//! A leg of the problem at one sample: its pose as a function of five angles, with derivatives.

use glam::{DMat3, DQuat, DVec3, Vec3};

use crate::{
    ground::plant::{ClipAnalysis, Figure},
    math::rotate,
    math64 as math,
};

/// Index of the thigh's turn about the knee's axis among the angles of a leg: positive moves the knee forward.
pub(super) const THIGH: usize = 0;
/// Index of the shank's turn about the same axis.
pub(super) const SHANK: usize = 1;
/// Index of the tilt of the leg's plane about the direction in which the knee points.
pub(super) const TILT: usize = 2;
/// Index of the sole's pitch: positive moves the toes up.
pub(super) const PITCH: usize = 3;
/// Index of the sole's yaw about the vertical.
pub(super) const YAW: usize = 4;
/// Number of angles of a leg.
pub(super) const ANGLES: usize = 5;

/// A leg of the clip at one sample, in metres along the axes of model space.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClipLeg {
    /// Position of the hip joint.
    pub hip: DVec3,
    /// Vector from hip to knee.
    pub thigh: DVec3,
    /// Vector from knee to ankle.
    pub shank: DVec3,
    /// Axis of the knee: a positive turn moves what hangs forward.
    pub hinge: DVec3,
    /// Direction in which the knee points.
    pub ahead: DVec3,
    /// Horizontal axis across the sole: a positive turn moves the toes up.
    pub across: DVec3,
    /// Points of the sole from the ankle: heel, ball, tip.
    pub sole: [DVec3; 3],
    /// Up, forward and outward of the hips.
    pub hips: [DVec3; 3],
    /// Turn of the thigh from the rest pose, in model space, that of the hips back, and the thigh's direction at rest.
    pub turned: [DQuat; 2],
    pub rest: DVec3,
    /// Lean of the ground to the side, as a turn of the foot before all others.
    pub roll: DMat3,
    /// Flexion of the knee, in radians.
    pub flexion: f64,
}

/// A leg posed by its angles. Derivatives are by thigh, shank, tilt for the knee and the ankle, and by pitch and yaw for
/// what the foot carries.
#[derive(Clone, Copy, Debug)]
pub(super) struct PosedLeg {
    /// Position of the ankle from the hip.
    pub ankle: DVec3,
    /// Its derivatives.
    pub ankle_by: [DVec3; 3],
    /// Vector from hip to knee.
    pub thigh: DVec3,
    /// Its derivatives; that by the shank is 0.
    pub thigh_by: [DVec3; 3],
    /// Axis of the knee.
    pub hinge: DVec3,
    /// Turn of the foot from the clip's.
    pub turn: DMat3,
    /// Derivatives of the turn: `axis x` of what is turned.
    pub turn_by: [DVec3; 2],
}

/// Points of a sole that must clear the ground.
pub(super) const POINTS: usize = 6;

impl ClipLeg {
    /// The clip's leg at a sample, on level ground.
    pub fn new(figure: &Figure, analysis: &ClipAnalysis, foot: usize, i: usize) -> Self {
        let curve = &analysis.feet[foot];
        let s = &curve.samples[i];
        let line = (s.ankle - s.hip).as_dvec3().normalize_or(DVec3::NEG_Y);
        let ahead = s.knee_way.as_dvec3();
        let ahead = (ahead - line * ahead.dot(line)).normalize_or(any_across(line));
        let hinge = line.cross(ahead);
        let [a, b] = curve.bones[i].map(f64::from);
        let apart = f64::from((s.ankle - s.hip).length()).clamp((a - b).abs(), a + b).max(f64::MIN_POSITIVE);
        let along = (a * a + apart * apart - b * b) / (2.0 * apart);
        let forward = (s.knee - s.hip).as_dvec3().dot(ahead);
        let thigh = line * along + ahead * math::sqrt((a * a - along * along).max(0.0)).copysign(forward);
        let shank = line * apart - thigh;
        let flexion = math::atan2(-hinge.dot(thigh.cross(shank)), thigh.dot(shank));
        let across =
            (s.ball - s.heel).as_dvec3().cross(curve.upright[i].as_dvec3()).normalize_or(DVec3::NEG_X);
        let turn = analysis.upright[i];
        let (rest_thigh, rest) = figure.rest_thighs[foot];
        Self {
            hip: s.hip.as_dvec3(),
            thigh,
            shank,
            hinge,
            ahead,
            across,
            sole: [s.heel, s.ball, s.tip].map(|p| p.as_dvec3()),
            hips: [Vec3::Y, figure.front, figure.outward[foot]].map(|v| rotate(turn, v).as_dvec3()),
            turned: [rotate_of(s.thigh) * rotate_of(rest_thigh).conjugate(), rotate_of(turn).conjugate()],
            rest: rest.as_dvec3(),
            roll: DMat3::IDENTITY,
            flexion,
        }
    }

    /// A point of the sole from the ankle: four from the heel to the ball, the ball, the tip.
    pub fn point(&self, point: usize) -> DVec3 {
        let [heel, ball, tip] = self.sole;
        if point == POINTS - 1 { tip } else { heel.lerp(ball, point as f64 / (POINTS - 2) as f64) }
    }

    /// Direction of the sole from heel to ball.
    pub fn along(&self) -> DVec3 {
        (self.sole[1] - self.sole[0]).normalize_or_zero()
    }

    /// Turn of the thigh about its length against the hips in radians, from the rest pose, with its derivatives by thigh and
    /// tilt. It is what the shortest turn of the thigh's direction leaves.
    pub fn twist(&self, angles: &[f64]) -> (f64, [f64; 2]) {
        let turn = |axis: DVec3, angle: f64| {
            let (sin, cos) = math::sin_cos(0.5 * angle);
            DQuat::from_vec4((axis * sin).extend(cos))
        };
        let [own, hips] = self.turned;
        let tilt = turn(self.ahead, angles[TILT]);
        let now = tilt * turn(self.hinge, angles[THIGH]) * own;
        let parts = |q: DQuat| (q.xyz().dot(self.rest), q.w);
        let (along, real) = parts(hips * now);
        let by = |axis: DVec3| {
            let (a, r) = parts(hips * (DQuat::from_vec4((0.5 * axis).extend(0.0)) * now));
            2.0 * (a * real - along * r) / (along * along + real * real).max(1e-6)
        };
        // Of both signs of a quaternion, that of the smaller turn.
        let sign = if real < 0.0 { -1.0 } else { 1.0 };
        (2.0 * math::atan2(sign * along, sign * real), [by(tilt * self.hinge), by(self.ahead)])
    }

    pub fn pose(&self, angles: &[f64]) -> PosedLeg {
        let turn = |axis: DVec3, angle: f64| math::axis_angle(axis, angle);
        let tilt = turn(self.ahead, angles[TILT]);
        let thigh = turn(self.hinge, angles[THIGH]) * self.thigh;
        let shank = turn(self.hinge, angles[SHANK]) * self.shank;
        let (by_thigh, by_shank) = (tilt * self.hinge.cross(thigh), tilt * self.hinge.cross(shank));
        let hinge = tilt * self.hinge;
        let (thigh, ankle) = (tilt * thigh, tilt * (thigh + shank));
        let yaw = turn(DVec3::Y, angles[YAW]);
        let foot = yaw * (turn(self.across, angles[PITCH]) * self.roll);
        PosedLeg {
            ankle,
            ankle_by: [by_thigh, by_shank, self.ahead.cross(ankle)],
            thigh,
            thigh_by: [by_thigh, DVec3::ZERO, self.ahead.cross(thigh)],
            hinge,
            turn: foot,
            turn_by: [yaw * self.across, DVec3::Y],
        }
    }
}

impl PosedLeg {
    /// A point that the foot carries, from the hip, with its derivatives by all five angles. `offset` is from the ankle in
    /// the clip.
    pub fn point(&self, offset: DVec3) -> (DVec3, [DVec3; ANGLES]) {
        let carried = self.turn * offset;
        let [a, b, c] = self.ankle_by;
        let [p, w] = self.turn_by;
        (self.ankle + carried, [a, b, c, p.cross(carried), w.cross(carried)])
    }

    /// Angle of the sole up from a right angle to the shin in radians, continued beyond a quarter turn, with its
    /// derivatives. `sole` is the direction from heel to ball in the clip, a unit vector.
    pub fn dorsiflexion(&self, sole: DVec3, across: DVec3) -> (f64, [f64; ANGLES]) {
        let shank = self.ankle - self.thigh;
        let length = shank.length().max(f64::MIN_POSITIVE);
        let up = shank / -length;
        let along = self.turn * sole;
        let (sin, side) = (up.dot(along), up.dot((self.turn * across).cross(along)));
        // The angle's cosine is negative where the sole's upper side faces away from the shin.
        let cos = math::sqrt((1.0 - sin * sin).max(0.0)) * if side < 0.0 { -1.0 } else { 1.0 };
        let by = if cos.abs() < 0.1 { 0.1 * cos.signum() } else { cos };
        let by_bone = |k: usize| (self.ankle_by[k] - self.thigh_by[k]).dot(along) / -length / by;
        let by_turn = |k: usize| self.turn_by[k].cross(along).dot(up) / by;
        let derivative = [by_bone(0), by_bone(1), by_bone(2), by_turn(0), by_turn(1)];
        (math::atan2(sin, cos), derivative)
    }

    /// Flexion and abduction of the thigh against the hips in radians, with their derivatives by thigh, shank and tilt.
    pub fn hip([up, ahead, out]: [DVec3; 3], thigh: DVec3, by: &[DVec3; 3]) -> [(f64, [f64; 3]); 2] {
        let (x, y, z) = (-thigh.dot(up), thigh.dot(ahead), thigh.dot(out));
        let plane = (x * x + y * y).max(1e-12 * thigh.length_squared()).max(f64::MIN_POSITIVE);
        let flat = math::sqrt(plane);
        let flexion = by.map(|d| (x * d.dot(ahead) + y * d.dot(up)) / plane);
        // The thigh keeps its length, so that its angle from the plane is the arc sine of z over the length.
        let abduction = by.map(|d| d.dot(out) / flat);
        [(math::atan2(y, x), flexion), (math::atan2(z, flat), abduction)]
    }
}

fn rotate_of(q: glam::Quat) -> DQuat {
    math::normalize(q.as_dquat())
}

/// A unit vector perpendicular to another.
fn any_across(v: DVec3) -> DVec3 {
    let other = if v.z.abs() < 0.9 { DVec3::Z } else { DVec3::Y };
    (other - v * other.dot(v)).normalize_or(DVec3::X)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bent leg with a foot that is turned out.
    fn bent() -> ClipLeg {
        let (thigh, shank) = (DVec3::new(0.02, -0.40, 0.15), DVec3::new(-0.01, -0.42, -0.12));
        let line = (thigh + shank).normalize();
        let ahead = (DVec3::Z - line * line.z).normalize();
        ClipLeg {
            hip: DVec3::new(0.1, 0.95, 0.0),
            thigh,
            shank,
            hinge: line.cross(ahead),
            ahead,
            across: DVec3::new(0.3, 0.0, 1.0).normalize().cross(DVec3::Y),
            sole: [
                DVec3::new(-0.02, -0.08, -0.05),
                DVec3::new(0.03, -0.08, 0.13),
                DVec3::new(0.05, -0.08, 0.2),
            ],
            hips: [DVec3::Y, DVec3::Z, DVec3::X],
            turned: [
                DQuat::from_xyzw(0.1, 0.3, -0.2, 0.8).normalize(),
                DQuat::from_xyzw(0.0, -0.1, 0.1, 0.9).normalize(),
            ],
            rest: DVec3::new(0.1, -1.0, 0.05).normalize(),
            roll: DMat3::IDENTITY,
            flexion: 0.6,
        }
    }

    #[test]
    fn without_angles_a_leg_is_the_clips() {
        let leg = bent();
        let posed = leg.pose(&[0.0; ANGLES]);
        assert!((posed.ankle - leg.thigh - leg.shank).length() < 1e-15);
        assert!((posed.point(leg.sole[1]).0 - posed.ankle - leg.sole[1]).length() < 1e-15);
    }

    #[test]
    fn derivatives_are_those_of_differences() {
        let leg = bent();
        let sole = (leg.sole[1] - leg.sole[0]).normalize();
        let at = [0.2, -0.3, 0.1, 0.25, -0.2];
        let measure = |x: &[f64; ANGLES]| {
            let posed = leg.pose(x);
            let hip = PosedLeg::hip(leg.hips, posed.thigh, &posed.thigh_by);
            (posed.point(leg.sole[2]), posed.dorsiflexion(sole, leg.across), hip)
        };
        let ((_, point), (_, bend), hip) = measure(&at);
        let h = 1e-6;
        for (k, by) in [THIGH, TILT].into_iter().zip(leg.twist(&at).1) {
            let moved = |s: f64| {
                let mut x = at;
                x[k] += s;
                leg.twist(&x).0
            };
            assert!(((moved(h) - moved(-h)) / (2.0 * h) - by).abs() < 1e-7, "twist {k}");
        }
        for k in 0..ANGLES {
            let moved = |s: f64| {
                let mut x = at;
                x[k] += s;
                measure(&x)
            };
            let (more, less) = (moved(h), moved(-h));
            let slope = (more.0.0 - less.0.0) / (2.0 * h);
            assert!((slope - point[k]).length() < 1e-8, "{k}: {slope} {}", point[k]);
            let slope = (more.1.0 - less.1.0) / (2.0 * h);
            assert!((slope - bend[k]).abs() < 1e-7, "{k}: {slope} {}", bend[k]);
            for (axis, (_, by)) in hip.iter().enumerate() {
                let slope = (more.2[axis].0 - less.2[axis].0) / (2.0 * h);
                let derivative = by.get(k).copied().unwrap_or(0.0);
                assert!((slope - derivative).abs() < 1e-7, "{axis} {k}: {slope} {derivative}");
            }
        }
    }
}
