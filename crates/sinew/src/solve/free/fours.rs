//! Unit directions of bones, four per SIMD group, and the Moebius map that bends them all at once.
//!
//! Sums run per lane, and the final sum over the lanes has a fixed order, so that the bits are the same on every build.

use alloc::vec::Vec;

use glam::{Mat4, Quat, Vec3, Vec4};

use crate::math;

/// Directions and lengths of four bones.
#[derive(Clone, Copy, Debug)]
struct Four {
    x: Vec4,
    y: Vec4,
    z: Vec4,
    length: Vec4,
}

const NOTHING: Four = Four { x: Vec4::ONE, y: Vec4::ZERO, z: Vec4::ZERO, length: Vec4::ZERO };

/// 1 + cos of 150 degrees. Wider arcs are composed of two, as rounding is magnified near 180 degrees and at 180 degrees
/// the axis is undefined.
pub(super) const WEAK: f32 = 0.13;

/// Mask of the lanes in use in the last group of four, by the number of bones modulo 4.
pub(super) const THERE: [Vec4; 4] =
    [Vec4::ONE, Vec4::new(1.0, 0.0, 0.0, 0.0), Vec4::new(1.0, 1.0, 0.0, 0.0), Vec4::new(1.0, 1.0, 1.0, 0.0)];

/// First and second moments of the bones of a chain of length 1. For any other length, all values scale by that length.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moments {
    /// Vector from the root to the end, then second moment xx.
    one: Vec4,
    /// Second moments yy, yz, zx, xy of the directions, weighted by length. (zz = 1 - xx - yy.)
    two: Vec4,
}

impl Moments {
    /// Vector from the root to the end.
    #[inline(always)]
    pub fn end(&self) -> Vec3 {
        self.one.truncate()
    }

    /// Second moments xx, yy, yz, zx, xy of the directions, weighted by length. (zz = 1 - xx - yy.)
    #[inline(always)]
    pub fn second(&self) -> [f32; 5] {
        let Self { one, two } = self;
        [one.w, two.x, two.y, two.z, two.w]
    }

    /// Scales the moments to those of a chain `by` times as long.
    #[inline(always)]
    pub fn scaled(&self, by: f32) -> Self {
        Self { one: self.one * by, two: self.two * by }
    }
}

/// Result of [`Fours::load`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Loaded {
    pub total: f32,
    pub longest: f32,
    /// Whether some bone has no length, and so no direction yet.
    pub gap: bool,
    /// Largest absolute cosine between neighbouring bones.
    pub straightest: f32,
    /// Moments with the bones' own lengths.
    pub moments: Moments,
}

/// Bones of a chain, in groups of four.
#[derive(Clone, Debug, Default)]
pub(super) struct Fours {
    fours: Vec<Four>,
    count: usize,
}

impl Fours {
    /// Allocates room for a chain of `count` bones.
    pub fn fit(&mut self, count: usize) {
        self.fours.clear();
        self.fours.resize(count.div_ceil(4), NOTHING);
        self.count = count;
    }

    /// Number of bones.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Loads directions and lengths of the bones between consecutive points. `point(i)` is the i-th of `count + 1`
    /// points; its last lane is ignored. `scaled` may scale each bone's vector. A bone without length gets an arbitrary
    /// direction.
    #[inline(always)]
    pub fn load(&mut self, mut point: impl FnMut(usize) -> Vec4, scaled: impl Fn(Vec4) -> Vec4) -> Loaded {
        let mut last = point(0);
        let mut way = |bone: usize| {
            let next = point(bone + 1);
            let way = scaled(next - last);
            last = next;
            way
        };
        let (mut total, mut longest, mut shortest) = (Vec4::ZERO, Vec4::ZERO, Vec4::MAX);
        let (mut sums, mut straightest) = (Sums::default(), Vec4::ZERO);
        let mut before = [Vec4::ZERO; 3];
        let mut measure = |four: &mut Four, ways: [Vec4; 4], there: Vec4| {
            let [x, y, z, _] = transposed(ways);
            let length = (x * x + y * y + z * z).sqrt();
            shortest = shortest.min(length);
            let over = Vec4::ONE / length.max(Vec4::splat(f32::MIN_POSITIVE));
            let (x, y, z) = (x * over, y * over, z * over);
            let dot = x * shifted(before[0], x) + y * shifted(before[1], y) + z * shifted(before[2], z);
            straightest = straightest.max((dot * there).abs());
            before = [x, y, z];
            *four = Four { x, y, z, length: length * there };
            total += four.length;
            longest = longest.max(four.length);
            sums.add(four);
        };
        let whole = (self.count / 4).min(self.fours.len());
        let (fours, rest) = self.fours.split_at_mut(whole);
        for (i, four) in fours.iter_mut().enumerate() {
            let ways = [way(4 * i), way(4 * i + 1), way(4 * i + 2), way(4 * i + 3)];
            measure(four, ways, Vec4::ONE);
        }
        // Lanes past the last bone have a unit direction and zero length.
        if let [four] = rest {
            let left = self.count % 4;
            let first = way(4 * whole);
            let second = if left > 1 { way(4 * whole + 1) } else { Vec4::X };
            let third = if left > 2 { way(4 * whole + 2) } else { Vec4::X };
            measure(four, [first, second, third, Vec4::X], THERE[left]);
        }
        Loaded {
            total: (total.x + total.y) + (total.z + total.w),
            longest: longest.max_element(),
            gap: shortest.min_element() <= 0.0,
            straightest: straightest.max_element(),
            moments: sums.total(),
        }
    }

    /// Largest absolute component of any bone along a row of points.
    #[cold]
    pub fn max_component(&self, mut point: impl FnMut(usize) -> Vec4) -> f32 {
        let way = |bone: usize| (point(bone + 1) - point(bone)).truncate().abs().max_element();
        (0..self.count).map(way).fold(0.0, f32::max)
    }

    /// Multiplies all lengths by a factor.
    #[inline]
    pub fn scale_lengths(&mut self, by: f32) {
        self.fours.iter_mut().for_each(|four| four.length *= by);
    }

    /// Length of a bone.
    #[inline(always)]
    pub fn length(&self, bone: usize) -> f32 {
        self.fours[bone / 4].length.to_array()[bone % 4]
    }

    /// Square of the largest chord between these directions, turned by `turn`, and those of `others`.
    pub fn chord_squared(&self, others: &Self, turn: Quat) -> f32 {
        let [a, b, c] = Vec3::AXES.map(|axis| math::rotate(turn, axis));
        let mut max = Vec4::ZERO;
        for (f, o) in self.fours.iter().zip(&others.fours) {
            let x = f.x * a.x + f.y * b.x + f.z * c.x - o.x;
            let y = f.x * a.y + f.y * b.y + f.z * c.y - o.y;
            let z = f.x * a.z + f.y * b.z + f.z * c.z - o.z;
            let there = Vec4::select(o.length.cmpgt(Vec4::ZERO), Vec4::ONE, Vec4::ZERO);
            max = max.max((x * x + y * y + z * z) * there);
        }
        max.max_element()
    }

    /// Sum of the start positions of all bones but the first, relative to the start of the first.
    #[inline(always)]
    pub fn sum_of_starts(&self) -> Vec3 {
        let [mut x, mut y, mut z] = [Vec4::ZERO; 3];
        // A bone counts once for each bone after it.
        let mut after = Vec4::new(-1.0, -2.0, -3.0, -4.0) + Vec4::splat(self.count as f32);
        for four in &self.fours {
            let way = four.length * after;
            (x, y, z) = (x + way * four.x, y + way * four.y, z + way * four.z);
            after -= Vec4::splat(4.0);
        }
        let [a, b, c, d] = transposed([x, y, z, Vec4::ZERO]);
        ((a + b) + (c + d)).truncate()
    }

    /// Direction of a bone.
    #[inline(always)]
    pub fn direction(&self, bone: usize) -> Vec3 {
        let (four, lane) = (&self.fours[bone / 4], bone % 4);
        Vec3::new(four.x.to_array()[lane], four.y.to_array()[lane], four.z.to_array()[lane])
    }

    /// Sets the length of a bone.
    pub fn set_length(&mut self, bone: usize, length: f32) {
        self.fours[bone / 4].length[bone % 4] = length;
    }

    /// Sets the direction of a bone.
    pub fn set_direction(&mut self, bone: usize, direction: Vec3) {
        let (four, lane) = (&mut self.fours[bone / 4], bone % 4);
        (four.x[lane], four.y[lane], four.z[lane]) = (direction.x, direction.y, direction.z);
    }

    /// Copies the bones of a chain with the same number of bones.
    #[inline]
    pub fn copy_from(&mut self, other: &Self) {
        self.fours.copy_from_slice(&other.fours);
    }

    /// Moments of the chain with its current directions.
    #[inline]
    pub fn moments(&self) -> Moments {
        let mut sums = Sums::default();
        for four in &self.fours {
            sums.add(four);
        }
        sums.total()
    }

    /// Sum of l |v - a|^2 / 2 over the bones.
    pub fn bend(&self, a: Vec3) -> f32 {
        let mut sum = Vec4::ZERO;
        for four in &self.fours {
            let (x, y, z) = (four.x - Vec4::splat(a.x), four.y - Vec4::splat(a.y), four.z - Vec4::splat(a.z));
            sum += four.length * (x * x + y * y + z * z);
        }
        0.5 * ((sum.x + sum.y) + (sum.z + sum.w))
    }

    /// Applies the Moebius map of the sphere by the vector `x` of the unit ball,
    ///
    /// ```text
    /// v -> x + (1 - |x|^2) (v + x) / |v + x|^2
    /// ```
    ///
    /// which draws all directions towards x and away from -x; the map by -x undoes it. `rest` is 1 - |x|^2. (In
    /// physics: the aberration of starlight at the half velocity x.) It magnifies errors of |v| = 1 by up to (1 + |x|)
    /// / (1 - |x|), so directions are normalised after large maps.
    #[inline(always)]
    pub fn boost(&mut self, x: Vec3, rest: f32) -> Moments {
        let boost = Boost::new(x, rest);
        let mut sums = Sums::default();
        for four in &mut self.fours {
            *four = boost.apply(four);
            sums.add(four);
        }
        sums.total()
    }

    /// Computes the shortest arcs from these directions to those of `to`, not normalised. Returns whether some arc is
    /// beyond 150 degrees, where rounding is magnified and the axis is undefined at 180 degrees.
    #[inline]
    pub fn arcs(&self, to: &Self, arcs: &mut [Arcs]) -> bool {
        let mut min = Vec4::ONE;
        for ((a, b), out) in self.fours.iter().zip(&to.fours).zip(arcs) {
            let w = Vec4::ONE + (a.x * b.x + a.y * b.y + a.z * b.z);
            min = min.min(w);
            *out = [a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x, w];
        }
        min.min_element() < WEAK
    }

    /// Recomputes the arcs for which [`Fours::arcs`] warns: as two arcs each, or half turns about `fallback`.
    #[cold]
    pub fn weak_arcs(&self, to: &Self, arcs: &mut [Arcs], fallback: Vec3) {
        for bone in 0..self.count {
            let (a, b) = (self.direction(bone), to.direction(bone));
            let first = math::shortest_arc(a, b, fallback);
            let arc =
                math::normalize(math::mul(math::shortest_arc(math::rotate(first, a), b, fallback), first));
            for (lanes, c) in arcs[bone / 4].iter_mut().zip([arc.x, arc.y, arc.z, arc.w]) {
                lanes[bone % 4] = c;
            }
        }
    }
}

/// Precomputed Moebius map; see [`Fours::boost`].
struct Boost {
    x: Vec4,
    y: Vec4,
    z: Vec4,
    /// 1 - |x|^2.
    rest: Vec4,
    /// Whether directions are normalised: if |x|^2 is above a half, where their error would grow about six times.
    anew: bool,
}

impl Boost {
    #[inline(always)]
    fn new(x: Vec3, rest: f32) -> Self {
        let [x, y, z] = x.to_array().map(Vec4::splat);
        Self { x, y, z, rest: Vec4::splat(rest), anew: rest <= 0.5 }
    }

    #[inline(always)]
    fn apply(&self, four: &Four) -> Four {
        let Self { x, y, z, rest, anew } = *self;
        let (wx, wy, wz) = (four.x + x, four.y + y, four.z + z);
        let ww = wx * wx + wy * wy + wz * wz;
        let (x, y, z) = if anew {
            let (nx, ny, nz) = (x * ww + rest * wx, y * ww + rest * wy, z * ww + rest * wz);
            let over = Vec4::ONE / (nx * nx + ny * ny + nz * nz).sqrt();
            (nx * over, ny * over, nz * over)
        } else {
            let part = rest / ww;
            (x + wx * part, y + wy * part, z + wz * part)
        };
        Four { x, y, z, length: four.length }
    }
}

/// Shifts lanes by one: the last lane of `before`, then the first three of `v`.
#[inline(always)]
pub(super) fn shifted(before: Vec4, v: Vec4) -> Vec4 {
    Vec4::new(before.w, v.x, v.y, v.z)
}

/// Rotations of four bones: their x, y, z and w.
pub(super) type Arcs = [Vec4; 4];

/// Transposes four rows into four columns.
#[inline(always)]
pub(super) fn transposed(v: [Vec4; 4]) -> [Vec4; 4] {
    let m = Mat4::from_cols(v[0], v[1], v[2], v[3]).transpose();
    [m.x_axis, m.y_axis, m.z_axis, m.w_axis]
}

/// Sums per lane: x, y, z, xx, yy, yz, zx, xy.
#[derive(Default)]
struct Sums([Vec4; 8]);

impl Sums {
    #[inline(always)]
    fn add(&mut self, four: &Four) {
        let (x, y, z) = (four.length * four.x, four.length * four.y, four.length * four.z);
        let all = [x, y, z, x * four.x, y * four.y, y * four.z, z * four.x, x * four.y];
        for (sum, part) in self.0.iter_mut().zip(all) {
            *sum += part;
        }
    }

    #[inline(always)]
    fn total(&self) -> Moments {
        let sum = |a, b, c, d| {
            let [a, b, c, d] = transposed([a, b, c, d]);
            (a + b) + (c + d)
        };
        let [x, y, z, xx, yy, yz, zx, xy] = self.0;
        let (one, two) = (sum(x, y, z, xx), sum(yy, yz, zx, xy));
        Moments { one, two }
    }
}
