//! Paths and locations in a manifest, resolved against its root.

use std::path::{Component, Path, PathBuf};

use vidrec_core::source_name;
use vidrec_core::store::location::is_remote;

/// Returns where a path of a manifest leads. A remote location, or a path from the root of the file system, stays
/// as it is.
pub(super) fn below(root: &Path, path: &Path) -> PathBuf {
    if is_remote(path) {
        return path.to_owned();
    }
    if !is_remote(root) || path.has_root() {
        return root.join(path);
    }
    // A location is percent-encoded; a path is not.
    let steps = path.components().filter(|step| *step != Component::CurDir);
    steps.fold(root.to_owned(), |root, step| root.join(encoded(&source_name::of_os_str(step.as_os_str()))))
}

/// Returns the source of a video: its path in a normal form, or its remote location unchanged.
pub(super) fn source(path: &Path) -> String {
    match path.to_str() {
        Some(location) if is_remote(path) => location.to_owned(),
        _ => source_name::of_path(path),
    }
}

/// Returns a name as a part of a remote location.
pub(super) fn encoded(name: &str) -> String {
    name.replace('%', "%25").replace('?', "%3F").replace('#', "%23")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_their_root_wherever_that_is() {
        for (root, path, expected) in [
            ("/data", "a/b.mp4", "/data/a/b.mp4"),
            ("/data", "s3://bucket/a.mp4", "s3://bucket/a.mp4"),
            ("s3://bucket/x", "a/b.mp4", "s3://bucket/x/a/b.mp4"),
            ("s3://bucket/x/", "./a b.mp4", "s3://bucket/x/a b.mp4"),
            ("https://host/x", "100%?#.mp4", "https://host/x/100%25%3F%23.mp4"),
            ("s3://bucket/x", "https://host/b.mp4", "https://host/b.mp4"),
            ("s3://bucket/x", "/data/b.mp4", "/data/b.mp4"),
        ] {
            assert_eq!(below(Path::new(root), Path::new(path)), Path::new(expected), "{root} {path}");
        }
        assert_eq!(source(Path::new("s3://bucket/a.mp4")), "s3://bucket/a.mp4");
        assert_eq!(source(Path::new("a/./b.mp4")), source_name::of_path(Path::new("a/./b.mp4")));
    }
}
