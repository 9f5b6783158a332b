//! Hierarchy of the default scene's nodes.

use crate::{FileError, budget::Budget};

use super::json::Place;

/// Nodes of the default scene in depth-first order, which is the order of the skeleton's joints. A place is an index in this
/// order.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    /// For each place, the index of the node.
    pub nodes: Vec<usize>,
    /// For each place, the place of the parent; `None` for a root.
    pub parents: Vec<Option<usize>>,
    /// For each node of the document, its place; `None` if it is not in the scene.
    pub places: Vec<Option<usize>>,
}

impl Tree {
    /// Checks the nodes of the whole document, and orders those of its default scene. Without `scene`, that is the first
    /// scene; without scenes, it consists of all roots.
    pub fn read(root: &Place<'_>, budget: &Budget) -> Result<Self, FileError> {
        /// Bytes of a node here, in the skeleton, and in scratch memory.
        const NODE: usize = 700;
        if let Some(nodes) = root.get("nodes") {
            nodes.take(budget, nodes.value().as_array().map_or(0, Vec::len), NODE)?;
        }
        let nodes = root.list("nodes")?;
        let count = nodes.len();
        let mut parents: Vec<Option<usize>> = vec![None; count];
        let mut children: Vec<Vec<usize>> = Vec::with_capacity(count);
        for (i, node) in nodes.iter().enumerate() {
            let mut below = Vec::new();
            for child in node.list("children")? {
                let c = child.index()?;
                match parents.get_mut(c) {
                    None => {
                        return Err(child.error(format!(
                            "there is no node {}: there are {count}, from 0",
                            child.value()
                        )));
                    }
                    Some(Some(p)) => {
                        return Err(child.error(format!("node {c} is already a child of node {p}")));
                    }
                    Some(parent) => *parent = Some(i),
                }
                below.push(c);
            }
            children.push(below);
        }
        let roots: Vec<usize> = (0..count).filter(|&i| parents[i].is_none()).collect();
        // Every node has at most one parent, so that a node which no root reaches is in a cycle.
        let all = Self::walk(&roots, &children, count);
        if let Some(node) = (0..count).find(|&i| all.places[i].is_none()) {
            return Err(nodes[node].error("the node is among its own descendants"));
        }
        let scenes = root.list("scenes")?;
        if scenes.is_empty() {
            return Ok(all);
        }
        let scene = match root.get("scene") {
            Some(place) => place.follow(root, "scenes")?,
            None => scenes[0].clone(),
        };
        let mut listed = Vec::new();
        let mut seen = vec![false; count];
        for place in scene.list("nodes")? {
            let node = place.index()?;
            match parents.get(node) {
                None => {
                    let what = format!("there is no node {}: there are {count}, from 0", place.value());
                    return Err(place.error(what));
                }
                Some(Some(p)) => {
                    return Err(place.error(format!("node {node} is a child of node {p}, not a root")));
                }
                Some(None) if seen[node] => return Err(place.error(format!("node {node} is listed twice"))),
                Some(None) => seen[node] = true,
            }
            listed.push(node);
        }
        Ok(Self::walk(&listed, &children, count))
    }

    fn walk(roots: &[usize], children: &[Vec<usize>], count: usize) -> Self {
        let mut tree = Self { places: vec![None; count], ..Self::default() };
        let mut stack: Vec<(usize, Option<usize>)> = roots.iter().rev().map(|&node| (node, None)).collect();
        while let Some((node, parent)) = stack.pop() {
            let place = tree.nodes.len();
            tree.places[node] = Some(place);
            tree.nodes.push(node);
            tree.parents.push(parent);
            stack.extend(children[node].iter().rev().map(|&child| (child, Some(place))));
        }
        tree
    }
}
