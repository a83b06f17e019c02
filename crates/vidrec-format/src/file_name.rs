//! The names that files of a data set may have: `format-spec/vidrec-v1.md#names-of-files`.
//!
//! Data sets, plans and receipts come from elsewhere, and vidrec opens, renames and removes the files that they name.
//! Therefore these names have types that admit nothing else.

use std::ffi::OsStr;
use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::data_binding::hex;
use crate::error::{Error, Result};

/// Longest name in bytes. File systems allow no more.
const MOST_BYTES: usize = 255;

/// The name of a file of a data set, in the folder of its `dataset.json`. It is a record file (`.rec`), an index
/// (`.vidx`), a track file (`.vtrk`), or a list of failures (`failures-DIGITS.jsonl`).
///
/// The name has ASCII letters, digits, `.`, `_` and `-` alone, and begins with neither a dot nor a dash. Joined to a
/// folder, it leads to a file directly in that folder, and no shell or program takes it for anything but a name. It
/// dereferences to the name as text. [`FromStr`] and serde accept only such names.
///
/// ```
/// use vidrec::dataset_json::FileName;
///
/// let name: FileName = "shard-00000-0123456789ab.rec".parse()?;
/// assert!(name.ends_with(".rec"));
/// for other in ["../shard-00000.rec", ".bashrc", "notes.txt", "-rf.rec", "$(reboot).rec"] {
///     assert!(other.parse::<FileName>().is_err());
/// }
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FileName(String);

/// The kind of a file of a data set, according to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A record file, `.rec`.
    Records,
    /// An index, `.vidx`.
    Index,
    /// A track file, `.vtrk`.
    Tracks,
    /// The list of failures.
    Failures,
}

impl FileKind {
    fn ending(self) -> &'static str {
        match self {
            FileKind::Records => "rec",
            FileKind::Index => "vidx",
            FileKind::Tracks => "vtrk",
            FileKind::Failures => "jsonl",
        }
    }

    /// The kind of a file of this name; `None` if no file of a data set has such a name.
    fn of(name: &str) -> Option<Self> {
        let is_outside = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_' | '-');
        if name.starts_with(['.', '-']) || name.len() > MOST_BYTES || name.contains(is_outside) {
            return None;
        }
        let (_, ending) = name.rsplit_once('.')?;
        let kinds = [FileKind::Records, FileKind::Index, FileKind::Tracks, FileKind::Failures];
        let kind = kinds.into_iter().find(|kind| kind.ending() == ending)?;
        (kind != FileKind::Failures || stem(name) == FAILURES_STEM).then_some(kind)
    }
}

#[doc(hidden)]
impl FileName {
    /// Builds `STEM-DIGITS.ENDING` with the digits of the SHA-256 of the file's contents. The stem is that of another
    /// such name, or of a shard.
    pub fn with_digest(stem: &str, sha256: &[u8; 32], kind: FileKind) -> Self {
        FileName(with_digest(stem, sha256, kind.ending()))
    }

    /// The name of the list of failures with this digest.
    pub fn of_failures(sha256: &[u8; 32]) -> Self {
        Self::with_digest(FAILURES_STEM, sha256, FileKind::Failures)
    }

    /// Whether vidrec gives such a name to a track file that was added to a data set.
    pub fn is_of_added_tracks(&self) -> bool {
        self.kind() == Some(FileKind::Tracks) && stem(&self.0) == ADDED
    }

    /// The name of the file at a path.
    pub fn of(path: &Path) -> Result<Self> {
        let name = path.file_name().unwrap_or_default();
        name.to_str().ok_or_else(|| refused(&name.to_string_lossy()))?.parse()
    }

    /// Whether the digits in this name are those of this digest.
    pub fn has_digest(&self, sha256: &[u8; 32]) -> bool {
        self.kind().is_some_and(|kind| *self == Self::with_digest(stem(self), sha256, kind))
    }

    /// The name with another ending.
    pub fn beside(&self, kind: FileKind) -> Self {
        let stem = self.0.rsplit_once('.').map_or(&*self.0, |(stem, _)| stem);
        FileName(format!("{stem}.{}", kind.ending()))
    }

    pub fn kind(&self) -> Option<FileKind> {
        FileKind::of(&self.0)
    }

    /// Whether vidrec can give a file this name when it writes a data set: a shard by its number, a list of failures, or
    /// tracks that were added.
    pub fn is_ours(&self) -> bool {
        self.kind() == Some(FileKind::Failures) || self.is_of_added_tracks() || is_shard_stem(stem(&self.0))
    }

    /// Whether vidrec gave the file its name, so that vidrec may remove it. A record file that was indexed in place
    /// keeps the name that another program gave it, and stays.
    pub fn is_given(&self) -> bool {
        self.kind() != Some(FileKind::Records) || self.is_ours()
    }
}

fn refused(name: &str) -> Error {
    Error::usage("a data set cannot have a file of this name")
        .expected(
            "ASCII letters, digits, '.', '_' and '-', with neither '.' nor '-' first, \
             and .rec, .vidx or .vtrk at the end, or failures-DIGITS.jsonl",
        )
        .found(format!("{name:?}"))
}

impl TryFrom<String> for FileName {
    type Error = Error;

    fn try_from(name: String) -> Result<Self> {
        if FileKind::of(&name).is_some() { Ok(FileName(name)) } else { Err(refused(&name)) }
    }
}

/// # Errors
///
/// [`Usage`](crate::error::ErrorKind::Usage): no file of a data set has such a name.
impl FromStr for FileName {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        name.to_owned().try_into()
    }
}

impl From<FileName> for String {
    fn from(name: FileName) -> String {
        name.0
    }
}

impl Deref for FileName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<OsStr> for FileName {
    fn as_ref(&self) -> &OsStr {
        self.0.as_ref()
    }
}

impl AsRef<Path> for FileName {
    fn as_ref(&self) -> &Path {
        self.0.as_ref()
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The file that makes a folder a data set.
pub const LISTING: &str = "dataset.json";

/// Name of the list of failures if there is no data set, and in data sets written before the name had digits of the
/// file's digest.
pub const FAILURES: &str = "failures.jsonl";

/// The beginning of the name of a list of failures.
pub(crate) const FAILURES_STEM: &str = "failures";

/// The beginning of the name of a track file that was added to a data set.
pub const ADDED: &str = "tracks";

/// The folder in a data set's folder with the plan and the shards of a pack that is not finished.
pub const PACK: &str = ".vidrec.pack";

/// The number of hexadecimal digits of a digest in a name: 48 bits distinguish a file from any other with its number.
const DIGITS: usize = 12;

/// Name of shard `ordinal` before the digits of a digest: `shard-00000`.
pub fn shard(ordinal: usize) -> String {
    format!("shard-{ordinal:05}")
}

/// `STEM-DIGITS.ENDING`, where the digits are the first digits of the SHA-256 of the file's contents.
pub fn with_digest(stem: &str, sha256: &[u8; 32], ending: &str) -> String {
    format!("{stem}-{}.{ending}", &hex(sha256)[..DIGITS])
}

/// A file's name without its ending and without the digits of a digest: `shard-00000` of
/// `shard-00000-0123456789ab.rec`.
pub fn stem(name: &str) -> &str {
    let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let is_digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    match name.rsplit_once('-') {
        Some((stem, digits)) if digits.len() == DIGITS && digits.bytes().all(is_digit) => stem,
        _ => name,
    }
}

/// Whether a file's name has the digits of a digest.
pub fn has_digits(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(whole, _)| whole != stem(name))
}

/// Whether this is the name of a shard without digits and ending: `shard-00012`, or `shard-00012.1` for the second
/// shard of a part.
pub(crate) fn is_shard_stem(stem: &str) -> bool {
    let Some(numbers) = stem.strip_prefix("shard-") else { return false };
    let (first, second) = numbers.split_once('.').unwrap_or((numbers, "1"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    first.len() >= 5 && is_number(first) && is_number(second)
}

#[cfg(test)]
mod tests {
    use std::path::Component;

    use proptest::prelude::*;

    use super::*;

    /// Texts made of parts that matter in names, and any texts.
    fn name() -> impl Strategy<Value = String> {
        let parts = "shard-|00000|failures|-0123456789ab|.rec|.vidx|.vtrk|.jsonl|.|..|/|\\|\0|\n|\u{85}|a|é| |:|C:|.tmp|dataset.json|~|-";
        let parts: Vec<&str> = parts.split('|').collect();
        let made = prop::collection::vec(prop::sample::select(parts), 0..6).prop_map(|parts| parts.concat());
        prop_oneof![made.clone(), any::<String>(), (any::<String>(), made).prop_map(|(a, b)| a + &b)]
    }

    /// The rules of the specification, written differently.
    fn is_described(name: &str) -> bool {
        let ending = name.rsplit('.').next().unwrap_or_default();
        let failures = name.strip_prefix("failures").and_then(|rest| rest.strip_suffix(".jsonl"));
        let digits = failures.map(|digits| digits.strip_prefix('-').unwrap_or(digits));
        let is_list = digits.is_some_and(|digits| {
            name == "failures.jsonl"
                || (name.len() == "failures-0123456789ab.jsonl".len()
                    && digits.chars().all(|c| "0123456789abcdef".contains(c)))
        });
        let is_shard = name.contains('.') && ["rec", "vidx", "vtrk"].contains(&ending);
        let plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
        (is_shard || is_list) && !name.starts_with(['.', '-']) && name.chars().all(|c| plain.contains(c))
    }

    proptest! {
        #[test]
        fn any_text_is_refused_or_a_file_directly_in_the_folder(name in name()) {
            let folder = Path::new("/folder");
            let parsed = name.parse::<FileName>();
            let json = serde_json::to_string(&name).unwrap();
            prop_assert_eq!(serde_json::from_str::<FileName>(&json).is_ok(), parsed.is_ok());
            let Ok(parsed) = parsed else { return Ok(()) };
            prop_assert!(is_described(&name), "{name:?}");
            let joined = folder.join(&parsed);
            prop_assert_eq!(joined.parent(), Some(folder));
            prop_assert_eq!(joined.components().next_back(), Some(Component::Normal(name.as_ref())));
            prop_assert!(name.len() <= 255 && !name.contains(['/', '\\', '\0']) && !name.contains(char::is_control));
            prop_assert_eq!(serde_json::to_string(&parsed).unwrap(), json);
        }
    }

    #[test]
    fn names_that_vidrec_gives_are_told_from_those_of_others() {
        for (name, ours, given) in [
            ("shard-00000.rec", true, true),
            ("shard-123456-abababababab.rec", true, true),
            ("shard-00012.1-abababababab.vidx", true, true),
            ("shard-00000-abababababab.vtrk", true, true),
            ("failures-abababababab.jsonl", true, true),
            ("failures.jsonl", true, true),
            ("train.rec", false, false),
            ("shard-one.rec", false, false),
            ("shard-0000.rec", false, false),
            ("shard-00000.x.rec", false, false),
            ("train.vidx", false, true),
            ("train-abababababab.vtrk", false, true),
        ] {
            let parsed: FileName = name.parse().unwrap();
            assert_eq!((parsed.is_ours(), parsed.is_given()), (ours, given), "{name}");
        }
        let long = format!("{}.rec", "x".repeat(252));
        let of_others =
            ["failures-old.jsonl", "shard-00000.idx", "notes.txt", ".rec", "rec", "", "dataset.json", &long];
        let commands =
            ["-rf.rec", "--help.rec", "$(id).rec", "a b.rec", "a;b.vidx", "a'.vtrk", "é.rec", "c:a.rec", "*.rec"];
        for other in of_others.iter().chain(&commands) {
            let e = other.parse::<FileName>().unwrap_err().to_string();
            assert!(e.contains("cannot have a file of this name"), "{e}");
        }
    }

    #[test]
    fn digits_come_and_go() {
        let name = with_digest(&shard(7), &[0xab; 32], "vidx");
        assert_eq!(name, "shard-00007-abababababab.vidx");
        assert_eq!(stem(&name), "shard-00007");
        assert!(has_digits(&name));
        for (name, without) in
            [("shard-00007.rec", "shard-00007"), ("a-ABABABABABAB.rec", "a-ABABABABABAB"), ("x", "x")]
        {
            assert_eq!(stem(name), without);
            assert!(!has_digits(name));
        }
    }
}
