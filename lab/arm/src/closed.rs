//! All configurations of an arm that has a closed form, beside `rs-opw-kinematics` (Brandstötter and others 2014).

use std::{f64::consts::PI, time::Instant};

use glam::{DQuat, DVec3};
use rs_opw_kinematics::{
    kinematic_traits::{Kinematics, Pose},
    kinematics_impl::OPWKinematics,
    parameters::opw_kinematics::Parameters,
};
use sinew::{
    Workspace,
    joint::{Dof, Joint},
    mechanism::{JointSpaceOptions, JointSpaceSolver, JointSpec, LinkGoal, LinkTarget, Mechanism},
};

use crate::{
    EXACT,
    chains::Chain,
    judge::Judge,
    random::Random,
    task::{Start, named, tasks},
};

/// The arm of the peer's parameters: base to shoulder, two links, a spherical wrist.
fn arm(p: &Parameters) -> Result<Mechanism, sinew::mechanism::MechanismError> {
    let mut b = Mechanism::builder("opw");
    (0..7).for_each(|i| b.link(format!("l{i}")));
    let at = [
        DVec3::new(0.0, 0.0, p.c1),
        DVec3::new(p.a1, p.b, 0.0),
        DVec3::new(0.0, 0.0, p.c2),
        DVec3::new(p.a2, 0.0, p.c3),
        DVec3::ZERO,
        DVec3::ZERO,
    ];
    let axes = [DVec3::Z, DVec3::Y, DVec3::Y, DVec3::Z, DVec3::Y, DVec3::Z];
    for i in 0..6 {
        let sign = f64::from(p.sign_corrections[i]);
        let motion = Joint::hinge(axes[i] * sign, Dof::range(-PI, PI));
        let spec = JointSpec::new(format!("j{}", i + 1), format!("l{i}"), format!("l{}", i + 1), motion);
        // The peer subtracts the offset of a joint from its angle.
        let rotation = DQuat::from_axis_angle(axes[i], -p.offsets[i]);
        b.joint(JointSpec { translation: at[i], rotation, ..spec });
    }
    b.link("tool");
    let tool = JointSpec::new("tool", "l6", "tool", Joint::FIXED);
    b.joint(JointSpec { translation: DVec3::Z * p.c4, ..tool });
    b.build()
}

fn error(a: &Pose, b: &Pose) -> f64 {
    (a.translation - b.translation).length() + 2.0 * (1.0 - a.rotation.dot(b.rotation).abs()).max(0.0).sqrt()
}

/// Times and counts; false where an answer of ours does not reach its pose.
pub fn compare(count: usize, seed: u64) -> Result<bool, String> {
    let count = count.min(300);
    let parameters = Parameters::irb2400_10();
    let peer = OPWKinematics::new(parameters);
    let arm = arm(&parameters).map_err(|e| e.to_string())?;
    let tool = arm.find_link("tool").ok_or("the arm has a tool")?;
    // Its vectors are of another version of glam.
    let goal = |p: &Pose| {
        let (at, turn) = (p.translation.to_array(), p.rotation.to_array());
        LinkGoal::new(&arm, tool, LinkTarget::Pose(DVec3::from_array(at), DQuat::from_array(turn)))
    };
    let mut random = Random(seed);
    let mut solver: Option<JointSpaceSolver> = None;
    let (mut workspace, options) = (Workspace::new(), JointSpaceOptions::new());
    let (mut theirs, mut ours, mut missed, mut wrong) = (0, 0, 0, 0);
    let (mut their_time, mut our_time, mut one_time) = (0.0, 0.0, 0.0);
    let mut found = Vec::new();
    let turned = |a: f64, b: f64| {
        let d = (a - b).rem_euclid(2.0 * PI);
        d.min(2.0 * PI - d)
    };
    for _ in 0..count {
        let joints: [f64; 6] = std::array::from_fn(|_| random.within(-PI, PI));
        let pose = peer.forward(&joints);
        let goal = goal(&pose);
        let begin = Instant::now();
        let closed = peer.inverse(&pose);
        their_time += begin.elapsed().as_secs_f64() * 1e6;
        if solver.is_none() {
            let new = JointSpaceSolver::new(&arm, &[goal]).map_err(|e| e.to_string())?;
            new.reserve(&mut workspace);
            solver = Some(new);
        }
        let Some(solver) = &solver else { continue };
        let begin = Instant::now();
        solver
            .solve_all(&mut workspace, &[goal], &[0.0; 6], &mut found, &options)
            .map_err(|e| e.to_string())?;
        our_time += begin.elapsed().as_secs_f64() * 1e6;
        let mut values = vec![0.0; 6];
        let begin = Instant::now();
        solver.solve(&mut workspace, &[goal], &mut values, &options).map_err(|e| e.to_string())?;
        one_time += begin.elapsed().as_secs_f64() * 1e6;
        for values in found.iter().chain([&values]) {
            let at: [f64; 6] = std::array::from_fn(|i| values[i]);
            wrong += usize::from(error(&peer.forward(&at), &pose) > 1e-5);
        }
        theirs += closed.len();
        ours += found.len();
        let known = |c: &[f64; 6]| found.iter().any(|f| (0..6).all(|i| turned(f[i], c[i]) < 0.05));
        missed += closed.iter().filter(|c| !known(c)).count();
    }
    let n = count as f64;
    println!(
        "\nall configurations of an ABB IRB 2400 (closed form), {count} poses\n  rs-opw-kinematics: {:.2} a pose in {:.1} us\n  sinew, all: {:.2} a pose in {:.1} us, {missed} of theirs missed; one: {:.1} us; answers that do not reach by their kinematics: {wrong}",
        theirs as f64 / n,
        their_time / n,
        ours as f64 / n,
        our_time / n,
        one_time / n
    );
    Ok(wrong == 0)
}

/// Number of starting points of the reference: a hundred and more a configuration.
const REFERENCE: u32 = 6000;

/// Configurations of real arms with six joints, beside what a search from many more points finds. False where an answer
/// does not reach its pose by the judge's kinematics, or is outside its limits.
pub fn count_configurations(chains: &[Chain], count: usize, seed: u64) -> Result<bool, String> {
    let count = count.min(50);
    println!(
        "\nall configurations of real arms by sampling from 400 points, beside {REFERENCE}; {count} poses"
    );
    let mut wrong = 0;
    for chain in chains.iter().filter(|c| ["ur5", "stanford6"].contains(&c.name)) {
        let robot = urdf_rs::read_file(&chain.file).map_err(|e| e.to_string())?;
        let name = |l| chain.mechanism.link_name(l);
        let judge = Judge::new(&robot, name(chain.root), name(chain.tip));
        let target = LinkTarget::Pose(DVec3::ZERO, DQuat::IDENTITY);
        let goal = LinkGoal::new(&chain.mechanism, chain.tip, target).with_relative_to(chain.root);
        let solver = JointSpaceSolver::new(&chain.mechanism, &[goal]).map_err(|e| e.to_string())?;
        let mut workspace = Workspace::new();
        let usual = JointSpaceOptions::new();
        let reference = usual.with_max_restarts(REFERENCE).with_max_iterations(u32::MAX);
        let mut search = |goal, start: &[f64], found: &mut Vec<Vec<f64>>, options| {
            solver.solve_all(&mut workspace, &[goal], start, found, options).map_err(|e| e.to_string())
        };
        let (mut found, mut all) = (Vec::new(), Vec::new());
        let (mut ours, mut theirs, mut most, mut whole, mut micros) = (0, 0, 0, 0, 0.0);
        for task in tasks(chain, &judge, Start::Any, count, seed) {
            let target = LinkTarget::Pose(DVec3::from_array(task.goal.p), DQuat::from_array(task.goal.q));
            let goal = goal.with_target(target);
            let begin = Instant::now();
            search(goal, &task.start, &mut found, &usual)?;
            micros += begin.elapsed().as_secs_f64() * 1e6;
            search(goal, &task.start, &mut all, &reference)?;
            for values in found.iter().chain(&all) {
                let (metres, radians) = judge.tip(&named(chain, values)).from(&task.goal);
                let fine = metres < EXACT && radians < EXACT && chain.mechanism.is_within(values);
                wrong += usize::from(!fine);
            }
            ours += found.len();
            theirs += all.len();
            most = most.max(all.len());
            whole += usize::from(found.len() == all.len());
        }
        let n = count as f64;
        println!(
            "  {}: {:.2} a pose in {:.0} us; the reference {:.2}, {most} at most; all of them on {whole} of {count}",
            chain.name,
            ours as f64 / n,
            micros / n,
            theirs as f64 / n,
        );
    }
    Ok(wrong == 0)
}
