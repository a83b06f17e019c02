//! HTTP/1.1 on a socket: heads, and the bodies behind them.

mod body;
mod date;
mod head;
mod percent;
mod range;
mod socket;

pub use body::{Body, Framing};
pub use date::http_date;
pub use head::{Answer, Fields, Request};
pub use percent::percent_decoded;
pub use range::{asked, sent};
pub use socket::Socket;
