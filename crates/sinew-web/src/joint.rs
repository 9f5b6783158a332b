//! Descriptions of joints, as numbers in the exchange.

use sinew::{
    glam::{DMat3, DVec3},
    joint::{Dof, Joint, Range, RotationOrder, Spring, Turning},
};
use wasm_bindgen::prelude::JsValue;

use crate::{
    exchange::{OTHER, read},
    failure::making,
};

/// The kind of turning, two axes, the centre of swings, the order of turns.
const TURNING: usize = OTHER;
/// The axes of slides, column by column.
const SLIDE_AXES: usize = TURNING + 10;
/// Six degrees of freedom: three turns, three slides.
const DOFS: usize = SLIDE_AXES + 9;
/// Count of numbers of each: whether it is there, its range, speed, ease, stiffness, damping, the rest and the strength of
/// its spring, its precedence, its preferred value.
const DOF: usize = 11;

fn dof(n: usize) -> Option<Dof> {
    let at = DOFS + n * DOF;
    let number = |i| read(at + i);
    (number(0) != 0.0).then(|| {
        let mut dof = Dof { range: Range::new(number(1), number(2)), ..Dof::FREE };
        [dof.speed, dof.ease, dof.stiffness, dof.damping] = [number(3), number(4), number(5), number(6)];
        let (rest, strength, preferred) = (number(7), number(8), number(10));
        dof.spring = (strength != 0.0).then_some(Spring { rest, strength });
        dof.precedence = number(9) as i32;
        dof.preferred = (!preferred.is_nan()).then_some(preferred);
        dof
    })
}

/// The description that JavaScript has written; checked.
pub(crate) fn read_joint() -> Result<Joint, JsValue> {
    let vector = |at| DVec3::new(read(at), read(at + 1), read(at + 2));
    let free = |n| dof(n).unwrap_or(Dof::FREE);
    let turning = match read(TURNING) as u32 {
        0 => Turning::Free,
        1 => Turning::Fixed,
        2 => Turning::Hinge { axis: vector(TURNING + 1), dof: free(0) },
        3 => Turning::Ball {
            twist_axis: vector(TURNING + 1),
            swing_axis: vector(TURNING + 4),
            swing: [free(0), free(1)],
            twist: free(2),
            centre: [read(TURNING + 7), read(TURNING + 8)],
        },
        _ => {
            use RotationOrder::{Xyz, Xzy, Yxz, Yzx, Zxy, Zyx};
            let orders = [Xyz, Xzy, Yxz, Yzx, Zxy, Zyx];
            let order = orders.get(read(TURNING + 9) as usize).copied().unwrap_or_default();
            Turning::Axes { order, angles: [dof(0), dof(1), dof(2)] }
        }
    };
    let slide_axes = DMat3::from_cols(vector(SLIDE_AXES), vector(SLIDE_AXES + 3), vector(SLIDE_AXES + 6));
    let joint = Joint { turning, slide: [dof(3), dof(4), dof(5)], slide_axes };
    joint.check().map_err(making)?;
    Ok(joint)
}
