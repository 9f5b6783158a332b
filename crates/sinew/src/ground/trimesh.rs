//! Casts onto triangle meshes: parry3d's tree finds the triangles near a cast, and closed-form tests decide.
//!
//! parry's own casts stop at the first surface of any kind, and sweep spheres by iteration to a tolerance. Feet need a
//! filter that lets casts pass to surfaces behind, results that neither depend on the tree's construction nor miss
//! along shared edges, and exact contacts. So this module uses parry's tree, and its own tests on triangles in `f64`.

use alloc::vec::Vec;
use core::cell::Cell;

use glam::{DVec3, Vec3};
use parry3d::{
    bounding_volume::Aabb,
    partitioning::{Bvh, BvhBuildStrategy, BvhNode},
};

use super::{Filter, Ground, Hit, MeshError, TriangleMesh, mesh::face_normal};
use crate::math;

/// Ground of a triangle mesh.
///
/// Casts hit both sides of a triangle. The hit's normal is the triangle's, on the side from which the cast came;
/// [`Filter::max_slope`] applies to it. Triangles without area never count. A ray through an edge or corner that
/// triangles share hits one of them: there are no cracks. Of several hits at the same distance, the result is the
/// triangle that faces the cast most, so that it does not depend on the tree.
///
/// A cast does not allocate, unless the tree is more than 32 levels deep. Such a depth takes triangles whose sizes span
/// more than ten orders of magnitude.
///
/// ```
/// use sinew::{glam::Vec3, ground::{Filter, Ground, MeshGround, terrain::Stairs}};
/// let stairs = Stairs::new().with_rise(0.2).with_going(0.3).with_lead(1.0);
/// let ground = MeshGround::new(stairs.mesh()?)?;
/// // From two metres above the middle of the second tread, straight down.
/// let hit = ground.cast_ray(Vec3::new(0.0, 2.0, 1.45), Vec3::NEG_Y, 5.0, &Filter::ALL).unwrap();
/// assert!((hit.point.y - 0.4).abs() < 1e-6 && hit.normal == Vec3::Y);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MeshGround {
    mesh: TriangleMesh,
    /// Indices of the triangles with an area: the leaves of the tree.
    faces: Vec<u32>,
    tree: Bvh,
    /// Margin added to every triangle's box, in metres.
    margin: f64,
}

/// Margin of boxes, as a share of the largest coordinate. The tree tests boxes by sums that round, and this margin
/// keeps every triangle in spite of that. An `f32` step is 6e-8 of a coordinate; sixteen steps still add no work for
/// the closed-form tests.
const MARGIN: f64 = 1e-6;

impl MeshGround {
    /// Checks the mesh and builds the tree. Returns an error for an invalid mesh.
    pub fn new(mesh: TriangleMesh) -> Result<Self, MeshError> {
        mesh.check()?;
        let largest = mesh.positions.iter().fold(0.0, |m: f32, p| m.max(p.abs().max_element()));
        let faces: Vec<u32> =
            (0..mesh.triangles.len() as u32).filter(|&i| face_normal(corners(&mesh, i)).is_some()).collect();
        let boxes = faces.iter().map(|&i| {
            let [a, b, c] = corners(&mesh, i).map(|p| p.as_vec3());
            Aabb::new(a.min(b).min(c), a.max(b).max(c))
        });
        let tree = Bvh::from_iter(BvhBuildStrategy::Binned, boxes.enumerate());
        Ok(Self { margin: f64::from(largest) * MARGIN, mesh, faces, tree })
    }

    /// The triangle mesh.
    pub fn mesh(&self) -> &TriangleMesh {
        &self.mesh
    }

    /// Finds the nearest triangle that counts for the filter and that `touch` hits. `touch` returns the distance and
    /// the point.
    fn nearest(
        &self,
        cast: &Cast,
        filter: &Filter,
        touch: impl Fn(&[DVec3; 3], DVec3) -> Option<(f64, DVec3)>,
    ) -> Option<Hit> {
        // The best hit so far: its normal's component against the cast, its triangle, and the hit.
        let best: Cell<Option<(f64, u32, Hit)>> = Cell::new(None);
        // The search keeps only costs below its bound, so the bound is one step past the reach.
        self.tree.find_best(
            cast.reach.next_up(),
            |node: &BvhNode, _| cast.enter(node.mins(), node.maxs()),
            |leaf, _| {
                let triangle = self.faces[leaf as usize];
                let groups = self.mesh.groups.get(triangle as usize).copied().unwrap_or(u32::MAX);
                if groups & filter.groups == 0 {
                    return None;
                }
                let corners = corners(&self.mesh, triangle);
                let normal = face_normal(corners)?;
                let (distance, point) = touch(&corners, normal)?;
                let side = (cast.origin - corners[0]).dot(normal);
                let normal = if side < 0.0 || (side == 0.0 && normal.dot(cast.direction) > 0.0) {
                    -normal
                } else {
                    normal
                };
                let hit = Hit::new(distance as f32, point.as_vec3(), normal.as_vec3()).with_groups(groups);
                let counts = hit.distance <= cast.reach && math::acos(hit.normal.y) <= filter.max_slope;
                if !counts {
                    return None;
                }
                let facing = -normal.dot(cast.direction);
                let better = best.get().is_none_or(|(old_facing, old_triangle, old)| {
                    hit.distance < old.distance
                        || (hit.distance == old.distance
                            && (facing > old_facing || (facing == old_facing && triangle < old_triangle)))
                });
                if better {
                    best.set(Some((facing, triangle, hit)));
                }
                Some(hit.distance)
            },
        );
        best.get().map(|(_, _, hit)| hit)
    }
}

impl Ground for MeshGround {
    fn cast_ray(&self, origin: Vec3, direction: Vec3, reach: f32, filter: &Filter) -> Option<Hit> {
        let cast = Cast::new(origin, direction, reach, self.margin)?;
        let ray = Ray::new(&cast);
        self.nearest(&cast, filter, |corners, _| {
            let distance = ray.meets(corners)?;
            Some((distance, cast.origin + cast.direction * distance))
        })
    }

    fn cast_sphere(
        &self,
        origin: Vec3,
        radius: f32,
        direction: Vec3,
        reach: f32,
        filter: &Filter,
    ) -> Option<Hit> {
        if radius.is_nan() {
            return None;
        }
        if radius <= 0.0 {
            return self.cast_ray(origin, direction, reach, filter);
        }
        let radius = f64::from(radius);
        let cast = Cast::new(origin, direction, reach, self.margin + radius)?;
        self.nearest(&cast, filter, |corners, normal| sphere_meets(&cast, radius, corners, normal))
    }
}

/// Corners of a triangle of a checked mesh.
fn corners(mesh: &TriangleMesh, triangle: u32) -> [DVec3; 3] {
    mesh.triangles[triangle as usize].map(|i| mesh.positions[i as usize].as_dvec3())
}

/// Line of a cast, and the margin of boxes for it.
struct Cast {
    origin: DVec3,
    direction: DVec3,
    /// Componentwise inverse of the direction; infinite for a zero component.
    inverse: DVec3,
    reach: f32,
    margin: f64,
}

impl Cast {
    /// Returns `None` for a zero direction, a negative reach, and values that are not finite.
    fn new(origin: Vec3, direction: Vec3, reach: f32, margin: f64) -> Option<Self> {
        let valid = origin.is_finite() && direction.is_finite() && direction != Vec3::ZERO && reach >= 0.0;
        let (origin, direction) = (origin.as_dvec3(), direction.as_dvec3());
        valid.then_some(Self { origin, direction, inverse: direction.recip(), reach, margin })
    }

    /// Lower bound in metres on the distance at which the line enters a box; infinity if it never does. It is slightly
    /// below the true distance, and -1 from inside. So the search never skips a box with a second triangle at the same
    /// distance as the best hit, and the result does not depend on the tree.
    fn enter(&self, mins: Vec3, maxs: Vec3) -> f32 {
        let (mut near, mut far) = (0.0f64, f64::from(self.reach));
        for axis in 0..3 {
            let low = f64::from(mins[axis]) - self.margin - self.origin[axis];
            let high = f64::from(maxs[axis]) + self.margin - self.origin[axis];
            if self.direction[axis] == 0.0 {
                if low > 0.0 || high < 0.0 {
                    return f32::INFINITY;
                }
                continue;
            }
            let (a, b) = (low * self.inverse[axis], high * self.inverse[axis]);
            near = near.max(a.min(b));
            far = far.min(a.max(b));
        }
        if near > far {
            f32::INFINITY
        } else if near > 0.0 {
            (near * (1.0 - MARGIN)) as f32
        } else {
            -1.0
        }
    }
}

/// Ray in the frame in which it is the third axis (Woop, Benthin, Wald 2013). An edge that two triangles share gets the
/// same value with opposite signs in both, so that no ray slips through between them.
struct Ray {
    origin: DVec3,
    axes: [usize; 3],
    shear: [f64; 3],
}

impl Ray {
    fn new(cast: &Cast) -> Self {
        let d = cast.direction.abs();
        let z = if d.x > d.y && d.x > d.z { 0 } else { 1 + usize::from(d.z > d.y) };
        let axes = [(z + 1) % 3, (z + 2) % 3, z];
        let [x, y, z] = axes.map(|i| cast.direction[i]);
        Self { origin: cast.origin, axes, shear: [x / z, y / z, 1.0 / z] }
    }

    /// Distance at which the ray hits the triangle, from either side; `None` for a miss.
    fn meets(&self, corners: &[DVec3; 3]) -> Option<f64> {
        let [a, b, c] = corners.map(|p| {
            let [x, y, z] = self.axes.map(|i| p[i] - self.origin[i]);
            [x - self.shear[0] * z, y - self.shear[1] * z, self.shear[2] * z]
        });
        let u = c[0] * b[1] - c[1] * b[0];
        let v = a[0] * c[1] - a[1] * c[0];
        let w = b[0] * a[1] - b[1] * a[0];
        let outside = u.min(v).min(w) < 0.0 && u.max(v).max(w) > 0.0;
        let area = u + v + w;
        if outside || area == 0.0 {
            return None;
        }
        let distance = (u * a[2] + v * b[2] + w * c[2]) / area;
        (distance >= 0.0).then_some(distance)
    }
}

/// Distance that the sphere's centre travels until it touches the triangle, and the point of contact; `None` for a
/// miss.
fn sphere_meets(cast: &Cast, radius: f64, corners: &[DVec3; 3], normal: DVec3) -> Option<(f64, DVec3)> {
    let (o, d) = (cast.origin, cast.direction);
    let height = (o - corners[0]).dot(normal);
    if height.abs() <= radius {
        let near = closest_point(corners, normal, o);
        if (near - o).length_squared() <= radius * radius {
            return Some((0.0, near));
        }
    }
    let side = if height < 0.0 { -normal } else { normal };
    let towards = -d.dot(side);
    if height.abs() > radius {
        if towards <= 0.0 {
            return None;
        }
        // The first contact of the sphere with the plane: it cannot touch the triangle earlier.
        let distance = (height.abs() - radius) / towards;
        let point = o + d * distance - side * radius;
        if is_inside(corners, normal, point) {
            return Some((distance, point));
        }
    }
    let mut best: Option<(f64, DVec3)> = None;
    let mut take = |distance: f64, point: DVec3| {
        if distance >= 0.0 && best.is_none_or(|(b, _)| distance < b) {
            best = Some((distance, point));
        }
    };
    let dd = d.length_squared();
    for i in 0..3 {
        let (a, e) = (corners[i], corners[(i + 1) % 3] - corners[i]);
        let m = o - a;
        let (ee, de, me, md, mm) = (e.length_squared(), d.dot(e), m.dot(e), m.dot(d), m.length_squared());
        // The sphere about the corner, and the infinite cylinder about the edge, as quadratics in the distance.
        let out = mm - radius * radius;
        if let Some(distance) = first_root(dd, md, out) {
            take(distance, a);
        }
        if let Some(distance) = first_root(dd * ee - de * de, md * ee - de * me, out * ee - me * me) {
            let along = (me + distance * de) / ee;
            if (0.0..=1.0).contains(&along) {
                take(distance, a + e * along);
            }
        }
    }
    best
}

/// Smaller root of `a x^2 + 2 b x + c` for a > 0; `None` without real roots.
fn first_root(a: f64, b: f64, c: f64) -> Option<f64> {
    let d = b * b - a * c;
    (a > 0.0 && d >= 0.0).then(|| (-b - d.sqrt()) / a)
}

/// Whether a point of the plane lies on the triangle.
fn is_inside(corners: &[DVec3; 3], normal: DVec3, point: DVec3) -> bool {
    (0..3).all(|i| {
        let (a, b) = (corners[i], corners[(i + 1) % 3]);
        (b - a).cross(point - a).dot(normal) >= 0.0
    })
}

/// Point of the triangle nearest to `point`.
fn closest_point(corners: &[DVec3; 3], normal: DVec3, point: DVec3) -> DVec3 {
    let flat = point - normal * (point - corners[0]).dot(normal);
    if is_inside(corners, normal, flat) {
        return flat;
    }
    let on_edge = |i: usize| {
        let (a, e) = (corners[i], corners[(i + 1) % 3] - corners[i]);
        a + e * ((point - a).dot(e) / e.length_squared()).clamp(0.0, 1.0)
    };
    let [p, q, r] = [on_edge(0), on_edge(1), on_edge(2)];
    let far = |x: DVec3| (x - point).length_squared();
    let pq = if far(q) < far(p) { q } else { p };
    if far(r) < far(pq) { r } else { pq }
}
