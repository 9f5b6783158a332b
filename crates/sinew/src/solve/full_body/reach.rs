//! Soft zones: limbs slow down as they go straight.

use alloc::vec::Vec;

use glam::Vec3;

use super::{
    branches::{Branches, Frame, NONE, Turns},
    cost::{Twist, dot, scale, wide},
    tasks::{Pushed, Row, Task},
};
use crate::{math, math64};

/// A limb that bends, and whose end is to come no nearer to full stretch than a soft zone lets it: joints in a row that one
/// goal for a place alone moves.
///
/// For a goal at the distance d the end of a chain with a soft zone stands at r = soften(d) (see
/// [`soften`](crate::solve::soften)). Here the same comes out of a potential, so that it can be weighed against all else:
/// with da the zone's beginning, s its width and u = (length - r) / s what is left of it,
///
/// ```text
/// b(r) = w s^2 (1 - u^2 + 2 u ln u)    from da on, 0 before
/// ```
///
/// has the slope 2 w (d - r) where r = soften(d): it balances a goal of weight w exactly there. A row that bears one goal so
/// ends where a chain would, as long as nothing else gives way; what a goal misses then draws the trunk, which comes after
/// until the row is out of its zone. Where joints go straight the slope of r by their angles is nil and that of the balance
/// is not, and so the second derivatives of r cancel in the sum: steps that leave them out are Newton's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    /// The joint at whose place it begins, and that at which it ends.
    pub from: usize,
    pub to: usize,
    /// The goal whose point of that joint is its end.
    pub ask: usize,
    length: f64,
    zone: f64,
}

/// How a limb in its zone resists.
#[derive(Clone, Copy, Debug)]
pub(super) struct Press {
    pub limb: Stretch,
    /// From the joint at which it ends to its end.
    arm: Vec3,
    /// From its beginning to its end, a unit vector.
    pub along: [f64; 3],
    /// Half the slope of its potential, and of that the part that grows with the way along.
    pub force: f64,
    pub stiffness: f64,
}

/// What is left of a zone is taken for no less than this part of it, where a limb is straight: the logarithm ends somewhere.
const LEAST: f64 = 1e-4;

/// A zone of less than this part of the limb is none: f32 knows the way along no better.
const NARROWEST: f64 = 1e-4;

impl Stretch {
    /// The limb from one node to another; none where it does not bend or something slides.
    fn between(branches: &Branches, asks: &[Task], soft: f32, (from, ask): (usize, usize)) -> Option<Self> {
        let frames = &branches.frames;
        let to = asks[ask].node;
        let mut last = frames[to].at + asks[ask].arm(frames);
        let (mut length, mut longest, mut bones, mut at) = (0.0f64, 0.0f64, 0, to);
        loop {
            let node = &branches.nodes[at];
            if at == from || node.turns != Turns::Not {
                let bone = f64::from(math::sqrt((last - frames[at].at).length_squared()));
                if bone > NARROWEST * length {
                    (length, longest, bones) = (length + bone, longest.max(bone), bones + 1);
                }
                last = frames[at].at;
            }
            if at == from {
                break;
            }
            if node.slides != [false; 3] || node.parent == NONE {
                return None;
            }
            at = node.parent;
        }
        // From as near as it comes to as far.
        let zone = f64::from(soft) * (length - (2.0 * longest - length).max(0.0));
        let bends = bones > 1 && zone > NARROWEST * length;
        bends.then_some(Self { from, to, ask, length, zone })
    }

    /// What is left of its zone, 1 to 0, the way along, and its end from the joint there; none before the zone.
    fn left(&self, asks: &[Task], frames: &[Frame]) -> Option<(f64, [f64; 3], Vec3)> {
        let arm = asks[self.ask].arm(frames);
        let way = wide(frames[self.to].at + arm - frames[self.from].at);
        let far = math64::sqrt(dot(way, way));
        let left = (self.length - far) / self.zone;
        (left < 1.0 && far > 0.0).then(|| (left.max(LEAST), scale(way, 1.0 / far), arm))
    }

    fn press(&self, asks: &[Task], frames: &[Frame]) -> Option<Press> {
        let (left, along, arm) = self.left(asks, frames)?;
        let w = asks[self.ask].place_weight;
        let force = w * self.zone * (left - 1.0 - math64::ln(left));
        Some(Press { limb: *self, arm, along, force, stiffness: w * (1.0 / left - 1.0) })
    }

    fn cost(&self, asks: &[Task], frames: &[Frame]) -> f64 {
        let Some((u, ..)) = self.left(asks, frames) else { return 0.0 };
        let k = 1.0 - u * u + 2.0 * u * math64::ln(u);
        asks[self.ask].place_weight * self.zone * self.zone * k
    }
}

impl Press {
    /// What it asks of the joints at its ends, where it is not gathered as a limb.
    pub fn row(&self) -> Row {
        // (Where a zone begins both are nil.)
        let root = math64::sqrt(self.stiffness.max(f64::MIN_POSITIVE));
        let back = Twist { t: [0.0; 3], v: scale(self.along, -root) };
        let push = Twist { t: [0.0; 3], v: scale(self.along, root) }.acts_at(wide(self.arm));
        let missing = -self.force / root;
        Row { on: Pushed::One(self.limb.to, push), other: Some((self.limb.from, back)), missing }
    }
}

/// The limbs of a tree that have soft zones, and how they resist.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    limbs: Vec<Stretch>,
    pub presses: Vec<Press>,
    /// Of each node, how many goals it and what hangs on it bear.
    bears: Vec<u32>,
}

impl Reach {
    pub fn new(nodes: usize, asks: usize) -> Self {
        Self {
            limbs: Vec::with_capacity(asks),
            presses: Vec::with_capacity(asks),
            bears: alloc::vec![0; nodes],
        }
    }

    pub fn limbs(&self) -> &[Stretch] {
        &self.limbs
    }

    /// Finds the limbs for what is asked, for joints whose frames are up to date. `soft`: the zone as a part of the way that
    /// a limb's end can go.
    pub fn load(&mut self, branches: &Branches, asks: &[Task], soft: f32) {
        self.limbs.clear();
        self.presses.clear();
        if soft <= 0.0 {
            return;
        }
        let up = |at: usize| {
            core::iter::successors(Some(at), |&n| Some(branches.nodes[n].parent).filter(|&p| p != NONE))
        };
        self.bears.fill(0);
        for ask in asks.iter().filter(|a| a.place.is_some() || a.turn.is_some()) {
            for end in [ask.node, ask.other].into_iter().filter(|&n| n != NONE) {
                up(end).for_each(|n| self.bears[n] += 1);
            }
        }
        for (n, ask) in asks.iter().enumerate().filter(|(_, a)| a.place.is_some() && a.other == NONE) {
            let top = up(ask.node).take_while(|&n| self.bears[n] == 1).last();
            self.limbs.extend(top.and_then(|top| Stretch::between(branches, asks, soft, (top, n))));
        }
    }

    /// What the potentials come to, with goals up to a priority.
    pub fn cost(&self, asks: &[Task], frames: &[Frame], priority: u8) -> f64 {
        let asked = |l: &&Stretch| asks[l.ask].priority <= priority;
        self.limbs.iter().filter(asked).map(|l| l.cost(asks, frames)).sum()
    }

    /// Works out which limbs resist, and how.
    pub fn press(&mut self, asks: &[Task], frames: &[Frame], priority: u8) {
        let Self { limbs, presses, .. } = self;
        presses.clear();
        let asked = |l: &&Stretch| asks[l.ask].priority <= priority;
        presses.extend(limbs.iter().filter(asked).filter_map(|l| l.press(asks, frames)));
    }

    /// Whether any limb in its zone keeps its end short of its goal. (A straight one whose goal is nearer is just stuck.)
    pub fn keeps_short(&self, asks: &[Task], frames: &[Frame]) -> bool {
        self.limbs.iter().any(|l| {
            let (way, _) = asks[l.ask].missing(frames);
            l.left(asks, frames).is_some_and(|(_, along, _)| dot(along, wide(way)) > 0.0)
        })
    }

    /// Whether any limb is in its zone.
    pub fn presses(&self, asks: &[Task], frames: &[Frame]) -> bool {
        self.limbs.iter().any(|l| l.left(asks, frames).is_some())
    }
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;

    use glam::Vec3;

    use crate::{
        Goal, JointTransform, Pose, Skeleton, math,
        solve::{Effector, FullBody, soften},
    };

    /// A limb that comes in exactly straight rests there for a step, with its goal on its line: it starts anew, soft zone or none.
    #[test]
    fn a_straight_limb_comes_back() {
        let mut b = Skeleton::builder();
        let mut last = None;
        for x in [0.0, 0.1, 0.5, 0.5] {
            last = Some(b.add("joint", last, JointTransform::from_translation(Vec3::X * x)));
        }
        let (skeleton, ids) = b.build().unwrap();
        let skeleton = Arc::new(skeleton);
        for (soft, from) in [(0.0, 0), (0.1, 0), (0.1, 1), (1.0, 1)] {
            let tips = [Effector::new(ids[3])];
            let root = ids[from];
            let mut full_body = FullBody::new(&skeleton, root, &tips).unwrap();
            full_body.soft = soft;
            let mut pose = Pose::rest(&skeleton);
            let goal = pose.position(root) + Vec3::X * 0.4;
            full_body.solve(&mut pose, &[Goal::at(goal)]).unwrap();
            let way = pose.position(tips[0].joint) - pose.position(root);
            let length = if from == 0 { 1.1 } else { 1.0 };
            let off = (way.length() - soften(0.4, length, soft)).abs();
            assert!(off < if soft < 1.0 { 2e-4 } else { 2e-2 }, "{soft} {from}: {off}");
        }
    }

    /// A limb of its own stands where a chain with a soft zone does, whatever else is asked of the tree, and the potential's
    /// slope is what balances it there.
    #[test]
    fn a_limb_stands_where_a_chain_would() {
        let mut b = Skeleton::builder();
        let at = |x: f32, y: f32, z: f32| JointTransform::from_translation(Vec3::new(x, y, z));
        let root = b.add("root", None, at(0.1, 1.0, 0.0));
        for side in [-1.0, 1.0] {
            let hip = b.add("hip", Some(root), at(0.1 * side, 0.0, 0.0));
            let knee = b.add("knee", Some(hip), at(0.0, -0.5, 0.1));
            b.add("foot", Some(knee), at(0.0, -0.5, -0.1));
        }
        let (mut skeleton, ids) = b.build().unwrap();
        skeleton.set_joint(ids[0], crate::joint::Joint::FIXED).unwrap();
        let skeleton = Arc::new(skeleton);
        let (length, soft) = (2.0 * math::sqrt(0.26), 0.1);
        for priority in [0, 1] {
            let tips = [Effector::new(ids[3]), Effector::new(ids[6]).with_priority(priority)];
            let mut full_body = FullBody::new(&skeleton, ids[0], &tips).unwrap();
            full_body.soft = soft;
            for d in [0.8, 0.9, 0.95, 1.0, 1.02, 1.1, 1.5] {
                let mut pose = Pose::rest(&skeleton);
                let hips = [ids[1], ids[4]].map(|j| pose.position(j));
                let goals = hips.map(|hip| hip + Vec3::new(0.0, -0.8, 0.6) * d);
                full_body.solve(&mut pose, &goals.map(Goal::at)).unwrap();
                for (hip, foot) in hips.into_iter().zip([ids[3], ids[6]]) {
                    let (way, wanted) = (pose.position(foot) - hip, soften(d, length, soft));
                    assert!((way.length() - wanted).abs() < 2e-5, "{d}: {} for {wanted}", way.length());
                    assert!(way.normalize().dot(Vec3::new(0.0, -0.8, 0.6)) > 1.0 - 1e-6);
                }
            }
        }
    }
}
