//! Rig files: TOML in, a checked [`Rig`] out. Needs the feature `rig`.
//!
//! ```
//! use sinew_files::{rig, sample};
//! let model = sample::mannequin()?;
//! let text = r#"
//! rig = 1
//! [[handle]]
//! name = "left leg"
//! solver = "two-bone"
//! from = "preferred"
//! chain = ["thigh.L", "foot.L"]
//! fade = 0.2
//! "#;
//! let rig = rig::read(text, "walk.toml".as_ref(), &model.bind_pose(), None)?;
//! assert_eq!(rig.names().collect::<Vec<_>>(), ["left leg"]);
//!
//! let error = rig::read(&text.replace("solver", "solvr"), "walk.toml".as_ref(), &model.bind_pose(), None).err().unwrap();
//! assert_eq!(error.to_string(), "walk.toml:5: a handle has no setting `solvr`; did you mean `solver`?");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The format
//!
//! `rig = 1` is the version. `height` is the figure's in metres, for goals in the space of a role
//! ([`RigSpec::height`](sinew::rig::RigSpec::height)). Each `[[handle]]` is a [`HandleSpec`], in the order of solving. Lengths are in metres, angles in
//! radians, times in seconds. Joints are named as in the rest of the project: by name, by path (`hips/thigh.L`) or by `#index`.
//!
//! | setting | value | default |
//! |---|---|---|
//! | `name` | text, unique | needed |
//! | `chain` | `[root, tip]`; `[joint]` for `aim` | needed |
//! | `solver` | `auto`, `two-bone`, `follow`, `ccd`, `fabrik`, `fold`, `dls`, `spline`, `look-at`, `full-body`, `aim`, `joint-space`, `foot`, `twist`, `place` | `auto` |
//! | `from` | `pose`, `preferred`, `last` | `pose` |
//! | `goal` | `{ node = joint, rotation = false, space = "model" }` | given by the program, in model space |
//! | `pole` | `{ node = joint, space = "model" }` | given by the program in the goal's space, or none |
//! | `influence`, `position_influence`, `rotation_influence` | 0 to 1; the first sets both others | 1 |
//! | `on` | `true`, `false` | `true` |
//! | `fade` | seconds | 0 |
//! | `color` | `"#rrggbb"` | that of goals |
//! | `axis` | `[x, y, z]`, in the tip's local space | the figure's front |
//! | `effectors` | list of `{ joint, goal, pole, weight, position_weight, rotation_weight, priority }` | needed by `full-body` and `spline` |
//! | `root` | of a full body: `pinned`, `free`, `spring`, or the strength of the spring | `pinned` |
//! | `foot` | `{ toes, heel, ball, tip, break_angle }`; heel and ball in the ankle's local space, tip in that of the toes | a person's proportions |
//! | `soft`, `max_turn`, `max_iterations`, `max_restarts`, `position_tolerance`, `rotation_tolerance` | see [`IterativeOptions`](sinew::solve::IterativeOptions) | its defaults |
//!
//! A `space` is `"model"`, `"world"`, `{ joint = joint }`, or a role of a figure whose roles are known: `"hips"`, `"head"`,
//! `"left hand"`, `"spine 1"` and so on ([`Role::from_name`](sinew::body::Role::from_name)).
//!
//! `[humanoid]` makes the handles of a two-legged figure by its roles ([`HumanoidSpec`]), before all others. Alone it changes
//! nothing. Its settings are `limbs` (`two-bone` or `full-body`), `from` (as above; without it arms start from preferred values, and
//! legs and full bodies from the pose), and for planting
//! ([`Rig::figure`](sinew::rig::Rig::figure), [`FootPlanting`]):
//!
//! | setting | value | default |
//! |---|---|---|
//! | `feet` | `{ height, toe_out, slope }`: metres above the ground, radians outwards, and whether soles turn with the slope; each a value or `[left, right]` | `{ height = 0, toe_out = 0, slope = true }` |
//! | `contacts` | `{ left = joint, right = joint }`, or one of them: joints that the clip moves by a contact curve, as `sinew plant --contacts` reads it | detected |
//!
//! `[goal."name"]` sets the goal of a handle, or of a humanoid: `body`, `look`, `left hand`, `right hand`, `left foot`,
//! `right foot`, and as poles `left elbow`, `right elbow`, `left knee`, `right knee`. It has the settings of `goal` and
//!
//! | setting | value |
//! |---|---|
//! | `position` | `[x, y, z]` in its space; in that of a role in metres of a figure of 1.8 m |
//! | `rotation` | `[x, y, z, w]`; with a node also `true` |
//! | `swivel`, `roll`, `bank`, `pivot` | radians; the last three of feet |
//! | `influence`, `position_influence`, `rotation_influence` | 0 to 1 |
//!
//! Poles have `node`, `space` and `position` alone.
//!
//! `[creature]` is for `sinew walk` and a [`Walker`](sinew::ground::walk::Walker); [`creature`](creature()) reads it. All its settings are
//! optional:
//!
//! | setting | value | default |
//! |---|---|---|
//! | `legs` | list of `"root..tip"`: the first and the last joint of each leg | found by shape |
//! | `gait` | `wave`, `ripple`, `tripod`, `tetrapod`, `walk`, `trot` | by the number of legs and the speed |
//! | `ride` | height of the trunk, times that at rest, from 0.2 to 2 | 1 |
//!
//! ```
//! use sinew::body::BodyRoles;
//! use sinew_files::{rig, sample};
//! let model = sample::mannequin()?;
//! let bind = model.bind_pose();
//! let body = BodyRoles::find(&bind, &model.declared_roles)?;
//! let text = r#"
//! rig = 1
//! [humanoid]
//! [goal."right hand"]
//! space = "head"
//! position = [-0.15, -0.1, 0.35]
//! "#;
//! let rig = rig::read(text, "salute.toml".as_ref(), &bind, Some(&body))?;
//! assert!(rig.find_goal("left foot", None).is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod creature;

pub use creature::{CreatureSpec, creature};

use std::path::Path;

use sinew::{
    JointId, Pole, Pose, Skeleton,
    body::{BodyRoles, LegJoints, Role, Side},
    glam::{Quat, Vec3},
    ground::plant::Sole,
    rig::{
        EffectorSpec, FootPlanting, FootSpec, GoalSpec, HandleFault, HandleSolver, HandleSpec, HumanoidSpec,
        Limbs, Rig, RigError, RigSpec, Space, StartFrom,
    },
    solve::{RootMode, Tolerance},
};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::{FileError, shorten};

/// Largest size of a rig file in bytes, and largest number of its handles: far more than anyone writes, and little work.
const MAX_SIZE: usize = 1 << 20;
const MAX_HANDLES: usize = 1000;

/// Largest number of names that a message suggests, and that it lists where none is near.
const MAX_NEAR: usize = 4;
const MAX_LISTED: usize = 24;

type Value<'i> = Spanned<DeValue<'i>>;

/// Settings of a handle.
const HANDLE: [&str; 22] = [
    "name",
    "chain",
    "solver",
    "from",
    "goal",
    "pole",
    "influence",
    "position_influence",
    "rotation_influence",
    "on",
    "fade",
    "color",
    "axis",
    "effectors",
    "root",
    "foot",
    "soft",
    "max_turn",
    "max_iterations",
    "max_restarts",
    "position_tolerance",
    "rotation_tolerance",
];

/// Reads a rig file for the figure with this bind pose, and builds its rig. `path` is for errors; `body` are the figure's
/// roles, where they are known.
///
/// # Errors
///
/// [`FileError::Line`]: the line, what was given, what is allowed, and near matches for names.
pub fn read(text: &str, path: &Path, bind: &Pose, body: Option<&BodyRoles>) -> Result<Rig, FileError> {
    let read = Reader { text, path, skeleton: bind.skeleton() };
    let (spec, lines) = read.rig(body, || match BodyRoles::find(bind, &[]) {
        Ok(_) => "none were given".into(),
        Err(error) => error.to_string(),
    })?;
    Rig::new(bind, body, &spec).map_err(|error| match error {
        RigError::Handle { handle, index, fault } => {
            let lines = &lines[index];
            // Of the goals that set something in the handle, the fault is that of the last one without which it can be made.
            let can_be_made = |before: &HandleSpec| {
                let mut spec = spec.clone();
                spec.handles[index] = before.clone();
                !matches!(Rig::new(bind, body, &spec), Err(RigError::Handle { index: at, .. }) if at == index)
            };
            let goal = lines.goals.iter().rev().find(|(_, before)| can_be_made(before)).map(|(at, _)| *at);
            let setting = setting_of(&fault);
            let own = || lines.settings.iter().find(|(key, _)| *key == setting).map(|(_, at)| *at);
            let at = goal.or_else(own).unwrap_or(lines.handle);
            read.line(at, format!("handle `{}`: {fault}", shorten(&handle)))
        }
        other => read.line(0, other.to_string()),
    })
}

/// Reads a rig file as plain data, as [`read`] does; [`Rig::new`] checks what depends on joints and solvers.
///
/// # Errors
///
/// As [`read`].
pub fn parse(
    text: &str,
    path: &Path,
    skeleton: &Skeleton,
    body: Option<&BodyRoles>,
) -> Result<RigSpec, FileError> {
    Ok(Reader { text, path, skeleton }.rig(body, || "none were given".into())?.0)
}

/// The setting that a fault is about.
fn setting_of(fault: &HandleFault) -> &'static str {
    match fault {
        HandleFault::NoName | HandleFault::SameName => "name",
        HandleFault::Chain(_) => "chain",
        HandleFault::NeedsLast { .. } | HandleFault::Start { .. } => "from",
        HandleFault::Cycle { .. }
        | HandleFault::Flat { .. }
        | HandleFault::NoRole(_)
        | HandleFault::NoSuchJoint { .. }
        | HandleFault::Goal(_)
        | HandleFault::Unused { .. } => "goal",
        HandleFault::FullBody(_) | HandleFault::Curve(_) => "effectors",
        HandleFault::NotBelow { .. } => "foot",
        HandleFault::OutOfRange { what, .. } => match *what {
            "the position influence" => "position_influence",
            "the rotation influence" => "rotation_influence",
            "the break angle" => "foot",
            _ => "fade",
        },
        HandleFault::Setting { rule, .. } => {
            let of = |key: &&&str| rule.split([' ', ',']).any(|word| word == **key);
            ["pole", "axis", "effectors", "sole", "chain", "root"].iter().find(of).map_or("solver", |key| {
                match *key {
                    "sole" => "foot",
                    key => key,
                }
            })
        }
        _ => "solver",
    }
}

/// Offsets of a handle and of its settings in the text.
struct Lines {
    handle: usize,
    settings: Vec<(String, usize)>,
    /// Offsets of the `[goal."name"]` that set something in the handle, in order, and the handle before each.
    goals: Vec<(usize, HandleSpec)>,
}

struct Reader<'a> {
    text: &'a str,
    path: &'a Path,
    skeleton: &'a Skeleton,
}

/// A table and what it is in messages.
struct Table<'t, 'i> {
    what: &'static str,
    entries: &'t DeTable<'i>,
    at: usize,
}

impl<'t, 'i> Table<'t, 'i> {
    fn get(&self, key: &str) -> Option<&'t Value<'i>> {
        self.entries.iter().find(|(k, _)| k.get_ref() == key).map(|(_, v)| v)
    }
}

impl Reader<'_> {
    /// An error at an offset in the text.
    fn line(&self, at: usize, what: impl Into<String>) -> FileError {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = 1 + before.iter().filter(|&&b| b == b'\n').count();
        FileError::Line { path: self.path.into(), line, what: what.into() }
    }

    /// Offset of the first line that brings an error without a span, such as a key of too many parts.
    fn first_without_span(&self) -> usize {
        let ends: Vec<usize> = self.text.match_indices('\n').map(|(at, _)| at + 1).collect();
        let fails = |end: usize| DeTable::parse(&self.text[..end]).is_err_and(|e| e.span().is_none());
        let line = ends.partition_point(|&end| !fails(end));
        line.checked_sub(1).map_or(0, |before| ends[before])
    }

    fn at(&self, value: &Value, what: impl Into<String>) -> FileError {
        self.line(value.span().start, what)
    }

    /// `why` tells the reason for which roles are unknown.
    fn rig(
        &self,
        body: Option<&BodyRoles>,
        why: impl FnOnce() -> String,
    ) -> Result<(RigSpec, Vec<Lines>), FileError> {
        if self.text.len() > MAX_SIZE {
            let what = format!("a rig file has at most {MAX_SIZE} bytes, not {}", self.text.len());
            return Err(self.line(0, what));
        }
        let document = DeTable::parse(self.text).map_err(|e| {
            let at = e.span().map_or_else(|| self.first_without_span(), |s| s.start);
            self.line(at, e.message().replace('\n', "; "))
        })?;
        let all = Table { what: "a rig file", entries: document.get_ref(), at: 0 };
        self.only(&all, &["rig", "height", "humanoid", "goal", "handle", "creature"])?;
        if let Some(value) = all.get("creature") {
            self.creature(value)?;
        }
        match all.get("rig") {
            None => return Err(self.line(0, "it must begin with its version, `rig = 1`")),
            Some(version) if !matches!(version.get_ref(), DeValue::Integer(i) if i.as_str() == "1") => {
                return Err(
                    self.at(version, format!("the version must be `rig = 1`, not {}", shown(version)))
                );
            }
            Some(_) => {}
        }
        let (mut spec, mut lines) = (RigSpec::default(), Vec::new());
        if let Some(value) = all.get("height") {
            spec.height = match self.number(value, "`height`")? {
                height if height > 0.0 => Some(height),
                other => return Err(self.at(value, format!("`height` must be above 0 m, not {other}"))),
            };
        }
        if let Some(value) = all.get("humanoid") {
            spec.handles = self.humanoid(value, body, why)?.handles;
            let handle = value.span().start;
            let line = || Lines { handle, settings: Vec::new(), goals: Vec::new() };
            lines.resize_with(spec.handles.len(), line);
        }
        let handles = match all.get("handle") {
            Some(handles) => self.list(handles, "`handle`", "`[[handle]]` tables")?,
            None => &[],
        };
        if let Some(first) = handles.get(MAX_HANDLES) {
            return Err(self.at(first, format!("a rig has at most {MAX_HANDLES} handles")));
        }
        for handle in handles {
            let table = self.table(handle, "a handle")?;
            let settings = table.entries.iter().map(|(k, _)| (k.get_ref().to_string(), k.span().start));
            lines.push(Lines { handle: table.at, settings: settings.collect(), goals: Vec::new() });
            spec.handles.push(self.handle(&table)?);
        }
        if let (Some(value), Some(body)) = (all.get("humanoid"), body) {
            spec.feet = self.feet(&self.table(value, "a humanoid")?, body)?;
        }
        if let Some(value) = all.get("goal") {
            let goals = self.table(value, "`goal`")?;
            for (name, value) in goals.entries {
                let at = name.span().start;
                let (index, before) = self.named_goal(&mut spec, name.get_ref(), at, value)?;
                lines[index].goals.push((at, before));
            }
        }
        Ok((spec, lines))
    }

    fn humanoid(
        &self,
        value: &Value,
        body: Option<&BodyRoles>,
        why: impl FnOnce() -> String,
    ) -> Result<RigSpec, FileError> {
        let table = self.table(value, "a humanoid")?;
        self.only(&table, &["limbs", "from", "feet", "contacts"])?;
        let mut humanoid = HumanoidSpec::new();
        if let Some(value) = table.get("limbs") {
            humanoid.limbs = self.choice(value, "way to solve limbs", Limbs::ALL, Limbs::name)?;
        }
        if let Some(value) = table.get("from") {
            humanoid.from = Some(self.choice(value, "start", StartFrom::ALL, StartFrom::name)?);
        }
        let body = body.ok_or_else(|| {
            let needs = "a humanoid needs a figure whose hips and legs are known by their roles";
            self.at(value, format!("{needs}: {}", why()))
        })?;
        Ok(humanoid.rig(body))
    }

    /// Reads the settings of planting of a humanoid.
    fn feet(&self, humanoid: &Table, body: &BodyRoles) -> Result<[FootPlanting; 2], FileError> {
        let mut feet = [FootPlanting::default(); 2];
        if let Some(value) = humanoid.get("feet") {
            let table = self.table(value, "`feet`")?;
            self.only(&table, &["height", "toe_out", "slope"])?;
            for (side, foot) in Side::BOTH.into_iter().zip(&mut feet) {
                if let Some(value) = table.get("height") {
                    let (value, length) = (self.of_side(value, side)?, self.leg_length(body.leg(side)));
                    foot.height = self.number(value, "`height`")?;
                    if foot.height.abs() > length {
                        let what =
                            format!("`height` must be within the leg's {length:.3} m, not {}", foot.height);
                        return Err(self.at(value, what));
                    }
                }
                if let Some(value) = table.get("toe_out") {
                    let half = std::f32::consts::PI;
                    foot.toe_out = self.within(self.of_side(value, side)?, "toe_out", -half, half)?;
                }
                if let Some(value) = table.get("slope") {
                    foot.follows_slope = self.boolean(self.of_side(value, side)?, "`slope`")?;
                }
            }
        }
        if let Some(value) = humanoid.get("contacts") {
            let table = self.table(value, "`contacts`")?;
            self.only(&table, &["left", "right"])?;
            for (side, foot) in Side::BOTH.into_iter().zip(&mut feet) {
                foot.contact = table.get(&side.to_string()).map(|joint| self.joint(joint)).transpose()?;
            }
            if table.entries.is_empty() {
                return Err(self.at(value, "`contacts` needs `left` or `right`, the joint that carries them"));
            }
        }
        Ok(feet)
    }

    /// The value of a side: that of both, or its own of `[left, right]`.
    fn of_side<'t, 'i>(&self, value: &'t Value<'i>, side: Side) -> Result<&'t Value<'i>, FileError> {
        match value.get_ref() {
            DeValue::Array(list) if list.len() == 2 => Ok(&list[side.index()]),
            DeValue::Array(list) => {
                Err(self
                    .at(value, format!("it must be one value or `[left, right]`, not {} values", list.len())))
            }
            _ => Ok(value),
        }
    }

    /// Length of a leg from hip to ankle in the rest pose.
    fn leg_length(&self, leg: &LegJoints) -> f32 {
        let place = |joint: JointId| {
            let above = |at: Vec3, j: JointId| self.skeleton.rest(j).to_affine().transform_point3(at);
            std::iter::once(joint).chain(self.skeleton.ancestors(joint)).fold(Vec3::ZERO, above)
        };
        let [thigh, shin, foot] = [leg.thigh, leg.shin, leg.foot].map(place);
        thigh.distance(shin) + shin.distance(foot)
    }

    /// Reads a goal by its name. Returns the index of its handle, and the handle before.
    fn named_goal(
        &self,
        spec: &mut RigSpec,
        name: &str,
        at: usize,
        value: &Value,
    ) -> Result<(usize, HandleSpec), FileError> {
        let (source, index, is_pole) = match HumanoidSpec::goal(spec, name) {
            Some((index, source, is_pole)) => (*source, index, is_pole),
            None => {
                let Some(index) = spec.handles.iter().position(|h| h.name == name) else {
                    let known = HumanoidSpec::GOALS.into_iter();
                    let known: Vec<_> =
                        known.filter(|goal| HumanoidSpec::goal(spec, goal).is_some()).collect();
                    let names = spec.handles.iter().map(|h| h.name.as_str());
                    let near = suggestion(name, names.chain(known));
                    return Err(self.line(at, format!("there is no goal `{}`; {near}", shorten(name))));
                };
                (spec.handles[index].goal, index, false)
            }
        };
        let mut node = None;
        let read = if is_pole {
            let table = self.table(value, "the goal of a pole")?;
            self.only(&table, &["node", "space", "position"])?;
            let mut goal = source;
            goal.pole_space = Some(match table.get("space") {
                Some(value) => self.space(value)?,
                None => Space::Model,
            });
            if let Some(value) = table.get("position") {
                goal.value.goal.pole = Pole::Point(self.vector(value, "the position")?);
            }
            node = table.get("node").map(|j| self.joint(j)).transpose()?;
            if node.is_some() && !spec.handles[index].effectors.is_empty() {
                return Err(self.at(value, "a pole of a full body follows no node; give it a position"));
            }
            goal
        } else {
            let read = self.goal(value)?;
            let mut goal = GoalSpec { pole_space: source.pole_space, ..read };
            goal.value.goal.pole = source.value.goal.pole;
            goal
        };
        let handle = &mut spec.handles[index];
        let before = handle.clone();
        handle.pole = node.or(handle.pole);
        match HumanoidSpec::goal(spec, name) {
            Some((_, source, _)) => *source = read,
            None => spec.handles[index].goal = read,
        }
        Ok((index, before))
    }

    fn handle(&self, table: &Table) -> Result<HandleSpec, FileError> {
        if let Some(weight) = table.get("weight") {
            return Err(self.at(weight, "a weight counts among goals that compete: set it in `effectors`"));
        }
        self.only(table, &HANDLE)?;
        let needed =
            |key| table.get(key).ok_or_else(|| self.line(table.at, format!("a handle needs `{key}`")));
        let name = self.string(needed("name")?, "the name")?;
        let chain = needed("chain")?;
        let ends = self.list(chain, "the chain", "`[root, tip]`")?;
        let (root, tip) = match ends {
            [one] => (one, one),
            [root, tip] => (root, tip),
            _ => {
                return Err(
                    self.at(chain, format!("the chain must be `[root, tip]`, not {} joints", ends.len()))
                );
            }
        };
        let (root, tip) = (self.joint(root)?, self.joint(tip)?);
        if !self.skeleton.is_below(tip, root) && self.skeleton.is_below(root, tip) {
            let name = |j| shorten(self.skeleton.name(j));
            let (root, tip) = (name(root), name(tip));
            let what = format!(
                "the chain goes the wrong way: `{root}` hangs below `{tip}`; write [\"{tip}\", \"{root}\"]"
            );
            return Err(self.at(chain, what));
        }
        let mut spec = HandleSpec::new(name, root, tip);
        if let Some(value) = table.get("solver") {
            spec.solver = self.choice(value, "solver", HandleSolver::ALL, HandleSolver::name)?;
        }
        if let Some(value) = table.get("from") {
            spec.from = self.choice(value, "start", StartFrom::ALL, StartFrom::name)?;
        }
        if let Some(value) = table.get("goal") {
            spec.goal = self.goal(value)?;
        }
        if let Some(value) = table.get("pole") {
            let pole = self.table(value, "a pole")?;
            self.only(&pole, &["node", "space"])?;
            spec.pole = pole.get("node").map(|j| self.joint(j)).transpose()?;
            spec.goal.pole_space = pole.get("space").map(|s| self.space(s)).transpose()?;
        }
        if let Some(value) = table.get("influence") {
            spec.position_influence = self.within(value, "influence", 0.0, 1.0)?;
            spec.rotation_influence = spec.position_influence;
        }
        let number = |key, max, to: &mut f32| -> Result<(), FileError> {
            if let Some(value) = table.get(key) {
                *to = self.within(value, key, 0.0, max)?;
            }
            Ok(())
        };
        number("position_influence", 1.0, &mut spec.position_influence)?;
        number("rotation_influence", 1.0, &mut spec.rotation_influence)?;
        number("fade", f32::MAX, &mut spec.fade)?;
        number("soft", 1.0, &mut spec.options.soft)?;
        number("max_turn", f32::MAX, &mut spec.options.max_turn)?;
        number("rotation_tolerance", f32::MAX, &mut spec.options.rotation_tolerance)?;
        if let Some(value) = table.get("position_tolerance") {
            spec.options.position_tolerance =
                Tolerance::Metres(self.within(value, "position_tolerance", 0.0, f32::MAX)?);
        }
        spec.options.max_iterations = self.count(table, "max_iterations")?;
        spec.options.max_restarts = self.count(table, "max_restarts")?;
        if let Some(value) = table.get("on") {
            spec.on = self.boolean(value, "`on`")?;
        }
        if let Some(value) = table.get("color") {
            spec.color = Some(self.color(value)?);
        }
        if let Some(value) = table.get("axis") {
            spec.axis = Some(self.vector(value, "the axis")?);
        }
        if let Some(value) = table.get("effectors") {
            let all = self.list(value, "`effectors`", "a list of `{ joint = ... }`")?;
            spec.effectors = all.iter().map(|e| self.effector(e)).collect::<Result<_, _>>()?;
        }
        if let Some(value) = table.get("root") {
            spec.root_mode = match value.get_ref() {
                DeValue::String(_) => {
                    let all = ["pinned", "free", "spring"];
                    match self.choice(value, "mode of the root", &all, |name| name)? {
                        "pinned" => RootMode::Pinned,
                        "free" => RootMode::Free,
                        _ => RootMode::Spring(1.0),
                    }
                }
                _ => RootMode::Spring(self.within(value, "root", 0.0, 1e6)?),
            };
        }
        if let Some(value) = table.get("foot") {
            spec.foot = self.foot(value)?;
        }
        Ok(spec)
    }

    fn goal(&self, value: &Value) -> Result<GoalSpec, FileError> {
        let table = self.table(value, "a goal")?;
        const GOAL: [&str; 11] = [
            "node",
            "rotation",
            "space",
            "position",
            "swivel",
            "roll",
            "bank",
            "pivot",
            "influence",
            "position_influence",
            "rotation_influence",
        ];
        self.only(&table, &GOAL)?;
        let node = table.get("node").map(|j| self.joint(j)).transpose()?;
        let mut goal = GoalSpec { node, ..GoalSpec::default() };
        let own = &mut goal.value;
        match table.get("rotation") {
            Some(value) if matches!(value.get_ref(), DeValue::Array(_)) => {
                own.goal.rotation = Some(self.rotation(value)?);
            }
            Some(value) => goal.follows_rotation = self.boolean(value, "`rotation` of a node")?,
            None => {}
        }
        if let Some(value) = table.get("space") {
            goal.space = self.space(value)?;
        }
        if let Some(value) = table.get("position") {
            own.goal.position = Some(self.vector(value, "the position")?);
        }
        for (key, angle) in [
            ("swivel", &mut own.goal.swivel),
            ("roll", &mut own.roll),
            ("bank", &mut own.bank),
            ("pivot", &mut own.pivot),
        ] {
            if let Some(value) = table.get(key) {
                *angle = self.number(value, &format!("`{key}`"))?;
            }
        }
        if let Some(value) = table.get("influence") {
            own.goal.position_influence = self.within(value, "influence", 0.0, 1.0)?;
            own.goal.rotation_influence = own.goal.position_influence;
        }
        for (key, influence) in [
            ("position_influence", &mut own.goal.position_influence),
            ("rotation_influence", &mut own.goal.rotation_influence),
        ] {
            if let Some(value) = table.get(key) {
                *influence = self.within(value, key, 0.0, 1.0)?;
            }
        }
        Ok(goal)
    }

    fn rotation(&self, value: &Value) -> Result<Quat, FileError> {
        let list = self.list(value, "the rotation", "`[x, y, z, w]`")?;
        let [x, y, z, w] = list else {
            let what = format!("the rotation must be `[x, y, z, w]`, not {} numbers", list.len());
            return Err(self.at(value, what));
        };
        let number = |value| self.number(value, "the rotation");
        Ok(Quat::from_xyzw(number(x)?, number(y)?, number(z)?, number(w)?))
    }

    fn space(&self, value: &Value) -> Result<Space, FileError> {
        if let DeValue::Table(_) = value.get_ref() {
            let space = self.table(value, "a space")?;
            self.only(&space, &["joint"])?;
            let Some(joint) = space.get("joint") else {
                return Err(self.at(value, "a space needs `joint`"));
            };
            return Ok(Space::Joint(self.joint(joint)?));
        }
        let given = self.string(value, "the space")?;
        match given {
            "model" => return Ok(Space::Model),
            "world" => return Ok(Space::World),
            _ => {}
        }
        Role::from_name(given).map(Space::Role).ok_or_else(|| {
            let roles: Vec<String> =
                Role::FIXED.into_iter().chain([Role::Spine(0)]).map(|role| role.to_string()).collect();
            let near =
                suggestion(given, ["model", "world"].into_iter().chain(roles.iter().map(String::as_str)));
            self.at(value, format!("there is no space `{}`; {near}", shorten(given)))
        })
    }

    fn effector(&self, value: &Value) -> Result<EffectorSpec, FileError> {
        let table = self.table(value, "an effector")?;
        const EFFECTOR: [&str; 7] =
            ["joint", "goal", "pole", "weight", "position_weight", "rotation_weight", "priority"];
        self.only(&table, &EFFECTOR)?;
        let Some(joint) = table.get("joint") else { return Err(self.at(value, "an effector needs `joint`")) };
        let mut effector = EffectorSpec::new(self.joint(joint)?);
        if let Some(value) = table.get("goal") {
            effector.goal = self.goal(value)?;
        }
        if let Some(value) = table.get("pole") {
            let pole = self.table(value, "a pole of an effector")?;
            self.only(&pole, &["space"])?;
            effector.goal.pole_space = pole.get("space").map(|s| self.space(s)).transpose()?;
        }
        if let Some(value) = table.get("weight") {
            effector.weights = [self.within(value, "weight", 0.0, 1e6)?; 2];
        }
        for (key, weight) in ["position_weight", "rotation_weight"].into_iter().zip(&mut effector.weights) {
            if let Some(value) = table.get(key) {
                *weight = self.within(value, key, 0.0, 1e6)?;
            }
        }
        if let Some(value) = table.get("priority") {
            effector.priority = match self.within(value, "priority", 0.0, 2.0)? {
                n if n == n.trunc() => n as u8,
                n => return Err(self.at(value, format!("`priority` must be 0, 1 or 2, not {n}"))),
            };
        }
        Ok(effector)
    }

    fn foot(&self, value: &Value) -> Result<FootSpec, FileError> {
        let table = self.table(value, "a foot")?;
        self.only(&table, &["toes", "heel", "ball", "tip", "break_angle"])?;
        let toes = table.get("toes").map(|j| self.joint(j)).transpose()?;
        let mut foot = FootSpec { toes, ..FootSpec::default() };
        if let Some(value) = table.get("break_angle") {
            foot.break_angle = self.within(value, "break_angle", 0.0, std::f32::consts::PI)?;
        }
        let points = ["heel", "ball", "tip"].map(|key| table.get(key));
        foot.sole = match points {
            [None, None, None] => None,
            [Some(heel), Some(ball), Some(tip)] => Some(Sole {
                heel: self.vector(heel, "the heel")?,
                ball: self.vector(ball, "the ball")?,
                tip: self.vector(tip, "the tip")?,
            }),
            _ => return Err(self.at(value, "a sole needs `heel`, `ball` and `tip`, or none of them")),
        };
        Ok(foot)
    }

    /// Refuses settings that a table does not have.
    fn only(&self, table: &Table, allowed: &[&str]) -> Result<(), FileError> {
        // Keys are sorted: the error is that of the first line.
        let unknown =
            table.entries.iter().map(|(k, _)| k).filter(|k| !allowed.contains(&k.get_ref().as_ref()));
        let Some(key) = unknown.min_by_key(|k| k.span().start) else { return Ok(()) };
        let name = key.get_ref();
        let near = suggestion(name, allowed.iter().copied());
        let what = format!("{} has no setting `{}`; {near}", table.what, shorten(name));
        Err(self.line(key.span().start, what))
    }

    fn table<'t, 'i>(&self, value: &'t Value<'i>, what: &'static str) -> Result<Table<'t, 'i>, FileError> {
        match value.get_ref() {
            DeValue::Table(entries) => Ok(Table { what, entries, at: value.span().start }),
            _ => Err(self.at(value, format!("{what} must be a table, not {}", shown(value)))),
        }
    }

    fn list<'t, 'i>(
        &self,
        value: &'t Value<'i>,
        what: &str,
        must: &str,
    ) -> Result<&'t [Value<'i>], FileError> {
        match value.get_ref() {
            DeValue::Array(list) => Ok(list),
            _ => Err(self.at(value, format!("{what} must be {must}, not {}", shown(value)))),
        }
    }

    fn string<'t>(&self, value: &'t Value, what: &str) -> Result<&'t str, FileError> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text),
            _ => Err(self.at(value, format!("{what} must be a text in quotes, not {}", shown(value)))),
        }
    }

    fn boolean(&self, value: &Value, what: &str) -> Result<bool, FileError> {
        match value.get_ref() {
            DeValue::Boolean(value) => Ok(*value),
            _ => Err(self.at(value, format!("{what} must be `true` or `false`, not {}", shown(value)))),
        }
    }

    fn choice<T: Copy>(
        &self,
        value: &Value,
        what: &str,
        all: &[T],
        name: impl Fn(T) -> &'static str,
    ) -> Result<T, FileError> {
        let given = self.string(value, &format!("the {what}"))?;
        all.iter().copied().find(|one| name(*one) == given).ok_or_else(|| {
            let near = suggestion(given, all.iter().map(|one| name(*one)));
            self.at(value, format!("there is no {what} `{}`; {near}", shorten(given)))
        })
    }

    fn number(&self, value: &Value, what: &str) -> Result<f32, FileError> {
        let number = match value.get_ref() {
            DeValue::Float(text) => text.as_str().parse::<f32>().ok(),
            DeValue::Integer(text) => i64::from_str_radix(text.as_str(), text.radix()).ok().map(|n| n as f32),
            _ => None,
        };
        let finite = number.filter(|n| n.is_finite());
        finite.ok_or_else(|| self.at(value, format!("{what} must be a finite number, not {}", shown(value))))
    }

    fn within(&self, value: &Value, key: &str, min: f32, max: f32) -> Result<f32, FileError> {
        let number = self.number(value, &format!("`{key}`"))?;
        if (min..=max).contains(&number) {
            return Ok(number);
        }
        let range = if max == f32::MAX { format!("{min} or more") } else { format!("{min} to {max}") };
        Err(self.at(value, format!("`{key}` must be {range}, not {number}")))
    }

    fn count(&self, table: &Table, key: &str) -> Result<Option<u32>, FileError> {
        let Some(value) = table.get(key) else { return Ok(None) };
        let count = match value.get_ref() {
            DeValue::Integer(text) => u32::from_str_radix(text.as_str(), text.radix()).ok(),
            _ => None,
        };
        let wrong = || self.at(value, format!("`{key}` must be a whole number from 0, not {}", shown(value)));
        count.map(Some).ok_or_else(wrong)
    }

    fn vector(&self, value: &Value, what: &str) -> Result<Vec3, FileError> {
        let list = self.list(value, what, "`[x, y, z]`")?;
        let [x, y, z] = list else {
            return Err(self.at(value, format!("{what} must be `[x, y, z]`, not {} numbers", list.len())));
        };
        Ok(Vec3::new(self.number(x, what)?, self.number(y, what)?, self.number(z, what)?))
    }

    fn color(&self, value: &Value) -> Result<[u8; 3], FileError> {
        let text = self.string(value, "the colour")?;
        let digits =
            text.strip_prefix('#').filter(|d| d.len() == 6 && d.bytes().all(|b| b.is_ascii_hexdigit()));
        let number = digits.and_then(|d| u32::from_str_radix(d, 16).ok());
        let [_, r, g, b] = number
            .ok_or_else(|| self.at(value, format!("a colour must be \"#rrggbb\", not `{}`", shorten(text))))?
            .to_be_bytes();
        Ok([r, g, b])
    }

    /// Finds a joint by name, path or `#index`.
    fn joint(&self, value: &Value) -> Result<JointId, FileError> {
        self.joint_named(value, self.string(value, "a joint")?)
    }

    /// The joint of a name in a value, which is for errors.
    fn joint_named(&self, value: &Value, wanted: &str) -> Result<JointId, FileError> {
        let skeleton = self.skeleton;
        let mut found = skeleton.joints_by_path(wanted).filter(|_| !wanted.is_empty());
        if let Some(joint) = found.next() {
            let more = found.count();
            return match more {
                0 => Ok(joint),
                _ => {
                    let (name, count) = (shorten(wanted), more + 1);
                    let first = shorten(&skeleton.path(joint));
                    let what = format!(
                        "{count} joints are named `{name}`: use a path, such as `{first}`, or `#index`"
                    );
                    Err(self.at(value, what))
                }
            };
        }
        let index = wanted.strip_prefix('#').and_then(|i| i.parse().ok());
        if let Some(joint) = index.and_then(|i| skeleton.joint_at(i)) {
            return Ok(joint);
        }
        let last = wanted.rsplit('/').next().unwrap_or(wanted);
        let near = suggestion(last, skeleton.joints().map(|j| skeleton.name(j)));
        Err(self.at(value, format!("there is no joint `{}`; {near}", shorten(wanted))))
    }
}

/// A value as messages show it.
fn shown(value: &Value) -> String {
    match value.get_ref() {
        DeValue::String(text) => format!("`{}`", shorten(text)),
        DeValue::Integer(text) => format!("`{}`", shorten(text.as_str())),
        DeValue::Float(text) => format!("`{}`", shorten(text.as_str())),
        DeValue::Boolean(value) => format!("`{value}`"),
        DeValue::Datetime(_) => "a date or time".into(),
        DeValue::Array(list) => format!("a list of {}", list.len()),
        DeValue::Table(_) => "a table".into(),
    }
}

/// The end of a message about a name that does not exist: near names, or else the first of all.
fn suggestion<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    /// Nobody types longer names. A comparison takes time in proportion to the product of both lengths.
    const LONG: usize = 64;
    let mut all: Vec<&str> = names.filter(|n| !n.is_empty()).collect();
    all.sort_unstable();
    all.dedup();
    let lower = wanted.to_lowercase();
    let far = |name: &&str| {
        let name = name.to_lowercase();
        if name.len() > LONG || lower.len() > LONG {
            return None;
        }
        let inside = lower.len() >= 3 && name.contains(&lower) || name.len() >= 3 && lower.contains(&name);
        let edits = if inside { 1 } else { edits(&lower, &name) };
        // Two letters in three must be right.
        (3 * edits <= lower.len().max(name.len())).then_some(edits)
    };
    let mut near: Vec<(usize, &str)> = all.iter().filter_map(|n| Some((far(n)?, *n))).collect();
    near.sort_unstable();
    if all.is_empty() {
        return "there are none".into();
    }
    let (lead, list): (_, Vec<&str>) = match near.first() {
        Some(_) => ("did you mean", near.iter().map(|(_, n)| *n).collect()),
        None => ("there is", all),
    };
    let mut text = String::from(lead);
    let shown = list.len().min(if near.is_empty() { MAX_LISTED } else { MAX_NEAR });
    for (n, name) in list[..shown].iter().enumerate() {
        text += match n {
            0 => " ",
            _ if n + 1 == shown => " or ",
            _ => ", ",
        };
        text += &format!("`{}`", shorten(name));
    }
    match list.len() - shown {
        _ if !near.is_empty() => text + "?",
        0 => text,
        more => text + &format!(" and {more} more"),
    }
}

/// Number of letters to insert, delete, replace or swap with their neighbour between two texts (optimal string alignment:
/// Damerau 1964).
fn edits(a: &str, b: &str) -> usize {
    let [a, b] = [a, b].map(|text| text.chars().collect::<Vec<_>>());
    let mut rows = [vec![0; b.len() + 1], vec![0; b.len() + 1], (0..=b.len()).collect::<Vec<_>>()];
    for i in 0..a.len() {
        rows.rotate_left(1);
        let [before, last, row] = &mut rows;
        row[0] = i + 1;
        for j in 0..b.len() {
            let swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
            let one = (last[j] + usize::from(a[i] != b[j])).min(last[j + 1] + 1).min(row[j] + 1);
            row[j + 1] = if swapped { one.min(before[j - 1] + 1) } else { one };
        }
    }
    rows[2][b.len()]
}
