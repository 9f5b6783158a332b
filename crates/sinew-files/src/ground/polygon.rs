//! Faces of many corners as triangles.

use glam::DVec3;

/// Cutting ears takes time that grows with the square of the corners; a face of this many takes a millisecond or two.
const MOST_CORNERS: usize = 500;

/// Triangles, as indices of corners, that cover a face of at least three corners and turn as it does: a fan where the face
/// is convex, by cutting ears (Meisters 1975) where it is not. None where it is not convex and too large.
pub(super) fn triangles(corners: &[DVec3]) -> Option<Vec<[usize; 3]>> {
    let count = corners.len();
    if count == 3 {
        return Some(vec![[0, 1, 2]]);
    }
    // Newell's normal: twice the face's area, whatever bends it has.
    let normal: DVec3 =
        (0..count).map(|i| (corners[i] - corners[0]).cross(corners[(i + 1) % count] - corners[0])).sum();
    let turn =
        |a: usize, b: usize, c: usize| (corners[b] - corners[a]).cross(corners[c] - corners[b]).dot(normal);
    if (0..count).all(|i| turn(i, (i + 1) % count, (i + 2) % count) >= 0.0) {
        return Some((1..count - 1).map(|i| [0, i, i + 1]).collect());
    }
    if count > MOST_CORNERS {
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

/// The corners of a face that are left while ears are cut off.
///
/// The triangle of a corner changes only when a neighbour goes, and what stands in its way only ever goes. So each corner
/// remembers the first corner that it found in its way and looks on from there: a triangle is held against every corner
/// once, and cutting all ears takes time that grows with the square of the corners.
struct Ring {
    /// Places on the plane across the normal's largest part: those coordinates are exact.
    flat: Vec<[f64; 2]>,
    before: Vec<usize>,
    next: Vec<usize>,
    gone: Vec<bool>,
    left: usize,
    state: Vec<Ear>,
}

/// Whether the corner can be cut off.
#[derive(Clone, Copy)]
enum Ear {
    /// It turns the wrong way, or not at all.
    Reflex,
    /// All corners below this one were looked at, and are not in the way.
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
        // Seen against the normal, the other way round.
        let (u, v) = if normal[3 - u - v] < 0.0 { (v, u) } else { (u, v) };
        let mut ring = Self {
            flat: corners.iter().map(|c| [c[u], c[v]]).collect(),
            before: (0..count).map(|i| (i + count - 1) % count).collect(),
            next: (0..count).map(|i| (i + 1) % count).collect(),
            gone: vec![false; count],
            left: count,
            state: vec![Ear::Reflex; count],
        };
        (0..count).for_each(|i| ring.look_anew(i));
        ring
    }

    fn first(&self) -> usize {
        self.gone.iter().position(|gone| !gone).unwrap_or(0)
    }

    /// Twice the area of a triangle; positive where it turns as the face does.
    fn turn(&self, a: usize, b: usize, c: usize) -> f64 {
        let [[ax, ay], [bx, by], [cx, cy]] = [a, b, c].map(|i| self.flat[i]);
        (bx - ax) * (cy - by) - (by - ay) * (cx - bx)
    }

    /// For a corner with another neighbour.
    fn look_anew(&mut self, at: usize) {
        let is_convex = self.turn(self.before[at], at, self.next[at]) > 0.0;
        self.state[at] = if is_convex { Ear::Looked(0) } else { Ear::Reflex };
    }

    /// Whether nothing is in the way of a corner.
    fn is_ear(&mut self, at: usize) -> bool {
        let Ear::Looked(from) = self.state[at] else { return false };
        let [a, b, c] = [self.before[at], at, self.next[at]];
        let in_the_way = |&p: &usize| {
            // Corners that lie on a corner of the ear (a seam that is run along twice) do not stand in it.
            !self.gone[p]
                && self.turn(a, b, p) >= 0.0
                && self.turn(b, c, p) >= 0.0
                && self.turn(c, a, p) >= 0.0
                && [a, b, c].iter().all(|&q| self.flat[q] != self.flat[p])
        };
        let found = (from..self.gone.len()).find(in_the_way);
        self.state[at] = Ear::Looked(found.unwrap_or(self.gone.len()));
        found.is_none()
    }

    /// Cuts the first ear off. A face that crosses itself may have none: then its first corner goes.
    fn cut(&mut self) -> [usize; 3] {
        let first = self.first();
        let ear = (first..self.gone.len()).find(|&at| !self.gone[at] && self.is_ear(at)).unwrap_or(first);
        let [a, c] = [self.before[ear], self.next[ear]];
        (self.next[a], self.before[c]) = (c, a);
        self.gone[ear] = true;
        self.left -= 1;
        self.look_anew(a);
        self.look_anew(c);
        [a, ear, c]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Area of triangles along the face's normal; what turns the wrong way counts against it.
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
