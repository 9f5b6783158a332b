//! How much memory the content of a file may ask for.
//!
//! A few bytes of a file can stand for any amount of content: nodes share meshes, accessors may have no bytes at all. What
//! a reader is about to make is therefore counted first and held against the size of what was read.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Content may take this many times the bytes that were read.
const TIMES: u64 = 16;
/// Content may always take this much: small files of many instances are common.
const LEAST: u64 = 256 << 20;

/// What was read, what may be made of it, and what was made so far, in bytes. (Atomic, so that a document that keeps one can
/// be shared between threads; a walk over the document counts in a clone.)
#[derive(Debug)]
pub(crate) struct Budget {
    given: Option<u64>,
    read: AtomicU64,
    spent: AtomicU64,
}

/// More is asked for than the budget has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OverBudget(u64);

impl std::fmt::Display for OverBudget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mib = self.0 as f64 / f64::from(1 << 20);
        write!(
            f,
            "what the file holds takes more than the memory budget of {mib:.0} MiB; --memory-budget \
             (ReadOptions::memory_budget) raises it"
        )
    }
}

impl Budget {
    /// For content of `read` bytes: `given`, or else what suits those bytes.
    pub fn new(given: Option<u64>, read: usize) -> Self {
        Self { given, read: AtomicU64::new(read as u64), spent: AtomicU64::new(0) }
    }

    /// One more file was read.
    pub fn add_input(&self, bytes: u64) {
        self.read.fetch_add(bytes, Relaxed);
    }

    /// Takes bytes that are about to be allocated out of the budget.
    pub fn take(&self, bytes: u64) -> Result<(), OverBudget> {
        let limit = self.given.unwrap_or_else(|| self.read.load(Relaxed).saturating_mul(TIMES).max(LEAST));
        let spent = self.spent.load(Relaxed).saturating_add(bytes);
        self.spent.store(spent, Relaxed);
        if spent > limit { Err(OverBudget(limit)) } else { Ok(()) }
    }

    /// Takes `count` things of `each` bytes.
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
