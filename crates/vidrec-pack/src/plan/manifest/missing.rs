//! Why a file may be missing although somebody named it.

use std::fs;
use std::path::Path;

use crate::plan::extensions::has_video_ending;

/// Returns what may be wrong with the name of a file that does not exist.
pub(crate) fn missing(path: &Path) -> Option<String> {
    if path.as_os_str().as_encoded_bytes().contains(&b'\\') {
        return Some("its name has backslashes: write / between folders".into());
    }
    let wanted = path.file_name()?.to_str()?;
    let names = fs::read_dir(path.parent()?).ok()?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let is_longer = |name: &str| Path::new(name).file_stem() == path.file_name() && has_video_ending(Path::new(name));
    let alike = names.filter(|name| is_longer(name) || is_composed_otherwise(name, wanted)).min()?;
    if is_longer(&alike) {
        return Some(format!("the folder has {alike:?}: paths need the endings of their files"));
    }
    Some(format!(
        "the folder has {alike:?}, which looks the same but is written with other characters (Unicode NFC and NFD): \
         copy the name from there, or rename the file",
    ))
}

/// Whether two names differ only in characters that one of them writes as several: a letter and its accents, or a Korean
/// syllable and its letters. This knows no table, so it takes any accent for any other.
fn is_composed_otherwise(a: &str, b: &str) -> bool {
    let (a, b) = (clusters(a), clusters(b));
    let same = |(a, b): (&&str, &&str)| {
        let is_one = |text: &str| text.chars().count() == 1 && !text.is_ascii();
        a == b || (is_one(a) != is_one(b) && (is_one(a) || is_one(b)) && a.chars().count() != b.chars().count())
    };
    a != b && a.len() == b.len() && a.iter().zip(&b).all(same)
}

/// Returns the characters of a text, each with the marks that follow it.
fn clusters(text: &str) -> Vec<&str> {
    let is_mark = |c: char| matches!(c, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}' | '\u{1160}'..='\u{11ff}');
    let mut starts: Vec<usize> = text.char_indices().filter(|(_, c)| !is_mark(*c)).map(|(at, _)| at).collect();
    starts.push(text.len());
    starts.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_the_same_are_known() {
        for (nfc, nfd) in [
            ("caf\u{e9}.mp4", "cafe\u{301}.mp4"),
            ("\u{1ec7}.mp4", "e\u{323}\u{302}.mp4"),
            ("\u{30ac}.mp4", "\u{30ab}\u{3099}.mp4"),
            ("\u{d55c}.mp4", "\u{1112}\u{1161}\u{11ab}.mp4"),
        ] {
            assert!(is_composed_otherwise(nfc, nfd) && is_composed_otherwise(nfd, nfc), "{nfc}");
            assert!(!is_composed_otherwise(nfc, nfc) && !is_composed_otherwise(nfd, nfd), "{nfc}");
        }
        for (a, b) in [("cafe.mp4", "cafe\u{301}.mp4"), ("\u{e9}.mp4", "\u{e8}.mp4"), ("a.mp4", "b.mp4"), ("é", "éé")]
        {
            assert!(!is_composed_otherwise(a, b), "{a} {b}");
        }
    }
}
