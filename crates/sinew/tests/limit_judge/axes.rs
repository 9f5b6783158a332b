//! Turns about three axes, each within its range: the distance from that set, in closed form.

use sinew::joint::Dof;

use super::V;

/// x, y, z, w.
pub type Q = [f64; 4];

/// A range of an angle: its middle and half its width; infinite where every angle is allowed.
#[derive(Clone, Copy, Debug)]
pub struct Arc {
    pub middle: f64,
    pub half: f64,
}

impl Arc {
    /// An axis that does not turn is at 0.
    pub fn of(dof: Option<Dof>) -> Self {
        match dof.map(|d| d.range) {
            None => Self { middle: 0.0, half: 0.0 },
            Some(r) if r.is_bounded() => Self { middle: 0.5 * (r.min + r.max), half: 0.5 * (r.max - r.min) },
            Some(_) => Self { middle: 0.0, half: f64::INFINITY },
        }
    }

    fn holds(&self, angle: f64) -> bool {
        on_turn(angle - self.middle).abs() <= self.half
    }

    /// Made as wide as it must be to hold an angle, to the side on which that is nearer to the middle.
    pub fn widened(&self, angle: f64) -> Self {
        let d = on_turn(angle - self.middle);
        if d.abs() <= self.half {
            return *self;
        }
        let (low, high) = (d.min(-self.half), d.max(self.half));
        Self { middle: self.middle + 0.5 * (low + high), half: 0.5 * (high - low) }
    }
}

pub fn on_turn(x: f64) -> f64 {
    x - std::f64::consts::TAU * (x / std::f64::consts::TAU).round()
}

pub fn times(a: Q, b: Q) -> Q {
    [
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2],
        a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    ]
}

pub fn back(a: Q) -> Q {
    [-a[0], -a[1], -a[2], a[3]]
}

fn along(a: Q, b: Q) -> f64 {
    (0..4).map(|n| a[n] * b[n]).sum()
}

fn axis(n: usize) -> Q {
    [0, 1, 2, 3].map(|k| if k == n { 1.0 } else { 0.0 })
}

fn about(n: usize, angle: f64) -> Q {
    let (s, c) = (0.5 * angle).sin_cos();
    let e = axis(n);
    [e[0] * s, e[1] * s, e[2] * s, c]
}

/// The angle between two rotations.
pub fn apart(a: Q, b: Q) -> f64 {
    let d = times(back(a), b);
    2.0 * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt().atan2(d[3].abs())
}

fn build(order: [usize; 3], c: V) -> Q {
    times(times(about(order[0], c[0]), about(order[1], c[1])), about(order[2], c[2]))
}

/// The two sets of angles of a rotation, in the order's axes.
fn angles(order: [usize; 3], q: Q) -> [V; 2] {
    let [i, j, k] = order;
    // Columns of the matrix by turning the axes.
    let column = |n: usize| times(times(q, axis(n)), back(q));
    let (ci, cj, ck) = (column(i), column(j), column(k));
    let sign = if (i + 1) % 3 == j { 1.0 } else { -1.0 };
    // In the axes i, j, k: m[i][k] = +-sin b, m[j][k] and m[k][k] hold a, m[i][j] and m[i][i] hold c.
    let cos = ci[i].hypot(cj[i]);
    let b = (sign * ck[i]).atan2(cos);
    let a = (-sign * ck[j]).atan2(ck[k]);
    let c = (-sign * cj[i]).atan2(ci[i]);
    use std::f64::consts::PI;
    [[a, b, c], [a + PI, PI - b, c + PI]]
}

/// The least rotation that takes `q` into the set of `turn(a) turn(b) turn(c)` with every angle in its range.
///
/// The nearest place has some angles inside their ranges and the others at an end. With those at their ends, `q . Q` (the
/// cosine of half the angle to Q) is for one angle A cos(t/2) + B sin(t/2), and for two a form p(s)^T N p(t) with p(t) =
/// (cos t/2, sin t/2): each has one largest value on the circle or the torus, whose other stationary points are no
/// maxima. So the nearest place of the set is among 1 + 6 + 12 + 8: the interior, the faces, the edges and the corners.
pub fn outside(q: Q, order: [usize; 3], ranges: [Arc; 3]) -> f64 {
    if angles(order, q).iter().any(|c| (0..3).all(|n| ranges[n].holds(c[n]))) {
        return 0.0;
    }
    let mut best = f64::INFINITY;
    for code in 0..27usize {
        // 0: anywhere, 1: at the low end, 2: at the high end.
        let state = [code % 3, code / 3 % 3, code / 9];
        let fits = (0..3).all(|n| match state[n] {
            0 => ranges[n].half > 0.0,
            _ => ranges[n].half < std::f64::consts::PI,
        });
        let free: Vec<usize> = (0..3).filter(|&n| state[n] == 0).collect();
        if !fits || free.len() == 3 {
            continue;
        }
        let mut c =
            [0, 1, 2].map(|n| ranges[n].middle + [0.0, -1.0, 1.0][state[n]] * ranges[n].half.min(9.0));
        // The product with the free turns as halves of a turn (0 or pi) about their axes.
        let part = |halves: &[(usize, bool)]| {
            let one = |n: usize| match halves.iter().find(|h| h.0 == n) {
                Some((_, false)) => [0.0, 0.0, 0.0, 1.0],
                Some((_, true)) => axis(order[n]),
                None => about(order[n], c[n]),
            };
            along(q, times(times(one(0), one(1)), one(2)))
        };
        match free[..] {
            [n] => c[n] = 2.0 * part(&[(n, true)]).atan2(part(&[(n, false)])),
            [m, n] => {
                let f = |a, b| part(&[(m, a), (n, b)]);
                let [[p, r], [s, t]] = [[f(false, false), f(false, true)], [f(true, false), f(true, true)]];
                let (less, more) = ((s - r).atan2(p + t), (s + r).atan2(p - t));
                (c[m], c[n]) = (more + less, more - less);
            }
            _ => {}
        }
        if free.iter().all(|&n| ranges[n].holds(c[n])) {
            best = best.min(apart(build(order, c), q));
        }
    }
    best
}
