//! One cubic piece of a curve, and its crossings with a sphere.

use glam::DVec3;

use crate::math64;

/// The cubic `c[0] + c[1] t + c[2] t^2 + c[3] t^3`, for t from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cubic {
    pub c: [DVec3; 4],
}

/// Nodes and weights of the three-point Gauss-Legendre rule on \[0, 1\]: exact for polynomials of degree 5.
const GAUSS: [(f64, f64); 3] =
    [(0.112_701_665_379_258_31, 5.0 / 18.0), (0.5, 8.0 / 18.0), (0.887_298_334_620_741_7, 5.0 / 18.0)];

/// Bernstein coefficients of a polynomial of degree 6 on \[0, 1\].
type Sextic = [f64; 7];

impl Cubic {
    /// Returns the cubic with these ends and velocities there.
    pub fn hermite(from: DVec3, to: DVec3, start: DVec3, end: DVec3) -> Self {
        let chord = to - from;
        Self { c: [from, start, 3.0 * chord - 2.0 * start - end, start + end - 2.0 * chord] }
    }

    /// Returns the cubic with these four Bézier points.
    pub fn bezier([a, b, c, d]: [DVec3; 4]) -> Self {
        Self { c: [a, 3.0 * (b - a), 3.0 * (a - 2.0 * b + c), d - a + 3.0 * (b - c)] }
    }

    pub fn point(&self, t: f64) -> DVec3 {
        let [a, b, c, d] = self.c;
        a + (b + (c + d * t) * t) * t
    }

    fn velocity(&self, t: f64) -> DVec3 {
        let [_, b, c, d] = self.c;
        b + (2.0 * c + 3.0 * d * t) * t
    }

    fn speed(&self, t: f64) -> f64 {
        math64::sqrt(self.velocity(t).length_squared())
    }

    /// Unit vector along the curve. At zero velocity (a handle of zero length), the limit from inside the piece.
    pub fn tangent(&self, t: f64) -> DVec3 {
        let [_, b, c, d] = self.c;
        let size = b.length_squared().max(c.length_squared()).max(d.length_squared());
        let v = self.velocity(t);
        // A velocity below 1e-9 of that elsewhere has only a handful of digits left.
        if v.length_squared() > 1e-18 * size {
            return v / math64::sqrt(v.length_squared());
        }
        let bend = 2.0 * c + 6.0 * d * t;
        let direction =
            if bend.length_squared() > 1e-18 * size { if t < 0.5 { bend } else { -bend } } else { d };
        direction / math64::sqrt(direction.length_squared())
    }

    /// (p(t + h) - p(t)) / h, without cancellation between nearly equal positions.
    pub fn slope(&self, t: f64, h: f64) -> DVec3 {
        let [_, _, c, d] = self.c;
        self.velocity(t) + (c + 3.0 * d * t) * h + d * (h * h)
    }

    /// Length from `t` to `t + h`, by one application of the rule; accurate for a small part of the piece.
    pub fn length(&self, t: f64, h: f64) -> f64 {
        GAUSS.iter().map(|(x, w)| w * self.speed(t + h * x)).sum::<f64>() * h
    }

    /// Parameter between `t` and `t + h` at the arc length `length` from `t`; `all` is the length of that part.
    pub fn after(&self, t: f64, h: f64, length: f64, all: f64) -> f64 {
        if length <= 0.0 || all <= 0.0 {
            return t;
        }
        if length >= all {
            return t + h;
        }
        let off = |x: f64| (self.length(t, x) - length, self.speed(t + x));
        t + root(0.0, h, h * length / all, 1e-14 * all, off)
    }

    /// The part from `t` to `t + h` (reversed, if h is negative) as a piece of its own.
    pub fn part(&self, t: f64, h: f64) -> Self {
        let [_, _, c, d] = self.c;
        let (h2, h3) = (h * h, h * h * h);
        Self { c: [self.point(t), self.velocity(t) * h, (c + 3.0 * d * t) * h2, d * h3] }
    }

    /// First parameter, 0 to 1, where the distance from `centre` rises through `radius`, or (not `outwards`) falls
    /// through it. The start counts as being on the side before the crossing, regardless of rounding.
    ///
    /// The squared distance is a polynomial of degree 6. Its Bernstein coefficients change sign at least as often as it
    /// has roots (Descartes' rule). No change means no root, one change means exactly one, and otherwise both halves
    /// are examined in turn. So no crossing is missed, and the one found is bracketed.
    pub fn crosses(&self, centre: DVec3, radius: f64, outwards: bool) -> Option<f64> {
        let sign = if outwards { 1.0 } else { -1.0 };
        let square = radius * radius;
        let mut squares = self.squares(centre, square).map(|c| c * sign);
        squares[0] = squares[0].min(0.0);
        let (low, high) = first_rise(&squares, 0.0, 1.0, DEPTH)?;
        // The first guess follows the curve's speed at the start of the bracket: it is next to the root if bones are
        // shorter than the curve's bends.
        let left = radius - math64::sqrt((self.point(low) - centre).length_squared());
        let guess = low + sign * left / self.speed(low);
        Some(root(low, high, guess, 1e-15 * square, |t| {
            let (off, v) = (self.point(t) - centre, self.velocity(t));
            (sign * (off.length_squared() - square), 2.0 * sign * off.dot(v))
        }))
    }

    /// Bernstein coefficients of |p(t) - centre|^2 - square.
    fn squares(&self, centre: DVec3, square: f64) -> Sextic {
        let [a, b, c, d] = self.c;
        let a = a - centre;
        let p = [a, a + b / 3.0, a + (2.0 * b + c) / 3.0, a + b + c + d];
        let dot = |i: usize, k: usize| p[i].dot(p[k]);
        [
            dot(0, 0) - square,
            dot(0, 1) - square,
            (2.0 * dot(0, 2) + 3.0 * dot(1, 1)) / 5.0 - square,
            (dot(0, 3) + 9.0 * dot(1, 2)) / 10.0 - square,
            (2.0 * dot(1, 3) + 3.0 * dot(2, 2)) / 5.0 - square,
            dot(2, 3) - square,
            dot(3, 3) - square,
        ]
    }
}

/// Finds the root of a function that rises from `low` to `high`, to within the value `near`. `f` returns value and
/// slope. Each Newton step narrows the bracket; a step that would leave it is replaced by bisection.
fn root(mut low: f64, mut high: f64, guess: f64, near: f64, f: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut next = guess;
    let mut t = low;
    for _ in 0..80 {
        t = if next > low && next < high { next } else { 0.5 * (low + high) };
        let (value, slope) = f(t);
        if value.abs() <= near || high - low <= 1e-16 {
            break;
        }
        if value > 0.0 {
            high = t;
        } else {
            low = t;
        }
        next = t - value / slope;
    }
    t
}

/// Maximum number of bisections; a part is then below the rounding of the parameter.
const DEPTH: u32 = 50;

/// Brackets the first position where a polynomial rises through 0. `c` are its coefficients on the part `low` to
/// `high`; the first is at most 0.
fn first_rise(c: &Sextic, low: f64, high: f64, depth: u32) -> Option<(f64, f64)> {
    let mut changes = 0;
    let mut above = false;
    for &x in &c[1..] {
        if (x > 0.0) != above && x != 0.0 {
            above = !above;
            changes += 1;
        }
    }
    match changes {
        0 => None,
        1 => Some((low, high)),
        _ if depth == 0 => above.then_some((low, high)),
        _ => {
            let (left, mut right) = halves(c);
            let middle = 0.5 * (low + high);
            let found = first_rise(&left, low, middle, depth - 1);
            found.or_else(|| {
                right[0] = right[0].min(0.0);
                first_rise(&right, middle, high, depth - 1)
            })
        }
    }
}

/// Coefficients on both halves (de Casteljau).
fn halves(c: &Sextic) -> (Sextic, Sextic) {
    let (mut left, mut right) = (*c, *c);
    for (k, left) in left.iter_mut().enumerate().skip(1) {
        for i in 0..7 - k {
            right[i] = 0.5 * (right[i] + right[i + 1]);
        }
        *left = right[0];
    }
    (left, right)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches by sampling many positions in order.
    fn by_steps(cubic: &Cubic, centre: DVec3, radius: f64) -> Option<f64> {
        let off = |t: f64| cubic.point(t).distance(centre) - radius;
        let mut last = off(0.0);
        let mut inside = true;
        for i in 1..=100_000 {
            let t = i as f64 / 100_000.0;
            let now = off(t);
            if inside && last <= 0.0 && now > 0.0 {
                return Some(t);
            }
            inside |= now <= 0.0;
            last = now;
        }
        None
    }

    #[test]
    fn the_first_crossing_is_found() {
        let mut x = 0x2545_F491_4F6C_DD1Du64;
        let mut r = move || {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            (x >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let mut met = 0;
        for _ in 0..200 {
            let cubic = Cubic::bezier([0; 4].map(|_| DVec3::new(r(), r(), 0.2 * r())));
            let radius = 0.3 * (1.0 + r());
            let centre = cubic.point(0.0) + DVec3::new(r(), r(), r()) * 0.5 * radius;
            let (found, expected) = (cubic.crosses(centre, radius, true), by_steps(&cubic, centre, radius));
            match (found, expected) {
                (Some(a), Some(b)) => {
                    assert!((a - b).abs() < 2e-5, "{a} {b}");
                    assert!((cubic.point(a).distance(centre) - radius).abs() < 1e-12 * radius);
                    met += 1;
                }
                (None, None) => {}
                other => panic!("{other:?} of {cubic:?} from {centre} at {radius}"),
            }
        }
        assert!(met > 100);
    }
}
