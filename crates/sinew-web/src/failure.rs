//! Errors of the engine as JavaScript's.

use core::fmt::Display;

use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    type Error;
    #[wasm_bindgen(constructor)]
    fn new(message: &str) -> Error;
    #[wasm_bindgen(method, setter)]
    fn set_name(this: &Error, name: &str);
}

/// An error with the engine's words, whose name is the kind of a `SinewError`.
pub(crate) fn failure(kind: &str, message: impl Display) -> JsValue {
    let error = Error::new(&message.to_string());
    error.set_name(kind);
    error.into()
}

/// An error of a solve.
pub(crate) fn solving(error: impl Display) -> JsValue {
    failure("solve", error)
}

/// An error of what a solver or a skeleton is made from.
pub(crate) fn making(error: impl Display) -> JsValue {
    failure("input", error)
}
