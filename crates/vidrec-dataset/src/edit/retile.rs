//! Rewrites clips with smaller JPEGs.

use std::path::Path;

use serde_json::{Value, json};

use super::copy;
use super::options::EditOptions;
use super::output_plan::OutputPlan;
use super::recoding::Recoding;
use super::report::EditReport;
use crate::Dataset;
use vidrec_format::error::{Error, Result};
use vidrec_format::progress::ProgressFn;

/// How JPEGs are rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retiling {
    /// Choose coefficients again, by what they cost, at this quality: 1 to 100, on the scale of
    /// [`Encoder::new`](vidrec_jpeg::Encoder::new). Pixels change. Default `None`: they stay the same, bit for bit.
    pub quality: Option<u8>,
    /// The number of threads. Default `None`: one for each core.
    pub threads: Option<usize>,
}

/// Writes a data set with smaller JPEGs. An item of `progress` is a clip.
///
/// The frames of a clip share new Huffman tables, which are the best for all of them. Frames without tiles get tiles
/// if they are 4:2:0 with 8 bits. A clip whose JPEGs would not be smaller stays the same. Nothing but JPEGs changes.
/// The output is the same for any number of threads.
///
/// Without a quality, libjpeg-turbo decodes every JPEG before and after, and the samples are compared.
///
/// ```no_run
/// # mod vidrec {
/// #     pub use vidrec_dataset::{Dataset, edit};
/// #     pub use vidrec_format::error::Error;
/// #     pub use vidrec_format::progress::no_progress;
/// # }
/// use vidrec::Dataset;
/// use vidrec::edit::{self, EditOptions, Retiling};
///
/// let set = Dataset::open("train")?;
/// let options = &EditOptions::default();
/// let report = edit::retile(&set, Retiling::default(), "smaller", options, &mut vidrec::no_progress)?;
/// println!("{:?}", report.retiled);
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): the quality is out of range.
/// [`Decode`](vidrec_format::error::ErrorKind::Decode): a JPEG without tiles cannot be decoded. Otherwise as
/// [`reshard`](super::reshard).
pub fn retile(
    set: &Dataset,
    how: Retiling,
    out: impl AsRef<Path>,
    options: &EditOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<EditReport> {
    if let Some(quality) = how.quality.filter(|quality| !(1..=100).contains(quality)) {
        return Err(Error::usage("the JPEG quality is out of range").expected("1 to 100").found(quality));
    }
    let mut plan = OutputPlan::whole(set)?;
    plan.recoding = Some(Recoding::new(how.quality, how.threads)?);
    let retiled = how.quality.map_or(Value::Bool(true), |quality| json!({"quality": quality}));
    plan.meta.settings.0.insert("retiled".into(), retiled);
    copy::run_one(&plan, out.as_ref(), options, progress)
}
