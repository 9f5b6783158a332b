//! Scratch memory for solvers.

use alloc::{boxed::Box, vec::Vec};
use core::any::{Any, TypeId};

/// Scratch memory, one for each thread, shared by all solvers that need any.
///
/// It grows on the first solve of each kind, or by a solver's `reserve`, and never after. It carries nothing from one solve to
/// the next: a solve gives the same bits whatever its workspace was used for before.
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
    /// An empty workspace, which allocates nothing yet.
    pub const fn new() -> Self {
        Self { parts: Vec::new() }
    }

    /// The scratch of one kind of solver, made by its default where there is none yet.
    pub(crate) fn scratch<T: Any + Default + Send>(&mut self) -> &mut T {
        let at = self.parts.iter().position(|part| part.0 == TypeId::of::<T>()).unwrap_or_else(|| {
            self.parts.push((TypeId::of::<T>(), Box::<T>::default()));
            self.parts.len() - 1
        });
        self.parts[at].1.downcast_mut().expect("a part that was found by its type")
    }
}
