//! One sweep: inward, outward.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use crate::{
    Chain, Skeleton, math,
    solve::{
        free::bones::{self, Bones},
        iterate::Sweep,
        linkage::{Ask, Linkage, signs},
    },
};

/// A joint on its way, seen from the frame of the root's parent, turned but not scaled, in metres.
#[derive(Clone, Copy, Debug)]
struct Node {
    place: Vec3,
    /// Orientation after its own turn.
    turned: Quat,
    /// Its bone: from it to the next joint (of the tip: to the end), in its own frame after its turn.
    bone: Vec3,
    /// What its scale turns: see [`signs`].
    sign: Quat,
}

/// Room for sweeps over one chain.
#[derive(Clone, Debug)]
pub(super) struct Reaching {
    nodes: Vec<Node>,
    /// For the finish of a chain whose joints are all free.
    free: Option<Bones>,
}

impl Reaching {
    pub fn new(skeleton: &Skeleton, chain: &Chain) -> Self {
        let node = Node { place: Vec3::ZERO, turned: Quat::IDENTITY, bone: Vec3::ZERO, sign: Quat::IDENTITY };
        let joints = chain.joints();
        let bones = joints.len() - usize::from(chain.tip_offset() == Vec3::ZERO);
        let free = joints[..bones].iter().all(|&j| skeleton.limits(j).turns_freely());
        Self { nodes: alloc::vec![node; joints.len()], free: free.then(|| Bones::new(bones)) }
    }

    /// Takes the chain in. Gives the place of the end.
    fn walk(&mut self, links: &Linkage) -> Vec3 {
        let (mut at, mut seat, mut unit) = (Vec3::ZERO, Quat::IDENTITY, links.unit());
        let count = links.links.len();
        for (n, (link, node)) in links.links.iter().zip(&mut self.nodes).enumerate() {
            at += math::rotate(seat, link.offset) * unit;
            node.place = at;
            node.turned = math::normalize(math::mul(seat, link.rotation));
            node.sign = signs(link.scale);
            let mirrored = link.scale.x * link.scale.y * link.scale.z < 0.0;
            unit *= if mirrored { -link.scale.x.abs() } else { link.scale.x.abs() };
            let next = if n + 1 < count { links.links[n + 1].offset } else { links.chain().tip_offset() };
            node.bone = math::rotate(node.sign, next) * unit;
            seat = math::mul(node.turned, node.sign);
        }
        self.nodes.last().map_or(at, |tip| at + math::rotate(tip.turned, tip.bone))
    }

    /// From the tip to the root: the end goes to `goal`, and each joint comes after.
    fn inward(&mut self, links: &Linkage, goal: Vec3, turn: Option<Quat>, first: usize) {
        let (root, last) = (self.nodes[0].place, self.nodes.len() - 1);
        let mut far = goal;
        for i in (first..=last).rev() {
            let mut node = self.nodes[i];
            let given = turn.filter(|_| i == last);
            // Between two known neighbours, where the spheres of its two bones meet.
            let hint = if i == 1 && first == 0 { self.between(root, node, far) } else { node.place };
            node.turned = match given {
                Some(turn) => math::normalize(math::mul(turn, math::conjugate(node.sign))),
                None => pointed(node.turned, node.bone, far - hint),
            };
            if i < last {
                let child = self.nodes[i + 1].turned;
                let seat = math::mul(node.turned, node.sign);
                let local = math::mul(math::conjugate(seat), child);
                let within = links.links[i + 1].limits.clamp(local);
                if within != local {
                    let seat = math::mul(child, math::conjugate(within));
                    node.turned = math::normalize(math::mul(seat, math::conjugate(node.sign)));
                }
            }
            node.place = far - math::rotate(node.turned, node.bone);
            far = node.place;
            self.nodes[i] = node;
        }
    }

    /// The place of the second joint, at `node.place` now, on both spheres: about the root with its first bone, and about
    /// `far` with its own. Where they do not meet, its old place.
    fn between(&self, root: Vec3, node: Node, far: Vec3) -> Vec3 {
        let way = far - root;
        let d = math::sqrt(way.length_squared());
        let (aa, bb) = (self.nodes[0].bone.length_squared(), node.bone.length_squared());
        if d <= 0.0 {
            return node.place;
        }
        let along = way / d;
        let x = (d * d + aa - bb) / (2.0 * d);
        let hh = aa - x * x;
        if hh.partial_cmp(&0.0) != Some(core::cmp::Ordering::Greater) {
            return node.place;
        }
        let own = node.place - root;
        root + along * x + math::perpendicular(along, own - along * own.dot(along)) * math::sqrt(hh)
    }

    /// From the root to the tip: each bone is pointed to where the other pass left its end, within its joint's limits.
    fn outward(&mut self, links: &mut Linkage, turn: Option<Quat>, first: usize) {
        let (mut at, mut seat) = (Vec3::ZERO, Quat::IDENTITY);
        let mut unit = links.unit();
        let last = self.nodes.len() - 1;
        for i in 0..=last {
            let link = &mut links.links[i];
            at += math::rotate(seat, link.offset) * unit;
            let mirrored = link.scale.x * link.scale.y * link.scale.z < 0.0;
            unit *= if mirrored { -link.scale.x.abs() } else { link.scale.x.abs() };
            let node = self.nodes[i];
            if i >= first {
                let wanted = if i < last {
                    pointed(node.turned, node.bone, self.nodes[i + 1].place - at)
                } else if turn.is_some() {
                    node.turned
                } else {
                    // The tip points its offset's end to the goal, which the inward pass had started from.
                    pointed(node.turned, node.bone, node.place + math::rotate(node.turned, node.bone) - at)
                };
                let local = math::normalize(math::mul(math::conjugate(seat), wanted));
                link.rotation = link.limits.clamp(local);
            }
            seat = math::mul(math::mul(seat, link.rotation), node.sign);
        }
    }
}

impl Sweep for Reaching {
    fn sweep(&mut self, links: &mut Linkage, ask: &Ask) {
        self.walk(links);
        let (goal, turn) = links.inside(ask.place, ask.turn);
        self.inward(links, goal, turn, ask.first);
        self.outward(links, turn, ask.first);
    }

    fn finish(&mut self, links: &mut Linkage, ask: &Ask) -> bool {
        if ask.turn.is_some() || ask.first > 0 || self.free.is_none() {
            return false;
        }
        let end = self.walk(links);
        let (goal, _) = links.inside(ask.place, None);
        let Some(bones) = &mut self.free else { return false };
        let nodes = &self.nodes;
        if !bones.load(|i| nodes.get(i).map_or(end, |n| n.place)) {
            return false;
        }
        let found = bones.reach(&bones::Ask {
            root: nodes[0].place,
            goal,
            tolerance: 0.0,
            uncertain: 0.0,
            soft: 0.0,
            stretch: 1.0,
            passes: 64,
            bend: Vec3::ZERO,
        });
        if found.passes == 0 {
            return false;
        }
        bones.arcs(found.normal);
        let mut seat = Quat::IDENTITY;
        for (i, (link, node)) in links.links.iter_mut().zip(&self.nodes).enumerate() {
            if i < bones.count() {
                let turned = math::mul(found.turn, math::mul(bones.arc(i), node.turned));
                link.rotation = math::normalize(math::mul(math::conjugate(seat), turned));
            }
            seat = math::normalize(math::mul(math::mul(seat, link.rotation), node.sign));
        }
        true
    }
}

/// An orientation turned by the shortest arc that makes its bone point along `way`.
fn pointed(turned: Quat, bone: Vec3, way: Vec3) -> Quat {
    let (Some(from), Some(to)) = (math::rotate(turned, bone).try_normalize(), way.try_normalize()) else {
        return turned;
    };
    math::normalize(math::mul(math::shortest_arc(from, to, Vec3::ZERO), turned))
}
