//! The treatment of a video that is too short.

use crate::words::words;

/// The treatment of a video that has fewer frames than requested (for `clip`: fewer than the clip spans).
///
/// As a word (`FromStr`, `Display`, serde): `repeat-last`, `loop`, `skip` or `error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Short {
    /// Take the existing frames from the start, then repeat the last: 0 1 2 2 2. The default.
    #[default]
    RepeatLast,
    /// Start over: 0 1 2 0 1. With a stride, the frames wrap around within the video (0 4 8 2), so they need not
    /// increase.
    Loop,
    /// Skip the video.
    Skip,
    /// Return an error.
    Error,
}

words!(Short, "short", { "repeat-last" => RepeatLast, "loop" => Loop, "skip" => Skip, "error" => Error });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back_as_itself() {
        for word in Short::WORDS {
            let short: Short = word.parse().unwrap();
            assert_eq!(short.to_string(), *word);
            assert_eq!(serde_json::to_string(&short).unwrap(), format!("{word:?}"));
            assert_eq!(serde_json::from_str::<Short>(&format!("{word:?}")).unwrap(), short);
        }
        assert!("repeat_last".parse::<Short>().is_err());
        assert!(serde_json::from_str::<Short>("\"maybe\"").is_err());
    }
}
