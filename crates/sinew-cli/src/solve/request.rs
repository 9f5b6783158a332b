//! What is asked for, as a line of JSON or as options.

use serde_json::{Map, Value};
use sinew_files::{read_json, shorten};

use crate::args::CurveArgs;

/// One thing that a joint or link is asked to do.
#[derive(Clone, Debug, PartialEq)]
pub struct GoalRequest {
    /// Which joint (for URDF, which link); none for the chain's tip.
    pub joint: Option<String>,
    pub position: Option<[f64; 3]>,
    /// A unit quaternion.
    pub rotation: Option<[f64; 4]>,
    /// How strongly it competes with other goals, 0 to 1; 0 leaves it out.
    pub position_weight: f64,
    pub rotation_weight: f64,
    /// How much of it is applied, 0 to 1.
    pub position_influence: f64,
    pub rotation_influence: f64,
    /// A point that the middle joint turns towards.
    pub pole: Option<[f64; 3]>,
    /// What the chain is laid along.
    pub curve: Option<CurveRequest>,
    /// On a whole figure: 0 goes first, to 2.
    pub priority: u8,
    /// On a whole figure: the joint that the goal moves with.
    pub relative_to: Option<String>,
}

/// What the root of a whole figure does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootRequest {
    Pinned,
    Free,
    Spring,
}

/// A curve for a chain to lie along.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CurveRequest {
    pub points: Vec<[f64; 3]>,
    pub bezier: bool,
    pub closed: bool,
    /// Metres along it.
    pub offset: f64,
    pub reversed: bool,
    pub stretched: bool,
    /// What of the root's own space shows upwards; none keeps the joints' roll.
    pub back: Option<[f64; 3]>,
}

impl CurveRequest {
    /// What the options ask for, if they give a curve.
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
    /// For the chain's tip, with full weight and influence.
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

/// All that one solve needs.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Request {
    /// Values of joints of one degree of freedom; those not named are at rest.
    pub start: Vec<(String, f64)>,
    /// Local rotations of other joints (unit quaternions).
    pub start_rotations: Vec<(String, [f64; 4])>,
    /// Local translations of joints, for those that are not where they hang.
    pub start_translations: Vec<(String, [f64; 3])>,
    pub goals: Vec<GoalRequest>,
    /// What the root of a whole figure does, if that is said.
    pub root: Option<RootRequest>,
}

impl Request {
    /// Whether a goal says what only whole figures have.
    pub fn of_whole(&self) -> bool {
        let whole = |g: &GoalRequest| g.priority > 0 || g.relative_to.is_some();
        self.root.is_some_and(|r| r != RootRequest::Pinned) || self.goals.iter().any(whole)
    }
}

/// A quaternion scaled to unit length; zeros stay zeros.
fn unit(q: [f64; 4]) -> [f64; 4] {
    // Scaled first, so that no square is out of range.
    let largest = q.iter().fold(0.0f64, |m, c| m.max(c.abs()));
    if largest == 0.0 {
        return q;
    }
    let q = q.map(|c| c / largest);
    let length = q.iter().map(|c| c * c).sum::<f64>().sqrt();
    q.map(|c| c / length)
}

/// Reads a line, whose values may take so many bytes (none for what suits its length). The id is given back whatever else
/// is wrong with it; null where there is none.
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
            return Err(format!("{key} stands beside goals: it belongs in one of them"));
        }
        for (i, goal) in goals.into_iter().enumerate() {
            let at = format!("goals[{i}].");
            let Value::Object(mut goal) = goal else {
                return Err(format!("goals[{i}] must be an object, {{...}}"));
            };
            request.goals.push(one_goal(&mut goal, &at)?);
            nothing_else(&goal, &at)?;
        }
    } else {
        request.goals.push(one_goal(map, "")?);
    }
    nothing_else(map, "")?;
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
        Some((path, _)) => Err(format!("{path} must be a text")),
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
            "" => "there is neither a position nor a rotation nor goals".into(),
            _ => format!("{}: there is neither a position nor a rotation", at.trim_end_matches('.')),
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

/// A list of points, or an object with all that is said of the curve.
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
    let all = take("points").ok_or_else(|| format!("{at} has no points"))?;
    let mut yes = |key: &str| match take(key) {
        None => Ok(false),
        Some((_, Value::Bool(yes))) => Ok(yes),
        Some((path, _)) => Err(format!("{path} must be true or false")),
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
    nothing_else(&map, &format!("{at}."))?;
    Ok(curve)
}

/// A word that is not known is mostly one that was mistyped.
fn nothing_else(map: &Map<String, Value>, at: &str) -> Result<(), String> {
    match map.keys().next() {
        Some(key) => Err(format!("{at}{} is not known here", shorten(key))),
        None => Ok(()),
    }
}

fn object<'a>(value: &'a Value, at: &str) -> Result<&'a Map<String, Value>, String> {
    value.as_object().ok_or_else(|| format!("{at} must be an object, {{...}}"))
}

fn number(value: &Value, at: &str) -> Result<f64, String> {
    match value.as_f64() {
        Some(v) if v.is_finite() => Ok(v),
        // A number that no f64 holds.
        _ if value.is_number() => Err(format!("{at} is not finite: {}", short(value))),
        _ => Err(format!("{at} must be a number, not {}", short(value))),
    }
}

fn numbers<const N: usize>(value: &Value, at: &str) -> Result<[f64; N], String> {
    let list = value.as_array().filter(|l| l.len() == N);
    let list = list.ok_or_else(|| format!("{at} must be a list of {N} numbers"))?;
    let mut all = [0.0; N];
    for (k, (out, v)) in all.iter_mut().zip(list).enumerate() {
        *out = number(v, &format!("{at}[{k}]"))?;
    }
    Ok(all)
}

/// A quaternion of any length but zero.
fn rotation(value: &Value, at: &str) -> Result<[f64; 4], String> {
    let q = unit(numbers::<4>(value, at)?);
    match q == [0.0; 4] {
        true => Err(format!("{at} is a quaternion of zeros, which is no rotation")),
        false => Ok(q),
    }
}

/// A value as it may be quoted in one line.
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
        assert_eq!(error(r#"{"id": 1}"#), "there is neither a position nor a rotation nor goals");
        assert_eq!(error(r#"{"position": [1,2]}"#), "position must be a list of 3 numbers");
        assert_eq!(error(r#"{"position": [1,2,1e999]}"#), "position[2] is not finite: 1e+999");
        assert_eq!(error(r#"{"position": [1,2,"x"]}"#), "position[2] must be a number, not \"x\"");
        assert_eq!(
            error(r#"{"rotation": [0,0,0,0]}"#),
            "rotation is a quaternion of zeros, which is no rotation"
        );
        assert_eq!(error(r#"{"psition": [1,2,3], "rotation": [0,0,0,1]}"#), "psition is not known here");
        assert_eq!(error(r#"{"goals": []}"#), "goals is empty");
        assert_eq!(
            error(r#"{"goals": [{"joint": "a"}]}"#),
            "goals[0]: there is neither a position nor a rotation"
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
        // The id comes back all the same.
        assert_eq!(parse(r#"{"id": 9, "goals": 1}"#, None).0, Value::from(9));
    }
}
