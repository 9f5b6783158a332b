//! Goals line by line, on all cores, answers in the same order.

use std::{
    io::{self, BufRead, Write},
    sync::{Mutex, mpsc},
    thread,
};

use rayon::prelude::*;
use sinew_files::tidy;

use super::{Backend, Worker, answer, request};
use crate::{failure::Failure, progress::Progress};

/// Lines that are worked on at once: enough that the cores seldom wait for each other, few enough to hold.
const BATCH: usize = 4096;

/// What holds for all lines.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Whether answers say how long they took.
    pub timing: bool,
    /// Bytes that the values of a line may take; none for what suits its length.
    pub memory_budget: Option<u64>,
}

/// How it went.
#[derive(Default)]
pub struct Tally {
    lines: u64,
    bad: u64,
    /// Number of the first bad line, and what is wrong with it.
    first: Option<(u64, String)>,
}

impl Tally {
    /// The failure at the end of a run with bad lines.
    pub fn check(self, name: &str) -> Result<(), Failure> {
        match self.first {
            None => Ok(()),
            Some((line, error)) => Err(Failure::Work(format!(
                "{name}:{line}: {error} ({} of {} goals could not be worked with)",
                self.bad, self.lines
            ))),
        }
    }
}

/// Answers every line of `input`. Lines are taken as they come, so that a program may wait for
/// an answer before it asks again.
pub fn run(
    backend: &dyn Backend,
    input: Box<dyn BufRead + Send>,
    bytes: Option<u64>,
    out: &mut dyn Write,
    how: How,
) -> Result<Tally, Failure> {
    let progress = Progress::new("solving", bytes.unwrap_or(0), bytes.is_none());
    let (send, receive) = mpsc::sync_channel::<io::Result<(u64, Vec<u8>)>>(2 * BATCH);
    // It ends with its input, or when nobody receives any more.
    thread::spawn(move || read(input, &send));
    let workers: Mutex<Vec<Box<dyn Worker + '_>>> = Mutex::new(Vec::new());
    let mut tally = Tally::default();
    let mut read = 0u64;
    while let Ok(first) = receive.recv() {
        let mut batch = vec![first?];
        while batch.len() < BATCH
            && let Ok(line) = receive.try_recv()
        {
            batch.push(line?);
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
            read += line.len() as u64 + 1;
        }
        out.flush()?;
        if let Some(bytes) = bytes {
            progress.at(read.min(bytes), bytes);
        }
    }
    Ok(tally)
}

/// Sends the lines that hold anything, with their numbers from 1.
fn read(mut input: Box<dyn BufRead + Send>, send: &mpsc::SyncSender<io::Result<(u64, Vec<u8>)>>) {
    for number in 1.. {
        let mut line = Vec::new();
        let sent = match input.read_until(b'\n', &mut line) {
            Ok(0) => return,
            Ok(_) if line.trim_ascii().is_empty() => Ok(()),
            Ok(_) => send.send(Ok((number, line))),
            Err(e) => {
                let _ = send.send(Err(e));
                return;
            }
        };
        if sent.is_err() {
            return;
        }
    }
}

/// The answer to one line, and what is wrong with it.
fn one(worker: &mut dyn Worker, number: u64, line: &[u8], how: How) -> (String, Option<String>) {
    let text = std::str::from_utf8(line).map_err(|e| format!("not UTF-8: {e}"));
    let (id, request) = match text {
        Ok(text) => request::parse(text.trim(), how.memory_budget),
        Err(e) => (serde_json::Value::Null, Err(e)),
    };
    match request.and_then(|r| worker.solve(&r)).map_err(|e| tidy(&e)) {
        Ok(answer) => (answer::json(&id, &answer, how.timing).to_string(), None),
        Err(error) => (answer::json_error(&id, &format!("line {number}: {error}")).to_string(), Some(error)),
    }
}
