//! What a solver can honour of a joint, and the refusal of what it cannot.

use alloc::string::String;
use core::fmt;

use thiserror::Error;

use super::{Joint, Turning};
use crate::{JointId, Skeleton};

/// One thing that a joint may ask of a solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Attribute {
    /// It does not turn.
    Fixed,
    /// It turns about one axis.
    Hinge,
    /// It swings and twists within limits.
    Ball,
    /// It turns about some of its axes, one after the other.
    Axes,
    /// It slides.
    Slider,
    /// It stiffens near its limits.
    Ease,
    /// It withholds a share of each step.
    Stiffness,
    /// It resists fast motion.
    Damping,
    /// It is pulled to a rest value.
    Spring,
    /// It moves before or after others.
    Precedence,
    /// It has a value to bend towards.
    Preferred,
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
    /// None.
    pub const NONE: Self = Self(0);

    /// Every limit of turning.
    pub(crate) const TURNING: Self =
        Self::of(&[Attribute::Fixed, Attribute::Hinge, Attribute::Ball, Attribute::Axes]);

    /// These.
    pub const fn of(list: &[Attribute]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < list.len() {
            bits |= 1 << list[i] as u8;
            i += 1;
        }
        Self(bits)
    }

    /// Whether it holds one.
    pub const fn has(self, attribute: Attribute) -> bool {
        self.0 & (1 << attribute as u8) != 0
    }

    /// Those of either.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The first that `self` has and `other` has not.
    pub fn first_beyond(self, other: Self) -> Option<Attribute> {
        use Attribute::*;
        [Fixed, Hinge, Ball, Axes, Slider, Ease, Stiffness, Damping, Spring, Precedence, Preferred]
            .into_iter()
            .find(|a| self.has(*a) && !other.has(*a))
    }
}

/// A joint asks for what a solver does not do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("joint `{joint}` has {attribute}, which {solver} cannot honour")]
pub struct UnsupportedAttribute {
    /// Name of the joint.
    pub joint: String,
    /// What it asks for.
    pub attribute: Attribute,
    /// Name of the solver.
    pub solver: &'static str,
}

impl Joint {
    /// What it asks of a solver. A joint that turns freely asks for nothing.
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
            for (there, attribute) in [
                (dof.ease != 0.0, Attribute::Ease),
                (dof.stiffness != 0.0, Attribute::Stiffness),
                (dof.damping != 0.0, Attribute::Damping),
                (dof.spring.is_some(), Attribute::Spring),
                (dof.precedence != 0, Attribute::Precedence),
                (dof.preferred.is_some(), Attribute::Preferred),
            ] {
                if there {
                    list = list.union(Attributes::of(&[attribute]));
                }
            }
        }
        list
    }
}

/// An error that names the first of these joints that asks for what a solver does not honour.
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
