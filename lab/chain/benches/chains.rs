//! `cargo bench -p chain`: the times of `cargo run -p chain` by criterion, which compares runs. Solvers and peers get the
//! same starts and goals in the same order, and only solves are timed. Shares solved and bounds are left to the program.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use chain::{
    cases::{Case, Start, cases},
    contender::{Contender, Free, Rebirth, Skelly},
    limited,
};
use common::{Solving, chains::Kind};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use sinew::{
    Goal, Pose,
    solve::{Auto, Ccd, IterativeOptions, Tolerance},
};

/// Goals a bench, in turn.
const COUNT: usize = 2000;
/// Tolerance of the free chains, in lengths of the chain.
const TOLERANCE: f32 = 1e-3;

/// The time that `rounds` solves take, setting up left out. Goes on with the cases where the last call stopped.
fn timed(rounds: u64, next: &mut usize, mut solve: impl FnMut(usize) -> Duration) -> Duration {
    (0..rounds)
        .map(|_| {
            *next = (*next + 1) % COUNT;
            solve(*next)
        })
        .sum()
}

fn free(c: &mut Criterion) {
    let mut group = c.benchmark_group("free");
    for bones in [10, 20, 100] {
        let set: Vec<Case> = cases(COUNT, bones, Start::Arc(1.0), 0.1, 0.95, false);
        let mut contenders: Vec<Box<dyn Contender>> =
            vec![Box::new(Free::new(&set[0], TOLERANCE)), Box::new(Rebirth::new(&set[0], TOLERANCE))];
        // It steps without an end on long chains.
        if bones <= 20 {
            contenders.push(Box::new(Skelly::new(&set[0], TOLERANCE)));
        }
        for contender in &mut contenders {
            let mut next = 0;
            group.bench_function(BenchmarkId::new(contender.name(), bones), |b| {
                b.iter_custom(|rounds| {
                    timed(rounds, &mut next, |i| {
                        contender.set(&set[i]);
                        let start = Instant::now();
                        black_box(contender.solve());
                        start.elapsed()
                    })
                });
            });
        }
    }
    group.finish();
}

fn limited(c: &mut Criterion) {
    let mut group = c.benchmark_group("limited");
    for (kind, name) in [(Kind::Cones, "cones"), (Kind::Hinges, "hinges")] {
        let set = limited::cases(kind, COUNT);
        let skeleton = set[0].start.skeleton().clone();
        let ids: Vec<_> = skeleton.joints().collect();
        let auto = Auto::new(&skeleton, ids[0], ids[limited::BONES]).expect("a row of joints");
        let near = IterativeOptions::new().with_position_tolerance(Tolerance::Share(limited::TOLERANCE));
        let mut auto = Solving::new(auto, near.with_max_iterations(1000));
        let mut pose = Pose::rest(&skeleton);
        let mut next = 0;
        group.bench_function(BenchmarkId::new("sinew auto", name), |b| {
            b.iter_custom(|rounds| {
                timed(rounds, &mut next, |i| {
                    pose.copy_from(&set[i].start);
                    let goal = Goal::position(set[i].goal);
                    let start = Instant::now();
                    black_box(auto.solve(&mut pose, &goal)).expect("goals are finite");
                    start.elapsed()
                })
            });
        });
        if kind != Kind::Hinges {
            continue;
        }
        let angles: Vec<Vec<f64>> = set.iter().map(|case| limited::angles(&case.start)).collect();
        let peer = limited::Peer::default();
        group.bench_function(BenchmarkId::new("k", name), |b| {
            b.iter_custom(|rounds| {
                timed(rounds, &mut next, |i| {
                    let start = Instant::now();
                    peer.solve(&angles[i], set[i].goal);
                    start.elapsed()
                })
            });
        });
    }
    group.finish();
}

fn ccd(c: &mut Criterion) {
    let set = cases(COUNT, 10, Start::Arc(1.0), 0.1, 0.95, false);
    let skeleton = set[0].pose.skeleton().clone();
    let root = skeleton.joints().next().expect("a skeleton has a joint");
    let ccd = Ccd::new(&skeleton, root, set[0].tip).expect("a row of joints");
    let near = IterativeOptions::new().with_position_tolerance(Tolerance::Share(TOLERANCE));
    let mut ccd = Solving::new(ccd, near);
    let mut pose = Pose::rest(&skeleton);
    let mut next = 0;
    c.bench_function("free/sinew ccd/10", |b| {
        b.iter_custom(|rounds| {
            timed(rounds, &mut next, |i| {
                pose.copy_from(&set[i].pose);
                let goal = Goal::position(set[i].goal);
                let start = Instant::now();
                black_box(ccd.solve(&mut pose, &goal)).expect("goals are finite");
                start.elapsed()
            })
        });
    });
}

criterion_group!(benches, free, limited, ccd);
criterion_main!(benches);
