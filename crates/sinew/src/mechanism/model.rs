//! Mechanisms: links and the joints between them, with one value per degree of freedom.

use alloc::{string::String, vec::Vec};
use core::{cmp::Ordering, fmt, iter};

use glam::{DAffine3, DMat3, DQuat, DVec3};
use thiserror::Error;

use super::{
    Mimic, ball,
    dof::{DofKind, NamedDof},
    goal::FARTHEST,
    swing::Swing,
};
use crate::{joint::Joint, math64};

/// Index of a link in the order of [`Mechanism::links`], parents before children. Valid for one mechanism only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub(super) u32);

impl LinkId {
    /// Returns the link's index in the mechanism's order.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for LinkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// Index that stands for the base, which no joint moves.
pub(super) const BASE: u32 = u32::MAX;

/// A joint of one degree of freedom, with the rigid transforms around it folded in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moving {
    /// Transform from the parent's frame, after its motion, to this frame at value 0. For a joint on the base, from the root
    /// link's frame.
    pub rest: DAffine3,
    /// Index of the parent joint; [`BASE`] for a joint on the base.
    pub parent: u32,
    /// Index of the value that positions it, a degree of freedom or a variable of a plan, at `multiplier * value + offset`.
    pub var: u32,
    pub kind: DofKind,
    /// Whether it is single or the first of three at one point: the first computes the frames of all three.
    pub leads: bool,
    pub multiplier: f64,
    pub offset: f64,
}

impl Moving {
    #[inline(always)]
    pub fn slides(&self) -> bool {
        self.kind == DofKind::Slide
    }

    /// Returns a frame after this joint's motion along or about its z axis.
    #[inline(always)]
    pub fn moved(&self, on: &DAffine3, value: f64) -> DAffine3 {
        let value = self.multiplier * value + self.offset;
        let (x, y, z) = (on.matrix3.x_axis, on.matrix3.y_axis, on.matrix3.z_axis);
        if self.slides() {
            return DAffine3 { matrix3: on.matrix3, translation: on.translation + z * value };
        }
        let (s, c) = math64::sin_cos(value);
        DAffine3 { matrix3: DMat3::from_cols(x * c + y * s, y * c - x * s, z), translation: on.translation }
    }

    /// Returns the linear velocity of a point at `end`, and the angular velocity, for a unit rate along or about `axis` at
    /// `frame`.
    #[inline(always)]
    pub fn velocity(&self, axis: DVec3, frame: &DAffine3, end: DVec3) -> (DVec3, DVec3) {
        match self.slides() {
            true => (axis, DVec3::ZERO),
            false => (axis.cross(end - frame.translation), axis),
        }
    }
}

/// Computes the frames of joints, parents before children. (Not inlined, because plans without balls have a shorter
/// version.)
#[inline(never)]
pub(super) fn place(joints: &[Moving], values: &[f64], Frames { joints: frames, axes }: &mut Frames) {
    for (i, joint) in joints.iter().enumerate() {
        if !joint.leads {
            continue;
        }
        let on = match joint.parent {
            BASE => joint.rest,
            parent => frames[parent as usize] * joint.rest,
        };
        let var = joint.var as usize;
        if let DofKind::Swing | DofKind::Vector = joint.kind {
            // Swings count from their centre. (None of these joints mimics another.)
            let (mut x, mut y) = (values[var], values[var + 1]);
            if joint.kind == DofKind::Swing {
                (x, y) = (x + joint.offset, y + joints[i + 1].offset);
            }
            let (turned, about) = ball::turned(joint.kind, [x, y, values[var + 2]]);
            let frame = DAffine3 { matrix3: on.matrix3 * turned, translation: on.translation };
            for (k, axis) in about.into_iter().enumerate() {
                frames[i + k] = frame;
                axes[i + k] = on.matrix3 * axis;
            }
            continue;
        }
        frames[i] = joint.moved(&on, values[var]);
        axes[i] = on.matrix3.z_axis;
    }
}

/// Iterates over a joint and its ancestors, from the joint to the base.
pub(super) fn inward(joints: &[Moving], joint: u32) -> impl Iterator<Item = usize> {
    let known = |j: u32| (j != BASE).then_some(j as usize);
    iter::successors(known(joint), move |&j| known(joints[j].parent))
}

/// A frame fixed to a moving joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Carried {
    /// Index of the joint; [`BASE`] for a frame fixed to the base.
    pub joint: u32,
    /// Transform from the joint's frame, or the root link's, to this one.
    pub offset: DAffine3,
}

impl Carried {
    pub const BASE: Self = Self { joint: BASE, offset: DAffine3::IDENTITY };

    pub fn frame(&self, frames: &Frames) -> DAffine3 {
        if self.joint == BASE { self.offset } else { frames.joints[self.joint as usize] * self.offset }
    }
}

/// Frames and axes of joints.
#[derive(Clone, Debug, PartialEq, Default)]
pub(super) struct Frames {
    pub joints: Vec<DAffine3>,
    /// Axis that each joint turns about or slides along. In a plan, empty where that is always its z axis.
    pub axes: Vec<DVec3>,
}

impl Frames {
    /// Allocates.
    pub fn fit(&mut self, joints: usize, axes: usize) {
        self.joints.resize(joints, DAffine3::IDENTITY);
        self.axes.resize(axes, DVec3::Z);
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Link {
    pub name: String,
    pub at: Carried,
    pub parent: Option<LinkId>,
    /// Joint that carries the link; none for the root.
    pub joint: Option<LinkJoint>,
}

/// The joint that carries a link, as given to the builder.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LinkJoint {
    pub name: String,
    pub joint: Joint,
    /// Transform from the parent link's frame to the joint's.
    pub origin: DAffine3,
    /// Index of the first of its degrees of freedom.
    pub first: u32,
    /// Dependence of a joint without values of its own.
    pub mimic: Option<Mimic>,
}

/// A tree of links with [`Joint`]s between them: an arm, a hand, a machine.
///
/// It is read from a URDF (`sinew_files::urdf`), compiled from a [`Skeleton`](crate::Skeleton) or built by hand. A slice of
/// values beside it holds its configuration, in the order of [`Mechanism::dofs`]: radians for degrees of freedom that turn,
/// metres for those that slide. *Base space* is the root link's. Axes are those of the file: a URDF's z points up.
///
/// ```
/// use sinew::{joint::{Dof, Joint}, mechanism::{JointSpec, LinkFrames, Mechanism}};
/// use glam::DVec3;
/// # use sinew::glam;
/// let mut builder = Mechanism::builder("crane");
/// for link in ["base", "mast", "jib", "hook"] {
///     builder.link(link);
/// }
/// builder.joint(JointSpec::new("slew", "base", "mast", Joint::hinge(DVec3::Z, Dof::range(-3.0, 3.0))));
/// let jib = JointSpec::new("luff", "mast", "jib", Joint::hinge(DVec3::NEG_Y, Dof::range(0.0, 1.4)));
/// builder.joint(JointSpec { translation: DVec3::new(0.0, 0.0, 2.0), ..jib });
/// let hook = JointSpec::new("trolley", "jib", "hook", Joint::slider(DVec3::X, Dof::range(1.0, 4.0)));
/// builder.joint(hook);
/// let crane = builder.build()?;
///
/// let mut placement = LinkFrames::new(&crane);
/// crane.forward_kinematics(&[0.0, 0.0, 3.0], &mut placement)?;
/// let hook = crane.find_link("hook").unwrap();
/// let place = crane.link_transform(&placement, hook).translation;
/// assert!(place.distance(DVec3::new(3.0, 0.0, 2.0)) < 1e-12);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Mechanism {
    pub(super) name: String,
    pub(super) links: Vec<Link>,
    pub(super) joints: Vec<Moving>,
    pub(super) dofs: Vec<NamedDof>,
    /// Limits of swings, each with the index of the first of its two degrees of freedom, in order.
    pub(super) swings: Vec<(usize, Swing)>,
}

/// Reason why values were refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ValuesError {
    /// The number of values is not the number of degrees of freedom.
    #[error("{given} values were given for {wanted} degrees of freedom")]
    Count {
        /// Number of given values.
        given: usize,
        /// Number of degrees of freedom.
        wanted: usize,
    },
    /// A value is 1e50 or more in magnitude, or a slide is out of the range of `f32` for a pose.
    #[error("the value of joint `{joint}` is too large: {value}")]
    TooLarge {
        /// Name of the degree of freedom.
        joint: String,
        /// Its value.
        value: f64,
    },
    /// A value is NaN or infinite.
    #[error("the value of joint `{joint}` is not finite: {value}")]
    NotFinite {
        /// Name of the degree of freedom.
        joint: String,
        /// Its value.
        value: f64,
    },
}

impl Mechanism {
    /// Returns the mechanism's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the degrees of freedom in the order of their values: those of a joint adjacent, slides before turns.
    pub fn dofs(&self) -> &[NamedDof] {
        &self.dofs
    }

    /// Returns the index of the degree of freedom with a name.
    pub fn find_dof(&self, name: &str) -> Option<usize> {
        self.dofs.iter().position(|d| d.name == name)
    }

    /// Returns the joint that carries a link, as given to the builder; none for the root.
    pub fn joint(&self, link: LinkId) -> Option<&Joint> {
        self.links[link.index()].joint.as_ref().map(|j| &j.joint)
    }

    /// Returns the joint that carries a link, with its ranges narrowed to where joints that mimic it are within their limits
    /// too; none for the root.
    pub fn narrowed_joint(&self, link: LinkId) -> Option<Joint> {
        let own = self.links[link.index()].joint.as_ref()?;
        let mut joint = own.joint;
        if own.mimic.is_none() {
            let mut dofs = self.dofs[own.first as usize..].iter();
            joint.each_dof(|dof| dof.range = dofs.next().map_or(dof.range, |d| d.dof.range));
        }
        Some(joint)
    }

    /// Returns the dependence of the joint that carries a link on another; none where the joint has values of its own.
    pub fn mimic(&self, link: LinkId) -> Option<&Mimic> {
        self.links[link.index()].joint.as_ref()?.mimic.as_ref()
    }

    /// Returns the name of the joint that carries a link; none for the root.
    pub fn joint_name(&self, link: LinkId) -> Option<&str> {
        self.links[link.index()].joint.as_ref().map(|j| j.name.as_str())
    }

    /// Returns every link, parents before children.
    pub fn links(&self) -> impl ExactSizeIterator<Item = LinkId> + use<> {
        (0..self.links.len() as u32).map(LinkId)
    }

    /// Returns the root link.
    pub fn root(&self) -> LinkId {
        LinkId(0)
    }

    /// Returns the name of a link.
    pub fn link_name(&self, link: LinkId) -> &str {
        &self.links[link.index()].name
    }

    /// Returns the parent of a link; none for the root.
    pub fn link_parent(&self, link: LinkId) -> Option<LinkId> {
        self.links[link.index()].parent
    }

    /// Returns the link with a name.
    pub fn find_link(&self, name: &str) -> Option<LinkId> {
        self.links().find(|&l| self.link_name(l) == name)
    }

    /// Whether `link` is `ancestor` or a descendant of it.
    pub fn is_below(&self, link: LinkId, ancestor: LinkId) -> bool {
        let mut at = Some(link);
        while let Some(l) = at {
            if l == ancestor {
                return true;
            }
            at = self.link_parent(l);
        }
        false
    }

    /// Returns the degrees of freedom that move `tip` relative to `root`, in the mechanism's order.
    pub fn dofs_between(&self, root: LinkId, tip: LinkId) -> Vec<usize> {
        let mut dofs: Vec<usize> = self.path(root, tip).map(|j| self.joints[j].var as usize).collect();
        dofs.sort_unstable();
        dofs.dedup();
        dofs
    }

    /// Iterates over the moving joints between two links, in no particular order.
    pub(super) fn path(&self, a: LinkId, b: LinkId) -> impl Iterator<Item = usize> {
        let (of_a, of_b) = (self.carriers(a).count(), self.carriers(b).count());
        // From the joint where both lines meet on, they are the same.
        let level = |link, own: usize, other: usize| self.carriers(link).skip(own.saturating_sub(other));
        let apart = level(a, of_a, of_b).zip(level(b, of_b, of_a)).take_while(|(i, j)| i != j).count();
        let shared = of_a.min(of_b) - apart;
        self.carriers(a).take(of_a - shared).chain(self.carriers(b).take(of_b - shared))
    }

    /// Iterates over the moving joints that carry a link, from the link to the base.
    fn carriers(&self, link: LinkId) -> impl Iterator<Item = usize> {
        inward(&self.joints, self.links[link.index()].at.joint)
    }

    /// Returns the values at rest; see [`Dof::rest`](crate::joint::Dof::rest).
    pub fn rest(&self) -> Vec<f64> {
        let mut values: Vec<f64> = self.dofs.iter().map(|d| d.dof.rest()).collect();
        // Preferred swings may be in range one by one and outside their ellipse together.
        self.clamp_of(0..values.len(), &mut values);
        values
    }

    /// Whether every value is exactly within its limits: its range, and for the swings of ball joints their ellipse. False
    /// unless there is one value per degree of freedom.
    pub fn is_within(&self, values: &[f64]) -> bool {
        values.len() == self.dofs.len()
            && self.dofs.iter().zip(values).all(|(d, v)| d.dof.range.contains(*v))
            && self.swings.iter().all(|(dof, s)| s.holds([values[*dof], values[dof + 1]]))
    }

    /// Clamps every value to its limits; a swing to the nearest point of its ellipse. Returns an error, and changes nothing,
    /// unless there is one value per degree of freedom.
    pub fn clamp(&self, values: &mut [f64]) -> Result<(), ValuesError> {
        self.check_count(values)?;
        self.clamp_of(0..values.len(), values);
        Ok(())
    }

    /// Clamps the values of the degrees of freedom of some joints. `values` holds those of all degrees of freedom.
    pub(super) fn clamp_of(&self, dofs: core::ops::Range<usize>, values: &mut [f64]) {
        for &(dof, swing) in self.swings.iter().filter(|s| dofs.contains(&s.0)) {
            let [x, y] = swing.nearest([values[dof], values[dof + 1]]);
            (values[dof], values[dof + 1]) = (x, y);
        }
        for d in dofs {
            values[d] = self.dofs[d].dof.range.clamp(values[d]);
        }
    }

    /// Returns an error unless there is one finite value per degree of freedom, below 1e50 in magnitude. Values outside
    /// their limits pass.
    pub fn check(&self, values: &[f64]) -> Result<(), ValuesError> {
        self.check_count(values)?;
        // NaN fails too.
        match self
            .dofs
            .iter()
            .zip(values)
            .find(|(_, v)| v.abs().partial_cmp(&FARTHEST) != Some(Ordering::Less))
        {
            Some((dof, &value)) if value.is_finite() => {
                Err(ValuesError::TooLarge { joint: dof.name.clone(), value })
            }
            Some((dof, &value)) => Err(ValuesError::NotFinite { joint: dof.name.clone(), value }),
            None => Ok(()),
        }
    }

    /// Returns an error unless there is one value per degree of freedom.
    pub(super) fn check_count(&self, values: &[f64]) -> Result<(), ValuesError> {
        match (values.len(), self.dofs.len()) {
            (given, wanted) if given == wanted => Ok(()),
            (given, wanted) => Err(ValuesError::Count { given, wanted }),
        }
    }

    /// Computes the transform of every link (forward kinematics). Values outside their limits are taken as they are.
    pub fn forward_kinematics(&self, values: &[f64], placement: &mut LinkFrames) -> Result<(), ValuesError> {
        self.check(values)?;
        placement.0.fit(self.joints.len(), self.joints.len());
        place(&self.joints, values, &mut placement.0);
        Ok(())
    }

    /// Returns the transform of a link, in base space.
    pub fn link_transform(&self, placement: &LinkFrames, link: LinkId) -> DAffine3 {
        self.links[link.index()].at.frame(&placement.0)
    }

    /// Computes the geometric Jacobian of a point in a link's space, in base space. Each column holds the velocity of the
    /// point (first three, metres) and the angular velocity of the link (last three, radians) per unit rate of one degree of
    /// freedom. `columns` receives one column per degree of freedom.
    ///
    /// The column of a joint that turns about the unit vector z through p is (z x (point - p), z), that of a slider (z, 0).
    /// Joints that mimic another add theirs, times the multiplier, to the other's. A ball's three axes depend on its values,
    /// and are not of unit length.
    pub fn jacobian(&self, placement: &LinkFrames, link: LinkId, point: DVec3, columns: &mut Vec<[f64; 6]>) {
        columns.clear();
        columns.resize(self.dofs.len(), [0.0; 6]);
        let end = self.link_transform(placement, link).transform_point3(point);
        let Frames { joints: frames, axes } = &placement.0;
        for j in self.carriers(link) {
            let joint = &self.joints[j];
            let (linear, angular) = joint.velocity(axes[j], &frames[j], end);
            for (cell, c) in columns[joint.var as usize].iter_mut().zip(six(linear, angular)) {
                *cell += joint.multiplier * c;
            }
        }
    }

    /// Returns Yoshikawa's manipulability (1985) of a point in a link's space: the root of det(J J^T), 0 at a singular pose.
    /// A radian counts `length` metres.
    pub fn manipulability(&self, placement: &LinkFrames, link: LinkId, point: DVec3, length: f64) -> f64 {
        let mut columns = Vec::new();
        self.jacobian(placement, link, point, &mut columns);
        columns.iter_mut().for_each(|c| c[3..].iter_mut().for_each(|w| *w *= length));
        math64::sqrt(gram_determinant(&columns).max(0.0))
    }
}

#[inline(always)]
pub(super) fn six(a: DVec3, b: DVec3) -> [f64; 6] {
    [a.x, a.y, a.z, b.x, b.y, b.z]
}

/// Returns the determinant of J J^T, given the columns of J, by elimination with the largest pivot first.
pub(super) fn gram_determinant(columns: &[[f64; 6]]) -> f64 {
    let mut m = [[0.0; 6]; 6];
    for c in columns {
        for (row, a) in m.iter_mut().zip(c) {
            for (cell, b) in row.iter_mut().zip(c) {
                *cell += a * b;
            }
        }
    }
    let mut product = 1.0;
    for k in 0..6 {
        let pivot = (k..6).fold(k, |best, i| if m[i][i] > m[best][best] { i } else { best });
        m.swap(k, pivot);
        m.iter_mut().for_each(|row| row.swap(k, pivot));
        let (head, tail) = m.split_at_mut(k + 1);
        let top = &head[k];
        // Rounding may make the pivot negative.
        if top[k] <= 0.0 {
            return 0.0;
        }
        product *= top[k];
        for row in tail {
            let f = row[k] / top[k];
            for (cell, above) in row.iter_mut().zip(top).skip(k) {
                *cell -= f * above;
            }
        }
    }
    product
}

/// Transforms of every joint of a mechanism; computed by [`Mechanism::forward_kinematics`].
#[derive(Clone, Debug, PartialEq)]
pub struct LinkFrames(Frames);

impl LinkFrames {
    /// Allocates for a mechanism's joints, with identity transforms.
    pub fn new(mechanism: &Mechanism) -> Self {
        let mut frames = Frames::default();
        frames.fit(mechanism.joints.len(), mechanism.joints.len());
        Self(frames)
    }
}

/// Splits a rigid transform into position and unit quaternion.
pub fn position_and_rotation(transform: &DAffine3) -> (DVec3, DQuat) {
    (transform.translation, math64::quaternion(&transform.matrix3))
}
