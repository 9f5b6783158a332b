//! Judges shapes of the draw list against closed forms, and limits against the judge of limits in f64.

use crate::common;
use crate::limit_judge;

use std::{f32::consts::PI, sync::Arc};

use common::noise;
use limit_judge::excess;
use sinew::{
    Goal, JointId, JointTransform, Pose, Report, Skeleton,
    body::Side,
    draw::{AREA_OPACITY, Batches, DrawList, Shape, ShapeKind, ShapeRole, ShapeState, Theme},
    glam::{DVec3, Quat, Vec2, Vec3},
    joint::{Dof, Joint, Turning},
    math,
    planar::{Bone2d, Chain2d},
    solve::{
        LimbOptions, TwoBone,
        spline::{Curve, CurveKind, CurveUp},
    },
};

const RADIUS: f32 = 0.5;

/// A joint below a turned parent, with a bone along its y axis.
fn posed(joint: Joint, own: impl Fn(&Skeleton, JointId) -> JointTransform) -> (Pose, JointId) {
    let mut b = Skeleton::builder();
    let turned = math::axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.7);
    b.add("above", None, JointTransform { rotation: turned, ..JointTransform::from_translation(Vec3::ONE) });
    b.add("joint", Some(0), JointTransform::from_translation(Vec3::new(0.3, 0.1, 0.2)));
    b.add("below", Some(1), JointTransform::from_translation(Vec3::Y));
    let (mut skeleton, ids) = b.build().unwrap();
    skeleton.set_joint(ids[1], joint).unwrap();
    let mut pose = Pose::rest(&Arc::new(skeleton));
    let local = own(pose.skeleton(), ids[1]);
    pose.set_local(ids[1], local);
    pose.update();
    (pose, ids[1])
}

fn turned(joint: Joint, c: [f32; 3]) -> (Pose, JointId) {
    posed(joint, |skeleton, id| {
        let rotation = skeleton.limits(id).rotation(c);
        JointTransform { rotation, ..*skeleton.rest(id) }
    })
}

fn limits(pose: &Pose, id: JointId) -> DrawList {
    let mut list = DrawList::new();
    list.limits(pose, [(id, Some(Side::Left))], RADIUS);
    list
}

/// The points of the only shape with this role and kind.
fn only(list: &DrawList, role: ShapeRole, kind: ShapeKind) -> &[Vec3] {
    let mut found = list.shapes().iter().filter(|s| s.role == role && s.kind == kind);
    let points = list.points(found.next().unwrap_or_else(|| panic!("no {role:?} {kind:?}")));
    assert!(found.next().is_none(), "two of {role:?} {kind:?}");
    points
}

fn states(list: &DrawList) -> Vec<ShapeState> {
    list.shapes().iter().filter(|s| s.role == ShapeRole::Needle).map(|s| s.state).collect()
}

fn area(triangles: &[Vec3]) -> f32 {
    triangles.chunks_exact(3).map(|t| 0.5 * (t[1] - t[0]).cross(t[2] - t[0]).length()).sum()
}

/// The angle from `a` to `b` about `axis`.
fn about(axis: Vec3, a: Vec3, b: Vec3) -> f32 {
    a.cross(b).dot(axis).atan2(a.dot(b))
}

#[test]
fn a_wedge_has_the_area_of_its_sector_and_its_needle_inside_where_the_value_is() {
    let (from, to) = (-0.4f32, 1.2f32);
    let dof = Dof::range(from.into(), to.into()).with_preferred(0.8);
    let joint = Joint::hinge(Vec3::X, dof);
    for value in [-0.4f32, -0.39, 0.0, 0.7, 1.19, 1.2, 1.5, -0.9] {
        let (pose, id) = turned(joint, [value, 0.0, 0.0]);
        let list = limits(&pose, id);
        let at = pose.position(id);
        let wedge = only(&list, ShapeRole::Limit, ShapeKind::Area);
        let sector = 0.5 * RADIUS * RADIUS * (to - from);
        assert!((area(wedge) / sector - 1.0).abs() < 1e-3, "{}", area(wedge));
        let axis = pose.model(id).matrix3.x_axis.normalize();
        let zero = only(&list, ShapeRole::Reference, ShapeKind::Segments);
        let needle = only(&list, ShapeRole::Needle, ShapeKind::Segments);
        assert_eq!(needle[0], at);
        assert!((needle[1].distance(at) - RADIUS).abs() < 1e-5);
        let angle = |p: Vec3| about(axis, zero[1] - at, p - at);
        assert!((angle(needle[1]) - value).abs() < 1e-5, "{value}: {}", angle(needle[1]));
        // The needle lies along the bone, whose part along the axis is left out.
        assert!((needle[1] - at).normalize().distance(pose.model(id).matrix3.y_axis) < 1e-5);
        let preferred = only(&list, ShapeRole::Preferred, ShapeKind::Segments);
        assert!((angle(preferred[1]) - 0.8).abs() < 1e-5);
        // In one of the wedge's triangles, to rounding, where the value is in its range.
        let inside = wedge.chunks_exact(3).any(|t| {
            let [a, b, x] = [t[1], t[2], needle[1]].map(angle);
            a - 1e-5 <= x && x <= b + 1e-5
        });
        let within = (from..=to).contains(&value);
        assert_eq!(inside, within, "{value}");
        let at_limit = value - from < 2e-3 || to - value < 2e-3;
        let expected = if at_limit { ShapeState::AtLimit } else { ShapeState::Normal };
        assert_eq!(states(&list), [expected; 2], "{value}");
        // No state is told by colour alone.
        let bead = list.shapes().iter().find_map(|s| match s.kind {
            ShapeKind::Discs { radius } => Some(radius),
            _ => None,
        });
        let size = if at_limit { 0.06 } else { 0.03 };
        assert!((bead.unwrap() / RADIUS - size).abs() < 1e-6);
    }
}

#[test]
fn a_range_of_more_than_a_turn_is_a_disc_and_one_without_limits_a_circle() {
    let (pose, id) = turned(Joint::hinge(Vec3::X, Dof::range(-7.0, 7.0)), [1.0, 0.0, 0.0]);
    let list = limits(&pose, id);
    let disc = area(only(&list, ShapeRole::Limit, ShapeKind::Area));
    assert!((disc / (PI * RADIUS * RADIUS) - 1.0).abs() < 4e-3, "{disc}");
    let lines = |s: &&Shape| s.role == ShapeRole::Limit && s.kind == ShapeKind::Segments;
    assert_eq!(list.shapes().iter().find(lines), None);
    for dof in [Dof::FREE, Dof::range(f64::NEG_INFINITY, 1.0)] {
        let (pose, id) = turned(Joint::hinge(Vec3::X, dof), [0.5, 0.0, 0.0]);
        let list = limits(&pose, id);
        assert!(list.shapes().iter().all(|s| s.kind != ShapeKind::Area));
        assert_eq!(only(&list, ShapeRole::Limit, ShapeKind::Polyline).len(), 49);
    }
}

/// How far a direction of the twist axis is outside of a ball's swing, in radians by the judge of limits. `direction` is in
/// model space.
fn outside(pose: &Pose, id: JointId, axis: Vec3, direction: Vec3) -> f64 {
    let parent = math::rotation_of(&pose.parent_model(id).matrix3);
    let local = math::rotate(math::conjugate(parent), direction.normalize());
    let rotation = math::shortest_arc(axis, local, Vec3::Z);
    let skeleton = pose.skeleton();
    excess(skeleton.joint(id), skeleton.rest(id), &JointTransform { rotation, ..*skeleton.rest(id) })[0]
}

#[test]
fn a_cap_is_the_swing_by_the_judge_of_limits() {
    let mut random = noise(7);
    let mut judged = 0;
    for case in 0..60 {
        let mut half = || 0.2 + 1.1 * random().abs();
        let ranges = [[-half(), half()], [-half(), half()]];
        let centre = if case % 2 == 0 { [0.0; 2] } else { [0.5 * ranges[0][1], 0.0] };
        let [x, y] = ranges.map(|[min, max]| Dof::range(min.into(), max.into()));
        let joint = Joint::from(Turning::Ball {
            twist_axis: DVec3::Y,
            swing_axis: DVec3::X,
            swing: [x, y],
            twist: Dof::range(-0.4, 0.9),
            centre: centre.map(f64::from),
        });
        // From the centre out, in a random direction: inside, at and beyond the ellipse.
        let share = [0.3, 0.9, 1.0, 1.2][case % 4];
        let (sine, cosine) = (0.1 * case as f32).sin_cos();
        let s = [(0, cosine), (1, sine)].map(|(n, d): (usize, f32)| {
            let [min, max] = ranges[n];
            centre[n] + share * d * if d < 0.0 { centre[n] - min } else { max - centre[n] }
        });
        let (pose, id) = turned(joint, [s[0], s[1], 0.2]);
        let list = limits(&pose, id);
        let at = pose.position(id);
        let areas: Vec<_> = list.shapes().iter().filter(|s| s.kind == ShapeKind::Area).collect();
        let (cap, twist) = (list.points(areas[0]), list.points(areas[1]));
        for &p in cap {
            assert!((p.distance(at) - RADIUS).abs() < 1e-5);
            let out = outside(&pose, id, Vec3::Y, p - at);
            assert!(out < 2e-5, "{case}: {out}");
            judged += 1;
        }
        // The outline is the ellipse: a little further from the middle is outside.
        let outlines: Vec<_> = list.shapes().iter().filter(|s| s.kind == ShapeKind::Polyline).collect();
        let middle = cap[0] - at;
        for &p in list.points(outlines[0]) {
            let aside = middle.cross(p - at).normalize();
            let further = math::rotate(math::axis_angle(aside, 0.01), p - at);
            assert!(outside(&pose, id, Vec3::Y, further) > 1e-4, "{case}");
            assert!(cap.contains(&p));
        }
        // Needle and state.
        let needle = list.points(list.shapes().iter().find(|s| s.role == ShapeRole::Needle).unwrap());
        let axis = pose.model(id).matrix3.y_axis;
        assert!((needle[1] - at).normalize().distance(axis) < 1e-5);
        assert_eq!(outside(&pose, id, Vec3::Y, needle[1] - at) > 1e-5, share > 1.0, "{case}");
        let expected = if share < 1.0 { ShapeState::Normal } else { ShapeState::AtLimit };
        assert_eq!(states(&list), [expected, expected, ShapeState::Normal, ShapeState::Normal], "{case}");
        // The twist is a flat sector at the end of the axis.
        let sector = 0.5 * (0.3 * RADIUS).powi(2) * 1.3;
        assert!((area(twist) / sector - 1.0).abs() < 1e-3);
        assert!(twist[0].distance(at + axis * RADIUS) < 1e-5);
    }
    assert!(judged > 20_000, "{judged}");
}

#[test]
fn a_round_cap_has_the_area_of_a_spherical_cap() {
    for angle in [0.3f64, 1.0, 2.0, 2.9] {
        let (pose, id) = turned(Joint::cone(Vec3::Y, angle, 0.5), [0.1, 0.0, 0.0]);
        let list = limits(&pose, id);
        let cap = list.shapes().iter().find(|s| s.kind == ShapeKind::Area).unwrap();
        let closed = 2.0 * PI * RADIUS * RADIUS * (1.0 - (angle as f32).cos());
        let share = area(list.points(cap)) / closed;
        assert!((0.97..1.0).contains(&share), "{angle}: {share}");
    }
}

#[test]
fn a_slide_is_a_bar_of_its_length_with_the_joint_on_it() {
    for (value, state) in [(-0.2, ShapeState::AtLimit), (0.1, ShapeState::Normal), (0.6, ShapeState::AtLimit)]
    {
        let joint = Joint::slider(Vec3::new(0.0, 0.6, 0.8), Dof::range(-0.2, 0.6).with_preferred(0.3));
        let (pose, id) = posed(joint, |skeleton, id| {
            let rest = *skeleton.rest(id);
            let translation = rest.translation + Vec3::new(0.0, 0.6, 0.8) * value;
            JointTransform { translation, ..rest }
        });
        let list = limits(&pose, id);
        let bar = area(only(&list, ShapeRole::Limit, ShapeKind::Area));
        assert!((bar / (0.8 * 0.12 * RADIUS) - 1.0).abs() < 1e-4, "{bar}");
        let needle = only(&list, ShapeRole::Needle, ShapeKind::Segments);
        assert!((0.5 * (needle[0] + needle[1])).distance(pose.position(id)) < 1e-5);
        let along = math::rotate(math::rotation_of(&pose.parent_model(id).matrix3), Vec3::new(0.0, 0.6, 0.8));
        assert!((needle[1] - needle[0]).dot(along).abs() < 1e-5);
        assert_eq!(states(&list), [state; 2], "{value}");
        let tick = only(&list, ShapeRole::Preferred, ShapeKind::Segments);
        let ahead = (0.5 * (tick[0] + tick[1]) - pose.position(id)).dot(along);
        assert!((ahead - (0.3 - value)).abs() < 1e-5);
    }
}

#[test]
fn a_chain_in_the_plane_has_wedges_about_its_parents() {
    let bones = [
        Bone2d::new(1.0).with_angle(0.4).with_limits(-1.0, 1.0),
        Bone2d::new(0.5).with_angle(7.0),
        Bone2d::new(0.7).with_angle(-0.3).with_limits(-0.3, 0.5).with_preferred(0.2),
    ];
    let mut chain = Chain2d::new(Vec2::new(0.2, 0.1), &bones).unwrap();
    chain.base = 0.3;
    let mut list = DrawList::new();
    list.planar_limits(&chain, 0.2, None);
    list.planar_bones(&chain, 0.1, None);
    let needles: Vec<_> = list
        .shapes()
        .iter()
        .filter(|s| s.role == ShapeRole::Needle && s.kind == ShapeKind::Segments)
        .collect();
    let positions: Vec<Vec3> = chain.positions().map(|p| p.extend(0.0)).collect();
    for (shape, n, state) in [(needles[0], 0, ShapeState::Normal), (needles[1], 2, ShapeState::AtLimit)] {
        let needle = list.points(shape);
        let bone = (positions[n + 1] - positions[n]).normalize();
        assert!(needle[0].distance(positions[n]) < 1e-6);
        assert!(needle[1].distance(positions[n] + 0.2 * bone) < 1e-5);
        assert_eq!(shape.state, state);
    }
    let wedges = list.shapes().iter().filter(|s| s.kind == ShapeKind::Area);
    for (wedge, angle) in wedges.zip([2.0, 0.8]) {
        assert!((area(list.points(wedge)) / (0.5 * 0.04 * angle) - 1.0).abs() < 1e-3);
    }
    assert_eq!(list.shapes().iter().filter(|s| s.role == ShapeRole::Bone).count(), 3);
}

fn leg() -> (Pose, TwoBone, Vec<JointId>) {
    let mut b = Skeleton::builder();
    let at = |y: f32, z: f32| JointTransform::from_translation(Vec3::new(0.0, y, z));
    b.add("hip", None, at(0.9, 0.0));
    b.add("knee", Some(0), at(-0.45, 0.03));
    b.add("ankle", Some(1), at(-0.42, -0.03));
    let (skeleton, ids) = b.build().unwrap();
    let skeleton = Arc::new(skeleton);
    let leg = TwoBone::new(&skeleton, ids[0], ids[1], ids[2]).unwrap();
    (Pose::rest(&skeleton), leg, ids)
}

#[test]
fn goals_show_whether_they_are_met() {
    let (rest, leg, ids) = leg();
    let rotation = math::axis_angle(Vec3::new(0.48, 0.6, 0.64), 1.1);
    for (z, state) in [(0.3, ShapeState::Normal), (2.0, ShapeState::OutOfReach)] {
        let goal = Goal::position(Vec3::new(0.0, 0.4, z)).with_rotation(rotation);
        let mut pose = rest.clone();
        let report = leg.solve(&mut pose, &goal, &LimbOptions::new()).unwrap();
        let end = pose.position(ids[2]);
        let mut list = DrawList::new();
        list.solved_goal(&goal, end, &report, 0.05, None);
        let cross = list.shapes().iter().find(|s| s.role == ShapeRole::Goal).unwrap();
        assert_eq!(cross.state, state);
        let dashes = list.shapes().iter().find(|s| s.role == ShapeRole::Residual);
        assert_eq!(dashes.is_some(), state == ShapeState::OutOfReach);
        if let Some(dashes) = dashes.map(|s| list.points(s)) {
            assert_eq!((dashes[0], dashes[dashes.len() - 1]), (end, Vec3::new(0.0, 0.4, z)));
            let drawn: f32 = dashes.chunks_exact(2).map(|d| d[0].distance(d[1])).sum();
            let share = drawn / end.distance(dashes[dashes.len() - 1]);
            assert!(share > 0.5 && share < 0.55, "{share}");
        }
        let axes = [ShapeRole::AxisX, ShapeRole::AxisY, ShapeRole::AxisZ];
        for (role, axis) in axes.into_iter().zip(Vec3::AXES) {
            let line = only(&list, role, ShapeKind::Segments);
            assert_eq!(line[0], Vec3::new(0.0, 0.4, z));
            assert!((line[1] - line[0]).distance(rotation * axis * 0.1) < 1e-6);
        }
    }
    // A goal that is in reach but not met, as in a bounded step, has the line in its normal state.
    let mut report = Report::default();
    (report.position_residual, report.position_tolerance) = (0.2, 1e-3);
    let mut list = DrawList::new();
    list.solved_goal(&Goal::position(Vec3::X), Vec3::X * 0.8, &report, 0.05, None);
    assert!(list.shapes().iter().all(|s| s.state == ShapeState::Normal));
    only(&list, ShapeRole::Residual, ShapeKind::Segments);
    // Without a position its axes are at the chain's end.
    list.clear();
    list.solved_goal(&Goal::rotation(Quat::IDENTITY), Vec3::Y, &report, 0.05, None);
    assert_eq!(only(&list, ShapeRole::AxisX, ShapeKind::Segments), [Vec3::Y, Vec3::new(0.1, 1.0, 0.0)]);
    assert_eq!(list.shapes().len(), 3);
}

#[test]
fn angles_of_a_triangle_add_up_and_labels_lie_outside() {
    let corners = [Vec3::ZERO, Vec3::new(2.0, 0.1, 0.3), Vec3::new(0.4, 1.1, -0.2)];
    let mut list = DrawList::new();
    let mut sum = 0.0;
    for n in 0..3 {
        let [at, a, b] = [0, 1, 2].map(|k| corners[(n + k) % 3]);
        list.angle(at, [a - at, b - at], 0.1, None, format_args!("corner {n}"));
    }
    for shape in list.shapes().iter().filter(|s| s.kind == ShapeKind::Area) {
        sum += area(list.points(shape)) / (0.5 * 0.1 * 0.1);
    }
    assert!((sum - PI).abs() < 2e-3, "{sum}");
    for (n, label) in list.labels().iter().enumerate() {
        assert_eq!(list.text(label), format!("corner {n}"));
        assert!((label.at.distance(corners[n]) - 0.1).abs() < 1e-5);
        assert!(label.away.distance((label.at - corners[n]).normalize()) < 1e-5);
    }
    // Straight and folded.
    list.clear();
    list.angle(Vec3::ZERO, [Vec3::X, -Vec3::X], 1.0, None, "straight");
    list.angle(Vec3::ZERO, [Vec3::X, Vec3::X], 1.0, None, "folded");
    let [straight, .., folded, _] = list.shapes() else { panic!() };
    assert!((area(list.points(straight)) / (0.5 * PI) - 1.0).abs() < 1e-3);
    assert!(area(list.points(folded)) < 1e-6);
}

#[test]
fn names_stand_beside_their_bones() {
    let (pose, _, ids) = leg();
    let mut list = DrawList::new();
    list.names(&pose, ids.iter().map(|&id| (id, Some(Side::Right))));
    let names: Vec<_> = list.labels().iter().map(|l| list.text(l)).collect();
    assert_eq!(names, ["hip", "knee", "ankle"]);
    let away: Vec<_> = list.labels().iter().map(|l| l.away).collect();
    // The ends are named beyond them, and the knee in front, where it bends to.
    assert!(away[0].y > 0.9 && away[1].z > 0.9 && away[2].y < -0.9, "{away:?}");
    for (label, id) in list.labels().iter().zip(ids) {
        assert_eq!((label.at, label.joint, label.side), (pose.position(id), Some(id), Some(Side::Right)));
    }
}

#[test]
fn a_curve_is_drawn_in_equal_steps_from_end_to_end() {
    let points = [Vec3::ZERO, Vec3::new(1.0, 2.0, 0.5), Vec3::new(3.0, 2.5, -1.0), Vec3::new(4.0, 0.0, 0.0)];
    for closed in [false, true] {
        let curve = Curve::new(CurveKind::CatmullRom, &points, closed, CurveUp::Direction(Vec3::Y)).unwrap();
        let mut list = DrawList::new();
        list.curve(&curve, 200);
        let line = only(&list, ShapeRole::Path, ShapeKind::Polyline);
        let last = if closed { points[0] } else { points[3] };
        assert!(line[0].distance(points[0]) < 1e-5 && line[200].distance(last) < 1e-4);
        let step = curve.length() / 200.0;
        for pair in line.windows(2) {
            assert!((pair[0].distance(pair[1]) / step - 1.0).abs() < 5e-3);
        }
    }
    let mut list = DrawList::new();
    list.path([Vec3::ZERO, Vec3::NAN], None);
    assert!(list.shapes().is_empty());
}

/// A scene with every kind of shape.
fn scene(list: &mut DrawList, pose: &Pose, ids: &[JointId], leg: &TwoBone, t: f32) {
    list.clear();
    let mut pose = pose.clone();
    let goal = Goal::position(Vec3::new(0.0, 0.3, t)).with_rotation(Quat::IDENTITY);
    let report = leg.solve(&mut pose, &goal, &LimbOptions::new()).unwrap();
    list.bones(&pose, ids.iter().map(|&id| (id, None)), 0.1);
    list.solved_goal(&goal, pose.position(ids[2]), &report, 0.1, Some(Side::Left));
    list.angle(pose.position(ids[1]), [Vec3::X, Vec3::Y], 0.1, None, 63);
    list.path((0..9).map(|n| Vec3::X * n as f32), None);
    list.ray(Vec3::Y, Vec3::ZERO, true, 0.02);
    list.names(&pose, ids.iter().map(|&id| (id, None)));
}

#[test]
fn batches_hold_every_point_of_the_list_in_its_colour() {
    let (pose, leg, ids) = leg();
    let (mut list, mut batches) = (DrawList::new(), Batches::new());
    for (theme, t) in [(Theme::Light, 0.3), (Theme::Dark, 3.0), (Theme::Light, 0.2)] {
        scene(&mut list, &pose, &ids, &leg, t);
        batches.fill(&list, theme);
        let kinds = |of: fn(&Shape) -> bool| list.shapes().iter().filter(move |s| of(s));
        let points = |of: fn(&Shape) -> bool| kinds(of).flat_map(|s| list.points(s)).copied();
        let flat = |points: &mut dyn Iterator<Item = Vec3>| -> Vec<f32> {
            points.flat_map(|p| p.to_array()).collect()
        };
        let solids = flat(&mut points(|s| s.kind == ShapeKind::Triangles));
        let areas = flat(&mut points(|s| s.kind == ShapeKind::Area));
        let discs = flat(&mut points(|s| matches!(s.kind, ShapeKind::Discs { .. })));
        assert_eq!(batches.solids().positions(), solids);
        assert_eq!(batches.areas().positions(), areas);
        assert_eq!(batches.discs().positions(), discs);
        assert_eq!(batches.radii().len(), batches.discs().len());
        let mut lines = Vec::new();
        for shape in list.shapes() {
            match shape.kind {
                ShapeKind::Segments => lines.extend_from_slice(list.points(shape)),
                ShapeKind::Polyline => lines.extend(list.points(shape).windows(2).flatten()),
                _ => {}
            }
        }
        assert_eq!(batches.lines().positions(), flat(&mut lines.into_iter()));
        assert!(!solids.is_empty() && !areas.is_empty() && !discs.is_empty());
        // Colours are the theme's, in linear light.
        let [r, g, b] = theme.color(ShapeRole::Bone, None, ShapeState::Normal);
        let linear = |c: u8| ((f64::from(c) / 255.0 + 0.055) / 1.055).powf(2.4);
        for vertex in batches.solids().colors().chunks_exact(4) {
            for (found, c) in vertex.iter().zip([r, g, b]) {
                assert!((f64::from(*found) - linear(c)).abs() < 1e-6);
            }
            assert_eq!(vertex[3], 1.0);
        }
        assert!(batches.areas().colors().chunks_exact(4).all(|vertex| vertex[3] == AREA_OPACITY));
    }
}

#[test]
fn nothing_that_is_not_finite_enters() {
    let joints = [
        Joint::hinge(Vec3::X, Dof::range(-1.0, 1.0).with_preferred(0.1)),
        Joint::cone(Vec3::Y, 0.5, 0.2),
        Joint::axes([Some(Dof::FREE), None, Some(Dof::range(-1.0, 0.0))]),
        Joint::slider(Vec3::X, Dof::range(-1.0, f64::INFINITY)),
        Joint::slider(Vec3::X, Dof::range(-1e30, 1e38)),
    ];
    let broken = [f32::NAN, f32::INFINITY, 3e38, 1e-38];
    let (mut list, mut batches) = (DrawList::new(), Batches::new());
    let mut drawn = 0;
    for joint in joints {
        for number in broken {
            for place in 0..4 {
                let (mut pose, id) = posed(joint, |skeleton, id| *skeleton.rest(id));
                let mut local = *pose.local(id);
                match place {
                    0 => local.translation.x = number,
                    1 => local.rotation = Quat::from_xyzw(number, 0.0, 0.0, 1.0),
                    2 => local.scale = Vec3::splat(number),
                    _ => {}
                }
                pose.set_local(id, local);
                pose.update();
                list.clear();
                let radius = if place == 3 { number } else { RADIUS };
                let skeleton = pose.skeleton().clone();
                let joints = || skeleton.joints().map(|j| (j, None));
                list.limits(&pose, joints(), radius);
                list.bones(&pose, joints(), number);
                list.names(&pose, joints());
                list.pole(Vec3::X, Vec3::Y, number, None);
                let mut report = Report::default();
                (report.position_residual, report.out_of_reach) = (number, number);
                list.solved_goal(&Goal::position(Vec3::X * number), Vec3::Y, &report, number, None);
                list.angle(Vec3::X, [Vec3::X * number, Vec3::Y * 1e-30], number, None, "angle");
                batches.fill(&list, Theme::Light);
                for vertices in [batches.lines(), batches.solids(), batches.areas(), batches.discs()] {
                    assert!(vertices.positions().iter().all(|x| x.is_finite()));
                    drawn += vertices.len();
                }
                assert!(batches.radii().iter().all(|r| r.is_finite()));
                assert!(list.labels().iter().all(|l| l.at.is_finite() && l.away.is_finite()));
            }
        }
    }
    assert!(drawn > 10_000, "{drawn}");
}

#[test]
fn once_grown_nothing_is_allocated() {
    let (pose, leg, ids) = leg();
    let mut skeleton = (**pose.skeleton()).clone();
    skeleton.set_joint(ids[0], Joint::cone(Vec3::Y, 1.4, 0.5)).unwrap();
    skeleton.set_joint(ids[1], Joint::hinge(Vec3::X, Dof::range(-0.1, 2.4).with_preferred(0.3))).unwrap();
    skeleton.set_joint(ids[2], Joint::slider(Vec3::Y, Dof::range(-0.1, 0.1))).unwrap();
    let mut limited = Pose::rest(&Arc::new(skeleton));
    let mut posed = pose.clone();
    let chain = Chain2d::new(Vec2::ZERO, &[Bone2d::new(1.0).with_limits(-1.0, 1.0); 4]).unwrap();
    let points = [Vec3::ZERO, Vec3::ONE, Vec3::X * 2.0];
    let curve = Curve::new(CurveKind::CatmullRom, &points, false, CurveUp::Direction(Vec3::Y)).unwrap();
    let (mut list, mut batches) = (DrawList::new(), Batches::new());
    let mut frame = |n: usize| {
        let t = 0.1 * n as f32;
        let goal = Goal::position(Vec3::new(0.0, 0.3, 2.0 - t)).with_rotation(Quat::IDENTITY);
        let report = leg.solve(&mut posed, &goal, &LimbOptions::new()).unwrap();
        limited.set_rotation(ids[1], math::axis_angle(Vec3::X, 0.2 * t));
        limited.update();
        list.clear();
        list.bones(&limited, ids.iter().map(|&id| (id, None)), 0.1);
        list.limits(&limited, ids.iter().map(|&id| (id, None)), 0.1);
        list.names(&limited, ids.iter().map(|&id| (id, None)));
        list.solved_goal(&goal, posed.position(ids[2]), &report, 0.1, None);
        list.angle(Vec3::ZERO, [Vec3::X, Vec3::new(1.0, t, 0.0)], 0.1, None, format_args!("{t:4.1}"));
        list.planar_limits(&chain, 0.1, None);
        list.planar_bones(&chain, 0.1, None);
        list.curve(&curve, 50);
        batches.fill(&list, if n.is_multiple_of(2) { Theme::Light } else { Theme::Dark });
    };
    frame(0);
    let counted = allocation_counter::measure(|| (1..20).for_each(&mut frame));
    assert_eq!(counted.count_total, 0, "{counted:?}");
}
