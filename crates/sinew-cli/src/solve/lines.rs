//! Solving lines of goals on all cores, with answers in the same order.

use std::{
    io::{self, Write},
    sync::{Arc, Condvar, Mutex, mpsc},
    thread,
};

use rayon::prelude::*;
use sinew_files::{FileError, tidy};

use super::{
    Backend, Worker, answer,
    input::{Input, Line, MAX_LINE},
    request,
};
use crate::{failure::Failure, progress::Progress};

/// Maximum number of lines that are solved at once: enough that cores seldom wait for each other, few enough to hold.
const BATCH: usize = 4096;

/// Options of all lines.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Whether answers hold the duration of their solve.
    pub timing: bool,
    /// Bytes that the values of a line may take; `None` chooses by the line's length.
    pub memory_budget: Option<u64>,
}

/// Maximum bytes of lines that are held at once: one line of maximum length fits, or thousands of common lines.
const MAX_HELD: usize = 2 * MAX_LINE;

/// Counts of lines and errors.
#[derive(Default)]
pub struct Tally {
    lines: u64,
    bad: u64,
    /// Number of the first bad line, and its error.
    first: Option<(u64, String)>,
}

impl Tally {
    /// Returns an error if a line was bad, with the first bad line's.
    pub fn check(self, name: &str) -> Result<(), Failure> {
        match self.first {
            None => Ok(()),
            Some((line, error)) => Err(Failure::Work(format!(
                "{name}:{line}: {error} ({} of {} goals could not be solved)",
                self.bad, self.lines
            ))),
        }
    }
}

/// Limits the bytes of lines that are read and not yet answered.
#[derive(Default)]
struct Room {
    held: Mutex<usize>,
    given: Condvar,
}

impl Room {
    /// Waits until `bytes` more fit, and takes them. A line always fits if nothing else is held.
    fn take(&self, bytes: usize) {
        let held = self.held.lock().unwrap_or_else(|e| e.into_inner());
        let full = |held: &mut usize| *held > 0 && *held + bytes > MAX_HELD;
        let mut held = self.given.wait_while(held, full).unwrap_or_else(|e| e.into_inner());
        *held += bytes;
    }

    fn give(&self, bytes: usize) {
        *self.held.lock().unwrap_or_else(|e| e.into_inner()) -= bytes;
        self.given.notify_one();
    }
}

/// A line with its number from 1, or the error of reading it.
type Read = io::Result<(u64, Line)>;

/// Answers every line of `input`. Lines are answered as they arrive, so that a program may wait for an answer before it
/// sends the next goal.
pub fn run(backend: &dyn Backend, input: Input, out: &mut dyn Write, how: How) -> Result<Tally, Failure> {
    let (bytes, name) = (input.bytes, input.name.clone());
    let progress = Progress::new("solving", bytes.unwrap_or(0), bytes.is_none());
    let (send, receive) = mpsc::sync_channel::<Read>(2 * BATCH);
    let room = Arc::new(Room::default());
    // The reader ends with its input, or when the receiver is dropped.
    let readers_room = room.clone();
    thread::spawn(move || read(input, &send, &readers_room));
    let workers: Mutex<Vec<Box<dyn Worker + '_>>> = Mutex::new(Vec::new());
    let mut tally = Tally::default();
    let mut read = 0u64;
    let mut unreadable = None;
    while unreadable.is_none()
        && let Ok(first) = receive.recv()
    {
        // Lines before a read error are answered.
        let mut batch = Vec::new();
        let mut next = Some(first);
        while let Some(line) = next.take() {
            match line {
                Ok(line) => batch.push(line),
                Err(error) => unreadable = Some(error),
            }
            if batch.len() < BATCH && unreadable.is_none() {
                next = receive.try_recv().ok();
            }
        }
        let answers: Vec<(String, Option<String>)> = batch
            .par_iter()
            .map(|(number, line)| {
                let spare = workers.lock().map_or(None, |mut w| w.pop());
                let mut worker = spare.unwrap_or_else(|| backend.worker());
                let answered = one(&mut *worker, *number, line, how);
                if let Ok(mut workers) = workers.lock() {
                    workers.push(worker);
                }
                answered
            })
            .collect();
        for ((number, line), (text, error)) in batch.iter().zip(answers) {
            writeln!(out, "{text}")?;
            tally.lines += 1;
            if let Some(error) = error {
                tally.bad += 1;
                tally.first.get_or_insert((*number, error));
            }
            room.give(line.size());
            read += line.size() as u64 + 1;
        }
        out.flush()?;
        if let Some(bytes) = bytes {
            progress.at(read.min(bytes), bytes);
        }
    }
    match unreadable {
        Some(error) => Err(FileError::Io { path: name.into(), error }.into()),
        None => Ok(tally),
    }
}

/// Sends the lines that are not empty, until the input ends or fails.
fn read(mut input: Input, send: &mpsc::SyncSender<Read>, room: &Room) {
    while let Some(line) = input.next().transpose() {
        if let Ok((_, line)) = &line {
            room.take(line.size());
        }
        let failed = line.is_err();
        if send.send(line).is_err() || failed {
            return;
        }
    }
}

/// The answer to one line as JSON, and the error if there is one.
fn one(worker: &mut dyn Worker, number: u64, line: &Line, how: How) -> (String, Option<String>) {
    let (id, request) = match line.text() {
        Ok(text) => request::parse(text, how.memory_budget),
        Err(e) => (serde_json::Value::Null, Err(e)),
    };
    match request.and_then(|r| worker.solve(&r)).map_err(|e| tidy(&e)) {
        Ok(answer) => (answer::json(&id, &answer, how.timing).to_string(), None),
        Err(error) => (answer::json_error(&id, &format!("line {number}: {error}")).to_string(), Some(error)),
    }
}
