//! Poses whose numbers JavaScript reads and writes in place.

use core::cell::Cell;
use std::rc::Rc;

use sinew::{
    JointId, JointTransform, Pose,
    glam::{Quat, Vec3},
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    exchange::{OTHER, write},
    failure::failure,
    skeleton::RawSkeleton,
};

/// A pose, and its local transforms once more in arrays that JavaScript holds. Each call takes over what JavaScript has
/// written since, and writes back what it has changed.
#[wasm_bindgen]
pub struct RawPose {
    pub(crate) pose: Pose,
    pub(crate) numbers: Rc<Numbers>,
}

/// Numbers of each joint.
type Each<const N: usize> = Box<[[Cell<f32>; N]]>;

/// The arrays that JavaScript holds.
pub(crate) struct Numbers {
    rotations: Each<4>,
    positions: Each<3>,
    scales: Each<3>,
}

fn get<const N: usize>(numbers: &[Cell<f32>; N]) -> [f32; N] {
    numbers.each_ref().map(Cell::get)
}

fn set<const N: usize>(numbers: Option<&[Cell<f32>; N]>, values: [f32; N]) {
    numbers.into_iter().flatten().zip(values).for_each(|(to, value)| to.set(value));
}

/// Whether two groups of numbers have the same bits: NaN equals itself, so that it is taken over only once.
fn same<const N: usize>(a: [f32; N], b: [f32; N]) -> bool {
    a.iter().zip(b).fold(0, |different, (a, b)| different | (a.to_bits() ^ b.to_bits())) == 0
}

#[wasm_bindgen]
impl RawPose {
    /// The rest pose.
    #[wasm_bindgen(constructor)]
    pub fn new(skeleton: &RawSkeleton) -> Self {
        let count = skeleton.skeleton.len();
        fn zeros<const N: usize>(count: usize) -> Each<N> {
            (0..count).map(|_| [const { Cell::new(0.0) }; N]).collect()
        }
        let numbers = Numbers { rotations: zeros(count), positions: zeros(count), scales: zeros(count) };
        let pose = Self { pose: Pose::rest(&skeleton.skeleton), numbers: Rc::new(numbers) };
        pose.push_all();
        pose
    }

    /// Address of the local rotations: x y z w of each joint.
    #[wasm_bindgen(js_name = rotationsAddress)]
    pub fn rotations_address(&self) -> usize {
        self.numbers.rotations.as_ptr() as usize
    }

    /// Address of the local translations.
    #[wasm_bindgen(js_name = positionsAddress)]
    pub fn positions_address(&self) -> usize {
        self.numbers.positions.as_ptr() as usize
    }

    /// Address of the local scales.
    #[wasm_bindgen(js_name = scalesAddress)]
    pub fn scales_address(&self) -> usize {
        self.numbers.scales.as_ptr() as usize
    }

    /// Back to the rest pose.
    pub fn reset(&mut self) {
        self.pose.reset();
        self.push_all();
    }

    /// Takes over another pose of the same skeleton.
    #[wasm_bindgen(js_name = copyFrom)]
    pub fn copy_from(&mut self, other: &mut RawPose) -> Result<(), JsValue> {
        other.pull();
        self.check(other.pose.skeleton())?;
        self.pose.copy_from(&other.pose);
        self.push_all();
        Ok(())
    }

    /// Blends towards another pose of the same skeleton.
    pub fn blend(&mut self, other: &mut RawPose, influence: f32) -> Result<(), JsValue> {
        self.pull();
        other.pull();
        let done = self.pose.blend(&other.pose, influence).map_err(|error| failure("input", error));
        self.push_all();
        done
    }

    /// Leaves a joint's position and rotation in model space in the exchange.
    pub fn model(&mut self, joint: u32) -> Result<(), JsValue> {
        self.pull();
        let Some(joint) = self.pose.skeleton().joint_at(joint as usize) else {
            return Err(failure("input", format_args!("there is no joint {joint}")));
        };
        write(OTHER, &self.pose.position(joint).to_array());
        write(OTHER + 3, &self.pose.model_rotation(joint).to_array());
        Ok(())
    }

    /// Writes the positions of all joints in model space.
    #[wasm_bindgen(js_name = modelPositions)]
    pub fn model_positions(&mut self, out: &mut [f32]) {
        self.pull();
        self.pose.update();
        for (joint, to) in self.pose.skeleton().joints().zip(out.chunks_exact_mut(3)) {
            to.copy_from_slice(&self.pose.position(joint).to_array());
        }
    }
}

impl Numbers {
    /// Takes over what JavaScript has written.
    pub(crate) fn pull(&self, pose: &mut Pose) {
        let numbers = self.rotations.iter().zip(&self.positions).zip(&self.scales);
        for (i, ((rotation, position), scale)) in numbers.enumerate() {
            let Some(joint) = pose.skeleton().joint_at(i) else { return };
            let local = *pose.local(joint);
            let (rotation, position, scale) = (get(rotation), get(position), get(scale));
            if !same(rotation, local.rotation.to_array())
                || !same(position, local.translation.to_array())
                || !same(scale, local.scale.to_array())
            {
                let mut local = JointTransform::from_translation(Vec3::from_array(position));
                local.rotation = Quat::from_array(rotation);
                local.scale = Vec3::from_array(scale);
                pose.set_local(joint, local);
            }
        }
    }

    /// Gives a joint's local transform to JavaScript.
    pub(crate) fn push(&self, pose: &Pose, joint: JointId) {
        let (i, local) = (joint.index(), pose.local(joint));
        set(self.rotations.get(i), local.rotation.to_array());
        set(self.positions.get(i), local.translation.to_array());
        set(self.scales.get(i), local.scale.to_array());
    }
}

impl RawPose {
    /// Takes over what JavaScript has written.
    pub(crate) fn pull(&mut self) {
        self.numbers.pull(&mut self.pose);
    }

    /// Gives a joint's local transform to JavaScript.
    pub(crate) fn push(&self, joint: JointId) {
        self.numbers.push(&self.pose, joint);
    }

    /// Gives all local transforms to JavaScript.
    pub(crate) fn push_all(&self) {
        self.pose.skeleton().joints().for_each(|joint| self.push(joint));
    }

    /// An error where the pose is not one of this skeleton.
    pub(crate) fn check(&self, skeleton: &std::sync::Arc<sinew::Skeleton>) -> Result<(), JsValue> {
        if std::sync::Arc::ptr_eq(self.pose.skeleton(), skeleton) {
            return Ok(());
        }
        Err(failure("input", "the pose belongs to another skeleton"))
    }
}
