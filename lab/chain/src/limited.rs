//! Chains with limits, `Ccd` on free ones, and `k` on hinges, with goals that some pose within the limits meets.

use std::time::Instant;

use common::{
    Noise, Solving,
    chains::{self, Kind},
    kinematics,
};
use k::{InverseKinematicsSolver, nalgebra as na};
use sinew::{
    Goal, Pose,
    glam::Vec3,
    math,
    solve::{Auto, Ccd, IterativeOptions, Tolerance},
};

/// Bones of each chain.
pub const BONES: usize = 10;
/// Distance at which a goal counts as met, in chain lengths.
pub const TOLERANCE: f32 = 1e-3;
/// Promised tolerance of limits, in radians.
const KEPT: f64 = 1e-5;

/// A start and a goal that some pose within the limits is at.
pub struct Case {
    pub start: Pose,
    pub goal: Vec3,
}

/// Random starts and goals, the same at each call.
pub fn cases(kind: Kind, count: usize) -> Vec<Case> {
    let mut r = Noise::new(20);
    let (skeleton, ids) = chains::skeleton(kind, BONES);
    let one = |r: &mut Noise| {
        let mut pose = Pose::rest(&skeleton);
        chains::anywhere(&mut pose, kind, &ids, r);
        pose
    };
    (0..count)
        .map(|_| {
            let (start, other) = (one(&mut r), one(&mut r));
            Case { start, goal: Vec3::from_array(kinematics::end(&other, ids[BONES]).map(|x| x as f32)) }
        })
        .collect()
}

/// Goals in the shell, and a chain that is somewhat bent: the first row of the free chains.
fn shell(count: usize) -> Vec<Case> {
    let mut r = Noise::new(20);
    let (skeleton, ids) = chains::skeleton(Kind::Free, BONES);
    (0..count)
        .map(|_| {
            let mut start = Pose::rest(&skeleton);
            let axis = math::perpendicular(Vec3::Z, r.direction());
            for &id in &ids[..BONES] {
                start.set_rotation(id, math::axis_angle(axis, 0.1));
            }
            start.update();
            Case { start, goal: r.direction() * r.between(0.1, 0.95) }
        })
        .collect()
}

/// Statistics of a solver over cases.
#[derive(Default)]
struct Tally {
    met: usize,
    broken: f64,
    micros: Vec<f64>,
}

impl Tally {
    fn add(&mut self, pose: &Pose, goal: Vec3, micros: f64) {
        let tip = pose.skeleton().joints().last().expect("a chain has a tip");
        let (end, goal) = (kinematics::end(pose, tip), goal.to_array().map(f64::from));
        let off = (0..3).map(|i| (end[i] - goal[i]).powi(2)).sum::<f64>().sqrt();
        self.met += usize::from(off <= f64::from(TOLERANCE) * 1.0005);
        self.broken = self.broken.max(chains::broken(pose));
        self.micros.push(micros);
    }

    fn print(&mut self, name: &str, least: f64, most: Option<f64>) -> bool {
        self.micros.sort_by(f64::total_cmp);
        let n = self.micros.len();
        let (half, p99) = (self.micros[n / 2], self.micros[n * 99 / 100]);
        let share = self.met as f64 / n as f64;
        print!(
            "  {name:40} solved {:6.2} %   median {half:8.2} us   p99 {p99:8.1} us   limits broken by {:.0e} rad",
            100.0 * share,
            self.broken
        );
        let ok = share >= least && self.broken <= KEPT && most.is_none_or(|m| half <= m);
        match most {
            _ if least <= 0.0 => println!(),
            Some(m) => println!("   {} ({:.1} %, {m} us)", if ok { "ok" } else { "MISS" }, 100.0 * least),
            None => println!("   {} ({:.1} %)", if ok { "ok" } else { "MISS" }, 100.0 * least),
        }
        if least > 0.0 {
            let solved = format!("{:.2} %", 100.0 * share);
            bounds::median(name, half);
            bounds::bound(name, format!("solved {:.1} %", 100.0 * least), solved, share >= least);
            bounds::bound(
                name,
                format!("limits to {KEPT} rad"),
                format!("{:.0e}", self.broken),
                self.broken <= KEPT,
            );
            if let Some(most) = most {
                bounds::bound(name, format!("median {most} us"), format!("{half:.2} us"), half <= most);
            }
        }
        ok
    }
}

/// Each case counts by the middle of its times.
fn time(rounds: usize, start: &Pose, mut solve: impl FnMut(&mut Pose)) -> (Pose, f64) {
    let mut pose = start.clone();
    let mut times: Vec<f64> = (0..rounds)
        .map(|_| {
            pose.copy_from(start);
            let now = Instant::now();
            solve(&mut pose);
            now.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (pose, times[rounds / 2])
}

/// `k` on the hinges: its Jacobian solver on the place alone, started again at random places within limits.
pub struct Peer {
    chain: k::SerialChain<f64>,
    solver: k::JacobianIkSolver<f64>,
}

impl Default for Peer {
    fn default() -> Self {
        let bone = na::Translation3::new(0.0, 0.0, 1.0 / BONES as f64);
        let range = k::joint::Range::new(-60f64.to_radians(), 60f64.to_radians());
        let mut nodes: Vec<k::Node<f64>> = Vec::new();
        for i in 0..=BONES {
            let node = k::NodeBuilder::new().name(&format!("{i}"));
            let node = if i > 0 { node.translation(bone) } else { node };
            let axis = if i % 2 == 0 { na::Vector3::x_axis() } else { na::Vector3::y_axis() };
            let node = if i < BONES {
                node.joint_type(k::JointType::Rotational { axis }).limits(Some(range)).finalize()
            } else {
                node.finalize()
            };
            let node: k::Node<f64> = node.into();
            if let Some(last) = nodes.last() {
                node.set_parent(last);
            }
            nodes.push(node);
        }
        let chain = k::SerialChain::from_end(&nodes[BONES]);
        let tolerance = f64::from(TOLERANCE);
        Self { chain, solver: k::JacobianIkSolver::new(tolerance, 1.0, 1.0, 20) }
    }
}

impl Peer {
    pub fn solve(&self, start: &[f64], goal: Vec3) {
        self.chain.set_joint_positions_clamped(start);
        let only =
            k::Constraints { rotation_x: false, rotation_y: false, rotation_z: false, ..Default::default() };
        let [x, y, z] = goal.to_array().map(f64::from);
        let at = na::Isometry3::translation(x, y, z);
        let mut r = Noise::new(99);
        for _ in 0..200 {
            if self.solver.solve_with_constraints(&self.chain, &at, &only).is_ok() {
                return;
            }
            let own: Vec<f64> =
                (0..BONES).map(|_| f64::from(r.between(-1.0, 1.0)) * 60f64.to_radians()).collect();
            self.chain.set_joint_positions_clamped(&own);
        }
    }
}

/// The angles of a chain of hinges, as `k` takes them.
pub fn angles(pose: &Pose) -> Vec<f64> {
    let angle = |id| {
        let q = pose.local(id).rotation;
        2.0 * f64::from(q.x + q.y).atan2(f64::from(q.w))
    };
    pose.skeleton().joints().take(BONES).map(angle).collect()
}

/// Prints the rows; whether all are within their bounds.
pub fn table(count: usize) -> bool {
    let mut met = true;
    let near = IterativeOptions::new().with_position_tolerance(Tolerance::Share(TOLERANCE * 0.99));
    println!(
        "\n{BONES} joints, goals by forward kinematics of random poses within limits, to {TOLERANCE:e} of the length"
    );
    for (kind, name, most) in [
        (Kind::Cones, "cones of 45 degrees, twist of 30: auto", 20.0),
        (Kind::Hinges, "hinges about X and Y, 60 degrees: auto", 25.0),
    ] {
        let cases = cases(kind, count);
        let ids: Vec<_> = cases[0].start.skeleton().joints().collect();
        let auto = Auto::new(cases[0].start.skeleton(), ids[0], ids[BONES]).expect("a row of joints");
        let mut auto = Solving::new(auto, near.with_max_iterations(1000));
        let mut tally = Tally::default();
        for case in &cases {
            let (pose, micros) = time(5, &case.start, |p| {
                auto.solve(p, &Goal::position(case.goal)).expect("goals are finite");
            });
            tally.add(&pose, case.goal, micros);
        }
        met &= tally.print(name, 0.999, Some(most));
        if kind == Kind::Hinges {
            let (peer, mut tally) = (Peer::default(), Tally::default());
            for case in &cases {
                let angles = angles(&case.start);
                let now = Instant::now();
                peer.solve(&angles, case.goal);
                let micros = now.elapsed().as_secs_f64() * 1e6;
                let mut pose = case.start.clone();
                for (i, (&id, angle)) in ids.iter().zip(peer.chain.joint_positions()).enumerate() {
                    let axis = if i % 2 == 0 { Vec3::X } else { Vec3::Y };
                    pose.set_rotation(id, math::axis_angle(axis, angle as f32));
                }
                tally.add(&pose, case.goal, micros);
            }
            tally.print("the same: k with restarts", 0.0, None);
        }
    }
    let cases = shell(count);
    let ids: Vec<_> = cases[0].start.skeleton().joints().collect();
    let ccd = Ccd::new(cases[0].start.skeleton(), ids[0], ids[BONES]).expect("a row of joints");
    let mut ccd = Solving::new(ccd, near);
    let mut tally = Tally::default();
    for case in &cases {
        let (pose, micros) = time(3, &case.start, |p| {
            ccd.solve(p, &Goal::position(case.goal)).expect("goals are finite");
        });
        tally.add(&pose, case.goal, micros);
    }
    tally.print("free, goals at 10-95 %, start an arc: ccd", 0.0, None);
    met
}
