//! Packing in parts: a plan that any number of machines carry out, in any order, with any number of attempts.
//!
//! ```text
//! write.rs       inputs to a plan: cost.rs divides it; plan_json.rs, options.rs: what plan.json says
//! plan.rs        a plan that is there, and the jobs of a part
//! part.rs        packs a part: in a working folder (attempt.rs), then its files, then its receipt (receipt.rs)
//! status.rs      which parts are done, at work, failed or missing
//! publish.rs     receipts to a data set; publish_remote.rs: to one in object storage
//! here.rs        all of it on this machine; here_remote.rs: to object storage; pack_all.rs: some parts at a time
//! place.rs       where a plan's files are: in a folder (folder.rs) or in object storage (bucket.rs)
//! object_stamp.rs  what identifies a remote video
//! note.rs        what attempts say of themselves
//! ```
//!
//! ```text
//! PLAN/plan.json            settings, classes and where parts begin; written last
//! PLAN/jobs.jsonl           a video a line, with size and time of its file
//! PLAN/shard-00012-….rec    files of part 12, named by their contents; the second shard of a part is shard-00012.1-…
//! PLAN/parts/00012.json     the receipt of part 12, written once, after its files
//! PLAN/parts/00012.note     how far an attempt is, or why it ended
//! PLAN/attempts/00012-1/    where an attempt packs: an ordinary pack with a lock and a journal
//! ```

mod attempt;
#[cfg(feature = "remote")]
mod bucket;
mod cost;
mod folder;
mod here;
mod here_options;
#[cfg(feature = "remote")]
mod here_remote;
mod in_order;
mod note;
mod object_stamp;
mod options;
mod pack_all;
mod part;
mod place;
mod plan;
mod plan_json;
mod publish;
mod publish_options;
#[cfg(feature = "remote")]
mod publish_remote;
pub(super) mod receipt;
mod status;
mod write;

pub use here::pack_in_parts;
pub use here_options::InParts;
pub use part::PartOptions;
pub use plan::PartsPlan;
pub use publish_options::PublishOptions;
pub use status::{PartState, PartStatus, PlanStatus};
pub use write::{WrittenPlan, write_plan};
