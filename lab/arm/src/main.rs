//! Joint space beside `k` and `rs-opw-kinematics`: share of poses solved, times, and distances from the start.
//!
//!     cargo run --release -p arm -- [--count N] [--seed N] [--only WORD] [--no-peer] [--plot FILE.png]
//!
//! Goals come from forward kinematics of values that are uniform within limits. Exit code 1 if a bound is missed.

mod chains;
mod closed;
mod contenders;
mod judge;
#[path = "../../../crates/sinew/tests/limit_judge/mod.rs"]
mod limits;
mod picture;
mod plot;
mod random;
mod skeletons;
mod task;

use std::{path::PathBuf, process::ExitCode, time::Instant};

use chains::{Chain, Class};
use contenders::{Answer, Contender, Ours, Peer};
use judge::Judge;
use task::{Start, Task, named, tasks};

/// Tolerance of the judge, in metres and radians.
const EXACT: f64 = 1e-5;
/// Each pose is solved so often, and the middle time counts: this machine has other work.
const ROUNDS: usize = 3;

struct Options {
    count: usize,
    seed: u64,
    only: Option<String>,
    peer: bool,
    plot: PathBuf,
}

/// Bounds on microseconds: mean and 99th of 100.
fn bounds(class: Class, start: Start) -> (f64, f64) {
    match (start, class) {
        (Start::Any, Class::Turning) => (70.0, 500.0),
        (Start::Any, Class::Sliding) => (150.0, 1000.0),
        (Start::Any, Class::Snake) => (600.0, 5000.0),
        (Start::Near, Class::Snake) => (30.0, 150.0),
        (Start::Near, _) => (8.0, 40.0),
    }
}

/// Statistics of one contender on one set of tasks.
pub struct Run {
    solved: usize,
    /// Values outside their limits.
    outside: usize,
    /// Answers further from the start than 1.5 times the known solution.
    strayed: usize,
    /// Claims of success that the judge does not share.
    lies: usize,
    /// Microseconds of each task; infinite where it was not solved.
    micros: Vec<f64>,
    /// Of every task.
    mean: f64,
    p99: f64,
    iterations: f64,
    restarts: u32,
}

fn measure(
    chain: &Chain,
    judge: &Judge,
    tasks: &[Task],
    mut solve: impl FnMut(usize, &Task) -> (Answer, f64),
    rounds: usize,
) -> Run {
    let dofs = chain.mechanism.dofs();
    let mut run = Run {
        solved: 0,
        outside: 0,
        strayed: 0,
        lies: 0,
        micros: Vec::new(),
        mean: 0.0,
        p99: 0.0,
        iterations: 0.0,
        restarts: 0,
    };
    let mut every = Vec::new();
    for (i, task) in tasks.iter().enumerate() {
        let mut times = Vec::new();
        let mut first: Option<Answer> = None;
        for _ in 0..rounds {
            let (answer, micros) = solve(i, task);
            times.push(micros);
            if let Some(first) = &first {
                let same = first.values.iter().zip(&answer.values).all(|(a, b)| a.to_bits() == b.to_bits());
                assert!(same, "{}: another answer on a second run", chain.name);
            }
            first = Some(answer);
        }
        times.sort_by(f64::total_cmp);
        let micros = times[times.len() / 2];
        let answer = first.expect("there is a round");
        let (metres, radians) = judge.tip(&named(chain, &answer.values)).from(&task.goal);
        let ok = metres <= EXACT && radians <= EXACT;
        run.solved += usize::from(ok);
        run.lies += usize::from(answer.claims && !ok);
        let out = |&&d: &&usize| !dofs[d].dof.range.contains(answer.values[d]);
        run.outside += chain.dofs.iter().filter(out).count();
        let away = |values: &[f64]| {
            chain.dofs.iter().map(|&d| (values[d] - task.start[d]).powi(2)).sum::<f64>().sqrt()
        };
        run.strayed += usize::from(away(&answer.values) > 1.5 * away(&task.solution));
        run.iterations += f64::from(answer.iterations) / tasks.len() as f64;
        run.restarts = run.restarts.max(answer.restarts);
        run.micros.push(if ok { micros } else { f64::INFINITY });
        every.push(micros);
    }
    every.sort_by(f64::total_cmp);
    run.mean = every.iter().sum::<f64>() / every.len() as f64;
    run.p99 = every[(every.len() * 99 / 100).min(every.len() - 1)];
    run.micros.sort_by(f64::total_cmp);
    run
}

fn options() -> Result<Options, String> {
    let mut o = Options { count: 1000, seed: 7, only: None, peer: true, plot: "arm.png".into() };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "--count" => o.count = value()?.parse().map_err(|e| format!("--count: {e}"))?,
            "--seed" => o.seed = value()?.parse().map_err(|e| format!("--seed: {e}"))?,
            "--only" => o.only = Some(value()?),
            "--no-peer" => o.peer = false,
            "--plot" => o.plot = value()?.into(),
            _ => return Err(format!("{arg} is no option: --count, --seed, --only, --no-peer, --plot")),
        }
    }
    if o.count == 0 { Err("--count must be at least 1".into()) } else { Ok(o) }
}

/// A row of the table; whether it holds every bound.
fn row(chain: &Chain, start: Start, run: &Run, count: usize, k: Option<&Run>) -> bool {
    let (mean, p99) = bounds(chain.class, start);
    let near = start == Start::Near;
    let stray_most = if near { count / 1000 } else { count };
    let fine = run.solved == count
        && run.outside == 0
        && run.lies == 0
        && run.mean <= mean
        && run.p99 <= p99
        && run.strayed <= stray_most;
    let start = if near { "near" } else { "any" };
    let strayed = if near { format!("{:>5}", run.strayed) } else { "    -".into() };
    print!(
        "{:<16} {start:<4} {:>5} {:>7} {:>7.2} {mean:>5} {:>8.2} {p99:>5} {:>6.2} {:>4} {strayed} {:<6}",
        chain.name,
        run.solved,
        run.outside,
        run.mean,
        run.p99,
        run.iterations,
        run.restarts,
        if fine { "" } else { "MISSED" },
    );
    match k {
        Some(k) => {
            println!(" | {:>5} {:>9.1} {:>10.1} {:>7.1} x", k.solved, k.mean, k.p99, k.mean / run.mean)
        }
        None => println!(),
    }
    let name = format!("{}, {start} start", chain.name);
    bounds::median(&name, run.mean);
    bounds::bound(&name, format!("solved {count}"), run.solved, run.solved == count);
    bounds::bound(&name, "none outside, no lies", run.outside + run.lies, run.outside + run.lies == 0);
    bounds::bound(&name, format!("mean {mean} us"), format!("{:.2} us", run.mean), run.mean <= mean);
    bounds::bound(&name, format!("p99 {p99} us"), format!("{:.2} us", run.p99), run.p99 <= p99);
    if near {
        bounds::bound(&name, format!("{stray_most} strayed"), run.strayed, run.strayed <= stray_most);
    }
    fine
}

fn run() -> Result<bool, String> {
    let o = options()?;
    if !chains::folder().is_dir() {
        println!(
            "left out, as the real arms are absent: no folder {} (SINEW_DATA)",
            chains::folder().display()
        );
        return others(&o);
    }
    let mut fine = true;
    let mut curves = Vec::new();
    println!(
        "{} poses a chain and start; times in microseconds, one thread, the middle of {ROUNDS} rounds; `bound` after each",
        o.count
    );
    println!(
        "{:<16} {:<4} {:>5} {:>7} {:>7} {:>5} {:>8} {:>5} {:>6} {:>4} {:>5} {:<6} | {:>5} {:>9} {:>10} {:>9}",
        "chain",
        "from",
        "done",
        "outside",
        "mean",
        "bound",
        "p99",
        "bound",
        "steps",
        "most",
        "stray",
        "",
        "k",
        "mean",
        "p99",
        "k/sinew"
    );
    let chains = chains::chains().map_err(|e| e.to_string())?;
    for chain in &chains {
        if o.only.as_ref().is_some_and(|w| !chain.name.contains(w.as_str())) {
            continue;
        }
        let robot = urdf_rs::read_file(&chain.file).map_err(|e| e.to_string())?;
        let name = |l| chain.mechanism.link_name(l);
        let judge = Judge::new(&robot, name(chain.root), name(chain.tip));
        for start in [Start::Any, Start::Near] {
            let tasks = tasks(chain, &judge, start, o.count, o.seed);
            let mut ours = Ours::new(chain).map_err(|e| e.to_string())?;
            let solve = |_: usize, task: &Task| {
                let begin = Instant::now();
                let answer = ours.solve(task);
                (answer, begin.elapsed().as_secs_f64() * 1e6)
            };
            let run = measure(chain, &judge, &tasks, solve, ROUNDS);
            let peer = o.peer.then(|| Peer::new(chain)).flatten();
            let peer = peer.map(|mut peer| {
                let goals: Vec<_> = tasks.iter().map(|t| peer.goal(t)).collect();
                let solve = |i: usize, task: &Task| {
                    let begin = Instant::now();
                    let answer = peer.solve(task, &goals[i]);
                    (answer, begin.elapsed().as_secs_f64() * 1e6)
                };
                measure(chain, &judge, &tasks, solve, ROUNDS)
            });
            fine &= row(chain, start, &run, o.count, peer.as_ref());
            if start == Start::Any {
                curves.push(plot::Curves {
                    name: chain.name,
                    ours: run.micros,
                    peer: peer.map(|p| p.micros),
                });
            }
        }
    }
    if !curves.is_empty() {
        picture::save::save(&plot::draw(&curves, o.count), &o.plot).map_err(|e| e.to_string())?;
        println!("success against time: {}", o.plot.display());
    }
    if o.only.is_none() {
        fine &= closed::count_configurations(&chains, o.count, o.seed)?;
    }
    Ok(others(&o)? && fine)
}

/// Comparisons that need no files.
fn others(o: &Options) -> Result<bool, String> {
    let fine = skeletons::compare(o.count, o.seed, o.only.as_deref())?;
    Ok(closed::compare(o.count, o.seed)? && fine)
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("arm: {e}");
            ExitCode::FAILURE
        }
    }
}
