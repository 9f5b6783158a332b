//! Files: models, arms, grounds, and planted models.

use std::path::Path;

use sinew::{
    Pose,
    body::{BodyRoles, RoleHints},
    ground::plant::{ClipOptions, Planting, Stride, plant_clip},
};
use sinew_files::{Model, ReadOptions, Source, UpAxis, build, bvh, gltf::Document, rig, sample, urdf};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    clip::RawClip,
    exchange::{OTHER, read, write},
    failure::{failure, making, solving},
    ground::RawGround,
    mechanism::RawMechanism,
    plant::{RawFigure, read_options},
    pose::RawPose,
    rig::RawRig,
    rig_keys::RawRigKeys,
    skeleton::RawSkeleton,
    trackers::RawBody,
    walk::RawCreature,
};

/// An error of a file.
fn reading(error: impl core::fmt::Display) -> JsValue {
    failure("file", error)
}

/// An error for an index that does not exist.
fn missing(what: &str, index: usize, count: usize) -> JsValue {
    failure("input", format_args!("there is no {what} {index}: there are {count}"))
}

fn ending(name: &str) -> String {
    Path::new(name).extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// Units and axes of a file that does not declare them.
fn units(scale: f32, z_up: bool) -> ReadOptions {
    ReadOptions { scale, up: if z_up { UpAxis::Z } else { UpAxis::Y }, ..ReadOptions::default() }
}

#[wasm_bindgen]
impl RawMechanism {
    /// Reads the text of a URDF file; `name` is the file's.
    #[wasm_bindgen(js_name = fromUrdf)]
    pub fn from_urdf(text: &str, name: &str) -> Result<RawMechanism, JsValue> {
        Ok(Self::of(urdf::parse(text, name.as_ref()).map_err(reading)?))
    }
}

#[wasm_bindgen]
impl RawGround {
    /// Reads the triangles of a GLB, glTF or OBJ file.
    #[wasm_bindgen(js_name = fromFile)]
    pub fn from_file(bytes: &[u8], name: &str, scale: f32, z_up: bool) -> Result<RawGround, JsValue> {
        let mesh = match ending(name).as_str() {
            "obj" => sinew_files::ground::obj::from_bytes(bytes, name.as_ref(), &units(scale, z_up))
                .map_err(reading)?,
            "glb" | "gltf" => {
                Document::from_bytes(bytes, name, None).and_then(|d| d.triangles()).map_err(reading)?
            }
            _ => return Err(reading(format_args!("{name}: a ground is a .glb, .gltf or .obj file"))),
        };
        mesh.check().map_err(|error| reading(format_args!("{name}: {error}")))?;
        Self::of_mesh(mesh)
    }
}

/// A character, creature or arm from a file.
#[wasm_bindgen]
pub struct RawModel {
    model: Model,
}

#[wasm_bindgen]
impl RawModel {
    /// Reads the bytes of a GLB, glTF, VRM or BVH file, which the ending of its name tells.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: &[u8], name: &str, scale: f32, z_up: bool) -> Result<Self, JsValue> {
        let model = match ending(name).as_str() {
            "bvh" => bvh::from_bytes(bytes, name.as_ref(), &units(scale, z_up)),
            "glb" | "gltf" | "vrm" => Document::from_bytes(bytes, name, None).and_then(Document::into_model),
            _ => return Err(reading(format_args!("{name}: a model is a .glb, .gltf, .vrm or .bvh file"))),
        };
        Ok(Self { model: model.map_err(reading)? })
    }

    /// The built-in mannequin.
    pub fn sample() -> Result<RawModel, JsValue> {
        Ok(Self { model: sample::mannequin().map_err(making)? })
    }

    /// The built-in creature with a number of legs.
    pub fn crawler(legs: u32) -> Result<RawModel, JsValue> {
        Ok(Self { model: sample::creature(legs).map_err(making)? })
    }

    /// The creature of this model, with its mesh; the first and last joints of its legs, or none to find them.
    pub fn creature(&self, ends: &[u32]) -> Result<RawCreature, JsValue> {
        let bind = self.model.bind_pose();
        RawCreature::of(&bind, ends, &self.model.skin_points(&bind))
    }

    /// Its name.
    #[wasm_bindgen(getter)]
    pub fn name(&self) -> String {
        self.model.name.clone()
    }

    /// The body on two legs, by declared roles, names and shape; the ankles may be given.
    pub fn body(&self, feet: &[u32]) -> Result<RawBody, JsValue> {
        let mut hints = RoleHints::new().with_declared(&self.model.declared_roles);
        if let [left, right] = *feet {
            let skeleton = self.skeleton();
            hints = hints.with_feet([skeleton.id(left)?, skeleton.id(right)?]);
        }
        RawBody::find(&self.model.bind_pose(), &hints)
    }

    /// Index of each joint's node in the glTF; -1 for each joint of a BVH.
    pub fn nodes(&self) -> Vec<i32> {
        let document = match &self.model.source {
            Source::Gltf(document) => Some(document),
            Source::Bvh(_) => None,
        };
        let node = |joint| document.and_then(|d| d.node(joint)).map_or(-1, |node| node as i32);
        self.model.skeleton.joints().map(node).collect()
    }

    /// The model's document, to add to; that of a BVH has a built figure as its mesh.
    pub fn opened(&self) -> Result<RawDocument, JsValue> {
        Ok(RawDocument { document: self.document()? })
    }

    /// Reads the keys of a clip for a rig of this model's skeleton.
    pub fn keys(&self, clip: usize, rig: &RawRig, into: &mut RawRigKeys) -> Result<(), JsValue> {
        let found = match &self.model.source {
            Source::Gltf(document) => document.animation(clip).map(|animation| (document, animation)),
            Source::Bvh(_) => None,
        };
        let Some((document, animation)) = found else {
            return Err(missing("clip with keys", clip, self.model.clips.len()));
        };
        let keys = document.keys(animation, &self.model.skeleton, &rig.rig).map_err(reading)?;
        into.set(keys);
        Ok(())
    }

    /// Its skeleton.
    pub fn skeleton(&self) -> RawSkeleton {
        RawSkeleton { skeleton: self.model.skeleton.clone() }
    }

    /// Brings a pose to the bind pose.
    pub fn bind(&self, pose: &mut RawPose) -> Result<(), JsValue> {
        pose.check(&self.model.skeleton)?;
        pose.pose.copy_from(&self.model.bind_pose());
        pose.push_all();
        Ok(())
    }

    /// Count of clips.
    #[wasm_bindgen(getter)]
    pub fn clips(&self) -> usize {
        self.model.clips.len()
    }

    /// A clip.
    pub fn clip(&self, index: usize) -> Result<RawClip, JsValue> {
        let missing = || missing("clip", index, self.model.clips.len());
        let clip = self.model.clips.get(index).ok_or_else(missing)?;
        Ok(RawClip::of(clip.clone(), &self.model.skeleton))
    }

    /// Clips that cannot be played, and what is wrong in the file.
    pub fn problems(&self) -> Vec<String> {
        let clips = self.model.problems.iter().map(ToString::to_string);
        clips.chain(self.model.bind_problems.iter().map(ToString::to_string)).collect()
    }

    /// The figure of a body of this model, with the soles of its mesh.
    pub fn figure(&self, body: &RawBody) -> Result<RawFigure, JsValue> {
        RawFigure::of(body, &self.model.skin_points(&body.bind))
    }

    /// Joint and position of each vertex of the skin in the bind pose, in model space: four numbers each.
    pub fn skin(&self) -> Vec<f32> {
        let points = self.model.skin_points(&self.model.bind_pose());
        points.iter().flat_map(|(joint, at)| [joint.index() as f32, at.x, at.y, at.z]).collect()
    }

    /// Plants a clip on a ground, with the options in the exchange, and after them the count of rounds (NaN: as many as walk four
    /// metres) and the stride (NaN: the default; -1 keep, 0 fit, else treads a step).
    pub fn plant(&self, clip: usize, figure: &RawFigure, ground: &RawGround) -> Result<RawPlanting, JsValue> {
        let missing = || missing("clip", clip, self.model.clips.len());
        let clip = self.model.clips.get(clip).ok_or_else(missing)?;
        let mut options = ClipOptions::default();
        options.planting = read_options();
        let [rounds, stride] = [read(OTHER + 14), read(OTHER + 15)];
        options.repeat = (!rounds.is_nan()).then_some(rounds as u32);
        options.stride = match stride {
            s if s.is_nan() => None,
            s if s < 0.0 => Some(Stride::Keep),
            0.0 => Some(Stride::Fit),
            treads => Some(Stride::Treads(treads as u32)),
        };
        let rest = Pose::rest(&self.model.skeleton);
        let planting = plant_clip(&figure.figure, &rest, clip, ground, &options).map_err(solving)?;
        let mut document = self.document()?;
        document.add_animation(&planting.planted.clip, None).map_err(making)?;
        if let Some(mesh) = ground.triangles() {
            // Warm grey, as the command has it.
            document.add_mesh_node("ground", mesh, [0.62, 0.6, 0.56, 1.0]).map_err(making)?;
        }
        let mut glb = Vec::new();
        document.to_glb(&mut glb).map_err(making)?;
        let clip = RawClip::of(planting.planted.clip.clone(), &self.model.skeleton);
        Ok(RawPlanting { planting, clip: Some(clip), glb })
    }
}

impl RawModel {
    fn document(&self) -> Result<Document, JsValue> {
        match &self.model.source {
            Source::Gltf(document) => Ok(document.clone()),
            Source::Bvh(_) => {
                let mesh = build::figure(&self.model.skeleton);
                build::document(&self.model.name, &self.model.skeleton, &mesh, &self.model.clips)
                    .map_err(making)
            }
        }
    }
}

/// A glTF that is being added to.
#[wasm_bindgen]
pub struct RawDocument {
    document: Document,
}

#[wasm_bindgen]
impl RawDocument {
    /// Adds a clip as an animation.
    #[wasm_bindgen(js_name = addClip)]
    pub fn add_clip(&mut self, clip: &RawClip) -> Result<(), JsValue> {
        self.document.add_animation(&clip.clip, None).map(|_| ()).map_err(making)
    }

    /// Adds keys as an animation.
    #[wasm_bindgen(js_name = addKeys)]
    pub fn add_keys(&mut self, name: &str, rig: &RawRig, keys: &RawRigKeys) -> Result<(), JsValue> {
        self.document.add_keys(name, &rig.rig, keys.keys()).map(|_| ()).map_err(making)
    }

    /// Adds keys as an animation, with the tracks of a clip of joints that they do not show.
    #[wasm_bindgen(js_name = addKeyedClip)]
    pub fn add_keyed_clip(
        &mut self,
        name: &str,
        rig: &RawRig,
        keys: &RawRigKeys,
        clip: &RawClip,
    ) -> Result<(), JsValue> {
        let (rig, clip) = (&rig.rig, Some(&clip.clip));
        self.document.add_keyed_clip(name, rig, keys.keys(), clip, None).map(|_| ()).map_err(making)
    }

    /// The document as a GLB.
    pub fn glb(&self) -> Result<Vec<u8>, JsValue> {
        let mut glb = Vec::new();
        self.document.to_glb(&mut glb).map_err(making)?;
        Ok(glb)
    }
}

/// A planted clip.
#[wasm_bindgen]
pub struct RawPlanting {
    planting: Planting,
    clip: Option<RawClip>,
    glb: Vec<u8>,
}

#[wasm_bindgen]
impl RawPlanting {
    /// The planted clip; there once.
    pub fn clip(&mut self) -> Option<RawClip> {
        self.clip.take()
    }

    /// The model with the planted clip and the ground, as a GLB.
    pub fn glb(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.glb)
    }

    /// Leaves what was measured in the exchange: the planted share, the stride (NaN where steps keep theirs), and count of contacts.
    pub fn report(&self) {
        let report = &self.planting.report;
        let stride = report.stride.map_or(f64::NAN, f64::from);
        write(OTHER, &[f64::from(report.planted_share()), stride, report.contacts.len() as f64]);
    }

    /// A contact in the exchange: its leg, whether it is the heel's, its start and end. Returns why it is not planted; empty if it is.
    pub fn contact(&self, index: usize) -> Result<String, JsValue> {
        let contacts = &self.planting.report.contacts;
        let contact = contacts.get(index).ok_or_else(|| missing("contact", index, contacts.len()))?;
        let heel = f32::from(u8::from(contact.point == "heel"));
        write(OTHER, &[contact.leg as f32, heel, contact.time.from, contact.time.to]);
        Ok(contact.unplanted.as_ref().map_or(String::new(), ToString::to_string))
    }
}

#[wasm_bindgen]
impl RawRig {
    /// Reads a rig file for the figure of a model, of a body of it if roles are known.
    #[wasm_bindgen(js_name = fromFile)]
    pub fn from_file(text: &str, name: &str, bind: &mut RawPose) -> Result<Self, JsValue> {
        bind.pull();
        bind.pose.update();
        Self::read_file(text, name, &bind.pose, None)
    }

    /// Reads a rig file for a figure with known roles.
    #[wasm_bindgen(js_name = fromFileOf)]
    pub fn from_file_of(text: &str, name: &str, body: &RawBody) -> Result<Self, JsValue> {
        Self::read_file(text, name, &body.bind, Some(&body.roles))
    }
}

impl RawRig {
    fn read_file(text: &str, name: &str, bind: &Pose, body: Option<&BodyRoles>) -> Result<Self, JsValue> {
        let rig = rig::read(text, name.as_ref(), bind, body).map_err(reading)?;
        Ok(Self::of(rig, bind.skeleton().clone()))
    }
}
