//! Values between keys: held, linear, or on smooth curves that do not overshoot.

use glam::{Quat, Vec3};

use super::{Key, KeyInterpolation, KeyValue};
use crate::{
    math, math64,
    motion::{TrackValue, hermite},
};

/// The components of a value, with zeros behind; a space has none.
fn numbers(value: KeyValue) -> [f32; 4] {
    match value {
        KeyValue::Vector(v) => [v.x, v.y, v.z, 0.0],
        KeyValue::Rotation(q) => q.to_array(),
        KeyValue::Number(x) => [x, 0.0, 0.0, 0.0],
        KeyValue::Space(_) => [0.0; 4],
    }
}

/// A value of the same kind with other components.
fn like(value: KeyValue, numbers: [f32; 4]) -> KeyValue {
    let [x, y, z, _] = numbers;
    match value {
        KeyValue::Vector(_) => KeyValue::Vector(Vec3::new(x, y, z)),
        KeyValue::Rotation(_) => KeyValue::Rotation(Quat::from_array(numbers)),
        KeyValue::Number(_) => KeyValue::Number(x),
        KeyValue::Space(space) => KeyValue::Space(space),
    }
}

/// Largest absolute component.
pub(super) fn size(value: KeyValue) -> f32 {
    numbers(value).into_iter().map(f32::abs).fold(0.0, f32::max)
}

/// The sum of two values of a kind, each times a factor.
pub(super) fn sum((m, a): (f32, KeyValue), (n, b): (f32, KeyValue)) -> KeyValue {
    let (p, q) = (numbers(a), numbers(b));
    like(a, [0, 1, 2, 3].map(|i| m * p[i] + n * q[i]))
}

/// The difference of two values of a kind, times a factor; of rotations, that of the nearer signs.
pub(super) fn difference(from: KeyValue, to: KeyValue, by: f32) -> KeyValue {
    let sign = match (from, to) {
        (KeyValue::Rotation(p), KeyValue::Rotation(q)) if math::dot(p, q) < 0.0 => -1.0,
        _ => 1.0,
    };
    sum((sign * by, to), (-by, from))
}

/// The mean rate of change from a key to the next, per second; of rotations, as a rotation vector in the frame of both, which
/// share its axis. 0 after a step, whose value is held.
fn secant(a: &Key, b: &Key) -> ([f64; 4], f64) {
    let seconds = f64::from(b.time) - f64::from(a.time);
    let change = match (a.value, b.value) {
        _ if a.interpolation == KeyInterpolation::Step => [0.0; 4],
        (KeyValue::Rotation(p), KeyValue::Rotation(q)) => {
            let v = math::rotation_vector(math::mul(math::conjugate(p), q));
            [v.x, v.y, v.z, 0.0].map(f64::from)
        }
        (p, q) => {
            let (p, q) = (numbers(p).map(f64::from), numbers(q).map(f64::from));
            [0, 1, 2, 3].map(|i| q[i] - p[i])
        }
    };
    (change.map(|x| x / seconds), seconds)
}

/// The slopes of the curve into and out of a key, per second: its own, or automatic ones.
///
/// Automatic slopes are the harmonic means of the neighbours' secants, weighted by their durations (Fritsch and Butland 1984),
/// component by component: 0 where the value turns round, and at most three times the smaller secant, so that the curve stays
/// between its keys. At the first and the last key, beyond which the value is held, they are 0. Those of rotations are means of
/// angular velocities, as vectors: the means of s / s^2, times the cosine between them, which are the same in every frame.
pub(super) fn slopes(keys: &[Key], i: usize) -> [[f64; 4]; 2] {
    let key = &keys[i];
    if let Some(own) = key.slopes {
        return own.map(|slope| numbers(slope).map(f64::from));
    }
    let (Some(before), Some(after)) = (i.checked_sub(1).and_then(|i| keys.get(i)), keys.get(i + 1)) else {
        return [[0.0; 4]; 2];
    };
    let ((s0, h0), (s1, h1)) = (secant(before, key), secant(key, after));
    let (w0, w1) = ((2.0 * h1 + h0) / (3.0 * (h0 + h1)), (h1 + 2.0 * h0) / (3.0 * (h0 + h1)));
    let slope = match key.value {
        KeyValue::Rotation(q) => {
            let dot = |a: [f64; 4], b: [f64; 4]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
            let (along, n0, n1) = (dot(s0, s1), dot(s0, s0), dot(s1, s1));
            if along <= 0.0 {
                return [[0.0; 4]; 2];
            }
            let mean = [0, 1, 2, 3].map(|i| w0 * s0[i] / n0 + w1 * s1[i] / n1);
            let scale = along / (math64::sqrt(n0) * math64::sqrt(n1) * dot(mean, mean));
            // The derivative of q exp(t v / 2).
            let ([x, y, z, _], q) = (mean.map(|v| 0.5 * scale * v), q.to_array().map(f64::from));
            [
                q[3] * x + q[1] * z - q[2] * y,
                q[3] * y + q[2] * x - q[0] * z,
                q[3] * z + q[0] * y - q[1] * x,
                -(q[0] * x + q[1] * y + q[2] * z),
            ]
        }
        _ => [0, 1, 2, 3].map(|i| match s0[i] * s1[i] > 0.0 {
            true => 1.0 / (w0 / s0[i] + w1 / s1[i]),
            false => 0.0,
        }),
    };
    [slope; 2]
}

/// [`slopes`] as values.
pub(super) fn slope_values(keys: &[Key], i: usize) -> [KeyValue; 2] {
    slopes(keys, i).map(|slope| like(keys[i].value, slope.map(|x| (x as f32).clamp(-f32::MAX, f32::MAX))))
}

/// The value at a time. `keys` are in order, and at least one.
pub(super) fn sample(keys: &[Key], time: f32) -> KeyValue {
    let after = keys.partition_point(|key| key.time <= time);
    let Some(at) = after.checked_sub(1) else { return keys[0].value };
    let a = &keys[at];
    let ends = a.time == time || a.interpolation == KeyInterpolation::Step;
    let Some(b) = keys.get(after).filter(|_| !ends) else { return a.value };
    let seconds = f64::from(b.time) - f64::from(a.time);
    let t = ((f64::from(time) - f64::from(a.time)) / seconds) as f32;
    if a.interpolation == KeyInterpolation::Linear {
        return match (a.value, b.value) {
            (KeyValue::Vector(a), KeyValue::Vector(b)) => KeyValue::Vector(Vec3::linear(a, b, t)),
            (KeyValue::Rotation(a), KeyValue::Rotation(b)) => KeyValue::Rotation(Quat::linear(a, b, t)),
            (KeyValue::Number(a), KeyValue::Number(b)) => KeyValue::Number(f32::linear(a, b, t)),
            (a, _) => a,
        };
    }
    // Changes within the piece at the rates of its ends. No key has numbers so large that their sum overflows.
    let most = 4.0 * f64::from(Key::MAX);
    let change = |slope: [f64; 4]| slope.map(|x| (x * seconds).clamp(-most, most) as f32);
    let (out, mut into) = (change(slopes(keys, at)[1]), change(slopes(keys, after)[0]));
    let (from, mut to) = (numbers(a.value), numbers(b.value));
    if let (KeyValue::Rotation(p), KeyValue::Rotation(q)) = (a.value, b.value)
        && math::dot(p, q) < 0.0
    {
        (into, to) = (into.map(|x| -x), to.map(|x| -x));
    }
    let (ends, weights) = ([from, out, to, into], hermite(t));
    match a.value {
        KeyValue::Vector(_) => {
            KeyValue::Vector(Vec3::weighted(ends.map(|[x, y, z, _]| Vec3::new(x, y, z)), weights))
        }
        KeyValue::Rotation(_) => KeyValue::Rotation(Quat::weighted(ends.map(Quat::from_array), weights)),
        KeyValue::Number(_) => KeyValue::Number(f32::weighted(ends.map(|[x, ..]| x), weights)),
        KeyValue::Space(_) => a.value,
    }
}
