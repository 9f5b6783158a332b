//! Cross-section of the ground.

use glam::Vec3;
use sinew::ground::TriangleMesh;

use super::{path::Point, view::View};

/// Intersection of a mesh with the plane of a view through a point: lines in metres along the view's axes. Undersides are
/// left out, unless there is nothing else, as in a mesh of the opposite winding.
pub fn cut(mesh: &TriangleMesh, view: &View, through: Vec3) -> Vec<[Point; 2]> {
    let depth = view.nearness(through);
    let mut lines: Vec<([Point; 2], bool)> = Vec::new();
    for triangle in &mesh.triangles {
        let [a, b, c] = triangle.map(|i| mesh.positions.get(i as usize).copied().filter(|p| p.is_finite()));
        let (Some(a), Some(b), Some(c)) = (a, b, c) else { continue };
        let normal = (b - a).cross(c - a);
        // A corner on the plane counts as in front of it, so that no edge is crossed twice or missed.
        let crossings = [(a, b), (b, c), (c, a)].map(|(p, q)| {
            let (d, e) = (view.nearness(p) - depth, view.nearness(q) - depth);
            ((d >= 0.0) != (e >= 0.0)).then(|| p.lerp(q, d / (d - e)))
        });
        let mut met = crossings.into_iter().flatten();
        if let (Some(p), Some(q)) = (met.next(), met.next()) {
            let underside = normal.y < -0.1 * normal.length();
            lines.push(([view.plane(p), view.plane(q)], underside));
        }
    }
    if lines.iter().any(|l| !l.1) {
        lines.retain(|l| !l.1);
    }
    lines.into_iter().map(|l| l.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_roof_is_cut_into_its_two_slopes() {
        let mut mesh = TriangleMesh::default();
        let at = |x: f32, y: f32, z: f32| Vec3::new(x, y, z);
        mesh.push_quad([at(0., 0., 2.), at(1., 1., 2.), at(1., 1., -2.), at(0., 0., -2.)]);
        mesh.push_quad([at(1., 1., 2.), at(2., 0., 2.), at(2., 0., -2.), at(1., 1., -2.)]);
        mesh.triangles.push([0, 1, 99]);
        let lines = cut(&mesh, &View::side(Vec3::X), Vec3::ZERO);
        assert_eq!(lines.len(), 4);
        let length: f32 = lines.iter().map(|[a, b]| (a[0] - b[0]).hypot(a[1] - b[1])).sum();
        assert!((length - 2.0 * 2f32.sqrt()).abs() < 1e-5);
        for [u, v] in lines.into_iter().flatten() {
            assert!((v - (1.0 - (u - 1.0).abs())).abs() < 1e-5);
        }
    }
}
