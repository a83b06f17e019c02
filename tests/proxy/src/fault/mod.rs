//! What can go wrong, and when it shall.

mod chance;
mod kind;
mod rule;
mod words;

pub use kind::Fault;
pub use rule::{Rule, Rules};
