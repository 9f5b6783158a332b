//! Checked look-ups in a JSON document that know where they stand.

use std::path::Path;

use serde_json::Value;

use crate::{FileError, budget::Budget, text::shorten};

/// A value in a document, with its JSON path for errors.
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

    /// Takes what is about to be made for this place out of the budget.
    pub fn take(&self, budget: &Budget, count: usize, each: usize) -> Result<(), FileError> {
        budget.take_all(count, each).map_err(|e| self.error(e.to_string()))
    }

    /// The JSON path.
    pub fn at(&self) -> &str {
        &self.at
    }

    /// The value itself.
    pub fn value(&self) -> &'a Value {
        self.value
    }

    /// An error at this place.
    pub fn error(&self, what: impl Into<String>) -> FileError {
        FileError::At { path: self.file.into(), at: self.at.clone(), what: what.into() }
    }

    fn wants(&self, what: &str) -> FileError {
        // A long value (a whole object, a data URI) would drown the message.
        let text: String = self.value.to_string().chars().take(40).collect();
        self.error(format!("{what} is wanted, not {text}"))
    }

    /// The member `key` of an object; none where there is no such member.
    pub fn get(&self, key: &str) -> Option<Self> {
        let value = self.value.get(key)?;
        // (A key may be of any length.)
        let name = shorten(key);
        let at = if self.at.is_empty() { name } else { format!("{}.{name}", self.at) };
        Some(Self { file: self.file, at, value })
    }

    /// The member `key`, or an error that says it is missing.
    pub fn need(&self, key: &str) -> Result<Self, FileError> {
        self.get(key).ok_or_else(|| self.error(format!("`{key}` is missing")))
    }

    /// Element `index` of an array.
    pub fn element(&self, index: usize) -> Option<Self> {
        let value = self.value.get(index)?;
        Some(Self { file: self.file, at: format!("{}[{index}]", self.at), value })
    }

    /// The elements of the array `key`; no elements where it is missing.
    pub fn list(&self, key: &str) -> Result<Vec<Self>, FileError> {
        let Some(list) = self.get(key) else { return Ok(Vec::new()) };
        let Some(array) = list.value.as_array() else { return Err(list.wants("an array")) };
        Ok((0..array.len()).filter_map(|i| list.element(i)).collect())
    }

    /// The members of the object `key`; no members where it is missing.
    pub fn members(&self, key: &str) -> Result<Vec<(&'a str, Self)>, FileError> {
        let Some(object) = self.get(key) else { return Ok(Vec::new()) };
        let Some(map) = object.value.as_object() else { return Err(object.wants("an object")) };
        Ok(map.keys().filter_map(|k| Some((k.as_str(), object.get(k)?))).collect())
    }

    /// A whole number that is not negative. `3.0` counts, as JSON writers of some languages make it.
    pub fn unsigned(&self) -> Result<u64, FileError> {
        if let Some(whole) = self.value.as_u64() {
            return Ok(whole);
        }
        // Up to 2^53 a double holds every whole number.
        match self.value.as_f64() {
            Some(x) if (0.0..=9_007_199_254_740_992.0).contains(&x) && x.fract() == 0.0 => Ok(x as u64),
            _ => Err(self.wants("a whole number from 0 up")),
        }
    }

    /// A whole number as an index into something; one that no memory could hold stays out of range.
    pub fn index(&self) -> Result<usize, FileError> {
        Ok(usize::try_from(self.unsigned()?).unwrap_or(usize::MAX))
    }

    /// The number `key`, or `otherwise` where it is missing.
    pub fn unsigned_or(&self, key: &str, otherwise: u64) -> Result<u64, FileError> {
        self.get(key).map_or(Ok(otherwise), |p| p.unsigned())
    }

    /// A text.
    pub fn text(&self) -> Result<&'a str, FileError> {
        self.value.as_str().ok_or_else(|| self.wants("a text"))
    }

    /// The text `key`; none where it is missing or is not a text.
    pub fn maybe_text(&self, key: &str) -> Option<&'a str> {
        self.value.get(key)?.as_str()
    }

    /// An array of `N` finite numbers.
    pub fn numbers<const N: usize>(&self) -> Result<[f64; N], FileError> {
        let array = self.value.as_array().filter(|a| a.len() == N);
        let array = array.ok_or_else(|| self.wants(&format!("an array of {N} numbers")))?;
        let mut numbers = [0.0; N];
        for (number, value) in numbers.iter_mut().zip(array) {
            // What does not fit an f32 is no place in a scene, whatever JSON allows.
            *number = (value.as_f64())
                .filter(|x| x.abs() <= f64::from(f32::MAX))
                .ok_or_else(|| self.wants(&format!("an array of {N} finite numbers")))?;
        }
        Ok(numbers)
    }

    /// The array of numbers `key`, or `otherwise` where it is missing.
    pub fn numbers_or<const N: usize>(&self, key: &str, otherwise: [f64; N]) -> Result<[f64; N], FileError> {
        self.get(key).map_or(Ok(otherwise), |p| p.numbers())
    }

    /// The element of the array `list` of `owner` (the document, mostly) that the index at this place names.
    pub fn follow(&self, owner: &Place<'a>, list: &str) -> Result<Place<'a>, FileError> {
        let index = self.index()?;
        let all = owner.get(list);
        all.as_ref().and_then(|l| l.element(index)).ok_or_else(|| {
            let count = all.and_then(|l| l.value.as_array().map(Vec::len)).unwrap_or(0);
            self.error(format!("names {list}[{}], but there are {count}", self.value))
        })
    }
}
