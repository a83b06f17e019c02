//! The servers.

mod backend;
mod lists;
mod origin;
mod proxy;
mod reply;
mod running;
mod send;
mod shared;
mod turn;
mod writes;

pub use origin::{Etags, Origin};
pub use proxy::Proxy;
pub use running::Server;
