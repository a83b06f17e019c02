//! Files of a data set by the part of their names that does not depend on their content.

use std::fs;
use std::path::{Path, PathBuf};

/// The file in `dir` that is `name`, or `name` with the digits of a digest before its ending: `shard-00000.rec` is
/// `shard-00000-0123456789ab.rec`. Where there is neither, `name` in `dir`.
pub fn file(dir: impl AsRef<Path>, name: &str) -> PathBuf {
    let dir = dir.as_ref();
    let (stem, ending) = name.rsplit_once('.').unwrap();
    let fits = |found: &str| {
        let digits =
            found.strip_prefix(stem).and_then(|rest| rest.strip_prefix('-')?.strip_suffix(ending)?.strip_suffix('.'));
        found == name
            || digits.is_some_and(|digits| digits.len() == 12 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    let entries = fs::read_dir(dir).into_iter().flatten().map(|e| e.unwrap().file_name().into_string().unwrap());
    let found: Vec<String> = entries.filter(|found| fits(found)).collect();
    assert!(found.len() < 2, "{found:?}");
    dir.join(found.first().map_or(name, String::as_str))
}
