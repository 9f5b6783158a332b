//! Checked look-ups in a JSON document, with the position for errors.

use std::path::Path;

use serde_json::Value;

use crate::{FileError, budget::Budget, text::shorten};

/// Value in a document, with its JSON path.
#[derive(Clone, Debug)]
pub(super) struct Place<'a> {
    file: &'a Path,
    at: String,
    value: &'a Value,
}

impl<'a> Place<'a> {
    /// The whole document.
    pub fn root(file: &'a Path, value: &'a Value) -> Self {
        Self { file, at: String::new(), value }
    }

    /// Counts `count` items of `each` bytes in the budget. An error is one of this value.
    pub fn take(&self, budget: &Budget, count: usize, each: usize) -> Result<(), FileError> {
        budget.take_all(count, each).map_err(|e| self.error(e.to_string()))
    }

    /// JSON path of the value.
    pub fn at(&self) -> &str {
        &self.at
    }

    /// The value itself.
    pub fn value(&self) -> &'a Value {
        self.value
    }

    /// An error of this value.
    pub fn error(&self, what: impl Into<String>) -> FileError {
        FileError::At { path: self.file.into(), at: self.at.clone(), what: what.into() }
    }

    /// The error for a value of another type.
    fn must_be(&self, what: &str) -> FileError {
        // Values may be long: a whole object, a data URI.
        let text: String = self.value.to_string().chars().take(40).collect();
        self.error(format!("it must be {what}, not {text}"))
    }

    /// The member `key` of an object; `None` if there is none.
    pub fn get(&self, key: &str) -> Option<Self> {
        let value = self.value.get(key)?;
        // Keys may be long.
        let name = shorten(key);
        let at = if self.at.is_empty() { name } else { format!("{}.{name}", self.at) };
        Some(Self { file: self.file, at, value })
    }

    /// The member `key` of an object; an error if it is missing.
    pub fn need(&self, key: &str) -> Result<Self, FileError> {
        self.get(key).ok_or_else(|| self.error(format!("`{key}` is missing")))
    }

    /// The element of an array; `None` out of range.
    pub fn element(&self, index: usize) -> Option<Self> {
        let value = self.value.get(index)?;
        Some(Self { file: self.file, at: format!("{}[{index}]", self.at), value })
    }

    /// The elements of the array `key`; empty if it is missing.
    pub fn list(&self, key: &str) -> Result<Vec<Self>, FileError> {
        let Some(list) = self.get(key) else { return Ok(Vec::new()) };
        let Some(array) = list.value.as_array() else { return Err(list.must_be("an array")) };
        Ok((0..array.len()).filter_map(|i| list.element(i)).collect())
    }

    /// The members of the object `key`; empty if it is missing.
    pub fn members(&self, key: &str) -> Result<Vec<(&'a str, Self)>, FileError> {
        let Some(object) = self.get(key) else { return Ok(Vec::new()) };
        let Some(map) = object.value.as_object() else { return Err(object.must_be("an object")) };
        Ok(map.keys().filter_map(|k| Some((k.as_str(), object.get(k)?))).collect())
    }

    /// The value as an unsigned integer. `3.0` is accepted, as some JSON writers write it.
    pub fn unsigned(&self) -> Result<u64, FileError> {
        if let Some(whole) = self.value.as_u64() {
            return Ok(whole);
        }
        // Up to 2^53, f64 holds every integer.
        match self.value.as_f64() {
            Some(x) if (0.0..=9_007_199_254_740_992.0).contains(&x) && x.fract() == 0.0 => Ok(x as u64),
            _ => Err(self.must_be("an integer of 0 or more")),
        }
    }

    /// The value as an index. A number that no usize holds becomes the largest usize, which is out of range.
    pub fn index(&self) -> Result<usize, FileError> {
        Ok(usize::try_from(self.unsigned()?).unwrap_or(usize::MAX))
    }

    /// The unsigned integer `key`; `otherwise` if it is missing.
    pub fn unsigned_or(&self, key: &str, otherwise: u64) -> Result<u64, FileError> {
        self.get(key).map_or(Ok(otherwise), |p| p.unsigned())
    }

    /// The value as a string.
    pub fn text(&self) -> Result<&'a str, FileError> {
        self.value.as_str().ok_or_else(|| self.must_be("a string"))
    }

    /// The string `key`; `None` if it is missing or no string.
    pub fn maybe_text(&self, key: &str) -> Option<&'a str> {
        self.value.get(key)?.as_str()
    }

    /// The value as an array of `N` numbers within f32's range.
    pub fn numbers<const N: usize>(&self) -> Result<[f64; N], FileError> {
        let array = self.value.as_array().filter(|a| a.len() == N);
        let array = array.ok_or_else(|| self.must_be(&format!("an array of {N} numbers")))?;
        let mut numbers = [0.0; N];
        for (number, value) in numbers.iter_mut().zip(array) {
            *number = (value.as_f64())
                .filter(|x| x.abs() <= f64::from(f32::MAX))
                .ok_or_else(|| self.must_be(&format!("an array of {N} finite numbers")))?;
        }
        Ok(numbers)
    }

    /// The array of numbers `key`; `otherwise` if it is missing.
    pub fn numbers_or<const N: usize>(&self, key: &str, otherwise: [f64; N]) -> Result<[f64; N], FileError> {
        self.get(key).map_or(Ok(otherwise), |p| p.numbers())
    }

    /// The element of the array `list` of `owner` (usually the document) with the index that this value holds.
    pub fn follow(&self, owner: &Place<'a>, list: &str) -> Result<Place<'a>, FileError> {
        let index = self.index()?;
        let all = owner.get(list);
        all.as_ref().and_then(|l| l.element(index)).ok_or_else(|| {
            let count = all.and_then(|l| l.value.as_array().map(Vec::len)).unwrap_or(0);
            self.error(format!("there is no {list}[{}]: there are {count}, from 0", self.value))
        })
    }
}
