//! Requests: the goals of one solve, from a line of JSON or from options.

use serde_json::{Map, Value};
use sinew_files::{read_json, shorten};

use crate::args::CurveArgs;

/// Goal for one joint or link. Positions and points are in metres.
#[derive(Clone, Debug, PartialEq)]
pub struct GoalRequest {
    /// Name of the joint (for URDF, of the link); `None` for the chain's tip.
    pub joint: Option<String>,
    pub position: Option<[f64; 3]>,
    /// Unit quaternion (x, y, z, w).
    pub rotation: Option<[f64; 4]>,
    /// Strength of the goal against other goals, 0 to 1; 0 leaves it out.
    pub position_weight: f64,
    pub rotation_weight: f64,
    /// Share of the goal that is applied, 0 to 1.
    pub position_influence: f64,
    pub rotation_influence: f64,
    /// Point that the middle of the chain bends towards.
    pub pole: Option<[f64; 3]>,
    /// Curve that the chain is laid along.
    pub curve: Option<CurveRequest>,
    /// Priority on a whole figure: 0 (first), 1 or 2.
    pub priority: u8,
    /// On a whole figure, the joint in whose space the goal is and with which it moves.
    pub relative_to: Option<String>,
}

/// Motion of a whole figure's root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootRequest {
    Pinned,
    Free,
    Spring,
}

/// Curve to lay a chain along.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CurveRequest {
    /// Points of the curve, in metres.
    pub points: Vec<[f64; 3]>,
    /// Whether the points are control points of cubic Bézier pieces.
    pub bezier: bool,
    pub closed: bool,
    /// Position of the chain's root, in metres along the curve.
    pub offset: f64,
    /// Whether the chain lies against the curve's direction.
    pub reversed: bool,
    /// Whether bones change their lengths so that the tip is at the curve's end.
    pub stretched: bool,
    /// Direction in the root's local space that points up; `None` keeps the joints' roll.
    pub back: Option<[f64; 3]>,
}

impl CurveRequest {
    /// The curve of the options, if they give one.
    pub fn of(args: &CurveArgs) -> Option<Self> {
        Some(Self {
            points: args.curve.clone()?,
            bezier: args.bezier,
            closed: args.closed,
            offset: args.offset.unwrap_or(0.0),
            reversed: args.reversed,
            stretched: args.stretched,
            back: args.back,
        })
    }
}

impl GoalRequest {
    /// A goal for the chain's tip, with weight and influence 1.
    pub fn tip(position: Option<[f64; 3]>, rotation: Option<[f64; 4]>) -> Self {
        Self {
            joint: None,
            position,
            rotation: rotation.map(unit),
            position_weight: 1.0,
            rotation_weight: 1.0,
            position_influence: 1.0,
            rotation_influence: 1.0,
            pole: None,
            curve: None,
            priority: 0,
            relative_to: None,
        }
    }
}

/// Inputs of one solve.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Request {
    /// Start values of joints with one degree of freedom, in radians or metres; other joints are at rest.
    pub start: Vec<(String, f64)>,
    /// Start rotations of other joints, local, as unit quaternions.
    pub start_rotations: Vec<(String, [f64; 4])>,
    /// Start translations, local, in metres.
    pub start_translations: Vec<(String, [f64; 3])>,
    pub goals: Vec<GoalRequest>,
    /// Motion of a whole figure's root; `None` is the solver's default.
    pub root: Option<RootRequest>,
}

impl Request {
    /// Whether the request has a property that only whole figures have.
    pub fn of_whole(&self) -> bool {
        let whole = |g: &GoalRequest| g.priority > 0 || g.relative_to.is_some();
        self.root.is_some_and(|r| r != RootRequest::Pinned) || self.goals.iter().any(whole)
    }
}

/// The quaternion scaled to unit length; zeros stay zeros.
fn unit(q: [f64; 4]) -> [f64; 4] {
    // Scaled by the largest component first, so that no square overflows or underflows.
    let max = q.iter().fold(0.0f64, |m, c| m.max(c.abs()));
    if max == 0.0 {
        return q;
    }
    let q = q.map(|c| c / max);
    let length = q.iter().map(|c| c * c).sum::<f64>().sqrt();
    q.map(|c| c / length)
}

/// Parses a line. `memory_budget` is the maximum of bytes for its values; `None` chooses by the line's length. The id is
/// returned even if the rest of the line is wrong; it is null if there is none.
pub fn parse(line: &str, memory_budget: Option<u64>) -> (Value, Result<Request, String>) {
    let value: Value = match read_json(line.as_bytes(), memory_budget) {
        Ok(value) => value,
        Err(e) => return (Value::Null, Err(e.to_string())),
    };
    let Value::Object(mut map) = value else {
        return (Value::Null, Err("a line must be an object, {...}".into()));
    };
    let id = map.shift_remove("id").unwrap_or(Value::Null);
    (id, request(&mut map))
}

fn request(map: &mut Map<String, Value>) -> Result<Request, String> {
    let mut request = Request::default();
    if let Some(start) = map.shift_remove("start") {
        for (name, value) in object(&start, "start")? {
            request.start.push((name.clone(), number(value, &format!("start.{}", shorten(name)))?));
        }
    }
    if let Some(start) = map.shift_remove("start_rotations") {
        for (name, value) in object(&start, "start_rotations")? {
            request
                .start_rotations
                .push((name.clone(), rotation(value, &format!("start_rotations.{}", shorten(name)))?));
        }
    }
    if let Some(start) = map.shift_remove("start_translations") {
        for (name, value) in object(&start, "start_translations")? {
            let at = numbers(value, &format!("start_translations.{}", shorten(name)))?;
            request.start_translations.push((name.clone(), at));
        }
    }
    if let Some(root) = map.shift_remove("root") {
        request.root = Some(match root.as_str() {
            Some("pinned") => RootRequest::Pinned,
            Some("free") => RootRequest::Free,
            Some("spring") => RootRequest::Spring,
            _ => {
                return Err(format!("root must be \"pinned\", \"free\" or \"spring\", not {}", short(&root)));
            }
        });
    }
    if let Some(goals) = map.shift_remove("goals") {
        let Value::Array(goals) = goals else { return Err("goals must be a list, [...]".into()) };
        if let Some(key) =
            ["position", "rotation", "pole", "curve"].into_iter().find(|k| map.contains_key(*k))
        {
            return Err(format!("{key} must be in one of the goals, not beside them"));
        }
        for (i, goal) in goals.into_iter().enumerate() {
            let at = format!("goals[{i}].");
            let Value::Object(mut goal) = goal else {
                return Err(format!("goals[{i}] must be an object, {{...}}"));
            };
            request.goals.push(one_goal(&mut goal, &at)?);
            no_other_keys(&goal, &at)?;
        }
    } else {
        request.goals.push(one_goal(map, "")?);
    }
    no_other_keys(map, "")?;
    match request.goals.is_empty() {
        true => Err("goals is empty".into()),
        false => Ok(request),
    }
}

/// Takes a goal out of an object.
fn one_goal(map: &mut Map<String, Value>, at: &str) -> Result<GoalRequest, String> {
    let mut take = |key: &str| map.shift_remove(key).map(|value| (format!("{at}{key}"), value));
    let mut text = |key: &str| match take(key) {
        Some((_, Value::String(name))) => Ok(Some(name)),
        Some((path, value)) => Err(format!("{path} must be a string, not {}", short(&value))),
        None => Ok(None),
    };
    let (joint, relative_to) = (text("joint")?, text("relative_to")?);
    let priority = match take("priority") {
        None => 0,
        Some((path, value)) => match value.as_u64() {
            Some(n @ 0..=2) => n as u8,
            _ => return Err(format!("{path} must be 0, 1 or 2, not {}", short(&value))),
        },
    };
    let position = take("position").map(|(p, v)| numbers(&v, &p)).transpose()?;
    let rotation = take("rotation").map(|(p, v)| rotation(&v, &p)).transpose()?;
    let pole = take("pole").map(|(p, v)| numbers(&v, &p)).transpose()?;
    let curve = take("curve").map(|(p, v)| curve(v, &p)).transpose()?;
    let mut share = |key: &str| match take(key) {
        None => Ok(1.0),
        Some((path, value)) => match number(&value, &path)? {
            w if (0.0..=1.0).contains(&w) => Ok(w),
            w => Err(format!("{path} must be from 0 to 1, not {w}")),
        },
    };
    let (position_weight, rotation_weight) = (share("position_weight")?, share("rotation_weight")?);
    let (position_influence, rotation_influence) =
        (share("position_influence")?, share("rotation_influence")?);
    if position.is_none() && rotation.is_none() && curve.is_none() {
        return Err(match at {
            "" => "a position, a rotation, a curve or goals are needed".into(),
            _ => format!("{} needs a position, a rotation or a curve", at.trim_end_matches('.')),
        });
    }
    Ok(GoalRequest {
        joint,
        position,
        rotation,
        position_weight,
        rotation_weight,
        position_influence,
        rotation_influence,
        pole,
        curve,
        priority,
        relative_to,
    })
}

/// Parses a curve: a list of points, or an object with points and options.
fn curve(value: Value, at: &str) -> Result<CurveRequest, String> {
    let points = |value: &Value, at: &str| -> Result<Vec<[f64; 3]>, String> {
        let list = value.as_array().ok_or_else(|| format!("{at} must be a list of points, [[x,y,z],...]"))?;
        list.iter().enumerate().map(|(i, p)| numbers(p, &format!("{at}[{i}]"))).collect()
    };
    let mut map = match value {
        Value::Object(map) => map,
        list => return Ok(CurveRequest { points: points(&list, at)?, ..CurveRequest::default() }),
    };
    let mut take = |key: &str| map.shift_remove(key).map(|value| (format!("{at}.{key}"), value));
    let all = take("points").ok_or_else(|| format!("{at}.points is absent"))?;
    let mut yes = |key: &str| match take(key) {
        None => Ok(false),
        Some((_, Value::Bool(yes))) => Ok(yes),
        Some((path, value)) => Err(format!("{path} must be true or false, not {}", short(&value))),
    };
    let curve = CurveRequest {
        points: points(&all.1, &all.0)?,
        bezier: yes("bezier")?,
        closed: yes("closed")?,
        reversed: yes("reversed")?,
        stretched: yes("stretched")?,
        offset: take("offset").map_or(Ok(0.0), |(p, v)| number(&v, &p))?,
        back: take("back").map(|(p, v)| numbers(&v, &p)).transpose()?,
    };
    no_other_keys(&map, &format!("{at}."))?;
    Ok(curve)
}

/// Returns an error if keys remain, as an unknown key is probably mistyped.
fn no_other_keys(map: &Map<String, Value>, at: &str) -> Result<(), String> {
    match map.keys().next() {
        Some(key) => Err(format!("{at}{} is not a key here", shorten(key))),
        None => Ok(()),
    }
}

fn object<'a>(value: &'a Value, at: &str) -> Result<&'a Map<String, Value>, String> {
    value.as_object().ok_or_else(|| format!("{at} must be an object, {{...}}"))
}

fn number(value: &Value, at: &str) -> Result<f64, String> {
    match value.as_f64() {
        Some(v) if v.is_finite() => Ok(v),
        // The number is out of f64's range.
        _ if value.is_number() => Err(format!("{at} is not finite: {}", short(value))),
        _ => Err(format!("{at} must be a number, not {}", short(value))),
    }
}

fn numbers<const N: usize>(value: &Value, at: &str) -> Result<[f64; N], String> {
    let list = value.as_array().filter(|l| l.len() == N);
    let list = list.ok_or_else(|| format!("{at} must be a list of {N} numbers, not {}", short(value)))?;
    let mut all = [0.0; N];
    for (k, (out, v)) in all.iter_mut().zip(list).enumerate() {
        *out = number(v, &format!("{at}[{k}]"))?;
    }
    Ok(all)
}

/// Parses a quaternion of any length but zero, and normalises it.
fn rotation(value: &Value, at: &str) -> Result<[f64; 4], String> {
    let q = unit(numbers::<4>(value, at)?);
    match q == [0.0; 4] {
        true => Err(format!("{at} is a quaternion of zeros, which is no rotation")),
        false => Ok(q),
    }
}

/// The value as messages quote it: shortened.
fn short(value: &Value) -> String {
    shorten(&value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(line: &str) -> String {
        parse(line, None).1.unwrap_err()
    }

    #[test]
    fn lines_are_read() {
        let (id, r) =
            parse(r#"{"id": "a", "start": {"j": 0.5}, "position": [1,2,3], "rotation": [0,0,0,2]}"#, None);
        let r = r.unwrap();
        assert_eq!((id, r.start), (Value::from("a"), vec![("j".into(), 0.5)]));
        assert_eq!(r.goals, [GoalRequest::tip(Some([1.0, 2.0, 3.0]), Some([0.0, 0.0, 0.0, 1.0]))]);
        let (_, r) = parse(
            r#"{"curve": {"points": [[0,0,0],[1,0,2]], "closed": true, "offset": -0.5, "back": [0,1,0]}}"#,
            None,
        );
        let curve = r.unwrap().goals[0].curve.clone().unwrap();
        assert_eq!((curve.points.len(), curve.closed, curve.bezier), (2, true, false));
        assert_eq!((curve.offset, curve.back), (-0.5, Some([0.0, 1.0, 0.0])));
        let (_, r) = parse(r#"{"curve": [[0,0,0],[1,0,2]]}"#, None);
        assert_eq!(r.unwrap().goals[0].curve.as_ref().unwrap().points[1], [1.0, 0.0, 2.0]);
        let (id, r) = parse(
            r#"{"goals": [{"joint": "hand", "position": [1,2,3], "position_weight": 0.5, "position_influence": 0.25,
                "rotation_influence": 0, "pole": [0,1,0]}]}"#,
            None,
        );
        let r = r.unwrap();
        assert_eq!((id, r.goals.len()), (Value::Null, 1));
        assert_eq!((r.goals[0].position_influence, r.goals[0].rotation_influence), (0.25, 0.0));
        assert_eq!((r.goals[0].joint.as_deref(), r.goals[0].position_weight), (Some("hand"), 0.5));
        assert_eq!(r.goals[0].pole, Some([0.0, 1.0, 0.0]));
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(error("{").starts_with("not JSON: "));
        assert_eq!(error("[1]"), "a line must be an object, {...}");
        assert_eq!(error(r#"{"id": 1}"#), "a position, a rotation, a curve or goals are needed");
        assert_eq!(error(r#"{"position": [1,2]}"#), "position must be a list of 3 numbers, not [1,2]");
        assert_eq!(error(r#"{"position": [1,2,1e999]}"#), "position[2] is not finite: 1e+999");
        assert_eq!(error(r#"{"position": [1,2,"x"]}"#), "position[2] must be a number, not \"x\"");
        assert_eq!(
            error(r#"{"rotation": [0,0,0,0]}"#),
            "rotation is a quaternion of zeros, which is no rotation"
        );
        assert_eq!(error(r#"{"psition": [1,2,3], "rotation": [0,0,0,1]}"#), "psition is not a key here");
        assert_eq!(error(r#"{"goals": []}"#), "goals is empty");
        assert_eq!(
            error(r#"{"goals": [{"joint": "a"}]}"#),
            "goals[0] needs a position, a rotation or a curve"
        );
        assert_eq!(
            error(r#"{"goals": [{"position": [1,2,3], "position_weight": 2}]}"#),
            "goals[0].position_weight must be from 0 to 1, not 2"
        );
        assert_eq!(
            error(r#"{"position": [1,2,3], "rotation_influence": -0.1}"#),
            "rotation_influence must be from 0 to 1, not -0.1"
        );
        assert_eq!(
            error(r#"{"start": {"j": true}, "position": [1,2,3]}"#),
            "start.j must be a number, not true"
        );
        assert_eq!(
            error(r#"{"root": 1, "position": [1,2,3]}"#),
            "root must be \"pinned\", \"free\" or \"spring\", not 1"
        );
        assert_eq!(
            error(r#"{"goals": [{"position": [1,2,3], "priority": 3}]}"#),
            "goals[0].priority must be 0, 1 or 2, not 3"
        );
        // The id is returned nevertheless.
        assert_eq!(parse(r#"{"id": 9, "goals": 1}"#, None).0, Value::from(9));
    }
}
