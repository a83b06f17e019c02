//! Files that stand under the names of videos and are something else.

use vidrec_format::{header, recordio};

/// What a file is, and what to do about it.
type Known = (&'static str, &'static str);

/// Returns what a file is if it begins like something that is no video.
pub(crate) fn no_video(start: &[u8]) -> Option<Known> {
    const POINTER: &str = "get the files that pointers stand for: `git lfs pull`, or download them again";
    const PAGE: &str = "the server answered with a page in place of the file; open it to see what it says, and download \
                        the file again";
    const UNPACK: &str = "unpack it first";
    const PACKED: &str = "it is packed already: give it to the other commands, such as `vidrec inspect`, or import it";
    const STARTS: [(&[u8], Known); 9] = [
        (&recordio::MAGIC.to_le_bytes(), ("a RecordIO file", PACKED)),
        (&header::MAGIC, ("the index of a data set", PACKED)),
        (b"version https://git-lfs.github.com/", ("a Git LFS pointer", POINTER)),
        (b"PK\x03\x04", ("a ZIP archive, or a document of an office program", "unpack it, or export it as text")),
        (b"\x1F\x8B", ("a gzip file", UNPACK)),
        (b"\x28\xB5\x2F\xFD", ("a Zstandard file", UNPACK)),
        (b"7z\xBC\xAF\x27\x1C", ("a 7z archive", UNPACK)),
        (b"Rar!\x1A\x07", ("a RAR archive", UNPACK)),
        (b"%PDF-", ("a PDF document", "download the file again")),
    ];
    let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start).trim_ascii_start().to_ascii_lowercase();
    let is = |words: &[&[u8]]| words.iter().any(|word| text.starts_with(word));
    match STARTS.iter().find(|(begin, _)| start.starts_with(begin)) {
        Some((_, known)) => Some(*known),
        None if is(&[b"<!doctype html", b"<html", b"<head", b"<body"]) => Some(("an HTML page", PAGE)),
        None if is(&[b"/annex/objects/", b"../.git/annex", b".git/annex"]) => {
            Some(("a git-annex pointer", "`git annex get` the file"))
        }
        None => None,
    }
}

/// Returns what a file is that FFmpeg cannot open: text, or a kind of picture that it does not know.
pub(super) fn unknown(start: &[u8]) -> Option<Known> {
    let text = match std::str::from_utf8(start) {
        Ok(text) => Some(text),
        // The last character may be cut.
        Err(e) => std::str::from_utf8(&start[..e.valid_up_to()]).ok().filter(|_| e.error_len().is_none()),
    };
    let is_text = text.is_some_and(|text| text.chars().all(|c| !c.is_control() || c.is_whitespace()));
    match () {
        () if is_animated_webp(start) => {
            Some(("an animated WebP", "FFmpeg has no decoder for it; convert it to GIF, APNG or a video first"))
        }
        () if is_text => Some(("a text file", "see what it says, and download the video again")),
        () => None,
    }
}

/// Whether a file is WebP with the flag "animation" of its `VP8X` chunk (RFC 9649, 2.7).
fn is_animated_webp(start: &[u8]) -> bool {
    start.starts_with(b"RIFF")
        && start.get(8..16) == Some(b"WEBPVP8X")
        && start.get(20).is_some_and(|flags| flags & 2 != 0)
}
