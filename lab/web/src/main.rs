//! `web FILE` writes solves of the native engine as JSON: skeletons, goals, and a hash of the bits of all answers. The npm
//! package's tests repeat them in WebAssembly and compare the hashes. With `--times` the file also has the native times of the
//! cases that the package's benchmark repeats.

mod cases;
mod files;

use std::{env, fmt::Write, fs, path::Path, process::ExitCode};

use cases::{Answer, Case, Task};
use sinew::joint::{Dof, Joint, Turning};

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
    let write = |file: &Path, lines: &[String]| fs::write(file, format!("[\n{}\n]\n", lines.join(",\n")));
    // Beside it those of `sinew/files`.
    let written = made.and_then(|()| write(file, &lines));
    if let Err(error) = written.and_then(|()| write(&file.with_extension("files.json"), &files::lines(times)))
    {
        eprintln!("{}: {error}", file.display());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// A joint's limits as the package takes them.
fn limits(joint: &Joint) -> String {
    let range = |dof: &Dof| format!("\"min\":{},\"max\":{}", dof.range.min, dof.range.max);
    let described = match &joint.turning {
        Turning::Hinge { axis, dof } => {
            format!("\"hinge\":{{\"axis\":{:?},{}}}", axis.to_array(), range(dof))
        }
        Turning::Ball { twist_axis, swing, twist, .. }
            if *joint == Joint::cone(*twist_axis, swing[0].range.max, twist.range.max) =>
        {
            let (axis, angles) = (twist_axis.to_array(), [swing[0].range.max, twist.range.max]);
            format!("\"cone\":{{\"axis\":{axis:?},\"halfAngle\":{},\"twist\":{}}}", angles[0], angles[1])
        }
        Turning::Ball { twist_axis, swing_axis, swing, twist, .. } => format!(
            "\"ball\":{{\"twistAxis\":{:?},\"swingAxis\":{:?},\"swing\":[{{{}}},{{{}}}],\"twist\":{{{}}}}}",
            twist_axis.to_array(),
            swing_axis.to_array(),
            range(&swing[0]),
            range(&swing[1]),
            range(twist)
        ),
        Turning::Axes { order, angles } => {
            let angles = ["x", "y", "z"]
                .iter()
                .zip(angles)
                .filter_map(|(axis, dof)| dof.as_ref().map(|dof| format!(",\"{axis}\":{{{}}}", range(dof))));
            let order = format!("{order:?}").to_lowercase();
            format!("\"axes\":{{\"order\":\"{order}\"{}}}", angles.collect::<String>())
        }
        _ => return String::new(),
    };
    format!(",\"limits\":{{{described}}}")
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
                let limits = limits(skeleton.joint(joint));
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
    if let Task::Body(ends) = &case.task {
        let ends: Vec<_> = ends.iter().map(|end| end.index()).collect();
        let _ = write!(line, ",\"ends\":{ends:?}");
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
