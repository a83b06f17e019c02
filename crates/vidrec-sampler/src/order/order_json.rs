//! An order as JSON.

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use super::{Order, Weights};
use vidrec_format::error::Error;

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
pub(super) fn block() -> u32 {
    64
}

/// The default number of blocks that are mixed.
pub(super) fn window() -> u32 {
    8
}

fn exchange() -> f64 {
    1.0
}

impl TryFrom<OrderJson> for Order {
    type Error = Error;

    fn try_from(json: OrderJson) -> Result<Self, Error> {
        Ok(match json {
            OrderJson::Sequential => Order::Sequential,
            OrderJson::Shuffled => Order::Shuffled,
            OrderJson::Blocks { block, window } => Order::Blocks { block, window },
            OrderJson::Homes { homes, exchange, block, window } => Order::Homes { homes, exchange, block, window },
            OrderJson::Given(samples) => Order::Given(samples.into()),
            OrderJson::Weighted { weights } => Order::Weighted(Arc::new(Weights::new(&weights)?)),
        })
    }
}

/// The JSON of an order that is written.
#[derive(Serialize)]
#[serde(rename = "Order")]
enum Written {
    Sequential,
    Shuffled,
    Blocks { block: u32, window: u32 },
    Homes { homes: Option<u32>, exchange: f64, block: u32, window: u32 },
    Given { samples: usize, digest: String },
    Weighted { samples: u64, digest: String },
    Mixed { shares: String },
}

impl Serialize for Order {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = match self {
            Order::Sequential => Written::Sequential,
            Order::Shuffled => Written::Shuffled,
            &Order::Blocks { block, window } => Written::Blocks { block, window },
            &Order::Homes { homes, exchange, block, window } => Written::Homes { homes, exchange, block, window },
            Order::Given(list) => {
                let mut digest = crc32fast::Hasher::new();
                list.iter().for_each(|sample| digest.update(&sample.to_le_bytes()));
                Written::Given { samples: list.len(), digest: format!("{:08x}", digest.finalize()) }
            }
            Order::Weighted(weights) => {
                Written::Weighted { samples: weights.len(), digest: format!("{:08x}", weights.digest()) }
            }
            Order::Mixed(mixed) => Written::Mixed { shares: mixed.describe(u64::MAX) },
        };
        written.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_is_written() {
        let homes = Order::Homes { homes: Some(3), exchange: 0.5, block: 4, window: 2 };
        for order in [Order::Sequential, Order::Shuffled, Order::Blocks { block: 4, window: 2 }, homes] {
            let json = serde_json::to_string(&order).unwrap();
            assert_eq!(serde_json::from_str::<Order>(&json).unwrap(), order, "{json}");
        }
        let read = |json| serde_json::from_str::<Order>(json).map_err(|e| e.to_string());
        assert_eq!(read(r#"{"Blocks": {}}"#), Ok(Order::Blocks { block: 64, window: 8 }));
        assert_eq!(read(r#"{"Homes": {}}"#), Ok("homes".parse().unwrap()));
        assert_eq!(read(r#"{"Given": [3, 0, 3]}"#), Ok(Order::Given([3, 0, 3].into())));
        let weights = Order::Weighted(Arc::new(Weights::new(&[1.0, 3.0]).unwrap()));
        assert_eq!(read(r#"{"Weighted": {"weights": [2, 6]}}"#), Ok(weights));
        assert!(read(r#"{"Weighted": {"weights": [-1]}}"#).unwrap_err().contains("weight"));
        assert!(read(r#"{"Blocks": {"blok": 3}}"#).unwrap_err().contains("blok"));
    }

    #[test]
    fn long_orders_are_written_as_their_digest() {
        let written = |order: Order| serde_json::to_string(&order).unwrap();
        let given = |list: &[u64]| written(Order::Given(list.into()));
        assert_eq!(given(&[1, 2]), given(&[1, 2]));
        assert_ne!(given(&[1, 2]), given(&[2, 1]));
        let weighted = |list: &[f64]| written(Order::Weighted(Arc::new(Weights::new(list).unwrap())));
        assert_eq!(weighted(&[1.0, 3.0]), weighted(&[2.0, 6.0]), "weights are in any unit");
        assert_ne!(weighted(&[1.0, 3.0]), weighted(&[1.0, 2.0]));
    }
}
