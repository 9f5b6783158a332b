//! Builder that checks links and joints and orders them into a mechanism.

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use glam::{DAffine3, DQuat, DVec3};
use thiserror::Error;

use super::{
    compile::CAPABILITY,
    dof::{DofKind, NamedDof, parts},
    goal::FARTHEST,
    model::{Carried, Link, LinkId, LinkJoint, Mechanism, Moving},
    swing::Swing,
};
use crate::{
    joint::{Joint, JointError, Range, Turning, UnsupportedAttribute},
    math64,
};

/// Dependence of a joint on a degree of freedom of another joint: `value = multiplier * other value + offset`.
#[derive(Clone, Debug, PartialEq)]
pub struct Mimic {
    /// Name of the other degree of freedom: its joint's name where it is the joint's only one; see
    /// [`NamedDof::name`](super::NamedDof::name).
    pub dof: String,
    /// Factor of the other's value; the unit is this joint's per the other's.
    pub multiplier: f64,
    /// Value where the other's is 0, in radians or metres.
    pub offset: f64,
}

/// Description of a joint for the builder.
#[derive(Clone, Debug, PartialEq)]
pub struct JointSpec {
    /// Name of the joint.
    pub name: String,
    /// Name of the parent link.
    pub parent: String,
    /// Name of the child link, which the joint moves.
    pub child: String,
    /// Position in the parent link's space, in metres.
    pub translation: DVec3,
    /// Rotation in the parent link's space (unit quaternion).
    pub rotation: DQuat,
    /// Motion and limits. Axes are in the joint's own frame.
    pub joint: Joint,
    /// Degree of freedom that it follows, if any. Only joints of one degree of freedom can follow another.
    pub mimic: Option<Mimic>,
}

impl JointSpec {
    /// Returns a joint at the parent link's origin, unrotated, which follows none.
    pub fn new(
        name: impl Into<String>,
        parent: impl Into<String>,
        child: impl Into<String>,
        joint: Joint,
    ) -> Self {
        Self {
            name: name.into(),
            parent: parent.into(),
            child: child.into(),
            translation: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            joint,
            mimic: None,
        }
    }
}

/// Reason why links and joints make no mechanism.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MechanismError {
    /// No link was given.
    #[error("there is no link")]
    Empty,
    /// Two links, or two joints, have the same name.
    #[error("two {kind}s are called `{name}`")]
    SameName {
        /// `link` or `joint`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A joint names a link that does not exist.
    #[error("joint `{joint}`: its {role} link `{link}` does not exist")]
    NoSuchLink {
        /// The joint.
        joint: String,
        /// `parent` or `child`.
        role: &'static str,
        /// Name of the missing link.
        link: String,
    },
    /// The joint's description is invalid.
    #[error(transparent)]
    Joint(#[from] JointError),
    /// A joint has an attribute that joint space does not support.
    #[error(transparent)]
    Unsupported(#[from] UnsupportedAttribute),
    /// A number of a joint is NaN or infinite.
    #[error("joint `{joint}`: {what} is not finite: {value}")]
    NotFinite {
        /// The joint.
        joint: String,
        /// Quantity that the number gives.
        what: &'static str,
        /// Its value.
        value: String,
    },
    /// A number of a joint is larger than 1e50 in magnitude, so that its powers may overflow.
    #[error("joint `{joint}`: {what} is too large: {value}")]
    TooLarge {
        /// The joint.
        joint: String,
        /// Quantity that the number gives.
        what: &'static str,
        /// Its value.
        value: String,
    },
    /// A rotation is not a unit quaternion.
    #[error("joint `{joint}`: its rotation {rotation} is not a unit quaternion")]
    NotUnit {
        /// The joint.
        joint: String,
        /// The rotation.
        rotation: DQuat,
    },
    /// A link has two parent joints, which closes a loop.
    #[error("link `{link}` is the child of two joints, `{first}` and `{second}`: loops are not supported")]
    TwoParents {
        /// The link.
        link: String,
        /// One joint.
        first: String,
        /// The other.
        second: String,
    },
    /// Two links have no parent joint.
    #[error("links `{first}` and `{second}` have no parent joint: there must be exactly one root")]
    TwoRoots {
        /// One link.
        first: String,
        /// The other.
        second: String,
    },
    /// A link is its own ancestor.
    #[error("link `{link}` is its own ancestor: the joints form a loop")]
    Loop {
        /// The link.
        link: String,
    },
    /// A joint mimics a degree of freedom that does not exist, is no single turn or slide, depends on another, or is its
    /// own.
    #[error("joint `{joint}` mimics `{mimicked}`, which {problem}")]
    Mimic {
        /// The joint.
        joint: String,
        /// The degree of freedom that it names.
        mimicked: String,
        /// Reason, as the end of a sentence about the degree of freedom.
        problem: &'static str,
    },
    /// A joint of several degrees of freedom mimics another.
    #[error("joint `{joint}` has several degrees of freedom and cannot mimic `{mimicked}`")]
    MimicOfMany {
        /// The joint.
        joint: String,
        /// The joint that it names.
        mimicked: String,
    },
}

/// Collects links and joints in any order; created by [`Mechanism::builder`].
#[derive(Clone, Debug)]
pub struct MechanismBuilder {
    name: String,
    links: Vec<String>,
    joints: Vec<JointSpec>,
}

impl Mechanism {
    /// Returns a builder without links.
    pub fn builder(name: impl Into<String>) -> MechanismBuilder {
        MechanismBuilder { name: name.into(), links: Vec::new(), joints: Vec::new() }
    }
}

impl MechanismBuilder {
    /// Adds a link.
    pub fn link(&mut self, name: impl Into<String>) {
        self.links.push(name.into());
    }

    /// Adds a joint. Its links may be added later.
    pub fn joint(&mut self, joint: JointSpec) {
        self.joints.push(joint);
    }

    /// Checks the links and joints, and returns the mechanism. Links are ordered depth first, children in the order in which
    /// their joints were added.
    pub fn build(self) -> Result<Mechanism, MechanismError> {
        if self.links.is_empty() {
            return Err(MechanismError::Empty);
        }
        let links = indices("link", self.links.iter().map(String::as_str))?;
        let find = |joint: &JointSpec, role, link: &str| {
            let missing =
                || MechanismError::NoSuchLink { joint: joint.name.clone(), role, link: link.into() };
            links.get(link).copied().ok_or_else(missing)
        };
        let mut ends = Vec::with_capacity(self.joints.len());
        for joint in &self.joints {
            check(joint)?;
            ends.push((find(joint, "parent", &joint.parent)?, find(joint, "child", &joint.child)?));
        }
        indices("joint", self.joints.iter().map(|j| j.name.as_str()))?;
        let order = self.order(&ends)?;
        self.assemble(&order, &ends)
    }

    /// Returns the links depth first, each with its parent joint.
    fn order(&self, ends: &[(usize, usize)]) -> Result<Vec<(usize, Option<usize>)>, MechanismError> {
        let mut hangs_on: Vec<Option<usize>> = vec![None; self.links.len()];
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); self.links.len()];
        for (j, &(parent, child)) in ends.iter().enumerate() {
            if let Some(first) = hangs_on[child].replace(j) {
                return Err(MechanismError::TwoParents {
                    link: self.links[child].clone(),
                    first: self.joints[first].name.clone(),
                    second: self.joints[j].name.clone(),
                });
            }
            below[parent].push(j);
        }
        let mut roots = (0..self.links.len()).filter(|&l| hangs_on[l].is_none());
        let root = roots.next().ok_or_else(|| MechanismError::Loop { link: self.links[0].clone() })?;
        if let Some(second) = roots.next() {
            let (first, second) = (self.links[root].clone(), self.links[second].clone());
            return Err(MechanismError::TwoRoots { first, second });
        }
        let mut order = Vec::with_capacity(self.links.len());
        let mut seen = vec![false; self.links.len()];
        let mut stack: Vec<(usize, Option<usize>)> = [(root, None)].into();
        while let Some((link, joint)) = stack.pop() {
            seen[link] = true;
            order.push((link, joint));
            stack.extend(below[link].iter().rev().map(|&j| (ends[j].1, Some(j))));
        }
        // Every link but the root has one parent joint, so a link that the root does not reach is part of a loop.
        match seen.iter().position(|s| !s) {
            Some(link) => Err(MechanismError::Loop { link: self.links[link].clone() }),
            None => Ok(order),
        }
    }

    fn assemble(
        &self,
        order: &[(usize, Option<usize>)],
        ends: &[(usize, usize)],
    ) -> Result<Mechanism, MechanismError> {
        let mut made = Mechanism {
            name: self.name.clone(),
            links: Vec::with_capacity(order.len()),
            joints: Vec::new(),
            dofs: Vec::new(),
            swings: Vec::new(),
        };
        // Degrees of freedom first: a joint may mimic one that comes later.
        let mut dof_of: Vec<Option<u32>> = vec![None; self.joints.len()];
        for joint in order.iter().filter_map(|o| o.1) {
            let spec = &self.joints[joint];
            if spec.mimic.is_some() {
                continue;
            }
            dof_of[joint] = Some(made.dofs.len() as u32);
            for part in parts(&spec.joint) {
                if (part.kind, part.leads) == (DofKind::Swing, true)
                    && let Turning::Ball { swing, centre, .. } = spec.joint.turning
                {
                    let ends = swing.map(|d| (d.range.min, d.range.max));
                    made.swings.push((made.dofs.len(), Swing::new(ends, centre)));
                }
                let name = format!("{}{}", spec.name, part.suffix);
                let (dof, centre, contradicted_by) = (part.dof, part.centre, Vec::new());
                made.dofs.push(NamedDof { name, kind: part.kind, dof, centre, contradicted_by });
            }
        }
        let mut id_of = vec![0; self.links.len()];
        for &(link, joint) in order {
            id_of[link] = made.links.len() as u32;
            let Some(j) = joint else {
                let name = self.links[link].clone();
                made.links.push(Link { name, at: Carried::BASE, parent: None, joint: None });
                continue;
            };
            let spec = &self.joints[j];
            let parent = id_of[ends[j].0];
            let mut at = made.links[parent as usize].at;
            let rotation = math64::matrix(math64::normalize(spec.rotation));
            let origin = DAffine3::from_mat3_translation(rotation, spec.translation);
            at.offset *= origin;
            let own = parts(&spec.joint);
            let follows = spec.mimic.as_ref().filter(|_| !own.is_empty());
            let (first, multiplier, shift) = match follows {
                None => (dof_of[j], 1.0, 0.0),
                Some(mimic) => {
                    let dof = self.mimicked(spec, own.len(), mimic, &made.dofs)?;
                    if !narrow(&mut made.dofs[dof].dof.range, own[0].dof.range, mimic) {
                        made.dofs[dof].contradicted_by.push(spec.name.clone());
                    }
                    // The stiffest of the joints that move together.
                    let stiffness = &mut made.dofs[dof].dof.stiffness;
                    *stiffness = stiffness.max(own[0].dof.stiffness);
                    (Some(dof as u32), mimic.multiplier, mimic.offset)
                }
            };
            for (k, part) in own.into_iter().enumerate() {
                made.joints.push(Moving {
                    rest: at.offset * DAffine3::from_mat3(part.frame),
                    parent: at.joint,
                    var: first.unwrap_or_default() + k as u32,
                    kind: part.kind,
                    leads: part.leads,
                    multiplier,
                    // A centre of 0 leaves the sign of a zero: its value is -0.
                    offset: if part.kind == DofKind::Swing { -part.centre } else { shift },
                });
                at = Carried { joint: made.joints.len() as u32 - 1, offset: DAffine3::from_mat3(part.back) };
            }
            made.links.push(Link {
                name: self.links[link].clone(),
                at,
                parent: Some(LinkId(parent)),
                joint: Some(LinkJoint {
                    name: spec.name.clone(),
                    joint: spec.joint,
                    origin,
                    first: first.unwrap_or_default(),
                    mimic: follows.cloned(),
                }),
            });
        }
        Ok(made)
    }

    /// Returns the index of the degree of freedom that a joint mimics.
    fn mimicked(
        &self,
        joint: &JointSpec,
        count: usize,
        mimic: &Mimic,
        dofs: &[NamedDof],
    ) -> Result<usize, MechanismError> {
        let wrong = |problem| MechanismError::Mimic {
            joint: joint.name.clone(),
            mimicked: mimic.dof.clone(),
            problem,
        };
        if count > 1 {
            return Err(MechanismError::MimicOfMany {
                joint: joint.name.clone(),
                mimicked: mimic.dof.clone(),
            });
        }
        if mimic.dof == joint.name {
            return Err(wrong("is itself"));
        }
        if let Some(dof) = dofs.iter().position(|d| d.name == mimic.dof) {
            let by_itself = matches!(dofs[dof].kind, DofKind::Turn | DofKind::Slide);
            return if by_itself { Ok(dof) } else { Err(wrong("is one of three that turn a ball together")) };
        }
        let named = self.joints.iter().find(|j| j.name == mimic.dof);
        let named = named.ok_or_else(|| wrong("does not exist"))?;
        Err(wrong(match (parts(&named.joint).len(), &named.mimic) {
            (0, _) => "does not move",
            (_, Some(_)) => "itself mimics another",
            (_, None) => "has several degrees of freedom",
        }))
    }
}

/// Narrows a range to the part in which a joint that mimics it is within its own limits. Some real files hold followers
/// whose limits leave no such part (PR2's grippers); the range then stays as it is, and the result is false.
fn narrow(range: &mut Range, follower: Range, mimic: &Mimic) -> bool {
    if mimic.multiplier == 0.0 {
        return true;
    }
    let [a, b] = [follower.min, follower.max].map(|end| (end - mimic.offset) / mimic.multiplier);
    let (low, high) = (range.min.max(a.min(b)), range.max.min(a.max(b)));
    let room = low < high || (low == high && range.min == range.max);
    if room {
        *range = Range::new(low, high);
    }
    room
}

/// Returns the index of each name, or an error where two names are equal.
fn indices<'a>(
    kind: &'static str,
    names: impl Iterator<Item = &'a str>,
) -> Result<BTreeMap<&'a str, usize>, MechanismError> {
    let mut indices = BTreeMap::new();
    for (i, name) in names.enumerate() {
        if indices.insert(name, i).is_some() {
            return Err(MechanismError::SameName { kind, name: name.into() });
        }
    }
    Ok(indices)
}

/// Checks that every number of a joint is usable.
fn check(joint: &JointSpec) -> Result<(), MechanismError> {
    let name = || joint.name.clone();
    let number = |what, numbers: &[f64], value: &dyn ToString| {
        let (joint, value) = (name(), value.to_string());
        if numbers.iter().any(|x| !x.is_finite()) {
            return Err(MechanismError::NotFinite { joint, what, value });
        }
        let large = numbers.iter().any(|x| x.abs() > FARTHEST);
        if large { Err(MechanismError::TooLarge { joint, what, value }) } else { Ok(()) }
    };
    let q = joint.rotation;
    number("its origin", &joint.translation.to_array(), &joint.translation)?;
    number("its rotation", &q.to_array(), &q)?;
    let length = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    // Tolerance of a quaternion that was written with six digits.
    if (length - 1.0).abs() > 1e-5 {
        return Err(MechanismError::NotUnit { joint: name(), rotation: q });
    }
    joint.joint.check().map_err(|fault| JointError { joint: name(), fault })?;
    if let Some(attribute) = joint.joint.attributes().first_beyond(CAPABILITY.honoured) {
        let solver = CAPABILITY.solver;
        return Err(UnsupportedAttribute { joint: name(), attribute, solver }.into());
    }
    if let Some(mimic) = &joint.mimic {
        for (what, value) in
            [("its mimic's multiplier", mimic.multiplier), ("its mimic's offset", mimic.offset)]
        {
            number(what, &[value], &value)?;
        }
    }
    Ok(())
}
