//! A glTF document: its JSON, its bytes, and which node is which joint.

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

/// A glTF document with its buffers.
///
/// It can be read into a [`Model`](crate::Model), given more animations and meshes, and written back. Whatever it holds
/// besides stays as it was read.
#[derive(Clone, Debug)]
pub struct Document {
    pub(super) path: PathBuf,
    pub(super) folder: Option<Folder>,
    pub(super) json: Value,
    pub(super) buffers: Vec<Buffer>,
    /// Chunks of a GLB that are neither JSON nor the buffer.
    pub(super) chunks: Vec<(u32, Vec<u8>)>,
    pub(super) tree: Tree,
    /// What the JSON and the buffers took of the memory that there is for the content.
    pub(super) budget: Budget,
}

impl Document {
    /// Reads a regular file, with the buffers that it names. These must lie in its folder, links followed, unless
    /// [`ReadOptions::allow_outside`] is set. Where the file is a link, buffers are looked for beside the link and may lie
    /// there or where the file itself lies. Of the other options only [`ReadOptions::memory_budget`] is for this format.
    pub fn read(path: &Path, options: &ReadOptions) -> Result<Self, FileError> {
        let bytes = read_file(path)?;
        let budget = Budget::new(options.memory_budget, bytes.len());
        Self::parse(&bytes, path.into(), Some(Folder::of_document(path, options)), budget)
    }

    /// Reads the bytes of a GLB or of a glTF's JSON. `name` stands for the file in errors; `folder` is where files that the
    /// document names are looked for and must lie (without it, naming one is an error).
    pub fn from_bytes(bytes: &[u8], name: &str, folder: Option<&Path>) -> Result<Self, FileError> {
        Self::parse(bytes, name.into(), folder.map(Folder::new), Budget::new(None, bytes.len()))
    }

    /// A document of JSON that a program made, with the bytes of its first buffer (where that has no `uri`).
    pub fn from_json(json: Value, bin: Option<&[u8]>, name: &str) -> Result<Self, FileError> {
        // What a program made is in memory already.
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
            return Err(version.error(format!("this is glTF {}; only glTF 2 is read", version.text()?)));
        }
        // Before the buffers: those of a compressed document may have no bytes.
        required::check(&root)?;
        let buffers = buffer::load(&root, bin, folder.as_ref(), &budget)?;
        let tree = Tree::read(&root, &budget)?;
        Ok(Self { folder, json, buffers, chunks, tree, budget, path })
    }

    /// The JSON as it stands now.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// The name of the file without its folder and ending.
    pub fn name(&self) -> String {
        self.path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The index in `nodes` of a joint of the model that was read from this document.
    pub fn node(&self, joint: JointId) -> Option<usize> {
        self.tree.nodes.get(joint.index()).copied()
    }

    /// The place in the skeleton's order of a node; none where the default scene does not reach it.
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

    /// The nodes of the tree, in its order.
    pub(super) fn tree_nodes(&self) -> Vec<Place<'_>> {
        let nodes = self.root().get("nodes");
        self.tree.nodes.iter().filter_map(|&n| nodes.as_ref().and_then(|list| list.element(n))).collect()
    }
}
