//! Skeletons.

use std::sync::Arc;

use sinew::{JointId, Skeleton, SkeletonBuilder};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    exchange::{OTHER, read_transform},
    failure::{failure, making},
    joint::read_joint,
};

/// A skeleton that is being made.
#[wasm_bindgen]
#[derive(Default)]
pub struct RawSkeletonBuilder {
    builder: SkeletonBuilder,
    joints: Vec<sinew::joint::Joint>,
}

#[wasm_bindgen]
impl RawSkeletonBuilder {
    /// Without joints.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a free joint, whose rest transform is in the exchange. `parent` is negative for none.
    pub fn add(&mut self, name: &str, parent: i32) {
        self.builder.add(name, usize::try_from(parent).ok(), read_transform(OTHER));
        self.joints.push(sinew::joint::Joint::FREE);
    }

    /// Sets the description of the joint that was added last, from the exchange.
    pub fn joint(&mut self) -> Result<(), JsValue> {
        let joint = read_joint()?;
        if let Some(last) = self.joints.last_mut() {
            *last = joint;
        }
        Ok(())
    }

    /// The skeleton; `order` receives the index of each joint in the order of adding.
    pub fn build(&mut self, order: &mut [u32]) -> Result<RawSkeleton, JsValue> {
        let (mut skeleton, ids) = core::mem::take(&mut self.builder).build().map_err(making)?;
        for ((place, id), joint) in order.iter_mut().zip(ids).zip(core::mem::take(&mut self.joints)) {
            *place = id.index() as u32;
            if joint != sinew::joint::Joint::FREE {
                skeleton.set_joint(id, joint).map_err(making)?;
            }
        }
        Ok(RawSkeleton { skeleton: Arc::new(skeleton) })
    }
}

/// A skeleton, shared by all that is made for it.
#[wasm_bindgen]
pub struct RawSkeleton {
    pub(crate) skeleton: Arc<Skeleton>,
}

#[wasm_bindgen]
impl RawSkeleton {
    /// Count of joints.
    #[wasm_bindgen(getter)]
    pub fn length(&self) -> usize {
        self.skeleton.len()
    }

    /// Name of a joint.
    pub fn name(&self, joint: u32) -> Result<String, JsValue> {
        Ok(self.skeleton.name(self.id(joint)?).into())
    }

    /// Index of a joint's parent; -1 for none.
    pub fn parent(&self, joint: u32) -> Result<i32, JsValue> {
        Ok(self.skeleton.parent(self.id(joint)?).map_or(-1, |parent| parent.index() as i32))
    }

    /// Index of the joint with a name, or a path of names.
    pub fn find(&self, path: &str) -> Result<u32, JsValue> {
        self.skeleton.joint_by_path(path).map(|joint| joint.index() as u32).map_err(making)
    }
}

impl RawSkeleton {
    pub(crate) fn id(&self, joint: u32) -> Result<JointId, JsValue> {
        self.skeleton.joint_at(joint as usize).ok_or_else(|| {
            failure(
                "input",
                format_args!("there is no joint {joint}: the skeleton has {} joints", self.skeleton.len()),
            )
        })
    }
}
