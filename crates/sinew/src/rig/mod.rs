//! Which joint plays which role in a body.
