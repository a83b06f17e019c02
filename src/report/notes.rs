//! Writes the notes for the reader of a page, in sentences.

use super::figures::{Checked, Shown};
use super::options::{Extent, ReportOptions};
use super::strip::StripSize;
use vidrec_core::byte_size::shown_bytes;

/// Returns sentences that say which clips are shown, and how.
///
/// Takes the most frames of a clip, and the numbers of shown clips that are in findings and that have a larger strip.
pub(super) fn of_clips(
    shown: &Shown,
    (longest, found, enlarged): (u64, u64, u64),
    options: &ReportOptions,
) -> Vec<String> {
    let mut notes = Vec::new();
    if shown.clips == shown.of_clips {
        notes.push(format!("All {} are shown.", count(shown.clips, "clip")));
    } else {
        let found = match found {
            0 => String::new(),
            n => format!("{} in findings, then ", count(n, "clip")),
        };
        notes.push(format!(
            "A sample: {} of {} are shown: {found}in turn a random one of each class (seed {}).",
            grouped(shown.clips),
            count(shown.of_clips, "clip"),
            options.seed
        ));
    }
    if longest > u64::from(shown.frames) {
        notes.push(format!("Of clips with more than {0} frames, {0} are shown, evenly spread.", shown.frames));
    }
    let best = StripSize::ALL[0];
    let wanted = shown.of_clips.min(options.clips);
    if shown.clips < wanted {
        notes.push(format!(
            "More clips did not fit into {} (--budget), with frames of {} pixels.",
            shown_bytes(options.budget),
            shown.height
        ));
    } else if (shown.height, shown.quality) != (best.height, best.quality) {
        notes.push(format!(
            "Frames are {} pixels high at JPEG quality {}, to fit into {} (--budget).",
            shown.height,
            shown.quality,
            shown_bytes(options.budget)
        ));
    }
    if (1..shown.clips).contains(&enlarged) {
        let first = if found > 0 { ", those in findings first" } else { "" };
        notes.push(format!("{} open in larger pictures{first}.", count(enlarged, "clip")));
    }
    notes
}

/// Returns a sentence that says which clips were checked.
pub(super) fn of_check(checked: Option<&Checked>, extent: Extent) -> String {
    match (checked, extent) {
        (Some(checked), Extent::Shown) if checked.clips < checked.of_clips => format!(
            "Only the {} shown here, of {}, {} checked, and compared with each other ({} decoded): data sets in object \
             storage are read as a whole on demand (--check).",
            count(checked.clips, "clip"),
            grouped(checked.of_clips),
            if checked.clips == 1 { "was" } else { "were" },
            count(checked.frames, "frame")
        ),
        (Some(checked), _) => {
            format!("Checked: {}, {} decoded.", count(checked.clips, "clip"), count(checked.frames, "frame"))
        }
        (None, Extent::None) => "Not checked (--no-check).".into(),
        (None, _) => {
            "Not checked: of data sets in object storage, only clips that a page shows are checked, unless all \
                      are wanted (--check)."
                .into()
        }
    }
}

/// Returns a number with its noun: 1 clip, 2 clips.
fn count(n: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// Returns a number with separated thousands: 1,234,567.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group)).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_says_so_and_why() {
        assert_eq!([grouped(0), grouped(999), grouped(1000), grouped(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
        let options = ReportOptions { clips: 1000, ..ReportOptions::default() };
        let shown = Shown { clips: 500, of_clips: 100_000, height: 48, frames: 3, quality: 45 };
        let notes = of_clips(&shown, (8, 12, 0), &options).join(" ");
        assert!(notes.contains("A sample: 500 of 100,000 clips are shown: 12 clips in findings, then"), "{notes}");
        assert!(notes.contains("3 are shown, evenly spread") && notes.contains("did not fit into 14.0 MB"), "{notes}");
        let all = Shown { clips: 7, of_clips: 7, height: 96, frames: 16, quality: 70 };
        assert_eq!(of_clips(&all, (8, 0, 7), &options), ["All 7 clips are shown."]);
    }
}
