//! A creature as its walker knows it: legs, trunk and belly at rest.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use crate::{
    Chain, JointId, JointTransform, Pose, Skeleton,
    body::{CreatureLeg, Legs, LegsError},
    math,
    solve::{Follow, fold::rest::RestFold},
};

/// Distance of a part's middle ahead of its joint or behind it from which it is lifted by itself, as a share of the leg.
const AHEAD: f32 = 0.08;
/// Cells of the trunk seen from below, along and across; in each, the lowest vertex is kept clear of the ground.
const CELLS: [usize; 2] = [5, 3];

/// A creature that walks on any number of legs: its legs, trunk and belly in the bind pose.
#[derive(Clone, Debug)]
pub struct Creature {
    pub(super) legs: Vec<WalkLeg>,
    /// The same legs as they were found.
    pub(super) found: Vec<CreatureLeg>,
    pub(super) root: JointId,
    /// Heading of the front in model space, in radians about +Y from +Z.
    pub(super) heading: f32,
    /// Mean of the legs' roots, in model space.
    pub(super) pivot: Vec3,
    /// Mean height of the soles, in model space.
    pub(super) floor: f32,
    /// Mean length of the legs, in metres of model space.
    pub(super) length: f32,
    /// Lowest points of the trunk, in model space.
    pub(super) belly: Vec<Vec3>,
    /// Tails, necks and the like.
    pub(super) ends: Vec<Appendage>,
}

/// A part that hangs on the trunk ahead of its legs or behind them, such as a tail: it is lifted off the ground by itself.
#[derive(Clone, Debug)]
pub(super) struct Appendage {
    /// Its first joint.
    pub joint: JointId,
    /// Position of that joint, in model space.
    pub at: Vec3,
    /// Its lowest points, in model space.
    pub points: Vec<Vec3>,
    /// 1 if it lies ahead of its joint, -1 if behind.
    pub side: f32,
    /// Solver that pulls it along; `None` for a part that lies ahead, or whose joints do not allow it.
    pub tail: Option<Follow>,
}

/// A leg at rest. Lengths are in metres of model space.
#[derive(Clone, Debug)]
pub(super) struct WalkLeg {
    pub fold: RestFold,
    pub root: JointId,
    pub foot: JointId,
    /// Joints from the root to the foot and below it, with their transforms at rest.
    pub rest: Vec<(JointId, JointTransform)>,
    /// Rotation of the foot in model space.
    pub rotation: Quat,
    /// Vector from the foot's joint to the middle of its sole, in model space.
    pub sole: Vec3,
    /// Position of the root.
    pub hip: Vec3,
    /// Position of the sole.
    pub stand: Vec3,
    /// Largest distance of the sole's points from its middle, seen from above.
    pub radius: f32,
    /// How the foot bends against the bone above it, where it does by more than [`BENT`].
    pub bend: Option<FootBend>,
    /// Smallest and largest distance of the foot's joint from the root.
    pub reach: [f32; 2],
    /// Half of the longest step that keeps it away from its neighbours.
    pub apart: f32,
    /// Legs before and behind on the same side, and the partner on the other, by index.
    pub beside: [Option<usize>; 3],
}

/// Bend of a foot against the bone above it at rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct FootBend {
    /// Direction of the bone above, in its own frame.
    above: Vec3,
    /// Direction of the foot's bone, in the foot's frame.
    below: Vec3,
    /// Axis of the bend, in the frame of the bone above.
    axis: Vec3,
}

impl FootBend {
    fn new(bind: &Pose, leg: &CreatureLeg) -> Option<Self> {
        let skeleton = bind.skeleton();
        let path = core::iter::once(leg.tip).chain(skeleton.ancestors(leg.tip));
        let child = path.take_while(|&j| j != leg.foot).last()?;
        let above = bind.local(leg.foot).translation.try_normalize()?;
        let below = bind.local(child).translation.try_normalize()?;
        let cross = above.cross(math::rotate(bind.local(leg.foot).rotation, below));
        let axis = cross.try_normalize().filter(|_| cross.length() > math::sin(BENT))?;
        Some(Self { above, below, axis })
    }

    /// The turn about [`FootBend::axis`], in radians, that keeps a foot with this local rotation bent to its side; 0 if it is.
    pub fn keep(&self, local: Quat) -> f32 {
        let below = math::rotate(local, self.below);
        let bend = math::atan2(self.axis.dot(self.above.cross(below)), self.above.dot(below));
        (MIN_BEND - bend).max(0.0)
    }

    /// The axis, in the frame of the bone above.
    pub fn axis(&self) -> Vec3 {
        self.axis
    }
}

/// Bend at rest from which a foot keeps its side, in radians: 10 degrees.
const BENT: f32 = 0.1745;
/// Least bend that it keeps, in radians.
const MIN_BEND: f32 = 0.01;
/// Height of the sole's points over the lowest one, as a share of the leg.
const SOLE: f32 = 0.03;

/// Share of the distance to a neighbour's foot that half of a step may take: the feet of two neighbours that step in turn keep a
/// sixth of it apart.
const APART: f32 = 0.42;
/// Largest share of a leg's length by which the trunk comes down for longer steps.
const LOWERS: f32 = 0.12;
/// Share of its reach that a sprawled leg has at rest at most, and largest share of its distance by which its place is drawn in.
const DRAWN: f32 = 0.87;
const MAX_DRAWN: f32 = 0.1;
/// Share of its reach up to which a leg's steps are planned.
pub(super) const PLANNED: f32 = 0.955;

impl Creature {
    /// A creature with the legs that were found in its bind pose `bind`. `skin` holds the vertices of its mesh, each with the
    /// joint of its largest weight and its position in model space in the bind pose; it may be empty.
    ///
    /// # Errors
    ///
    /// [`LegsError::Unfit`] for a leg whose joints are sheared or without a length between root and foot.
    pub fn new(bind: &Pose, legs: &Legs, skin: &[(JointId, Vec3)]) -> Result<Self, LegsError> {
        let skeleton = bind.skeleton();
        let mut made = Vec::new();
        for leg in &legs.legs {
            let unfit =
                |what: &str| LegsError::Unfit { joint: skeleton.name(leg.tip).into(), what: what.into() };
            let chain =
                Chain::new(skeleton, leg.root, leg.foot).map_err(|e| unfit(&alloc::format!("{e}")))?;
            chain.check_frames(bind).map_err(|e| unfit(&alloc::format!("{e}")))?;
            let fold = RestFold::new(bind, &chain, legs.front)
                .ok_or_else(|| unfit("the bones between its root and its foot have no length"))?;
            let unit = math::uniform_scale(&bind.parent_model(leg.root).matrix3).abs();
            let stand = bind.model(leg.foot).transform_point3(leg.sole);
            made.push(WalkLeg {
                reach: fold.range().map(|r| r * unit),
                fold,
                root: leg.root,
                foot: leg.foot,
                rest: chain
                    .joints()
                    .iter()
                    .copied()
                    .chain(skeleton.below(leg.foot).skip(1))
                    .map(|j| (j, *bind.local(j)))
                    .collect(),
                rotation: bind.model_rotation(leg.foot),
                sole: stand - bind.position(leg.foot),
                hip: bind.position(leg.root),
                stand,
                apart: f32::INFINITY,
                beside: [None; 3],
                radius: radius(bind, leg, stand, skin),
                bend: FootBend::new(bind, leg),
            });
        }
        let count = made.len().max(1) as f32;
        let pivot = made.iter().map(|l| l.hip).sum::<Vec3>() / count;
        let floor = made.iter().map(|l| l.stand.y).sum::<f32>() / count;
        neighbours(&legs.legs, &mut made);
        let root = skeleton.ancestors(legs.trunk).last().unwrap_or(legs.trunk);
        // The core carries the legs.
        let core = |j: JointId| legs.legs.iter().any(|l| j != l.root && skeleton.is_below(l.root, j));
        let off = |j: JointId| !legs.legs.iter().any(|l| skeleton.is_below(j, l.root));
        let own = |j: JointId| -> Vec<Vec3> {
            skin.iter().filter(|(of, _)| skeleton.is_below(*of, j) && off(*of)).map(|(_, p)| *p).collect()
        };
        let mut ends = Vec::new();
        let mut parts: Vec<JointId> = Vec::new();
        for joint in skeleton.below(root).filter(|&j| !core(j) && off(j)) {
            if !skeleton.parent(joint).is_some_and(core) {
                continue;
            }
            let (at, points) = (bind.position(joint), own(joint));
            let ahead =
                points.iter().map(|p| (*p - at).dot(legs.front)).sum::<f32>() / points.len().max(1) as f32;
            if ahead.abs() > AHEAD * legs.length() {
                let points = lowest(&points, legs.front, [4, 1]);
                let tail = tail(bind, joint, &points).filter(|_| ahead < 0.0);
                ends.push(Appendage { joint, at, points, side: ahead.signum(), tail });
                parts.push(joint);
            }
        }
        let of_part = |j: JointId| parts.iter().any(|&p| skeleton.is_below(j, p));
        let trunk: Vec<Vec3> = skin
            .iter()
            .filter(|(j, _)| skeleton.is_below(*j, root) && off(*j) && !of_part(*j))
            .map(|(_, p)| *p)
            .collect();
        let heading = math::atan2(legs.front.x, legs.front.z);
        let legs_at_rest = made;
        let mut made = Self {
            belly: lowest(&trunk, legs.front, CELLS),
            ends,
            legs: legs_at_rest,
            found: legs.legs.clone(),
            root,
            heading,
            pivot,
            floor,
            length: legs.length(),
        };
        let raised = made.raised();
        made.legs.iter_mut().for_each(|leg| leg.draw_in(raised));
        Ok(made)
    }

    /// Mean length of the legs, in metres of model space.
    pub fn length(&self) -> f32 {
        self.length
    }

    /// The legs, from front to rear, as they were found.
    pub fn legs(&self) -> &[CreatureLeg] {
        &self.found
    }

    /// The topmost joint above all legs. Its transform places the whole creature.
    pub fn root(&self) -> JointId {
        self.root
    }

    /// Heading of the front in model space, in radians about +Y from +Z.
    pub fn heading(&self) -> f32 {
        self.heading
    }

    /// Direction of the front in model space, a horizontal unit vector.
    pub fn front(&self) -> Vec3 {
        Vec3::new(math::sin(self.heading), 0.0, math::cos(self.heading))
    }

    /// The point of model space about which the trunk turns and tilts: the mean of the legs' roots.
    pub fn pivot(&self) -> Vec3 {
        self.pivot
    }

    /// The joints from the root down to the one that carries all legs. The walk moves them as one.
    pub fn trunk_path(&self, skeleton: &Skeleton) -> Vec<JointId> {
        let carries = |j: JointId| self.legs.iter().all(|l| skeleton.is_below(l.root, j));
        skeleton.below(self.root).filter(|&j| carries(j)).collect()
    }

    /// All joints that a walk moves: the root, those of the legs, and the first joints of parts that are lifted off the ground, such
    /// as a tail.
    pub fn joints(&self, skeleton: &Skeleton) -> Vec<JointId> {
        let legs = self.legs.iter().flat_map(|l| skeleton.below(l.root));
        let mut all: Vec<JointId> =
            legs.chain([self.root]).chain(self.ends.iter().map(|end| end.joint)).collect();
        all.sort_unstable();
        all
    }

    /// Height in metres of model space by which the trunk is raised over the bind pose so that its belly is clear of level ground
    /// by a tenth of a leg.
    pub(super) fn raised(&self) -> f32 {
        const CLEAR: f32 = 0.1;
        let ends = self.ends.iter().flat_map(|end| &end.points);
        let low = self.belly.iter().chain(ends).map(|p| p.y).fold(f32::INFINITY, f32::min);
        (self.floor + CLEAR * self.length - low).max(0.0)
    }
}

/// Largest distance of a foot's lowest vertices from the middle of its sole, seen from above.
fn radius(bind: &Pose, leg: &CreatureLeg, stand: Vec3, skin: &[(JointId, Vec3)]) -> f32 {
    let own = skin
        .iter()
        .filter(|(j, p)| bind.skeleton().is_below(*j, leg.foot) && p.y <= stand.y + SOLE * leg.length);
    own.map(|(_, p)| (*p - stand).with_y(0.0).length()).fold(0.0, f32::max)
}

/// Solver that pulls along the longest chain below a joint. A part of one joint ends at the mean of its points.
fn tail(bind: &Pose, joint: JointId, points: &[Vec3]) -> Option<Follow> {
    let skeleton = bind.skeleton();
    let length = |tip: JointId| Some((Chain::new(skeleton, joint, tip).ok()?.length(bind), tip));
    let (_, tip) = skeleton.below(joint).filter_map(length).reduce(|a, b| if b.0 > a.0 { b } else { a })?;
    let mut chain = Chain::new(skeleton, joint, tip).ok()?;
    if tip == joint {
        let middle = points.iter().sum::<Vec3>() / points.len().max(1) as f32;
        let offset = bind.model(joint).inverse().transform_point3(middle);
        chain = chain.with_tip_offset(skeleton, offset).ok()?;
    }
    Follow::from_chain(skeleton, chain).ok()
}

fn neighbours(found: &[CreatureLeg], legs: &mut [WalkLeg]) {
    for n in 0..legs.len() {
        let same = |m: &usize| found[*m].side == found[n].side;
        let order = |m: &usize| found[..*m].iter().filter(|l| l.side == found[*m].side).count();
        let partner = |m: &usize| found[*m].side.is_some() && !same(m) && order(m) == order(&n);
        legs[n].beside = [
            (0..n).rev().find(same),
            (n + 1..found.len()).find(same),
            (0..found.len()).find(partner).filter(|_| found[n].side.is_some()),
        ];
        let distance = |&m: &usize| (legs[m].stand - legs[n].stand).with_y(0.0).length();
        let near = legs[n].beside[..2].iter().flatten().map(distance).fold(f32::INFINITY, f32::min);
        legs[n].apart = APART * near;
    }
}

impl WalkLeg {
    /// Draws the place at rest of a sprawled leg in, so that with the trunk raised by a height the leg has reach left for its step.
    fn draw_in(&mut self, raised: f32) {
        let aside = (self.stand - self.sole - self.hip).with_y(0.0);
        let (long, high) = (aside.length(), self.hip.y - (self.stand - self.sole).y + raised);
        let far = DRAWN * self.reach[1];
        if long > high && long * long + high * high > far * far {
            let to = math::sqrt((far * far - high * high).max(0.0)).max((1.0 - MAX_DRAWN) * long);
            self.stand -= aside * (1.0 - to / long);
        }
    }

    /// Smallest and largest distance of the foot's joint from the root, in metres, with a margin of 1 - `share` of the largest
    /// reach on both sides.
    pub fn within(&self, share: f32, scale: f32) -> [f32; 2] {
        let [near, far] = self.reach.map(|r| r * scale);
        [(near + (1.0 - share) * far).min(share * far), share * far]
    }

    /// Half of the longest step along a horizontal unit vector of the world, in metres: within the leg's reach with the trunk a
    /// little lower, and away from its neighbours' feet. `arm` is the vector from the root to the foot's joint in the middle of the
    /// step, and `slope` the rise of the ground along the step in metres per metre.
    ///
    /// With the trunk e ahead of the middle, the foot's joint is at arm - e (along + slope Y). One end of the longest step is at the
    /// largest reach, or the other at the smallest.
    pub fn sweep(&self, arm: Vec3, along: Vec3, slope: f32, scale: f32) -> f32 {
        let arm = arm + Vec3::Y * (LOWERS * self.reach[1] * scale).min(-arm.y).max(0.0);
        let step = along + Vec3::Y * slope;
        let (on, all) = (arm.dot(step).abs(), step.length_squared());
        let root = |reach: f32| on * on + all * (reach * reach - arm.length_squared());
        let [near, far] = self.within(PLANNED, scale).map(root);
        let within = (math::sqrt(far.max(0.0)) - on) / all;
        let outside = if near > 0.0 { (on - math::sqrt(near)) / all } else { f32::INFINITY };
        // A leg under its root may go a little even where it is nearly straight.
        within.min(outside).min(self.apart * scale).max(0.05 * self.reach[1] * scale)
    }
}

/// The lowest of the vertices in each cell of a grid seen from below.
fn lowest(trunk: &[Vec3], front: Vec3, cells: [usize; 2]) -> Vec<Vec3> {
    let left = Vec3::Y.cross(front);
    let along = |p: &Vec3| [p.dot(front), p.dot(left)];
    let mut ends = [[f32::INFINITY, f32::NEG_INFINITY]; 2];
    for point in trunk {
        for (end, s) in ends.iter_mut().zip(along(point)) {
            *end = [end[0].min(s), end[1].max(s)];
        }
    }
    let mut found: Vec<Option<Vec3>> = alloc::vec![None; cells[0] * cells[1]];
    for point in trunk {
        let mut cell = 0;
        for ((end, s), count) in ends.iter().zip(along(point)).zip(cells) {
            let share = (s - end[0]) / (end[1] - end[0]).max(f32::MIN_POSITIVE);
            cell = cell * count + ((share * count as f32) as usize).min(count - 1);
        }
        if found[cell].is_none_or(|p| point.y < p.y) {
            found[cell] = Some(*point);
        }
    }
    found.into_iter().flatten().collect()
}
