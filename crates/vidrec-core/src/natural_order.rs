//! The order of files in a folder, in which digits in a name count as numbers. Also decides which files are hidden.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::path::Path;

use crate::source_name;

/// A name as a sort key. Runs of digits count as numbers: `img_2.jpg` comes before `img_10.jpg`. Text comes before
/// numbers: `cover.jpg` comes before `0001.jpg`.
#[derive(PartialEq, Eq)]
pub struct NaturalOrder(String);

impl NaturalOrder {
    /// The key of a name.
    pub fn of(name: impl Into<String>) -> Self {
        NaturalOrder(name.into())
    }

    /// Orders by the last component of a path.
    pub fn of_file(path: &Path) -> Self {
        NaturalOrder(source_name::of_os_str(path.file_name().unwrap_or_default()))
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
    use super::*;

    #[test]
    fn digits_count_as_numbers() {
        let mut names = [
            "img10.jpg",
            "img9.jpg",
            "img_1.jpg",
            "a",
            "img009.jpg",
            "img1b2.jpg",
            "img1b10.jpg",
            "",
            "7",
            "99999999999999999999999999",
        ];
        names.sort_by_cached_key(|name| NaturalOrder::of(*name));
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
        assert_eq!(names, expected);
    }

    #[test]
    fn only_a_dot_in_front_hides_a_file() {
        assert!(is_hidden(OsStr::new("._a.jpg")));
        assert!(!is_hidden(OsStr::new("a.jpg")) && !is_hidden(OsStr::new("")));
    }
}
