//! The table `[creature]` of a rig file: legs, gait and ride of a walk.

use std::path::Path;

use sinew::{
    JointId, Skeleton,
    ground::walk::{Gait, WalkOptions},
};
use toml::de::DeTable;

use super::{MAX_LISTED, Reader, Table, Value};
use crate::FileError;

/// What a rig file says of a creature's walk; see [the format](super#the-format).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CreatureSpec {
    /// First and last joint of each leg; empty where they are to be found by shape.
    pub legs: Vec<(JointId, JointId)>,
    /// The gait, where one is given.
    pub gait: Option<Gait>,
    /// Height of the trunk, times that at rest; 1 by default.
    pub ride: Option<f32>,
}

impl CreatureSpec {
    /// Sets the options of a walk that the file gives.
    #[must_use]
    pub fn apply(&self, options: WalkOptions) -> WalkOptions {
        let mut options = options;
        options.gait = self.gait.or(options.gait);
        options.ride = self.ride.unwrap_or(options.ride);
        options
    }
}

/// Reads the table `[creature]` of a rig file for the figure with this skeleton; the defaults if the file has none. `path` is for
/// errors.
///
/// ```
/// use sinew_files::{rig, sample};
/// let model = sample::creature(4)?;
/// let text = r#"
/// rig = 1
/// [creature]
/// gait = "trot"
/// ride = 0.9
/// "#;
/// let spec = rig::creature(text, "crawler.toml".as_ref(), &model.skeleton)?;
/// assert_eq!((spec.ride, spec.legs.len()), (Some(0.9), 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`read`](super::read).
pub fn creature(text: &str, path: &Path, skeleton: &Skeleton) -> Result<CreatureSpec, FileError> {
    let reader = Reader { text, path, skeleton };
    // All of the file is checked.
    reader.rig(None, || "a creature has no human roles".into()).or_else(|error| {
        match reader.has("humanoid") {
            true => Ok(Default::default()),
            false => Err(error),
        }
    })?;
    let document = DeTable::parse(text).map_err(|e| reader.line(0, e.message().replace('\n', "; ")))?;
    let all = Table { what: "a rig file", entries: document.get_ref(), at: 0 };
    all.get("creature").map_or(Ok(CreatureSpec::default()), |value| reader.creature(value))
}

impl Reader<'_> {
    fn has(&self, key: &str) -> bool {
        DeTable::parse(self.text).is_ok_and(|all| all.get_ref().iter().any(|(k, _)| k.get_ref() == key))
    }

    /// The table `[creature]`.
    pub(super) fn creature(&self, value: &Value) -> Result<CreatureSpec, FileError> {
        let table = self.table(value, "a creature")?;
        self.only(&table, &["gait", "legs", "ride"])?;
        let mut spec = CreatureSpec::default();
        if let Some(value) = table.get("gait") {
            spec.gait = Some(self.choice(value, "gait", &Gait::ALL, Gait::name)?);
        }
        if let Some(value) = table.get("ride") {
            spec.ride = Some(self.within(value, "ride", 0.2, 2.0)?);
        }
        let legs = match table.get("legs") {
            Some(value) => self.list(value, "`legs`", "a list of `\"root..tip\"`")?,
            None => &[],
        };
        // A creature of a thousand legs is none that this walks.
        if let Some(first) = legs.get(4 * MAX_LISTED) {
            return Err(self.at(first, format!("a creature has at most {} legs", 4 * MAX_LISTED)));
        }
        for leg in legs {
            let text = self.string(leg, "a leg")?;
            let Some((root, tip)) = text.split_once("..") else {
                return Err(self.at(leg, "a leg is its first and its last joint, `\"root..tip\"`"));
            };
            spec.legs.push((self.joint_named(leg, root)?, self.joint_named(leg, tip)?));
        }
        Ok(spec)
    }
}
