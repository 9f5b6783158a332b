//! The trunk of a walking creature: its motion between ticks, and the plane through its feet.

use glam::{Affine3, Mat3, Quat, Vec3};

use super::{WalkState, Walker};
use crate::{AffineError, Placement, ground::plant::foot_planter::offset::rotation, math};

/// Share of the way uphill to a leg at right angles to the slope: at 1 the trunk hangs behind its feet, at 0 legs of horses
/// and foxes on a slope of 20 degrees take steps of half the length.
const UPHILL: f32 = 0.5;

/// The trunk at a tick.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(super) struct Body {
    /// Position of the creature's pivot in world space.
    pub at: Vec3,
    /// Its velocity, in m/s.
    pub rate: Vec3,
    /// Heading of model space about +Y, in radians.
    pub yaw: f32,
    /// Its rate, in rad/s.
    pub turn: f32,
    /// Rotation vector from upright, in world space, and its rate.
    pub tilt: Vec3,
    /// Rate of the tilt, in rad/s.
    pub tilts: Vec3,
}

/// The cubic through two values with their rates, `span` seconds apart, at a share of them.
pub(super) fn hermite([a, b]: [Vec3; 2], [va, vb]: [Vec3; 2], span: f32, s: f32) -> Vec3 {
    let (u, w) = (1.0 - s, span);
    a * (u * u * (1.0 + 2.0 * s)) + b * (s * s * (1.0 + 2.0 * u)) + (va * (s * u * u) - vb * (s * s * u)) * w
}

impl Body {
    /// The trunk between two ticks.
    pub fn between(a: &Self, b: &Self, span: f32, s: f32) -> Self {
        let at = hermite([a.at, b.at], [a.rate, b.rate], span, s);
        let yaw = |b: &Self| Vec3::X * b.yaw;
        let yaw = hermite([yaw(a), yaw(b)], [Vec3::X * a.turn, Vec3::X * b.turn], span, s).x;
        let tilt = hermite([a.tilt, b.tilt], [a.tilts, b.tilts], span, s);
        Self { at, yaw, tilt, ..*b }
    }

    /// Rotation from model to world space.
    pub fn rotation(&self) -> Quat {
        math::mul(rotation(self.tilt), math::axis_angle(Vec3::Y, self.yaw))
    }
}

/// A plane through feet: height at the middle, and slopes along x and z.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(super) struct FeetPlane {
    pub middle: Vec3,
    pub slope: [f32; 2],
}

impl FeetPlane {
    /// The plane nearest to points in the mean square of heights. Points on a line give the slope along it alone.
    pub fn of(points: impl Iterator<Item = Vec3> + Clone) -> Self {
        let count = points.clone().count().max(1) as f32;
        let middle = points.clone().sum::<Vec3>() / count;
        let (mut xx, mut xz, mut zz, mut xy, mut zy) = (0.0f32, 0.0f32, 0.0f32, 0.0f32, 0.0f32);
        for d in points.map(|p| p - middle) {
            (xx, xz, zz) = (xx + d.x * d.x, xz + d.x * d.z, zz + d.z * d.z);
            (xy, zy) = (xy + d.x * d.y, zy + d.z * d.y);
        }
        // A thousandth of the spread keeps a line from tilting sideways.
        let rest = 1e-3 * (xx + zz) + f32::MIN_POSITIVE;
        let (xx, zz) = (xx + rest, zz + rest);
        let d = xx * zz - xz * xz;
        let slope = if d > 0.0 { [(xy * zz - zy * xz) / d, (zy * xx - xy * xz) / d] } else { [0.0; 2] };
        Self { middle, slope }
    }

    /// Height at a place.
    pub fn height(&self, at: Vec3) -> f32 {
        self.middle.y + self.slope[0] * (at.x - self.middle.x) + self.slope[1] * (at.z - self.middle.z)
    }

    /// Rate of the height at a velocity.
    pub fn climb(&self, velocity: Vec3) -> f32 {
        self.slope[0] * velocity.x + self.slope[1] * velocity.z
    }

    /// Rotation vector from upright to the plane's normal, by a share and at most by an angle.
    pub fn tilt(&self, share: f32, most: f32) -> Vec3 {
        let steep = math::sqrt(self.slope[0] * self.slope[0] + self.slope[1] * self.slope[1]);
        if steep <= 0.0 {
            return Vec3::ZERO;
        }
        let angle = (share * math::atan2(steep, 1.0)).min(most);
        // The normal leans to (-sx, -sz); the axis is Y x that.
        Vec3::new(-self.slope[1], 0.0, self.slope[0]) * (angle / steep)
    }
}

impl Walker {
    /// Vector from the pivot, in world space, of a point of model space.
    pub(super) fn arm(&self, point: Vec3, turned: Quat, scale: f32) -> Vec3 {
        math::rotate(turned, (point - self.creature.pivot) * scale)
    }

    /// Place over ground, x and z, of a leg's sole in the middle of its stance: as at rest under the trunk, and uphill by a share
    /// of what a leg at right angles to the slope has, as its step down the slope is longer than that up.
    pub(super) fn rest_place(&self, leg: usize, body: &Body, scale: f32) -> Vec3 {
        let (turned, normal) = (body.rotation(), math::rotate(rotation(body.tilt), Vec3::Y));
        let below = self.creature.pivot.with_y(self.creature.floor);
        let from = (self.creature.legs[leg].stand - below) * scale;
        let height = (self.creature.legs[leg].hip.y - self.creature.floor) * scale;
        body.at + math::rotate(turned, from) - normal.with_y(0.0) * (UPHILL * height * normal.y)
    }

    /// A leg in the middle of its stance: the vector from its root to its foot's joint in world space, with the trunk at its ride
    /// height, and the slopes of the ground along x and z.
    pub(super) fn footing(&self, leg: usize, body: &Body, scale: f32) -> (Vec3, [f32; 2]) {
        let of = &self.creature.legs[leg];
        let (turned, normal) = (body.rotation(), math::rotate(rotation(body.tilt), Vec3::Y));
        let slope = [-normal.x / normal.y, -normal.z / normal.y];
        let hip = body.at + self.arm(of.hip, turned, scale);
        let aside = (self.rest_place(leg, body, scale) - hip).with_y(0.0);
        // Over the plane under the root the foot stands as much higher as the ground rises to it.
        let down = (of.hip.y - of.stand.y) * scale - (slope[0] * aside.x + slope[1] * aside.z);
        (aside - Vec3::Y * down - math::rotate(turned, of.sole) * scale, slope)
    }

    /// The trunk a time ahead, by its velocity on the way to `command`.
    pub(super) fn predicted(&self, state: &WalkState, command: Vec3, time: f32) -> Body {
        let body = state.base;
        if time <= 0.0 {
            return body;
        }
        // Mean of the velocity's spring: the integral of (a + b t) exp(-w t) over the time.
        let (w, a) = (super::tick::QUICK, state.velocity.value - command);
        let b = state.velocity.rate + a * w;
        let e = math::exp(-w * time);
        let mean = command + (a * ((1.0 - e) / w) + b * ((1.0 - (1.0 + w * time) * e) / (w * w))) / time;
        let mean = mean * state.pace;
        let heading = body.yaw + self.creature.heading + 0.5 * mean.y * time;
        let moved = math::rotate(math::axis_angle(Vec3::Y, heading), mean.with_y(0.0)) * time;
        Body { at: body.at + moved, yaw: body.yaw + mean.y * time, ..body }
    }

    /// The placement of a creature with its trunk at `body`.
    pub(super) fn placement(&self, body: &Body, scale: f32) -> Result<Placement, AffineError> {
        let turned = Mat3::from_quat(body.rotation()) * scale;
        Placement::new(Affine3 { matrix3: turned, translation: body.at - turned * self.creature.pivot })
    }
}
