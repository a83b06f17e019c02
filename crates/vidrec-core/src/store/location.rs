//! Where a data set is: in a folder, in object storage, or on a web server.
//!
//! A location is always a [`Path`], so that error messages name it as they name files. A location that begins with
//! a scheme (`s3://bucket/train`) is remote.

use std::path::Path;

use vidrec_format::error::{Error, ErrorKind, HOME, Result};

/// The scheme of a location and the text after `://`; `None` for a path.
///
/// A scheme has the syntax of RFC 3986, section 3.1, but at least two characters: `C://videos` is a folder on
/// Windows.
pub fn split(location: &Path) -> Option<(&str, &str)> {
    // Millions of paths are asked. Most of them differ from a location in their first few bytes.
    let bytes = location.as_os_str().as_encoded_bytes();
    let end = bytes.iter().position(|b| !b.is_ascii_alphanumeric() && !matches!(b, b'+' | b'-' | b'.'))?;
    if end < 2 || !bytes[0].is_ascii_alphabetic() || !bytes[end..].starts_with(b"://") {
        return None;
    }
    let (scheme, rest) = location.to_str()?.split_at(end);
    Some((scheme, &rest[3..]))
}

/// Returns whether a location is remote: whether it begins with a scheme, such as `s3://`, `gs://`, `az://`, `hf://`,
/// `https://` or `http://`.
///
/// ```
/// assert!(vidrec::is_remote("s3://bucket/train"));
/// assert!(!vidrec::is_remote("folder/train") && !vidrec::is_remote("C:\\videos"));
/// ```
pub fn is_remote(location: impl AsRef<Path>) -> bool {
    split(location.as_ref()).is_some()
}

/// Whether an error says that a remote object could not be fetched, although it may exist.
pub fn is_of_network(e: &Error) -> bool {
    e.kind() == ErrorKind::Io && e.path().is_some_and(is_remote) && !e.is_missing()
}

/// Refuses to write at a location that is not on this machine's file systems, and in a home folder as a shell writes it.
pub fn refuse_to_write(location: &Path) -> Result<()> {
    if location.starts_with("~") && !Path::new("~").exists() {
        return Err(Error::usage("there is no folder ~").file(location).help(HOME));
    }
    if !is_remote(location) {
        return Ok(());
    }
    let e = Error::usage("vidrec writes this to local folders only").file(location);
    Err(e.help("write to a local folder, and push that folder to the location"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_tells_a_remote_location_from_a_path() {
        for location in ["s3://bucket/train", "https://host:80/a%20b", "az://c", "weird+x://y"] {
            assert!(is_remote(location), "{location}");
            assert!(refuse_to_write(Path::new(location)).is_err(), "{location}");
        }
        for path in ["train", "./s3:/x", "a/b://c", "C://videos", "://x", "3s://x", "s3:/x", ""] {
            assert!(!is_remote(path), "{path}");
            assert!(refuse_to_write(Path::new(path)).is_ok(), "{path}");
        }
        assert!(refuse_to_write(Path::new("~/train")).is_err() && refuse_to_write(Path::new("~train")).is_ok());
        // Records and indexes of a data set are named like this.
        let location = Path::new("s3://bucket/train").join("dataset.json");
        assert_eq!(location.to_str(), Some("s3://bucket/train/dataset.json"));
        assert_eq!(location.with_file_name("x.rec").to_str(), Some("s3://bucket/train/x.rec"));
    }
}
