//! Plans from outside: parts that are packed in any order, often, at once and after kills become the data set that one
//! machine makes, and what does not belong together is refused.

mod bad_input;
mod buckets;
mod crashes;
mod kills;
mod limits;
mod listed;
mod packing;
mod publishing;
mod status;
mod support;
