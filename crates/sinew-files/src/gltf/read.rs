//! A document into a model.

use std::sync::Arc;

use sinew::Skeleton;

use crate::{FileError, Model, Source};

use super::{Document, bind, clip, placement, skin, vrm};

impl Document {
    /// The character in this document: the nodes of its default scene, its clips, its skin, its roles.
    pub fn into_model(self) -> Result<Model, FileError> {
        let budget = self.budget.clone();
        let nodes = self.tree_nodes();
        let mut builder = Skeleton::builder();
        let mut locals = Vec::with_capacity(nodes.len());
        for ((place, node), parent) in nodes.iter().zip(&self.tree.nodes).zip(&self.tree.parents) {
            let name = match place.maybe_text("name") {
                // A joint must have a name that it can be asked for by.
                None | Some("") => format!("node{node}"),
                Some(name) => name.to_owned(),
            };
            builder.add(name, *parent, placement::transform(place)?);
            locals.push(placement::affine(place)?);
        }
        // The tree is depth first already, so that a joint's id is its place in the tree.
        let (skeleton, _) = builder.build().map_err(|error| FileError::At {
            path: self.path.clone(),
            at: "nodes".into(),
            what: error.to_string(),
        })?;
        let frames = placement::global(&self.tree, &locals);
        let (clips, problems) = clip::read(&self, &skeleton, &budget)?;
        let skins = bind::read_skins(&self, &budget)?;
        let (bind, bind_problems) = bind::locals(&self, &skeleton, &skins, &frames);
        let skin = skin::read(&self, &skeleton, &skins, &budget)?;
        let declared_roles = vrm::roles(&self, &skeleton)?;
        Ok(Model {
            name: self.name(),
            skeleton: Arc::new(skeleton),
            clips,
            problems,
            bind,
            bind_problems,
            skin,
            declared_roles,
            source: Source::Gltf(self),
        })
    }
}
