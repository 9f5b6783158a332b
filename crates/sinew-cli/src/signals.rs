//! Signals that end the command remove unfinished outputs first.

/// Makes an interrupt (Ctrl-C), a termination and a hangup remove unfinished outputs before they end the command. A second
/// signal ends it at once.
#[cfg(unix)]
pub fn watch() {
    use std::{
        process,
        sync::{Arc, atomic::AtomicBool, mpsc},
        thread,
    };

    use signal_hook::{
        consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ},
        flag,
        iterator::Signals,
        low_level::emulate_default_handler,
    };

    let (send, receive) = mpsc::channel::<Signals>();
    let watcher = thread::Builder::new().name("signals".into()).spawn(move || {
        let Ok(mut signals) = receive.recv() else { return };
        if let Some(signal) = signals.forever().next() {
            let _held = sinew_files::abandon_outputs();
            // The parent process sees which signal ended the command.
            let _ = emulate_default_handler(signal);
            process::exit(128 + signal);
        }
    });
    // Without the thread that acts on them, signals keep their default: they end the command.
    if watcher.is_err() {
        return;
    }
    let heeded: Vec<_> =
        [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal)).collect();
    let Ok(signals) = Signals::new(&heeded) else { return };
    let again = Arc::new(AtomicBool::new(false));
    for signal in heeded {
        let _ = flag::register_conditional_default(signal, again.clone());
        let _ = flag::register(signal, again.clone());
    }
    // Makes a file that grows past `ulimit -f` a write error, like a full disk.
    let _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    let _ = send.send(signals);
}

/// Does nothing: on other systems an interrupt leaves unfinished outputs.
#[cfg(not(unix))]
pub fn watch() {}

/// Whether the command was started with a signal ignored, as by `nohup` and by a script's `&`.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    if cfg!(not(target_os = "linux")) {
        // Other systems do not tell. To survive `nohup` is worth more than to remove an unfinished file.
        return signal == signal_hook::consts::SIGHUP;
    }
    // A hexadecimal mask, whose lowest bit is signal 1.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
