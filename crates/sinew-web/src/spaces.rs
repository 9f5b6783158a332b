//! Spaces of goals and keys as two numbers: a kind, and the index of a joint or a role.

use sinew::{body::Role, rig::Space};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::exchange::{read, write};

/// The space at a place: none (0), model (1), world (2), a joint's (3), a role's (4).
pub(crate) fn read_space(skeleton: &sinew::Skeleton, at: usize) -> Option<Space> {
    let index = read(at + 1) as usize;
    match read(at) as u32 {
        1 => Some(Space::Model),
        2 => Some(Space::World),
        3 => skeleton.joint_at(index).map(Space::Joint),
        4 => Some(Space::Role(role(index))),
        _ => None,
    }
}

/// Leaves a space at a place.
pub(crate) fn write_space(at: usize, space: Option<Space>) {
    let (kind, index) = match space {
        Some(Space::Model) => (1, 0),
        Some(Space::World) => (2, 0),
        Some(Space::Joint(joint)) => (3, joint.index()),
        Some(Space::Role(role)) => (4, role_number(role)),
        _ => (0, 0),
    };
    write(at, &[f64::from(kind), index as f64]);
}

/// A role by its number: those of `Role::FIXED`, then the joints of the spine.
fn role(number: usize) -> Role {
    Role::FIXED.get(number).copied().unwrap_or_else(|| Role::Spine(number - Role::FIXED.len()))
}

fn role_number(role: Role) -> usize {
    let fixed = Role::FIXED.iter().position(|&fixed| fixed == role);
    fixed.unwrap_or(match role {
        Role::Spine(index) => Role::FIXED.len() + index,
        _ => 0,
    })
}

/// The number of a role by its name; -1 for none.
#[wasm_bindgen(js_name = roleNumber)]
pub fn number_of_role(name: &str) -> f64 {
    Role::from_name(name).map_or(-1.0, |role| role_number(role) as f64)
}

/// The name of a role.
#[wasm_bindgen(js_name = roleName)]
pub fn name_of_role(number: usize) -> String {
    role(number).to_string()
}
