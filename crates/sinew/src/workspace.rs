//! Scratch memory for solvers.

use alloc::{boxed::Box, vec::Vec};
use core::any::{Any, TypeId};

/// Scratch memory for all solvers; keep one per thread.
///
/// It grows at the first solve of each kind, or by a solver's `reserve`, and not afterwards. It carries no data from one
/// solve to the next: a solve returns the same bits whatever the workspace was used for before.
///
/// ```
/// use sinew::Workspace;
/// let mut workspace = Workspace::new();
/// # let _ = &mut workspace;
/// ```
#[derive(Debug, Default)]
pub struct Workspace {
    parts: Vec<(TypeId, Box<dyn Any + Send>)>,
}

impl Workspace {
    /// An empty workspace. It allocates at its first use.
    pub const fn new() -> Self {
        Self { parts: Vec::new() }
    }

    /// The scratch memory of one kind of solver, created by `Default` at its first use.
    pub(crate) fn scratch<T: Any + Default + Send>(&mut self) -> &mut T {
        let at = self.parts.iter().position(|part| part.0 == TypeId::of::<T>()).unwrap_or_else(|| {
            self.parts.push((TypeId::of::<T>(), Box::<T>::default()));
            self.parts.len() - 1
        });
        self.parts[at].1.downcast_mut().expect("a part that was found by its type")
    }
}
