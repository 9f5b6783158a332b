//! Judges round trips of every kind of joint: from a skeleton to joint space and back, and from a mechanism to a skeleton
//! and back.

use std::sync::Arc;

use sinew::{
    JointTransform, Pose, Skeleton,
    glam::{DMat3, DQuat, DVec3, Quat, Vec3},
    joint::{Dof, Joint, JointFault, Range, RotationOrder, Turning},
    mechanism::{ChainSkeleton, JointSpec, LinkFrames, LinkId, Mechanism, Mimic, SkeletonMechanism},
};

const ENDLESS: f64 = f64::INFINITY;

/// Every kind of joint, with ranges of no, one and two ends, speeds and preferred values.
fn kinds() -> Vec<Joint> {
    let turn = Dof::range(-0.7, 1.9).with_speed(2.0).with_preferred(0.4);
    let mut all = vec![
        Joint::FREE,
        Joint::FIXED,
        Joint::hinge(DVec3::new(0.3, -2.0, 0.5), turn),
        Joint::hinge(DVec3::Z, Dof::FREE.with_speed(3.0)),
        Joint::hinge(DVec3::X, Dof::range(0.25, ENDLESS)),
        Joint::slider(DVec3::new(1.0, 2.0, -0.3), Dof::range(0.0, 0.5).with_speed(0.1)),
        Joint::slider(DVec3::Y, Dof::range(-ENDLESS, 0.4)),
        Joint::planar(DVec3::new(0.0, 1.0, 1.0)),
        Joint::floating(),
        Joint::ball(DVec3::Z, DVec3::X, [(-0.8, 1.1), (-0.4, 0.6)], (-0.5, 0.7)),
        Joint::ball(DVec3::new(1.0, 0.2, 0.0), DVec3::Z, [(-0.8, 1.1), (-0.4, 0.6)], (-ENDLESS, ENDLESS)),
        Turning::Ball {
            twist_axis: DVec3::new(0.1, 1.0, 0.3),
            swing_axis: DVec3::X,
            swing: [Dof::range(-0.2, 2.1), Dof::range(0.2, 1.4)],
            twist: Dof::range(-0.5, 0.7),
            centre: [0.9, 0.6],
        }
        .into(),
        Joint::hinge(DVec3::Y, turn).with_slide([None, Some(Dof::range(-0.1, 0.2)), Some(Dof::FREE)]),
    ];
    for order in [RotationOrder::Xyz, RotationOrder::Zyx, RotationOrder::Yxz] {
        for angles in [[Some(turn); 3], [None, Some(turn), Some(Dof::FREE)], [Some(turn), None, Some(turn)]] {
            all.push(Turning::Axes { order, angles }.into());
        }
    }
    all
}

fn skeleton(joints: &[Joint]) -> Arc<Skeleton> {
    let mut builder = Skeleton::builder();
    for n in 0..=joints.len() {
        let rest = JointTransform {
            translation: Vec3::new(0.1, 0.2 + 0.03 * n as f32, -0.05),
            rotation: Quat::from_rotation_y(0.3 * n as f32) * Quat::from_rotation_x(0.7),
            ..JointTransform::IDENTITY
        };
        builder.add(format!("j{n}"), n.checked_sub(1), rest);
    }
    let (mut skeleton, ids) = builder.build().unwrap();
    for (&id, &joint) in ids.iter().zip(joints) {
        skeleton.set_joint(id, joint).unwrap();
    }
    skeleton.set_joint(ids[joints.len()], Joint::FIXED).unwrap();
    Arc::new(skeleton)
}

#[test]
fn every_joint_goes_to_joint_space_and_back() {
    let all = kinds();
    // One joint at a time, and all as one chain.
    let rows: Vec<Vec<Joint>> = all.iter().map(|j| vec![*j]).chain([all.clone()]).collect();
    for joints in rows {
        let skeleton = skeleton(&joints);
        let compiled = SkeletonMechanism::compile(&Pose::rest(&skeleton)).unwrap();
        let mechanism = compiled.mechanism();
        for id in skeleton.joints() {
            let link = compiled.link(id);
            assert_eq!(mechanism.joint(link), Some(skeleton.joint(id)), "{id}");
            assert_eq!(mechanism.narrowed_joint(link).as_ref(), Some(skeleton.joint(id)), "{id}");
            assert_eq!(mechanism.joint_name(link), Some(skeleton.name(id)));
            assert_eq!(compiled.dofs(id).len(), mechanism.dofs()[compiled.dofs(id)].len());
        }
        let tip = skeleton.joints().last().unwrap();
        let moves = joints.iter().any(|j| *j != Joint::FIXED);
        let back = ChainSkeleton::new(mechanism, mechanism.root(), compiled.link(tip));
        let Ok(back) = back else {
            assert!(!moves, "{}", back.unwrap_err());
            continue;
        };
        let own = back.skeleton();
        let moving = skeleton.joints().filter(|&j| *skeleton.joint(j) != Joint::FIXED);
        for id in moving {
            let found = own.find(skeleton.name(id)).unwrap();
            assert_eq!(own.joint(found), skeleton.joint(id), "{id}");
        }
    }
}

/// Returns the frames of links by independent forward kinematics: rotations by axis and angle, in the documented order.
fn walked(joints: &[(DVec3, DQuat, Joint)], values: &[f64]) -> (DMat3, DVec3) {
    let (mut turned, mut at) = (DMat3::IDENTITY, DVec3::ZERO);
    let mut next = values.iter().copied();
    let about = |axis: DVec3, angle| DMat3::from_quat(DQuat::from_axis_angle(axis.normalize(), angle));
    for (origin, rotation, joint) in joints {
        at += turned * *origin;
        turned *= DMat3::from_quat(*rotation);
        for k in 0..3 {
            if joint.slide[k].is_some() {
                at += turned * joint.slide_axes.col(k) * next.next().unwrap();
            }
        }
        match joint.turning {
            Turning::Fixed => {}
            Turning::Hinge { axis, .. } => turned *= about(axis, next.next().unwrap()),
            Turning::Axes { order, angles } => {
                for n in order.axes().into_iter().filter(|&n| angles[n].is_some()) {
                    turned *= about(DVec3::AXES[n], next.next().unwrap());
                }
            }
            Turning::Free | Turning::Ball { .. } => {
                let v = [0; 3].map(|_| next.next().unwrap());
                let whole = |v: DVec3| if v == DVec3::ZERO { DMat3::IDENTITY } else { about(v, v.length()) };
                turned *= match joint.turning {
                    Turning::Ball { twist_axis, swing_axis, centre: [a, b], .. } => {
                        let z = twist_axis.normalize();
                        let x = (swing_axis - z * z.dot(swing_axis)).normalize();
                        let swing = |a: f64, b: f64| whole(x * a + z.cross(x) * b);
                        swing(a, b) * swing(v[0] - a, v[1] - b) * about(z, v[2])
                    }
                    _ => whole(DVec3::from_array(v)),
                };
            }
            _ => unreachable!("a kind of joint without a definition"),
        }
    }
    (turned, at)
}

#[test]
fn a_mechanism_and_its_chain_stand_where_the_definition_says() {
    let mut builder = Mechanism::builder("all");
    builder.link("l0");
    let mut given = Vec::new();
    for (n, joint) in kinds().into_iter().enumerate() {
        let (origin, rotation) =
            (DVec3::new(0.1, -0.02 * n as f64, 0.15), DQuat::from_rotation_z(0.2 * n as f64).normalize());
        builder.link(format!("l{}", n + 1));
        builder.joint(JointSpec {
            translation: origin,
            rotation,
            ..JointSpec::new(format!("j{n}"), format!("l{n}"), format!("l{}", n + 1), joint)
        });
        given.push((origin, rotation, joint));
    }
    let mechanism = builder.build().unwrap();
    let tip: LinkId = mechanism.links().last().unwrap();
    let chain = ChainSkeleton::new(&mechanism, mechanism.root(), tip).unwrap();
    let mut frames = LinkFrames::new(&mechanism);
    for round in 0..40 {
        let share = |d: usize| (0.37 * (d + 1) as f64 * f64::from(round)).sin();
        let mut values: Vec<f64> = (0..mechanism.dofs().len()).map(|d| 0.6 * share(d)).collect();
        mechanism.clamp(&mut values).unwrap();
        mechanism.forward_kinematics(&values, &mut frames).unwrap();
        let found = mechanism.link_transform(&frames, tip);
        let (turned, at) = walked(&given, &values);
        assert!(found.translation.distance(at) < 1e-9, "{round}");
        assert!(found.matrix3.abs_diff_eq(turned, 1e-9), "{round}");
        // The same through pose space, in f32.
        let mut pose = Pose::rest(&Arc::new(chain.skeleton().clone()));
        chain.write(&values, &mut pose).unwrap();
        pose.update();
        let model = pose.model(chain.chain().tip());
        assert!(model.translation.as_dvec3().distance(at) < 2e-5, "{round}");
        assert!(model.matrix3.as_dmat3().abs_diff_eq(turned, 2e-5), "{round}");
        for id in pose.skeleton().joints() {
            let (limits, local) = (pose.skeleton().limits(id), pose.local(id));
            assert!(limits.is_within(local.rotation), "{round}: {id}");
            assert!(limits.slide_excess(local.translation) <= 1e-6, "{round}: {id}");
        }
        let mut same = values.clone();
        chain.read(&pose, &mut same).unwrap();
        assert_eq!(same, values, "{round}");
        let mut read = mechanism.rest();
        chain.read(&pose, &mut read).unwrap();
        assert!(mechanism.is_within(&read));
        let (again, place) = walked(&given, &read);
        assert!(place.distance(at) < 1e-4 && again.abs_diff_eq(turned, 1e-4), "{round}: {values:?} {read:?}");
    }
}

#[test]
fn one_ended_ranges_hold_on_their_side() {
    let open = Joint::slider(DVec3::new(1.0, 1.0, 0.0), Dof::range(-0.2, ENDLESS));
    let skeleton = skeleton(&[open]);
    let id = skeleton.joints().next().unwrap();
    let limits = skeleton.limits(id);
    let rest = skeleton.rest(id);
    let axis = DVec3::new(1.0, 1.0, 0.0).normalize();
    let along = |value: f64| rest.translation + rest.rotation * (axis * value).as_vec3();
    for (value, kept) in [(-0.2, -0.2), (50.0, 50.0), (-1.0, -0.2), (0.0, 0.0)] {
        let got = limits.clamp_slide(along(0.0), along(value));
        assert!(got.distance(along(kept)) < 1e-5, "{value}: {got}");
    }
    // A turn with one end alone does not limit a rotation, but limits a value.
    assert!(Joint::hinge(DVec3::X, Dof::range(0.25, ENDLESS)).check().is_ok());
    assert_eq!(Range::new(3.0, ENDLESS).clamp(1.0), 3.0);
    assert!(Range::FREE.is_free() && !Range::new(0.0, ENDLESS).is_bounded());
    assert_eq!(Dof::range(3.0, ENDLESS).rest(), 3.0);
    let crooked = Joint { slide_axes: DMat3::from_cols(DVec3::X, DVec3::X, DVec3::Z), ..open };
    assert!(matches!(crooked.check(), Err(JointFault::SlideAxes { .. })));
    assert!(matches!(Joint::slider(DVec3::ZERO, Dof::FREE).check(), Err(JointFault::SlideAxes { .. })));
}

#[test]
fn a_joint_mimics_one_degree_of_freedom_of_a_joint_of_several() {
    let build = |dof: &str| {
        let mut builder = Mechanism::builder("cart");
        ["floor", "cart", "wheel"].into_iter().for_each(|link| builder.link(link));
        builder.joint(JointSpec::new("drive", "floor", "cart", Joint::planar(DVec3::Z)));
        let mimic = Some(Mimic { dof: dof.into(), multiplier: 20.0, offset: 0.0 });
        let wheel = JointSpec::new("axle", "cart", "wheel", Joint::hinge(DVec3::Y, Dof::FREE));
        builder.joint(JointSpec { mimic, ..wheel });
        builder.build()
    };
    let cart = build("drive.slide x").unwrap();
    let names: Vec<&str> = cart.dofs().iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["drive.slide x", "drive.slide y", "drive.turn"]);
    let mut frames = LinkFrames::new(&cart);
    cart.forward_kinematics(&[0.1, 0.0, 0.0], &mut frames).unwrap();
    let wheel = cart.link_transform(&frames, cart.find_link("wheel").unwrap());
    assert!(wheel.matrix3.abs_diff_eq(DMat3::from_rotation_y(2.0), 1e-12));
    assert_eq!(cart.mimic(cart.find_link("wheel").unwrap()).unwrap().dof, "drive.slide x");
    let error = build("drive").unwrap_err().to_string();
    assert_eq!(error, "joint `axle` mimics `drive`, which has several degrees of freedom");
}
