//! `sinew solve --solver ccd|fabrik --max-iterations N` against the textbook methods, written here in f64: an arm of hinges
//! with parallel axes and no ranges, with start and goal in their plane.

mod common;

use std::f64::consts::PI;

use common::{done, number, parse, write};

const LENGTHS: [f64; 4] = [0.4, 0.3, 0.2, 0.1];

type Point = [f64; 2];

fn minus(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1]]
}

fn length(a: Point) -> f64 {
    a[0].hypot(a[1])
}

/// Points of the arm, which lies along X at rest; the last is its tip.
fn points(angles: &[f64]) -> Vec<Point> {
    let (mut at, mut angle) = ([0.0; 2], 0.0);
    let mut points = vec![at];
    for (turn, length) in angles.iter().zip(LENGTHS) {
        angle += turn;
        at = [at[0] + length * f64::cos(angle), at[1] + length * f64::sin(angle)];
        points.push(at);
    }
    points
}

/// Cyclic coordinate descent (Wang & Chen 1991).
fn ccd(angles: &mut [f64], goal: Point) {
    for i in (0..angles.len()).rev() {
        let p = points(angles);
        let (e, g) = (minus(p[LENGTHS.len()], p[i]), minus(goal, p[i]));
        angles[i] += (e[0] * g[1] - e[1] * g[0]).atan2(e[0] * g[0] + e[1] * g[1]);
    }
}

/// Forward and backward reaching (Aristidou & Lasenby 2011).
fn fabrik(p: &mut [Point], goal: Point) {
    let towards = |from: Point, to: Point, far: f64| {
        let way = minus(to, from);
        [from[0] + way[0] * far / length(way), from[1] + way[1] * far / length(way)]
    };
    let (root, last) = (p[0], LENGTHS.len());
    if length(minus(goal, root)) > LENGTHS.iter().sum() {
        for i in 0..last {
            p[i + 1] = towards(p[i], goal, LENGTHS[i]);
        }
        return;
    }
    p[last] = goal;
    for i in (0..last).rev() {
        p[i] = towards(p[i + 1], p[i], LENGTHS[i]);
    }
    p[0] = root;
    for i in 0..last {
        p[i + 1] = towards(p[i], p[i + 1], LENGTHS[i]);
    }
}

fn arm() -> String {
    let link = |n: usize| format!("<link name=\"l{n}\"/>");
    let joint = |n: usize| {
        let x = if n == 0 { 0.0 } else { LENGTHS[n - 1] };
        let kind = if n == LENGTHS.len() { "fixed" } else { "continuous" };
        format!(
            "<joint name=\"j{n}\" type=\"{kind}\"><parent link=\"l{n}\"/><child link=\"l{}\"/><origin xyz=\"{x} 0 0\"/>\
             <axis xyz=\"0 0 1\"/></joint>",
            n + 1
        )
    };
    let count = LENGTHS.len();
    let text: String = (0..count + 2).map(link).chain((0..=count).map(joint)).collect();
    write("textbook", "arm.urdf", &format!("<robot name=\"arm\">{text}</robot>"))
}

#[test]
fn sweeps_are_those_that_are_taught() {
    let arm = arm();
    let start = [0.3, -0.5, 0.7, 0.4];
    let begin: Vec<String> = start.iter().enumerate().map(|(n, angle)| format!("j{n}={angle}")).collect();
    for goal in [[0.3, 0.5], [-0.6, 0.2], [0.1, -0.3], [0.9, 0.9]] {
        let to = format!("{},{},0", goal[0], goal[1]);
        let (mut angles, mut reaching) = (start, points(&start));
        for sweeps in 1..=20u32 {
            ccd(&mut angles, goal);
            fabrik(&mut reaching, goal);
            for (solver, wanted) in [("ccd", points(&angles)), ("fabrik", reaching.clone())] {
                let most = sweeps.to_string();
                let answer = parse(&done(&[
                    "solve",
                    &arm,
                    "--solver",
                    solver,
                    "--to",
                    &to,
                    "--start",
                    &begin.join(","),
                    "--max-iterations",
                    &most,
                    "--position-tolerance",
                    "1e-7",
                    "--json",
                ]));
                let got: Vec<f64> =
                    (0..LENGTHS.len()).map(|n| number(&answer["joints"][format!("j{n}").as_str()])).collect();
                assert!(
                    got.iter().all(|a| a.abs() < 4.0 * PI)
                        && number(&answer["iterations"]) <= f64::from(sweeps)
                );
                for (a, b) in points(&got).iter().zip(&wanted) {
                    let off = length(minus(*a, *b));
                    assert!(off < 1e-5, "{solver}, {sweeps} sweeps to {to}: {off:e} in {answer}");
                }
            }
        }
    }
}
