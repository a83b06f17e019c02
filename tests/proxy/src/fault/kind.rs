//! The faults.

use serde::Deserialize;

/// What goes wrong with an answer.
///
/// Some faults need an answer of a kind, as a wrong `Content-Range` needs a 206. To other answers they are not applied,
/// and neither the log nor the counts show them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The answer waits so much longer.
    Latency {
        /// In milliseconds.
        ms: u64,
    },
    /// The body of this answer comes slowly.
    Slow {
        /// Its speed.
        bits_per_second: u64,
    },
    /// The request is read, then nothing happens, and the connection stays open.
    NoAnswer,
    /// The head and a part of the body, then nothing, and the connection stays open.
    ///
    /// Here and in [`Fault::Reset`] and [`Fault::Short`], a body that is no longer than `after` lacks its last byte, and
    /// an answer without a body does not come.
    Stall {
        /// Bytes of the body that come.
        after: u64,
    },
    /// The head and a part of the body, then a reset of the connection.
    Reset {
        /// Bytes of the body that come before it.
        after: u64,
    },
    /// A part of the body of the request is read, then the connection is reset. The request takes no effect.
    ResetUpload {
        /// Bytes of the request's body that are read.
        after: u64,
    },
    /// The head and a part of the body, then the connection ends in good order, before the promised length.
    Short {
        /// Bytes of the body that come.
        after: u64,
    },
    /// 503 with `Retry-After`.
    Unavailable {
        /// What that field says.
        retry_after_seconds: u64,
    },
    /// 503 with the error `SlowDown` in S3's XML.
    SlowDown,
    /// 409 with the error `ConditionalRequestConflict` in S3's XML.
    Conflict,
    /// 403 with the error `AccessDenied` in S3's XML.
    Forbidden,
    /// This status, with an empty body.
    Status(u16),
    /// The request takes effect, but its answer is lost: the connection ends.
    Lost,
    /// The right bytes, under the `Content-Range` of the bytes behind them.
    WrongContentRange,
    /// The right head, with other bytes of the object: those that lie `shift` bytes behind, or else before, the ones
    /// asked for. A whole object has no other bytes; the fault is not applied to it.
    WrongBytes {
        /// How far away.
        shift: u64,
    },
    /// Another `ETag`, always the same one.
    ChangedEtag,
    /// Another length of the whole object: in `Content-Range`, and as the `Content-Length` of `HEAD`.
    OtherLength {
        /// What is added to the true length.
        more: i64,
    },
    /// One bit of the body is flipped.
    FlippedByte {
        /// The byte, counted in the body, and from its start again if the body is shorter.
        at: u64,
    },
    /// 200 and the whole object, although a range was asked for.
    WholeObject,
    /// 200 and an HTML page, as of a portal that asks for a password.
    Html,
    /// 302 to the same address.
    RedirectLoop,
    /// 302 to the same path of another server.
    Redirect(
        /// Its URL, without a slash behind it.
        String,
    ),
    /// `Content-Encoding: gzip` with a body that is none.
    GzipGarbage,
    /// The body compressed with gzip, and marked so, although nobody asked for it.
    Gzipped,
    /// 200 with a chunked body that never ends.
    Endless,
    /// A huge `Content-Length`, the true body, and zeros behind it that never end.
    HugeLength(u64),
    /// Bytes that are no HTTP, then the end of the connection.
    NotHttp,
}
