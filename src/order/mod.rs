//! The order of an epoch and how ranks share it: pure functions from integers to integers.
//!
//! [`Permutation`] shuffles all clips of a data set exactly, without a table of them; [`Ranks`] deals the positions of
//! that order out in batches. Both are random access, so an epoch can be entered anywhere at once.
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

mod permutation;
mod ranks;

pub use permutation::Permutation;
pub use ranks::{LastBatch, Ranks, Slot};
