//! Mesh of the sample character: a mannequin of swept ellipses, with weights blended over the joints.

use std::f32::consts::TAU;

use glam::Vec3;
use sinew::{JointId, Pose, math, motion::TrackError};

use super::{
    body::{ARM, BALL, Body, HAND, HEEL, SIDES, TOES},
    curve::curve,
};
use crate::build::{Color, Mesh, Surface};

const BODY: Color = Color { name: "body", rgb: [0.66, 0.60, 0.51], roughness: 0.55 };
const DARK: Color = Color { name: "joints", rgb: [0.045, 0.05, 0.06], roughness: 0.5 };
// Blue and orange differ for every kind of colour blindness (Okabe & Ito 2008).
const LEFT: Color = Color { name: "left", rgb: [0.02, 0.19, 0.52], roughness: 0.5 };
const RIGHT: Color = Color { name: "right", rgb: [0.80, 0.24, 0.015], roughness: 0.5 };

type Weights = Vec<(JointId, f32)>;

/// Cross-section of a sweep at a distance along its axis: half-axes and offset of the centre, in metres.
#[derive(Clone, Copy)]
struct Station {
    at: f32,
    /// Half-axis along the frame's `right`.
    wide: f32,
    /// Half-axis along the frame's `front`.
    deep: f32,
    /// Offset of the centre, along `right` and `front`.
    off: (f32, f32),
}

const fn station(at: f32, wide: f32, deep: f32, off: (f32, f32)) -> Station {
    Station { at, wide, deep, off }
}

/// Right-handed frame of a sweep, whose direction is `right` x `front`.
#[derive(Clone, Copy)]
struct Frame {
    origin: Vec3,
    right: Vec3,
    front: Vec3,
}

/// Sweeps a smooth outline through the stations, and closes it with domes of the given heights in metres. `power` is the
/// exponent of the superellipse: 2 is an ellipse, more is squarer.
fn sweep(
    frame: Frame,
    stations: &[Station],
    domes: (f32, f32),
    rows: usize,
    columns: usize,
    power: f32,
) -> Result<Surface, TrackError> {
    let through = |f: fn(&Station) -> f32| curve(&stations.iter().map(|s| (s.at, f(s))).collect::<Vec<_>>());
    let (wide, deep) = (through(|s| s.wide)?, through(|s| s.deep)?);
    let (right, front) = (through(|s| s.off.0)?, through(|s| s.off.1)?);
    let axis = frame.right.cross(frame.front);
    let (first, last) = (stations.first().map_or(0.0, |s| s.at), stations.last().map_or(0.0, |s| s.at));
    let center = |at: f32, beyond: f32| {
        frame.origin + axis * (at + beyond) + frame.right * right.sample(at) + frame.front * front.sample(at)
    };
    let row = |at: f32, beyond: f32, part: f32| -> Vec<Vec3> {
        let round = |x: f32| x.signum() * x.abs().powf(2.0 / power);
        (0..columns)
            .map(|c| {
                let a = TAU * c as f32 / columns as f32;
                center(at, beyond)
                    + frame.right * (round(math::cos(a)) * wide.sample(at) * part)
                    + frame.front * (round(math::sin(a)) * deep.sample(at) * part)
            })
            .collect()
    };
    const DOME: usize = 5;
    let angle = |k: usize| TAU / 4.0 * k as f32 / DOME as f32;
    let mut out = Vec::with_capacity(rows + 2 * DOME);
    for k in 1..DOME {
        out.push(row(first, -domes.0 * math::cos(angle(k)), math::sin(angle(k))));
    }
    for k in 0..=rows {
        out.push(row(first + (last - first) * k as f32 / rows as f32, 0.0, 1.0));
    }
    for k in (1..DOME).rev() {
        out.push(row(last, domes.1 * math::cos(angle(k)), math::sin(angle(k))));
    }
    Ok(Surface { start: center(first, -domes.0), rows: out, end: center(last, domes.1) })
}

/// The smoothstep function: 0 below `from`, 1 above `to`, smooth between.
fn smooth(from: f32, to: f32, x: f32) -> f32 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Weights of joints along a line, at `x`. Each joint takes over from the one before around its own position, within `half`
/// on each side.
fn along(joints: &[(JointId, f32)], half: f32, x: f32) -> Weights {
    let mut weights: Weights = Vec::with_capacity(joints.len() + 1);
    for (k, &(joint, at)) in joints.iter().enumerate() {
        let taken = if k == 0 { 1.0 } else { smooth(at - half, at + half, x) };
        weights.iter_mut().for_each(|w| w.1 *= 1.0 - taken);
        weights.push((joint, taken));
    }
    weights
}

/// The colour of each band of a surface, as a function of the band's middle.
fn by_position<'a>(
    surface: &'a Surface,
    color: impl Fn(Vec3) -> &'static Color + 'a,
) -> impl Fn(usize) -> &'static Color + 'a {
    move |band| {
        let middle = |row: usize| -> Vec3 {
            match row.checked_sub(1).and_then(|r| surface.rows.get(r)) {
                Some(points) => points.iter().sum::<Vec3>() / points.len().max(1) as f32,
                None if row == 0 => surface.start,
                None => surface.end,
            }
        };
        color(0.5 * (middle(band) + middle(band + 1)))
    }
}

/// Builds the whole mesh in the rest pose.
pub(super) fn skin(body: &Body) -> Result<Mesh, TrackError> {
    let pose = Pose::rest(&body.skeleton);
    let mut mesh = Mesh::new();
    trunk(body, &pose, &mut mesh)?;
    head(body, &pose, &mut mesh)?;
    for side in 0..2 {
        leg(side, body, &pose, &mut mesh)?;
        foot(side, body, &pose, &mut mesh)?;
        arm(side, body, &pose, &mut mesh)?;
        hand(side, body, &pose, &mut mesh)?;
    }
    Ok(mesh)
}

fn trunk(body: &Body, pose: &Pose, mesh: &mut Mesh) -> Result<(), TrackError> {
    let frame = Frame { origin: Vec3::ZERO, right: Vec3::Z, front: Vec3::X };
    // Half-depth, half-width and forward offset of the centre.
    let stations = [
        station(0.845, 0.080, 0.118, (-0.006, 0.0)),
        station(0.895, 0.106, 0.158, (-0.012, 0.0)),
        station(0.960, 0.108, 0.163, (-0.014, 0.0)),
        station(1.030, 0.096, 0.147, (-0.010, 0.0)),
        station(1.095, 0.089, 0.132, (-0.004, 0.0)),
        station(1.180, 0.097, 0.141, (-0.003, 0.0)),
        station(1.270, 0.113, 0.160, (-0.004, 0.0)),
        station(1.335, 0.115, 0.172, (-0.010, 0.0)),
        station(1.390, 0.103, 0.176, (-0.018, 0.0)),
        station(1.430, 0.085, 0.166, (-0.026, 0.0)),
        station(1.462, 0.070, 0.125, (-0.027, 0.0)),
        station(1.490, 0.060, 0.070, (-0.023, 0.0)),
    ];
    let surface = sweep(frame, &stations, (0.045, 0.02), 36, 28, 2.3)?;
    let joints = [body.hips, body.spine, body.chest, body.upper_chest];
    let heights = joints.map(|j| (j, pose.position(j).y));
    let weights = |p: Vec3| {
        let mut weights = along(&heights, 0.055, p.y);
        let side = usize::from(p.x < 0.0);
        let shoulder = 0.75 * smooth(0.06, 0.15, p.x.abs()) * smooth(1.31, 1.41, p.y);
        weights.iter_mut().for_each(|w| w.1 *= 1.0 - shoulder);
        weights.push((body.clavicle[side], shoulder));
        weights
    };
    let color = by_position(&surface, |p| if (1.062..1.105).contains(&p.y) { &DARK } else { &BODY });
    surface.add_to(mesh, body.hips, weights, color);
    Ok(())
}

fn head(body: &Body, pose: &Pose, mesh: &mut Mesh) -> Result<(), TrackError> {
    let frame = Frame { origin: Vec3::ZERO, right: Vec3::Z, front: Vec3::X };
    let stations = [
        station(1.44, 0.060, 0.062, (-0.024, 0.0)),
        station(1.50, 0.051, 0.051, (-0.018, 0.0)),
        station(1.58, 0.050, 0.049, (-0.008, 0.0)),
    ];
    let neck = sweep(frame, &stations, (0.01, 0.02), 8, 20, 2.0)?;
    let (low, high) = (pose.position(body.neck).y, pose.position(body.head).y);
    let heights = [(body.upper_chest, 0.0), (body.neck, low), (body.head, high)];
    neck.add_to(mesh, body.neck, |p| along(&heights, 0.035, p.y), |_| &DARK);

    // An egg on its smaller end, with a brow, a nose and two hollows for eyes.
    let (center, half) = (Vec3::new(0.0, 1.638, 0.008), Vec3::new(0.076, 0.112, 0.096));
    let (rows, columns) = (26, 36);
    let point = |row: usize, column: usize| {
        let phi = TAU / 2.0 * row as f32 / rows as f32;
        let a = TAU * column as f32 / columns as f32;
        let y = -math::cos(phi);
        let jaw = 1.0 - 0.20 * smooth(0.2, -1.0, y);
        let r = math::sin(phi) * jaw;
        let p = Vec3::new(math::sin(a) * r, y, math::cos(a) * r);
        let bump = |x: f32, y: f32, w: f32, h: f32| {
            let (u, v) = ((p.x - x) / w, (p.y - y) / h);
            if p.z > 0.0 { math::exp(-u * u - v * v) } else { 0.0 }
        };
        let face = 0.013 * bump(0.0, -0.10, 0.13, 0.17) + 0.010 * bump(0.0, 0.02, 0.09, 0.22)
            - 0.013 * (bump(0.38, 0.10, 0.22, 0.13) + bump(-0.38, 0.10, 0.22, 0.13))
            + 0.005 * bump(0.0, 0.28, 0.6, 0.12)
            + 0.006 * bump(0.0, -0.62, 0.3, 0.25);
        // The jaw is slightly in front of the skull.
        let ahead = face + 0.012 * smooth(0.1, -0.9, y);
        center + p * half + Vec3::Z * ahead
    };
    let skull = Surface {
        start: point(0, 0),
        rows: (1..rows).map(|r| (0..columns).map(|c| point(r, c)).collect()).collect(),
        end: point(rows, 0),
    };
    skull.add_to(mesh, body.head, |_| vec![(body.head, 1.0)], |_| &BODY);
    for (_, x) in SIDES {
        let at = Vec3::new(0.029 * x, 1.6485, 0.0835);
        let eye = Surface::ball(at, 0.0105, 12);
        eye.add_to(mesh, body.head, |_| vec![(body.head, 1.0)], |_| &DARK);
    }
    Ok(())
}

fn leg(side: usize, body: &Body, pose: &Pose, mesh: &mut Mesh) -> Result<(), TrackError> {
    let x = SIDES[side].1;
    let at = |j: JointId| pose.position(j);
    let (hip, knee, ankle) = (at(body.thigh[side]), at(body.shin[side]), at(body.foot[side]));
    let frame = Frame { origin: Vec3::new(0.0, hip.y, 0.0), right: Vec3::X, front: Vec3::Z };
    // Height, half-width, half-depth and offset of the centre, downwards from the hip.
    let down = |y: f32, wide: f32, deep: f32, out: f32, ahead: f32| {
        station(hip.y - y, wide, deep, (x * (0.0925 + out), ahead))
    };
    let stations = [
        down(0.925, 0.074, 0.086, -0.003, -0.010),
        down(0.860, 0.081, 0.092, -0.003, -0.004),
        down(0.760, 0.075, 0.084, -0.002, 0.005),
        down(0.620, 0.062, 0.069, 0.0, 0.013),
        down(0.530, 0.053, 0.058, 0.0, 0.019),
        down(0.485, 0.051, 0.056, 0.0, 0.021),
        down(0.440, 0.048, 0.052, 0.0, 0.012),
        down(0.360, 0.051, 0.058, 0.001, -0.008),
        down(0.290, 0.047, 0.052, 0.0, -0.016),
        down(0.190, 0.036, 0.040, 0.0, -0.023),
        down(0.115, 0.031, 0.037, 0.0, -0.026),
        down(0.075, 0.032, 0.040, 0.0, -0.026),
    ];
    let surface = sweep(frame, &stations, (0.05, 0.02), 44, 22, 2.0)?;
    let heights = [(body.thigh[side], -2.0), (body.shin[side], -knee.y), (body.foot[side], -ankle.y)];
    let weights = |p: Vec3| along(&heights, if p.y > 0.3 { 0.055 } else { 0.035 }, -p.y);
    let color = by_position(&surface, |p| {
        if (0.462..0.512).contains(&p.y) || (0.085..0.125).contains(&p.y) { &DARK } else { &BODY }
    });
    surface.add_to(mesh, body.thigh[side], weights, color);
    Ok(())
}

/// Adds a shoe with a flat sole: its underside from heel to toes is at height 0.
fn foot(side: usize, body: &Body, pose: &Pose, mesh: &mut Mesh) -> Result<(), TrackError> {
    let ankle = pose.position(body.foot[side]);
    let (back, tip) = (HEEL.z - 0.024, BALL.z + TOES);
    let width = curve(&[
        (back, 0.004),
        (HEEL.z, 0.031),
        (0.03, 0.033),
        (BALL.z - 0.01, 0.045),
        (tip - 0.03, 0.041),
        (tip, 0.004),
    ])?;
    let top = curve(&[
        (back, 0.044),
        (HEEL.z, 0.082),
        (0.0, 0.104),
        (0.055, 0.088),
        (BALL.z, 0.052),
        (tip - 0.02, 0.036),
        (tip, 0.014),
    ])?;
    // The heel's back edge is rounded, so that the foot can roll over it.
    let bottom = curve(&[(back, 0.030), (HEEL.z, 0.0), (tip - 0.012, 0.0), (tip, 0.006)])?;
    let (rows, columns) = (34, 24);
    let row = |k: usize| -> Vec<Vec3> {
        // Rows are closer at the ends, where the outline curves most.
        let t = 0.5 - 0.5 * math::cos(TAU / 2.0 * k as f32 / rows as f32);
        let z = back + (tip - back) * t;
        let end = math::sqrt((1.0 - (2.0 * t - 1.0).powi(6)).max(0.0));
        let (w, high, low) = (width.sample(z) * end, top.sample(z), bottom.sample(z));
        let middle = low + 0.38 * (high - low);
        (0..columns)
            .map(|c| {
                let a = TAU * c as f32 / columns as f32;
                let (s, c) = (math::sin(a), math::cos(a));
                // Below the middle the sides are steep and end in the flat sole.
                let (y, x) = if s < 0.0 {
                    (middle + (middle - low) * (1.7 * s).max(-1.0), c.signum() * c.abs().powf(0.7))
                } else {
                    (middle + (high - middle) * s, c.signum() * c.abs().powf(0.85))
                };
                Vec3::new(ankle.x + w * x, y, ankle.z + z)
            })
            .collect()
    };
    let center = |row: &[Vec3]| row.iter().sum::<Vec3>() / row.len().max(1) as f32;
    let (first, last) = (row(0), row(rows));
    let surface = Surface { start: center(&first), rows: (1..rows).map(row).collect(), end: center(&last) };
    let joints = [(body.foot[side], -9.0), (body.toes[side], ankle.z + BALL.z - 0.012)];
    let color: &Color = if side == 0 { &LEFT } else { &RIGHT };
    surface.add_to(mesh, body.foot[side], |p| along(&joints, 0.012, p.z), |_| color);
    Ok(())
}

/// Frame of a sweep along an arm from `origin`, and the arm's direction.
fn arm_frame(side: usize, origin: Vec3) -> (Frame, Vec3) {
    let along = Vec3::new(ARM.x * SIDES[side].1, ARM.y, 0.0);
    (Frame { origin, right: Vec3::Z, front: along.cross(Vec3::Z) }, along)
}

fn arm(side: usize, body: &Body, pose: &Pose, mesh: &mut Mesh) -> Result<(), TrackError> {
    let shoulder = pose.position(body.upper_arm[side]);
    let (frame, along_arm) = arm_frame(side, shoulder);
    let stations = [
        station(-0.005, 0.056, 0.054, (0.004, 0.002)),
        station(0.050, 0.055, 0.053, (0.0, 0.0)),
        station(0.120, 0.046, 0.046, (0.0, 0.0)),
        station(0.200, 0.041, 0.041, (0.0, 0.0)),
        station(0.265, 0.037, 0.036, (0.0, 0.0)),
        station(0.290, 0.036, 0.036, (0.0, 0.0)),
        station(0.340, 0.040, 0.036, (0.002, 0.0)),
        station(0.390, 0.037, 0.033, (0.005, 0.0)),
        station(0.460, 0.030, 0.026, (0.009, 0.0)),
        station(0.520, 0.026, 0.021, (0.012, 0.0)),
        station(0.540, 0.026, 0.021, (0.012, 0.0)),
    ];
    let surface = sweep(frame, &stations, (0.050, 0.015), 36, 20, 2.0)?;
    let at = |p: Vec3| (p - shoulder).dot(along_arm);
    let joints = [
        (body.upper_arm[side], -9.0),
        (body.forearm[side], at(pose.position(body.forearm[side]))),
        (body.hand[side], at(pose.position(body.hand[side]))),
    ];
    let weights = |p: Vec3| along(&joints, if at(p) < 0.4 { 0.04 } else { 0.02 }, at(p));
    let own: &'static Color = if side == 0 { &LEFT } else { &RIGHT };
    let color = by_position(&surface, |p| match at(p) {
        s if s < 0.012 => own,
        s if (0.265..0.305).contains(&s) || s > 0.51 => &DARK,
        _ => &BODY,
    });
    surface.add_to(mesh, body.upper_arm[side], weights, color);
    Ok(())
}

/// Adds a slightly curled mitten with a thumb.
fn hand(side: usize, body: &Body, pose: &Pose, mesh: &mut Mesh) -> Result<(), TrackError> {
    let joint = body.hand[side];
    let wrist = pose.position(joint);
    let (frame, along) = arm_frame(side, wrist);
    let stations = [
        station(0.010, 0.024, 0.019, (0.0, 0.0)),
        station(0.035, 0.032, 0.019, (0.001, 0.0)),
        station(0.070, 0.041, 0.018, (0.002, 0.002)),
        station(0.100, 0.041, 0.016, (0.002, 0.005)),
        station(0.135, 0.036, 0.014, (0.0, 0.013)),
        station(HAND - 0.016, 0.027, 0.011, (-0.002, 0.024)),
    ];
    let surface = sweep(frame, &stations, (0.012, 0.016), 16, 18, 2.2)?;
    let color: &Color = if side == 0 { &LEFT } else { &RIGHT };
    surface.add_to(mesh, joint, |_| vec![(joint, 1.0)], |_| color);
    let point = |s: f32, ahead: f32, palm: f32| wrist + along * s + frame.right * ahead + frame.front * palm;
    let thumb = Surface::capsule(point(0.030, 0.020, 0.006), point(0.088, 0.058, 0.018), 12, 6, |t| {
        0.0145 - 0.004 * t
    });
    thumb.add_to(mesh, joint, |_| vec![(joint, 1.0)], |_| color);
    Ok(())
}
