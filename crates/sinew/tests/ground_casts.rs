//! Judges casts on meshes by brute force in f64, and at positions where casts often fail.
#![cfg(feature = "parry")]

use glam::{DVec3, Vec3};
use sinew::ground::{
    Filter, Ground, Hit, MeshGround, Plane, TriangleMesh,
    terrain::{Flight, Rough, Stairs},
};

/// Numbers in [0, 1) from a counter: SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / 16_777_216.0
    }

    fn between(&mut self, low: Vec3, high: Vec3) -> Vec3 {
        low + (high - low) * Vec3::new(self.next(), self.next(), self.next())
    }

    fn direction(&mut self) -> Vec3 {
        loop {
            let v = self.between(Vec3::NEG_ONE, Vec3::ONE);
            if v.length_squared() > 0.01 && v.length_squared() < 1.0 {
                return v.normalize();
            }
        }
    }
}

fn corners(mesh: &TriangleMesh, i: usize) -> [DVec3; 3] {
    mesh.triangles[i].map(|i| mesh.positions[i as usize].as_dvec3())
}

/// Möller-Trumbore test of each triangle. Also returns the smallest barycentric coordinate.
fn brute_ray(mesh: &TriangleMesh, o: DVec3, d: DVec3) -> Option<(f64, usize, f64)> {
    let mut best: Option<(f64, usize, f64)> = None;
    for i in 0..mesh.triangles.len() {
        let [a, b, c] = corners(mesh, i);
        let (e, f) = (b - a, c - a);
        let p = d.cross(f);
        let det = e.dot(p);
        if det == 0.0 {
            continue;
        }
        let s = o - a;
        let u = s.dot(p) / det;
        let q = s.cross(e);
        let v = d.dot(q) / det;
        let t = f.dot(q) / det;
        let least = u.min(v).min(1.0 - u - v);
        if least >= 0.0 && t >= 0.0 && best.is_none_or(|b| t < b.0) {
            best = Some((t, i, least));
        }
    }
    best
}

/// Returns the distance from a point to a triangle: to the plane where the perpendicular's foot is inside, else to the
/// edges.
fn distance_to(p: DVec3, [a, b, c]: [DVec3; 3]) -> f64 {
    let segment = |a: DVec3, b: DVec3| {
        let t = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
        p.distance(a.lerp(b, t))
    };
    let n = (b - a).cross(c - a).normalize();
    let inside = [(a, b), (b, c), (c, a)].iter().all(|(x, y)| (*y - *x).cross(p - *x).dot(n) >= 0.0);
    if inside { (p - a).dot(n).abs() } else { segment(a, b).min(segment(b, c)).min(segment(c, a)) }
}

/// Moves the sphere forward by its clearance until it touches.
fn brute_sphere(mesh: &TriangleMesh, o: DVec3, r: f64, d: DVec3, reach: f64) -> Option<f64> {
    let mut t = 0.0;
    for _ in 0..10_000 {
        let p = o + d * t;
        let clear = (0..mesh.triangles.len())
            .map(|i| distance_to(p, corners(mesh, i)) - r)
            .fold(f64::INFINITY, f64::min);
        if clear < 1e-7 {
            return Some(t);
        }
        t += clear;
        if t > reach {
            return None;
        }
    }
    Some(t)
}

fn rough() -> MeshGround {
    let rough = Rough::new().with_size(glam::Vec2::splat(4.0)).with_cell(0.16).with_seed(5);
    MeshGround::new(rough.mesh().unwrap()).unwrap()
}

#[test]
fn rays_agree_with_brute_force_on_rough_ground() {
    let ground = rough();
    let mut random = Random(7);
    let (mut hits, mut misses) = (0, 0);
    for _ in 0..6_000 {
        let o = random.between(Vec3::new(-2.5, -0.3, -2.5), Vec3::new(2.5, 0.5, 2.5));
        let d = random.direction();
        let hit = ground.cast_ray(o, d, 100.0, &Filter::ALL);
        match (hit, brute_ray(ground.mesh(), o.as_dvec3(), d.as_dvec3())) {
            (Some(hit), Some((t, i, least))) => {
                hits += 1;
                assert!((f64::from(hit.distance) - t).abs() < 1e-5 * (1.0 + t), "{hit:?} {t}");
                assert!((hit.point - (o + d * hit.distance)).length() < 1e-5);
                assert!(hit.normal.dot(d) <= 1e-6, "{hit:?}");
                let [a, b, c] = corners(ground.mesh(), i);
                let n = (b - a).cross(c - a).normalize();
                // On an edge either neighbour's normal is correct.
                assert!(least < 1e-6 || (hit.normal.as_dvec3().dot(n).abs() - 1.0).abs() < 1e-6);
            }
            (None, None) => misses += 1,
            (hit, brute) => assert!(brute.is_none_or(|b| b.2 < 1e-9), "{o} {d}: {hit:?}, but {brute:?}"),
        }
    }
    assert!(hits > 1_000 && misses > 1_000, "{hits} {misses}");
}

#[test]
fn spheres_agree_with_marching() {
    let stairs = Stairs::new().with_steps(3).with_flight(Flight::UpAndDown);
    let mut random = Random(11);
    let coarse = Rough::new().with_size(glam::Vec2::splat(3.0)).with_cell(0.3).with_level(0.0);
    for mesh in [coarse.mesh().unwrap(), stairs.mesh().unwrap()] {
        let ground = MeshGround::new(mesh).unwrap();
        let (low, high) = ground.mesh().bounds().unwrap();
        let mut hits = 0;
        for _ in 0..400 {
            let o = random.between(low - 0.5, high + 0.5);
            let (r, d) = (0.02 + 0.2 * random.next(), random.direction());
            let hit = ground.cast_sphere(o, r, d, 5.0, &Filter::ALL);
            let t = brute_sphere(ground.mesh(), o.as_dvec3(), f64::from(r), d.as_dvec3(), 5.0);
            match (hit, t) {
                (Some(hit), Some(t)) => {
                    hits += 1;
                    // The march stops early where a sphere passes an edge by less than its tolerance. That does not occur
                    // here.
                    assert!((f64::from(hit.distance) - t).abs() < 2e-3, "{o} {r} {d}: {hit:?}, but {t}");
                    let centre = o + d * hit.distance;
                    if hit.distance > 0.0 {
                        assert!(((hit.point - centre).length() - r).abs() < 1e-5);
                    }
                }
                (None, None) => {}
                other => panic!("{o} {r} {d}: {other:?}"),
            }
        }
        assert!(hits > 100, "{hits}");
    }
}

/// Asserts that a ray and a ball cast straight down at `place` hit it or a surface above it. The ray may hit up to `below`
/// metres under it, where rounding may put the point over an edge.
fn is_met(ground: &MeshGround, place: Vec3, below: f32) {
    let above = Vec3::new(place.x, 3.0, place.z);
    let ray = ground.cast_ray(above, Vec3::NEG_Y, 10.0, &Filter::ALL);
    let ball = ground.cast_sphere(above, 0.05, Vec3::NEG_Y, 10.0, &Filter::ALL);
    for (hit, below) in [(ray, below), (ball, 0.0)] {
        let hit = hit.unwrap_or_else(|| panic!("a crack at {place}"));
        assert!(hit.point.y >= place.y - below - 1e-5 && hit.normal.y > 0.5, "{place} {hit:?}");
    }
}

#[test]
fn no_ray_slips_between_triangles_of_rough_ground() {
    let ground = rough();
    let mesh = ground.mesh();
    for t in &mesh.triangles {
        let [a, b, c] = t.map(|i| mesh.positions[i as usize]);
        for place in [a, b, c, (a + b) * 0.5, (b + c) * 0.5, (c + a) * 0.5] {
            // On the outer border a midpoint may round out of the mesh.
            if place.x.abs() < 1.999 && place.z.abs() < 1.999 {
                is_met(&ground, place, 0.0);
            }
        }
    }
}

#[test]
fn no_ray_slips_past_the_edge_of_a_step() {
    for flight in [Flight::Up, Flight::Down, Flight::UpAndDown] {
        for heading in [0.0, 0.3, 1.1, -2.7] {
            let stairs = Stairs::new().with_heading(heading).with_flight(flight).with_sides(false);
            let ground = MeshGround::new(stairs.mesh().unwrap()).unwrap();
            let (sin, cos) = (f32::sin(heading), f32::cos(heading));
            let (forward, across) = (Vec3::new(sin, 0.0, cos), Vec3::new(cos, 0.0, -sin));
            let end = ground.mesh().positions.iter().map(|p| p.dot(forward)).fold(0.0, f32::max);
            for p in &ground.mesh().positions {
                if (-1.99..end - 0.01).contains(&p.dot(forward)) {
                    for k in 1..20 {
                        let place = *p - across * p.dot(across) * (k as f32 / 10.0);
                        is_met(&ground, place, if heading == 0.0 { 0.0 } else { stairs.rise });
                    }
                }
            }
        }
    }
}

/// Two level floors of group 1 (lower) and 2 (upper), and a wall of group 4 at z = 1.
fn floors() -> MeshGround {
    let quad = |mesh: &mut TriangleMesh, y: f32| {
        mesh.push_quad([[-1., -1.], [-1., 1.], [1., 1.], [1., -1.]].map(|[x, z]| Vec3::new(x, y, z)));
    };
    let mut mesh = TriangleMesh::default();
    // A sliver without area comes first, so that leaves and triangles differ in number.
    mesh.push([Vec3::ZERO, Vec3::Y, Vec3::Y * 2.0]);
    quad(&mut mesh, 0.0);
    quad(&mut mesh, 1.0);
    mesh.push_quad([[-1., 0.], [-1., 1.], [1., 1.], [1., 0.]].map(|[x, y]| Vec3::new(x, y, 1.0)));
    mesh.groups = vec![7, 1, 1, 2, 2, 4, 4];
    MeshGround::new(mesh).unwrap()
}

#[test]
fn what_the_filter_leaves_out_hides_nothing() {
    let ground = floors();
    let down = |filter: &Filter| ground.cast_ray(Vec3::new(0.2, 2.0, 0.1), Vec3::NEG_Y, 5.0, filter);
    let hit = down(&Filter::ALL).unwrap();
    assert_eq!((hit.distance, hit.groups, hit.normal), (1.0, 2, Vec3::Y));
    let hit = down(&Filter::new().with_groups(1)).unwrap();
    assert_eq!((hit.distance, hit.groups), (2.0, 1));
    assert_eq!(down(&Filter::new().with_groups(4)), None);
    // A ray through the wall, which is too steep, hits nothing; a slanting ray continues to the lower floor.
    let filter = Filter::new().with_max_slope(0.8);
    let wall = Vec3::new(0.0, 0.5, 2.0);
    assert_eq!(ground.cast_ray(wall, Vec3::NEG_Z, 5.0, &Filter::ALL).unwrap().groups, 4);
    assert_eq!(ground.cast_ray(wall, Vec3::NEG_Z, 5.0, &filter), None);
    let slanting = Vec3::new(0.0, -0.1, -1.0).normalize();
    assert_eq!(ground.cast_ray(wall, slanting, 5.0, &filter), None);
    let slanting = Vec3::new(0.0, -0.4, -1.0).normalize();
    assert_eq!(ground.cast_ray(wall, slanting, 5.0, &filter).unwrap().groups, 1);
    let hit = ground.cast_sphere(wall, 0.1, slanting, 5.0, &filter).unwrap();
    assert!(hit.groups == 1 && (hit.distance - 0.4 / 0.4 * Vec3::new(0.0, 0.4, 1.0).length()).abs() < 1e-5);
}

#[test]
fn both_sides_are_met_and_normals_look_back() {
    let ground = floors();
    let up = ground.cast_ray(Vec3::new(0.1, 0.4, 0.0), Vec3::Y, 5.0, &Filter::ALL).unwrap();
    assert_eq!((up.groups, up.normal), (2, Vec3::NEG_Y));
    let up = ground.cast_sphere(Vec3::new(0.1, 0.4, 0.0), 0.1, Vec3::Y, 5.0, &Filter::ALL).unwrap();
    assert!((up.distance - 0.5).abs() < 1e-6 && up.normal == Vec3::NEG_Y);
    // An underside is more than a quarter turn from straight up.
    let floor = Filter::new().with_max_slope(1.0);
    assert_eq!(ground.cast_ray(Vec3::new(0.1, -0.4, 0.0), Vec3::Y, 5.0, &floor), None);
    // A ray that starts on the surface.
    let at = ground.cast_ray(Vec3::new(0.1, 1.0, 0.0), Vec3::NEG_Y, 5.0, &Filter::ALL).unwrap();
    assert_eq!((at.distance, at.normal), (0.0, Vec3::Y));
}

#[test]
fn reach_is_counted_to_the_last_bit_and_bad_numbers_meet_nothing() {
    let ground = floors();
    let o = Vec3::new(0.3, 2.0, 0.2);
    let cast = |o, d, reach| ground.cast_ray(o, d, reach, &Filter::ALL);
    assert!(cast(o, Vec3::NEG_Y, 1.0).is_some());
    assert!(cast(o, Vec3::NEG_Y, 0.999_999_9).is_none());
    assert!(cast(o, Vec3::NEG_Y, f32::INFINITY).is_some());
    for (o, d, reach) in [
        (Vec3::NAN, Vec3::NEG_Y, 5.0),
        (o, Vec3::NAN, 5.0),
        (o, Vec3::ZERO, 5.0),
        (o, Vec3::NEG_Y, -1.0),
        (o, Vec3::NEG_Y, f32::NAN),
    ] {
        assert_eq!(cast(o, d, reach), None);
        assert_eq!(ground.cast_sphere(o, 0.1, d, reach, &Filter::ALL), None);
    }
    assert_eq!(ground.cast_sphere(o, f32::NAN, Vec3::NEG_Y, 5.0, &Filter::ALL), None);
    assert_eq!(ground.cast_sphere(o, 0.0, Vec3::NEG_Y, 5.0, &Filter::ALL), cast(o, Vec3::NEG_Y, 5.0));
}

#[test]
fn a_sphere_that_touches_at_once_has_gone_nowhere() {
    let ground = floors();
    let hit = ground.cast_sphere(Vec3::new(0.0, 1.05, 0.0), 0.1, Vec3::Y, 5.0, &Filter::ALL).unwrap();
    assert_eq!((hit.distance, hit.point, hit.normal), (0.0, Vec3::Y, Vec3::Y));
}

#[test]
fn a_single_triangle_behind_slivers_is_found() {
    let mut mesh = TriangleMesh::default();
    mesh.push([Vec3::ZERO, Vec3::X, Vec3::X * 2.0]);
    mesh.push([Vec3::ZERO, Vec3::Z, Vec3::X]);
    let ground = MeshGround::new(mesh).unwrap();
    let o = Vec3::new(0.25, 1.0, 0.25);
    assert!(ground.cast_ray(o, Vec3::NEG_Y, 2.0, &Filter::ALL).is_some());
    assert!(ground.cast_ray(o + Vec3::X, Vec3::NEG_Y, 2.0, &Filter::ALL).is_none());
}

#[test]
fn the_order_of_triangles_does_not_matter() {
    let ground = rough();
    let mut mesh = ground.mesh().clone();
    mesh.triangles.reverse();
    let other = MeshGround::new(mesh).unwrap();
    let mut random = Random(3);
    for _ in 0..2_000 {
        let o = random.between(Vec3::new(-2.0, 0.1, -2.0), Vec3::new(2.0, 1.0, 2.0));
        let d = random.direction();
        assert_eq!(ground.cast_ray(o, d, 9.0, &Filter::ALL), other.cast_ray(o, d, 9.0, &Filter::ALL));
        // Large balls touch many triangles at once.
        for r in [0.02, 0.3] {
            let cast = |g: &MeshGround| g.cast_sphere(o, r, d, 9.0, &Filter::ALL);
            assert_eq!(cast(&ground), cast(&other));
        }
    }
    // Straight down on vertices, where six or more triangles are at the same distance.
    for p in &ground.mesh().positions {
        let cast = |g: &MeshGround| g.cast_ray(*p + Vec3::Y, Vec3::NEG_Y, 9.0, &Filter::ALL);
        assert_eq!(cast(&ground), cast(&other));
    }
}

/// A ground that casts rays alone.
struct Rays<'a>(&'a dyn Ground);

impl Ground for Rays<'_> {
    fn cast_ray(&self, origin: Vec3, direction: Vec3, reach: f32, filter: &Filter) -> Option<Hit> {
        self.0.cast_ray(origin, direction, reach, filter)
    }
}

#[test]
fn a_ground_of_rays_casts_spheres_too() {
    // On planes as the plane itself does.
    for normal in [Vec3::Y, Vec3::new(0.3, 1.0, -0.5), Vec3::new(-1.0, 0.8, 0.1)] {
        let plane = Plane { point: Vec3::new(0.2, 0.4, 0.1), normal: normal.normalize() };
        for way in [Vec3::NEG_Y, Vec3::new(0.3, -1.0, 0.2).normalize()] {
            for reach in [1.0, 3.0] {
                let from = Vec3::new(0.3, 2.0, -0.2);
                let exact = plane.cast_sphere(from, 0.15, way, reach, &Filter::ALL);
                let found = Rays(&plane).cast_sphere(from, 0.15, way, reach, &Filter::ALL);
                assert_eq!(exact.is_some(), found.is_some(), "{normal} {way} {reach}");
                if let (Some(exact), Some(found)) = (exact, found) {
                    assert!((exact.distance - found.distance).abs() < 1e-5, "{exact:?} {found:?}");
                    assert!(exact.point.distance(found.point) < 1e-5, "{exact:?} {found:?}");
                }
            }
        }
    }
    // Over stairs never early, and late by at most 0.4 of the radius where an edge comes within 0.69 of it.
    let stairs = sinew::ground::terrain::Stairs::new().with_rise(0.17).with_going(0.29);
    let mesh = MeshGround::new(stairs.mesh().unwrap()).unwrap();
    let (radius, mut near, mut missed) = (0.1, 0, 0);
    for i in 0..400 {
        let from = Vec3::new(0.013, 4.0, 0.01 * i as f32);
        let cast = |ground: &dyn Ground| ground.cast_sphere(from, radius, Vec3::NEG_Y, 9.0, &Filter::ALL);
        let (Some(exact), Some(found)) = (cast(&mesh), cast(&Rays(&mesh))) else { continue };
        let late = found.distance - exact.distance;
        assert!(late > -1e-4, "{i}: {exact:?} {found:?}");
        if (exact.point - from).with_y(0.0).length() <= 0.69 * radius {
            near += 1;
            assert!(late < 0.41 * radius, "{i}: {late}");
        } else {
            missed += 1;
        }
    }
    assert!(near > 200 && missed > 10, "{near} {missed}");
    let nothing = Rays(&mesh).cast_sphere(Vec3::Y * 4.0, f32::NAN, Vec3::NEG_Y, 9.0, &Filter::ALL);
    assert_eq!(nothing, None);
}
