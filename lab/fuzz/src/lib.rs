//! Hostile input for all readers: files, goals, contacts, rigs, walks. Each [`Target`] takes any bytes and does with them
//! all that a user can do. It must not panic, hang, take too much memory, leave a number that is not finite, or print an
//! error of several lines.
//!
//! The program of this crate makes bytes by structured mutation; `fuzz/` in this folder runs the same targets with
//! cargo-fuzz.

mod bytes;
mod command;
mod files;
pub mod mutate;
mod planting;
#[path = "../../soak/src/rig.rs"]
#[allow(dead_code)]
mod rig;
mod rigs;
#[path = "../../soak/src/solvers.rs"]
#[allow(dead_code)]
mod solvers;
mod solving;
mod usage;

use std::{
    panic::{self, AssertUnwindSafe},
    sync::Mutex,
    time::Duration,
};

pub use command::clean;
pub use usage::cpu;

/// Outcome of an input that broke nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was refused.
    Refused,
    /// It could be read, and no more was to be done with it.
    Read,
    /// All was done that can be done.
    Done,
}

/// A target: a function of bytes.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Small valid inputs to mutate. Without any, inputs are random bytes.
    pub seeds: &'static [&'static [u8]],
    /// Words that make trouble in this kind of text.
    pub words: &'static [&'static str],
    run: fn(&[u8]) -> Result<Outcome, String>,
}

macro_rules! seeds {
    ($($path:literal),*) => { &[$(include_bytes!(concat!("../seeds/", $path))),*] };
}

/// Every target.
pub const TARGETS: [Target; 10] = [
    Target {
        name: "gltf",
        seeds: seeds!("gltf/figure.gltf", "gltf/person.vrm"),
        words: mutate::GLTF,
        run: files::gltf,
    },
    Target {
        name: "bvh",
        seeds: seeds!("bvh/person.bvh", "bvh/tail.bvh"),
        words: mutate::BVH,
        run: files::bvh,
    },
    Target { name: "urdf", seeds: seeds!("urdf/arm.urdf"), words: mutate::XML, run: files::urdf },
    Target {
        name: "obj",
        seeds: seeds!("obj/steps.obj", "obj/ring.obj"),
        words: mutate::OBJ,
        run: files::obj,
    },
    Target { name: "goals", seeds: seeds!("goals/lines.jsonl"), words: mutate::GOALS, run: command::goals },
    Target {
        name: "contacts",
        seeds: seeds!("contacts/feet.json"),
        words: mutate::GOALS,
        run: command::contacts,
    },
    Target {
        name: "rig",
        seeds: seeds!("rig/humanoid.toml", "rig/body.toml", "rig/handles.toml"),
        words: mutate::RIG,
        run: rigs::toml,
    },
    Target { name: "keys", seeds: seeds!("keys/person.glb"), words: mutate::KEYS, run: rigs::keys },
    Target { name: "solvers", seeds: &[], words: &[], run: solving::run },
    Target { name: "planting", seeds: &[], words: &[], run: planting::run },
];

/// The processor time that an input may take: what people wait for.
pub const LONGEST: Duration = Duration::from_secs(2);
/// How often an input that takes longer is tried again.
const AGAIN: usize = 2;

/// Bytes that may be held at once: 16 times the input and at least 256 MiB are a reader's budget, and what it returns and
/// what is made of that come on top.
pub fn most_bytes(input: usize) -> u64 {
    300_000_000u64.max(20 * input as u64)
}

/// Outcome and cost of an input.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The outcome, or a short description of the fault.
    pub result: Result<Outcome, String>,
    /// Processor time.
    pub time: Duration,
    /// Bytes held at once by the thread, at most.
    pub bytes: u64,
}

/// Where the last panic was.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Keeps where panics are instead of printing them: they are told with their input.
pub fn quiet_panics() {
    panic::set_hook(Box::new(|info| {
        let what = info.payload();
        let text = what.downcast_ref::<String>().map(String::as_str);
        let text = text.or(what.downcast_ref::<&str>().copied()).unwrap_or("?");
        let place = info.location().map_or_else(|| "?".into(), ToString::to_string);
        let line = text.lines().next().unwrap_or_default();
        if let Ok(mut last) = PANIC.lock() {
            *last = Some(format!("panic at {place}: {line}"));
        }
    }));
}

impl Target {
    /// The target of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|t| t.name == name)
    }

    /// Does with the bytes all that can be done, and judges it. What takes too long is done again, as other work on the
    /// machine only ever adds time.
    pub fn judge(&self, data: &[u8]) -> Judged {
        let (mut result, mut time, bytes) = self.measure(data);
        for _ in 0..AGAIN {
            if result.is_ok() && time > LONGEST {
                let again = self.measure(data);
                (result, time) = (again.0, time.min(again.1));
            }
        }
        if result.is_ok() && time > LONGEST {
            result = Err(format!("slow: more than {} s", LONGEST.as_secs()));
        }
        if result.is_ok() && bytes > most_bytes(data.len()) {
            result = Err(format!("memory: more than {} MB", most_bytes(data.len()) / 1_000_000));
        }
        Judged { result, time, bytes }
    }

    /// The result, processor time and most memory of one run.
    fn measure(&self, data: &[u8]) -> (Result<Outcome, String>, Duration, u64) {
        let (start, mut result) = (cpu(), Ok(Outcome::Refused));
        let info = allocation_counter::measure(|| {
            result = panic::catch_unwind(AssertUnwindSafe(|| (self.run)(data))).unwrap_or_else(|_| {
                let told = PANIC.lock().ok().and_then(|mut last| last.take());
                Err(told.unwrap_or_else(|| "panic".into()))
            });
        });
        (result, cpu().saturating_sub(start), info.bytes_max)
    }
}

/// For cargo-fuzz: panics where the input of the target of this name breaks anything.
pub fn check(name: &str, data: &[u8]) {
    let target = Target::find(name).unwrap_or_else(|| panic!("there is no target {name}"));
    match (target.run)(data) {
        Ok(_) => {}
        Err(what) => panic!("{what}"),
    }
}
