//! Follow: a chain whose segments are pulled along by their neighbours, in one pass.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use super::{
    ChainSolverError,
    arc::distance,
    chain_state::{ChainState, signs},
    check,
    incoming::{Incoming, Led},
    iterate::admit,
    parent_space,
};
use crate::{
    Chain, JointId, Pose, Report, Skeleton, SolveError, Workspace,
    joint::{Attributes, Capability},
    math,
    option_type::option_type,
};

/// The end of a chain that leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Lead {
    /// The tip leads, each bone pulls the one above it, and the root is pulled along.
    #[default]
    Tip,
    /// The root (a head) leads, and each bone pulls the one below it.
    Root,
}

/// Moves one end of a chain to a position; every bone turns only as far as its neighbour pulls it, as in a rope or a train.
/// Both ends move, so no position is out of reach.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{JointTransform, Pose, Skeleton, Workspace, glam::Vec3, solve::{Follow, FollowOptions, Lead}};
///
/// let mut builder = Skeleton::builder();
/// let mut joint = builder.add("head", None, JointTransform::IDENTITY);
/// for name in ["neck", "body", "tail"] {
///     joint = builder.add(name, Some(joint), JointTransform::from_translation(-Vec3::X));
/// }
/// let (skeleton, ids) = builder.build()?;
/// let skeleton = Arc::new(skeleton);
///
/// let snake = Follow::new(&skeleton, ids[0], ids[3])?;
/// let options = FollowOptions::new().with_lead(Lead::Root);
/// let mut workspace = Workspace::new();
/// let mut pose = Pose::rest(&skeleton);
/// for step in 1..=100 {
///     // The head turns and goes up.
///     snake.solve(&mut workspace, &mut pose, Vec3::Y * (0.2 * step as f32), &options)?;
/// }
/// // All the others have come round behind it.
/// assert!(pose.position(ids[3]).distance(Vec3::Y * 17.0) < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Limits
///
/// Every joint's limits hold, whichever end leads: they belong to the joint's rotation from the rest pose, not to the end
/// that pulls. For a chain that moves in a plane, a hinge about the plane's normal n limits a signed angle. With straight
/// bones in the rest pose, that is the angle from the parent bone's direction to the joint's own, positive counter-clockwise
/// as seen against n. A bend of the rest pose adds to it.
///
/// From the root, a joint turns its bone to the old position of the bone's end, then takes the nearest rotation within its
/// limits. From the tip, the joint at the bone's end has moved already, and the bone's start is pulled after it. That joint
/// bends, and its limits turn the bone back together with all that is above it. The root's own limits come last: they turn
/// the whole chain back about the tip.
///
/// Drawn by the example `follow`:
///
#[doc = include_str!("../../pictures/follow.svg")]
#[derive(Clone, Debug)]
pub struct Follow {
    chain: Chain,
}

option_type! {
    /// Options of [`Follow`].
    FollowOptions {
        /// The end that leads; the tip by default.
        lead, with_lead: Lead = Lead::Tip;
        /// Share of the motion that is applied, 0 (none) to 1 (all, the default), linear in the joints' coordinates. The
        /// root moves along a straight line.
        #[doc(alias("alpha", "weight"))]
        influence, with_influence: f32 = 1.0;
    }
}

/// Buffers of a solve.
#[derive(Debug, Default)]
struct FollowScratch {
    links: ChainState,
    stops: Vec<Stop>,
}

/// A joint of the input pose, in the frame of the root's parent turned but not scaled: the parent's axes, lengths in metres.
#[derive(Clone, Copy, Debug)]
struct Stop {
    /// Position.
    at: Vec3,
    /// Orientation, without the mirroring of negative scales.
    turned: Quat,
    /// Signed scale of the frame below the joint.
    unit: f32,
}

pub(super) const CAPABILITY: Capability = Capability::new("follow", Attributes::TURNING);

impl Follow {
    /// The solver for the chain from `root` down to `tip`.
    pub fn new(skeleton: &Skeleton, root: JointId, tip: JointId) -> Result<Self, ChainSolverError> {
        Self::from_chain(skeleton, Chain::new(skeleton, root, tip)?)
    }

    /// The solver for a chain. An offset at the chain's tip makes the tip turn too.
    pub fn from_chain(skeleton: &Skeleton, chain: Chain) -> Result<Self, ChainSolverError> {
        admit(skeleton, &chain, CAPABILITY)?;
        Ok(Self { chain })
    }

    /// The solver's chain, from root to tip.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Reserves memory in a workspace, so that the first solve with it does not allocate either.
    pub fn reserve(&self, workspace: &mut Workspace) {
        let FollowScratch { links, stops } = workspace.scratch();
        links.reserve(&self.chain);
        stops.clear();
        stops.reserve(self.chain.joints().len());
    }

    /// Moves the leading end to the position `place` in model space and pulls the rest along. Updates the pose. Every joint
    /// ends within its limits, or no further out than the input pose has it. The report's residual is that of the leading
    /// end.
    ///
    /// # Errors
    ///
    /// The position or a frame of the pose is not finite, the influence is out of range, or a frame inside the chain is
    /// sheared.
    pub fn solve(
        &self,
        workspace: &mut Workspace,
        pose: &mut Pose,
        place: Vec3,
        options: &FollowOptions,
    ) -> Result<Report, SolveError> {
        check::finite("the leading end's position", place)?;
        check::within("the influence", "0 to 1", options.influence, 0.0, 1.0)?;
        pose.update();
        let chain = &self.chain;
        let (root, tip) = (chain.root(), chain.tip());
        if parent_space::is_sheared(pose, root) {
            check::frame(pose, tip, "the tip's frame", chain.tip_offset() != Vec3::ZERO)?;
            let report = parent_space::within(pose, root, |pose, space| {
                let place = space.point("the leading end's position, seen from the root's parent,", place)?;
                self.solve(workspace, pose, place, options)
            })?;
            return Ok(Report {
                position_residual: distance(leading(chain, pose, options.lead), place),
                ..report
            });
        }
        let on = workspace.scratch::<FollowScratch>();
        on.links.load(chain, pose, false)?;
        let mut report = Report::default();
        let leads_tip = options.lead == Lead::Tip;
        let off = distance(leading(chain, pose, options.lead), place);
        let length = on.links.length();
        let led = Led { end: leads_tip, root: !leads_tip, ..Led::default() };
        let incoming = Incoming::new(chain, pose, length, led);
        // Counts as reached within the rounding of positions in f32, or a millionth of the chain's length.
        let near = 4.0 * on.links.rounding + 4e-7 * place.abs().max_element() + 1e-6 * length;
        report.position_tolerance = near;
        if off > near && options.influence > 0.0 {
            let (to, _) = on.links.inside(place, None);
            check::finite("the leading end's position in the frame of the root's parent", to)?;
            on.walk();
            match options.lead {
                Lead::Tip => on.led_by_tip(to),
                Lead::Root => on.led_by_root(to),
            }
            on.links.lead_to(place, leads_tip);
            if options.influence < 1.0 {
                on.links.blend(options.influence);
            }
            on.links.store(pose);
            report.iterations = 1;
            report.branch_changed = incoming.changed(chain, pose, on.links.turned());
        }
        report.position_residual = distance(leading(chain, pose, options.lead), place);
        Ok(report)
    }
}

/// Position of the leading end, in model space.
fn leading(chain: &Chain, pose: &Pose, lead: Lead) -> Vec3 {
    if lead == Lead::Tip { chain.end(pose) } else { pose.position(chain.root()) }
}

impl FollowScratch {
    /// Records every joint's position, orientation and unit.
    fn walk(&mut self) {
        self.stops.clear();
        let (mut at, mut frame, mut unit) = (Vec3::ZERO, Quat::IDENTITY, self.links.unit());
        for link in &self.links.links {
            at += math::rotate(frame, link.offset) * unit;
            let turned = math::mul(frame, link.rotation);
            unit = link.unit_below(unit);
            self.stops.push(Stop { at, turned, unit });
            frame = math::mul(turned, signs(link.scale));
        }
    }

    /// The bone below a joint in the joint's turned frame, with its sign; `None` for a tip without an offset.
    fn bone(&self, link: usize) -> Option<Vec3> {
        let below = match self.links.links.get(link + 1) {
            Some(next) => next.offset,
            None => self.links.chain().tip_offset(),
        };
        (below != Vec3::ZERO)
            .then(|| math::rotate(signs(self.links.links[link].scale), below) * self.stops[link].unit)
    }

    fn led_by_root(&mut self, to: Vec3) {
        let (mut at, mut frame) = (to, Quat::IDENTITY);
        for i in 0..self.links.links.len() {
            let bone = self.bone(i);
            let next = self.stops.get(i + 1).map(|s| s.at);
            let stop = self.stops[i];
            let link = &mut self.links.links[i];
            let turned = math::mul(frame, link.rotation);
            let was = next.or(bone.map(|b| stop.at + math::rotate(stop.turned, b)));
            let arc = bone.zip(was).and_then(|(bone, was)| arc(math::rotate(turned, bone), was - at));
            if let Some(arc) = arc {
                let wanted = math::normalize(math::mul(math::conjugate(frame), math::mul(arc, turned)));
                link.rotation = link.limits.clamp(wanted);
            }
            let turned = math::mul(frame, link.rotation);
            frame = math::mul(turned, signs(link.scale));
            at += bone.map_or(Vec3::ZERO, |bone| math::rotate(turned, bone));
        }
    }

    fn led_by_tip(&mut self, to: Vec3) {
        let mut at = to;
        // New orientation of the joint at the bone's end; `None` where that joint moves along rigidly.
        let mut below: Option<Quat> = None;
        for i in (0..self.links.links.len()).rev() {
            let bone = self.bone(i);
            let stop = self.stops[i];
            let own = signs(self.links.links[i].scale);
            let mut turned = stop.turned;
            if let Some(arc) = bone.and_then(|bone| arc(math::rotate(turned, bone), at - stop.at)) {
                turned = math::normalize(math::mul(arc, turned));
            }
            if let Some(below) = below {
                let next = &mut self.links.links[i + 1];
                let frame = math::mul(turned, own);
                let wanted = math::normalize(math::mul(math::conjugate(frame), below));
                if math::angle_between(wanted, next.rotation) > STIRS {
                    next.rotation = next.limits.clamp(wanted);
                }
                let back = math::mul(next.rotation, math::conjugate(below));
                turned = math::normalize(math::conjugate(math::mul(own, back)));
            }
            at -= bone.map_or(Vec3::ZERO, |bone| math::rotate(turned, bone));
            below = (bone.is_some() || below.is_some()).then_some(turned);
        }
        if let Some(turned) = below {
            let root = &mut self.links.links[0];
            if math::angle_between(turned, root.rotation) > STIRS {
                root.rotation = root.limits.clamp(turned);
            }
        }
    }
}

/// Radians of turn below which a turn is only rounding.
const STIRS: f32 = 3e-7;

/// The shortest arc between two vectors; `None` where it is only rounding or a vector has no direction.
fn arc(from: Vec3, to: Vec3) -> Option<Quat> {
    let (a, b) = (from.try_normalize()?, to.try_normalize()?);
    let q = math::shortest_arc(a, b, Vec3::ZERO);
    (2.0 * math::sqrt(q.x * q.x + q.y * q.y + q.z * q.z) > STIRS).then_some(q)
}
