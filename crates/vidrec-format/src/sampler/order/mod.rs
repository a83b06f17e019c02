//! The order of an epoch and how ranks share it: pure functions from integers to integers.
//!
//! An [`Order`] says which sample is at each position of an epoch. [`Permutation`] shuffles all samples exactly,
//! without a table. [`Blocks`] keeps neighbors close for slow disks. [`Homes`] provides each node of a cluster
//! with blocks of its own. [`Weights`] balances classes. [`Mixed`] mixes several sources by quotas. [`Ranks`]
//! deals the positions out in batches. All have random access, so a run can enter an epoch anywhere at once.
//!
//! ```
//! use vidrec::order::{LastBatch, Permutation, Ranks};
//!
//! let order = Permutation::new(10, 42, 0);
//! let ranks = Ranks::new(10, 2, 2, LastBatch::Pad)?;
//! assert_eq!(ranks.batches(), 3);
//! let slot = ranks.slot(1, 0, 1).unwrap();
//! assert_eq!(slot.position, 5, "batch 1 of both ranks is positions 4 to 7, of rank 0 the first two");
//! assert!(order.get(slot.position).unwrap() < 10);
//! # Ok::<(), vidrec::Error>(())
//! ```

mod blocks;
mod homes;
mod kinds;
mod mix;
mod permutation;
mod ranks;
mod weights;

pub use blocks::Blocks;
pub use homes::Homes;
pub use kinds::{EpochOrder, Order};
pub use mix::{Draw, Mixed, Shares, SourceOrder};
pub use permutation::Permutation;
pub use ranks::{LastBatch, Ranks, Slot};
pub use weights::Weights;
