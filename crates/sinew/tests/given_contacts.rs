//! Judges plans by given contacts: those that the plan would find change nothing, others are obeyed.

use crate::figure;

use sinew::{
    Pose,
    ground::{
        Plane,
        plant::{
            ClipAnalysis, Contacts, ContactsError, Figure, Interval, IntervalError, Plan, PlantOptions,
            given::{ContactCurveError, from_curve},
        },
    },
    motion::{Baker, Clip},
};

const STEP: f32 = 1.0 / 60.0;

/// A walk from `start` on, `seconds` long, with 30 keys a second.
fn clip(figure: &Figure, rest: &Pose, start: f32, seconds: f32) -> Clip {
    clip_that_ends(figure, rest, start, seconds, 0.0)
}

/// The same, in whose last key the walk is `late` seconds further.
fn clip_that_ends(figure: &Figure, rest: &Pose, start: f32, seconds: f32, late: f32) -> Clip {
    let skeleton = rest.skeleton();
    let mut baker = Baker::new(skeleton, skeleton.joints());
    let mut pose = rest.clone();
    let last = (seconds * 30.0) as usize;
    for key in 0..=last {
        let time = key as f32 / 30.0;
        figure::walk(figure, rest, time + if key == last { late } else { 0.0 }, &mut pose);
        baker.push(start + time, &pose);
    }
    baker.finish("walk", skeleton).unwrap()
}

struct Walk {
    figure: Figure,
    rest: Pose,
    clip: Clip,
    rounds: u32,
}

impl Walk {
    fn new(start: f32, seconds: f32, rounds: u32) -> Self {
        let (figure, rest) = figure::figure();
        let clip = clip(&figure, &rest, start, seconds);
        Self { figure, rest, clip, rounds }
    }

    fn analysis(&self) -> ClipAnalysis {
        ClipAnalysis::new(&self.figure, &self.clip, &self.rest, STEP, 2, Some(self.rounds)).unwrap()
    }

    fn plan(&self, contacts: &[Option<Contacts>]) -> Plan {
        let mut analysis = self.analysis();
        analysis.set_contacts(contacts).unwrap();
        Plan::from_analysis(&self.figure, analysis, &Plane::level(0.0), &PlantOptions::default()).unwrap()
    }
}

fn spans(list: &[[f32; 2]]) -> Vec<Interval> {
    list.iter().map(|&[from, to]| Interval { from, to }).collect()
}

fn both(list: &[[f32; 2]]) -> Option<Contacts> {
    Some(Contacts { heel: spans(list), ball: spans(list) })
}

/// Returns the contacts of each foot in a plan.
fn contacts(plan: &Plan) -> Vec<Contacts> {
    let of = |leg: &Vec<sinew::ground::plant::Planted>| Contacts {
        heel: leg.iter().flat_map(|p| p.stance.heel.clone()).collect(),
        ball: leg.iter().flat_map(|p| p.stance.ball.clone()).collect(),
    };
    plan.stances.iter().map(of).collect()
}

#[test]
fn what_would_be_found_changes_nothing() {
    for seconds in [2.0, 2.1] {
        let walk = Walk::new(0.0, seconds, 1);
        let found = walk.plan(&[None, None]);
        let given: Vec<_> = contacts(&found).into_iter().map(Some).collect();
        assert!(given.iter().flatten().all(|c| c.heel.len() >= 2 && c.ball.len() >= 2), "{given:?}");
        let again = walk.plan(&given);
        assert_eq!(found.stances, again.stances);
        assert_eq!(found.base, again.base);
        // Given contacts are cut at the clip's ends, so that the rounds before and after it differ by a sample.
        for (a, b) in found.feet.iter().flatten().zip(again.feet.iter().flatten()) {
            assert!((a.ankle - b.ankle).length() < 1e-3, "{} {}", a.ankle, b.ankle);
        }
        for (a, b) in found.hips.iter().zip(&again.hips) {
            assert!((*a - *b).length() < 1e-3, "{a} {b}");
        }
    }
}

#[test]
fn a_foot_stands_when_it_is_told_to() {
    let walk = Walk::new(5.0, 2.0, 1);
    let found = contacts(&walk.plan(&[None, None]));
    // The left foot stands from 0 s to 0.5 s of each second. Its given contact is during its swing, then there is none.
    let plan = walk.plan(&[both(&[[5.2, 5.7]]), None]);
    assert_eq!(plan.stances[0].len(), 1);
    let time = plan.stances[0][0].stance.time;
    assert!((time.from - 0.2).abs() < 1e-5 && (time.to - 0.7).abs() < 1e-5, "{time:?}");
    let samples = 13..42;
    let at = |i: usize| plan.feet[0][i].ankle;
    // The last two samples may leave with the swing.
    for i in samples.clone().take(samples.len() - 2) {
        assert!((at(i) - at(13)).length() < 1e-4, "{i}: {} and {}", at(i), at(13));
        assert!((at(i).y - 0.07).abs() < 1e-4, "{i}: {}", at(i));
    }
    // It moves again after that, and the other foot's contacts stay.
    assert!((at(60) - at(41)).length() > 0.1, "{} and {}", at(60), at(41));
    assert_eq!(contacts(&plan)[1], found[1]);
    let plan = walk.plan(&[both(&[]), None]);
    assert!(plan.stances[0].is_empty() && !plan.stances[1].is_empty());
    // Standing for the whole clip is out of the legs' reach; the numbers stay finite.
    let plan = walk.plan(&[both(&[[5.0, 7.0]]), both(&[[5.0, 7.0]])]);
    assert!(plan.feet.iter().flatten().all(|f| f.ankle.is_finite() && f.turn.is_finite()));
    assert!(plan.hips.iter().all(|p| p.is_finite()));
}

#[test]
fn rounds_repeat_contacts_and_join_where_they_meet() {
    let walk = Walk::new(5.0, 1.0, 3);
    assert_eq!(walk.analysis().cycles, 3);
    assert!((walk.analysis().travel.z - figure::SPEED).abs() < 0.05);
    let plan = walk.plan(&[both(&[[5.0, 5.25], [5.75, 6.0]]), both(&[[5.25, 5.5]])]);
    let found = contacts(&plan);
    let near = |list: &[Interval], wanted: &[[f32; 2]]| {
        assert_eq!(list.len(), wanted.len(), "{list:?}");
        for (i, w) in list.iter().zip(wanted) {
            assert!((i.from - w[0]).abs() < 1e-5 && (i.to - w[1]).abs() < 1e-5, "{list:?}");
        }
    };
    near(&found[0].heel, &[[0.0, 0.25], [0.75, 1.25], [1.75, 2.25], [2.75, 3.0]]);
    near(&found[1].ball, &[[0.25, 0.5], [1.25, 1.5], [2.25, 2.5]]);
    // Contacts are cut at the ends of the clip.
    let plan = walk.plan(&[both(&[[-9.0, 5.5], [5.8, 99.0]]), None]);
    near(&contacts(&plan)[0].heel, &[[0.0, 0.5], [0.8, 1.5], [1.8, 2.5], [2.8, 3.0]]);
}

#[test]
fn a_curve_gives_the_contacts_that_it_crosses() {
    let walk = Walk::new(0.0, 2.0, 1);
    let clip = Interval { from: walk.clip.start(), to: walk.clip.end() };
    let curve = [[0.25, 0.0], [0.35, 1.0], [0.6, 1.0], [0.7, 0.0], [0.7, 0.0]];
    let list = from_curve(&curve, clip).unwrap();
    let plan = walk.plan(&[Some(Contacts { heel: list.clone(), ball: list.clone() }), None]);
    let time = plan.stances[0][0].stance.time;
    assert!((time.from - 0.3).abs() < 1e-6 && (time.to - 0.65).abs() < 1e-6, "{time:?}");
    assert_eq!(from_curve(&[], clip), Err(ContactCurveError::Empty));
}

#[test]
fn what_cannot_be_meant_is_refused_and_changes_nothing() {
    let walk = Walk::new(5.0, 2.0, 1);
    let mut analysis = walk.analysis();
    analysis.set_contacts(&[both(&[[5.5, 6.0]]), None]).unwrap();
    let before = analysis.feet[0].given.clone();
    assert!(before.is_some());
    for given in [0, 1, 3] {
        let error = analysis.set_contacts(&vec![None; given]);
        assert_eq!(error, Err(ContactsError::Feet { given, legs: 2 }));
    }
    let mut fault = |list: &[[f32; 2]]| {
        let contacts = Contacts { heel: spans(&[[5.0, 5.5]]), ball: spans(list) };
        let error = analysis.set_contacts(&[None, Some(contacts)]).unwrap_err();
        assert_eq!(analysis.feet[0].given, before);
        let ContactsError::Interval { leg, point, index, fault } = error else { panic!("{error}") };
        assert_eq!((leg, point), (1, "ball"));
        (index, fault)
    };
    let (index, error) = fault(&[[5.0, 5.2], [5.5, f32::NAN]]);
    assert!(index == 1 && matches!(error, IntervalError::NotFinite { .. }), "{error}");
    let (_, error) = fault(&[[f32::NEG_INFINITY, 6.0]]);
    assert!(matches!(error, IntervalError::NotFinite { .. }), "{error}");
    assert_eq!(fault(&[[6.0, 5.5]]), (0, IntervalError::Backwards { from: 6.0, to: 5.5 }));
    assert_eq!(fault(&[[6.0, 6.0]]), (0, IntervalError::Backwards { from: 6.0, to: 6.0 }));
    let unordered = IntervalError::Unordered { from: 5.4, before: 5.5 };
    assert_eq!(fault(&[[5.0, 5.5], [5.4, 6.0]]), (1, unordered));
    let outside = IntervalError::Outside { from: 1.0, to: 2.0, begin: 5.0, end: 7.0 };
    assert_eq!(fault(&[[1.0, 2.0]]), (0, outside));
    assert!(matches!(fault(&[[5.0, 6.0], [150.0, 170.0]]), (1, IntervalError::Outside { .. })));
}

#[test]
fn rounds_end_as_they_start_where_the_clip_does_not() {
    let (figure, rest) = figure::figure();
    let clip = clip_that_ends(&figure, &rest, 0.5, 1.0, 0.02);
    let walk = Walk { figure, rest, clip, rounds: 3 };
    let analysis = walk.analysis();
    let (last, round) = (analysis.len() - 1, (1.0 / STEP).round() as usize);
    assert!(analysis.cycles == 3 && last == 3 * round, "{} rounds, {last}", analysis.cycles);
    for i in [round, 2 * round, last] {
        assert!((analysis.clip_time(i) - 0.5).abs() < 1e-5, "{}", analysis.clip_time(i));
        for foot in &analysis.feet {
            let at = |i: usize| foot.samples[i].ankle - analysis.carry[i];
            assert!(at(i).distance(at(0)) < 1e-5, "{i}: {} and {}", at(i), at(0));
        }
    }
}
