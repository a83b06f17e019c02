//! What can go wrong, and when it shall.

mod kind;
mod rule;

pub use kind::Fault;
pub use rule::{Rule, Rules};
