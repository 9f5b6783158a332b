//! glTF document: its JSON, its buffers, and the mapping of nodes to joints.

use std::path::{Path, PathBuf};

use serde_json::Value;
use sinew::JointId;

use crate::{FileError, JsonError, ReadOptions, budget::Budget, json::read_within, open::read_file};

use super::{
    accessor::Accessor,
    buffer::{self, Buffer, Folder},
    glb,
    json::Place,
    required,
    tree::Tree,
};

/// glTF document with its buffers.
///
/// It can be converted into a [`Model`](crate::Model), extended by animations and meshes, and written back. All other
/// content stays as it was read.
#[derive(Clone, Debug)]
pub struct Document {
    pub(super) path: PathBuf,
    pub(super) folder: Option<Folder>,
    pub(super) json: Value,
    pub(super) buffers: Vec<Buffer>,
    /// Chunks of a GLB that are neither JSON nor the buffer, each with its type.
    pub(super) chunks: Vec<(u32, Vec<u8>)>,
    pub(super) tree: Tree,
    /// Index in `animations` of each clip of the model that was read from it.
    pub(super) clips: Vec<usize>,
    /// Memory budget after the JSON and the buffers.
    pub(super) budget: Budget,
}

impl Document {
    /// Reads a regular file and the buffers that it names. Buffers must be in the file's folder, with links followed, unless
    /// [`ReadOptions::allow_outside`] is set. If the file is a link, buffers are relative to the link's folder, and may be
    /// in that folder or in that of the link's target. Of the other options, only [`ReadOptions::memory_budget`] applies.
    ///
    /// # Errors
    /// A path that is no readable regular file, data that is no GLB and no JSON, another version than 2, a required
    /// extension that is not decoded here, buffers that are missing, damaged, too short or outside of the folder, a
    /// hierarchy that is no tree, and content over the memory budget.
    pub fn read(path: &Path, options: &ReadOptions) -> Result<Self, FileError> {
        let bytes = read_file(path)?;
        let budget = Budget::new(options.memory_budget, bytes.len());
        Self::parse(&bytes, path.into(), Some(Folder::of_document(path, options)), budget)
    }

    /// Reads the bytes of a GLB or of a glTF's JSON. `name` names the file in errors. Files that the document names must be
    /// in `folder`; without a folder, they are an error.
    ///
    /// # Errors
    /// Those of [`Self::read`], except of reading the file itself.
    pub fn from_bytes(bytes: &[u8], name: &str, folder: Option<&Path>) -> Result<Self, FileError> {
        Self::parse(bytes, name.into(), folder.map(Folder::new), Budget::new(None, bytes.len()))
    }

    /// Makes a document from JSON that a program has built. `bin` holds the bytes of the first buffer if that has no `uri`.
    /// `name` names the document in errors.
    pub fn from_json(json: Value, bin: Option<&[u8]>, name: &str) -> Result<Self, FileError> {
        // Content that a program has built is in memory already.
        Self::assemble(json, bin, Vec::new(), name.into(), None, Budget::new(Some(u64::MAX), 0))
    }

    fn parse(bytes: &[u8], path: PathBuf, folder: Option<Folder>, budget: Budget) -> Result<Self, FileError> {
        let error = |at: String, what: String| FileError::At { path: path.clone(), at, what };
        let (json, bin, chunks) = if bytes.starts_with(glb::MAGIC) {
            let glb = glb::parse(bytes).map_err(|(at, what)| error(at, what))?;
            let others = glb.others.iter().map(|(kind, data)| (*kind, data.to_vec())).collect();
            (glb.json, glb.bin, others)
        } else {
            (bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), None, Vec::new())
        };
        if json.iter().find(|b| !b.is_ascii_whitespace()) != Some(&b'{') {
            return Err(error("start".into(), "neither a GLB (magic `glTF`) nor JSON".into()));
        }
        let value = read_within(json, &budget).map_err(|e| match e {
            JsonError::Syntax { line, column, what } => {
                error(format!("JSON line {line} column {column}"), what)
            }
            other => error("JSON".into(), other.to_string()),
        })?;
        Self::assemble(value, bin, chunks, path, folder, budget)
    }

    fn assemble(
        json: Value,
        bin: Option<&[u8]>,
        chunks: Vec<(u32, Vec<u8>)>,
        path: PathBuf,
        folder: Option<Folder>,
        budget: Budget,
    ) -> Result<Self, FileError> {
        let root = Place::root(&path, &json);
        let asset = root.need("asset")?;
        let version = asset.need("version")?;
        if !version.text()?.starts_with("2.") {
            return Err(version.error(format!("the version is {}; only glTF 2 is read", version.text()?)));
        }
        // Extensions come before buffers, as those of a compressed document may have no bytes.
        required::check(&root)?;
        let buffers = buffer::load(&root, bin, folder.as_ref(), &budget)?;
        let tree = Tree::read(&root, &budget)?;
        Ok(Self { folder, json, buffers, chunks, tree, clips: Vec::new(), budget, path })
    }

    /// The JSON, with all changes so far.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// Name of the file, without folder and extension.
    pub fn name(&self) -> String {
        self.path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Index in `nodes` of a joint of the model that was read from this document; `None` for a joint that it does not have.
    pub fn node(&self, joint: JointId) -> Option<usize> {
        self.tree.nodes.get(joint.index()).copied()
    }

    /// Index in `animations` of a clip of the model that was read from this document, by its index there; `None` for a clip that the
    /// model does not have.
    pub fn animation(&self, clip: usize) -> Option<usize> {
        self.clips.get(clip).copied()
    }

    /// Index of a node's joint in the skeleton; `None` if the node is not in the default scene.
    pub fn joint_of_node(&self, node: usize) -> Option<usize> {
        self.tree.places.get(node).copied().flatten()
    }

    pub(super) fn root(&self) -> Place<'_> {
        Place::root(&self.path, &self.json)
    }

    pub(super) fn accessor<'a>(
        &'a self,
        reference: &Place<'a>,
        budget: &'a Budget,
    ) -> Result<Accessor<'a>, FileError> {
        Accessor::read(&self.root(), &self.buffers, reference, budget)
    }

    /// The nodes of the default scene, in the tree's order.
    pub(super) fn tree_nodes(&self) -> Vec<Place<'_>> {
        let nodes = self.root().get("nodes");
        self.tree.nodes.iter().filter_map(|&n| nodes.as_ref().and_then(|list| list.element(n))).collect()
    }
}
