//! Conversion of a document into a model.

use std::sync::Arc;

use sinew::Skeleton;

use crate::{FileError, Model, Source};

use super::{
    Document, bind,
    clip::{self, Animations},
    placement, skin, vrm,
};

impl Document {
    /// Converts the document into a model: the nodes of its default scene, its clips, its skin and its roles.
    ///
    /// # Errors
    /// Invalid nodes, skins, accessors or indices, and content over the memory budget. A clip that cannot be played is no
    /// error, but one of [`Model::problems`].
    pub fn into_model(mut self) -> Result<Model, FileError> {
        let budget = self.budget.clone();
        let nodes = self.tree_nodes();
        let mut builder = Skeleton::builder();
        let mut locals = Vec::with_capacity(nodes.len());
        for ((place, node), parent) in nodes.iter().zip(&self.tree.nodes).zip(&self.tree.parents) {
            let name = match place.maybe_text("name") {
                // Every joint gets a name, by which it can be found.
                None | Some("") => format!("node{node}"),
                Some(name) => name.to_owned(),
            };
            builder.add(name, *parent, placement::transform(place)?);
            locals.push(placement::affine(place)?);
        }
        // The tree is in depth-first order, so that a joint's index is its place in the tree.
        let (skeleton, _) = builder.build().map_err(|error| FileError::At {
            path: self.path.clone(),
            at: "nodes".into(),
            what: error.to_string(),
        })?;
        let frames = placement::global(&self.tree, &locals);
        let Animations { clips, indices, problems } = clip::read(&self, &skeleton, &budget)?;
        let skins = bind::read_skins(&self, &budget)?;
        let (bind, bind_problems) = bind::locals(&skeleton, &skins, &frames);
        let skin = skin::read(&self, &skeleton, &skins, &budget)?;
        let declared_roles = vrm::roles(&self, &skeleton)?;
        self.clips = indices;
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
