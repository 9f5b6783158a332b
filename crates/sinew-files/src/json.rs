//! JSON text into values, within a memory budget.

use serde_json::Value;
use thiserror::Error;

use crate::{
    budget::{Budget, OverBudget},
    text::tidy,
};

/// Why a text gives no JSON value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum JsonError {
    /// It is no JSON.
    #[error("not JSON: {} at line {line} column {column}", tidy(what))]
    Syntax {
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
        /// What is wrong.
        what: String,
    },
    /// It takes more memory than it may.
    #[error("{0}")]
    OverBudget(String),
}

impl From<OverBudget> for JsonError {
    fn from(error: OverBudget) -> Self {
        Self::OverBudget(error.to_string())
    }
}

/// Reads a JSON text whose values take `memory_budget` bytes at most; by default (none) 16 times the text, and 256 MiB at
/// least. More than 127 arrays or objects one in the other are an error.
pub fn read_json(text: &[u8], memory_budget: Option<u64>) -> Result<Value, JsonError> {
    read_within(text, &Budget::new(memory_budget, text.len()))
}

pub(crate) fn read_within(text: &[u8], budget: &Budget) -> Result<Value, JsonError> {
    budget.take(weight(text))?;
    // serde_json refuses more than 128 levels, so that no damage can exhaust the stack.
    serde_json::from_slice(text).map_err(|e| {
        let message = e.to_string();
        let what = message.split(" at line ").next().unwrap_or(&message).into();
        JsonError::Syntax { line: e.line(), column: e.column(), what }
    })
}

/// Bytes that the values of a text take. A value is 72 bytes and what it holds elsewhere: a number its digits (32 with the
/// allocator's own), a list up to twice its length, an object its table.
fn weight(text: &[u8]) -> u64 {
    const DEEPEST: u32 = 128;
    const VALUE: u64 = 104;
    const LIST: u64 = 288;
    const OBJECT: u64 = 400;
    const KEY: u64 = 80;
    let (mut weight, mut depth, mut in_string, mut escaped) = (VALUE + text.len() as u64, 0u32, false, false);
    for byte in text {
        if in_string {
            (in_string, escaped) = (escaped || *byte != b'"', !escaped && *byte == b'\\');
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b',' => weight += VALUE,
            b':' => weight += KEY,
            b'[' | b'{' => {
                depth += 1;
                // No further does the parser go.
                if depth > DEEPEST {
                    break;
                }
                weight += if *byte == b'[' { LIST } else { OBJECT };
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    weight
}
