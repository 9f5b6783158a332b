//! Joint space: arms, sliders and hard limits, in `f64`, one number a degree of freedom.
//!
//! A [`Mechanism`] is a tree of links and joints; [`Mechanism::place`] is its forward kinematics,
//! [`Mechanism::jacobian`] the geometric Jacobian of any point of it.

mod builder;
mod model;

pub use model::{
    Dof, JointSpec, LinkId, Mechanism, MechanismBuilder, MechanismError, Mimic, Motion, Placement,
    ValuesError, to_pose,
};
