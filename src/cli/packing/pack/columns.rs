//! What `vidrec pack` says of its inputs before the work: what the columns of manifests became, and what looks wrong.

use crate::pack::ManifestColumns;

use crate::cli::output;

/// Names of columns that are shown for each use; the rest are counted.
const SHOWN: usize = 20;

/// Prints a line for each manifest and each note on standard error.
pub fn tell(manifests: &[ManifestColumns], notes: &[String]) {
    manifests.iter().for_each(|manifest| output::tell(describe(manifest)));
    notes.iter().for_each(|note| output::tell(format_args!("warning: {note}")));
}

/// `list.csv: path from "video", no label, attributes "caption"`.
fn describe(m: &ManifestColumns) -> String {
    let uses = [("path from", &m.path), ("label from", &m.label), ("start from", &m.start), ("end from", &m.end)];
    let rest = [("split from", &m.split), ("tracks from", &m.tracks), ("attributes", &m.attributes)];
    let said = uses.into_iter().chain(rest).filter_map(|(what, columns)| match columns.is_empty() {
        false => Some(format!("{what} {}", names(columns))),
        true => (what == "label from").then(|| "no label".into()),
    });
    format!("{}: {}", m.manifest, said.collect::<Vec<_>>().join(", "))
}

fn names(columns: &[String]) -> String {
    // As Rust writes text: a name may hold what a terminal would obey.
    let mut text = columns.iter().take(SHOWN).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(" ");
    if columns.len() > SHOWN {
        text += &format!(" and {} more", columns.len() - SHOWN);
    }
    text
}
