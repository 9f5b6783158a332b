//! Parsing of JSON within a memory budget.

use serde_json::Value;
use thiserror::Error;

use crate::{
    budget::{Budget, OverBudget},
    text::tidy,
};

/// Error of parsing JSON.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum JsonError {
    /// The text is not JSON.
    #[error("not JSON: {} at line {line} column {column}", tidy(what))]
    Syntax {
        /// Line, counted from 1.
        line: usize,
        /// Column, counted from 1.
        column: usize,
        /// Description of the error.
        what: String,
    },
    /// The values take more memory than the budget.
    #[error("{0}")]
    OverBudget(String),
}

impl From<OverBudget> for JsonError {
    fn from(error: OverBudget) -> Self {
        Self::OverBudget(error.to_string())
    }
}

/// Parses JSON text whose values take at most `memory_budget` bytes; `None` is 16 times the text, and at least 256 MiB.
///
/// # Errors
/// Text that is not JSON, that exceeds the budget, or that nests arrays and objects more than 127 deep.
pub fn read_json(text: &[u8], memory_budget: Option<u64>) -> Result<Value, JsonError> {
    read_within(text, &Budget::new(memory_budget, text.len()))
}

pub(crate) fn read_within(text: &[u8], budget: &Budget) -> Result<Value, JsonError> {
    budget.take(weight(text))?;
    // serde_json refuses more than 128 levels, so that no file can exhaust the stack.
    serde_json::from_slice(text).map_err(|e| {
        let message = e.to_string();
        let what = message.split(" at line ").next().unwrap_or(&message).into();
        JsonError::Syntax { line: e.line(), column: e.column(), what }
    })
}

/// Upper bound of the bytes that the values of a text take. A value is 72 bytes and its heap memory: the digits of a number
/// (32 bytes with the allocator's overhead), up to twice a list's length, an object's table.
fn weight(text: &[u8]) -> u64 {
    const MAX_DEPTH: u32 = 128;
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
                // The parser stops here.
                if depth > MAX_DEPTH {
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
