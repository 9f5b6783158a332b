//! A sweep of forward and backward reaching, over a tree. A chain is a tree with one end.

use alloc::{vec, vec::Vec};

use glam::{DMat3, Quat, Vec3};

use crate::{
    math, math64,
    solve::{
        chain_state::{Ask, ChainState, Node, walk},
        iterate::{Buffers, Sweep, Trace, TracePass},
        wahba::{best_rotation, outer},
    },
};

/// Weight of the current orientation of a sub-base against its bones, as a share of theirs. It keeps the roll where all bones
/// lie on one line. Bones miss their directions by at most twice this angle in a pass; a weight below 1e-7 would not decide
/// the roll in f64.
const KEEPS_ROLL: f64 = 1e-5;

/// The points of a tree: its joints, parents before children, and after them the ends of its effectors.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// Number of joints.
    pub joints: usize,
    /// Parent of each point; the root has itself.
    parents: Vec<usize>,
    /// Points below each joint, joint by joint, and the index at which those of each joint begin.
    below: Vec<usize>,
    begin: Vec<usize>,
}

impl Shape {
    /// A tree by the parents of its points, of which the first `joints` are joints.
    pub fn new(joints: usize, parents: Vec<usize>) -> Self {
        let mut begin = vec![0; joints + 1];
        parents.iter().skip(1).for_each(|&parent| begin[parent + 1] += 1);
        for joint in 0..joints {
            begin[joint + 1] += begin[joint];
        }
        let (mut next, mut below) = (begin.clone(), vec![0; parents.len() - 1]);
        for (point, &parent) in parents.iter().enumerate().skip(1) {
            below[next[parent]] = point;
            next[parent] += 1;
        }
        Self { joints, parents, below, begin }
    }

    /// A chain with an end below its last joint.
    pub fn chain(joints: usize) -> Self {
        Self::new(joints, (0..=joints).map(|p| p.saturating_sub(1)).collect())
    }

    /// Parent of a point; none for the root.
    pub fn parent(&self, point: usize) -> Option<usize> {
        (point > 0).then(|| self.parents[point])
    }

    /// Points whose parent is this joint.
    fn below(&self, joint: usize) -> &[usize] {
        &self.below[self.begin[joint]..self.begin[joint + 1]]
    }
}

/// A sweep over a chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reaching<'a> {
    pub shape: &'a Shape,
    /// See [`Fabrik`](crate::solve::Fabrik).
    pub closes_circle: bool,
}

/// The passes of one sweep.
pub(super) struct Passes<'a> {
    pub shape: &'a Shape,
    /// Points, with the places of ends at their goals. Those of weight 0 are not asked for, and ride along.
    pub nodes: &'a mut [Node],
    pub closes_circle: bool,
    /// Orientation of the last joint's frame below its scale, where the goal has one.
    pub turn: Option<Quat>,
}

impl Passes<'_> {
    /// Makes both passes, from the state of the nodes after [`walk`].
    pub fn sweep(&mut self, links: &mut ChainState, trace: &mut Trace) {
        self.backward(links, trace);
        if !trace.stopped() {
            self.forward(links, trace);
        }
    }

    /// Orientation that a joint is given.
    fn given(&self, joint: usize) -> Option<Quat> {
        let turn = self.turn.filter(|_| joint + 1 == self.shape.joints)?;
        Some(math::normalize(math::mul(turn, math::conjugate(self.nodes[joint].sign))))
    }

    /// Points below a joint that are asked for.
    fn asked(&self, joint: usize) -> impl Iterator<Item = usize> + Clone + '_ {
        self.shape.below(joint).iter().copied().filter(|&p| self.nodes[p].weight > 0.0)
    }

    /// Whether a joint moves rigidly with its parent: nothing below it is asked for but its own position.
    fn rides(&self, joint: usize) -> bool {
        self.given(joint).is_none()
            && self.asked(joint).all(|p| p >= self.shape.joints && self.nodes[p].bone == Vec3::ZERO)
    }

    /// The backward pass, from the tips to the root: draws each joint along behind the points below it.
    fn backward(&mut self, links: &ChainState, trace: &mut Trace) {
        let root = self.nodes[0].place;
        for i in (0..self.shape.joints).rev() {
            let ends = self.shape.below(i).iter().copied().filter(|&p| p >= self.shape.joints);
            for end in ends.filter(|&p| self.nodes[p].weight > 0.0 && self.nodes[p].bone != Vec3::ZERO) {
                trace.point(links, TracePass::Backward, end, self.nodes[end].place);
            }
            let count = self.asked(i).count();
            if count == 0 {
                continue;
            }
            // The second joint, between two known neighbours, goes where the spheres of its two bones meet.
            let closes = self.closes_circle && i == 1;
            let from = if closes { self.between(root) } else { self.nodes[i].place };
            let turned = self.given(i).unwrap_or_else(|| self.pointed(i, from));
            self.nodes[i].turned = self.accepted(i, turned, links);
            let turned = self.nodes[i].turned;
            let behind = |node: &Node| node.place - math::rotate(turned, node.bone);
            let (mut sum, mut weights) = (Vec3::ZERO, 0.0);
            for p in self.asked(i) {
                let node = &self.nodes[p];
                if count > 1 {
                    trace.sub_base(links, i, p, behind(node));
                }
                // The running mean does not overflow, and is exact for a single point.
                weights += node.weight;
                sum += (behind(node) - sum) * (node.weight / weights);
            }
            (self.nodes[i].place, self.nodes[i].weight) = (sum, weights / count as f32);
            trace.point(links, TracePass::Backward, i, sum);
            if trace.stopped() {
                return;
            }
        }
    }

    /// The orientation of a joint at `from` that points its bones to the places below it: by the shortest arc, or for
    /// several bones by the rotation that brings their ends nearest by least squares (Wahba 1965).
    fn pointed(&self, joint: usize, from: Vec3) -> Quat {
        let turned = self.nodes[joint].turned;
        let mut ends = self.asked(joint).map(|p| &self.nodes[p]);
        if let (Some(end), None) = (ends.next(), ends.next()) {
            return pointed(turned, end.bone, end.place - from);
        }
        let (mut b, mut bound) = (DMat3::ZERO, 0.0);
        for p in self.asked(joint) {
            let end = &self.nodes[p];
            let (to, w) = ((end.place - from).as_dvec3(), f64::from(end.weight));
            let bone = math::rotate(turned, end.bone).as_dvec3();
            b += outer(to, bone, w);
            bound += w * math64::sqrt(to.length_squared() * bone.length_squared());
        }
        b += DMat3::from_diagonal(glam::DVec3::splat(KEEPS_ROLL * bound));
        best_rotation(&b, bound * (1.0 + 3.0 * KEEPS_ROLL))
            .map_or(turned, |turn| math::normalize(math::mul(turn, turned)))
    }

    /// The orientation of a joint next to `turned` at which the joints below it, whose orientations stay, are within their
    /// limits. Where they want several, it is their mean.
    fn accepted(&self, joint: usize, turned: Quat, links: &ChainState) -> Quat {
        let node = Node { turned, ..self.nodes[joint] };
        let accepted = |p: usize| {
            if p >= self.shape.joints || self.rides(p) {
                return turned;
            }
            let child = self.nodes[p].turned;
            let local = math::mul(math::conjugate(node.frame()), child);
            let within = links.links[p].limits.clamp(local);
            if within == local {
                return turned;
            }
            let frame = math::mul(child, math::conjugate(within));
            math::normalize(math::mul(frame, math::conjugate(node.sign)))
        };
        let mut all = self.asked(joint).map(accepted);
        let first = all.next().unwrap_or(turned);
        if all.all(|other| other == first) {
            return first;
        }
        let (mut b, mut weights) = (DMat3::ZERO, 0.0);
        for p in self.asked(joint) {
            let (by, w) = (math::mul(accepted(p), math::conjugate(turned)), f64::from(self.nodes[p].weight));
            b += math::to_matrix(by).as_dmat3() * w;
            weights += w;
        }
        best_rotation(&b, 3.0 * weights).map_or(turned, |by| math::normalize(math::mul(by, turned)))
    }

    /// Returns a position of the second joint on both spheres: about the root with its first bone, and about the point
    /// below with its own. It is the one nearest to its place, or that place itself where the spheres do not meet.
    fn between(&self, root: Vec3) -> Vec3 {
        let (node, below) = (&self.nodes[1], &self.nodes[2]);
        let to_far = below.place - root;
        let d = math::sqrt(to_far.length_squared());
        let (aa, bb) = (node.bone.length_squared(), below.bone.length_squared());
        if d <= 0.0 {
            return node.place;
        }
        let along = to_far / d;
        let x = (d * d + aa - bb) / (2.0 * d);
        let hh = aa - x * x;
        if hh.partial_cmp(&0.0) != Some(core::cmp::Ordering::Greater) {
            return node.place;
        }
        let own = node.place - root;
        root + along * x + math::perpendicular(along, own - along * own.dot(along)) * math::sqrt(hh)
    }

    /// The forward pass, from the root to the tips: points the bones of each joint to where the backward pass left their
    /// ends, within the limits.
    fn forward(&mut self, links: &mut ChainState, trace: &mut Trace) {
        for i in 0..self.shape.joints {
            let above = self.shape.parent(i).map(|p| self.nodes[p]);
            let (at, frame, unit) =
                above.map_or((Vec3::ZERO, Quat::IDENTITY, links.unit()), |p| (p.place, p.frame(), p.unit));
            let at = at + math::rotate(frame, links.links[i].offset) * unit;
            if !self.rides(i) {
                let wanted = self.given(i).map_or_else(|| self.pointed(i, at), |_| self.nodes[i].turned);
                let link = &mut links.links[i];
                let local = math::normalize(math::mul(math::conjugate(frame), wanted));
                link.rotation = link.no_further(link.limits.clamp(local));
            }
            let node = &mut self.nodes[i];
            (node.place, node.turned) = (at, math::mul(frame, links.links[i].rotation));
            trace.point(links, TracePass::Forward, i, at);
            for &p in self.shape.below(i) {
                let end = &self.nodes[p];
                if p >= self.shape.joints && end.weight > 0.0 && end.bone != Vec3::ZERO {
                    let place = at + math::rotate(self.nodes[i].turned, end.bone);
                    trace.point(links, TracePass::Forward, p, place);
                }
            }
            if trace.stopped() {
                return;
            }
        }
    }
}

impl Sweep for Reaching<'_> {
    fn sweep(&self, links: &mut ChainState, buffers: &mut Buffers, ask: &Ask, trace: &mut Trace) {
        let nodes = &mut buffers.nodes;
        let &Self { shape, closes_circle } = self;
        let (place, turn) = links.inside(ask.place, ask.turn);
        nodes.resize(shape.joints + 1, Node::default());
        nodes.iter_mut().for_each(|node| node.weight = 1.0);
        walk(links, nodes, |n| shape.parent(n));
        let bone = nodes[shape.joints - 1].bone_to(links.chain().tip_offset());
        nodes[shape.joints] = Node { place, bone, weight: 1.0, ..Node::default() };
        Passes { shape, nodes, closes_circle, turn }.sweep(links, trace);
    }
}

/// The orientation `turned`, rotated by the shortest arc that points its bone along `towards`; unchanged where either has no
/// direction.
fn pointed(turned: Quat, bone: Vec3, towards: Vec3) -> Quat {
    let (Some(from), Some(to)) = (math::rotate(turned, bone).try_normalize(), towards.try_normalize()) else {
        return turned;
    };
    math::normalize(math::mul(math::shortest_arc(from, to, Vec3::ZERO), turned))
}
