//! Solvers, one file each. They know nothing of clips, files or drawing.
