//! A chain taken out of its pose: what the iterative solvers turn and slide, and the walks up and down it.
//!
//! Each link has a frame of its own, the joint's *seat*: the parent's frame moved to the joint, before the joint turns. In
//! the seat the chain's end lies at `rotation * arm`, with the arm what hangs below the joint, and a goal seen from
//! the seat is where the turn should bring it. Seats depend on the joints above alone and arms on those below, so a sweep
//! from the tip inward needs one walk down for the goal (before the sweep, [`ChainState::send_down`]) and one step up a joint
//! ([`ChainState::arm`]), and no frame in model space. Scales and mirrored frames are walked through as they are.

mod maps;
mod newton;
mod part;
mod restart;

pub(crate) use maps::{Maps, Node, walk};
pub(crate) use newton::Newton;
pub(crate) use part::{Ask, Kind, Part, parts};

use alloc::vec::Vec;

use glam::{Affine3, DMat3, DQuat, DVec3, Quat, Vec3};

use super::{
    arc::{LONGEST, distance, no_further},
    check,
    options::IterativeOptions,
    soften,
};
use crate::{Chain, Pose, SolveError, joint::Limits, math, math64};

/// One joint of the chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// Local rotation.
    pub rotation: Quat,
    /// Local translation.
    pub offset: Vec3,
    /// Local scale.
    pub scale: Vec3,
    /// The joint's limits, relaxed for what came in.
    pub limits: Limits,
    /// The position goal, seen from the seat.
    pub goal: Vec3,
    /// The rotation goal for the tip, seen from the seat.
    pub turn: Quat,
    /// Size of the seat's units in metres.
    pub unit: f32,
    /// How far it may turn from where it came in, in radians.
    pub most: f32,
    came: (Quat, Vec3),
    /// The translation that slides count from: what came in, or where the root was put.
    base: Vec3,
    /// What came in, put within the limits.
    within: (Quat, Vec3),
}

/// The longest chain, in metres: squares of ways beside it are still numbers.
const LARGEST: f32 = 1e18;

/// The links from root to tip. Loaded anew for each solve, in memory that stays.
#[derive(Debug)]
pub(crate) struct ChainState {
    chain: Chain,
    pub links: Vec<Link>,
    /// Frame of the root's parent in model space.
    above: Affine3,
    /// What forward kinematics in f32 makes of the end's place, in metres.
    pub rounding: f32,
    /// Whether any joint came in outside its limits.
    pub outside: bool,
}

/// What forward kinematics in f32 makes of a place, as a part of [`Pose::extent`]; see the limb's.
const UNCERTAIN: f32 = 3e-7;

/// How much of what a joint may turn it turns where it wants to go further: at first, and where that was more.
const SHORT: [f32; 2] = [0.9999, 0.99];

/// What limits are promised to be kept to, in radians.
const KEPT: f32 = 1e-5;

impl Link {
    /// Turns one coordinate by an angle in radians, as far as limits and the largest turn allow.
    pub fn turn_by(&mut self, axis: usize, angle: f32) {
        let at = self.limits.coordinates(self.rotation);
        let mut wanted = at;
        wanted[axis] += angle;
        // Several angles of one joint may turn it further together than each by itself.
        self.rotation = self.no_further(self.limits.rotation(self.limits.step_coordinates(at, wanted)));
    }

    /// Slides by a way along an axis, as far as its range allows.
    pub fn slide_by(&mut self, axis: usize, way: f32) {
        let from = self.limits.slide_of(self.offset)[axis];
        self.slide_to(axis, self.limits.slide_step(axis, from, from + way));
    }

    /// Slides to a value along an axis; see [`Limits::slide_to`].
    pub fn slide_to(&mut self, axis: usize, value: f32) {
        self.offset = self.limits.slide_to(self.base, self.offset, axis, value);
    }

    /// Signed size of the frame below the joint, in a frame of this one.
    pub fn unit_below(&self, unit: f32) -> f32 {
        let Vec3 { x, y, z } = self.scale;
        unit * if x * y * z < 0.0 { -x.abs() } else { x.abs() }
    }

    /// Where the joint is.
    pub fn at(&self) -> (Quat, Vec3) {
        (self.rotation, self.offset)
    }

    /// See [`turned_at_most`].
    pub fn no_further(&self, rotation: Quat) -> Quat {
        turned_at_most(&self.limits, self.came.0, rotation, self.most)
    }
}

/// A rotation of a joint, or what is as far on the way to it from another one, in joint coordinates, as the joint may turn.
pub(crate) fn turned_at_most(limits: &Limits, from: Quat, mut to: Quat, most: f32) -> Quat {
    if most == f32::INFINITY {
        return to;
    }
    // Half an angle is no more than its tangent: most turns are well within, and need no arc tangent.
    let d = math::mul(math::conjugate(from), to);
    if 4.0 * (d.x * d.x + d.y * d.y + d.z * d.z) <= most * most * (d.w * d.w) {
        return to;
    }
    // The way is straight in coordinates, to which the angle is only nearly in proportion; next to a half turn of swing it
    // may even go further on its way than at its end.
    for round in 0..40 {
        let turned = math::angle_between(from, to);
        if turned <= most {
            return to;
        }
        let share = if round < 8 { SHORT[round.min(1)] * most / turned } else { 0.5 };
        to = limits.blend(from, to, share);
    }
    from
}

/// Pieces in which joints go on their way to an answer that is further than they may turn, each from where steps have left
/// the last one. In one piece 1 % fewer chains of ten hinges arrive.
pub(crate) const PIECES: u32 = 4;

/// What all pieces together turn of what a joint may turn: the rest is for rounding.
pub(crate) const IN_ALL: f32 = 0.9999;

/// What steps back from a place where more is missing may leave missing, as a part of what was missing before: the rest is for
/// rounding.
pub(crate) const NO_MORE: f32 = 0.9999;

impl Default for ChainState {
    fn default() -> Self {
        let above = Affine3::IDENTITY;
        Self { chain: Chain::empty(), links: Vec::new(), above, rounding: 0.0, outside: false }
    }
}

impl ChainState {
    /// Makes room for a chain.
    pub fn reserve(&mut self, chain: &Chain) {
        self.chain.copy_from(chain);
        self.links.clear();
        self.links.reserve(chain.joints().len());
    }

    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Takes the chain out of an updated pose; an error where a frame of it is not finite, flat or sheared. The tip's own
    /// counts where it has an offset, or is asked for a rotation (`turns`).
    pub fn load(&mut self, chain: &Chain, pose: &Pose, turns: bool) -> Result<(), SolveError> {
        let scaled = turns || chain.tip_offset() != Vec3::ZERO;
        check::frame(pose, chain.tip(), "the tip's frame", scaled)?;
        chain.check_frames(pose)?;
        self.take(chain, pose);
        check::within("the chain's length in metres", "at most 1e18", self.length(), 0.0, LARGEST)
    }

    /// The same for a chain that is known to be finite. Where it is sheared places are what they are, and steps lead only about
    /// where they should.
    pub fn take(&mut self, chain: &Chain, pose: &Pose) {
        let skeleton = pose.skeleton();
        self.chain.copy_from(chain);
        self.above = pose.parent_model(chain.root());
        let mut unit = math::uniform_scale(&self.above.matrix3).abs();
        self.outside = false;
        self.links.clear();
        for &joint in chain.joints() {
            let local = pose.local(joint);
            let came = (local.rotation, local.translation);
            let limits = skeleton.limits(joint);
            // What came in within its limits, or as near as limits are promised to be kept, has them as they are.
            let inside =
                limits.excess(local.rotation) <= KEPT && limits.slide_excess(local.translation) <= 0.0;
            let (limits, within) = if inside {
                (*limits, came)
            } else {
                self.outside = true;
                let slid = limits.clamp_slide(local.translation, local.translation);
                (limits.relaxed_beyond(local, KEPT), (limits.clamp(local.rotation), slid))
            };
            self.links.push(Link {
                rotation: local.rotation,
                offset: local.translation,
                scale: local.scale,
                limits,
                goal: Vec3::ZERO,
                turn: Quat::IDENTITY,
                unit,
                most: f32::INFINITY,
                came,
                base: local.translation,
                within,
            });
            unit *= local.scale.x.abs();
        }
        self.rounding = UNCERTAIN * pose.extent(chain.tip());
    }

    /// Back to what came in.
    pub fn reset(&mut self) {
        for link in &mut self.links {
            (link.rotation, link.offset) = link.came;
            link.base = link.offset;
        }
    }

    /// What is missing: metres, and radians.
    pub fn measure(&self, ask: &Ask) -> (f32, f32) {
        let off = self.end() - ask.place;
        let turn = ask.turn.map_or(0.0, |turn| math::angle_between(self.tip_rotation(), turn));
        (math::sqrt(off.length_squared()), turn)
    }

    /// The furthest that any joint has turned from where it came in, in radians.
    pub fn turned(&self) -> f32 {
        let mut most = (0.0, 1.0);
        for link in self.links.iter().filter(|l| l.rotation != l.came.0) {
            let d = math::mul(math::conjugate(link.came.0), link.rotation);
            // The square of the sine of half the angle, which grows with it.
            let sine = d.x * d.x + d.y * d.y + d.z * d.z;
            if sine > most.0 {
                most = (sine, d.w);
            }
        }
        2.0 * math::atan2(math::sqrt(most.0), most.1.abs())
    }

    /// The furthest that any joint turns from here to what was written down, in radians.
    pub fn turn_to(&self, to: &[(Quat, Vec3)]) -> f32 {
        self.links.iter().zip(to).map(|(l, to)| math::angle_between(l.rotation, to.0)).fold(0.0, f32::max)
    }

    /// Lets no joint turn further than `most` radians from where it came in, in steps and sweeps from now on.
    pub fn turn_at_most(&mut self, most: f32) {
        for link in &mut self.links {
            link.most = most;
        }
    }

    /// Takes back what any joint has turned further than it may; whether any had.
    pub fn turn_back(&mut self) -> bool {
        let mut any = false;
        for link in &mut self.links {
            let next = link.no_further(link.rotation);
            any |= next != link.rotation;
            link.rotation = next;
        }
        any
    }

    /// A place and a rotation in model space, seen from the frame of the root's parent turned but not scaled: in metres.
    pub fn inside(&self, place: Vec3, turn: Option<Quat>) -> (Vec3, Option<Quat>) {
        let back = math::conjugate(math::rotation_of(&self.above.matrix3));
        (math::rotate(back, place - self.above.translation), turn.map(|t| math::mul(back, t)))
    }

    /// The way back for a place: see [`inside`](Self::inside).
    pub fn back_out(&self, place: Vec3) -> Vec3 {
        math::rotate(math::rotation_of(&self.above.matrix3), place) + self.above.translation
    }

    /// Signed size of the frame of the root's parent: negative where it mirrors.
    pub fn unit(&self) -> f32 {
        math::uniform_scale(&self.above.matrix3)
    }

    /// Puts every joint where it came in, moved to the nearest place within its limits.
    pub fn put_within(&mut self) {
        for link in &mut self.links {
            (link.rotation, link.offset) = link.within;
        }
    }

    /// Orientation of the frame of the root's parent in model space, and its signed size.
    pub fn top(&self) -> (DMat3, f64) {
        let q = math::rotation_of(&self.above.matrix3);
        let q = DQuat::from_xyzw(q.x.into(), q.y.into(), q.z.into(), q.w.into());
        (math64::matrix(q.normalize()), self.unit().into())
    }

    /// Place of the root in model space.
    pub fn root_place(&self) -> DVec3 {
        let (turn, size) = self.top();
        self.above.translation.as_dvec3() + turn * self.links[0].offset.as_dvec3() * size
    }

    /// Writes what has changed back and updates the pose. Whether anything had.
    pub fn store(&self, pose: &mut Pose) -> bool {
        let mut changed = false;
        for (link, &joint) in self.links.iter().zip(self.chain.joints()) {
            if link.rotation != link.came.0 {
                pose.set_rotation(joint, link.rotation);
                changed = true;
            }
            if link.offset != link.came.1 {
                pose.set_translation(joint, link.offset);
                changed = true;
            }
        }
        pose.update();
        changed
    }

    /// Writes all joints to a pose and updates it.
    pub fn store_all(&self, pose: &mut Pose) {
        for (link, &joint) in self.links.iter().zip(self.chain.joints()) {
            pose.set_rotation(joint, link.rotation);
            pose.set_translation(joint, link.offset);
        }
        pose.update();
    }

    /// Goes `weight` of the way from what came in to what is here, in joint coordinates.
    pub fn blend(&mut self, weight: f32) {
        for link in &mut self.links {
            let (rotation, offset) = link.came;
            if link.rotation != rotation {
                link.rotation = link.limits.blend(rotation, link.rotation, weight);
            }
            if link.offset != offset {
                link.offset = offset + (link.offset - offset) * weight;
            }
        }
    }

    /// Sees a goal in model space from every seat.
    pub fn send_down(&mut self, position: Vec3, rotation: Option<Quat>) {
        let inverse = self.above.inverse();
        let mut goal = inverse.transform_point3(position);
        let above = math::rotation_of(&self.above.matrix3);
        let mut turn = math::mul(math::conjugate(above), rotation.unwrap_or(Quat::IDENTITY));
        for link in &mut self.links {
            goal -= link.offset;
            link.goal = goal;
            link.turn = turn;
            let back = math::conjugate(link.rotation);
            goal = math::rotate(back, goal) / link.scale;
            turn = math::mul(math::conjugate(signs(link.scale)), math::mul(back, turn));
        }
    }

    /// What hangs below the last joint: the chain's end in the tip's frame, before the tip turns.
    pub fn tip_arm(&self) -> Vec3 {
        self.links.last().map_or(Vec3::ZERO, |l| l.scale * self.chain.tip_offset())
    }

    /// The arm of a link from the arm of the link below it.
    pub fn arm(&self, link: usize, below: Vec3) -> Vec3 {
        let child = &self.links[link + 1];
        self.links[link].scale * (child.offset + math::rotate(child.rotation, below))
    }

    /// The arm of a link, by a walk from the tip.
    pub fn arm_of(&self, link: usize) -> Vec3 {
        (link..self.links.len() - 1).rev().fold(self.tip_arm(), |below, i| self.arm(i, below))
    }

    /// The tip's rotation seen from a link after its turn: for the last link, and for a link from that of the link below.
    pub fn tip_turn(&self, link: usize, below: Option<Quat>) -> Quat {
        let own = signs(self.links[link].scale);
        below.map_or(own, |below| math::mul(own, math::mul(self.links[link + 1].rotation, below)))
    }

    /// The same by a walk from the tip.
    pub fn tip_turn_of(&self, link: usize) -> Quat {
        let last = self.links.len() - 1;
        (link..last).rev().fold(self.tip_turn(last, None), |below, i| self.tip_turn(i, Some(below)))
    }

    /// Where the chain ends, in model space.
    pub fn end(&self) -> Vec3 {
        let root = &self.links[0];
        self.above.transform_point3(root.offset + math::rotate(root.rotation, self.arm_of(0)))
    }

    /// Place of a link's joint in model space.
    pub fn place(&self, link: usize) -> Vec3 {
        let mut at = Vec3::ZERO;
        for i in (0..=link).rev() {
            let l = &self.links[i];
            if i < link {
                at = math::rotate(l.rotation, l.scale * at);
            }
            at += l.offset;
        }
        self.above.transform_point3(at)
    }

    /// What steps and sweeps towards a place and a rotation in model space work towards.
    pub fn ask(&self, place: Vec3, turn: Option<Quat>, options: &IterativeOptions) -> Ask {
        let length = self.length();
        let near = options.position_tolerance.metres(length).max(self.rounding);
        Ask { place, turn, radian: 0.5 * length, near, near_turn: options.rotation_tolerance }
    }

    /// The place to go to for a goal, drawn in by a soft zone, and by what factor bones are drawn out for it.
    pub fn drawn_in(&self, place: Vec3, soft: f32, stretch: f32) -> (Vec3, f32) {
        if soft <= 0.0 && stretch <= 1.0 {
            return (place, 1.0);
        }
        let (root, reach) = (self.place(0), self.length());
        let way = place - root;
        let distance = math::sqrt(way.length_squared());
        if distance <= reach * (1.0 - soft) || distance <= 0.0 {
            return (place, 1.0);
        }
        let drawn = soften(distance, reach, soft);
        let longer = (distance / drawn).clamp(1.0, stretch);
        (if soft > 0.0 { root + way * (drawn * longer / distance) } else { place }, longer)
    }

    /// The chain's length in metres: the sum of its bones, the offset at the tip included.
    pub fn length(&self) -> f32 {
        self.bones().sum::<f32>() + self.last_bone()
    }

    /// Lengths of the bones from joint to joint, in metres.
    fn bones(&self) -> impl Iterator<Item = f32> {
        self.links[1..].iter().map(|l| math::sqrt(l.offset.length_squared()) * l.unit)
    }

    /// Length of the offset at the tip, in metres.
    fn last_bone(&self) -> f32 {
        self.links.last().map_or(0.0, |l| math::sqrt(self.tip_arm().length_squared()) * l.unit)
    }

    /// The place itself or, where it is so far away that it is just a direction, a place in that direction: beyond `far`
    /// lengths of the chain with all that slides drawn out and bones that become longer by a factor.
    pub fn in_sight(&self, place: Vec3, length: f32, stretch: f32, far: f32) -> Vec3 {
        let root = self.place(0);
        let near = far * length;
        // (Not so for an overflow either.)
        if (place - root).length_squared() <= near * near {
            return place;
        }
        no_further(place, root, self.sight(length, stretch, far))
    }

    #[cold]
    fn sight(&self, length: f32, stretch: f32, far: f32) -> f32 {
        let slides = |l: &Link| {
            let ends = |n| l.limits.slide_range(n).map_or(0.0, |(from, to)| from.abs().max(to.abs()));
            (ends(0) + ends(1) + ends(2)) * l.unit
        };
        let slid: f32 = self.links.iter().map(slides).sum();
        far * (length * stretch + slid).min(LONGEST)
    }

    /// How far, in metres, the goal lies beyond what the bones' lengths and the slides' ranges allow (too far or too near),
    /// whatever the limits of turning are; 0 where they allow it.
    pub fn out_of_reach(&self, goal: Vec3) -> f32 {
        // A slide changes bones; how near or far that leads is found by sliding.
        if self.links.iter().any(|l| l.limits.slides()) {
            return 0.0;
        }
        let most = self.bones().fold(self.last_bone(), |sum, bone| sum + bone);
        let longest = self.bones().fold(self.last_bone(), f32::max);
        let far = distance(goal, self.place(0));
        (far - most).max(2.0 * longest - most - far).max(0.0)
    }

    /// Turns the whole chain about the axis from its root to its end (right-handed, in model space); the end stays. As much
    /// of it is done as the root's limits allow: all, half, a quarter ... Whether anything was done.
    pub fn swivel(&mut self, angle: f32) -> bool {
        let Some(axis) = (self.end() - self.place(0)).try_normalize() else { return false };
        let root = &mut self.links[0];
        let mut part = angle;
        for _ in 0..12 {
            let turn = math::into_frame(&self.above.matrix3, math::axis_angle(axis, part));
            let wanted = math::normalize(math::mul(turn, root.rotation));
            if root.limits.is_within(wanted) {
                root.rotation = wanted;
                return true;
            }
            part *= 0.5;
        }
        false
    }

    /// Puts the root's joint at a place in model space.
    pub fn move_root(&mut self, place: Vec3) {
        let local = self.above.inverse().transform_point3(place);
        if local.is_finite() && (self.place(0) - place).length_squared() > self.rounding * self.rounding {
            let before = self.links[0].offset;
            self.links[0].offset = local;
            // (Next to the largest numbers the place that it has from there may be none.)
            if self.place(0).is_finite() {
                self.links[0].base = local;
            } else {
                self.links[0].offset = before;
            }
        }
    }

    /// Moves the root so that the root, or the end, comes to lie at a place in model space.
    pub fn lead_to(&mut self, place: Vec3, end: bool) {
        // Twice, as the first leaves the rounding of a long way.
        for _ in 0..2 {
            let now = if end { self.end() } else { self.place(0) };
            let local = self.above.matrix3.inverse() * (place - now);
            if local.is_finite() {
                self.links[0].offset += local;
            }
        }
    }

    /// Makes every bone below the root, but those that slide, longer than it was when the chain was written down: by the one
    /// factor of 1 to `most` that brings the end nearest to a place in model space.
    pub fn stretch_towards(&mut self, place: Vec3, from: &[(Quat, Vec3)], most: f32) {
        self.stretch_to(from, 1.0);
        let short = self.end();
        self.stretch_to(from, most);
        // The end goes along a line, or (0 / 0, which is not the larger one) nowhere.
        let way = self.end() - short;
        let part = ((place - short).dot(way) / way.length_squared()).max(0.0);
        if part < 1.0 {
            self.stretch_to(from, 1.0 + (most - 1.0) * part);
        }
    }

    /// Makes every bone below the root, but those that slide, longer by a factor than it was when the chain was written down.
    pub fn stretch_to(&mut self, from: &[(Quat, Vec3)], factor: f32) {
        for (link, (_, offset)) in self.links.iter_mut().zip(from).skip(1).filter(|(l, _)| !l.limits.slides())
        {
            link.offset = *offset * factor;
        }
    }

    /// The tip's rotation in model space.
    pub fn tip_rotation(&self) -> Quat {
        let below = math::mul(self.links[0].rotation, self.tip_turn_of(0));
        math::mul(math::rotation_of(&self.above.matrix3), below)
    }

    /// Writes down where every joint is.
    pub fn keep(&self, into: &mut Vec<(Quat, Vec3)>) {
        into.clear();
        into.extend(self.links.iter().map(|l| (l.rotation, l.offset)));
    }

    /// Whether no joint has turned by more than `angle` radians (a small one), or slid by as much of the chain's length, from
    /// where it was written down.
    pub fn rests(&self, from: &[(Quat, Vec3)], angle: f32) -> bool {
        // The chord between unit quaternions is half the angle.
        let (turn, way) = (0.5 * angle, angle * self.length());
        self.links.iter().zip(from).all(|(link, from)| {
            let turned =
                (link.rotation - from.0).length_squared().min((link.rotation + from.0).length_squared());
            let slid = (link.offset - from.1).length_squared() * link.unit * link.unit;
            turned <= turn * turn && slid <= way * way
        })
    }

    /// Puts every joint where it was written down.
    pub fn put(&mut self, from: &[(Quat, Vec3)]) {
        for (link, kept) in self.links.iter_mut().zip(from) {
            (link.rotation, link.offset) = *kept;
        }
    }

    /// Goes `weight` of the way from where every joint is to what was written down, in joint coordinates.
    pub fn blend_to(&mut self, to: &[(Quat, Vec3)], weight: f32) {
        for (i, (link, (rotation, offset))) in self.links.iter_mut().zip(to).enumerate() {
            if link.rotation != *rotation {
                link.rotation = link.limits.blend(link.rotation, *rotation, weight);
            }
            if i > 0 && link.offset != *offset && !link.limits.slides() {
                // A sum of two parts of one bone keeps its direction, however much longer one of them is stretched; the
                // difference of the two would leave the rounding of the longer one.
                link.offset = link.offset * (1.0 - weight) + *offset * weight;
            } else {
                link.offset += (*offset - link.offset) * weight;
            }
        }
    }
}

/// The rotation in a scale. Signs are those of a rotation (by a half turn or none) times 1 or -1, and the latter, as sizes,
/// turns nothing: frames that mirror are taken as rotations with a negative size, as by [`math::rotation_of`].
pub(crate) fn signs(scale: Vec3) -> Quat {
    match (scale.x < 0.0, scale.y < 0.0, scale.z < 0.0) {
        (false, false, false) | (true, true, true) => Quat::IDENTITY,
        (true, false, false) | (false, true, true) => Quat::from_xyzw(1.0, 0.0, 0.0, 0.0),
        (false, true, false) | (true, false, true) => Quat::from_xyzw(0.0, 1.0, 0.0, 0.0),
        (false, false, true) | (true, true, false) => Quat::from_xyzw(0.0, 0.0, 1.0, 0.0),
    }
}
