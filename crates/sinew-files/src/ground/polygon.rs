//! Faces of many corners as triangles.

use glam::DVec3;

/// Ears are sought in time that grows with the cube of the corners; a face of this many takes under a second at worst.
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
    let mut left: Vec<usize> = (0..count).collect();
    let mut cut = Vec::with_capacity(count - 2);
    while left.len() > 3 {
        let n = left.len();
        let is_ear = |at: &usize| {
            let [a, b, c] = [left[(at + n - 1) % n], left[*at], left[(at + 1) % n]];
            let covers = |&p: &usize| {
                // Corners that lie on a corner of the ear (a seam that is run along twice) do not stand in it.
                let apart = [a, b, c].iter().all(|&q| corners[q] != corners[p]);
                apart && turn(a, b, p) >= 0.0 && turn(b, c, p) >= 0.0 && turn(c, a, p) >= 0.0
            };
            turn(a, b, c) > 0.0 && !left.iter().any(covers)
        };
        // A face that crosses itself may have no ear: then any corner goes.
        let at = (0..n).find(is_ear).unwrap_or(0);
        cut.push([left[(at + n - 1) % n], left[at], left[(at + 1) % n]]);
        left.remove(at);
    }
    cut.push([left[0], left[1], left[2]]);
    Some(cut)
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
