//! Contact times of the feet given by `--contacts`: from a file, or from curves of animated nodes.

use serde_json::{Map, Value};
use sinew::{
    JointId,
    body::Side,
    ground::plant::{ContactCurveError, Contacts, ContactsError, Interval, given::from_curve},
    motion::{Clip, Interpolation, Track},
};
use sinew_files::{Model, Source, read_file, read_json, tidy};

use crate::{args::ContactSource, failure::Failure, lookup};

/// Contacts of the left and right leg; those of a leg with `None` are detected in the clip.
pub type Given = [Option<Contacts>; 2];

const FEET: [&str; 2] = ["left", "right"];

/// Straight pieces per cubic segment: the error of a contact's time is then far smaller than the spacing of the keys.
const PARTS: usize = 16;

/// Reads the contacts for a clip of a model.
pub fn read(
    source: &ContactSource,
    model: &Model,
    clip: &Clip,
    memory_budget: Option<u64>,
) -> Result<Given, Failure> {
    match source {
        ContactSource::File(path) => {
            let bytes = read_file(path)?;
            let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
            parse(text, span(clip), memory_budget)
                .map_err(|e| Failure::Work(format!("{}: {}", path.display(), tidy(&e))))
        }
        ContactSource::Nodes(nodes) => {
            let mut given = [None, None];
            for (given, (leg, node)) in given.iter_mut().zip(nodes.iter().enumerate()) {
                if let Some(node) = node {
                    *given = Some(
                        of_node(model, clip, node)
                            .map_err(|e| Failure::Work(format!("--contacts {}=: {e}", Side::BOTH[leg])))?,
                    );
                }
            }
            Ok(given)
        }
    }
}

/// Contacts for a clip from the curves of joints.
pub fn of_joints(model: &Model, clip: &Clip, joints: [Option<JointId>; 2]) -> Result<Given, String> {
    let [left, right] = joints.map(|joint| {
        let joint = joint?;
        let node = lookup::quoted(&lookup::label(&model.skeleton, joint));
        Some(of_joint(clip, joint, &node))
    });
    Ok([left.transpose()?, right.transpose()?])
}

/// The failure for contacts that planting refuses, with their source.
pub fn refused(source: &ContactSource, error: &ContactsError) -> Failure {
    let path = match source {
        ContactSource::File(path) => path.display().to_string(),
        ContactSource::Nodes(_) => "--contacts".into(),
    };
    Failure::Work(match error {
        ContactsError::Interval { leg, point, index, fault } => {
            format!("{path}: {}.{point}[{index}]: {fault}", Side::BOTH[*leg])
        }
        other => format!("{path}: {other}"),
    })
}

fn span(clip: &Clip) -> Interval {
    Interval { from: clip.start(), to: clip.end() }
}

/// The same contact times for heel and ball.
fn whole_foot(list: Vec<Interval>) -> Contacts {
    Contacts { heel: list.clone(), ball: list }
}

fn curve(keys: &[[f32; 2]], span: Interval, path: &str) -> Result<Contacts, String> {
    let list = from_curve(keys, span).map_err(|e| match e {
        ContactCurveError::Unordered { key, time, before } => {
            format!("{path}[{key}]: {time} s is before {before} s, the time of the key before it")
        }
        other => format!("{path}: {other}"),
    })?;
    Ok(whole_foot(list))
}

/// Parses `{"left": {"heel": [[from, to], ...], "ball": [...]}, "right": {"curve": [[time, value], ...]}}`, in seconds.
fn parse(text: &[u8], span: Interval, memory_budget: Option<u64>) -> Result<Given, String> {
    let value = read_json(text, memory_budget).map_err(|e| e.to_string())?;
    let map = object(&value, "the file", &FEET)?;
    if map.is_empty() {
        return Err("the file gives no contacts; `left` or `right` is needed".into());
    }
    let mut given = [None, None];
    for (given, foot) in given.iter_mut().zip(FEET) {
        if let Some(value) = map.get(foot) {
            *given = Some(contacts(value, foot, span)?);
        }
    }
    Ok(given)
}

fn contacts(value: &Value, foot: &str, span: Interval) -> Result<Contacts, String> {
    let map = object(value, foot, &["heel", "ball", "curve"])?;
    match (map.get("heel"), map.get("ball"), map.get("curve")) {
        (None, None, Some(keys)) => {
            let path = format!("{foot}.curve");
            curve(&pairs(keys, &path, "[time, value]")?, span, &path)
        }
        (Some(heel), Some(ball), None) => {
            let list = |value, point| -> Result<Vec<Interval>, String> {
                let pairs = pairs(value, &format!("{foot}.{point}"), "[from, to]")?;
                Ok(pairs.into_iter().map(|[from, to]| Interval { from, to }).collect())
            };
            Ok(Contacts { heel: list(heel, "heel")?, ball: list(ball, "ball")? })
        }
        (_, _, Some(_)) => Err(format!("{foot}: a `curve` is for the whole foot, without `heel` and `ball`")),
        (None, None, None) => Err(format!("{foot}: `heel` and `ball`, or `curve`, are needed")),
        (heel, ..) => {
            let absent = if heel.is_none() { "heel" } else { "ball" };
            Err(format!("{foot}: `{absent}` is needed too; [] if it never stands"))
        }
    }
}

/// The value as an object; an error if it has other keys than these.
fn object<'a>(value: &'a Value, path: &str, keys: &[&str]) -> Result<&'a Map<String, Value>, String> {
    let Value::Object(map) = value else {
        return Err(format!("{path} must be an object, not {}", short(value)));
    };
    if let Some(key) = map.keys().find(|key| !keys.contains(&key.as_str())) {
        let near = lookup::suggestion(key, keys.iter().copied(), "key");
        return Err(format!("{path}: {} is not a key; {near}", lookup::quoted(key)));
    }
    Ok(map)
}

/// The value as a list of pairs of finite numbers.
fn pairs(value: &Value, path: &str, wanted: &str) -> Result<Vec<[f32; 2]>, String> {
    let Value::Array(list) = value else {
        return Err(format!("{path} must be a list of {wanted}, not {}", short(value)));
    };
    let pair = |(i, value): (usize, &Value)| {
        let Some([a, b]) = value.as_array().map(Vec::as_slice) else {
            return Err(format!("{path}[{i}] must be {wanted}, not {}", short(value)));
        };
        let number = |k: usize, v: &Value| {
            let number = v.as_f64().map(|n| n as f32).filter(|n| n.is_finite());
            number.ok_or_else(|| format!("{path}[{i}][{k}] must be a finite number, not {}", short(v)))
        };
        Ok([number(0, a)?, number(1, b)?])
    };
    list.iter().enumerate().map(pair).collect()
}

/// The value as text, cut after 40 characters.
fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

fn of_node(model: &Model, clip: &Clip, wanted: &str) -> Result<Contacts, String> {
    if matches!(model.source, Source::Bvh(_)) {
        return Err("only nodes of a .glb, .gltf or .vrm carry contacts; a .bvh needs a .json file".into());
    }
    let joint = lookup::joint(&model.skeleton, wanted).map_err(|e| e.to_string())?;
    of_joint(clip, joint, &lookup::quoted(wanted))
}

/// Contacts from the curve of a joint's translation: y, or x if y is constant, or z if both are.
fn of_joint(clip: &Clip, joint: JointId, node: &str) -> Result<Contacts, String> {
    let track = clip.tracks().iter().find(|t| t.joint == joint).and_then(|t| t.translation.as_ref());
    let clip_name = lookup::quoted(clip.name());
    let Some(track) = track else { return Err(format!("{clip_name} does not move {node}")) };
    let keys = keys(track);
    let changes = |axis: usize| keys.iter().any(|(_, v)| v[axis] != keys[0].1[axis]);
    let Some(axis) = [1, 0, 2].into_iter().find(|&axis| changes(axis)) else {
        return Err(format!("the translation of {node} is constant in {clip_name}: it carries no curve"));
    };
    let keys: Vec<[f32; 2]> = keys.iter().map(|(time, v)| [*time, v[axis]]).collect();
    curve(&keys, span(clip), node)
}

/// The track as keys (time in seconds, value) that straight lines connect.
fn keys(track: &Track<glam::Vec3>) -> Vec<(f32, [f32; 3])> {
    let mut keys = Vec::new();
    let times = track.times();
    for (i, &time) in times.iter().enumerate() {
        let at = |t: f32| (t, track.sample(t).to_array());
        if let Some(&before) = i.checked_sub(1).and_then(|i| times.get(i)) {
            match track.interpolation() {
                // A step keeps the value of the key before up to the jump.
                Interpolation::Step => keys.push((time, track.sample(before).to_array())),
                Interpolation::Linear => {}
                Interpolation::Cubic => {
                    let part = |k: usize| before + (time - before) * (k as f32 / PARTS as f32);
                    keys.extend((1..PARTS).map(|k| at(part(k))));
                }
            }
        }
        keys.push(at(time));
    }
    keys
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;

    const SPAN: Interval = Interval { from: 0.0, to: 2.0 };

    /// Contacts of heel and ball, as [from, to] in seconds.
    type Plain = [Vec<[f32; 2]>; 2];

    fn parsed(text: &str) -> Result<[Option<Plain>; 2], String> {
        let plain = |list: Vec<Interval>| list.iter().map(|i| [i.from, i.to]).collect();
        parse(text.as_bytes(), SPAN, None).map(|feet| feet.map(|c| c.map(|c| [plain(c.heel), plain(c.ball)])))
    }

    #[test]
    fn files_give_intervals_and_curves() {
        let left = Some([vec![[0.0, 0.5], [1.0, 1.5]], vec![]]);
        assert_eq!(
            parsed(r#"{"left": {"heel": [[0, 0.5], [1, 1.5]], "ball": []}}"#),
            Ok([left.clone(), None])
        );
        let curve = r#"{"right": {"curve": [[0, 0], [0.5, 1], [1, 1], [1.5, 0]]}}"#;
        let list = vec![[0.25, 1.25]];
        assert_eq!(parsed(curve), Ok([None, Some([list.clone(), list])]));
    }

    #[test]
    fn bad_files_say_where_and_what() {
        for (text, words) in [
            ("", "not JSON: EOF"),
            ("[]", "the file must be an object, not []"),
            ("{}", "`left` or `right` is needed"),
            (r#"{"lfet": {}}"#, "the file: `lfet` is not a key; did you mean `left`?"),
            (r#"{"left": 3}"#, "left must be an object, not 3"),
            (r#"{"left": {}}"#, "left: `heel` and `ball`, or `curve`, are needed"),
            (r#"{"left": {"heels": []}}"#, "left: `heels` is not a key; did you mean `heel`?"),
            (r#"{"left": {"heel": []}}"#, "left: `ball` is needed too"),
            (r#"{"left": {"ball": []}}"#, "left: `heel` is needed too"),
            (r#"{"left": {"heel": [], "curve": []}}"#, "left: a `curve` is for the whole foot"),
            (r#"{"right": {"heel": [], "ball": {}}}"#, "right.ball must be a list of [from, to], not {}"),
            (r#"{"right": {"heel": [[0, 1], 2], "ball": []}}"#, "right.heel[1] must be [from, to], not 2"),
            (
                r#"{"right": {"heel": [[0, 1, 2]], "ball": []}}"#,
                "right.heel[0] must be [from, to], not [0,1,2]",
            ),
            (
                r#"{"left": {"heel": [[0, "1"]], "ball": []}}"#,
                "left.heel[0][1] must be a finite number, not \"1\"",
            ),
            (
                r#"{"left": {"heel": [[1e39, 1]], "ball": []}}"#,
                "left.heel[0][0] must be a finite number, not 1e+39",
            ),
            (r#"{"left": {"curve": []}}"#, "left.curve: the curve has no keys"),
            (
                r#"{"left": {"curve": [[0, 1], [1, null]]}}"#,
                "left.curve[1][1] must be a finite number, not null",
            ),
            (r#"{"left": {"curve": [[0, 1], [1, 0], [0.5, 0]]}}"#, "left.curve[2]: 0.5 s is before 1 s"),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
        let long = format!(r#"{{"left": "{}"}}"#, "ä".repeat(1000));
        assert!(parsed(&long).unwrap_err().len() < 150);
    }

    #[test]
    fn tracks_become_straight_lines() {
        let track =
            |values: Vec<Vec3>, interpolation| Track::new(vec![0.0, 1.0], values, interpolation).unwrap();
        let up = vec![Vec3::ZERO, Vec3::Y];
        let times = |interpolation, values| -> Vec<f32> {
            let keys: Vec<_> = keys(&track(values, interpolation)).iter().map(|(t, v)| [*t, v[1]]).collect();
            from_curve(&keys, SPAN).unwrap().iter().map(|c| c.from).collect()
        };
        assert_eq!(times(Interpolation::Linear, up.clone()), [0.5]);
        assert_eq!(times(Interpolation::Step, up), [1.0]);
        // y = t^2, with tangents 0 and 2, is 1/2 at sqrt(1/2). A chord over 1/16 deviates by at most (1/16)^2 / 4.
        let cubic = vec![Vec3::ZERO, Vec3::ZERO, Vec3::ZERO, 2.0 * Vec3::Y, Vec3::Y, Vec3::ZERO];
        let [at] = times(Interpolation::Cubic, cubic)[..] else { panic!() };
        assert!((at - 0.5f32.sqrt()).abs() < 1e-3, "{at}");
    }
}
