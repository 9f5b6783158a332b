//! Resource usage of the process.

use std::{fs, sync::OnceLock, time::Duration, time::Instant};

/// Processor time of all threads so far, which a busy machine does not stretch; where the system does not tell, the time
/// that passed.
pub fn cpu() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    linux().unwrap_or_else(|| start.elapsed())
}

/// Fields 14 and 15 of `/proc/self/stat`: ticks of user and system time. Linux counts 100 a second everywhere.
fn linux() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in brackets, may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks()? + ticks()?)))
}
