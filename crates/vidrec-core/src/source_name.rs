//! Names of sources: paths as text, their natural order, and which are hidden. Different paths have different names.
//!
//! A name is the path's text with `/` between folders. File names on Linux may contain bytes that are not UTF-8. Such
//! a byte is written `\xHH`, with two capital hexadecimal digits. If a path already contains text of that form, its
//! backslash is written `\x5C`. Every other name is exactly as on the disk. Each name stands for exactly one path.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Component, Path, PathBuf};

/// The name of a path, with one `/` between folders on every system.
pub fn of_path(path: &Path) -> String {
    let below_root = path.components().filter(|c| *c != Component::RootDir);
    let parts: Vec<_> = below_root.map(|c| of_os_str(c.as_os_str())).collect();
    format!("{}{}", if path.has_root() { "/" } else { "" }, parts.join("/"))
}

/// The name of one file or folder.
pub fn of_os_str(name: &OsStr) -> String {
    of_bytes(name.as_encoded_bytes())
}

/// The name of a path in bytes, which should be UTF-8.
pub fn of_bytes(bytes: &[u8]) -> String {
    let mut name = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let mut rest = chunk.valid();
        while let Some((before, _)) = rest.split_once('\\') {
            let from = &rest[before.len()..];
            name += before;
            name += if escaped(from.as_bytes()).is_some() { r"\x5C" } else { r"\" };
            rest = &from[1..];
        }
        name += rest;
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(name, r"\x{byte:02X}");
        }
    }
    name
}

/// The path that has this name.
pub fn to_path(name: &str) -> PathBuf {
    if !name.contains('\\') {
        return name.into();
    }
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some(&first) = rest.first() {
        let (byte, length) = escaped(rest).map_or((first, 1), |byte| (byte, 4));
        bytes.push(byte);
        rest = &rest[length..];
    }
    path_of_bytes(bytes, name)
}

#[cfg(unix)]
fn path_of_bytes(bytes: Vec<u8>, _: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(bytes).into()
}

/// On systems whose names are not bytes, only text has a path.
#[cfg(not(unix))]
fn path_of_bytes(bytes: Vec<u8>, name: &str) -> PathBuf {
    String::from_utf8(bytes).unwrap_or_else(|_| name.to_owned()).into()
}

/// The byte that `\xHH` at the beginning of `text` stands for. It is a byte outside ASCII, or a backslash.
fn escaped(text: &[u8]) -> Option<u8> {
    let digit = |d: u8| char::from(d).to_digit(16).filter(|_| !d.is_ascii_lowercase());
    let &[high, low] = text.strip_prefix(br"\x")?.first_chunk()?;
    let byte = (digit(high)? << 4 | digit(low)?) as u8;
    (byte >= 0x80 || byte == b'\\').then_some(byte)
}

/// A name as a sort key. Runs of digits count as numbers: `img_2.jpg` comes before `img_10.jpg`. Text comes before
/// numbers: `cover.jpg` comes before `0001.jpg`.
#[derive(PartialEq, Eq)]
pub struct NaturalOrder(pub String);

impl NaturalOrder {
    /// Orders by the last component of a path.
    pub fn of_file(path: &Path) -> Self {
        NaturalOrder(of_os_str(path.file_name().unwrap_or_default()))
    }

    /// Text and numbers in turn. A number consists of its digits without leading zeros. The longer of two numbers is
    /// larger.
    fn parts(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut rest = self.0.as_str();
        std::iter::from_fn(move || {
            let digits = rest.starts_with(|c: char| c.is_ascii_digit());
            let end = rest.find(|c: char| c.is_ascii_digit() != digits).unwrap_or(rest.len());
            let (part, behind) = rest.split_at(end);
            rest = behind;
            let number = part.trim_start_matches('0');
            (!part.is_empty()).then(|| if digits { (number.len() + 1, number) } else { (0, part) })
        })
    }
}

impl Ord for NaturalOrder {
    fn cmp(&self, other: &Self) -> Ordering {
        // Names that differ only in leading zeros are ordered by their bytes.
        self.parts().cmp(other.parts()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for NaturalOrder {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Whether a file or folder is hidden: its name begins with a dot.
pub fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_stays_as_it_is_with_one_slash_between_folders() {
        for name in ["a.mp4", "a/b c.mp4", "/a/b.mp4", "../a.mp4", "日本/é.mp4", r"a\b.mp4", r"\x", r"\x41\xfF\xF"] {
            assert_eq!(of_path(Path::new(name)), name);
            assert_eq!(to_path(name), Path::new(name));
        }
        assert_eq!(of_path(Path::new("a//b.mp4")), "a/b.mp4");
    }

    #[test]
    fn other_bytes_are_written_in_digits() {
        for (bytes, name) in [
            (&b"a\xff.mp4"[..], r"a\xFF.mp4"),
            (b"a\xfe.mp4", r"a\xFE.mp4"),
            (br"a\xFF.mp4", r"a\x5CxFF.mp4"),
            (b"\\\xff", r"\\xFF"),
            (br"\x5C", r"\x5Cx5C"),
            (b"\\x4\xff", r"\x4\xFF"),
            (b"\xe6\x97", r"\xE6\x97"),
        ] {
            assert_eq!(of_bytes(bytes), name);
            #[cfg(unix)]
            assert_eq!(to_path(name).as_os_str().as_encoded_bytes(), bytes);
        }
    }

    #[test]
    fn digits_count_as_numbers() {
        let expected = [
            "",
            "a",
            "img1b2.jpg",
            "img1b10.jpg",
            "img009.jpg",
            "img9.jpg",
            "img10.jpg",
            "img_1.jpg",
            "7",
            "99999999999999999999999999",
        ];
        let mut names = expected;
        names.reverse();
        names.sort_by_cached_key(|name| NaturalOrder((*name).to_owned()));
        assert_eq!(names, expected);
    }

    #[test]
    fn only_a_dot_in_front_hides_a_file() {
        assert!(is_hidden(OsStr::new("._a.jpg")));
        assert!(!is_hidden(OsStr::new("a.jpg")) && !is_hidden(OsStr::new("")));
    }

    #[cfg(unix)]
    proptest! {
        #[test]
        fn every_name_leads_back(
            bytes in prop::collection::vec(prop::sample::select(b"a\\x5CF8\xff\xc3\xa9/".to_vec()), 0..12),
        ) {
            let back = to_path(&of_bytes(&bytes));
            prop_assert_eq!(back.as_os_str().as_encoded_bytes(), &bytes[..]);
        }
    }
}
