//! Judges goals in the middle of a chain and at its end, of different priorities, by closed forms in f64. The chain is the
//! one that TheComet's ik splits in two: seven joints, effectors on the fourth and the last.

use crate::common;

use common::{column, noise};
use sinew::{
    Goal, Pose, Workspace,
    glam::{DVec3, Vec3},
    joint::Joint,
    math,
    solve::{Effector, FullBody, FullBodyOptions},
};

/// Returns the distance from a point to the middle joint's reach: within `a` of the root and `b` of the end.
fn off_lens(p: DVec3, a: f64, end: DVec3, b: f64) -> f64 {
    let ball = |c: DVec3, r: f64| {
        let way = p - c;
        if way.length() > r { c + way * (r / way.length()) } else { p }
    };
    let inside = |q: DVec3| q.length() <= a + 1e-12 && q.distance(end) <= b + 1e-12;
    let near = [p, ball(DVec3::ZERO, a), ball(end, b)].into_iter().filter(|q| inside(*q));
    if let Some(q) = near.min_by(|q, r| q.distance(p).total_cmp(&r.distance(p))) {
        return q.distance(p);
    }
    // The rim is a circle about the line to the end.
    let d = end.length();
    let along = end / d;
    let x = ((a * a - b * b) / d + d) / 2.0;
    let rim = (a * a - x * x).max(0.0).sqrt();
    let across = p - along * p.dot(along);
    p.distance(along * x + across.normalize_or_zero() * rim)
}

/// Statistics of many solves.
#[derive(Debug, Default)]
struct Found {
    /// Largest residuals, in sizes: of the first priority, and of the last above its minimum.
    first: f64,
    last: f64,
    moved: usize,
    /// Largest turn, in radians.
    furthest: f32,
}

fn found(bones: usize, inner: usize, [at_inner, at_end]: [u8; 2], reachable: bool) -> Found {
    let mut r = noise(4);
    let mut direction = || Vec3::new(r(), r(), r()).normalize();
    let (skeleton, ids) = column(bones, 1.0, |_| Joint::FREE);
    let tips =
        [Effector::new(ids[inner]).with_priority(at_inner), Effector::new(ids[bones]).with_priority(at_end)];
    let (a, b) = (inner as f64, (bones - inner) as f64);
    let mut found = Found::default();
    for case in 0..200 {
        let mut posed = || {
            let mut pose = Pose::rest(&skeleton);
            for &id in &ids {
                pose.set_rotation(id, math::axis_angle(direction(), 0.9));
            }
            pose.update();
            pose
        };
        let (start, there) = (posed(), posed());
        let mut pose = if case % 3 == 0 { Pose::rest(&skeleton) } else { start };
        let goals = if reachable {
            [there.position(ids[inner]), there.position(ids[bones])]
        } else {
            // Each is in reach, but not both.
            let end = direction() * (0.3 + 0.65 * bones as f32 * (case as f32 / 200.0));
            [direction() * (inner as f32 * 0.95), end]
        };
        let full_body = FullBody::new(&skeleton, ids[0], &tips).unwrap();
        let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new());
        let report =
            full_body.solve(&mut workspace, &mut pose, &goals.map(Goal::position), &options).unwrap();
        let [p, q] = goals.map(|g| g.as_dvec3());
        let missed = [ids[inner], ids[bones]].map(|j| pose.position(j).as_dvec3());
        let missed = [missed[0].distance(p), missed[1].distance(q)];
        let size = bones as f64;
        if at_inner < at_end {
            found.first = found.first.max(missed[0] / size);
            found.last = found.last.max((missed[1] - (p.distance(q) - b).max(0.0)) / size);
        } else {
            found.first = found.first.max(missed[1] / size);
            found.last = found.last.max((missed[0] - off_lens(p, a, q, b)) / size);
        }
        if reachable {
            assert!(report.reached(), "{case}");
        }
        let before = pose.clone();
        full_body.solve(&mut workspace, &mut pose, &goals.map(Goal::position), &options).unwrap();
        let each = before.locals().iter().zip(pose.locals());
        let turn = each.map(|(a, b)| math::angle_between(a.rotation, b.rotation)).fold(0.0, f32::max);
        found.moved += usize::from(before.locals() != pose.locals());
        found.furthest = found.furthest.max(turn);
    }
    found
}

#[test]
fn what_goes_last_comes_as_near_as_what_goes_first_lets_it_and_stays() {
    for (bones, inner) in [(6, 3), (4, 2), (8, 3), (5, 3)] {
        for priorities in [[0, 1], [1, 0], [0, 2], [2, 0], [1, 2], [2, 1]] {
            for reachable in [true, false] {
                let found = found(bones, inner, priorities, reachable);
                let all = format!("{bones} bones, {inner} inside, {priorities:?}, {reachable}: {found:?}");
                assert!(found.first <= 1.01e-4 && found.last <= 1.01e-4, "{all}");
                assert!(found.moved == 0, "{all}");
            }
        }
    }
}
