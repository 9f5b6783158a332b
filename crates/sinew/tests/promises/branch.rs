//! Promise 8: what a report says of the branch is what both poses show, by one formula for all solvers.
//!
//! The judge computes it anew in f64. A solver joins by implementing [`Branches`] and naming itself in the list at the end.

use std::{cell::Cell, fmt::Debug};

use proptest::{prelude::*, test_runner::TestRunner};
use sinew::{
    Goal, JointId, Pole, Pose, Report, SolveError,
    glam::{Quat, Vec2, Vec3},
    math, planar,
    solve::{
        Auto, Ccd, DampedLeastSquares, Fabrik, Fold, Follow, FreeChain, IterativeOptions, Lead, PointChain,
        Spline,
        spline::{Curve, CurveKind, CurveUp},
    },
};

use End::{Root, Tip};

use crate::promises::{config, held::held, judge, limited, rig};

/// A solver whose reports are held against what it did.
pub trait Branches {
    /// Its goal.
    type Case: Debug;

    fn cases() -> BoxedStrategy<Self::Case>;

    /// One solve: what the report says, and what the judge sees. None where it refuses the case.
    fn solve(case: &Self::Case) -> Option<(bool, Seen)>;
}

/// Effect of a solve, by the judge.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The largest turn of a joint, in radians.
    pub turn: f64,
    /// Displacement of the tip, in lengths of the chain (sizes of the figure); of several effectors, the largest.
    pub moved: f64,
    /// Turn of the tip, in radians, where its goal has a rotation.
    pub turned: f64,
    /// With a pole or swivel: line from root to tip and bend, before and after.
    pub bend: Option<[judge::V; 4]>,
    /// Uncertainty of `moved` in f32.
    pub rounding: f64,
}

impl Seen {
    /// Whether the branch changed; none where rounding decides.
    pub fn changed(&self) -> Option<bool> {
        if let Some([line, bend, now, bent]) = self.bend {
            return flipped(line, bend, now, bent, self.rounding);
        }
        let over = self.turn - (8.0 * self.moved + 16.0 * self.turned + 1e-3);
        // Rotations of f32 are good to some 2e-7 a number, places to the rounding.
        let unsure = 1e-5 + 1e-5 * self.turn + 16.0 * self.rounding;
        (over.abs() > unsure).then_some(over > 0.0)
    }
}

/// Whether the bend turned by more than a right angle about the line, which takes it along by the shortest arc.
fn flipped(line: judge::V, bend: judge::V, now: judge::V, bent: judge::V, rounding: f64) -> Option<bool> {
    use judge::{add, cross, dot, length, scale, sub, unit};
    let size = length(line).max(length(now)).max(length(bend)).max(length(bent));
    // A line without length has no direction, nor have bends along it.
    let least = (1e-3 + 100.0 * rounding) * size;
    if size == 0.0 || length(line) <= least || length(now) <= least {
        return None;
    }
    let (a, b) = (unit(line), unit(now));
    let across = |axis, v| sub(v, scale(axis, dot(axis, v)));
    let (from, to) = (across(a, bend), across(b, bent));
    // Half a turn of the line goes any way round.
    if length(from) <= least || length(to) <= least || dot(a, b) < -0.999 {
        return None;
    }
    // Rodrigues' formula with the axis a x b, of length sin, and 1 + cos.
    let axis = cross(a, b);
    let carried =
        add(add(scale(from, dot(a, b)), cross(axis, from)), scale(axis, dot(axis, from) / (1.0 + dot(a, b))));
    let cosine = dot(unit(carried), unit(to));
    (cosine.abs() > 1e-3 + 100.0 * rounding).then_some(cosine < 0.0)
}

/// Joints that a solver moves, and what it moves them for.
pub struct Led {
    /// The joints that it may turn.
    pub joints: Vec<JointId>,
    /// Length of the chain or size of the figure, in metres, in the incoming pose.
    pub size: f64,
    /// Points of joints' frames that have a place to go to.
    pub places: Vec<(JointId, Vec3)>,
    /// Joints that have a rotation to take.
    pub rotations: Vec<JointId>,
    /// With a pole: the root, the joints between it and the tip, and the tip with its offset.
    pub bend: Option<(JointId, Vec<JointId>, (JointId, Vec3))>,
    /// Uncertainty of positions in f32, in metres.
    pub rounding: f64,
}

impl Led {
    /// Holds two poses against each other.
    pub fn see(&self, before: &Pose, after: &Pose) -> Seen {
        let over = if self.size > 0.0 { 1.0 / self.size } else { 0.0 };
        let most = |all: &mut dyn Iterator<Item = f64>| all.fold(0.0, f64::max);
        let at =
            |pose: &Pose, (joint, offset): (JointId, Vec3)| judge::frame(pose, joint).point(judge::v(offset));
        let way = |&place: &(JointId, Vec3)| judge::length(judge::sub(at(after, place), at(before, place)));
        let spin = |&joint: &JointId| {
            let frames = [before, after].map(|p| judge::frame(p, joint).columns.map(judge::unit));
            // The trace of the turn between them is 1 + 2 cos; its antisymmetric part has the length 2 sin.
            let turn = |i: usize, j: usize| (0..3).map(|k| frames[1][k][i] * frames[0][k][j]).sum::<f64>();
            let sine =
                judge::length([turn(2, 1) - turn(1, 2), turn(0, 2) - turn(2, 0), turn(1, 0) - turn(0, 1)]);
            sine.atan2(turn(0, 0) + turn(1, 1) + turn(2, 2) - 1.0)
        };
        let bend = self.bend.as_ref().map(|(root, between, tip)| {
            let of = |pose: &Pose| {
                let root = judge::position(pose, *root);
                let inner = between.iter().map(|&j| judge::sub(judge::position(pose, j), root));
                let sum = inner.fold([0.0; 3], judge::add);
                let mean = judge::scale(sum, 1.0 / between.len().max(1) as f64);
                [judge::sub(at(pose, *tip), root), mean]
            };
            let ([line, bend], [now, bent]) = (of(before), of(after));
            [line, bend, now, bent]
        });
        Seen {
            turn: most(
                &mut self.joints.iter().map(|&j| angle(before.local(j).rotation, after.local(j).rotation)),
            ),
            moved: most(&mut self.places.iter().map(way)) * over,
            turned: most(&mut self.rotations.iter().map(spin)),
            bend,
            rounding: self.rounding * over,
        }
    }
}

/// The angle between two rotations.
fn angle(a: Quat, b: Quat) -> f64 {
    let unit = |q: Quat| {
        let q = [q.x, q.y, q.z, q.w].map(f64::from);
        let n = q.iter().map(|c| c * c).sum::<f64>().sqrt();
        q.map(|c| c / n)
    };
    let (a, b) = (unit(a), unit(b));
    let chord = |sign: f64| (0..4).map(|i| (a[i] - sign * b[i]).powi(2)).sum::<f64>().sqrt();
    4.0 * (0.5 * chord(1.0).min(chord(-1.0))).min(1.0).asin()
}

/// Reports say what the judge sees, but where rounding decides; both answers occur.
fn agrees<S: Branches>(cases: u32) {
    let [said, unsaid, unsure] = [const { Cell::new(0) }; 3];
    let mut runner = TestRunner::new(config(cases));
    let result = runner.run(&S::cases(), |case| {
        let Some((says, seen)) = S::solve(&case) else { return Ok(()) };
        let changed = seen.changed();
        let count = match changed {
            Some(true) => &said,
            Some(false) => &unsaid,
            None => &unsure,
        };
        count.set(count.get() + 1);
        prop_assert!(changed.is_none_or(|c| c == says), "the report says {says}, but {seen:?}");
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let [said, unsaid, unsure] = [said.get(), unsaid.get(), unsure.get()];
    let all = said + unsaid + unsure;
    assert!(100 * said > all && 100 * unsaid > all, "{said} times, and {unsaid} times not");
    assert!(10 * unsure < all, "{unsure} of {all} are too close");
}

/// Task of a chain.
#[derive(Clone, Debug)]
struct Asked {
    chain: limited::Limited,
    /// Distance of the goal from the chain's end, in lengths of the chain.
    way: Vec3,
    rotation: Option<Quat>,
    pole: Option<Vec3>,
    /// Of all, of the position, of the rotation.
    weights: [f32; 3],
    max_turn: f32,
    soft: f32,
    stretch: f32,
    swivel: f32,
}

/// From a ten-thousandth of the length to all of it.
fn way() -> impl Strategy<Value = Vec3> {
    (rig::vector(), -4f32..0.0).prop_map(|(v, decade)| v.normalize() * 10f32.powf(decade))
}

fn asked_of(chains: BoxedStrategy<limited::Limited>) -> BoxedStrategy<Asked> {
    let weight = || prop_oneof![4 => Just(1.0), 1 => 0f32..1.0];
    let max_turn = prop_oneof![3 => Just(f32::INFINITY), 1 => 0.01f32..0.5];
    let rotation = prop::option::weighted(0.3, rig::rotation());
    let pole = prop::option::weighted(0.3, rig::vector());
    (
        (chains, way(), rotation, pole, [weight(), weight(), weight()]),
        (max_turn, prop_oneof![Just(0.0), Just(0.05f32)], prop_oneof![4 => Just(1.0), 1 => Just(1.3f32)]),
        prop_oneof![8 => Just(0.0), 1 => -3.0f32..3.0],
    )
        .prop_map(|((chain, way, rotation, pole, weights), (max_turn, soft, stretch), swivel)| Asked {
            chain,
            way,
            rotation,
            pole,
            weights,
            max_turn,
            soft,
            stretch,
            swivel,
        })
        .boxed()
}

/// An end of a chain that has a place to go to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Root,
    Tip,
}

impl Asked {
    fn goal(&self) -> Goal {
        let end = self.chain.end(&self.chain.pose).map(|x| x as f32);
        let size = self.chain.length as f32;
        let mut goal = Goal::position(Vec3::from_array(end) + self.way * size);
        if let Some(rotation) = self.rotation {
            let now = self.chain.pose.model_rotation(self.chain.tip);
            goal = goal.with_rotation(math::slerp(now, rotation, self.way.length().min(1.0)));
        }
        if let Some(pole) = self.pole {
            goal = goal.with_pole(Pole::Direction(pole));
        }
        [goal.position_influence, goal.rotation_influence] = [self.weights[1], self.weights[2]];
        goal.with_swivel(self.swivel)
    }

    fn options(&self) -> IterativeOptions {
        IterativeOptions::new()
            .with_max_iterations(60)
            .with_soft(self.soft)
            .with_max_turn(self.max_turn)
            .with_influence(self.weights[0])
    }

    fn led(&self, ends: &[End]) -> Led {
        let chain = self.chain.chain();
        let joints = chain.joints();
        let tip = (chain.tip(), chain.tip_offset());
        let asks = self.rotation.is_some() && self.weights[0] * self.weights[2] > 0.0;
        let place = |end: &End| if *end == Tip { tip } else { (chain.root(), Vec3::ZERO) };
        Led {
            joints: joints.to_vec(),
            size: self.chain.length,
            places: ends.iter().map(place).collect(),
            rotations: if asks { vec![chain.tip()] } else { Vec::new() },
            bend: (self.pole.is_some() || self.swivel != 0.0)
                .then(|| (chain.root(), joints[1..].to_vec(), tip)),
            rounding: self.chain.rounding + 4e-6 * self.chain.length,
        }
    }

    fn solve(
        &self,
        ends: &[End],
        solve: impl FnOnce(&mut Pose, &Goal) -> Result<Report, SolveError>,
    ) -> Option<(bool, Seen)> {
        let mut pose = self.chain.pose.clone();
        let report = solve(&mut pose, &self.goal()).ok()?;
        Some((report.branch_changed, self.led(ends).see(&self.chain.pose, &pose)))
    }
}

struct Descent;

impl Branches for Descent {
    type Case = Asked;

    fn cases() -> BoxedStrategy<Asked> {
        asked_of(any::<bool>().prop_flat_map(limited::limited).boxed())
    }

    fn solve(case: &Asked) -> Option<(bool, Seen)> {
        let mut ccd = held(Ccd::from_chain(case.chain.pose.skeleton(), case.chain.chain()).unwrap());
        (ccd.options, ccd.stretch) = (case.options(), case.stretch);
        case.solve(&[Tip], |pose, goal| ccd.solve(pose, goal))
    }
}

struct Reaching;

impl Branches for Reaching {
    type Case = Asked;

    fn cases() -> BoxedStrategy<Asked> {
        asked_of(limited::limited(false).boxed())
    }

    fn solve(case: &Asked) -> Option<(bool, Seen)> {
        let mut fabrik = held(Fabrik::from_chain(case.chain.pose.skeleton(), case.chain.chain()).unwrap());
        (fabrik.options, fabrik.stretch) = (case.options(), case.stretch);
        case.solve(&[Tip], |pose, goal| fabrik.solve(pose, goal))
    }
}

struct Squares;

impl Branches for Squares {
    type Case = Asked;

    fn cases() -> BoxedStrategy<Asked> {
        Descent::cases()
    }

    fn solve(case: &Asked) -> Option<(bool, Seen)> {
        let skeleton = case.chain.pose.skeleton();
        let mut squares = held(DampedLeastSquares::from_chain(skeleton, case.chain.chain()).unwrap());
        (squares.options, squares.stretch) = (case.options(), case.stretch);
        case.solve(&[Tip], |pose, goal| squares.solve(pose, goal))
    }
}

struct Folding;

impl Branches for Folding {
    type Case = Asked;

    fn cases() -> BoxedStrategy<Asked> {
        Reaching::cases()
    }

    fn solve(case: &Asked) -> Option<(bool, Seen)> {
        let mut fold = held(Fold::from_chain(case.chain.pose.skeleton(), case.chain.chain()).unwrap());
        (fold.options, fold.stretch) = (case.options(), case.stretch);
        case.solve(&[Tip], |pose, goal| fold.solve(pose, goal))
    }
}

struct Chosen;

impl Branches for Chosen {
    type Case = Asked;

    fn cases() -> BoxedStrategy<Asked> {
        asked_of(prop_oneof![limited::limited(true), free()].boxed())
    }

    fn solve(case: &Asked) -> Option<(bool, Seen)> {
        let mut auto = held(Auto::from_chain(case.chain.pose.skeleton(), case.chain.chain()).unwrap());
        (auto.options.soft, auto.stretch, auto.options.max_turn) = (case.soft, case.stretch, case.max_turn);
        auto.options.influence = case.weights[0];
        case.solve(&[Tip], |pose, goal| auto.solve(pose, goal))
    }
}

/// Chains of free joints: the limb of a rig, with an offset at its tip or without, bent or straight.
fn free() -> BoxedStrategy<limited::Limited> {
    (rig::rig(), any::<bool>(), prop::bool::weighted(0.2))
        .prop_map(|(rig, offset, straight)| {
            let mut pose = rig.pose.clone();
            if straight {
                let joints: Vec<_> = pose.skeleton().joints().collect();
                joints.into_iter().for_each(|j| pose.set_rotation(j, Quat::IDENTITY));
                pose.update();
            }
            let tip_offset = if offset { pose.local(rig.tip).translation * 0.5 } else { Vec3::ZERO };
            let mut chain = limited::Limited {
                root: rig.root,
                tip: rig.tip,
                tip_offset,
                length: 0.0,
                rounding: rig.rounding,
                pose,
            };
            let joints = chain.chain().joints().to_vec();
            let mut places: Vec<_> = joints.iter().map(|&j| judge::position(&chain.pose, j)).collect();
            places.push(chain.end(&chain.pose));
            chain.length = places.windows(2).map(|w| judge::length(judge::sub(w[1], w[0]))).sum();
            chain
        })
        .boxed()
}

struct Free;

impl Branches for Free {
    type Case = Asked;

    fn cases() -> BoxedStrategy<Asked> {
        asked_of(free())
    }

    fn solve(case: &Asked) -> Option<(bool, Seen)> {
        let mut free = held(FreeChain::from_chain(case.chain.pose.skeleton(), case.chain.chain()).unwrap());
        (free.options.soft, free.stretch, free.options.max_turn) = (case.soft, case.stretch, case.max_turn);
        free.options.influence = case.weights[0];
        case.solve(&[Tip], |pose, goal| free.solve(pose, goal))
    }
}

/// Led by the tip or by the root: what leads is what has a place to go to.
struct Dragged;

impl Branches for Dragged {
    type Case = (Asked, bool);

    fn cases() -> BoxedStrategy<Self::Case> {
        let asked = asked_of(limited::limited(false).boxed());
        let plain = asked.prop_map(|asked| Asked { rotation: None, pole: None, swivel: 0.0, ..asked });
        (plain, any::<bool>()).boxed()
    }

    fn solve((case, root): &Self::Case) -> Option<(bool, Seen)> {
        let mut follow = held(Follow::from_chain(case.chain.pose.skeleton(), case.chain.chain()).unwrap());
        follow.options.lead = if *root { Lead::Root } else { Lead::Tip };
        follow.options.influence = case.weights[0];
        let from = if *root { case.chain.pose.position(case.chain.root) } else { Vec3::ZERO };
        case.solve(if *root { &[Root] } else { &[Tip] }, |pose, goal| {
            let to = goal.position.unwrap();
            let to = if *root { from + case.way * case.chain.length as f32 } else { to };
            follow.solve(pose, to)
        })
    }
}

/// Every joint of a chain on a curve has a place to come to.
struct Laid;

impl Branches for Laid {
    /// The chain, and points of the curve: the joints' places moved by as many ways, in lengths of the chain.
    type Case = (limited::Limited, Vec<Vec3>, f32);

    fn cases() -> BoxedStrategy<Self::Case> {
        let weight = prop_oneof![4 => Just(1.0), 1 => 0f32..1.0];
        (limited::limited(false), prop::collection::vec(way(), 6), weight).boxed()
    }

    fn solve((chain, ways, weight): &Self::Case) -> Option<(bool, Seen)> {
        let joints = chain.chain().joints().to_vec();
        let at = |i: usize| chain.pose.position(joints[i * (joints.len() - 1) / (ways.len() - 1)]);
        let points: Vec<Vec3> =
            ways.iter().enumerate().map(|(i, way)| at(i) + *way * chain.length as f32).collect();
        let curve = Curve::new(CurveKind::CatmullRom, &points, false, CurveUp::Direction(Vec3::Y)).ok()?;
        let mut spline = held(Spline::from_chain(chain.pose.skeleton(), chain.chain()).unwrap());
        spline.options.influence = *weight;
        let mut pose = chain.pose.clone();
        let report = spline.solve(&mut pose, &curve).ok()?;
        let mut places: Vec<_> = joints.iter().map(|&j| (j, Vec3::ZERO)).collect();
        places.push((chain.tip, chain.tip_offset));
        let led = Led {
            joints,
            size: chain.length,
            places,
            rotations: Vec::new(),
            bend: None,
            rounding: chain.rounding + 4e-6 * chain.length,
        };
        Some((report.report.branch_changed, led.see(&chain.pose, &pose)))
    }
}

/// A point chain has no joints: its bones turn.
struct Rope;

impl Branches for Rope {
    /// Bones, and the way from the end to the goal, in lengths.
    type Case = (Vec<Vec3>, Vec3);

    fn cases() -> BoxedStrategy<Self::Case> {
        let bent = prop::collection::vec(rig::vector(), 1..12);
        let straight = (rig::vector(), 1usize..12).prop_map(|(bone, count)| vec![bone; count]);
        (prop_oneof![4 => bent, 1 => straight], way()).boxed()
    }

    fn solve((bones, way): &Self::Case) -> Option<(bool, Seen)> {
        let mut before = vec![Vec3::ZERO];
        bones.iter().enumerate().for_each(|(i, bone)| before.push(before[i] + *bone));
        let mut point_chain = held(PointChain::new(&before).unwrap());
        let size: f64 = point_chain.lengths().iter().map(|&l| f64::from(l)).sum();
        let mut after = before.clone();
        let goal = before[bones.len()] + *way * size as f32;
        let report = point_chain.solve(&mut after, goal).unwrap();
        let bone = |p: &[Vec3], i: usize| judge::sub(judge::v(p[i + 1]), judge::v(p[i]));
        let turn = |i: usize| {
            let (a, b) = (bone(&before, i), bone(&after, i));
            judge::length(judge::cross(a, b)).atan2(judge::dot(a, b))
        };
        let (was, now) = (before[bones.len()], after[bones.len()]);
        let seen = Seen {
            turn: (0..bones.len()).map(turn).fold(0.0, f64::max),
            moved: judge::length(judge::sub(judge::v(now), judge::v(was))) / size,
            turned: 0.0,
            bend: None,
            rounding: 1e-6,
        };
        Some((report.branch_changed, seen))
    }
}

/// A chain in the plane. `DIRECTED`: with a direction for its last bone.
struct Plane<const DIRECTED: bool>;

/// Its task.
#[derive(Clone, Debug)]
struct Flat {
    bones: Vec<planar::Bone2d>,
    root: Vec2,
    base: f32,
    /// From the end to the goal, in lengths.
    way: Vec2,
    direction: f32,
    settings: planar::Options2d,
}

impl<const DIRECTED: bool> Branches for Plane<DIRECTED> {
    type Case = Flat;

    fn cases() -> BoxedStrategy<Flat> {
        let bone = (0.05f32..1.0, -3.1f32..3.1, prop::option::of((-3.1f32..0.5, 0f32..3.5))).prop_map(
            |(length, angle, limits)| match limits {
                Some((from, width)) => {
                    let to = (from + width).min(3.1);
                    planar::Bone2d::new(length).with_angle(angle.clamp(from, to)).with_limits(from, to)
                }
                None => planar::Bone2d::new(length).with_angle(angle),
            },
        );
        let side = prop::sample::select(vec![
            None,
            None,
            Some(planar::BendSide2d::Left),
            Some(planar::BendSide2d::Right),
        ]);
        let settings = (
            prop::sample::select(vec![
                planar::Method2d::Auto,
                planar::Method2d::CCD,
                planar::Method2d::Fabrik,
            ]),
            0u32..5,
            prop_oneof![Just(0.0), Just(0.05f32)],
            prop_oneof![4 => Just(1.0), 1 => Just(1.3f32)],
            side,
            prop_oneof![4 => Just(1.0), 1 => 0f32..1.0],
        )
            .prop_map(|(method, max_restarts, soft, stretch, side, weight)| {
                planar::Options2d::new()
                    .with_method(method)
                    .with_max_restarts(max_restarts)
                    .with_soft(soft)
                    .with_stretch(stretch)
                    .with_side(side)
                    .with_influence(weight)
            });
        (prop::collection::vec(bone, 1..12), rig::vector(), -3f32..3.0, way(), -3f32..3.0, settings)
            .prop_map(|(bones, root, base, way, direction, settings)| Flat {
                bones,
                root: root.truncate(),
                base,
                way: way.truncate(),
                direction,
                settings,
            })
            .boxed()
    }

    fn solve(case: &Flat) -> Option<(bool, Seen)> {
        let mut chain = planar::Chain2d::new(case.root, &case.bones).unwrap();
        chain.base = case.base;
        let before = chain.clone();
        let size = f64::from(chain.length());
        let goal = chain.end() + case.way * chain.length();
        let report = if DIRECTED {
            let heading = before.bones().iter().fold(case.base, |sum, bone| sum + bone.angle);
            let direction = heading + case.direction * case.way.length();
            chain.solve_directed(goal, direction, &crate::common::directed(&case.settings)).unwrap()
        } else {
            chain.solve(goal, &case.settings).unwrap()
        };
        let heading = |c: &planar::Chain2d| {
            f64::from(c.base) + c.bones().iter().map(|b| f64::from(b.angle)).sum::<f64>()
        };
        let bends = |c: &planar::Chain2d| {
            let (mut at, mut way) = ([0.0; 3], f64::from(c.base));
            let mut sum = at;
            for bone in c.bones() {
                sum = judge::add(sum, at);
                way += f64::from(bone.angle);
                let (sin, cos) = way.sin_cos();
                at = judge::add(at, judge::scale([cos, sin, 0.0], f64::from(bone.length)));
            }
            [at, sum]
        };
        let ([line, bend], [now, bent]) = (bends(&before), bends(&chain));
        let turns = before.bones().iter().zip(chain.bones()).map(|(a, b)| {
            let turn = f64::from(b.angle) - f64::from(a.angle);
            turn.sin().atan2(turn.cos()).abs()
        });
        let spin = heading(&chain) - heading(&before);
        let seen = Seen {
            turn: turns.fold(0.0, f64::max),
            moved: judge::length(judge::sub(now, line)) / size,
            turned: if DIRECTED { spin.sin().atan2(spin.cos()).abs() } else { 0.0 },
            bend: (case.settings.side.is_some() && !DIRECTED).then_some([line, bend, now, bent]),
            rounding: 2e-6 * (1.0 + f64::from(case.root.length()) / size),
        };
        Some((report.branch_changed, seen))
    }
}

macro_rules! suite {
    ($($name:ident: $subject:ty;)*) => {$(
        #[test]
        fn $name() {
            agrees::<$subject>(1500);
        }
    )*};
}

suite! {
    ccd: Descent;
    fabrik: Reaching;
    fold: Folding;
    least_squares: Squares;
    auto: Chosen;
    free_chain: Free;
    follow: Dragged;
    spline: Laid;
    point_chain: Rope;
    plane: Plane<false>;
    plane_directed: Plane<true>;
}
