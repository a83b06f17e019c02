//! HTTP/1.1 on a socket: heads, and the bodies behind them.

mod body;
mod head;
mod range;
mod socket;

pub use body::{Body, Framing};
pub use head::{Answer, Fields, Request};
pub use range::{asked, sent};
pub use socket::Socket;

/// The text that a percent-encoded one stands for.
pub fn percent_decoded(text: &str) -> Option<String> {
    percent_encoding::percent_decode_str(text).decode_utf8().ok().map(Into::into)
}
