//! Limbs: joints in a row that bear one goal between them.

use glam::Vec3;

use super::{
    branches::{Frame, NONE},
    column::{Column, State, Taken},
    cost::{QuadraticCost, Sym, Twist, Whole, add, cross, dot, scale, sub, times, times_back, wide},
    reach::Press,
    tasks::Task,
};

/// A row of joints at the end of the tree of which one alone bears a goal, for a place or for a place and a rotation.
///
/// What such a row asks of the joint that it hangs on need not be gathered joint by joint. Where each freedom s of it moves the
/// goal's point by J s, at a damping d, and the row as a whole by x, the least of w |x + sum of J s - e|^2 + sum of d |s|^2 is
///
/// ```text
/// (x - e)' C^-1 (x - e)    with    C = 1/w + sum of J J'/d,
/// ```
///
/// reached by s = J'f/d with the one push f = C^-1 (e - x) on all. C is how softly the goal's point gives way; each joint
/// only adds to it, a ball |a|^2 - a a' over the damping with a its arm. What else pulls a freedom by p adds p/d to its
/// motion and so takes J p/d off e.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limb {
    /// Which goal it bears.
    pub ask: usize,
    /// The joint that bears it, and the one that hangs on the trunk.
    pub end: usize,
    pub top: usize,
    /// Whether the goal has a rotation.
    turned: bool,
    /// The goal's point.
    pub point: Vec3,
    /// C and e on the way inward, at the point; what is asked there once the limb is gathered.
    soft: QuadraticCost,
    /// Arm of the joint that is being gathered.
    arm: [f64; 3],
    /// The push on all of it; from where a soft zone resists outward, what that leaves of it.
    pub push: Twist,
    /// The joint from which on outward it resists, in its soft zone; [`NONE`] where it does not.
    from: usize,
    resisting: Resisting,
}

/// How it resists.
#[derive(Clone, Copy, Debug)]
struct Resisting {
    along: [f64; 3],
    force: f64,
    stiffness: f64,
    /// C and e before any joint gave way.
    first: Sym,
    asked: [f64; 3],
    /// Its motion along while nothing pushes it, and what a push makes of it.
    own: f64,
    by_push: Twist,
}

impl Limb {
    pub fn new(ask: usize, end: usize) -> Self {
        Self {
            ask,
            end,
            top: end,
            turned: false,
            point: Vec3::ZERO,
            soft: QuadraticCost::ZERO,
            arm: [0.0; 3],
            push: Twist::ZERO,
            from: NONE,
            resisting: Resisting {
                along: [0.0; 3],
                force: 0.0,
                stiffness: 0.0,
                first: Sym::ZERO,
                asked: [0.0; 3],
                own: 0.0,
                by_push: Twist::ZERO,
            },
        }
    }

    /// Nothing gives way yet.
    pub fn begin(&mut self, ask: &Task, frames: &[Frame], (way, turn): (Vec3, Vec3), presses: &[Press]) {
        self.turned = ask.turn.is_some();
        self.point = frames[ask.node].at + ask.arm(frames);
        let k = 1.0 / ask.place_weight;
        self.soft.vv = Sym([k, k, k, 0.0, 0.0, 0.0]);
        self.soft.g = Twist { t: [0.0; 3], v: wide(way) };
        if self.turned {
            let k = 1.0 / ask.turn_weight;
            self.soft.tt = Sym([k, k, k, 0.0, 0.0, 0.0]);
            self.soft.tv = [[0.0; 3]; 3];
            self.soft.g.t = wide(turn);
        }
        self.from = NONE;
        if let Some(press) = presses.iter().find(|p| p.limb.ask == self.ask) {
            let Press { along, force, stiffness, .. } = *press;
            let (first, asked) = (self.soft.vv, self.soft.g.v);
            self.from = press.limb.from;
            self.resisting = Resisting { along, force, stiffness, first, asked, ..self.resisting };
        }
    }

    /// All joints up to the `i`-th are gathered: where a soft zone is from there on, it resists.
    #[inline(always)]
    pub fn gathered(&mut self, i: usize) {
        if self.from == i {
            self.resist();
        }
    }

    #[inline(never)]
    fn resist(&mut self) {
        let Resisting { along: u, force, stiffness, first, asked, .. } = self.resisting;
        let s = &mut self.soft;
        let given = sub(s.vv.times(u), first.times(u));
        let turned = if self.turned { times(&s.tv, u) } else { [0.0; 3] };
        let own = dot(u, sub(asked, s.g.v));
        let along = dot(u, given);
        let k = 1.0 / (1.0 + stiffness * along);
        let back = k * (stiffness * own + force);
        s.g.v = add(s.g.v, scale(given, back));
        s.vv.add_outer(given, -k * stiffness);
        if self.turned {
            s.g.t = add(s.g.t, scale(turned, back));
            s.tt.add_outer(turned, -k * stiffness);
            for (row, t) in s.tv.iter_mut().zip(turned) {
                *row = sub(*row, scale(given, k * stiffness * t));
            }
        }
        self.resisting.own = k * (own - along * force);
        self.resisting.by_push = Twist { t: scale(turned, k), v: scale(given, k) };
    }

    /// Makes the push that on the `i`-th joint and all further out.
    #[inline(always)]
    pub fn push_on(&mut self, i: usize) {
        if self.from == i {
            let Resisting { along, force, stiffness, own, by_push, .. } = self.resisting;
            let way = own + by_push.dot(&self.push);
            self.push.v = sub(self.push.v, scale(along, force + stiffness * way));
        }
    }

    /// The next joint inward is there.
    #[inline(always)]
    pub fn reach(&mut self, at: Vec3) {
        self.arm = wide(self.point - at);
    }

    /// What is asked at the goal's point, now that all joints give way.
    pub fn asks(&mut self) -> &QuadraticCost {
        let s = &mut self.soft;
        if self.turned {
            s.invert();
            s.g = Twist {
                t: add(s.tt.times(s.g.t), times(&s.tv, s.g.v)),
                v: add(times_back(&s.tv, s.g.t), s.vv.times(s.g.v)),
            };
        } else {
            s.vv = s.vv.inverse(0.0);
            s.g.v = s.vv.times(s.g.v);
        }
        s
    }

    /// Notes the push on all of it where its point is carried by x; false where it is not finite.
    pub fn carry(&mut self, x: &Twist) -> bool {
        let s = &self.soft;
        self.push.v = sub(s.g.v, s.vv.times(x.v));
        if self.turned {
            self.push.v = sub(self.push.v, times_back(&s.tv, x.t));
            self.push.t = sub(s.g.t, add(s.tt.times(x.t), times(&s.tv, x.v)));
        }
        self.push.is_finite()
    }

    /// The push on a joint at its own place.
    #[inline(always)]
    pub fn push_at(&self, at: Vec3) -> [f64; 3] {
        add(self.push.t, cross(wide(self.point - at), self.push.v))
    }
}

impl Taken for Limb {
    #[inline(always)]
    fn take_whole(&mut self, whole: &mut Whole, damping: f64, pull: [f64; 3]) {
        let k = 1.0 / damping;
        let [x, y, z] = self.arm;
        let s = &mut self.soft;
        let m = [y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z];
        for (s, m) in s.vv.0.iter_mut().zip(m) {
            *s += k * m;
        }
        whole.c = scale(pull, k);
        whole.share = k;
        s.g.v = sub(s.g.v, cross(whole.c, self.arm));
        if self.turned {
            for t in &mut s.tt.0[..3] {
                *t += k;
            }
            // A turn about the first axis moves the point by (0, -z, y), and so on.
            for (i, j, c) in [(0, 1, -z), (0, 2, y), (1, 0, z), (1, 2, -x), (2, 0, -y), (2, 1, x)] {
                s.tv[i][j] += k * c;
            }
            s.g.t = sub(s.g.t, whole.c);
        }
    }

    #[inline(always)]
    fn take(&mut self, c: &mut Column, damping: f64, pull: f64) {
        c.h = if c.slides() {
            Twist { t: [0.0; 3], v: c.axis }
        } else {
            Twist { t: c.axis, v: cross(c.axis, self.arm) }
        };
        if c.state == State::Wall {
            c.c = pull;
            return;
        }
        c.inverse = 1.0 / damping;
        c.c = pull * c.inverse;
        self.soft.put_in(&c.h, c.inverse, self.turned);
        let g = &mut self.soft.g;
        g.v = sub(g.v, scale(c.h.v, c.c));
        if self.turned {
            g.t = sub(g.t, scale(c.h.t, c.c));
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::{sync::Arc, vec::Vec};
    use glam::{Quat, Vec3};

    use crate::{
        JointTransform, Pose, Skeleton,
        joint::{Dof, Joint},
        math,
        solve::full_body::{
            branches::{Branches, NONE},
            pulls::Pulls,
            reach::{Press, Reach},
            step::{Asked, Stepper},
            tasks::{Task, missing},
        },
    };

    /// A trunk of two joints with limbs of balls, of joints about axes and of sliders.
    fn figure() -> Arc<Skeleton> {
        let at = |x: f32, y: f32, z: f32| JointTransform::from_translation(Vec3::new(x, y, z));
        let mut b = Skeleton::builder();
        let hips = b.add("hips", None, at(0.1, 0.2, 0.0));
        let chest = b.add("chest", Some(hips), at(0.0, 0.5, 0.1));
        let mut turning = Vec::new();
        for side in [-1.0, 1.0] {
            let shoulder = b.add("shoulder", Some(chest), at(0.2 * side, 0.1, 0.0));
            let elbow = b.add("elbow", Some(shoulder), at(0.3 * side, 0.0, 0.05));
            let hand = b.add("hand", Some(elbow), at(0.25 * side, 0.05, 0.0));
            b.add("finger", Some(hand), at(0.1 * side, 0.0, 0.1));
            turning.push(elbow);
        }
        let thigh = b.add("thigh", Some(hips), at(0.1, -0.1, 0.0));
        let piston = b.add("piston", Some(thigh), at(0.0, -0.4, 0.02));
        b.add("foot", Some(piston), at(0.0, -0.1, 0.05));
        let (mut skeleton, ids) = b.build().unwrap();
        skeleton.set_joint(ids[turning[0]], Joint::hinge(Vec3::Y, Dof::FREE)).unwrap();
        skeleton.set_joint(ids[turning[1]], Joint::axes([Some(Dof::FREE), None, Some(Dof::FREE)])).unwrap();
        let slides = [None, Some(Dof::range(-0.5, 0.5)), None];
        skeleton.set_joint(ids[piston], Joint::FREE.with_slide(slides)).unwrap();
        let narrow = Joint::ball(Vec3::X, Vec3::Y, [(-0.01, 0.01), (-0.02, 0.02)], (-0.1, 0.1));
        skeleton.set_joint(skeleton.find("shoulder").unwrap(), narrow).unwrap();
        Arc::new(skeleton)
    }

    /// Steps with limbs gathered as such lead where they lead joint by joint, walls, pulls and soft zones included.
    #[test]
    fn limbs_step_as_the_trunk_would() {
        let skeleton = figure();
        let root = skeleton.find("hips").unwrap();
        let place = Vec3::new(0.5, 0.6, 0.4);
        let turn = math::axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.7);
        let wanted = [
            (5, Some(place), Some(turn), Vec3::new(0.02, 0.01, 0.05)),
            (9, Some(-place), None, Vec3::ZERO),
            (11, Some(Vec3::new(0.3, -0.2, 0.5)), None, Vec3::new(0.1, 0.0, 0.0)),
        ];
        let pulls = [
            Pulls { posture: 0.0, pole: 0.0, root: None },
            Pulls { posture: 0.3, pole: 0.0, root: Some(0.2) },
            Pulls { posture: 0.0, pole: 0.0, root: Some(0.0) },
        ];
        for (pulls, soft) in
            pulls.into_iter().zip([0.0, 0.0, 0.0]).chain(pulls.into_iter().zip([0.5, 0.9, 0.2]))
        {
            let run = |coupled: bool| {
                let mut branches = Branches::new(&skeleton, root, |_| true);
                let pose = Pose::rest(&skeleton);
                let count = branches.nodes.len();
                branches.load(&pose, &alloc::vec![true; count]).unwrap();
                branches.count_in(1.0);
                let asks: Vec<Task> = wanted
                    .iter()
                    .map(|&(node, place, turn, lever)| Task {
                        node,
                        place,
                        turn,
                        lever,
                        place_weight: 0.8,
                        turn_weight: 0.3,
                        other: NONE,
                        ..Task::NOTHING
                    })
                    .collect();
                let mut stepper = Stepper::new(&branches, asks.len(), asks.len());
                let mut reach = Reach::new(count, asks.len());
                branches.forward();
                reach.load(&branches, &asks, soft);
                // The piston's limb slides, and has no zone.
                assert_eq!(reach.limbs().len(), if soft > 0.0 { 2 } else { 0 });
                let mut pressed = 0;
                stepper.begin(&branches, &asks, 0, pulls.posture > 0.0, coupled);
                assert_eq!(stepper.limbs(), if coupled { 0 } else { wanted.len() });
                let mut list = Vec::new();
                let mut costs = Vec::new();
                for _ in 0..6 {
                    branches.forward();
                    let cost = missing(&asks, 0, &branches, &mut list).0;
                    costs.push(cost + reach.cost(&asks, &branches.frames, 0));
                    reach.press(&asks, &branches.frames, 0);
                    pressed += reach.presses.len();
                    let rows: Vec<_> = reach.presses.iter().filter(|_| coupled).map(Press::row).collect();
                    let asked = Asked {
                        asks: &asks,
                        priority: 0,
                        missing: &list,
                        bends: &[],
                        presses: &reach.presses,
                        rows: &rows,
                        masses: &[],
                    };
                    assert!(stepper.step(&mut branches, asked, 0.05, pulls));
                }
                assert!(soft == 0.0 || pressed > 6, "{pressed}");
                let joints: Vec<(Quat, Vec3)> =
                    branches.nodes.iter().map(|n| (n.rotation, n.offset)).collect();
                (joints, costs)
            };
            let ((limbs, costs), (trunk, _)) = (run(false), run(true));
            assert!(pulls.posture > 0.0 || costs[5] < 0.5 * costs[0], "{costs:?}");
            for ((q, at), (p, to)) in limbs.into_iter().zip(trunk) {
                assert!(math::angle_between(q, p) < 1e-5 && at.distance(to) < 1e-5, "{q} {p} {at} {to}");
            }
        }
    }
}
