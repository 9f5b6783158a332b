//! `web FILE` writes solves of the native engine as JSON: skeletons, goals, and a hash of the bits of all answers. The npm
//! package's tests repeat them in WebAssembly and compare the hashes. With `--times` the file also has the native times of the
//! cases that the package's benchmark repeats.

mod cases;

use std::{env, fmt::Write, fs, path::Path, process::ExitCode};

use cases::{Answer, Case, Task};
use sinew::joint::Turning;

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let (file, times) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [file] => (file, false),
        [file, "--times"] => (file, true),
        _ => {
            eprintln!("expected FILE [--times]");
            return ExitCode::FAILURE;
        }
    };
    let lines: Vec<_> = cases::all()
        .iter()
        .map(|case| {
            let answer = case.answer();
            let nanos = (times && case.timed).then(|| case.nanos());
            json(case, &answer, nanos)
        })
        .collect();
    let file = Path::new(file);
    let made = file.parent().map_or(Ok(()), fs::create_dir_all);
    if let Err(error) = made.and_then(|()| fs::write(file, format!("[\n{}\n]\n", lines.join(",\n")))) {
        eprintln!("{}: {error}", file.display());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Numbers of f32 come back with the same bits.
fn numbers(values: impl IntoIterator<Item = f32>) -> String {
    let shown: Vec<_> = values.into_iter().map(|value| f64::from(value).to_string()).collect();
    format!("[{}]", shown.join(","))
}

fn json(case: &Case, answer: &Answer, nanos: Option<f64>) -> String {
    let mut line = format!("{{\"name\":\"{}\",\"task\":\"{}\"", case.name, case.task.name());
    if let Some(skeleton) = &case.skeleton {
        let joints: Vec<_> = skeleton
            .joints()
            .map(|joint| {
                let parent = skeleton.parent(joint).map_or(-1, |parent| parent.index() as i32);
                let position = numbers(skeleton.rest(joint).translation.to_array());
                let limits = match &skeleton.joint(joint).turning {
                    Turning::Hinge { axis, dof } => format!(
                        ",\"limits\":{{\"hinge\":{{\"axis\":{:?},\"min\":{},\"max\":{}}}}}",
                        axis.to_array(),
                        dof.range.min,
                        dof.range.max
                    ),
                    Turning::Ball { twist_axis, swing, twist, .. } => format!(
                        ",\"limits\":{{\"cone\":{{\"axis\":{:?},\"halfAngle\":{},\"twist\":{}}}}}",
                        twist_axis.to_array(),
                        swing[0].range.max,
                        twist.range.max
                    ),
                    _ => String::new(),
                };
                let name = skeleton.name(joint);
                format!("{{\"name\":\"{name}\",\"parent\":{parent},\"position\":{position}{limits}}}")
            })
            .collect();
        let _ = write!(line, ",\"joints\":[{}]", joints.join(","));
    }
    let _ = write!(line, ",\"goals\":{}", numbers(case.goals.iter().flat_map(|goal| goal.to_array())));
    if let Task::Limb { pole: Some(pole), .. } = case.task {
        let _ = write!(line, ",\"poleDirection\":{}", numbers(pole.to_array()));
    }
    let _ = write!(line, ",\"hash\":{},\"reached\":{}", answer.hash, answer.reached);
    if let Some(nanos) = nanos {
        let _ = write!(line, ",\"nanos\":{nanos:.1}");
    }
    line.push('}');
    line
}

/// FNV-1a over words instead of bytes.
struct Hash(u32);

impl Hash {
    fn new() -> Self {
        Self(0x811C_9DC5)
    }

    fn add(&mut self, values: &[f32]) {
        for value in values {
            self.0 = (self.0 ^ value.to_bits()).wrapping_mul(0x0100_0193);
        }
    }
}
