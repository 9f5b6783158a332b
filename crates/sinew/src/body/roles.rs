//! Roles of a two-legged figure, and the reasons and errors of their assignment.

use alloc::{string::String, vec::Vec};
use core::fmt;

use thiserror::Error;

use crate::{JointId, Skeleton};

/// A side of the body: the figure's own left or right, not the viewer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Side {
    /// The figure's left: +X where it faces +Z.
    Left,
    /// The figure's right: -X where it faces +Z.
    Right,
}

impl Side {
    /// Both sides, left first.
    pub const BOTH: [Self; 2] = [Self::Left, Self::Right];

    /// Index of the side in [`super::BodyRoles::legs`] and [`super::BodyRoles::arms`]: 0 for left, 1 for right.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The opposite side.
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

/// A role of a joint in the body. The role's joint is at the start of the bone: `Shin` is the knee, `Foot` the ankle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Role {
    /// The pelvis: the joint above both legs and the spine.
    Hips,
    /// A joint of the spine, by its index from the hips upward, from 0.
    Spine(usize),
    /// The lowest joint of the neck.
    Neck,
    /// The head.
    Head,
    /// An eye.
    Eye(Side),
    /// The collar bone.
    Clavicle(Side),
    /// The upper arm, at the shoulder joint.
    UpperArm(Side),
    /// The forearm, at the elbow.
    Forearm(Side),
    /// The hand, at the wrist.
    Hand(Side),
    /// The thigh, at the hip joint.
    Thigh(Side),
    /// The shin, at the knee.
    Shin(Side),
    /// The foot, at the ankle.
    Foot(Side),
    /// The toes, at the ball of the foot.
    Toes(Side),
}

impl Role {
    /// Every role but those of the spine.
    pub const FIXED: [Self; 21] = {
        use Side::{Left as L, Right as R};
        [
            Self::Hips,
            Self::Neck,
            Self::Head,
            Self::Eye(L),
            Self::Eye(R),
            Self::Clavicle(L),
            Self::Clavicle(R),
            Self::UpperArm(L),
            Self::UpperArm(R),
            Self::Forearm(L),
            Self::Forearm(R),
            Self::Hand(L),
            Self::Hand(R),
            Self::Thigh(L),
            Self::Thigh(R),
            Self::Shin(L),
            Self::Shin(R),
            Self::Foot(L),
            Self::Foot(R),
            Self::Toes(L),
            Self::Toes(R),
        ]
    };

    /// The role with this name, as it is displayed: `hips`, `left upper arm`, `spine 1` (the lowest joint of the spine).
    pub fn from_name(name: &str) -> Option<Self> {
        let is = |role: &Self| alloc::format!("{role}") == name;
        let spine = || {
            let index: usize = name.strip_prefix("spine ")?.parse().ok()?;
            Some(Self::Spine(index.checked_sub(1)?)).filter(is)
        };
        Self::FIXED.into_iter().find(is).or_else(spine)
    }

    /// The same role on the other side; the role itself where it has no side.
    pub const fn mirrored(self) -> Self {
        match self {
            Self::Hips | Self::Spine(_) | Self::Neck | Self::Head => self,
            Self::Eye(s) => Self::Eye(s.other()),
            Self::Clavicle(s) => Self::Clavicle(s.other()),
            Self::UpperArm(s) => Self::UpperArm(s.other()),
            Self::Forearm(s) => Self::Forearm(s.other()),
            Self::Hand(s) => Self::Hand(s.other()),
            Self::Thigh(s) => Self::Thigh(s.other()),
            Self::Shin(s) => Self::Shin(s.other()),
            Self::Foot(s) => Self::Foot(s.other()),
            Self::Toes(s) => Self::Toes(s.other()),
        }
    }
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

/// Reason for the choice of a role's joint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RoleSource {
    /// The caller named the joint.
    Given,
    /// The file declares the joint, under this VRM 1.0 bone name.
    Declared(String),
    /// The joint's name, as in the skeleton.
    Name(String),
    /// A feature of the bind pose's shape, in words.
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

/// Error of a role's assignment.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RoleError {
    /// Several joints fit equally well.
    #[error("unsure about the {role}: {} are equally good", list(candidates))]
    Ambiguous {
        /// The role.
        role: Role,
        /// Candidates, as `name (#index)`.
        candidates: Vec<String>,
    },
    /// No joint fits.
    #[error("found no {role}: looked for {looked_for}")]
    Missing {
        /// The role.
        role: Role,
        /// Description of the names or shapes that fit.
        looked_for: String,
    },
    /// A joint that the caller or the file named cannot have the role.
    #[error("joint `{joint}` cannot be the {role}: {what}")]
    Unfit {
        /// The role that the joint was named for.
        role: Role,
        /// The joint, as `name (#index)`.
        joint: String,
        /// The reason.
        what: String,
    },
}

impl RoleError {
    pub(super) fn missing(role: Role, looked_for: &str) -> Self {
        Self::Missing { role, looked_for: looked_for.into() }
    }
}

/// Maximum number of candidates in an error message, which keeps the message short for figures with many limbs.
const MAX_LISTED: usize = 12;

fn list(candidates: &[String]) -> String {
    let mut text = String::new();
    let shown = candidates.len().min(MAX_LISTED);
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

/// Label of a joint for errors: its name, if it has one, and its unique index.
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
    fn roles_are_found_by_the_names_that_they_show() {
        let spine = [0, 1, 11].map(Role::Spine);
        for role in Role::FIXED.into_iter().chain(spine) {
            assert_eq!(Role::from_name(&alloc::format!("{role}")), Some(role));
        }
        for name in
            ["", "Hips", "hand", "left", "spine", "spine 0", "spine 01", "spine +1", "spine 1 ", "left  hand"]
        {
            assert_eq!(Role::from_name(name), None, "{name}");
        }
    }

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
