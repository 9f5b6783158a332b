//! What moves in a chain, and what it works towards.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use crate::{Chain, Skeleton, joint::Turning, math};

/// What a sweep works towards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    /// Where the end should be, in model space.
    pub place: Vec3,
    /// Which rotation the tip should have.
    pub turn: Option<Quat>,
    /// What a radian counts beside a metre, in metres.
    pub radian: f32,
    /// Metres within which the place is met.
    pub near: f32,
    /// Radians within which the rotation is met.
    pub near_turn: f32,
}

impl Ask {
    pub fn met(&self, (off, turn): (f32, f32)) -> bool {
        off <= self.near && turn <= self.near_turn
    }

    pub fn cost(&self, (off, turn): (f32, f32)) -> f32 {
        let turn = turn * self.radian;
        math::sqrt(off * off + turn * turn)
    }
}

/// A part of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Part {
    pub link: usize,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Kind {
    /// A ball or a free joint.
    #[default]
    Whole,
    /// One coordinate of a joint that turns about axes.
    Angle(usize),
    /// A slide along an axis of the rest frame.
    Slide(usize),
}

/// What moves: the highest precedence first, else from the tip inward.
pub(crate) fn parts(skeleton: &Skeleton, chain: &Chain) -> Vec<Part> {
    let mut list: Vec<(i32, Part)> = Vec::new();
    for (link, &joint) in chain.joints().iter().enumerate().rev() {
        let freedom = skeleton.joint(joint);
        let turns = freedom.turning.coordinates();
        match freedom.turning {
            Turning::Fixed => {}
            Turning::Free | Turning::Ball { .. } => {
                let precedence = turns.iter().flatten().map(|d| d.precedence).max().unwrap_or(0);
                list.push((precedence, Part { link, kind: Kind::Whole }));
            }
            // The last angle is the innermost.
            Turning::Hinge { .. } | Turning::Axes { .. } => {
                for (n, dof) in turns.iter().enumerate().rev() {
                    if let Some(dof) = dof {
                        list.push((dof.precedence, Part { link, kind: Kind::Angle(n) }));
                    }
                }
            }
        }
        for (n, dof) in freedom.slide.iter().enumerate() {
            if let Some(dof) = dof {
                list.push((dof.precedence, Part { link, kind: Kind::Slide(n) }));
            }
        }
    }
    list.sort_by_key(|(precedence, _)| core::cmp::Reverse(*precedence));
    list.into_iter().map(|(_, part)| part).collect()
}
