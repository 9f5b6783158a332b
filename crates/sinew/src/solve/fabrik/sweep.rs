//! A sweep of forward and backward reaching.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use crate::{
    math,
    solve::{
        chain_state::{Ask, ChainState, Node, walk},
        iterate::{Sweep, Trace, TracePass},
    },
};

/// A sweep over a chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reaching {
    /// See [`Fabrik`](crate::solve::Fabrik).
    pub closes_circle: bool,
}

/// The passes of one sweep.
struct Passes<'a> {
    nodes: &'a mut [Node],
    closes_circle: bool,
}

impl Passes<'_> {
    /// Whether the tip moves rigidly with its parent: it has neither an offset nor a rotation goal.
    fn rides(&self, turn: Option<Quat>) -> bool {
        turn.is_none() && self.nodes.last().is_some_and(|tip| tip.bone == Vec3::ZERO)
    }

    /// The backward pass, from the tip to the root: puts the end on `goal` and draws each joint along.
    fn backward(&mut self, links: &ChainState, goal: Vec3, turn: Option<Quat>, trace: &mut Trace) {
        let (root, last, rides) = (self.nodes[0].place, self.nodes.len() - 1, self.rides(turn));
        let mut far = goal;
        if self.nodes[last].bone != Vec3::ZERO {
            trace.point(links, TracePass::Backward, last + 1, goal);
        }
        for i in (0..=last).rev() {
            let mut node = self.nodes[i];
            let given = turn.filter(|_| i == last);
            // The second joint, between two known neighbours, goes where the spheres of its two bones meet.
            let closes = self.closes_circle && i == 1;
            let hint = if closes { self.between(root, node, far) } else { node.place };
            node.turned = match given {
                Some(turn) => math::normalize(math::mul(turn, math::conjugate(node.sign))),
                None => pointed(node.turned, node.bone, far - hint),
            };
            if i < last && !(rides && i + 1 == last) {
                let child = self.nodes[i + 1].turned;
                let frame = math::mul(node.turned, node.sign);
                let local = math::mul(math::conjugate(frame), child);
                let within = links.links[i + 1].limits.clamp(local);
                if within != local {
                    let frame = math::mul(child, math::conjugate(within));
                    node.turned = math::normalize(math::mul(frame, math::conjugate(node.sign)));
                }
            }
            node.place = far - math::rotate(node.turned, node.bone);
            far = node.place;
            self.nodes[i] = node;
            trace.point(links, TracePass::Backward, i, far);
            if trace.stopped() {
                return;
            }
        }
    }

    /// Returns a position of the second joint on both spheres: about the root with its first bone, and about `far` with its
    /// own. It is the one nearest to `node.place`, or `node.place` itself where the spheres do not meet.
    fn between(&self, root: Vec3, node: Node, far: Vec3) -> Vec3 {
        let to_far = far - root;
        let d = math::sqrt(to_far.length_squared());
        let (aa, bb) = (self.nodes[0].bone.length_squared(), node.bone.length_squared());
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

    /// The forward pass, from the root to the tip: points each bone to where the backward pass left its end, within the
    /// limits.
    fn forward(&mut self, links: &mut ChainState, turn: Option<Quat>, trace: &mut Trace) {
        let (mut at, mut frame) = (Vec3::ZERO, Quat::IDENTITY);
        let mut unit = links.unit();
        let (last, rides) = (self.nodes.len() - 1, self.rides(turn));
        for i in 0..=last {
            let link = &mut links.links[i];
            at += math::rotate(frame, link.offset) * unit;
            unit = link.unit_below(unit);
            let node = self.nodes[i];
            if !(rides && i == last) {
                let wanted = if i < last {
                    pointed(node.turned, node.bone, self.nodes[i + 1].place - at)
                } else if turn.is_some() {
                    node.turned
                } else {
                    // The tip points its offset's end to the goal, from which the backward pass started.
                    pointed(node.turned, node.bone, node.place + math::rotate(node.turned, node.bone) - at)
                };
                let local = math::normalize(math::mul(math::conjugate(frame), wanted));
                link.rotation = link.no_further(link.limits.clamp(local));
            }
            frame = math::mul(math::mul(frame, link.rotation), node.sign);
            trace.point(links, TracePass::Forward, i, at);
            if trace.stopped() {
                return;
            }
        }
        let tip = self.nodes[last];
        if tip.bone != Vec3::ZERO {
            let end = at + math::rotate(math::mul(frame, math::conjugate(tip.sign)), tip.bone);
            trace.point(links, TracePass::Forward, last + 1, end);
        }
    }
}

impl Sweep for Reaching {
    fn sweep(&self, links: &mut ChainState, nodes: &mut Vec<Node>, ask: &Ask, trace: &mut Trace) {
        nodes.resize(links.links.len(), Node::default());
        walk(links, nodes);
        let (goal, turn) = links.inside(ask.place, ask.turn);
        let mut passes = Passes { nodes, closes_circle: self.closes_circle };
        passes.backward(links, goal, turn, trace);
        if !trace.stopped() {
            passes.forward(links, turn, trace);
        }
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
