//! The answer to a request of the page.

use serde::Serialize;

use crate::{Error, Result};

/// The answer to a request.
pub struct Answer {
    /// The media type.
    pub kind: &'static str,
    /// The contents.
    pub bytes: Vec<u8>,
}

impl Answer {
    pub(super) fn json(value: &impl Serialize) -> Result<Self> {
        let bytes = serde_json::to_vec(value).map_err(|e| Error::internal(format!("this is not JSON: {e}")))?;
        Ok(Answer { kind: "application/json", bytes })
    }
}
