//! Legs of creatures, by the shape of the bind pose or as given.

use alloc::{string::String, vec::Vec};
use core::fmt;

use glam::Vec3;
use thiserror::Error;

use super::{
    Side,
    names::{self, Part},
    roles::label,
};
use crate::{JointId, Pose, Skeleton, math};

/// Largest height of a leg's end above the floor, as a share of its length. Modelled feet differ by a hundredth.
const STANDS: f32 = 0.05;
/// Largest distance of a leg's end from the mirror image of its partner's, as a share of its length.
const MIRRORED: f32 = 0.05;
/// Smallest length of a leg, as a share of the longest: shorter limbs are mouthparts.
const SHORT: f32 = 0.25;
/// Largest length of the bones of a foot, as a share of the leg: a horse's hoof has 0.06, its pastern 0.11.
const FOOT: f32 = 0.1;
/// Height above the lowest vertex up to which vertices are a foot's sole, as a share of the leg.
const SOLE: f32 = 0.01;
/// Largest number of limbs that are paired, the lowest: the search takes the fourth power of it.
const MOST: usize = 40;

/// A leg of a creature, from its root down to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CreatureLeg {
    /// The joint at which the leg turns against the trunk.
    pub root: JointId,
    /// The joint of the foot: a hoof, a paw or the end of a leg. It keeps its direction on the ground.
    pub foot: JointId,
    /// The last joint; the foot itself, or a joint below it.
    pub tip: JointId,
    /// The side, where the leg has a partner on the other.
    pub side: Option<Side>,
    /// Position of the sole's middle in the foot's frame, in metres: of the lowest vertices of the foot, or of the last joint.
    pub sole: Vec3,
    /// Length from root to sole along the bones, in metres in the bind pose.
    pub length: f32,
    /// Reason for the choice.
    pub why: LegSource,
}

/// Reason for the choice of a leg.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LegSource {
    /// The caller named its joints.
    Given,
    /// A limb that reaches the floor, with a mirror image; its root is the first joint that is its own.
    Shape,
    /// The same, with its root below joints named as a part of the trunk (a shoulder blade or a pelvis).
    BelowName,
}

impl fmt::Display for LegSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Given => "as given",
            Self::Shape => "by shape",
            Self::BelowName => "by shape, below a shoulder blade or half of the pelvis by its name",
        })
    }
}

/// Error of the search for legs.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LegsError {
    /// Fewer than three legs.
    #[error("found {} that stand on the floor of the bind pose in mirrored pairs; a walk takes at least three (two are planted with a clip)", legs(*.count))]
    TooFew {
        /// Number of legs.
        count: usize,
    },
    /// A leg that was given is none.
    #[error("joint `{joint}` is no end of a leg: {what}")]
    Unfit {
        /// The joint, as `name (#index)`.
        joint: String,
        /// The reason.
        what: String,
    },
}

fn legs(count: usize) -> String {
    match count {
        0 => "no legs".into(),
        1 => "one leg".into(),
        n => alloc::format!("{n} legs"),
    }
}

/// The legs of a creature with any number of them.
///
/// ```
/// use sinew::{Pose, Skeleton, JointTransform, glam::Vec3, body::Legs};
/// use std::sync::Arc;
/// let mut builder = Skeleton::builder();
/// let mut add = |name: String, parent, at: [f32; 3]| {
///     builder.add(name, parent, JointTransform::from_translation(at.into()))
/// };
/// let trunk = add("trunk".into(), None, [0.0, 0.6, 0.0]);
/// for (x, z) in [(0.2, 0.5), (-0.2, 0.5), (0.2, -0.5), (-0.2, -0.5)] {
///     let thigh = add(format!("thigh {x} {z}"), Some(trunk), [x, 0.0, z]);
///     let shin = add(format!("shin {x} {z}"), Some(thigh), [0.0, -0.3, 0.05]);
///     add(format!("hoof {x} {z}"), Some(shin), [0.0, -0.3, -0.05]);
/// }
/// let bind = Pose::rest(&Arc::new(builder.build()?.0));
/// let legs = Legs::find(&bind, &[])?;
/// assert_eq!(legs.legs.len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Legs {
    /// The lowest joint that carries all legs.
    pub trunk: JointId,
    /// The legs, from front to rear, the left one of a pair first.
    pub legs: Vec<CreatureLeg>,
    /// Direction in which the creature faces in the bind pose: a horizontal unit vector in model space.
    pub front: Vec3,
    /// What was decided without certainty, in words.
    pub doubts: Vec<String>,
}

struct Limb {
    leg: CreatureLeg,
    /// Position of the sole.
    end: Vec3,
}

impl Legs {
    /// Finds the legs of a creature by the shape of `bind`, its bind pose, Y up: limbs of one trunk whose ends stand on the
    /// floor, in mirrored pairs. `skin` holds the vertices of the mesh, each with the joint of its largest weight and its
    /// position in model space in the bind pose; it may be empty.
    ///
    /// # Errors
    ///
    /// [`LegsError::TooFew`] if fewer than three such limbs exist.
    pub fn find(bind: &Pose, skin: &[(JointId, Vec3)]) -> Result<Self, LegsError> {
        let skeleton = bind.skeleton();
        let ends = skeleton.joints().filter(|&j| skeleton.subtree(j).len() == 1);
        let mut limbs: Vec<Limb> = ends.filter_map(|end| limb(bind, skin, end)).collect();
        let longest = limbs.iter().map(|l| l.leg.length).fold(0.0, f32::max);
        limbs.retain(|l| l.leg.length >= SHORT * longest);
        limbs.sort_by(|a, b| a.end.y.total_cmp(&b.end.y));
        limbs.truncate(MOST);
        // Ends below the floor of the others are none's floor: the floor is where pairs stand.
        let pairs = pairs(&limbs);
        let floor = pairs.iter().map(|&[a, _]| limbs[a].end.y).fold(f32::INFINITY, f32::min);
        let standing = |&&[a, b]: &&[usize; 2]| {
            [a, b].iter().all(|&i| limbs[i].end.y - floor <= STANDS * limbs[i].leg.length)
        };
        let chosen: Vec<[usize; 2]> = pairs.iter().filter(standing).copied().collect();
        let mut doubts = Vec::new();
        let alone = |l: &(usize, &Limb)| {
            !chosen.iter().flatten().any(|i| *i == l.0)
                && (l.1.end.y - floor).abs() <= STANDS * l.1.leg.length
        };
        for (_, limb) in limbs.iter().enumerate().filter(alone) {
            let name = label(skeleton, limb.leg.tip);
            doubts.push(alloc::format!("`{name}` reaches the floor, but has no mirror image"));
        }
        let mut legs: Vec<(CreatureLeg, Vec3)> =
            chosen.iter().flatten().map(|&i| (limbs[i].leg, limbs[i].end)).collect();
        if legs.len() < 3 {
            return Err(LegsError::TooFew { count: legs.len() });
        }
        // A pair of legs may have its partner's side.
        let across = chosen.iter().map(|&[a, b]| limbs[a].end - limbs[b].end);
        let lateral = if across.clone().map(|d| d.x.abs()).sum::<f32>() >= across.map(|d| d.z.abs()).sum() {
            Vec3::X
        } else {
            Vec3::Z
        };
        let front = facing(bind, &legs, lateral, &mut doubts);
        sort(&mut legs, front);
        Ok(Self::of(skeleton, legs, front, doubts))
    }

    /// The legs with given roots and ends, in any order. `bind` and `skin` are those of [`Legs::find`].
    ///
    /// # Errors
    ///
    /// [`LegsError::TooFew`] for fewer than three, [`LegsError::Unfit`] for an end that does not hang below its root, a leg
    /// without length, and legs that share joints.
    pub fn given(
        bind: &Pose,
        skin: &[(JointId, Vec3)],
        ends: &[(JointId, JointId)],
    ) -> Result<Self, LegsError> {
        let skeleton = bind.skeleton();
        let unfit = |joint: JointId, what: String| LegsError::Unfit { joint: label(skeleton, joint), what };
        let mut legs = Vec::new();
        for (n, &(root, tip)) in ends.iter().enumerate() {
            if root == tip || !skeleton.is_below(tip, root) {
                return Err(unfit(tip, alloc::format!("it does not hang below `{}`", label(skeleton, root))));
            }
            for &(other, end) in &ends[..n] {
                if skeleton.is_below(root, other) || skeleton.is_below(other, root) {
                    let what =
                        alloc::format!("its leg shares joints with that of `{}`", label(skeleton, end));
                    return Err(unfit(tip, what));
                }
            }
            let Some(Limb { leg, end }) = measure(bind, skin, root, tip, LegSource::Given) else {
                return Err(unfit(tip, "its leg has no length".into()));
            };
            legs.push((leg, end));
        }
        if legs.len() < 3 {
            return Err(LegsError::TooFew { count: legs.len() });
        }
        let mut doubts = Vec::new();
        // The trunk is longer than wide, or the legs come in pairs across it.
        let limbs: Vec<Limb> = legs.iter().map(|&(leg, end)| Limb { leg, end }).collect();
        let found = pairs(&limbs);
        let across = found.iter().map(|&[a, b]| limbs[a].end - limbs[b].end);
        let along_z = across.clone().map(|d| d.z.abs()).sum::<f32>() > across.map(|d| d.x.abs()).sum::<f32>();
        let front = facing(bind, &legs, if along_z { Vec3::Z } else { Vec3::X }, &mut doubts);
        sort(&mut legs, front);
        Ok(Self::of(skeleton, legs, front, doubts))
    }

    fn of(skeleton: &Skeleton, legs: Vec<(CreatureLeg, Vec3)>, front: Vec3, doubts: Vec<String>) -> Self {
        let left = Vec3::Y.cross(front);
        let middle = legs.iter().map(|(_, end)| end.dot(left)).sum::<f32>() / legs.len() as f32;
        let sided = |&(leg, end): &(CreatureLeg, Vec3)| {
            let aside = end.dot(left) - middle;
            let side = (aside.abs() > MIRRORED * leg.length).then_some(if aside > 0.0 {
                Side::Left
            } else {
                Side::Right
            });
            CreatureLeg { side, ..leg }
        };
        let legs: Vec<CreatureLeg> = legs.iter().map(sided).collect();
        let above = |j: JointId| skeleton.ancestors(j);
        let carries = |j: &JointId| legs.iter().all(|l| *j != l.root && skeleton.is_below(l.root, *j));
        let trunk = legs.first().and_then(|l| above(l.root).find(carries)).unwrap_or(legs[0].root);
        Self { trunk, legs, front, doubts }
    }

    /// Mean length of the legs, in metres.
    pub fn length(&self) -> f32 {
        self.legs.iter().map(|l| l.length).sum::<f32>() / self.legs.len() as f32
    }
}

/// The limb that ends at a joint without children: up to the first joint that carries others too.
fn limb(bind: &Pose, skin: &[(JointId, Vec3)], tip: JointId) -> Option<Limb> {
    let skeleton = bind.skeleton();
    let single = |j: &JointId| skeleton.children(*j).take(2).count() == 1;
    let mut path: Vec<JointId> = skeleton.ancestors(tip).take_while(single).collect();
    let mut why = LegSource::Shape;
    while path.len() > 2 && names::is_girdle(skeleton.name(path[path.len() - 1])) {
        path.pop();
        why = LegSource::BelowName;
    }
    // A root joint that carries a single limb is none of it.
    let root = path.iter().rev().copied().find(|&j| skeleton.parent(j).is_some())?;
    let trunk = skeleton.parent(root)?;
    // Neither is a joint at the place of the trunk.
    let length = bind.position(tip).distance(bind.position(trunk));
    let own = |j: &JointId| bind.position(*j).distance(bind.position(trunk)) > 1e-4 * length;
    let root = path.iter().rev().copied().find(own).filter(|r| *r != tip).unwrap_or(root);
    measure(bind, skin, root, tip, why)
}

/// Measures a leg. `None` if it has no length.
fn measure(
    bind: &Pose,
    skin: &[(JointId, Vec3)],
    root: JointId,
    tip: JointId,
    why: LegSource,
) -> Option<Limb> {
    let skeleton = bind.skeleton();
    let at = |j: JointId| bind.position(j);
    let path: Vec<JointId> = core::iter::once(tip)
        .chain(skeleton.ancestors(tip).take_while(|&j| j != root))
        .chain([root])
        .collect();
    let bones: f32 = path.windows(2).map(|w| at(w[0]).distance(at(w[1]))).sum();
    if !(bones > 0.0 && bones.is_finite()) {
        return None;
    }
    let (mut foot, mut below) = (tip, 0.0);
    for w in path.windows(2).take_while(|w| w[1] != root) {
        below += at(w[0]).distance(at(w[1]));
        if below > FOOT * bones {
            break;
        }
        foot = w[1];
    }
    let vertices = || skin.iter().filter(|(j, _)| skeleton.is_below(*j, foot)).map(|(_, p)| *p);
    let low = vertices().map(|p| p.y).fold(f32::INFINITY, f32::min);
    let (sum, count) = vertices()
        .filter(|p| p.y <= low + SOLE * bones)
        .fold((Vec3::ZERO, 0.0), |(sum, count), p| (sum + p, count + 1.0));
    let end = if count > 0.0 { (sum / count).with_y(low) } else { at(tip) };
    let sole = bind.model(foot).inverse().transform_point3(end);
    let length = bones + at(tip).distance(end);
    let leg = CreatureLeg { root, foot, tip, side: None, sole, length, why };
    (math::shear(&bind.model(foot).matrix3) < 1e-3 && sole.is_finite()).then_some(Limb { leg, end })
}

/// Pairs of limbs whose ends are mirror images of each other across a plane of the axes, through the middle of their pair; the
/// plane is that of the most pairs. The first of a pair is on the axis' positive side.
fn pairs(limbs: &[Limb]) -> Vec<[usize; 2]> {
    let across = |axis: Vec3| {
        // The plane: the most frequent middle.
        let mut best: Vec<[usize; 2]> = Vec::new();
        for (i, a) in limbs.iter().enumerate() {
            for (_, b) in limbs.iter().enumerate().skip(i + 1) {
                let middle = 0.5 * (a.end + b.end).dot(axis);
                let found = mirrored(limbs, axis, middle);
                if found.len() > best.len() {
                    best = found;
                }
            }
        }
        best
    };
    let (x, z) = (across(Vec3::X), across(Vec3::Z));
    if z.len() > x.len() { z } else { x }
}

fn mirrored(limbs: &[Limb], axis: Vec3, middle: f32) -> Vec<[usize; 2]> {
    let mut pairs = Vec::new();
    for (i, a) in limbs.iter().enumerate() {
        let aside = a.end.dot(axis) - middle;
        if aside <= MIRRORED * a.leg.length {
            continue;
        }
        let image = a.end - axis * (2.0 * aside);
        let near = |(j, b): &(usize, &Limb)| {
            let alike = (a.leg.length - b.leg.length).abs() <= MIRRORED * a.leg.length;
            *j != i && alike && b.end.distance(image) <= MIRRORED * a.leg.length
        };
        let partner = limbs.iter().enumerate().filter(near);
        let partner =
            partner.min_by(|(_, a), (_, b)| a.end.distance(image).total_cmp(&b.end.distance(image)));
        if let Some((j, _)) = partner
            && !pairs.iter().flatten().any(|&k| k == j)
        {
            pairs.push([i, j]);
        }
    }
    pairs
}

/// The direction in which the creature faces: perpendicular to the axis between its sides, on the side of its head.
fn facing(bind: &Pose, legs: &[(CreatureLeg, Vec3)], lateral: Vec3, doubts: &mut Vec<String>) -> Vec3 {
    let skeleton = bind.skeleton();
    let along = lateral.cross(Vec3::Y).abs();
    let middle = legs.iter().map(|(leg, _)| bind.position(leg.root)).sum::<Vec3>() / legs.len() as f32;
    let is_head = |j: &JointId| names::read(skeleton.name(*j)).is_some_and(|m| m.part == Part::Head);
    match skeleton.joints().find(is_head) {
        Some(head) if (bind.position(head) - middle).dot(along) < 0.0 => -along,
        Some(_) => along,
        None => {
            let axis = if along.x > 0.5 { "+X" } else { "+Z" };
            doubts.push(alloc::format!("no joint is named as a head: the front is taken to be {axis}"));
            along
        }
    }
}

/// Sorts legs from front to rear, the left one of a pair first.
fn sort(legs: &mut [(CreatureLeg, Vec3)], front: Vec3) {
    let left = Vec3::Y.cross(front);
    let length = legs.iter().map(|(l, _)| l.length).fold(0.0, f32::max);
    // Steps of a tenth of a leg keep pairs together that rounding would part.
    let rank = |end: Vec3| -math::floor(end.dot(front) / (0.1 * length) + 0.5);
    legs.sort_by(|(_, a), (_, b)| rank(*a).total_cmp(&rank(*b)).then(b.dot(left).total_cmp(&a.dot(left))));
}
