//! Links and joints as given, checked and ordered into a mechanism.

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use glam::{DAffine3, DQuat, DVec3};
use thiserror::Error;

use super::{
    dof::{Dof, Kind},
    goal::FARTHEST,
    model::{Link, LinkId, Mechanism, Moving},
    motion::{Motion, direction, freedoms},
    swing::Swing,
};
use crate::{joint::WIDEST, math64};

/// A joint that follows another: its value is `multiplier * value of the other + offset`.
#[derive(Clone, Debug, PartialEq)]
pub struct Mimic {
    /// Name of the other joint.
    pub joint: String,
    /// How much it follows.
    pub multiplier: f64,
    /// Its value when the other's is 0.
    pub offset: f64,
}

/// A joint as it is given to the builder.
#[derive(Clone, Debug, PartialEq)]
pub struct JointSpec {
    /// Its name.
    pub name: String,
    /// Name of the link that carries it.
    pub parent: String,
    /// Name of the link that it moves.
    pub child: String,
    /// Where it is in the parent link's space, in metres.
    pub translation: DVec3,
    /// How it is turned there (unit quaternion).
    pub rotation: DQuat,
    /// How it moves.
    pub motion: Motion,
    /// Its greatest speed, in radians or metres a second.
    pub velocity: f64,
    /// Where it is at rest; by default 0, or the middle of limits that leave 0 out. Limits are kept all the same. For joints
    /// of one degree of freedom.
    pub preferred: Option<f64>,
    /// The joint that it follows, if any.
    pub mimic: Option<Mimic>,
}

impl JointSpec {
    /// A joint at the parent link's origin, as fast as it likes.
    pub fn new(
        name: impl Into<String>,
        parent: impl Into<String>,
        child: impl Into<String>,
        motion: Motion,
    ) -> Self {
        Self {
            name: name.into(),
            parent: parent.into(),
            child: child.into(),
            translation: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            motion,
            velocity: f64::INFINITY,
            preferred: None,
            mimic: None,
        }
    }
}

/// What is wrong with links and joints that were to make a mechanism.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MechanismError {
    /// No link was given.
    #[error("there is no link")]
    Empty,
    /// Two links, or two joints, have one name.
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
        /// The link asked for.
        link: String,
    },
    /// The axes of a ball joint's swing and twist are within a degree of one line.
    #[error("joint `{joint}`: its swing axis {swing} is parallel to its twist axis {twist}")]
    Parallel {
        /// The joint.
        joint: String,
        /// The twist axis.
        twist: DVec3,
        /// The swing axis.
        swing: DVec3,
    },
    /// A swing of a ball joint is without width to one side, or goes further than the twist is known.
    #[error(
        "joint `{joint}`: its swing goes from {lower} to {upper}, which must be below and above 0 and within 3 radians"
    )]
    Swing {
        /// The joint.
        joint: String,
        /// Its least value.
        lower: f64,
        /// Its greatest.
        upper: f64,
    },
    /// A number of a joint is NaN or infinite where it must not be.
    #[error("joint `{joint}`: {what} is not finite: {value}")]
    NotFinite {
        /// The joint.
        joint: String,
        /// What it is.
        what: &'static str,
        /// Its value.
        value: String,
    },
    /// A number of a joint is so large that squares of it are no numbers any more.
    #[error("joint `{joint}`: {what} is too large: {value}")]
    TooLarge {
        /// The joint.
        joint: String,
        /// What it is.
        what: &'static str,
        /// Its value.
        value: String,
    },
    /// The axis of a joint that moves has no direction.
    #[error("joint `{joint}`: its axis {axis} has no direction")]
    ZeroAxis {
        /// The joint.
        joint: String,
        /// The axis.
        axis: DVec3,
    },
    /// A rotation is not a unit quaternion.
    #[error("joint `{joint}`: its rotation {rotation} is not a unit quaternion")]
    NotUnit {
        /// The joint.
        joint: String,
        /// The rotation.
        rotation: DQuat,
    },
    /// The lower limit is above the upper one.
    #[error("joint `{joint}`: its lower limit {lower} is above its upper limit {upper}")]
    ReversedLimits {
        /// The joint.
        joint: String,
        /// The lower limit.
        lower: f64,
        /// The upper limit.
        upper: f64,
    },
    /// The greatest speed is negative.
    #[error("joint `{joint}`: its greatest velocity {velocity} is below 0")]
    NegativeVelocity {
        /// The joint.
        joint: String,
        /// The velocity.
        velocity: f64,
    },
    /// A link hangs on two joints, which closes a loop.
    #[error("link `{link}` hangs on two joints, `{first}` and `{second}`: loops are not supported")]
    TwoParents {
        /// The link.
        link: String,
        /// One joint.
        first: String,
        /// The other.
        second: String,
    },
    /// Two links hang on nothing.
    #[error("links `{first}` and `{second}` both hang on nothing: there must be one root")]
    TwoRoots {
        /// One link.
        first: String,
        /// The other.
        second: String,
    },
    /// A link is among its own ancestors.
    #[error("link `{link}` is among its own ancestors: the joints form a loop")]
    Loop {
        /// The link.
        link: String,
    },
    /// A joint mimics one that does not exist, does not move or is itself.
    #[error("joint `{joint}` mimics `{mimicked}`, which {problem}")]
    Mimic {
        /// The joint.
        joint: String,
        /// The joint that it names.
        mimicked: String,
        /// What is wrong with that.
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

/// Collects links and joints in any order; see [`Mechanism::builder`].
#[derive(Clone, Debug)]
pub struct MechanismBuilder {
    name: String,
    links: Vec<String>,
    joints: Vec<JointSpec>,
}

impl Mechanism {
    /// Starts a mechanism without links.
    pub fn builder(name: impl Into<String>) -> MechanismBuilder {
        MechanismBuilder { name: name.into(), links: Vec::new(), joints: Vec::new() }
    }
}

impl MechanismBuilder {
    /// Adds a link.
    pub fn link(&mut self, name: impl Into<String>) {
        self.links.push(name.into());
    }

    /// Adds a joint; its links may be added later.
    pub fn joint(&mut self, joint: JointSpec) {
        self.joints.push(joint);
    }

    /// Checks everything and puts it in order: depth first, children in the order in which their joints were added.
    pub fn build(self) -> Result<Mechanism, MechanismError> {
        if self.links.is_empty() {
            return Err(MechanismError::Empty);
        }
        let index = self.link_index()?;
        let find = |joint: &JointSpec, role, link: &str| {
            let at = index.binary_search_by(|&i| self.links[i].as_str().cmp(link));
            at.map(|at| index[at]).map_err(|_| MechanismError::NoSuchLink {
                joint: joint.name.clone(),
                role,
                link: link.into(),
            })
        };
        let mut ends = Vec::with_capacity(self.joints.len());
        for joint in &self.joints {
            check(joint)?;
            ends.push((find(joint, "parent", &joint.parent)?, find(joint, "child", &joint.child)?));
        }
        let mut names: Vec<&str> = self.joints.iter().map(|j| j.name.as_str()).collect();
        same_name("joint", &mut names)?;
        let order = self.order(&ends)?;
        self.assemble(&order, &ends)
    }

    /// Places of the links in the order of their names.
    fn link_index(&self) -> Result<Vec<usize>, MechanismError> {
        let mut names: Vec<&str> = self.links.iter().map(String::as_str).collect();
        same_name("link", &mut names)?;
        let mut index: Vec<usize> = (0..self.links.len()).collect();
        index.sort_by(|&a, &b| self.links[a].cmp(&self.links[b]));
        Ok(index)
    }

    /// Links depth first, each with the joint that it hangs on.
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
        // Every link but the root hangs on one joint: what is not found from the root goes round in a loop.
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
            if spec.mimic.is_none() && spec.motion != Motion::Fixed {
                dof_of[joint] = Some(made.dofs.len() as u32);
                if let Motion::Ball { swing, .. } = spec.motion {
                    made.swings.push((made.dofs.len(), Swing::new(swing)));
                }
                for freedom in freedoms(spec.motion) {
                    made.dofs.push(Dof {
                        name: format!("{}{}", spec.name, freedom.suffix),
                        slides: freedom.kind == Kind::Slide,
                        part: freedom.part,
                        lower: freedom.lower,
                        upper: freedom.upper,
                        velocity: spec.velocity,
                        preferred: spec.preferred.filter(|_| freedom.suffix.is_empty()),
                        contradicted_by: Vec::new(),
                    });
                }
            }
        }
        let mut id_of = vec![0; self.links.len()];
        for &(link, joint) in order {
            id_of[link] = made.links.len() as u32;
            let Some(j) = joint else {
                let name = self.links[link].clone();
                made.links.push(Link { name, carrier: None, offset: DAffine3::IDENTITY, parent: None });
                continue;
            };
            let spec = &self.joints[j];
            let parent = id_of[ends[j].0];
            let (mut carrier, mut offset) =
                (made.links[parent as usize].carrier, made.links[parent as usize].offset);
            let rotation = math64::matrix(unit(spec.rotation));
            offset *= DAffine3::from_mat3_translation(rotation, spec.translation);
            let follows = spec.mimic.as_ref().filter(|_| spec.motion != Motion::Fixed);
            let (first, multiplier, shift) = match follows {
                None => (dof_of[j], 1.0, 0.0),
                Some(mimic) => {
                    let dof = self.mimicked(spec, mimic, &dof_of)?;
                    narrow(&mut made.dofs[dof as usize], spec, mimic);
                    (Some(dof), mimic.multiplier, mimic.offset)
                }
            };
            for (k, freedom) in freedoms(spec.motion).into_iter().enumerate() {
                let dof = first.unwrap_or_default() + k as u32;
                let rest = offset * DAffine3::from_mat3(freedom.frame);
                made.joints.push(Moving {
                    parent: carrier,
                    rest,
                    kind: freedom.kind,
                    dof,
                    multiplier,
                    offset: shift,
                });
                carrier = Some(made.joints.len() as u32 - 1);
                offset = DAffine3::from_mat3(freedom.back);
            }
            made.links.push(Link {
                name: self.links[link].clone(),
                carrier,
                offset,
                parent: Some(LinkId(parent)),
            });
        }
        Ok(made)
    }

    /// The degree of freedom that a joint mimics.
    fn mimicked(
        &self,
        joint: &JointSpec,
        mimic: &Mimic,
        dof_of: &[Option<u32>],
    ) -> Result<u32, MechanismError> {
        let wrong = |problem| MechanismError::Mimic {
            joint: joint.name.clone(),
            mimicked: mimic.joint.clone(),
            problem,
        };
        let many = |m: &Motion| !matches!(m, Motion::Fixed | Motion::Turn { .. } | Motion::Slide { .. });
        if many(&joint.motion) {
            return Err(MechanismError::MimicOfMany {
                joint: joint.name.clone(),
                mimicked: mimic.joint.clone(),
            });
        }
        if mimic.joint == joint.name {
            return Err(wrong("is itself"));
        }
        let other = self.joints.iter().position(|j| j.name == mimic.joint);
        let other = other.ok_or_else(|| wrong("does not exist"))?;
        match &self.joints[other].motion {
            Motion::Fixed => return Err(wrong("does not move")),
            m if many(m) => return Err(wrong("has several degrees of freedom")),
            _ => {}
        }
        dof_of[other].ok_or_else(|| wrong("itself mimics another"))
    }
}

/// Narrows a degree of freedom to where a joint that mimics it is within its own limits too. Real files hold followers
/// whose limits leave no room at all (PR2's grippers); those are noted and not kept.
fn narrow(dof: &mut Dof, spec: &JointSpec, mimic: &Mimic) {
    let (Motion::Turn { lower, upper, .. } | Motion::Slide { lower, upper, .. }) = spec.motion else {
        return;
    };
    if mimic.multiplier == 0.0 {
        return;
    }
    let (a, b) = ((lower - mimic.offset) / mimic.multiplier, (upper - mimic.offset) / mimic.multiplier);
    let (low, high) = (dof.lower.max(a.min(b)), dof.upper.min(a.max(b)));
    if low < high || (low == high && dof.lower == dof.upper) {
        (dof.lower, dof.upper) = (low, high);
    } else {
        dof.contradicted_by.push(spec.name.clone());
    }
}

fn same_name(kind: &'static str, names: &mut [&str]) -> Result<(), MechanismError> {
    names.sort_unstable();
    match names.windows(2).find(|w| w[0] == w[1]) {
        Some(w) => Err(MechanismError::SameName { kind, name: w[0].into() }),
        None => Ok(()),
    }
}

fn unit(q: DQuat) -> DQuat {
    let s = 1.0 / math64::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    DQuat::from_xyzw(q.x * s, q.y * s, q.z * s, q.w * s)
}

/// Whether every number of a joint can be worked with.
fn check(joint: &JointSpec) -> Result<(), MechanismError> {
    let name = || joint.name.clone();
    let not_finite = |what, value: String| MechanismError::NotFinite { joint: name(), what, value };
    if !joint.translation.is_finite() {
        return Err(not_finite("its origin", joint.translation.to_string()));
    }
    let too_large = |what, value: String| MechanismError::TooLarge { joint: name(), what, value };
    if joint.translation.abs().max_element() > FARTHEST {
        return Err(too_large("its origin", joint.translation.to_string()));
    }
    let q = joint.rotation;
    if !q.is_finite() {
        return Err(not_finite("its rotation", q.to_string()));
    }
    let length = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    // A quaternion that was read from six digits is this near.
    if (length - 1.0).abs() > 1e-5 {
        return Err(MechanismError::NotUnit { joint: name(), rotation: q });
    }
    let axes = match joint.motion {
        Motion::Fixed | Motion::Floating | Motion::Spherical => [DVec3::Z; 2],
        Motion::Turn { axis, .. } | Motion::Slide { axis, .. } => [axis; 2],
        Motion::Planar { normal } => [normal; 2],
        Motion::Ball { twist_axis, swing_axis, .. } => [twist_axis, swing_axis],
    };
    for axis in axes {
        if !axis.is_finite() {
            return Err(not_finite("its axis", axis.to_string()));
        }
        if !axis.abs().max_element().is_normal() {
            return Err(MechanismError::ZeroAxis { joint: name(), axis });
        }
    }
    let range = |(lower, upper): (f64, f64)| {
        for (what, limit) in [("its lower limit", lower), ("its upper limit", upper)] {
            if limit.is_nan() {
                return Err(not_finite(what, limit.to_string()));
            }
        }
        match lower > upper || lower == f64::INFINITY || upper == f64::NEG_INFINITY {
            true => Err(MechanismError::ReversedLimits { joint: name(), lower, upper }),
            false => Ok(()),
        }
    };
    match joint.motion {
        Motion::Turn { lower, upper, .. } | Motion::Slide { lower, upper, .. } => range((lower, upper))?,
        Motion::Ball { twist_axis, swing_axis, swing, twist } => {
            // Of a degree, so that a direction across is known: as in pose space.
            let across = direction(twist_axis).cross(direction(swing_axis));
            if across.length_squared() < 0.0175 * 0.0175 {
                let (joint, twist, swing) = (name(), twist_axis, swing_axis);
                return Err(MechanismError::Parallel { joint, twist, swing });
            }
            for (lower, upper) in swing {
                range((lower, upper))?;
                // Squares of half-axes stay normal numbers above this.
                let wide = |half: f64| (1e-100..=WIDEST).contains(&half);
                if !(wide(-lower) && wide(upper)) {
                    return Err(MechanismError::Swing { joint: name(), lower, upper });
                }
            }
            range(twist)?;
        }
        Motion::Fixed | Motion::Planar { .. } | Motion::Floating | Motion::Spherical => {}
    }
    if let Some(preferred) = joint.preferred.filter(|p| !p.is_finite()) {
        return Err(not_finite("its preferred value", preferred.to_string()));
    }
    if joint.velocity.is_nan() {
        return Err(not_finite("its greatest velocity", joint.velocity.to_string()));
    }
    if joint.velocity < 0.0 {
        return Err(MechanismError::NegativeVelocity { joint: name(), velocity: joint.velocity });
    }
    if let Some(mimic) = &joint.mimic {
        for (what, value) in
            [("its mimic's multiplier", mimic.multiplier), ("its mimic's offset", mimic.offset)]
        {
            if !value.is_finite() {
                return Err(not_finite(what, value.to_string()));
            }
            if value.abs() > FARTHEST {
                return Err(too_large(what, value.to_string()));
            }
        }
    }
    Ok(())
}
