//! The servers.

mod backend;
mod lists;
mod message;
mod origin;
mod reply;
mod running;
mod writes;

pub use message::{Head, get};
pub use origin::{Etags, Origin};
pub use running::Server;
