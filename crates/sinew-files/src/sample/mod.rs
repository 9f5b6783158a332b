//! The sample character, made by code.
