//! Every solver of pose space on hostile rigs: zero, tiny, huge, mirrored and unequal scales, invalid rotations, offsets of
//! any size, goals anywhere.

use std::sync::Arc;

use common::Noise;
use sinew::{
    JointTransform, Pose, Skeleton, Workspace,
    glam::Vec3,
    joint::{Dof, Joint},
    math,
};

use crate::{
    Outcome,
    bytes::Bytes,
    files::{one_line, refused},
    rig::{Freedom, Rig},
    solvers::{ALL, Solver},
};

/// Solves on one rig.
const SOLVES: usize = 4;

pub fn run(data: &[u8]) -> Result<Outcome, String> {
    let mut b = Bytes::new(data);
    let which = b.below(ALL.len());
    let (_, freedom, branching) = ALL[which];
    // Half of all rigs are hostile in few of their numbers: where all are, most is refused at once.
    let hostile = [0, 2, 8, 64][b.below(4)];
    let mut noise = Noise::new(u64::from(b.word()));
    let size = 10f32.powi(i32::from(b.byte() as i8) / 32);
    let mut builder = Skeleton::builder();
    let mut ids = Vec::new();
    for i in 0..2 + b.below(11) {
        let parent = match ids.last() {
            Some(_) if branching && i > 1 && b.below(4) == 0 => Some(ids[1 + b.below(ids.len() - 1)]),
            last => last.copied(),
        };
        let scale = match b.below(12) {
            _ if hostile == 0 => Vec3::ONE,
            0 => Vec3::ZERO,
            1 => Vec3::splat(1e-20),
            2 => Vec3::splat(1e18),
            3 => Vec3::new(-1.0, 1.0, 1.0),
            4 => Vec3::new(1.0, 2.0, 1.0),
            5 => b.vector(hostile),
            _ => Vec3::ONE,
        };
        let (translation, rotation) = (b.vector(hostile) * size, b.rotation(hostile));
        ids.push(builder.add(format!("{i}"), parent, JointTransform { translation, rotation, scale }));
    }
    let (mut skeleton, ids) = match builder.build() {
        Ok(built) => built,
        Err(error) => return refused(&error),
    };
    for &id in &ids[1..] {
        if freedom == Freedom::Free || b.below(3) == 0 {
            continue;
        }
        let (from, width) = (b.number(hostile) * 3.0, b.number(hostile) * 3.0);
        let range = Dof::range(f64::from(from), f64::from(from + width.abs()));
        let mut joint = match b.below(4) {
            0 => Joint::hinge(b.vector(hostile), range),
            1 => Joint::cone(b.vector(hostile), f64::from(width.abs()), f64::from(from.abs())),
            2 => Joint::axes([Some(range), Some(Dof::FREE), Some(range)]),
            _ => Joint::FIXED,
        };
        if freedom == Freedom::Sliding && b.below(8) == 0 {
            joint.slide[b.below(3)] = Some(range);
        }
        if let Err(error) = skeleton.set_joint(id, joint) {
            one_line(&error)?;
        }
    }
    let skeleton = Arc::new(skeleton);
    let tip_offset = if b.below(2) == 0 { Vec3::ZERO } else { b.vector(hostile) * size };
    let joints = ids[1..].to_vec();
    let rig = Rig { skeleton: skeleton.clone(), joints, tip_offset, size, hostile: hostile > 8, freedom };
    let mut pose = Pose::rest(&skeleton);
    let Some(mut solver) = Solver::new(which, &rig, &mut noise) else { return Ok(Outcome::Refused) };
    solver.begin(&pose, &rig);
    let mut workspace = Workspace::new();
    let mut outcome = Outcome::Read;
    for _ in 0..SOLVES {
        if b.below(2) == 0 {
            let id = rig.joints[b.below(rig.joints.len())];
            pose.set_rotation(id, b.rotation(hostile));
            pose.update();
        }
        let before = pose.clone();
        let goal = b.vector(hostile) * size * 3.0;
        let sound = before.check_finite().is_ok();
        let task = solver.task(&pose, goal, &rig, &mut noise);
        match solver.solve(&mut workspace, &mut pose, &task) {
            Ok((report, more))
                if ![report.position_residual, report.rotation_residual, more]
                    .iter()
                    .all(|x| x.is_finite()) =>
            {
                return Err(format!("{}: a report of {report:?}, {more}", ALL[which].0));
            }
            Ok(_) if sound && pose.check_finite().is_err() => {
                return Err(format!("{}: a pose that is not finite", ALL[which].0));
            }
            Ok(_) => outcome = Outcome::Done,
            Err(error) => {
                one_line(&error)?;
                // `Pose::update` brings rotations to unit length, which leaves them what they are.
                let unit =
                    |t: &JointTransform| JointTransform { rotation: math::normalize(t.rotation), ..*t };
                let same = |(a, b): (&JointTransform, &JointTransform)| {
                    let b = format!("{b:?}");
                    format!("{a:?}") == b || format!("{:?}", unit(a)) == b
                };
                if !before.locals().iter().zip(pose.locals()).all(same) {
                    return Err(format!("{}: refused ({error}), but changed the pose", ALL[which].0));
                }
            }
        }
    }
    Ok(outcome)
}
