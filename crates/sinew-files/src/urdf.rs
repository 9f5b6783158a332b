//! Reading of URDF: links and joints of an arm or a machine.
//!
//! Only the kinematics are read: names, origins, axes, limits, speeds and mimics. Meshes, masses and colours are ignored;
//! their files need not exist, and `package://` paths are not resolved. The file's axes are kept (usually Z up), as poses of
//! an arm are given in them. Distances are in metres and angles in radians.

mod check;
mod xml;

use std::{io, path::Path};

use glam::{DQuat, DVec3};
use sinew::{
    joint::{Dof, Joint},
    mechanism::{JointSpec, Mechanism, Mimic},
};
use urdf_rs::{JointLimit, JointType};

use crate::{
    FileError, ReadOptions,
    budget::Budget,
    open::read_file,
    text::{shorten, tidy},
};
use check::Wrong;

/// Reads a URDF file with default options.
pub fn read(path: &Path) -> Result<Mechanism, FileError> {
    read_with(path, &ReadOptions::default())
}

/// Reads a URDF file. Of the options, only [`ReadOptions::memory_budget`] applies to this format.
///
/// # Errors
/// A path that is no readable regular file, text that is no UTF-8 or no XML, elements with missing or bad values, links and
/// joints that form no tree, spherical joints, and content over the memory budget.
pub fn read_with(path: &Path, options: &ReadOptions) -> Result<Mechanism, FileError> {
    let text = String::from_utf8(read_file(path)?).map_err(|e| FileError::Io {
        path: path.into(),
        error: io::Error::new(io::ErrorKind::InvalidData, e.utf8_error()),
    })?;
    parse_with(&text, path, options)
}

/// Reads the text of a URDF file. `path` names the file in errors, and the mechanism if the file gives no name.
///
/// ```
/// let text = r#"<robot name="rail">
///   <link name="base"/> <link name="cart"/>
///   <joint name="slide" type="prismatic">
///     <parent link="base"/> <child link="cart"/> <axis xyz="1 0 0"/>
///     <limit lower="-0.5" upper="0.5" effort="1" velocity="2"/>
///   </joint>
/// </robot>"#;
/// let rail = sinew_files::urdf::parse(text, "rail.urdf".as_ref())?;
/// assert_eq!(rail.dofs()[0].dof.range, sinew::joint::Range::new(-0.5, 0.5));
/// # Ok::<(), sinew_files::FileError>(())
/// ```
pub fn parse(text: &str, path: &Path) -> Result<Mechanism, FileError> {
    parse_with(text, path, &ReadOptions::default())
}

/// Reads the text of a URDF file, as [`parse`], with the options of [`read_with`].
pub fn parse_with(text: &str, path: &Path, options: &ReadOptions) -> Result<Mechanism, FileError> {
    let at = |at: String, what: String| FileError::At { path: path.into(), at, what };
    let budget = Budget::new(options.memory_budget, text.len());
    let plain = check::check(text, &budget).map_err(|wrong| match wrong {
        Wrong::Line(line, what) => FileError::Line { path: path.into(), line, what },
        Wrong::At { at: element, what } => at(element, what),
    })?;
    // Messages of this parser may quote whole attributes.
    let robot = urdf_rs::read_from_string(&plain).map_err(|e| at("robot".into(), tidy(&e.to_string())))?;
    let stem = || path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let name = if robot.name.is_empty() { stem() } else { robot.name.clone() };
    let mut builder = Mechanism::builder(name);
    for link in &robot.links {
        builder.link(link.name.clone());
    }
    for joint in &robot.joints {
        let wrong = |what: &str| at(format!("joint `{}`", shorten(&joint.name)), what.into());
        let axis = DVec3::from_array(*joint.axis.xyz);
        let limits = |kind: &str| match joint.limit == JointLimit::default() {
            true => Err(wrong(&format!("a {kind} joint needs a <limit>"))),
            false => Ok((joint.limit.lower, joint.limit.upper)),
        };
        let moves = match joint.joint_type {
            JointType::Fixed => Joint::FIXED,
            JointType::Continuous => Joint::hinge(axis, Dof::FREE),
            JointType::Revolute => {
                let (lower, upper) = limits("revolute")?;
                Joint::hinge(axis, Dof::range(lower, upper))
            }
            JointType::Prismatic => {
                let (lower, upper) = limits("prismatic")?;
                Joint::slider(axis, Dof::range(lower, upper))
            }
            JointType::Planar => Joint::planar(axis),
            JointType::Floating => Joint::floating(),
            JointType::Spherical => return Err(wrong("spherical joints are not supported")),
        };
        let rpy = *joint.origin.rpy;
        if let Some(value) = rpy.iter().find(|v| !v.is_finite()) {
            return Err(wrong(&format!("its origin's rpy is not finite: {value}")));
        }
        // The format's default of 0 for a speed that is not given would hold the joint still.
        let speed = if joint.limit.velocity == 0.0 { f64::INFINITY } else { joint.limit.velocity };
        builder.joint(JointSpec {
            name: joint.name.clone(),
            parent: joint.parent.link.clone(),
            child: joint.child.link.clone(),
            translation: DVec3::from_array(*joint.origin.xyz),
            rotation: of_roll_pitch_yaw(rpy),
            joint: moves.with_speed(speed),
            mimic: joint.mimic.as_ref().map(|m| Mimic {
                dof: m.joint.clone(),
                multiplier: m.multiplier.unwrap_or(1.0),
                offset: m.offset.unwrap_or(0.0),
            }),
        });
    }
    builder.build().map_err(|e| at("robot".into(), e.to_string()))
}

/// The rotation of roll about x, then pitch about y, then yaw about z, all about fixed axes, in radians.
fn of_roll_pitch_yaw([roll, pitch, yaw]: [f64; 3]) -> DQuat {
    let half = |angle: f64| sinew::math64::sin_cos(0.5 * angle);
    let ((sr, cr), (sp, cp), (sy, cy)) = (half(roll), half(pitch), half(yaw));
    DQuat::from_xyzw(
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )
}
