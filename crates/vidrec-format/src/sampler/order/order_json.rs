//! An order as JSON.

use serde::{Deserialize, Serialize};

/// The JSON of an order that can be read.
#[derive(Deserialize)]
#[serde(rename = "Order", deny_unknown_fields)]
pub(super) enum OrderJson {
    Sequential,
    Shuffled,
    Blocks {
        #[serde(default = "block")]
        block: u32,
        #[serde(default = "window")]
        window: u32,
    },
    Homes {
        #[serde(default)]
        homes: Option<u32>,
        #[serde(default = "exchange")]
        exchange: f64,
        #[serde(default = "block")]
        block: u32,
        #[serde(default = "window")]
        window: u32,
    },
    Given(Vec<u64>),
    Weighted {
        weights: Vec<f64>,
    },
}

/// The default number of neighbors in a block.
fn block() -> u32 {
    64
}

/// The default number of blocks that are mixed.
fn window() -> u32 {
    8
}

fn exchange() -> f64 {
    1.0
}

/// The JSON of an order that is written.
#[derive(Serialize)]
#[serde(rename = "Order")]
pub(super) enum Written {
    Sequential,
    Shuffled,
    Blocks { block: u32, window: u32 },
    Homes { homes: Option<u32>, exchange: f64, block: u32, window: u32 },
    Given { samples: usize, digest: String },
    Weighted { samples: u64, digest: String },
    Mixed { shares: String },
}
