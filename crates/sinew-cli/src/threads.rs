//! How many threads work.

use crate::failure::Failure;

/// Sets how many threads rayon works with.
pub fn set(threads: u16) -> Result<(), Failure> {
    rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads)).build_global().map_err(Failure::work)
}
