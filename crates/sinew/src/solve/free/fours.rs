//! Unit directions of bones, four side by side, and the map of the sphere that bends them all at once.
//!
//! Lanes never mix in a sum, and the last sum over the lanes has one order, so that the bits are the same on every build.

use alloc::vec::Vec;

use glam::{Mat4, Vec3, Vec4, Vec4Swizzles};

use crate::math;

/// Four bones: their directions, and their lengths.
#[derive(Clone, Copy, Debug)]
struct Four {
    x: Vec4,
    y: Vec4,
    z: Vec4,
    length: Vec4,
}

const NOTHING: Four = Four { x: Vec4::ONE, y: Vec4::ZERO, z: Vec4::ZERO, length: Vec4::ZERO };

/// Which lanes of the last four are bones, by the remainder of their number.
const THERE: [Vec4; 4] =
    [Vec4::ONE, Vec4::new(1.0, 0.0, 0.0, 0.0), Vec4::new(1.0, 1.0, 0.0, 0.0), Vec4::new(1.0, 1.0, 1.0, 0.0)];

/// Where a chain of unit length ends, and how its bones are spread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moments {
    /// Sum of the bones: from the root to the end.
    pub end: Vec3,
    /// Second moments of the directions, weighted by length. (zz is what xx and yy leave of 1.)
    pub xx: f32,
    pub yy: f32,
    pub yz: f32,
    pub zx: f32,
    pub xy: f32,
}

/// What [`Fours::measure`] found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths {
    pub total: f32,
    pub longest: f32,
    /// Some bone has no length, and so no direction yet.
    pub gap: bool,
}

/// The bones of a chain.
#[derive(Clone, Debug, Default)]
pub(super) struct Fours {
    fours: Vec<Four>,
    count: usize,
}

impl Fours {
    /// Room for a chain of `count` bones.
    pub fn new(count: usize) -> Self {
        Self { fours: alloc::vec![NOTHING; count.div_ceil(4)], count }
    }

    /// Number of bones.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Takes in the bones along a row of points, one more than there are bones: `point(i)` is the i-th. Gives the largest
    /// component of any bone, without its sign.
    #[inline(always)]
    pub fn load(&mut self, mut point: impl FnMut(usize) -> Vec3) -> f32 {
        let mut last = point(0);
        let mut bone = 0;
        let mut most = Vec4::ZERO;
        for four in &mut self.fours {
            let mut ways = [Vec4::X; 4];
            for way in &mut ways {
                if bone < self.count {
                    bone += 1;
                    let next = point(bone);
                    *way = (next - last).extend(0.0);
                    most = most.max(way.abs());
                    last = next;
                }
            }
            [four.x, four.y, four.z, _] = transposed(ways);
        }
        most.max_element()
    }

    /// Multiplies bones that were loaded.
    #[cold]
    pub fn scale(&mut self, by: f32) {
        for four in &mut self.fours {
            (four.x, four.y, four.z) = (four.x * by, four.y * by, four.z * by);
        }
    }

    /// Splits bones that were loaded into directions and lengths. One without length gets no direction (zeros).
    #[inline]
    pub fn measure(&mut self) -> Lengths {
        let (mut total, mut longest, mut shortest) = (Vec4::ZERO, Vec4::ZERO, Vec4::MAX);
        let mut measure = |four: &mut Four, there: Vec4| {
            let length = (four.x * four.x + four.y * four.y + four.z * four.z).sqrt();
            shortest = shortest.min(length);
            let over = Vec4::ONE / length.max(Vec4::splat(f32::MIN_POSITIVE));
            (four.x, four.y, four.z) = (four.x * over, four.y * over, four.z * over);
            four.length = length * there;
            total += four.length;
            longest = longest.max(four.length);
        };
        // Lanes past the last bone have a direction like any other, and no length.
        let there = THERE[self.count % 4];
        if let Some((last, others)) = self.fours.split_last_mut() {
            others.iter_mut().for_each(|four| measure(four, Vec4::ONE));
            measure(last, there);
        }
        Lengths {
            total: (total.x + total.y) + (total.z + total.w),
            longest: longest.max_element(),
            gap: shortest.min_element() <= 0.0,
        }
    }

    /// Makes the chain's length 1, given its inverse.
    #[inline]
    pub fn make_parts(&mut self, over: f32) -> Moments {
        let mut sums = Sums::default();
        for four in &mut self.fours {
            four.length *= over;
            sums.add(four);
        }
        sums.total()
    }

    /// Length of a bone.
    #[inline(always)]
    pub fn length(&self, bone: usize) -> f32 {
        self.fours[bone / 4].length.to_array()[bone % 4]
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

    /// Takes the bones of another chain of as many.
    #[inline]
    pub fn copy_from(&mut self, other: &Self) {
        self.fours.copy_from_slice(&other.fours);
    }

    /// Where the chain ends now.
    #[inline]
    pub fn moments(&self) -> Moments {
        let mut sums = Sums::default();
        for four in &self.fours {
            sums.add(four);
        }
        sums.total()
    }

    /// The largest absolute cosine between neighbouring bones.
    #[inline]
    pub fn straightest(&self) -> f32 {
        let mut most = Vec4::ZERO;
        let shifted = |v: Vec4, next: Vec4| Vec4::new(v.y, v.z, v.w, next.x);
        let mut next: Option<&Four> = None;
        for four in self.fours.iter().rev() {
            // The last bone is its own neighbour's neighbour: no new pair.
            let after = next.map_or((four.x.wwww(), four.y.wwww(), four.z.wwww()), |n| (n.x, n.y, n.z));
            let dot = four.x * shifted(four.x, after.0)
                + four.y * shifted(four.y, after.1)
                + four.z * shifted(four.z, after.2);
            let dot = if next.is_none() { self.within(dot) } else { dot };
            most = most.max(dot.abs());
            next = Some(four);
        }
        most.max_element()
    }

    /// The pairs of the last four bones that are pairs.
    #[inline]
    fn within(&self, dot: Vec4) -> Vec4 {
        let mut lanes = dot.to_array();
        lanes[(self.count + 3) % 4..].fill(0.0);
        Vec4::from_array(lanes)
    }

    /// The sum of l |v - a|^2 / 2 over the bones.
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
    /// which draws all directions towards x and away from -x; the map by -x undoes it. (Seen otherwise: the aberration of
    /// starlight, with x the half velocity.) It keeps |v| = 1 only (1 + |x|) / (1 - |x|) times as well as it was kept before,
    /// so after large ones the lengths are set anew.
    #[inline]
    pub fn boost(&mut self, x: Vec3) -> Moments {
        let size = x.length_squared();
        // At most six times, then.
        if size < 0.5 { self.map::<false>(x, 1.0 - size) } else { self.map::<true>(x, 1.0 - size) }
    }

    #[inline(always)]
    fn map<const ANEW: bool>(&mut self, x: Vec3, rest: f32) -> Moments {
        let (rest, x, y, z) = (Vec4::splat(rest), Vec4::splat(x.x), Vec4::splat(x.y), Vec4::splat(x.z));
        let mut sums = Sums::default();
        for four in &mut self.fours {
            let (wx, wy, wz) = (four.x + x, four.y + y, four.z + z);
            let ww = wx * wx + wy * wy + wz * wz;
            if ANEW {
                let (nx, ny, nz) = (x * ww + rest * wx, y * ww + rest * wy, z * ww + rest * wz);
                let over = Vec4::ONE / (nx * nx + ny * ny + nz * nz).sqrt();
                (four.x, four.y, four.z) = (nx * over, ny * over, nz * over);
            } else {
                let part = rest / ww;
                (four.x, four.y, four.z) = (x + wx * part, y + wy * part, z + wz * part);
            }
            sums.add(four);
        }
        sums.total()
    }

    /// Shortest arcs from these directions to those of `to`, of no particular length. The flag says that some arc is beyond
    /// 150 degrees, where rounding is magnified and at 180 there is none.
    #[inline]
    pub fn arcs(&self, to: &Self, arcs: &mut [Arcs]) -> bool {
        let mut least = Vec4::ONE;
        for ((a, b), out) in self.fours.iter().zip(&to.fours).zip(arcs) {
            let w = Vec4::ONE + (a.x * b.x + a.y * b.y + a.z * b.z);
            least = least.min(w);
            *out = [a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x, w];
        }
        least.min_element() < 0.13
    }

    /// The arcs, where [`Fours::arcs`] warns: once more from where they lead, or half turns about `fallback`.
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

/// Rotations of four bones: their x, y, z and w.
pub(super) type Arcs = [Vec4; 4];

/// Rows for columns.
#[inline(always)]
pub(super) fn transposed(v: [Vec4; 4]) -> [Vec4; 4] {
    let m = Mat4::from_cols(v[0], v[1], v[2], v[3]).transpose();
    [m.x_axis, m.y_axis, m.z_axis, m.w_axis]
}

/// Sums of each lane: x, y, z, xx, yy, yz, zx, xy.
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
        Moments { end: one.truncate(), xx: one.w, yy: two.x, yz: two.y, zx: two.z, xy: two.w }
    }
}
