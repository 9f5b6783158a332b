//! The roles of a two-legged figure, and what can be said about how one was found.

use alloc::{string::String, vec::Vec};
use core::fmt;

use thiserror::Error;

use crate::{JointId, Skeleton};

/// The figure's own left or right, not the viewer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The figure's left: +X where it faces +Z.
    Left,
    /// The figure's right: -X where it faces +Z.
    Right,
}

impl Side {
    /// Left, then right.
    pub const BOTH: [Self; 2] = [Self::Left, Self::Right];

    /// 0 for left, 1 for right: the place in [`super::BodyRoles::legs`] and [`super::BodyRoles::arms`].
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The other side.
    pub const fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Left => "left",
            Self::Right => "right",
        })
    }
}

/// A part that a joint plays. A role's joint is where its bone begins: `Shin` is the knee, `Foot` the ankle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Role {
    /// The joint that carries legs and spine.
    Hips,
    /// A joint of the spine, counted from the hips up, from 0.
    Spine(usize),
    /// The lowest joint of the neck.
    Neck,
    /// The head.
    Head,
    /// The eye.
    Eye(Side),
    /// The collar bone.
    Clavicle(Side),
    /// The upper arm: the shoulder joint.
    UpperArm(Side),
    /// The forearm: the elbow.
    Forearm(Side),
    /// The hand: the wrist.
    Hand(Side),
    /// The thigh: the hip's ball joint.
    Thigh(Side),
    /// The shin: the knee.
    Shin(Side),
    /// The foot: the ankle.
    Foot(Side),
    /// The toes: the ball of the foot.
    Toes(Side),
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (side, part) = match self {
            Self::Hips => return f.write_str("hips"),
            Self::Spine(i) => return write!(f, "spine {}", i + 1),
            Self::Neck => return f.write_str("neck"),
            Self::Head => return f.write_str("head"),
            Self::Eye(s) => (s, "eye"),
            Self::Clavicle(s) => (s, "clavicle"),
            Self::UpperArm(s) => (s, "upper arm"),
            Self::Forearm(s) => (s, "forearm"),
            Self::Hand(s) => (s, "hand"),
            Self::Thigh(s) => (s, "thigh"),
            Self::Shin(s) => (s, "shin"),
            Self::Foot(s) => (s, "foot"),
            Self::Toes(s) => (s, "toes"),
        };
        write!(f, "{side} {part}")
    }
}

/// Why a joint was chosen for a role.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RoleSource {
    /// The caller named it.
    Given,
    /// The file says so, under this bone name (VRM 1.0's).
    Declared(String),
    /// Its name says so.
    Name(String),
    /// The bind pose's shape says so; in words.
    Shape(&'static str),
}

impl fmt::Display for RoleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given => f.write_str("as given"),
            Self::Declared(bone) => write!(f, "the file declares it as `{bone}`"),
            Self::Name(name) => write!(f, "by its name `{name}`"),
            Self::Shape(words) => write!(f, "by shape: {words}"),
        }
    }
}

/// Why a role has no joint.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RoleError {
    /// Several joints are equally good.
    #[error("unsure about the {role}: {} are equally good", list(candidates))]
    Ambiguous {
        /// The role.
        role: Role,
        /// The joints, as `name (#index)`.
        candidates: Vec<String>,
    },
    /// No joint will do.
    #[error("found no {role}: looked for {looked_for}")]
    Missing {
        /// The role.
        role: Role,
        /// What would have done.
        looked_for: String,
    },
    /// What the caller or the file said cannot be.
    #[error("joint `{joint}` cannot be the {role}: {what}")]
    Unfit {
        /// The role that it was to play.
        role: Role,
        /// The joint, as `name (#index)`.
        joint: String,
        /// What is in the way.
        what: String,
    },
}

impl RoleError {
    pub(super) fn missing(role: Role, looked_for: &str) -> Self {
        Self::Missing { role, looked_for: looked_for.into() }
    }
}

/// At most this many candidates are listed in one line; a creature of a thousand legs should not fill the screen.
const MOST_LISTED: usize = 12;

fn list(candidates: &[String]) -> String {
    let mut text = String::new();
    let shown = candidates.len().min(MOST_LISTED);
    for (i, candidate) in candidates.iter().take(shown).enumerate() {
        let lead = match i {
            0 => "",
            _ if i + 1 == candidates.len() => " and ",
            _ => ", ",
        };
        text += &alloc::format!("{lead}`{candidate}`");
    }
    if shown < candidates.len() {
        text += &alloc::format!(" and {} more", candidates.len() - shown);
    }
    text
}

/// A joint as errors show it: its name, if it has one, and its index, which is unique.
pub(super) fn label(skeleton: &Skeleton, joint: JointId) -> String {
    match skeleton.name(joint) {
        "" => alloc::format!("{joint}"),
        name => alloc::format!("{name} ({joint})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_read_as_sentences() {
        let ambiguous = RoleError::Ambiguous {
            role: Role::Foot(Side::Left),
            candidates: ["a (#1)", "b (#2)", "c (#3)"].map(String::from).into(),
        };
        assert_eq!(
            alloc::format!("{ambiguous}"),
            "unsure about the left foot: `a (#1)`, `b (#2)` and `c (#3)` are equally good"
        );
        let many: Vec<_> = (0..1000).map(|i| alloc::format!("leg {i}")).collect();
        assert!(list(&many).ends_with("`leg 11` and 988 more"));
    }
}
