//! Judges the reported branch changes of limbs and aims by the definition, computed from the two poses in f64.

use crate::common;
use crate::promises::judge;

use std::sync::Arc;

use common::noise;
use judge::{V, add, cross, dot, length, scale, sub, unit};
use sinew::{
    Goal, JointId, JointTransform, Pole, Pose, Skeleton,
    glam::{Quat, Vec3},
    math,
    solve::{
        Aim, AimUp, BendSide, LimbOptions, Options, TwoBone,
        two_bone::{LimbBend, LimbPoints, solve_points},
    },
};

/// The angle between two rotations, in f64.
fn angle(a: Quat, b: Quat) -> f64 {
    let [a, b] = [a, b].map(|q| q.to_array().map(f64::from));
    // The vector part of the product of one rotation's conjugate and the other.
    let ([ax, ay, az, aw], [bx, by, bz, bw]) = (a, b);
    let v = [
        aw * bx - ax * bw - ay * bz + az * by,
        aw * by + ax * bz - ay * bw - az * bx,
        aw * bz - ax * by + ay * bx - az * bw,
    ];
    let w = aw * bw + ax * bx + ay * by + az * bz;
    2.0 * length(v).atan2(w.abs())
}

/// Rotates a vector with the line `from` by the shortest arc to the line `to` (Rodrigues' formula).
fn carried(from: V, to: V, v: V) -> V {
    let (from, to) = (unit(from), unit(to));
    let (c, n) = (dot(from, to), cross(from, to));
    add(add(scale(v, c), cross(n, v)), scale(n, dot(n, v) / (1.0 + c)))
}

/// Whether the branch changed by the formula of turns; none where rounding decides.
fn leapt(turn: f64, way: f64, long: f64, turned: f64) -> Option<bool> {
    let bound = 8.0 * way / long + 16.0 * turned + 1e-3;
    ((turn - bound).abs() > 2e-4 + 1e-3 * bound).then_some(turn > bound)
}

/// Whether the branch changed by the side of the bend; none where rounding decides or the limb is straight.
fn flipped([line, bend]: [V; 2], [now, bent]: [V; 2]) -> Option<bool> {
    let across = |axis: V, v: V| sub(v, scale(unit(axis), dot(v, unit(axis))));
    let (from, to) = (across(line, bend), across(now, bent));
    let clear = |v: V, bend: V| length(v) > 1e-3 * length(bend);
    let opposite = dot(unit(line), unit(now)) < -0.999;
    if opposite || !clear(from, bend) || !clear(to, bent) {
        return None;
    }
    let cos = dot(unit(carried(line, now, from)), unit(to));
    (cos.abs() > 2e-3).then_some(cos < 0.0)
}

struct Dice(Box<dyn FnMut() -> f32>);

impl Dice {
    fn vector(&mut self) -> Vec3 {
        loop {
            let v = Vec3::new(self.0(), self.0(), self.0());
            if v.length() > 0.2 {
                return v;
            }
        }
    }

    fn rotation(&mut self) -> Quat {
        let v = self.vector();
        math::normalize(Quat::from_xyzw(v.x, v.y, v.z, self.0()))
    }
}

fn limb(dice: &mut Dice) -> (Pose, [JointId; 3]) {
    let mut b = Skeleton::builder();
    let at = |translation, rotation| JointTransform { translation, rotation, scale: Vec3::ONE };
    let body = b.add("body", None, at(dice.vector(), dice.rotation()));
    let root = b.add("root", Some(body), at(dice.vector(), dice.rotation()));
    let middle = b.add("middle", Some(root), at(dice.vector() * 0.5, dice.rotation()));
    let tip = b.add("tip", Some(middle), at(dice.vector() * 0.5, dice.rotation()));
    let (skeleton, ids) = b.build().unwrap();
    (Pose::rest(&Arc::new(skeleton)), [ids[root], ids[middle], ids[tip]])
}

#[test]
fn a_limbs_branch_is_that_of_the_formula() {
    let mut dice = Dice(Box::new(noise(3)));
    let mut seen = [[0; 2]; 2];
    for case in 0..20_000 {
        let (rest, joints) = limb(&mut dice);
        let [root, middle, tip] = joints;
        let limb = TwoBone::new(rest.skeleton(), root, middle, tip).unwrap();
        let place = |pose: &Pose| joints.map(|j| judge::position(pose, j));
        let reach =
            length(sub(place(&rest)[1], place(&rest)[0])) + length(sub(place(&rest)[2], place(&rest)[1]));
        // Goals near the tip, where the bend side or the folding of the limb turns joints far, and goals elsewhere.
        let near = [1e-4, 1e-2, 0.1, 1.0][case % 4];
        let goal = match case % 5 {
            4 => rest.position(root) + dice.vector() * (near * reach as f32),
            _ => rest.position(tip) + dice.vector() * (near * reach as f32),
        };
        let side = [BendSide::Keep, BendSide::Positive, BendSide::Negative][case % 3];
        let solver = limb.clone().with_side(side).unwrap_or(limb);
        let (mut goal, mut options) = (Goal::position(goal), LimbOptions::new());
        if case % 7 > 3 {
            goal.pole = Pole::Direction(dice.vector());
        }
        if case % 11 == 10 {
            goal.swivel = 3.0 * (dice.0)();
        }
        if case % 13 > 9 {
            goal.rotation = Some(math::normalize(math::mul(
                rest.model_rotation(tip),
                math::axis_angle(dice.vector().normalize(), near * 2.0),
            )));
        }
        if case % 17 > 12 {
            options.influence = 0.5 + 0.5 * (dice.0)();
        }
        let mut pose = rest.clone();
        let report = solver.solve(&mut pose, &goal, &options).unwrap();
        let (from, to) = (place(&rest), place(&pose));
        let poled = goal.pole != Pole::Keep || goal.swivel != 0.0;
        let wanted = if poled {
            let side = |p: [V; 3]| [sub(p[2], p[0]), sub(p[1], p[0])];
            flipped(side(from), side(to))
        } else {
            let turn = joints.map(|j| angle(rest.local(j).rotation, pose.local(j).rotation));
            let turned = goal.rotation.map_or(0.0, |_| {
                // Angle between two rotations by the trace.
                let [a, b] = [&rest, &pose].map(|p| judge::frame(p, tip));
                let trace: f64 = (0..3).map(|i| dot(a.columns[i], b.columns[i])).sum();
                (0.5 * (trace - 1.0)).clamp(-1.0, 1.0).acos()
            });
            leapt(turn.into_iter().fold(0.0, f64::max), length(sub(to[2], from[2])), reach, turned)
        };
        let Some(wanted) = wanted else { continue };
        seen[usize::from(poled)][usize::from(wanted)] += 1;
        assert_eq!(report.branch_changed, wanted, "case {case}: {report:?}");
    }
    assert!(seen.as_flattened().iter().all(|&count| count > 200), "{seen:?}");
}

#[test]
fn bare_points_tell_the_same() {
    let mut dice = Dice(Box::new(noise(4)));
    let mut seen = [[0; 2]; 2];
    for case in 0..40_000 {
        let root = dice.vector();
        let middle = root + dice.vector();
        // Some limbs are folded: joints turn far where the end passes the root.
        let tip = if case % 3 == 0 { root + dice.vector() * 0.1 } else { middle + dice.vector() };
        let near = [1e-3, 1e-2, 0.1, 1.0][case % 4];
        let goal = tip + dice.vector() * near;
        let pole = if case % 5 > 2 { Pole::Point(dice.vector() * 4.0) } else { Pole::Keep };
        let bend = LimbBend {
            hinge: (case % 2 == 0).then(|| dice.vector().normalize()),
            side: [BendSide::Keep, BendSide::Positive, BendSide::Negative][case / 2 % 3],
            ..LimbBend::FREE
        };
        let turns = solve_points(&LimbPoints { root, middle, tip }, goal, pole, &bend);
        let [r, m, t] = [root, middle, tip].map(judge::v);
        let turn = |q: Quat, v: V| {
            let [x, y, z, w] = q.to_array().map(f64::from);
            let u = [x, y, z];
            let t = scale(cross(u, v), 2.0);
            add(add(v, scale(t, w)), cross(u, t))
        };
        let (u, v) = (sub(m, r), sub(t, m));
        let (line, bent) = (turn(turns.root, add(u, turn(turns.middle, v))), turn(turns.root, u));
        let wanted = if pole != Pole::Keep {
            flipped([add(u, v), u], [line, bent])
        } else {
            let most = angle(Quat::IDENTITY, turns.root).max(angle(Quat::IDENTITY, turns.middle));
            leapt(most, length(sub(line, add(u, v))), length(u) + length(v), 0.0)
        };
        let Some(wanted) = wanted else { continue };
        seen[usize::from(pole != Pole::Keep)][usize::from(wanted)] += 1;
        assert_eq!(turns.branch_changed, wanted, "case {case}: {turns:?}");
    }
    assert!(seen.as_flattened().iter().all(|&count| count > 200), "{seen:?}");
}

#[test]
fn an_aim_changes_its_branch_where_its_up_turns_over() {
    let mut dice = Dice(Box::new(noise(5)));
    let mut seen = [[0; 2]; 2];
    for case in 0..6000 {
        let (rest, [_, joint, _]) = limb(&mut dice);
        let mut aim = Aim::new(joint, dice.vector());
        let axis = dice.vector();
        let up = (case % 3 > 0).then(|| AimUp { axis, direction: dice.vector() });
        aim.up = up;
        let target = rest.position(joint) + dice.vector() * 5.0;
        let mut pose = rest.clone();
        let report = aim.solve(&mut pose, target, &Options::new()).unwrap();
        let [a, b] = [&rest, &pose].map(|p| judge::frame(p, joint));
        let [from, to] = [a, b].map(|f| f.vector(judge::v(aim.axis)));
        let wanted = match up {
            Some(_) => flipped([from, a.vector(judge::v(axis))], [to, b.vector(judge::v(axis))]),
            // The tip is the point of the ray that ends on the target.
            None => {
                let way = length(sub(unit(to), unit(from)));
                leapt(angle(rest.local(joint).rotation, pose.local(joint).rotation), way, 1.0, 0.0)
            }
        };
        let Some(wanted) = wanted else { continue };
        seen[usize::from(up.is_some())][usize::from(wanted)] += 1;
        assert_eq!(report.branch_changed, wanted, "case {case}: {report:?}");
    }
    assert!(seen[1][0] > 200 && seen[1][1] > 200 && seen[0][0] > 200, "{seen:?}");
}
