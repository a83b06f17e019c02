//! From clips to shards and a data set. A shard is a run of neighboring videos, fixed before the first one is opened. It is
//! the unit of work, of resuming and of sharing: it is written whole, by any process of any machine, and then has a receipt.
//!
//! ```text
//! write.rs         how many shards a pack has; inputs to a plan
//! plan.rs          the contents of plan.json, an existing plan, the jobs of a part, and which parts are done
//! run.rs           packs parts in a working folder; writes their files, then their receipts (receipt.rs)
//! publish.rs       receipts to a data set
//! local.rs         a whole pack on this machine
//! packed_set.rs    the data set that is there already, and its failures
//! place.rs         where the files of a plan are: in a folder or in object storage
//! report.rs        the result of a video and of a pack
//! ```
//!
//! ```text
//! OUT/.vidrec.pack/plan.json            settings, classes and where parts begin; written last
//! OUT/.vidrec.pack/jobs-….jsonl         one video on each line, with the size and time of its file if machines share the plan
//! OUT/.vidrec.pack/shard-00012-….rec    files of part 12, named by their contents; in object storage they are in OUT
//! OUT/.vidrec.pack/parts/00012.json     the receipt of part 12, written once, after its files
//! OUT/.vidrec.pack/attempts/1/          the working folder of a process, with a lock
//! ```

mod local;
mod packed_set;
mod place;
mod plan;
mod publish;
pub(super) mod receipt;
mod report;
mod run;
mod write;

pub use local::{pack, pack_plan};
pub use plan::PartsPlan;
pub use plan::{PlanStatus, plan_status};
pub use publish::PublishOptions;
pub use report::{PackReport, Warning};
pub(super) use report::{of_failed, of_packed};
pub use run::PartOptions;
pub use write::{WrittenPlan, write_plan};
