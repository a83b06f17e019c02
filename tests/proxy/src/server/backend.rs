//! Where answers come from.

use std::io;

use futures_util::future::BoxFuture;

use crate::message::{Answer, Head, Upload};

pub trait Backend: Send + Sync {
    /// The true answer to a request.
    fn answer<'a>(&'a self, head: &'a Head, upload: Upload) -> BoxFuture<'a, io::Result<Answer>>;
}
