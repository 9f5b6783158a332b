//! Signals that end the command: what is half written goes first.

/// Lets an interrupt (Ctrl-C), a termination and a hangup remove the outputs that are not finished before they end the
/// command as they would have ended it. A second one ends it at once.
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
            // Who waits for the command sees by which signal it ended.
            let _ = emulate_default_handler(signal);
            process::exit(128 + signal);
        }
    });
    // Without one who acts on them, signals had better end the command by themselves.
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
    // A file that grows past `ulimit -f` is then an error like a full disk.
    let _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    let _ = send.send(signals);
}

/// Elsewhere an interrupt leaves what is half written.
#[cfg(not(unix))]
pub fn watch() {}

/// Whether the command was started to ignore a signal, as `nohup` and a script's `&` do it.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    if cfg!(not(target_os = "linux")) {
        // There is no telling, and work under `nohup` is worth more than a file that stays.
        return signal == signal_hook::consts::SIGHUP;
    }
    // A mask in hexadecimal digits, whose lowest bit is signal 1.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
