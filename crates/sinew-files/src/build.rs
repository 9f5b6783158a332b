//! glTF documents from scratch.
