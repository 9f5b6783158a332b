//! The ground as triangles: height below a point, and depth of a point inside.

use std::collections::HashMap;

use crate::maths::{V3, v3};

/// Triangles in world space, listed by the squares of a grid seen from above.
pub struct Ground {
    triangles: Vec<[V3; 3]>,
    size: f64,
    squares: HashMap<(i64, i64), Vec<usize>>,
}

impl Ground {
    /// Sorts triangles into squares.
    pub fn new(triangles: Vec<[V3; 3]>) -> Self {
        let (mut low, mut high) = (v3(f64::MAX, 0.0, f64::MAX), v3(f64::MIN, 0.0, f64::MIN));
        for p in triangles.iter().flatten() {
            low = v3(low.x.min(p.x), 0.0, low.z.min(p.z));
            high = v3(high.x.max(p.x), 0.0, high.z.max(p.z));
        }
        // About one triangle a square, and no more than 1000 squares a side: a tread of stairs spans many squares.
        let side = (triangles.len() as f64).sqrt().clamp(1.0, 1000.0);
        let size = ((high.x - low.x).max(high.z - low.z) / side).max(1e-3);
        let mut ground = Self { triangles, size, squares: HashMap::new() };
        for (i, t) in ground.triangles.iter().enumerate() {
            let xs = t.map(|p| (p.x / size).floor() as i64);
            let zs = t.map(|p| (p.z / size).floor() as i64);
            for x in *xs.iter().min().unwrap_or(&0)..=*xs.iter().max().unwrap_or(&-1) {
                for z in *zs.iter().min().unwrap_or(&0)..=*zs.iter().max().unwrap_or(&-1) {
                    ground.squares.entry((x, z)).or_default().push(i);
                }
            }
        }
        ground
    }

    /// Number of triangles.
    pub fn triangles(&self) -> usize {
        self.triangles.len()
    }

    /// Height of the highest surface on the plumb line through `p` that is no higher than `reach` above it.
    pub fn height(&self, p: V3, reach: f64) -> Option<f64> {
        let square = ((p.x / self.size).floor() as i64, (p.z / self.size).floor() as i64);
        self.squares
            .get(&square)?
            .iter()
            .filter_map(|&i| plumb(&self.triangles[i], p.x, p.z))
            .filter(|y| *y <= p.y + reach)
            .reduce(f64::max)
    }

    /// Depth of a point inside the ground: 0 above the surface under it, else the distance to the nearest surface. A
    /// point just behind a riser is as deep as it is behind it, however high the tread above it.
    pub fn depth(&self, p: V3, reach: f64) -> f64 {
        let Some(height) = self.height(p, reach) else { return 0.0 };
        let below = height - p.y;
        if below <= 0.0 {
            return 0.0;
        }
        let cell = |c: f64| (c / self.size).floor() as i64;
        let mut nearest = below;
        for x in cell(p.x - below)..=cell(p.x + below) {
            for z in cell(p.z - below)..=cell(p.z + below) {
                for &i in self.squares.get(&(x, z)).into_iter().flatten() {
                    nearest = nearest.min((closest(&self.triangles[i], p) - p).length());
                }
            }
        }
        nearest
    }
}

/// Height of a triangle at (x, z), nothing beside it or where it stands upright. Its edges belong to it.
fn plumb([a, b, c]: &[V3; 3], x: f64, z: f64) -> Option<f64> {
    let area = (b.x - a.x) * (c.z - a.z) - (c.x - a.x) * (b.z - a.z);
    let scale = (*b - *a).length() * (*c - *a).length();
    if area.abs() <= 1e-9 * scale {
        return None;
    }
    let u = ((b.x - x) * (c.z - z) - (c.x - x) * (b.z - z)) / area;
    let v = ((c.x - x) * (a.z - z) - (a.x - x) * (c.z - z)) / area;
    let w = 1.0 - u - v;
    // Two triangles' common edge must not be a gap between them.
    (u.min(v).min(w) >= -1e-9).then_some(u * a.y + v * b.y + w * c.y)
}

/// Nearest point of a triangle: on its face where the foot of the perpendicular falls inside, else on the nearest edge.
fn closest([a, b, c]: &[V3; 3], p: V3) -> V3 {
    let normal = (*b - *a).cross(*c - *a);
    let inside = |s: V3, e: V3| (e - s).cross(p - s).dot(normal) >= 0.0;
    if let Some(n) = normal.unit()
        && inside(*a, *b)
        && inside(*b, *c)
        && inside(*c, *a)
    {
        return p - n * (p - *a).dot(n);
    }
    let on = |s: V3, e: V3| {
        let d = e - s;
        let t = if d.dot(d) > 0.0 { ((p - s).dot(d) / d.dot(d)).clamp(0.0, 1.0) } else { 0.0 };
        s + d * t
    };
    let mut best = on(*a, *b);
    for q in [on(*b, *c), on(*c, *a)] {
        if (q - p).length() < (best - p).length() {
            best = q;
        }
    }
    best
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two triangles of a rectangle.
    pub fn quad(a: V3, b: V3, c: V3, d: V3) -> [[V3; 3]; 2] {
        [[a, b, c], [a, c, d]]
    }

    /// A floor of height 0 up to z = 1, then a riser, then a floor of height 0.2; 4 m wide.
    pub fn step() -> Ground {
        let mut t = Vec::new();
        t.extend(quad(v3(-2.0, 0.0, -3.0), v3(-2.0, 0.0, 1.0), v3(2.0, 0.0, 1.0), v3(2.0, 0.0, -3.0)));
        t.extend(quad(v3(-2.0, 0.0, 1.0), v3(-2.0, 0.2, 1.0), v3(2.0, 0.2, 1.0), v3(2.0, 0.0, 1.0)));
        t.extend(quad(v3(-2.0, 0.2, 1.0), v3(-2.0, 0.2, 5.0), v3(2.0, 0.2, 5.0), v3(2.0, 0.2, 1.0)));
        Ground::new(t)
    }

    #[test]
    fn heights_on_a_step() {
        let g = step();
        assert_eq!(g.height(v3(0.3, 0.05, 0.9), 0.5), Some(0.0));
        assert_eq!(g.height(v3(0.3, 0.05, 1.1), 0.5), Some(0.2));
        assert_eq!(g.height(v3(0.3, -0.4, 1.1), 0.5), None, "out of reach above");
        assert_eq!(g.height(v3(9.0, 0.0, 0.0), 0.5), None, "beside the ground");
    }

    #[test]
    fn a_point_in_front_of_a_riser_is_outside_and_one_behind_it_is_as_deep_as_it_is_behind() {
        let g = step();
        assert_eq!(g.depth(v3(0.0, 0.1, 0.999), 0.5), 0.0);
        assert!((g.depth(v3(0.0, 0.1, 1.003), 0.5) - 0.003).abs() < 1e-12);
        assert!((g.depth(v3(0.0, 0.19, 1.5), 0.5) - 0.01).abs() < 1e-12);
        assert!((g.depth(v3(0.0, -0.02, 0.5), 0.5) - 0.02).abs() < 1e-12);
    }

    #[test]
    fn a_slope_has_its_height_everywhere_and_its_depth_is_across_it() {
        let k = 20.0_f64.to_radians().tan();
        let g = Ground::new(
            quad(v3(-3.0, 0.0, 0.0), v3(-3.0, 7.0 * k, 7.0), v3(3.0, 7.0 * k, 7.0), v3(3.0, 0.0, 0.0))
                .to_vec(),
        );
        for i in 0..70 {
            let z = 0.1 * f64::from(i);
            assert!((g.height(v3(-1.3, z * k, z), 0.5).unwrap() - z * k).abs() < 1e-12);
        }
        let depth = g.depth(v3(0.0, 3.0 * k - 0.1, 3.0), 0.5);
        assert!((depth - 0.1 * 20.0_f64.to_radians().cos()).abs() < 1e-12, "{depth}");
    }

    #[test]
    fn of_two_floors_the_reachable_one_counts() {
        let mut t = Vec::new();
        for y in [0.0, 2.0] {
            t.extend(quad(v3(-1.0, y, -1.0), v3(-1.0, y, 1.0), v3(1.0, y, 1.0), v3(1.0, y, -1.0)));
        }
        let g = Ground::new(t);
        assert_eq!(g.height(v3(0.0, 0.1, 0.0), 0.5), Some(0.0));
        assert_eq!(g.height(v3(0.0, 1.8, 0.0), 0.5), Some(2.0));
    }
}
