//! Animated property of a node, interpolated between keys by glTF 2.0 (appendix C).

use gltf::animation::Interpolation;

use crate::maths::{Quat, V3, quat_unit, slerp};

/// Values of the keys. A cubic track holds three values a key: in-tangent, value, out-tangent.
#[derive(Clone, Debug)]
pub enum Values {
    /// Places relative to the parent.
    Translation(Vec<V3>),
    /// Turns relative to the parent.
    Rotation(Vec<Quat>),
    /// Scales.
    Scale(Vec<V3>),
    /// Morph weights, which move no joint.
    Weights,
}

/// A track and the node that it moves.
#[derive(Clone, Debug)]
pub struct Channel {
    /// The node.
    pub node: usize,
    /// Interpolation between keys.
    pub interpolation: Interpolation,
    /// Key times in seconds.
    pub times: Vec<f64>,
    /// Key values.
    pub values: Values,
}

/// Where a time lies among keys: between `a` and `b`, `u` of the way, `dt` seconds apart.
struct Place {
    a: usize,
    b: usize,
    u: f64,
    dt: f64,
}

impl Channel {
    /// A track whose number of values fits its number of keys.
    pub fn new(
        node: usize,
        interpolation: Interpolation,
        times: Vec<f64>,
        values: Values,
    ) -> Result<Self, String> {
        let count = match &values {
            Values::Translation(v) | Values::Scale(v) => v.len(),
            Values::Rotation(v) => v.len(),
            Values::Weights => return Ok(Self { node, interpolation, times, values }),
        };
        let per = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        if times.is_empty() || count != per * times.len() {
            return Err(format!("a track of node {node} has {} times and {count} values", times.len()));
        }
        Ok(Self { node, interpolation, times, values })
    }

    fn place(&self, t: f64) -> Place {
        let after = self.times.partition_point(|k| *k <= t);
        let a = after.saturating_sub(1);
        let b = after.min(self.times.len() - 1);
        let dt = self.times[b] - self.times[a];
        let u = if dt > 0.0 { ((t - self.times[a]) / dt).clamp(0.0, 1.0) } else { 0.0 };
        Place { a, b, u, dt }
    }

    /// The numbers of a key.
    pub fn key(&self, k: usize) -> Vec<f64> {
        let k = if self.interpolation == Interpolation::CubicSpline { 3 * k + 1 } else { k };
        match &self.values {
            Values::Translation(v) | Values::Scale(v) => vec![v[k].x, v[k].y, v[k].z],
            Values::Rotation(q) => q[k].to_vec(),
            Values::Weights => Vec::new(),
        }
    }

    /// The numbers at a time.
    pub fn at(&self, t: f64) -> Vec<f64> {
        match &self.values {
            Values::Translation(_) | Values::Scale(_) => {
                let v = self.vector(t);
                vec![v.x, v.y, v.z]
            }
            Values::Rotation(_) => self.rotation(t).to_vec(),
            Values::Weights => Vec::new(),
        }
    }

    /// A translation or a scale at a time.
    pub fn vector(&self, t: f64) -> V3 {
        let (Values::Translation(v) | Values::Scale(v)) = &self.values else { return V3::ZERO };
        let p = self.place(t);
        match self.interpolation {
            Interpolation::Step => v[p.a],
            Interpolation::Linear => v[p.a].lerp(v[p.b], p.u),
            Interpolation::CubicSpline => {
                let h = hermite(p.u, p.dt);
                v[3 * p.a + 1] * h[0] + v[3 * p.a + 2] * h[1] + v[3 * p.b + 1] * h[2] + v[3 * p.b] * h[3]
            }
        }
    }

    /// A rotation at a time.
    pub fn rotation(&self, t: f64) -> Quat {
        let Values::Rotation(q) = &self.values else { return [0.0, 0.0, 0.0, 1.0] };
        let p = self.place(t);
        match self.interpolation {
            Interpolation::Step => q[p.a],
            Interpolation::Linear => slerp(q[p.a], q[p.b], p.u),
            Interpolation::CubicSpline => {
                let h = hermite(p.u, p.dt);
                let parts = [q[3 * p.a + 1], q[3 * p.a + 2], q[3 * p.b + 1], q[3 * p.b]];
                quat_unit(std::array::from_fn(|i| parts.iter().zip(h).map(|(q, h)| q[i] * h).sum()))
            }
        }
    }
}

/// Weights of: value before, out-tangent before, value after, in-tangent after.
fn hermite(u: f64, dt: f64) -> [f64; 4] {
    let (u2, u3) = (u * u, u * u * u);
    [2.0 * u3 - 3.0 * u2 + 1.0, dt * (u3 - 2.0 * u2 + u), 3.0 * u2 - 2.0 * u3, dt * (u3 - u2)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maths::v3;

    fn channel(interpolation: Interpolation, values: Vec<f64>) -> Channel {
        let values = Values::Translation(values.into_iter().map(|x| v3(x, 0.0, 0.0)).collect());
        Channel::new(0, interpolation, vec![1.0, 3.0], values).unwrap()
    }

    #[test]
    fn step_and_linear() {
        let step = channel(Interpolation::Step, vec![5.0, 7.0]);
        let linear = channel(Interpolation::Linear, vec![5.0, 7.0]);
        let at = |c: &Channel| [0.0, 1.0, 2.5, 3.0, 9.0].map(|t| c.vector(t).x);
        assert_eq!(at(&step), [5.0, 5.0, 5.0, 7.0, 7.0]);
        assert_eq!(at(&linear), [5.0, 5.0, 6.5, 7.0, 7.0]);
    }

    #[test]
    fn a_cubic_track_repeats_a_cubic() {
        // x = t^3 between t = 1 and t = 3, with its own slopes 3 t^2.
        let c = channel(Interpolation::CubicSpline, vec![0.0, 1.0, 3.0, 27.0, 27.0, 0.0]);
        for t in [1.0, 1.3, 2.0, 2.9, 3.0] {
            assert!((c.vector(t).x - t.powi(3)).abs() < 1e-12, "{t}");
        }
    }

    #[test]
    fn a_track_that_lies_about_its_length_is_an_error() {
        assert!(
            Channel::new(0, Interpolation::Linear, vec![0.0, 1.0], Values::Scale(vec![V3::ZERO])).is_err()
        );
    }
}
