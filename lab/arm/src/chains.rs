//! Measured chains.

use std::path::{Path, PathBuf};

use sinew::mechanism::{LinkId, Mechanism};

/// Class of an arm, which decides its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Turning,
    Sliding,
    Snake,
}

pub struct Chain {
    pub name: &'static str,
    pub class: Class,
    pub file: PathBuf,
    pub mechanism: Mechanism,
    pub root: LinkId,
    pub tip: LinkId,
    /// Degrees of freedom of the chain among the mechanism's.
    pub dofs: Vec<usize>,
}

/// Where the real files are.
pub fn folder() -> PathBuf {
    std::env::var_os("SINEW_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from)
        .join("urdf")
}

pub fn chains() -> Result<Vec<Chain>, sinew_files::FileError> {
    let list = [
        ("panda", "panda", "panda_link0", "panda_hand", Class::Turning),
        ("ur5", "ur5", "base_link", "tool0", Class::Turning),
        ("iiwa14", "iiwa14", "base_link", "tool0", Class::Turning),
        ("pr2 arm", "pr2", "torso_lift_link", "r_wrist_roll_link", Class::Turning),
        ("pr2 torso + arm", "pr2", "base_link", "r_wrist_roll_link", Class::Sliding),
        ("scara4", "scara4", "base", "tip", Class::Sliding),
        ("stanford6", "stanford6", "base", "tip", Class::Sliding),
        ("telescope8", "telescope8", "base", "tip", Class::Sliding),
        ("snake24", "snake24", "base", "tip", Class::Snake),
    ];
    let mut chains = Vec::new();
    for (name, file, root, tip, class) in list {
        let file = folder().join(format!("{file}.urdf"));
        let mechanism = sinew_files::urdf::read(&file)?;
        let find = |link| mechanism.find_link(link).expect("the chain's links are in the file");
        let (root, tip) = (find(root), find(tip));
        let dofs = mechanism.dofs_between(root, tip);
        chains.push(Chain { name, class, file, mechanism, root, tip, dofs });
    }
    Ok(chains)
}
