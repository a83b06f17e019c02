//! Frames that are pictures in a column of a Parquet file.

use serde::{Deserialize, Serialize};

/// The frames of a clip: the pictures of a column in these rows of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PictureColumn {
    /// The name of the column, which has the bytes of a JPEG or PNG file in each row.
    pub name: String,
    /// The first row.
    pub first: u64,
    /// The number of rows.
    pub count: u32,
    /// Frames per second.
    pub fps: f64,
}
