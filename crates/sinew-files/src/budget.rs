//! Memory budget of a file's content.
//!
//! A few bytes of a file can stand for any amount of content: nodes share meshes, and accessors may have no bytes at all. A
//! reader therefore counts content before it allocates it, and compares the sum with the size of the input.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Default budget, as a multiple of the bytes that were read.
const FACTOR: u64 = 16;
/// Minimum of the default budget, in bytes: small files with many instances are common.
const MIN: u64 = 256 << 20;

/// Counter of a file's content, in bytes. It is atomic so that a document that holds one can be shared between threads; a
/// pass over the document counts in a clone.
#[derive(Debug)]
pub(crate) struct Budget {
    /// Budget of the user; `None` is the default.
    given: Option<u64>,
    /// Bytes that were read.
    read: AtomicU64,
    /// Bytes of content so far.
    spent: AtomicU64,
}

/// The content exceeds the budget, which the value holds in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OverBudget(u64);

impl std::fmt::Display for OverBudget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mib = self.0 as f64 / f64::from(1 << 20);
        write!(
            f,
            "the file's content takes more than the memory budget of {mib:.0} MiB; --memory-budget \
             (ReadOptions::memory_budget) raises it"
        )
    }
}

impl Budget {
    /// A budget of `given` bytes, or by default for an input of `read` bytes.
    pub fn new(given: Option<u64>, read: usize) -> Self {
        Self { given, read: AtomicU64::new(read as u64), spent: AtomicU64::new(0) }
    }

    /// Counts another input file.
    pub fn add_input(&self, bytes: u64) {
        self.read.fetch_add(bytes, Relaxed);
    }

    /// Counts bytes that are about to be allocated; an error if they exceed the budget.
    pub fn take(&self, bytes: u64) -> Result<(), OverBudget> {
        let limit = self.given.unwrap_or_else(|| self.read.load(Relaxed).saturating_mul(FACTOR).max(MIN));
        let spent = self.spent.load(Relaxed).saturating_add(bytes);
        self.spent.store(spent, Relaxed);
        if spent > limit { Err(OverBudget(limit)) } else { Ok(()) }
    }

    /// Counts `count` items of `each` bytes; see [`Self::take`].
    pub fn take_all(&self, count: usize, each: usize) -> Result<(), OverBudget> {
        self.take((count as u64).saturating_mul(each as u64))
    }
}

impl Clone for Budget {
    fn clone(&self) -> Self {
        let copy = |number: &AtomicU64| AtomicU64::new(number.load(Relaxed));
        Self { given: self.given, read: copy(&self.read), spent: copy(&self.spent) }
    }
}
