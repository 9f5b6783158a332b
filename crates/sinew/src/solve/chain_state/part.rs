//! Degrees of freedom of a chain, and the task that solvers work towards.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use crate::{
    Chain, Skeleton,
    joint::{Dof, Turning},
    math,
};

/// Task of a solver: a target for the chain's end and tip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    /// Target position of the end, in model space.
    pub place: Vec3,
    /// Target rotation of the tip, in model space.
    pub turn: Option<Quat>,
    /// Length in metres that weighs as much as one radian.
    pub radian: f32,
    /// Tolerance of the position, in metres.
    pub near: f32,
    /// Tolerance of the rotation, in radians.
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

/// One degree of freedom, or all three of a ball, that a sweep moves at once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Part {
    pub link: usize,
    pub kind: Kind,
    /// Weight that stiffness gives it in a step of least squares.
    pub weight: f32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Kind {
    /// Ball or free joint.
    #[default]
    Whole,
    /// One coordinate of a joint that turns about axes.
    Angle(usize),
    /// Slide along an axis of the rest frame.
    Slide(usize),
}

/// Parts of a chain: those of highest precedence first, else from the tip inward. Those of stiffness 1 are none.
pub(crate) fn parts(skeleton: &Skeleton, chain: &Chain) -> Vec<Part> {
    // With a key that puts high precedences first.
    let mut list: Vec<(i64, Part)> = Vec::new();
    let key = |precedence: i32| -i64::from(precedence);
    let weight = |dof: &Dof| (dof.compliance() * dof.compliance()) as f32;
    for (link, &joint) in chain.joints().iter().enumerate().rev() {
        let dofs = skeleton.joint(joint);
        let turns = dofs.turning.coordinates();
        match dofs.turning {
            Turning::Free | Turning::Ball { .. } if turns.iter().flatten().all(Dof::moves) => {
                let precedence = turns.iter().flatten().map(|d| d.precedence).max().unwrap_or(0);
                let weight = turns.iter().flatten().map(weight).fold(1.0, f32::min);
                list.push((key(precedence), Part { link, kind: Kind::Whole, weight }));
            }
            // The last angle is the innermost.
            Turning::Hinge { .. } | Turning::Axes { .. } => {
                for (n, dof) in turns.iter().enumerate().rev() {
                    if let Some(dof) = dof.as_ref().filter(|d| d.moves()) {
                        list.push((
                            key(dof.precedence),
                            Part { link, kind: Kind::Angle(n), weight: weight(dof) },
                        ));
                    }
                }
            }
            _ => {}
        }
        for (n, dof) in dofs.slide.iter().enumerate() {
            if let Some(dof) = dof.as_ref().filter(|d| d.moves()) {
                list.push((key(dof.precedence), Part { link, kind: Kind::Slide(n), weight: weight(dof) }));
            }
        }
    }
    by_key(list)
}

/// The parts from the root on, in the order of steps of all joints; those of a joint in the order that is given.
pub(crate) fn columns(parts: &[Part]) -> Vec<Part> {
    by_key(parts.iter().map(|part| (part.link as i64, *part)).collect())
}

/// Sorts by ascending keys. One function, as sorting takes 5 kB of WebAssembly for each type and comparison.
fn by_key(mut list: Vec<(i64, Part)>) -> Vec<Part> {
    list.sort_by_key(|(key, _)| *key);
    list.into_iter().map(|(_, part)| part).collect()
}
