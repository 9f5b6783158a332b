//! Number of threads.

use crate::failure::Failure;

/// Sets the number of rayon's threads. It may be set once per process; a second call is an error.
pub fn set(threads: u16) -> Result<(), Failure> {
    rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads)).build_global().map_err(Failure::work)
}
