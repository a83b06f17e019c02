//! Splits a data set into several parts.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::clip_list::require_found;
use super::options::EditOptions;
use super::output_plan::OutputPlan;
use super::parts::{SplitBy, split_clips};
use super::report::EditReport;
use super::{copy, groups};
use crate::dataset::Dataset;
use crate::progress::ProgressFn;
use vidrec_format::error::{Error, Result};

/// Writes the parts of a data set that [`split_clips`] returns, in this order, each to `out/NAME`. The clips of a
/// part keep their order. An item of `progress` is a clip of any part.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): a name that is not a plain file name, or a list names a source
/// that the data set does not have. Otherwise as
/// [`split_clips`] and [`reshard`](super::reshard).
pub fn split(
    set: &Dataset,
    by: &SplitBy,
    out: impl AsRef<Path>,
    options: &EditOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<Vec<EditReport>> {
    groups::size(set)?;
    let parts = split_clips(set, by)?;
    parts.iter().try_for_each(|part| require_found(&part.not_found))?;
    check_names(parts.iter().map(|part| part.name.as_str()))?;
    let mut plans = Vec::new();
    for part in parts {
        let mut plan = OutputPlan::of(set, part.clips)?;
        if plan.picks.is_empty() {
            plan.notes.push("this part has no clips".into());
        }
        plans.push((plan, out.as_ref().join(part.name)));
    }
    let plans: Vec<(&OutputPlan<'_>, PathBuf)> = plans.iter().map(|(plan, path)| (plan, path.clone())).collect();
    copy::run(&plans, options, progress)
}

/// Checks the names, because they become folders of the output, and attributes and lists may contain anything.
fn check_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen = HashSet::new();
    for name in names {
        let plain = !name.starts_with('.')
            && !name.contains(['\\', '\0'])
            && Path::new(name).file_name() == Some(name.as_ref());
        if !plain {
            return Err(Error::usage(format!("{name:?} cannot be the name of a part"))
                .expected("a plain file name that does not begin with a dot"));
        }
        // Some file systems treat names that differ only in case as equal.
        if !seen.insert(name.to_lowercase()) {
            return Err(Error::usage(format!("two parts have the name {name:?}, or names that differ only in case")));
        }
    }
    if seen.is_empty() { Err(Error::usage("there are no parts to write")) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        for bad in ["", ".", "..", "../x", "a/b", "/a", "a\\b", ".hidden", "a/"] {
            assert!(check_names([bad].into_iter()).is_err(), "{bad}");
        }
        assert!(check_names(["train", "Train"].into_iter()).is_err());
        assert!(check_names(["train", "val", "fold 1"].into_iter()).is_ok());
        assert!(check_names(std::iter::empty()).is_err());
    }
}
