//! Attributes of joints, and the errors of solvers that do not support them.

use alloc::string::String;
use core::fmt;

use thiserror::Error;

use super::{Joint, Turning};
use crate::{JointId, Skeleton};

/// An attribute of a joint that a solver may or may not support.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Attribute {
    /// The joint does not turn.
    Fixed,
    /// The joint turns about one axis.
    Hinge,
    /// The joint swings and twists within limits.
    Ball,
    /// The joint turns about some of its own axes in sequence.
    Axes,
    /// The joint slides.
    Slider,
    /// The joint stiffens near its limits.
    Ease,
    /// The joint omits a share of each step.
    Stiffness,
    /// The joint resists fast motion.
    Damping,
    /// The joint is pulled towards a value.
    Spring,
    /// The joint moves before or after others.
    Precedence,
    /// The joint has a preferred value.
    Preferred,
}

impl Attribute {
    /// Every attribute, in the order in which errors name them.
    pub const ALL: [Self; 11] = [
        Self::Fixed,
        Self::Hinge,
        Self::Ball,
        Self::Axes,
        Self::Slider,
        Self::Ease,
        Self::Stiffness,
        Self::Damping,
        Self::Spring,
        Self::Precedence,
        Self::Preferred,
    ];
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fixed => "a fixed joint",
            Self::Hinge => "a hinge",
            Self::Ball => "a ball joint",
            Self::Axes => "rotations about single axes",
            Self::Slider => "a slider",
            Self::Ease => "ease",
            Self::Stiffness => "stiffness",
            Self::Damping => "damping",
            Self::Spring => "a spring",
            Self::Precedence => "precedence",
            Self::Preferred => "a preferred value",
        })
    }
}

/// A set of [`Attribute`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Attributes(u16);

impl Attributes {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// All limits of turning.
    pub(crate) const TURNING: Self =
        Self::of(&[Attribute::Fixed, Attribute::Hinge, Attribute::Ball, Attribute::Axes]);

    /// The set of these attributes.
    pub const fn of(list: &[Attribute]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < list.len() {
            bits |= 1 << list[i] as u8;
            i += 1;
        }
        Self(bits)
    }

    /// Whether the set contains an attribute.
    pub const fn has(self, attribute: Attribute) -> bool {
        self.0 & (1 << attribute as u8) != 0
    }

    /// The union of two sets.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The first attribute that `self` contains and `other` does not.
    pub fn first_beyond(self, other: Self) -> Option<Attribute> {
        Attribute::ALL.into_iter().find(|a| self.has(*a) && !other.has(*a))
    }
}

/// A joint has an attribute that a solver does not support.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("joint `{joint}` has {attribute}, which {solver} cannot honour")]
pub struct UnsupportedAttribute {
    /// Name of the joint.
    pub joint: String,
    /// The attribute.
    pub attribute: Attribute,
    /// Name of the solver.
    pub solver: &'static str,
}

/// The attributes of joints that a solver honours. It rejects all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capability {
    /// Name of the solver, as in its errors.
    pub solver: &'static str,
    /// What it honours of the joints that it moves.
    pub honoured: Attributes,
    /// What it honours of some of them, or if it is made for that: see its docs.
    pub partly: Attributes,
    /// Whether the solver keeps some joints between those that it moves as they are in the input pose. Their attributes do
    /// not matter.
    pub keeps: bool,
}

impl Capability {
    pub(crate) const fn new(solver: &'static str, honoured: Attributes) -> Self {
        Self { solver, honoured, partly: Attributes::NONE, keeps: false }
    }

    /// Checks that the solver honours the attributes of these joints; see [`check_honoured`].
    pub(crate) fn check(
        &self,
        skeleton: &Skeleton,
        joints: impl IntoIterator<Item = JointId>,
    ) -> Result<(), UnsupportedAttribute> {
        check_honoured(skeleton, joints, self.solver, self.honoured)
    }
}

impl Joint {
    /// The attributes of the joint; empty for a joint that turns freely.
    pub fn attributes(&self) -> Attributes {
        let turning = match self.turning {
            Turning::Free => None,
            Turning::Fixed => Some(Attribute::Fixed),
            Turning::Hinge { .. } => Some(Attribute::Hinge),
            Turning::Ball { .. } => Some(Attribute::Ball),
            Turning::Axes { .. } => Some(Attribute::Axes),
        };
        let mut list = Attributes::of(turning.as_slice());
        if self.slide.iter().any(Option::is_some) {
            list = list.union(Attributes::of(&[Attribute::Slider]));
        }
        for dof in self.dofs() {
            for (present, attribute) in [
                (dof.ease != 0.0, Attribute::Ease),
                (dof.stiffness != 0.0, Attribute::Stiffness),
                (dof.damping != 0.0, Attribute::Damping),
                (dof.spring.is_some(), Attribute::Spring),
                (dof.precedence != 0, Attribute::Precedence),
                (dof.preferred.is_some(), Attribute::Preferred),
            ] {
                if present {
                    list = list.union(Attributes::of(&[attribute]));
                }
            }
        }
        list
    }
}

/// Checks that a solver supports the attributes of these joints; the error names the first one that it does not.
pub fn check_honoured(
    skeleton: &Skeleton,
    joints: impl IntoIterator<Item = JointId>,
    solver: &'static str,
    honoured: Attributes,
) -> Result<(), UnsupportedAttribute> {
    for joint in joints {
        if let Some(attribute) = skeleton.joint(joint).attributes().first_beyond(honoured) {
            return Err(UnsupportedAttribute { joint: skeleton.name(joint).into(), attribute, solver });
        }
    }
    Ok(())
}
