//! The servers.

mod backend;
mod connection;
mod lists;
mod origin;
mod proxy;
mod reply;
mod running;
mod writes;

pub use origin::{Etags, Origin};
pub use proxy::Proxy;
pub use running::Server;
