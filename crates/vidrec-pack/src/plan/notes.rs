//! Notes on the inputs before the work begins.

use super::job::FoundVideo;
use super::options::InputOptions;
use vidrec_core::store::disk::inside::LEADS_OUT;

/// Returns a note on videos without a label.
pub(super) fn unlabeled(found: &[FoundVideo]) -> Option<String> {
    let mut unlabeled = UnlabeledVideos::default();
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
pub(super) struct UnlabeledVideos {
    /// The number of all videos.
    pub of: u64,
    count: u64,
    first: Option<String>,
}

impl UnlabeledVideos {
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
