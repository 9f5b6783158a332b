//! Triangulation of polygons.

use glam::DVec3;

/// Maximum number of corners of a face that is not convex. The time of ear clipping grows with the square of the corners; a
/// face of this many takes one or two milliseconds.
pub(super) const MAX_CORNERS: usize = 500;

/// Triangulates a face of at least three corners. Triangles are indices of corners, with the face's orientation: a fan if
/// the face is convex, else by ear clipping (Meisters 1975). `None` for a face that is not convex and has more than
/// [`MAX_CORNERS`].
pub(super) fn triangles(corners: &[DVec3]) -> Option<Vec<[usize; 3]>> {
    let count = corners.len();
    if count == 3 {
        return Some(vec![[0, 1, 2]]);
    }
    // Newell's normal, whose length is twice the face's area, also if the face is not planar.
    let normal: DVec3 =
        (0..count).map(|i| (corners[i] - corners[0]).cross(corners[(i + 1) % count] - corners[0])).sum();
    let turn =
        |a: usize, b: usize, c: usize| (corners[b] - corners[a]).cross(corners[c] - corners[b]).dot(normal);
    if (0..count).all(|i| turn(i, (i + 1) % count, (i + 2) % count) >= 0.0) {
        return Some((1..count - 1).map(|i| [0, i, i + 1]).collect());
    }
    if count > MAX_CORNERS {
        return None;
    }
    let mut ring = Ring::new(corners, normal);
    let mut cut = Vec::with_capacity(count - 2);
    while ring.left > 3 {
        cut.push(ring.cut());
    }
    let [a, b] = [ring.first(), ring.next[ring.first()]];
    cut.push([a, b, ring.next[b]]);
    Some(cut)
}

/// Corners of a face that remain during ear clipping.
///
/// The triangle of a corner changes only when a neighbour is removed, and corners inside of it are only ever removed. Each
/// corner therefore stores the first corner that it found inside, and the next search begins there: each triangle is
/// compared with every corner once, so that the whole takes time in proportion to the square of the corners.
struct Ring {
    /// Positions projected along the axis of the normal's largest component, which keeps the other coordinates exact.
    flat: Vec<[f64; 2]>,
    before: Vec<usize>,
    next: Vec<usize>,
    gone: Vec<bool>,
    /// Number of corners that remain.
    left: usize,
    state: Vec<Ear>,
}

/// State of a corner.
#[derive(Clone, Copy)]
enum Ear {
    /// The corner is reflex or straight, and no ear.
    Reflex,
    /// The corner is convex, and no corner below this index is inside its triangle.
    Looked(usize),
}

impl Ring {
    fn new(corners: &[DVec3], normal: DVec3) -> Self {
        let count = corners.len();
        let [x, y, z] = normal.abs().to_array();
        let (u, v) = if x >= y && x >= z {
            (1, 2)
        } else if y >= z {
            (2, 0)
        } else {
            (0, 1)
        };
        // Seen against the normal, the orientation is the opposite.
        let (u, v) = if normal[3 - u - v] < 0.0 { (v, u) } else { (u, v) };
        let mut ring = Self {
            flat: corners.iter().map(|c| [c[u], c[v]]).collect(),
            before: (0..count).map(|i| (i + count - 1) % count).collect(),
            next: (0..count).map(|i| (i + 1) % count).collect(),
            gone: vec![false; count],
            left: count,
            state: vec![Ear::Reflex; count],
        };
        (0..count).for_each(|i| ring.classify(i));
        ring
    }

    fn first(&self) -> usize {
        self.gone.iter().position(|gone| !gone).unwrap_or(0)
    }

    /// Twice the area of a triangle; positive if its orientation is the face's.
    fn turn(&self, a: usize, b: usize, c: usize) -> f64 {
        let [[ax, ay], [bx, by], [cx, cy]] = [a, b, c].map(|i| self.flat[i]);
        (bx - ax) * (cy - by) - (by - ay) * (cx - bx)
    }

    /// Sets the state of a corner whose neighbours have changed.
    fn classify(&mut self, at: usize) {
        let is_convex = self.turn(self.before[at], at, self.next[at]) > 0.0;
        self.state[at] = if is_convex { Ear::Looked(0) } else { Ear::Reflex };
    }

    /// Whether a corner is an ear: convex, with no corner inside its triangle.
    fn is_ear(&mut self, at: usize) -> bool {
        let Ear::Looked(from) = self.state[at] else { return false };
        let [a, b, c] = [self.before[at], at, self.next[at]];
        let is_inside = |&p: &usize| {
            // A corner that coincides with one of the ear's, as along a seam, does not count.
            !self.gone[p]
                && self.turn(a, b, p) >= 0.0
                && self.turn(b, c, p) >= 0.0
                && self.turn(c, a, p) >= 0.0
                && [a, b, c].iter().all(|&q| self.flat[q] != self.flat[p])
        };
        let found = (from..self.gone.len()).find(is_inside);
        self.state[at] = Ear::Looked(found.unwrap_or(self.gone.len()));
        found.is_none()
    }

    /// Cuts off the first ear. A face that crosses itself may have none; then its first corner is cut off.
    fn cut(&mut self) -> [usize; 3] {
        let first = self.first();
        let ear = (first..self.gone.len()).find(|&at| !self.gone[at] && self.is_ear(at)).unwrap_or(first);
        let [a, c] = [self.before[ear], self.next[ear]];
        (self.next[a], self.before[c]) = (c, a);
        self.gone[ear] = true;
        self.left -= 1;
        self.classify(a);
        self.classify(c);
        [a, ear, c]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Area of the triangles along the face's normal. A triangle of the opposite orientation is a failure.
    fn area(corners: &[DVec3], normal: DVec3) -> f64 {
        let cut = triangles(corners).unwrap();
        assert_eq!(cut.len(), corners.len() - 2);
        cut.iter()
            .map(|&[a, b, c]| {
                let twice = (corners[b] - corners[a]).cross(corners[c] - corners[a]).dot(normal);
                assert!(twice >= 0.0, "{:?} turns the wrong way", [a, b, c]);
                0.5 * twice
            })
            .sum()
    }

    fn flat(points: &[[f64; 2]]) -> Vec<DVec3> {
        points.iter().map(|[x, y]| DVec3::new(*x, *y, 0.0)).collect()
    }

    #[test]
    fn convex_and_not_convex_faces_are_covered() {
        let square = flat(&[[0., 0.], [1., 0.], [1., 1.], [0., 1.]]);
        assert_eq!(area(&square, DVec3::Z), 1.0);
        // An L and a U, from each of their corners, and the other way round.
        for shape in [
            (flat(&[[0., 0.], [2., 0.], [2., 1.], [1., 1.], [1., 3.], [0., 3.]]), 4.0),
            (flat(&[[0., 0.], [3., 0.], [3., 2.], [2., 2.], [2., 1.], [1., 1.], [1., 2.], [0., 2.]]), 5.0),
        ] {
            let (mut corners, wanted) = shape;
            for _ in 0..corners.len() {
                corners.rotate_left(1);
                assert!((area(&corners, DVec3::Z) - wanted).abs() < 1e-12);
                let reversed: Vec<_> = corners.iter().rev().copied().collect();
                assert!((area(&reversed, -DVec3::Z) - wanted).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_star_of_many_corners_is_covered() {
        let star: Vec<DVec3> = (0..100)
            .map(|i| {
                let a = f64::from(i) * std::f64::consts::TAU / 100.0;
                let r = if i % 2 == 0 { 1.0 } else { 0.5 };
                DVec3::new(r * a.cos(), 0.0, -r * a.sin())
            })
            .collect();
        let wanted = 100.0 * 0.5 * 0.5 * (std::f64::consts::TAU / 100.0).sin();
        assert!((area(&star, DVec3::Y) - wanted).abs() < 1e-12);
    }

    #[test]
    fn faces_without_sense_give_triangles_all_the_same() {
        let line = flat(&[[0., 0.], [1., 0.], [2., 0.], [3., 0.], [1., 0.]]);
        assert_eq!(triangles(&line).unwrap().len(), 3);
        let bow = flat(&[[0., 0.], [1., 1.], [1., 0.], [0., 1.], [-1., 3.]]);
        assert_eq!(triangles(&bow).unwrap().len(), 3);
    }
}
