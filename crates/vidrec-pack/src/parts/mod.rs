//! Packing in parts. Any number of machines carry out a plan, in any order, with any number of attempts.
//!
//! ```text
//! write.rs         inputs to a plan: cost.rs divides it; plan_json.rs: the contents of plan.json
//! plan.rs          an existing plan, and the jobs of a part
//! part.rs          packs a part in a working folder (attempt.rs); writes its files, then its receipt (receipt.rs)
//! status.rs        which parts are done, running, failed or missing
//! publish.rs       receipts to a data set; publish_remote.rs: to one in object storage
//! one_machine.rs   all parts on this machine (pack_all.rs: some at a time); removal.rs: removes their plan
//! place.rs         where the files of a plan are: in a folder (folder.rs) or in object storage (bucket.rs)
//! object_stamp.rs  what identifies a remote video
//! note.rs          what attempts report about themselves
//! ```
//!
//! ```text
//! PLAN/plan.json            settings, classes and where parts begin; written last
//! PLAN/jobs.jsonl           one video on each line, with the size and time of its file
//! PLAN/shard-00012-….rec    files of part 12, named by their contents; the second shard of a part is shard-00012.1-…
//! PLAN/parts/00012.json     the receipt of part 12, written once, after its files
//! PLAN/parts/00012.note     how far an attempt has come, or why it ended
//! PLAN/attempts/00012-1/    the working folder of an attempt: an ordinary pack with a lock and a journal
//! ```

mod attempt;
mod bucket;
mod cost;
mod folder;
mod note;
mod object_stamp;
mod one_machine;
mod one_machine_options;
mod pack_all;
mod part;
mod place;
mod plan;
mod plan_json;
mod publish;
mod publish_options;
mod publish_remote;
pub(super) mod receipt;
mod removal;
mod status;
mod write;

pub use one_machine::pack_in_parts;
pub use one_machine_options::InParts;
pub use part::PartOptions;
pub use plan::PartsPlan;
pub use publish_options::PublishOptions;
pub use status::{PartState, PartStatus, PlanStatus};
pub use write::{WrittenPlan, write_plan};
