//! From clips to shards and a data set. A shard is a run of neighboring videos, fixed before the first one is opened. It is
//! the unit of work, of resuming and of sharing: it is written whole, by any process of any machine, and then has a receipt.
//!
//! ```text
//! size.rs          how many shards a pack has
//! write.rs         inputs to a plan; plan_json.rs: the contents of plan.json
//! plan.rs          an existing plan, and the jobs of a part
//! run.rs           packs parts in a working folder (attempt.rs); writes their files, then their receipts (receipt.rs)
//! part.rs          packs one part of a plan that machines share
//! status.rs        which parts are done, running, failed or missing
//! publish.rs       receipts to a data set; publish_remote.rs: to one in object storage
//! local.rs         a whole pack on this machine; removal.rs: removes its plan
//! existing.rs      a data set that was packed before from the same inputs
//! place.rs         where the files of a plan are: in a folder (folder.rs) or in object storage (bucket.rs)
//! object_stamp.rs  what identifies a remote video
//! note.rs          what attempts report about themselves
//! video_report.rs  the result of a video; report.rs: of a pack
//! ```
//!
//! ```text
//! PLAN/plan.json            settings, classes and where parts begin; written last
//! PLAN/jobs.jsonl           one video on each line, with the size and time of its file if machines share the plan
//! PLAN/shard-00012-….rec    files of part 12, named by their contents
//! PLAN/parts/00012.json     the receipt of part 12, written once, after its files
//! PLAN/parts/00012.note     how far an attempt has come, or why it ended
//! PLAN/attempts/1/          the working folder of a process, with a lock; attempts/12/1/ if machines share the plan
//! ```

mod attempt;
mod bucket;
mod existing;
mod folder;
mod local;
mod note;
mod object_stamp;
mod options;
mod part;
mod place;
mod plan;
mod plan_json;
mod publish;
mod publish_options;
mod publish_remote;
pub(super) mod receipt;
mod removal;
mod report;
mod run;
mod size;
mod status;
mod video_report;
mod write;

pub use local::{pack, pack_plan};
pub use options::{IfExists, RunOptions};
pub use part::PartOptions;
pub use plan::PartsPlan;
pub use publish_options::PublishOptions;
pub use report::{PackReport, Warning};
pub use status::{PartState, PartStatus, PlanStatus};
pub use video_report::Failure;
pub use write::{WrittenPlan, write_plan};
