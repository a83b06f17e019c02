//! The bytes of files that name videos or classes, as text.

use std::path::Path;

use crate::video::no_video;
use vidrec_format::error::{Error, Result};

/// Returns the bytes without the mark at their start.
///
/// # Errors
///
/// The file is not text in UTF-8 or in a similar encoding.
pub(super) fn body<'a>(bytes: &'a [u8], file: &Path) -> Result<&'a [u8]> {
    let refused = |what: &str| Error::usage(format!("this is {what}")).file(file).expected("text in UTF-8");
    let start = &bytes[..bytes.len().min(1024)];
    if start.starts_with(b"\xFF\xFE") || start.starts_with(b"\xFE\xFF") {
        return Err(refused("text in UTF-16").help("save it as UTF-8, for instance with `iconv -f UTF-16 -t UTF-8`"));
    }
    if start.contains(&0) {
        return Err(refused("no text, or text in UTF-16 without a mark at its start")
            .help("save it as UTF-8, for instance with `iconv -f UTF-16LE -t UTF-8`"));
    }
    match no_video(start) {
        Some((what, help)) => Err(refused(what).help(help)),
        None => Ok(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)),
    }
}

/// Returns a line or a cell as text. The error says what is wrong with it.
pub(super) fn decoded(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|e| {
        let byte = bytes.get(e.valid_up_to()).copied().unwrap_or_default();
        format!(
            "the byte {byte:#04x} is not UTF-8; save the file as UTF-8, or convert it: with `iconv -f CP1252 -t UTF-8` if \
             it is from a spreadsheet on Windows"
        )
    })
}

/// Returns all of a file as text.
///
/// # Errors
///
/// It is not UTF-8. The error names the line.
pub(super) fn whole<'a>(bytes: &'a [u8], file: &Path) -> Result<&'a str> {
    let body = body(bytes, file)?;
    if let Some((line, Err(what))) = lines(body).find(|(_, text)| text.is_err()) {
        return Err(Error::usage(format!("line {line}: {what}")).file(file));
    }
    decoded(body).map_err(|what| Error::usage(what).file(file))
}

/// Returns the lines that are not blank, without the spaces at their ends, with their numbers from 1.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = (u64, Result<&str, String>)> {
    let lines = (1..).zip(text.split(|&byte| byte == b'\n')).map(|(number, line)| (number, decoded(line)));
    lines.map(|(number, line)| (number, line.map(str::trim_end))).filter(|(_, line)| line != &Ok(""))
}
