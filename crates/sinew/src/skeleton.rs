//! The tree of joints with its rest pose.

use alloc::{string::String, vec::Vec};
use core::fmt;

use glam::Quat;
use thiserror::Error;

use crate::{
    JointTransform, TransformFault,
    joint::{self, JointError, Limits},
};

/// Identifier of one joint of one [`Skeleton`]: its index in the skeleton's order (parents before children).
///
/// Ids come from a skeleton, by name, index or role. Using an id with another skeleton is a programming error like an
/// out-of-range slice index: it panics or names another joint. Check a stored id with [`Skeleton::joint_at`]; solvers
/// check the ids in an [`Effector`](crate::solve::Effector).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct JointId(u32);

impl JointId {
    /// The joint's index in the skeleton's order.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for JointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// Errors of building a skeleton.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SkeletonError {
    /// No joint was given.
    #[error("a skeleton needs at least one joint")]
    Empty,
    /// The parent's index is not that of a joint.
    #[error("joint {joint} `{name}` names joint {parent} as its parent, but there are {count} joints")]
    NoSuchParent {
        /// Index of the joint in the order of adding.
        joint: usize,
        /// The joint's name.
        name: String,
        /// The given parent index.
        parent: usize,
        /// Number of joints.
        count: usize,
    },
    /// The joint is its own ancestor, or lies below a joint that is.
    #[error("joint {joint} `{name}` is among its own ancestors")]
    Loop {
        /// Index of the joint in the order of adding.
        joint: usize,
        /// The joint's name.
        name: String,
    },
    /// The rest transform is not finite, or its rotation is not close to a unit quaternion.
    #[error("the rest transform of joint {joint} `{name}` {fault}")]
    Rest {
        /// Index of the joint in the order of adding.
        joint: usize,
        /// The joint's name.
        name: String,
        /// The fault.
        #[source]
        fault: TransformFault,
    },
    /// There are more joints than a `u32` counts.
    #[error("{count} joints were given; a skeleton holds fewer than {}", u32::MAX)]
    TooMany {
        /// Number of joints.
        count: usize,
    },
}

/// Errors of looking up a joint by its path.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum JointPathError {
    /// No joint has this path.
    #[error(
        "there is no joint `{path}`: {}",
        if reached.is_empty() { "no beginning of it leads to one".into() }
        else { alloc::format!("below `{reached}` there is {}", list(below)) }
    )]
    NotFound {
        /// The given path.
        path: String,
        /// Path of the joint at the longest valid prefix of the given path; empty if no prefix is valid.
        reached: String,
        /// Names of that joint's children, at most 8.
        below: Vec<String>,
    },
    /// Several joints have this path.
    #[error("{count} joints are called `{path}`: {}", list(paths))]
    Ambiguous {
        /// The given path.
        path: String,
        /// Number of joints with this path.
        count: usize,
        /// Their full paths, at most 8.
        paths: Vec<String>,
    },
}

/// Maximum number of joints that an error names.
const NAMED: usize = 8;

fn list(names: &[String]) -> String {
    if names.is_empty() { "nothing".into() } else { alloc::format!("`{}`", names.join("`, `")) }
}

/// Parent index of a root. No skeleton has this many joints.
pub(crate) const ROOT: u32 = u32::MAX;

#[derive(Clone, Debug, PartialEq)]
struct Node {
    name: String,
    rest: JointTransform,
    /// One past the index of the last joint in this joint's subtree.
    end: u32,
}

/// A tree of joints with names and a rest pose. Several roots are allowed.
///
/// Joints are ordered depth first: parents before children, each subtree contiguous. One forward pass computes model
/// space, and a subtree is an index range.
///
/// ```
/// use sinew::{Skeleton, JointTransform, glam::Vec3};
/// let mut builder = Skeleton::builder();
/// let thigh = builder.add("thigh", None, JointTransform::from_translation(Vec3::new(0.0, 0.9, 0.0)));
/// let shin = builder.add("shin", Some(thigh), JointTransform::from_translation(Vec3::new(0.0, -0.45, 0.0)));
/// builder.add("foot", Some(shin), JointTransform::from_translation(Vec3::new(0.0, -0.42, 0.0)));
/// let (skeleton, _) = builder.build()?;
/// let foot = skeleton.find("foot").unwrap();
/// assert_eq!(skeleton.name(skeleton.parent(foot).unwrap()), "shin");
/// # Ok::<(), sinew::SkeletonError>(())
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<StoredJoint>", into = "Vec<StoredJoint>"))]
pub struct Skeleton {
    joints: Vec<Node>,
    /// Index of each joint's parent, [`ROOT`] for a root. A separate array, because the per-frame passes over the tree
    /// read nothing else.
    parents: Vec<u32>,
    /// Description and limits of each joint; empty if every joint turns freely.
    limited: Vec<(joint::Joint, Limits)>,
}

impl PartialEq for Skeleton {
    /// Limits follow from the descriptions and the rest pose. A joint set to [`Joint::FREE`](joint::Joint::FREE) equals one
    /// that was not set.
    fn eq(&self, other: &Self) -> bool {
        self.parents == other.parents
            && self.joints == other.joints
            && self.joints().all(|j| self.joint(j) == other.joint(j))
    }
}

/// The serialised form of a joint.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredJoint {
    name: String,
    /// Index of the parent in the list.
    parent: Option<usize>,
    #[serde(default)]
    rest: JointTransform,
    #[serde(default)]
    joint: joint::Joint,
}

#[cfg(feature = "serde")]
impl From<Skeleton> for Vec<StoredJoint> {
    fn from(skeleton: Skeleton) -> Self {
        let stored = |j| StoredJoint {
            name: skeleton.name(j).into(),
            parent: skeleton.parent(j).map(JointId::index),
            rest: *skeleton.rest(j),
            joint: *skeleton.joint(j),
        };
        skeleton.joints().map(stored).collect()
    }
}

#[cfg(feature = "serde")]
impl TryFrom<Vec<StoredJoint>> for Skeleton {
    type Error = String;

    fn try_from(stored: Vec<StoredJoint>) -> Result<Self, String> {
        use alloc::string::ToString;
        let mut builder = Skeleton::builder();
        let joints: Vec<_> = stored
            .into_iter()
            .map(|s| {
                builder.add(s.name, s.parent, s.rest);
                s.joint
            })
            .collect();
        let (mut skeleton, ids) = builder.build().map_err(|error| error.to_string())?;
        for (id, joint) in ids.into_iter().zip(joints).filter(|(_, joint)| *joint != joint::Joint::FREE) {
            skeleton.set_joint(id, joint).map_err(|error| error.to_string())?;
        }
        Ok(skeleton)
    }
}

/// Builder of a [`Skeleton`] that takes joints in any order; see [`Skeleton::builder`].
#[derive(Clone, Debug, Default)]
pub struct SkeletonBuilder {
    joints: Vec<(String, Option<usize>, JointTransform)>,
}

impl SkeletonBuilder {
    /// Adds a joint and returns its index in the order of adding. `parent` is such an index, and may be added later.
    pub fn add(&mut self, name: impl Into<String>, parent: Option<usize>, rest: JointTransform) -> usize {
        self.joints.push((name.into(), parent, rest));
        self.joints.len() - 1
    }

    /// Checks the tree and orders it depth first. Returns the skeleton and, for each joint in the order of adding, its
    /// id.
    ///
    /// Normalises rest rotations whose squared length differs from 1 by more than 1e-6.
    ///
    /// # Errors
    ///
    /// - [`SkeletonError::Empty`] or [`SkeletonError::TooMany`] for the number of joints.
    /// - [`SkeletonError::NoSuchParent`] if a parent's index is out of range.
    /// - [`SkeletonError::Loop`] if a joint is its own ancestor.
    /// - [`SkeletonError::Rest`] if a rest transform is not finite, or the squared length of its rotation is outside
    ///   0.25 to 4.
    pub fn build(mut self) -> Result<(Skeleton, Vec<JointId>), SkeletonError> {
        let count = self.joints.len();
        if count == 0 {
            return Err(SkeletonError::Empty);
        }
        if !u32::try_from(count).is_ok_and(|count| count < ROOT) {
            return Err(SkeletonError::TooMany { count });
        }
        // Children as linked lists (first child, next sibling): no recursion at any depth.
        const NONE: usize = usize::MAX;
        let (mut first, mut next) = (alloc::vec![NONE; count], alloc::vec![NONE; count]);
        let mut roots = Vec::new();
        for i in (0..count).rev() {
            let (name, parent, rest) = &mut self.joints[i];
            rest.rotation = rest.unit_rotation().map_err(|fault| SkeletonError::Rest {
                joint: i,
                name: name.clone(),
                fault,
            })?;
            match *parent {
                None => roots.push(i),
                Some(p) if p < count => {
                    next[i] = first[p];
                    first[p] = i;
                }
                Some(parent) => {
                    return Err(SkeletonError::NoSuchParent { joint: i, name: name.clone(), parent, count });
                }
            }
        }
        let mut ids = alloc::vec![JointId(u32::MAX); count];
        let mut joints: Vec<Node> = Vec::with_capacity(count);
        let mut parents = Vec::with_capacity(count);
        // `roots` is in reverse order, so that the stack pops the first root first.
        let mut stack = roots;
        while let Some(i) = stack.pop() {
            ids[i] = JointId(joints.len() as u32);
            let (name, parent, rest) = &self.joints[i];
            joints.push(Node { name: name.clone(), rest: *rest, end: 0 });
            parents.push(parent.map_or(ROOT, |p| ids[p].0));
            let at = stack.len();
            let mut child = first[i];
            while child != NONE {
                stack.push(child);
                child = next[child];
            }
            stack[at..].reverse();
        }
        if joints.len() < count {
            let joint = ids.iter().position(|id| id.0 == u32::MAX).unwrap_or(0);
            return Err(SkeletonError::Loop { joint, name: self.joints[joint].0.clone() });
        }
        for i in (0..count).rev() {
            let end = joints[i].end.max(i as u32 + 1);
            joints[i].end = end;
            if let Some(parent) = joints.get_mut(parents[i] as usize) {
                parent.end = parent.end.max(end);
            }
        }
        Ok((Skeleton { joints, parents, limited: Vec::new() }, ids))
    }
}

impl Skeleton {
    /// An empty builder.
    pub fn builder() -> SkeletonBuilder {
        SkeletonBuilder::default()
    }

    /// Number of joints, at least one.
    #[allow(clippy::len_without_is_empty)] // A skeleton is never empty.
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// Every joint, parents before children.
    pub fn joints(&self) -> impl DoubleEndedIterator<Item = JointId> + ExactSizeIterator + use<> {
        (0..self.joints.len() as u32).map(JointId)
    }

    /// The joint at an index in the skeleton's order; `None` if out of range.
    pub fn joint_at(&self, index: usize) -> Option<JointId> {
        (index < self.joints.len()).then_some(JointId(index as u32))
    }

    /// The first joint with this name, if any; see [`Skeleton::joint_by_path`] for names that several joints share.
    pub fn find(&self, name: &str) -> Option<JointId> {
        self.joints().find(|&j| self.name(j) == name)
    }

    /// The joint with this path: the names of consecutive joints down to it, separated by slashes. `chest`,
    /// `spine/chest` and `hips/spine/chest` may all name one joint; a longer path tells joints of the same name apart. A
    /// leading slash requires the first name to be a root's. Names may contain slashes.
    ///
    /// # Errors
    ///
    /// - [`JointPathError::NotFound`] if no joint has this path.
    /// - [`JointPathError::Ambiguous`] if several joints have it.
    ///
    /// ```
    /// # use sinew::{JointTransform, Skeleton};
    /// let mut builder = Skeleton::builder();
    /// for side in ["left", "right"] {
    ///     let leg = builder.add(side, None, JointTransform::IDENTITY);
    ///     builder.add("foot", Some(leg), JointTransform::IDENTITY);
    /// }
    /// let (skeleton, ids) = builder.build()?;
    /// assert_eq!(skeleton.joint_by_path("right/foot")?, ids[3]);
    /// assert_eq!(skeleton.path(ids[3]), "right/foot");
    /// let error = skeleton.joint_by_path("foot").unwrap_err();
    /// assert_eq!(error.to_string(), "2 joints are called `foot`: `left/foot`, `right/foot`");
    /// let error = skeleton.joint_by_path("left/toes").unwrap_err();
    /// assert_eq!(error.to_string(), "there is no joint `left/toes`: below `left` there is `foot`");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn joint_by_path(&self, path: &str) -> Result<JointId, JointPathError> {
        let mut found = self.joints_by_path(path);
        match (found.next(), found.next()) {
            (Some(joint), None) => Ok(joint),
            (Some(_), Some(_)) => Err(JointPathError::Ambiguous {
                path: path.into(),
                count: self.joints_by_path(path).count(),
                paths: self.joints_by_path(path).take(NAMED).map(|j| self.path(j)).collect(),
            }),
            (None, _) => {
                let mut beginnings = path.rmatch_indices('/').map(|(at, _)| &path[..at]);
                let reached = beginnings.find_map(|beginning| self.joints_by_path(beginning).next());
                Err(JointPathError::NotFound {
                    path: path.into(),
                    reached: reached.map_or(String::new(), |j| self.path(j)),
                    below: reached.map_or(Vec::new(), |j| {
                        self.children(j).take(NAMED).map(|c| self.name(c).into()).collect()
                    }),
                })
            }
        }
    }

    /// All joints with this path, parents before children; see [`Skeleton::joint_by_path`].
    pub fn joints_by_path<'a>(&'a self, path: &'a str) -> impl Iterator<Item = JointId> + 'a {
        self.joints().filter(move |&joint| {
            let (mut left, mut at) = (path, Some(joint));
            while let Some(joint) = at {
                // The path matches if nothing is left of it but this name, or if a slash precedes a root's name.
                let Some(above) = left.strip_suffix(self.name(joint)) else { return false };
                at = self.parent(joint);
                match above.strip_suffix('/') {
                    Some("") if at.is_none() => return true,
                    Some(above) => left = above,
                    None => return above.is_empty(),
                }
            }
            false
        })
    }

    /// The full path of a joint: the names from its root down to it, separated by slashes.
    pub fn path(&self, joint: JointId) -> String {
        let mut names: Vec<_> =
            core::iter::once(joint).chain(self.ancestors(joint)).map(|j| self.name(j)).collect();
        names.reverse();
        names.join("/")
    }

    /// The joint's name. It may be empty and need not be unique.
    pub fn name(&self, joint: JointId) -> &str {
        &self.joints[joint.index()].name
    }

    /// The joint's parent; `None` for a root.
    #[inline]
    pub fn parent(&self, joint: JointId) -> Option<JointId> {
        let parent = self.parents[joint.index()];
        (parent != ROOT).then_some(JointId(parent))
    }

    /// Index of each joint's parent, in the skeleton's order; [`ROOT`] for a root.
    #[inline]
    pub(crate) fn parents(&self) -> &[u32] {
        &self.parents
    }

    /// The joint's local transform in the rest pose.
    pub fn rest(&self, joint: JointId) -> &JointTransform {
        &self.joints[joint.index()].rest
    }

    /// Description of a joint's turns and slides; see [`joint`](crate::joint). Joints that were not set are
    /// [`Joint::FREE`](joint::Joint::FREE).
    pub fn joint(&self, joint: JointId) -> &joint::Joint {
        self.limited.get(joint.index()).map_or(&joint::Joint::FREE, |(joint, _)| joint)
    }

    /// Clamps a local rotation to a joint's limits: returns the nearest allowed rotation in the joint's
    /// [coordinates](joint::Coordinates). An angle moves to the end of its range, a swing to the nearest point of its
    /// ellipse; the twist is clamped separately. For turns about single axes, the nearest of all allowed rotations is
    /// returned. A rotation within the limits keeps its bits.
    ///
    /// ```
    /// use sinew::{Skeleton, JointTransform, glam::{Quat, Vec3}, joint::{Dof, Joint}, math};
    /// let mut b = Skeleton::builder();
    /// b.add("shoulder", None, JointTransform::IDENTITY);
    /// b.add("elbow", Some(0), JointTransform::from_translation(Vec3::X));
    /// let (mut skeleton, ids) = b.build()?;
    /// skeleton.set_joint(ids[1], Joint::hinge(Vec3::Z, Dof::range(0.0, 2.5)))?;
    /// let wanted = math::axis_angle(Vec3::Z, -0.3);
    /// assert!((skeleton.limit_excess(ids[1], wanted) - 0.3).abs() < 1e-6);
    /// assert_eq!(skeleton.clamp_rotation(ids[1], wanted), Quat::IDENTITY);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn clamp_rotation(&self, joint: JointId, rotation: Quat) -> Quat {
        self.limits(joint).clamp(rotation)
    }

    /// Angle in radians by which a local rotation exceeds a joint's limits; 0 within. It is the maximum excess of the
    /// coordinates (for a swing, the distance from the ellipse), or the turn about an axis that is not free. For turns
    /// about single axes, it is the smallest turn back into the limits. Rotations up to [`joint::TOLERANCE`] count as
    /// within.
    pub fn limit_excess(&self, joint: JointId, rotation: Quat) -> f32 {
        self.limits(joint).excess(rotation)
    }

    /// The joint's limits in the form that solvers in pose space use.
    #[doc(hidden)]
    pub fn limits(&self, joint: JointId) -> &Limits {
        self.limited.get(joint.index()).map_or(&Limits::FREE, |(_, limits)| limits)
    }

    /// Whether any joint differs from [`Joint::FREE`](joint::Joint::FREE).
    pub fn has_limits(&self) -> bool {
        self.limited.iter().any(|(joint, _)| *joint != joint::Joint::FREE)
    }

    /// Sets the description of a joint. On an error, the joint stays unchanged and the error names the fault.
    ///
    /// ```
    /// use sinew::{Skeleton, JointTransform, glam::Vec3, joint::{Dof, Joint}};
    /// let mut builder = Skeleton::builder();
    /// builder.add("knee", None, JointTransform::IDENTITY);
    /// let (mut skeleton, ids) = builder.build()?;
    /// skeleton.set_joint(ids[0], Joint::hinge(Vec3::X, Dof::range(0.0, 2.5)))?;
    /// let error = skeleton.set_joint(ids[0], Joint::hinge(Vec3::X, Dof::range(2.5, 0.0))).unwrap_err();
    /// assert!(error.to_string().starts_with("joint `knee`: the hinge's angle goes from 2.5 to 0"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_joint(&mut self, joint: JointId, description: joint::Joint) -> Result<(), JointError> {
        if let Err(fault) = description.check() {
            return Err(JointError { joint: self.name(joint).into(), fault });
        }
        if self.limited.is_empty() {
            let free = |node: &Node| (joint::Joint::FREE, Limits::new(&joint::Joint::FREE, &node.rest));
            self.limited = self.joints.iter().map(free).collect();
        }
        self.limited[joint.index()] = (description, Limits::new(&description, self.rest(joint)));
        Ok(())
    }

    /// Indices of the joint and all joints below it, in the skeleton's order.
    #[inline]
    pub fn subtree(&self, joint: JointId) -> core::ops::Range<usize> {
        joint.index()..self.joints[joint.index()].end as usize
    }

    /// The joint and all joints below it, parents before children.
    pub fn below(&self, joint: JointId) -> impl Iterator<Item = JointId> + use<> {
        self.subtree(joint).map(|i| JointId(i as u32))
    }

    /// The joint's children, in the skeleton's order.
    pub fn children(&self, joint: JointId) -> impl Iterator<Item = JointId> {
        let mut at = joint.index() + 1;
        let end = self.subtree(joint).end;
        core::iter::from_fn(move || {
            let child = (at < end).then_some(JointId(at as u32))?;
            at = self.subtree(child).end;
            Some(child)
        })
    }

    /// The joint's ancestors, nearest first, without the joint itself.
    pub fn ancestors(&self, joint: JointId) -> impl Iterator<Item = JointId> {
        core::iter::successors(self.parent(joint), |&j| self.parent(j))
    }

    /// Whether `joint` is `ancestor` or lies below it.
    #[inline]
    pub fn is_below(&self, joint: JointId, ancestor: JointId) -> bool {
        self.subtree(ancestor).contains(&joint.index())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joint(b: &mut SkeletonBuilder, name: &str, parent: Option<usize>) -> usize {
        b.add(name, parent, JointTransform::IDENTITY)
    }

    #[test]
    fn children_added_before_parents_are_ordered() {
        let mut b = Skeleton::builder();
        joint(&mut b, "c", Some(2));
        joint(&mut b, "d", Some(0));
        joint(&mut b, "a", None);
        joint(&mut b, "b", Some(2));
        let (s, ids) = b.build().unwrap();
        let names: Vec<_> = s.joints().map(|j| s.name(j)).collect();
        assert_eq!(names, ["a", "c", "d", "b"]);
        assert_eq!(ids.iter().map(|i| i.index()).collect::<Vec<_>>(), [1, 2, 0, 3]);
        let a = s.find("a").unwrap();
        assert_eq!(s.children(a).map(|j| s.name(j)).collect::<Vec<_>>(), ["c", "b"]);
        assert_eq!(s.subtree(s.find("c").unwrap()), 1..3);
        assert!(s.is_below(s.find("d").unwrap(), a) && !s.is_below(a, s.find("d").unwrap()));
    }

    #[test]
    fn loops_missing_parents_and_nan_are_named() {
        let mut b = Skeleton::builder();
        joint(&mut b, "root", None);
        joint(&mut b, "x", Some(2));
        joint(&mut b, "y", Some(1));
        assert_eq!(b.build(), Err(SkeletonError::Loop { joint: 1, name: "x".into() }));
        let mut b = Skeleton::builder();
        joint(&mut b, "x", Some(7));
        assert!(matches!(b.build(), Err(SkeletonError::NoSuchParent { parent: 7, count: 1, .. })));
        let mut b = Skeleton::builder();
        b.add("x", None, JointTransform::from_translation(glam::Vec3::NAN));
        assert!(matches!(b.build(), Err(SkeletonError::Rest { joint: 0, .. })));
        assert_eq!(Skeleton::builder().build(), Err(SkeletonError::Empty));
    }

    #[test]
    fn a_hundred_thousand_deep_is_no_trouble() {
        let mut b = Skeleton::builder();
        joint(&mut b, "0", None);
        for i in 1..100_000 {
            joint(&mut b, "j", Some(i - 1));
        }
        let (s, _) = b.build().unwrap();
        assert_eq!(s.ancestors(s.joint_at(99_999).unwrap()).count(), 99_999);
    }
}
