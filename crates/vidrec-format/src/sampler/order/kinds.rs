//! The kinds of order, an order in one epoch, and an order as JSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::mix::check_blocks;
use super::{Blocks, Homes, Mixed, Permutation, Weights};
use crate::error::{Error, Result};

/// The order in which the samples of a loader come.
///
/// ```
/// use vidrec::order::Order;
///
/// let order = Order::Blocks { block: 100, window: 4 }.epoch(1000, 7, 0)?;
/// let mut samples: Vec<u64> = (0..order.len()).map(|i| order.get(i).unwrap()).collect();
/// samples.sort_unstable();
/// assert!(samples.into_iter().eq(0..1000));
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// As a word (`Display`): `sequential`, `shuffled`, `blocks`, `homes`, `given`, `weighted` or `mix`.
/// As JSON (serde): the name of the variant, with its fields if it has any, such as
/// `{"Blocks": {"block": 64, "window": 8}}`. [`Order::List`] reads a list of samples, and [`Order::Weighted`] a list
/// of `weights`. Both are written as their digest, which is short and enough to compare two orders. So is a mix,
/// which cannot be read.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, strum::Display)]
#[serde(deny_unknown_fields)]
#[strum(serialize_all = "lowercase")]
#[non_exhaustive]
pub enum Order {
    /// As stored, the same in each epoch. The default.
    #[default]
    Sequential,
    /// An exact shuffle of all samples, new in each epoch: [`Permutation`].
    Shuffled,
    /// Blocks of neighbors in a new order each epoch, shuffled within a window of blocks: [`Blocks`].
    ///
    /// This is for disks that read much faster in sequence than at random. It mixes less than [`Order::Shuffled`].
    Blocks {
        /// The number of adjacent samples in a block, at least 1.
        #[serde(default = "block")]
        block: u32,
        /// The number of blocks whose samples are mixed, at least 1.
        #[serde(default = "window")]
        window: u32,
    },
    /// Blocks of neighbors with a home for each block, among nodes that keep what they read. A given fraction of
    /// the blocks changes homes each epoch: [`Homes`].
    ///
    /// This is for clusters. Use a home for each node, and a cache that holds a little more than its share of the
    /// data. From the second epoch on, a node then downloads only what was exchanged. Without a cache, each node
    /// still downloads only its share. [`Ranks::by_homes`](super::Ranks::by_homes) says which rank reads which
    /// home. Within a home, it mixes as [`Order::Blocks`]. With buckets (`Batching`), ranks share batches without regard to
    /// homes.
    Homes {
        /// The number of homes, at least 1. `None`: one for each rank of the loader (`world_size`), or the number
        /// in the state from which it resumes. Use the number of nodes if the ranks of a node share a cache.
        #[serde(default)]
        homes: Option<u32>,
        /// The fraction of the blocks that may change homes for an epoch after the first, from 0 to 1. With 1, all
        /// blocks are dealt again. With 0, each home has the same samples in every epoch.
        #[serde(default = "exchange")]
        exchange: f64,
        /// The number of adjacent samples in a block, at least 1.
        #[serde(default = "block")]
        block: u32,
        /// The number of blocks of a home whose samples are mixed, at least 1.
        #[serde(default = "window")]
        window: u32,
    },
    /// Explicit samples, in the same order in each epoch. A sample may be missing, or occur several times and then
    /// get another crop each time.
    ///
    /// A sample is the ordinal of a clip, unless the loader takes several views of a clip: see `Frames`.
    #[serde(serialize_with = "write_list", deserialize_with = "read_list")]
    List(Arc<[u64]>),
    /// Draws *with replacement*, as many as there are samples. A sample may come several times in an epoch, each
    /// time with another crop, or never.
    #[serde(serialize_with = "write_weighted", deserialize_with = "read_weighted")]
    Weighted(Arc<Weights>),
    /// Samples of several sources by quotas: [`Mixed`], which has a seed of its own. `Loader::mix` creates it.
    #[serde(skip_deserializing, serialize_with = "write_mixed")]
    #[strum(serialize = "mix")]
    #[doc(hidden)]
    Mixed(Arc<Mixed>),
}

impl Order {
    /// The number of homes, if the order has homes and their number is given.
    #[doc(hidden)]
    pub fn homes(&self) -> Option<u32> {
        if let Order::Homes { homes, .. } = self { *homes } else { None }
    }

    /// Returns the order with this number of homes, if it has homes and their number is not given.
    #[doc(hidden)]
    pub fn with_default_homes(self, default: u32) -> Self {
        match self {
            Order::Homes { homes: None, exchange, block, window } => {
                Order::Homes { homes: Some(default), exchange, block, window }
            }
            order => order,
        }
    }

    /// The order of `n` samples in `epoch` under `seed`. The cost does not depend on `n`, except that
    /// [`Order::List`] searches its list.
    ///
    /// # Errors
    ///
    /// Homes, a block or a window of 0; homes whose number is not given; an exchange outside 0 to 1; a list with a
    /// sample that does not exist; or weights for another number of samples.
    #[doc(hidden)]
    pub fn epoch(&self, n: u64, seed: u64, epoch: u64) -> Result<EpochOrder> {
        self.check(n)?;
        Ok(self.proven(n, seed, epoch))
    }

    /// Returns an error where [`epoch`](Self::epoch) does.
    #[doc(hidden)]
    pub fn check(&self, n: u64) -> Result<()> {
        match self {
            Order::Blocks { block, window } => check_blocks(*block, *window),
            Order::Homes { homes, exchange, block, window } => {
                if homes.is_none_or(|homes| homes == 0) {
                    let e = Error::usage("order homes: the number of homes is out of range").expected("1 or more");
                    return Err(e.found(homes.map_or("none", |_| "0")));
                }
                if !(0.0..=1.0).contains(exchange) {
                    return Err(Error::usage("order homes: exchange is out of range")
                        .expected("0 to 1")
                        .found(exchange));
                }
                check_blocks(*block, *window)
            }
            Order::List(list) => match list.iter().find(|&&sample| sample >= n) {
                Some(sample) => {
                    Err(Error::usage(format!("the order names sample {sample}")).expected(format!("less than {n}")))
                }
                None => Ok(()),
            },
            Order::Weighted(weights) if weights.len() != n => {
                Err(Error::usage("the number of weights is not the number of samples").expected(n).found(weights.len()))
            }
            Order::Mixed(mixed) if mixed.samples() != n => {
                Err(Error::usage("the mix has a different number of samples").expected(n).found(mixed.samples()))
            }
            _ => Ok(()),
        }
    }

    /// The order of an epoch, as [`epoch`](Self::epoch), for arguments that [`check`](Self::check) accepted.
    #[doc(hidden)]
    pub fn proven(&self, n: u64, seed: u64, epoch: u64) -> EpochOrder {
        EpochOrder(match self {
            Order::Sequential => Kind::Sequential(n),
            Order::Shuffled => Kind::Shuffled(Permutation::new(n, seed, epoch)),
            Order::Blocks { block, window } => Kind::Blocks(Blocks::new(n, *block, *window, seed, epoch)),
            Order::Homes { homes, exchange, block, window } => {
                Kind::Homes(Homes::new(n, homes.unwrap_or(1), *exchange, *block, *window, seed, epoch))
            }
            Order::List(list) => Kind::List(list.clone()),
            Order::Weighted(weights) => Kind::Weighted { weights: weights.clone(), seed, epoch },
            Order::Mixed(mixed) => Kind::Mixed { mixed: mixed.clone(), epoch },
        })
    }
}

/// The summary of a long list, which is enough to compare two orders.
#[derive(Serialize)]
struct Digest {
    samples: u64,
    digest: String,
}

fn write_list<S: Serializer>(list: &Arc<[u64]>, to: S) -> std::result::Result<S::Ok, S::Error> {
    let mut digest = crc32fast::Hasher::new();
    list.iter().for_each(|sample| digest.update(&sample.to_le_bytes()));
    Digest { samples: list.len() as u64, digest: format!("{:08x}", digest.finalize()) }.serialize(to)
}

fn write_weighted<S: Serializer>(weights: &Arc<Weights>, to: S) -> std::result::Result<S::Ok, S::Error> {
    Digest { samples: weights.len(), digest: format!("{:08x}", weights.digest()) }.serialize(to)
}

fn write_mixed<S: Serializer>(mixed: &Arc<Mixed>, to: S) -> std::result::Result<S::Ok, S::Error> {
    BTreeMap::from([("shares", mixed.describe(u64::MAX))]).serialize(to)
}

fn read_list<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Arc<[u64]>, D::Error> {
    Vec::deserialize(from).map(Arc::from)
}

fn read_weighted<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Arc<Weights>, D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct WeightsJson {
        weights: Vec<f64>,
    }
    Weights::new(&WeightsJson::deserialize(from)?.weights).map(Arc::new).map_err(D::Error::custom)
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

/// An [`Order`] in one epoch: a function from positions to samples.
#[derive(Debug, Clone)]
pub struct EpochOrder(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Sequential(u64),
    Shuffled(Permutation),
    Blocks(Blocks),
    Homes(Homes),
    List(Arc<[u64]>),
    Weighted { weights: Arc<Weights>, seed: u64, epoch: u64 },
    Mixed { mixed: Arc<Mixed>, epoch: u64 },
}

impl EpochOrder {
    /// The number of positions in the epoch.
    pub fn len(&self) -> u64 {
        match &self.0 {
            Kind::Sequential(n) => *n,
            Kind::Shuffled(permutation) => permutation.len(),
            Kind::Blocks(blocks) => blocks.len(),
            Kind::Homes(homes) => homes.len(),
            Kind::List(list) => list.len() as u64,
            Kind::Weighted { weights, .. } => weights.len(),
            Kind::Mixed { mixed, .. } => mixed.samples_per_epoch(),
        }
    }

    /// Whether the epoch has no positions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a sample may come more than once.
    pub fn repeats(&self) -> bool {
        matches!(self.0, Kind::List(_) | Kind::Weighted { .. })
    }

    /// The sample at `position` and, in a mix, the round through its source. `None` past the end.
    pub fn drawn(&self, position: u64) -> Option<(u64, Option<u64>)> {
        let round = match &self.0 {
            Kind::Mixed { mixed, epoch } => mixed.in_epoch(*epoch, position).map(|draw| draw.round),
            _ => None,
        };
        self.get(position).map(|sample| (sample, round))
    }

    /// The sample at `position`; `None` past the end.
    pub fn get(&self, position: u64) -> Option<u64> {
        match &self.0 {
            Kind::Sequential(n) => (position < *n).then_some(position),
            Kind::Shuffled(permutation) => permutation.get(position),
            Kind::Blocks(blocks) => blocks.get(position),
            Kind::Homes(homes) => homes.get(position),
            Kind::List(list) => list.get(usize::try_from(position).ok()?).copied(),
            Kind::Weighted { weights, seed, epoch } => {
                (position < weights.len()).then(|| weights.draw(*seed, *epoch, position))
            }
            Kind::Mixed { mixed, epoch } => mixed.in_epoch(*epoch, position).map(|draw| draw.sample),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOMES: Order = Order::Homes { homes: Some(5), exchange: 0.25, block: 3, window: 2 };

    fn homes(homes: Option<u32>, exchange: f64) -> Order {
        Order::Homes { homes, exchange, block: 3, window: 2 }
    }

    fn blocks(block: u32, window: u32) -> Order {
        Order::Homes { homes: Some(5), exchange: 0.25, block, window }
    }

    #[test]
    fn each_kind_has_its_length_and_ends() {
        let weights = Arc::new(Weights::new(&[1.0; 9]).unwrap());
        for (order, length) in [
            (Order::Sequential, 9),
            (Order::Shuffled, 9),
            (Order::Blocks { block: 2, window: 2 }, 9),
            (HOMES, 9),
            (Order::List([3, 3, 0].into()), 3),
            (Order::Weighted(weights), 9),
        ] {
            let epoch = order.epoch(9, 1, 2).unwrap();
            assert_eq!(epoch.len(), length);
            assert!((0..length).all(|i| epoch.get(i).unwrap() < 9));
            assert_eq!(epoch.get(length), None, "{order:?}");
        }
        let given = Order::List([3, 3, 0].into()).epoch(9, 1, 2).unwrap();
        assert_eq!([given.get(0), given.get(2)], [Some(3), Some(0)]);
    }

    #[test]
    fn orders_that_make_no_sense_are_refused() {
        let weights = Arc::new(Weights::new(&[1.0; 3]).unwrap());
        for (order, named) in [
            (Order::Blocks { block: 0, window: 1 }, "block is out of range"),
            (Order::Blocks { block: 1, window: 0 }, "window"),
            (homes(Some(0), 0.25), "homes"),
            (homes(None, 0.25), "homes"),
            (homes(Some(5), f64::NAN), "exchange"),
            (homes(Some(5), -0.01), "exchange"),
            (homes(Some(5), 1.01), "exchange"),
            (blocks(0, 2), "block is out of range"),
            (blocks(3, 0), "window"),
            (Order::List([0, 9].into()), "sample 9"),
            (Order::Weighted(weights), "weight"),
        ] {
            let e = order.epoch(9, 0, 0).unwrap_err().to_string();
            assert!(e.contains(named), "{order:?}: {e}");
        }
    }
}
