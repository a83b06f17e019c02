//! Notes on the inputs before the work begins.

use super::found::FoundVideo;
use super::manifest_columns::ManifestColumns;
use super::near_names::meant;
use super::options::InputOptions;
use super::times;
use vidrec_core::store::disk::inside::LEADS_OUT;
use vidrec_format::error::Result;

/// Asks about attributes whose names are close to the name of a column that the manifest does not have.
///
/// # Errors
///
/// The errors of [`times::question`].
pub(super) fn questions(columns: &ManifestColumns, options: &InputOptions) -> Result<Vec<String>> {
    let ManifestColumns { manifest, path, label, split, attributes, .. } = columns;
    let taken = [("path", path), ("label", label), ("split", split)];
    let near = |column: &String| {
        let (name, columns) = taken.into_iter().find(|(name, _)| meant(column) == Some(name))?;
        let choose = match name {
            "split" => String::new(),
            _ => format!(" If so, {}", options.words.set(&format!("{name}_column"), column)),
        };
        columns.is_empty().then(|| {
            format!("{manifest}: column {column:?} is only kept as an attribute; did you mean {name:?}?{choose}")
        })
    };
    let questions = attributes.iter().filter_map(near);
    Ok(questions.chain(times::question(columns, options)?).collect())
}

/// Returns a note on videos without a label.
pub(super) fn unlabeled(found: &[FoundVideo]) -> Option<String> {
    let mut unlabeled = Unlabeled::default();
    found.iter().filter(|found| found.fault.is_none()).for_each(|found| unlabeled.count(found));
    unlabeled.note()
}

/// Returns a note on the links that lead out of the inputs.
pub(super) fn links(found: &[FoundVideo], options: &InputOptions) -> Option<String> {
    let mut links = found.iter().filter(|video| video.fault.as_deref().is_some_and(|fault| fault.ends_with(LEADS_OUT)));
    let (first, more) = (links.next()?, links.count());
    let words = options.words.set("outside", "true");
    Some(match more {
        0 => format!("a link leads out of the inputs, and is skipped: {}; to follow it, {words}", first.source),
        more => {
            let (links, first) = (more + 1, &first.source);
            format!("{links} links lead out of the inputs, and are skipped, such as {first}; to follow them, {words}")
        }
    })
}

/// The videos without a label so far.
#[derive(Default)]
pub(super) struct Unlabeled {
    /// The number of all videos.
    pub of: u64,
    count: u64,
    first: Option<String>,
}

impl Unlabeled {
    pub fn count(&mut self, found: &FoundVideo) {
        self.of += 1;
        // Episodes have tasks instead.
        if found.label.tags().is_empty() && found.episode.is_none() {
            self.count += 1;
            self.first.get_or_insert_with(|| found.source.clone());
        }
    }

    pub fn note(self) -> Option<String> {
        let (first, count) = (self.first?, self.count);
        if count == self.of {
            return Some(
                "no video has a label; a label comes from the column \"label\" of a manifest, or from the first level of folders"
                    .into(),
            );
        }
        let verb = if count == 1 { "has" } else { "have" };
        Some(format!("{count} of {} videos {verb} no label, such as {first}", self.of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_offered_only_for_a_column_that_is_missing() {
        let asked = |label: &[&str], attributes: &[&str]| {
            let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
            let columns = ManifestColumns {
                manifest: "l.csv".into(),
                path: owned(&["path"]),
                label: owned(label),
                attributes: owned(attributes),
                ..ManifestColumns::default()
            };
            questions(&columns, &InputOptions::default()).unwrap()
        };
        let class = "l.csv: column \"class\" is only kept as an attribute; did you mean \"label\"? If so, set \
                     label_column = \"class\"";
        let strat = "l.csv: whole videos are packed, and \"strat\" is only kept; did you mean segments? If so, set \
                     start_column = \"strat\"";
        assert_eq!(asked(&[], &["caption", "class", "strat"]), [class, strat]);
        assert_eq!(asked(&["label"], &["caption", "class", "duration"]), [""; 0]);
    }
}
