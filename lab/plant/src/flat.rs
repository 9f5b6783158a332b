//! The floor that a clip was made for changes nothing but its contacts' own errors.
//!
//! How definitions that leave a choice are read here:
//! - A stance is one of the foot (heel or ball in contact). A point's median place is taken coordinate by coordinate over the
//!   samples of the stance at which that point is in contact, on the floor's height.
//! - The floor is the ground's height under the first planted ball in contact; the ground is level.
//! - The sole turns from the floor by the angle of the line from heel to ball.
//! - Deviations are those of the place of the middle of the hip joints, and of the turn of the hips' joint.
//! - A knee turns about its line only where both legs are bent by more than 10 degrees: a straight leg's knee has no side.
//! - `Rounds equal` compares local rotations of all nodes; what the clip itself does not close is allowed.

use crate::{
    anatomy::{Leg, carried},
    ground::Ground,
    marks::{Mark, Marks},
    maths::{V3, angle, quat_angle},
    motion::{Motion, Run},
    scene::{Local, Scene},
};

/// Metres and degrees that are allowed besides the contacts' own errors.
const PLACE: f64 = 0.01;
/// See `PLACE`.
const TURN: f64 = 3.0;
/// Degrees that a knee may turn about the line from hip to ankle.
const KNEE: f64 = 5.0;
/// Degrees that rounds may differ.
const LOOP: f64 = 0.5;
/// A knee's side is known above this bend, in radians.
const BENT: f64 = 10.0 * std::f64::consts::PI / 180.0;

/// A stance's own errors: metres (not scaled) and radians.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Errors {
    place: f64,
    turn: f64,
}

impl Errors {
    fn or(self, o: Self) -> Self {
        Self { place: self.place.max(o.place), turn: self.turn.max(o.turn) }
    }
}

/// A point of the leg by its number: heel, ball.
fn point(leg: &Leg, which: usize) -> V3 {
    if which == 0 { leg.heel } else { leg.ball }
}

/// Measures a row on `flat`.
pub fn measure(m: &Motion, scene: &Scene, ground: &Ground, marks: &mut Marks) {
    let floor = floor(m, ground);
    height(m, ground, marks);
    let Some(floor) = floor else { return };
    let errors = [0, 1].map(|foot| errors(m, foot, floor));
    feet(m, &errors, floor, marks);
    hips(m, &errors, marks);
    knees(m, marks);
    rounds(m, scene, marks);
}

/// Height of the floor.
fn floor(m: &Motion, ground: &Ground) -> Option<f64> {
    (0..m.times.len()).find_map(|i| ground.height(m.planted[i].legs[0].ball, m.reach))
}

/// The clip's points in contact.
fn in_contact(m: &Motion) -> impl Iterator<Item = (usize, V3)> {
    (m.first..m.times.len()).flat_map(move |i| {
        (0..4)
            .filter(move |k| m.contact[k / 2][k % 2][i])
            .map(move |k| (i, point(&m.clip[i].legs[k / 2], k % 2)))
    })
}

/// The ground's height under every point in contact against the points' median height.
fn height(m: &Motion, ground: &Ground, marks: &mut Marks) {
    let mut heights: Vec<f64> = in_contact(m).map(|(_, p)| p.y).collect();
    if heights.is_empty() {
        return;
    }
    heights.sort_by(f64::total_cmp);
    let median = heights[heights.len() / 2];
    let mut worst = (0, 0.0);
    for (i, p) in in_contact(m) {
        // Any ground there is under the point counts, however high.
        let off = ground.height(p, f64::MAX).map_or(f64::NAN, |h| (h - median).abs() * m.scale);
        if off.is_nan() || off > worst.1 {
            worst = (i, off);
        }
        if off.is_nan() {
            break;
        }
    }
    marks.add(Mark::at_most("floor cm", 100.0 * worst.1, 1.0, m.times[worst.0]));
}

/// A foot's stances with their own errors.
fn errors(m: &Motion, foot: usize, floor: f64) -> Vec<(Run, Errors)> {
    let stances = m.stances(foot);
    stances.into_iter().map(|stance| (stance, own_errors(m, foot, stance, floor))).collect()
}

fn own_errors(m: &Motion, foot: usize, stance: Run, floor: f64) -> Errors {
    let mut errors = Errors::default();
    for which in [0, 1] {
        let places: Vec<V3> = (stance.from..=stance.to)
            .filter(|i| m.contact[foot][which][*i])
            .map(|i| point(&m.clip[i].legs[foot], which))
            .collect();
        let middle = V3 { y: floor, ..median(&places) };
        errors.place = places.iter().map(|p| (*p - middle).length()).fold(errors.place, f64::max);
    }
    for i in (stance.from..=stance.to).filter(|i| m.contact[foot][0][*i] && m.contact[foot][1][*i]) {
        errors.turn = errors.turn.max(m.clip[i].legs[foot].sole().y.abs().min(1.0).asin());
    }
    errors
}

/// Coordinate by coordinate.
fn median(places: &[V3]) -> V3 {
    let middle = |of: fn(&V3) -> f64| {
        let mut all: Vec<f64> = places.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(0.0)
    };
    V3 { x: middle(|p| p.x), y: middle(|p| p.y), z: middle(|p| p.z) }
}

/// The errors of the stances before, at and after a sample.
fn around(stances: &[(Run, Errors)], i: usize) -> Errors {
    let next = stances.partition_point(|s| s.0.to < i);
    let of = |k: Option<usize>| k.and_then(|k| stances.get(k)).map_or(Errors::default(), |s| s.1);
    let stands = stances.get(next).is_some_and(|s| s.0.from <= i);
    // In a stance it is the one before and the one after at once.
    if stands { of(Some(next)) } else { of(next.checked_sub(1)).or(of(Some(next))) }
}

/// The worst of values by what they exceed their bounds by.
#[derive(Default)]
struct Worst(Option<(usize, f64, f64)>);

impl Worst {
    fn see(&mut self, i: usize, value: f64, bound: f64) {
        if self.0.is_none_or(|(_, v, b)| value - bound > v - b) {
            self.0 = Some((i, value, bound));
        }
    }

    fn mark(self, name: &'static str, m: &Motion, marks: &mut Marks) {
        if let Some((i, value, bound)) = self.0 {
            marks.add(Mark::at_most(name, value, bound, m.times[i]));
        }
    }
}

fn feet(m: &Motion, errors: &[Vec<(Run, Errors)>; 2], floor: f64, marks: &mut Marks) {
    let (mut places, mut turns) = ([Worst::default(), Worst::default()], Worst::default());
    for foot in (0..2).filter(|f| !errors[*f].is_empty()) {
        for i in m.first..m.times.len() {
            let own = around(&errors[foot], i);
            let (planted, clip) = (&m.planted[i].legs[foot], &m.clip[i].legs[foot]);
            for (which, worst) in places.iter_mut().enumerate() {
                let (p, q) = (point(planted, which), point(clip, which));
                let allowed = (own.place + (floor - q.y).max(0.0)) * m.scale + PLACE;
                worst.see(i, 100.0 * (p - q).length() * m.scale, 100.0 * allowed);
            }
            turns.see(i, angle(planted.sole(), clip.sole()).to_degrees(), own.turn.to_degrees() + TURN);
        }
    }
    let [heel, ball] = places;
    heel.mark("heel cm", m, marks);
    ball.mark("ball cm", m, marks);
    turns.mark("sole deg", m, marks);
}

fn hips(m: &Motion, errors: &[Vec<(Run, Errors)>; 2], marks: &mut Marks) {
    let most = errors.iter().flatten().map(|e| e.1.place).fold(0.0, f64::max) * m.scale;
    let (mut place, mut turn) = (Worst::default(), Worst::default());
    for i in m.first..m.times.len() {
        let (a, b) = (&m.planted[i], &m.clip[i]);
        place.see(i, 100.0 * (a.hips - b.hips).length() * m.scale, 100.0 * (1.5 * most + PLACE));
        turn.see(i, turn_of(a.axes, b.axes).to_degrees(), TURN);
    }
    place.mark("hips cm", m, marks);
    turn.mark("hips deg", m, marks);
}

/// Angle of the turn from one set of axes to another.
fn turn_of(a: [V3; 3], b: [V3; 3]) -> f64 {
    // |a - b|^2 summed over the axes is 4 (1 - cos), which keeps its digits near 0.
    let apart: f64 = (0..3).map(|k| (a[k] - b[k]).dot(a[k] - b[k])).sum();
    2.0 * (apart / 8.0).sqrt().min(1.0).asin()
}

fn knees(m: &Motion, marks: &mut Marks) {
    let mut worst = Worst::default();
    for i in m.first..m.times.len() {
        for foot in 0..2 {
            let (a, b) = (&m.planted[i].legs[foot], &m.clip[i].legs[foot]);
            if a.flexion.abs().min(b.flexion.abs()) > BENT {
                worst.see(i, knee_turn(a, b).to_degrees(), KNEE);
            }
        }
    }
    worst.mark("knee deg", m, marks);
}

/// Turn of a knee about the line from hip to ankle, with the line carried from the one leg's to the other's.
fn knee_turn(a: &Leg, b: &Leg) -> f64 {
    let ((a, along_a), (b, along_b)) = (a.knee_across(), b.knee_across());
    angle(carried(b, along_b, along_a), a)
}

/// A clip on the spot: rounds equal each other, and the last frame the first.
fn rounds(m: &Motion, scene: &Scene, marks: &mut Marks) {
    if m.note.cycles < 2 {
        return;
    }
    let [planted, source] = &m.clips;
    let turns = |clip, t: f64| -> Vec<_> {
        let turn = |l: &Local| if let Local::Trs(_, r, _) = l { *r } else { [0.0, 0.0, 0.0, 1.0] };
        scene.sample(clip, t).iter().map(turn).collect::<Vec<_>>()
    };
    let apart = |a: &[[f64; 4]], b: &[[f64; 4]]| {
        a.iter().zip(b).map(|(a, b)| quat_angle(*a, *b).to_degrees()).collect::<Vec<_>>()
    };
    let (start, round) = (m.times[0], m.note.cycle_duration);
    // What the clip itself leaves open between its ends.
    let open = apart(&turns(source, m.note.start), &turns(source, m.note.start + round));
    let mut worst = Worst::default();
    for (i, t) in m.times.iter().enumerate() {
        let into = (t - start) - ((t - start) / round + 1e-6).floor() * round;
        let differ = apart(&turns(planted, start + into.max(0.0)), &turns(planted, *t));
        let near_seam = into < 2.0 / 120.0 || into > round - 2.0 / 120.0;
        for (d, open) in differ.iter().zip(&open) {
            worst.see(i, *d, LOOP + if near_seam { *open } else { 0.0 });
        }
    }
    worst.mark("loop deg", m, marks);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maths::v3;

    #[test]
    fn errors_of_the_stances_around_a_sample() {
        let e = |place: f64, turn: f64| Errors { place, turn };
        let stances = [(Run { from: 0, to: 3 }, e(0.01, 0.3)), (Run { from: 8, to: 9 }, e(0.02, 0.1))];
        assert_eq!(around(&stances, 2), e(0.01, 0.3));
        assert_eq!(around(&stances, 5), e(0.02, 0.3));
        assert_eq!(around(&stances, 8), e(0.02, 0.1));
        assert_eq!(around(&stances, 12), e(0.02, 0.1));
    }

    #[test]
    fn a_knee_that_turns_about_its_line() {
        let leg = |a: f64, lean: f64| {
            let (s, c) = a.to_radians().sin_cos();
            let hip = v3(0.0, 1.0, 0.0);
            Leg { hip, knee: v3(0.1 * s, 0.55, 0.1 * c), ankle: v3(lean, 0.1, 0.0), ..Leg::default() }
        };
        assert!((knee_turn(&leg(20.0, 0.0), &leg(8.0, 0.0)).to_degrees() - 12.0).abs() < 1e-9);
        // A leg that leans as a whole has not turned.
        let lean = |k: f64| Leg { knee: v3(k, 0.55, 0.1), ankle: v3(2.0 * k, 0.1, 0.0), ..leg(0.0, 0.0) };
        assert!(knee_turn(&lean(0.1), &lean(0.0)).to_degrees() < 1e-9);
    }

    #[test]
    fn the_angle_between_axes() {
        let axes = |a: f64| {
            let (s, c) = a.to_radians().sin_cos();
            [v3(0.0, 1.0, 0.0), v3(s, 0.0, c), v3(c, 0.0, -s)]
        };
        for a in [1e-7, 0.1, 3.0, 90.0, 180.0] {
            assert!((turn_of(axes(0.0), axes(a)).to_degrees() - a).abs() < 1e-7, "{a}");
        }
    }

    #[test]
    fn the_median_place_of_points() {
        let places = [v3(0.0, 1.0, 5.0), v3(2.0, 9.0, 5.0), v3(1.0, 2.0, 6.0)];
        assert_eq!(median(&places), v3(1.0, 2.0, 5.0));
    }
}
