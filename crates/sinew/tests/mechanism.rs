//! Judges forward kinematics, Jacobians and errors of mechanisms by forward kinematics written here.

use crate::arms;

use arms::Rigid;
use proptest::prelude::*;
use sinew::{
    glam::{DQuat, DVec3},
    joint::{Dof, Joint},
    mechanism::{JointSpec, LinkFrames, LinkId, Mechanism, MechanismError, Mimic, ValuesError},
};

/// A joint of a random chain.
#[derive(Clone, Debug)]
struct Step {
    at: [f64; 3],
    turned: [f64; 4],
    axis: [f64; 3],
    slides: bool,
    /// Multiplier of the first joint's value.
    follows: Option<(f64, f64)>,
    value: f64,
}

fn step() -> impl Strategy<Value = Step> {
    let v = || prop::array::uniform3(-1.0..1.0f64);
    (
        v(),
        v(),
        -3.0..3.0f64,
        v(),
        any::<bool>(),
        prop::option::weighted(0.2, (-2.0..2.0, -1.0..1.0)),
        -3.0..3.0f64,
    )
        .prop_filter("an axis has a direction", |s| {
            s.1.iter().chain(&s.3).map(|c| c.abs()).sum::<f64>() > 0.2
        })
        .prop_map(|(at, about, by, axis, slides, follows, value)| {
            let axis = if axis.iter().all(|c| c.abs() < 0.1) { [0.0, -1.0, 0.0] } else { axis };
            let about = if about.iter().all(|c| c.abs() < 0.1) { [0.0, 0.0, 1.0] } else { about };
            Step { at, turned: Rigid::turn(about, by).q, axis, slides, follows, value }
        })
}

fn build(steps: &[Step]) -> (Mechanism, Vec<f64>) {
    let mut b = Mechanism::builder("chain");
    b.link("l0");
    for (i, s) in steps.iter().enumerate() {
        b.link(format!("l{}", i + 1));
        let axis = DVec3::from_array(s.axis);
        let motion =
            if s.slides { Joint::slider(axis, Dof::range(-9.0, 9.0)) } else { Joint::hinge(axis, Dof::FREE) };
        b.joint(JointSpec {
            translation: DVec3::from_array(s.at),
            rotation: DQuat::from_array(s.turned),
            mimic: s.follows.filter(|_| i > 0).map(|(multiplier, offset)| Mimic {
                dof: "j0".into(),
                multiplier,
                offset,
            }),
            ..JointSpec::new(format!("j{i}"), format!("l{i}"), format!("l{}", i + 1), motion)
        });
    }
    let free = |i: &usize| *i == 0 || steps[*i].follows.is_none();
    (b.build().unwrap(), (0..steps.len()).filter(free).map(|i| steps[i].value).collect())
}

/// Returns the frame of the last link, by the formulas above.
fn tip(steps: &[Step]) -> Rigid {
    let mut at = Rigid { q: [0.0, 0.0, 0.0, 1.0], p: [0.0; 3] };
    for (i, s) in steps.iter().enumerate() {
        let value = match s.follows {
            Some((multiplier, offset)) if i > 0 => multiplier * steps[0].value + offset,
            _ => s.value,
        };
        at = at.then(&Rigid { q: s.turned, p: s.at });
        let n = s.axis.iter().map(|c| c * c).sum::<f64>().sqrt();
        at = at.then(&match s.slides {
            true => Rigid { q: [0.0, 0.0, 0.0, 1.0], p: s.axis.map(|c| c / n * value) },
            false => Rigid::turn(s.axis, value),
        });
    }
    at
}

fn last(m: &Mechanism) -> LinkId {
    m.links().last().unwrap()
}

const POINT: [f64; 3] = [0.3, -0.2, 0.5];

fn end(m: &Mechanism, values: &[f64]) -> (DVec3, sinew::glam::DMat3) {
    let mut placement = LinkFrames::new(m);
    m.forward_kinematics(values, &mut placement).unwrap();
    let t = m.link_transform(&placement, last(m));
    (t.transform_point3(DVec3::from_array(POINT)), t.matrix3)
}

proptest! {
    #[test]
    fn places_are_those_of_the_textbook(steps in prop::collection::vec(step(), 1..9)) {
        let (m, values) = build(&steps);
        let (at, rotation) = end(&m, &values);
        let judge = tip(&steps);
        let expected = DVec3::from_array(judge.apply(POINT));
        prop_assert!((at - expected).length() < 1e-12 * 9.0, "{at} {expected}");
        for (e, column) in [([1.0, 0.0, 0.0], rotation.x_axis), ([0.0, 0.0, 1.0], rotation.z_axis)] {
            let turned = Rigid { p: [0.0; 3], ..judge }.apply(e);
            prop_assert!((column - DVec3::from_array(turned)).length() < 1e-12);
        }
    }

    #[test]
    fn jacobians_are_the_slopes_of_places(steps in prop::collection::vec(step(), 1..9)) {
        let (m, values) = build(&steps);
        let mut placement = LinkFrames::new(&m);
        m.forward_kinematics(&values, &mut placement).unwrap();
        let mut columns = Vec::new();
        m.jacobian(&placement, last(&m), DVec3::from_array(POINT), &mut columns);
        prop_assert_eq!(columns.len(), m.dofs().len());
        for (i, column) in columns.iter().enumerate() {
            const H: f64 = 1e-6;
            let at = |by: f64| {
                let mut v = values.clone();
                v[i] += by;
                end(&m, &v)
            };
            let ((p, r), (n, s)) = (at(H), at(-H));
            let linear = (p - n) / (2.0 * H);
            // The skew part of R(h) R(-h)^T is twice the rotation vector.
            let d = r * s.transpose();
            let angular = DVec3::new(d.y_axis.z - d.z_axis.y, d.z_axis.x - d.x_axis.z, d.x_axis.y - d.y_axis.x) / (4.0 * H);
            let scale = 1.0 + linear.length() + angular.length();
            prop_assert!((linear - DVec3::from_slice(&column[..3])).length() < 1e-7 * scale);
            prop_assert!((angular - DVec3::from_slice(&column[3..])).length() < 1e-7 * scale);
        }
    }
}

fn arm(lengths: [f64; 2]) -> Mechanism {
    let mut b = Mechanism::builder("arm");
    for link in ["base", "upper", "fore", "hand"] {
        b.link(link);
    }
    b.joint(JointSpec::new("shoulder", "base", "upper", Joint::hinge(DVec3::Z, Dof::FREE)));
    let elbow = JointSpec::new("elbow", "upper", "fore", Joint::hinge(DVec3::Z, Dof::range(-2.0, 2.0)));
    b.joint(JointSpec { translation: DVec3::X * lengths[0], ..elbow });
    let hand = JointSpec::new("wrist", "fore", "hand", Joint::FIXED);
    b.joint(JointSpec { translation: DVec3::X * lengths[1], ..hand });
    b.build().unwrap()
}

#[test]
fn manipulability_of_a_chain_with_six_independent_joints_is_that_of_its_determinant() {
    // Three sliders at right angles, then three turns about one point: J is the identity, times the length for turns.
    let mut b = Mechanism::builder("gantry");
    (0..7).for_each(|i| b.link(format!("l{i}")));
    for (i, axis) in [DVec3::X, DVec3::Y, DVec3::Z, DVec3::Z, DVec3::Y, DVec3::X].into_iter().enumerate() {
        let motion =
            if i < 3 { Joint::slider(axis, Dof::range(-1.0, 1.0)) } else { Joint::hinge(axis, Dof::FREE) };
        b.joint(JointSpec::new(format!("j{i}"), format!("l{i}"), format!("l{}", i + 1), motion));
    }
    let m = b.build().unwrap();
    let mut placement = LinkFrames::new(&m);
    m.forward_kinematics(&[0.1, 0.2, 0.3, 1.0, 0.0, 2.0], &mut placement).unwrap();
    let measure = m.manipulability(&placement, last(&m), DVec3::ZERO, 0.5);
    assert!((measure - 0.125).abs() < 1e-12, "{measure}");
    // At a pitch p the angle between the axes of yaw and roll shrinks: the determinant is cos p, 0 at a quarter turn.
    m.forward_kinematics(&[0.1, 0.2, 0.3, 1.0, 0.4, 2.0], &mut placement).unwrap();
    let measure = m.manipulability(&placement, last(&m), DVec3::ZERO, 1.0);
    assert!((measure - 0.4f64.cos()).abs() < 1e-12, "{measure}");
    m.forward_kinematics(&[0.1, 0.2, 0.3, 1.0, core::f64::consts::FRAC_PI_2, 2.0], &mut placement).unwrap();
    assert!(m.manipulability(&placement, last(&m), DVec3::ZERO, 1.0) < 1e-7);
}

#[test]
fn links_and_degrees_of_freedom_are_found_by_name() {
    let m = arm([0.4, 0.3]);
    let hand = m.find_link("hand").unwrap();
    assert_eq!((m.find_dof("elbow"), m.find_dof("wrist")), (Some(1), None));
    assert_eq!(m.link_name(m.link_parent(hand).unwrap()), "fore");
    let upper = m.find_link("upper").unwrap();
    assert_eq!(m.dofs_between(upper, hand), [1]);
    assert_eq!(m.dofs_between(hand, m.root()), [0, 1]);
    assert!(m.is_below(hand, upper) && !m.is_below(upper, hand));
    assert!(m.dofs()[0].is_continuous() && !m.dofs()[1].is_continuous());
}

proptest! {
    /// On trees whose links hang anywhere above; every third joint is fixed.
    #[test]
    fn degrees_of_freedom_between_links_are_those_on_the_way(above in prop::collection::vec(0.0..1.0f64, 1..40)) {
        let mut builder = Mechanism::builder("tree");
        builder.link("0");
        let parents: Vec<usize> = above.iter().enumerate().map(|(i, share)| (share * (i + 1) as f64) as usize).collect();
        for (i, parent) in parents.iter().enumerate() {
            let child = (i + 1).to_string();
            builder.link(&*child);
            let moves = if i % 3 == 2 { Joint::FIXED } else { Joint::hinge(DVec3::X, Dof::FREE) };
            builder.joint(JointSpec::new(format!("j{child}"), parent.to_string(), &*child, moves));
        }
        let m = builder.build().unwrap();
        // The joints from a link up to the root, each by the number of its link.
        let up = |link: usize| std::iter::successors((link > 0).then_some(link), |&at| Some(parents[at - 1]).filter(|&p| p > 0));
        for a in 0..=parents.len() {
            for b in 0..=parents.len() {
                let one = |x, y| up(x).filter(move |j| !up(y).any(|k| k == *j));
                let mut wanted: Vec<usize> = one(a, b).chain(one(b, a)).filter_map(|j| m.find_dof(&format!("j{j}"))).collect();
                wanted.sort_unstable();
                let link = |n: usize| m.find_link(&n.to_string()).unwrap();
                prop_assert_eq!(m.dofs_between(link(a), link(b)), wanted, "{} to {}", a, b);
            }
        }
    }
}

#[test]
fn values_that_do_not_fit_are_named() {
    let m = arm([0.4, 0.3]);
    assert_eq!(m.check(&[0.0]), Err(ValuesError::Count { given: 1, wanted: 2 }));
    let error = m.check(&[0.0, f64::INFINITY]).unwrap_err().to_string();
    assert_eq!(error, "the value of joint `elbow` is not finite: inf");
    let mut b = Mechanism::builder("broken");
    b.link("a");
    b.link("b");
    b.joint(JointSpec {
        rotation: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.5),
        ..JointSpec::new("j", "a", "b", Joint::hinge(DVec3::Z, Dof::FREE))
    });
    assert!(matches!(b.build(), Err(MechanismError::NotUnit { joint, .. }) if joint == "j"));
}
