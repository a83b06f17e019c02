//! Where an exported page lies, and how it addresses data sets from there.

use std::path::{Component, Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::outcome::Failure;

/// The name of the page in the folder of a data set.
const NAME: &str = "browse.html";
/// What need not be escaped in a segment of a path.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The path of the page, and for each data set the address of its folder relative to the page.
pub fn place(sets: &[PathBuf], output: Option<&Path>) -> Result<(PathBuf, Vec<String>), Failure> {
    match (sets, output) {
        ([set], Some(output)) if vidrec::is_remote(set) => Ok((output.to_owned(), vec!["./".into()])),
        (sets, _) if sets.iter().any(vidrec::is_remote) => Err(match sets.len() {
            1 => "vidrec writes pages to local folders only: set --output, and copy the page into the folder of the data set",
            _ => "a page beside a remote data set shows one data set: export one for each",
        }
        .into()),
        ([set], None) => folder(set).map(|_| (set.join(NAME), vec!["./".into()])),
        (_, None) => Err("set --output to a file in a folder that the web server offers together with the data sets".into()),
        (sets, Some(output)) => {
            let parent = output.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let home = parent.canonicalize().map_err(|e| format!("{}: {e}", parent.display()))?;
            let from_home = |set: &PathBuf| Ok(relative(&home, &folder(set)?));
            Ok((output.to_owned(), sets.iter().map(from_home).collect::<Result<_, Failure>>()?))
        }
    }
}

/// The folder of a data set, which has a `dataset.json` for the page to read.
fn folder(set: &Path) -> Result<PathBuf, Failure> {
    let folder = set.canonicalize().map_err(|e| format!("{}: {e}", set.display()))?;
    if folder.join("dataset.json").is_file() {
        return Ok(folder);
    }
    Err(format!("{}: a page needs the folder of a data set with its dataset.json", set.display()).into())
}

/// The address of a folder relative to another. Both paths are absolute and without `..`.
fn relative(home: &Path, folder: &Path) -> String {
    let (mut from, mut to) = (home.components().peekable(), folder.components().peekable());
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    let up = from.map(|_| "../".to_owned());
    let down =
        to.map(|part: Component<'_>| format!("{}/", utf8_percent_encode(&part.as_os_str().to_string_lossy(), ESCAPED)));
    let address: String = up.chain(down).collect();
    if address.is_empty() { "./".into() } else { address }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_from_the_page_to_the_data_set() {
        let of = |home: &str, folder: &str| relative(Path::new(home), Path::new(folder));
        assert_eq!(
            (of("/a", "/a"), of("/a", "/a/b c/d"), of("/a/x", "/a/y")),
            ("./".into(), "b%20c/d/".into(), "../y/".into())
        );
        assert_eq!(of("/", "/%3f#?/é"), "%253f%23%3F/%C3%A9/");
    }
}
