//! Grounds that need no file: stairs, a slope, rough ground.
