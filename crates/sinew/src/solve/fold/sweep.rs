//! A fold of a chain in a pose.

use glam::{Quat, Vec3};

use crate::{
    math,
    solve::{
        arc,
        chain_state::{Ask, ChainState, walk},
        iterate::{Buffers, Sweep, Trace},
    },
};

/// A fold of a chain, by the axis (in the frame of the joint's parent) and the bend of each joint at rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Folding<'a> {
    pub rest: &'a [(Vec3, f32)],
}

impl Sweep for Folding<'_> {
    fn sweep(&self, links: &mut ChainState, buffers: &mut Buffers, ask: &Ask, trace: &mut Trace) {
        let Buffers { nodes, bends } = buffers;
        let last = links.links.len() - 1;
        let (place, turn) = links.inside(ask.place, ask.turn);
        nodes.resize(last + 2, Default::default());
        walk(links, nodes, |n| n.checked_sub(1));
        let tip = nodes[last];
        let bone = tip.bone_to(links.chain().tip_offset());
        // A tip that takes a rotation carries the end with it: its joint is led to where the end then is at the goal.
        let given = turn.map(|turn| math::normalize(math::mul(turn, math::conjugate(tip.sign))));
        let (goal, count) = match given {
            Some(turned) => (place - math::rotate(turned, bone), last + 1),
            None => {
                nodes[last + 1].place = tip.place + math::rotate(tip.turned, bone);
                (place, last + 2)
            }
        };
        let (nodes, root) = (&nodes[..], nodes[0].place);
        let line = arc::direction(nodes[count - 1].place - root);
        let [up, ahead] = [Vec3::Y, Vec3::Z].map(|v| links.direction_inside(v));
        let front = if line.dot(ahead).abs() < 0.9 { ahead } else { up };
        bends.positions.clear();
        bends.positions.extend(nodes[..count].iter().map(|n| n.place));
        bends.load(
            &|n| n.checked_sub(1).map_or(Quat::IDENTITY, |p| nodes[p].frame()),
            &|n| self.rest[n],
            front,
        );
        if !bends.bones().is_empty() {
            let at = bends.fold(arc::distance(goal, root) / bends.length, &bends.range());
            for bone in bends.bones() {
                if let Some(turn) = bone.turn(at.factor) {
                    set(links, bone.joint, math::mul(turn, links.links[bone.joint].rotation), trace);
                }
                if trace.stopped() {
                    return;
                }
            }
            let below = if given.is_some() { Vec3::ZERO } else { links.tip_arm() };
            let arm = (0..last).rev().fold(below, |below, n| links.arm(n, below));
            let now = links.links[0].rotation;
            let at = math::rotate(now, arm) * links.unit();
            set(links, 0, math::mul(bends.aim(at, goal - root), now), trace);
        }
        if let Some(turned) = given {
            let mut frame = Quat::IDENTITY;
            for (link, node) in links.links[..last].iter().zip(nodes) {
                frame = math::normalize(math::mul(math::mul(frame, link.rotation), node.sign));
            }
            set(links, last, math::mul(math::conjugate(frame), turned), trace);
        }
    }
}

/// Turns a joint, within its limits and its largest turn.
fn set(links: &mut ChainState, n: usize, wanted: Quat, trace: &mut Trace) {
    let link = &mut links.links[n];
    let next = link.no_further(link.limits.clamp(math::normalize(wanted)));
    if next != link.rotation {
        link.rotation = next;
        if trace.is_watched() {
            trace.joint(links, n);
        }
    }
}
