//! Judges a mechanism's chain as a skeleton: both forward kinematics give the same positions, and values survive a write and
//! a read.

use std::{f64::consts::PI, sync::Arc};

use glam::{DQuat, DVec3};
use proptest::prelude::*;
use sinew::{
    Pose, glam,
    joint::{Dof, Joint},
    mechanism::{ChainSkeleton, ChainSkeletonError, JointSpec, LinkFrames, Mechanism, Mimic},
};

/// Joints: whether each slides, is fixed or turns; its axis, origin and limits.
type Part = (u8, [f64; 3], [f64; 3], [f64; 3], f64, f64);

fn part() -> impl Strategy<Value = Part> {
    let coordinate = -1.0..1.0f64;
    let vector = prop::array::uniform3(coordinate);
    (0u8..6, vector.clone(), vector.clone(), vector, -9.0..2.0f64, 0.0..9.0f64)
}

fn mechanism(parts: &[Part]) -> Mechanism {
    let mut builder = Mechanism::builder("random");
    builder.link("l0");
    for (i, &(kind, axis, at, turn, lower, width)) in parts.iter().enumerate() {
        let axis = DVec3::from_array(axis) + DVec3::new(0.0, 0.0, 1.2);
        let upper = lower + width;
        let motion = match kind {
            0 => Joint::FIXED,
            1 => Joint::slider(axis, Dof::range(lower, upper)),
            2 => Joint::slider(axis, Dof::range(lower, f64::INFINITY)),
            3 => Joint::hinge(axis, Dof::FREE),
            _ => Joint::hinge(axis, Dof::range(lower, upper)),
        };
        builder.link(format!("l{}", i + 1));
        builder.joint(JointSpec {
            translation: DVec3::from_array(at),
            rotation: DQuat::from_scaled_axis(DVec3::from_array(turn) * 2.0),
            ..JointSpec::new(format!("j{i}"), format!("l{i}"), format!("l{}", i + 1), motion)
        });
    }
    builder.build().unwrap()
}

proptest! {
    #[test]
    fn places_and_values_agree(
        parts in prop::collection::vec(part(), 1..9),
        root in 0usize..3,
        at in prop::collection::vec(0.0..1.0f64, 9),
        other in prop::collection::vec(0.0..1.0f64, 9),
    ) {
        let m = mechanism(&parts);
        let root = m.find_link(&format!("l{}", root.min(parts.len() - 1))).unwrap();
        let tip = m.find_link(&format!("l{}", parts.len())).unwrap();
        let chain = match ChainSkeleton::new(&m, root, tip) {
            Err(ChainSkeletonError::Rigid { .. }) => {
                prop_assert!(m.dofs_between(root, tip).is_empty());
                return Ok(());
            }
            made => made.unwrap(),
        };
        let values = |shares: &[f64]| -> Vec<f64> {
            let within = |(d, s): (&sinew::mechanism::NamedDof, &f64)| {
                let lower = if d.dof.range.min.is_finite() { d.dof.range.min } else { -9.0 };
                let upper = if d.dof.range.max.is_finite() { d.dof.range.max } else { lower + 18.0 };
                // Clamped, because the sum may round past the end.
                (lower + s * (upper - lower)).clamp(d.dof.range.min, d.dof.range.max)
            };
            m.dofs().iter().zip(shares).map(within).collect()
        };
        let wanted = values(&at);
        let mut pose = Pose::rest(&Arc::new(chain.skeleton().clone()));
        chain.write(&wanted, &mut pose).unwrap();
        pose.update();

        let mut placement = LinkFrames::new(&m);
        m.forward_kinematics(&wanted, &mut placement).unwrap();
        let frame = m.link_transform(&placement, root).inverse() * m.link_transform(&placement, tip);
        let model = pose.model(chain.chain().tip());
        // Tolerance of nine joints, each up to a dozen metres long.
        prop_assert!((model.translation.as_dvec3() - frame.translation).length() < 1e-4);
        for k in 0..3 {
            prop_assert!((model.matrix3.col(k).as_dvec3() - frame.matrix3.col(k)).length() < 1e-5);
        }
        for joint in chain.skeleton().joints() {
            prop_assert!(chain.skeleton().limits(joint).is_within(pose.local(joint).rotation));
        }

        // From equal values the bits are kept; from others the values return up to whole turns.
        let mut same = wanted.clone();
        chain.read(&pose, &mut same).unwrap();
        prop_assert_eq!(&same, &wanted);
        let start = values(&other);
        let mut read = start.clone();
        chain.read(&pose, &mut read).unwrap();
        for d in chain.dofs() {
            let dof = &m.dofs()[d];
            prop_assert!((dof.dof.range.min..=dof.dof.range.max).contains(&read[d]));
            let off = read[d] - wanted[d];
            if dof.slides() {
                prop_assert!(off.abs() < 1e-5, "{off}");
            } else {
                // Rounding past a limit is clamped.
                prop_assert!((off - (off / (2.0 * PI)).round() * 2.0 * PI).abs() < 1e-5, "{off}");
                prop_assert!(!dof.is_continuous() || (read[d] - start[d]).abs() < PI + 1e-5);
            }
        }
    }
}

#[test]
fn what_is_no_chain_is_told() {
    let mut builder = Mechanism::builder("gripper");
    for link in ["base", "left", "right", "pad"] {
        builder.link(link);
    }
    builder.joint(JointSpec::new("open", "base", "left", Joint::slider(DVec3::Y, Dof::range(0.0, 0.04))));
    builder.joint(JointSpec {
        mimic: Some(Mimic { dof: "open".into(), multiplier: -1.0, offset: 0.0 }),
        ..JointSpec::new("other", "base", "right", Joint::slider(DVec3::Y, Dof::range(-0.04, 0.0)))
    });
    builder.joint(JointSpec::new("glue", "right", "pad", Joint::FIXED));
    let m = builder.build().unwrap();
    let error = |root: &str, tip: &str| {
        let link = |name: &str| m.find_link(name).unwrap();
        ChainSkeleton::new(&m, link(root), link(tip)).unwrap_err().to_string()
    };
    assert_eq!(error("left", "right"), "link `right` does not hang below link `left`");
    assert_eq!(error("right", "pad"), "no joint that moves lies between link `right` and link `pad`");
    assert_eq!(
        error("base", "pad"),
        "the joint that carries link `right` mimics joint `open`, which pose space cannot honour"
    );
}
