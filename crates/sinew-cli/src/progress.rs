//! Progress bar for long work, on a terminal only, so that pipes and logs stay clean.

use std::{io::IsTerminal, time::Duration};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Progress bar on stderr, hidden if stderr is no terminal or `quiet` is set. Dropping it removes it from the terminal.
pub struct Progress(ProgressBar);

impl Progress {
    /// A bar of `steps` steps, labelled with `work`.
    pub fn new(work: &'static str, steps: u64, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr_with_hz(20));
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}") {
            bar.set_style(style);
        }
        bar.set_message(work);
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }

    /// Shows that `step` steps out of `of` are done.
    pub fn at(&self, step: u64, of: u64) {
        self.0.set_length(of);
        self.0.set_position(step);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
