//! Checks whether paths lead out of a folder. A folder from elsewhere may contain links to anything on this machine.

use std::collections::HashMap;
use std::fs;
use std::path::Component;
use std::path::{Path, PathBuf};

use vidrec_format::error::{Error, Hint, Result};

/// A folder that the user named, to check whether paths found in it stay inside it.
#[derive(Debug)]
pub struct Inside {
    /// Without links.
    root: PathBuf,
    /// Whether each known folder lies inside.
    known: HashMap<PathBuf, bool>,
}

impl Inside {
    pub fn new(root: &Path) -> Result<Self> {
        let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
        let root = fs::canonicalize(root).map_err(|e| Error::io("open the folder", root, e))?;
        Ok(Inside { root, known: HashMap::new() })
    }

    /// Returns whether a path leads to something in the folder, through any links. A path that cannot be checked
    /// counts as inside: it cannot be read either, and its reader reports that.
    pub fn holds(&mut self, path: &Path) -> bool {
        let is_file = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
        // A file without links lies in its own folder, so only the folder is checked.
        let Some(folder) = path.parent().filter(|_| is_file) else { return self.leads_in(path) };
        if let Some(known) = self.known.get(folder) {
            return *known;
        }
        let found = self.leads_in(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        self.known.insert(folder.to_owned(), found);
        found
    }

    /// Like [`holds`](Self::holds), but also checks the files of a folder of frames.
    pub fn holds_all(&mut self, path: &Path) -> bool {
        let files = fs::read_dir(path).into_iter().flatten().flatten();
        self.holds(path) && files.map(|file| file.path()).all(|file| self.holds(&file))
    }

    fn leads_in(&self, path: &Path) -> bool {
        fs::canonicalize(path).map_or(true, |real| real.starts_with(&self.root))
    }

    /// Refuses a path that leads out of the folder.
    pub fn check(&mut self, path: &Path) -> Result<()> {
        if self.holds(path) { Ok(()) } else { Err(outside("this path leads out of the input folder").file(path)) }
    }
}

/// The fault of a video that is, or is behind, a link out of the folder that was named.
pub const LEADS_OUT: &str = "a link leads out of the input folder";

/// Whether `path` lies below `root`, by its components alone.
pub fn is_below(root: &Path, path: &Path) -> bool {
    let is_down = |step: Component<'_>| matches!(step, Component::Normal(_) | Component::CurDir);
    path.strip_prefix(root).is_ok_and(|rest| rest.components().all(is_down))
}

/// The error about a path that leads out of a folder.
pub fn outside(what: impl Into<String>) -> Error {
    Error::usage(what).help("if you trust whoever made the folder, you can allow this").hint(Hint::Set("outside"))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_lead_out_or_not() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        fs::create_dir_all(at("set/deep")).unwrap();
        fs::create_dir_all(at("settled")).unwrap();
        for file in ["set/a", "set/deep/b", "settled/c", "d"] {
            fs::write(at(file), "").unwrap();
        }
        for (to, from) in [
            ("../d", "set/out"),
            ("../settled", "set/folder"),
            ("deep/b", "set/in"),
            ("../set/a", "set/back"),
            ("none", "set/dangling"),
            ("../../d", "set/deep/out"),
        ] {
            symlink(to, at(from)).unwrap();
        }
        symlink("set", at("named")).unwrap();
        for root in ["set", "named"] {
            let mut inside = Inside::new(&at(root)).unwrap();
            for name in ["a", "deep/b", "in", "back", "dangling", "none", "deep", "deep/../a", "."] {
                assert!(inside.holds(&at(root).join(name)), "{name}");
            }
            for name in ["out", "folder", "folder/c", "..", "../d", "deep/out", "../settled/c"] {
                assert!(!inside.holds(&at(root).join(name)), "{name}");
            }
            assert!(inside.holds_all(&at(root).join("a")) && !inside.holds_all(&at(root).join("deep")));
            assert!(inside.check(&at(root).join("out")).unwrap_err().to_string().contains("leads out"));
        }
    }

    #[test]
    fn steps_down_are_below() {
        for (root, path, expected) in [
            ("/a", "/a/b/c", true),
            ("/a", "/a/./b", true),
            ("", "b", true),
            ("s3://bucket/x", "s3://bucket/x/b", true),
            ("/a", "/a/../b", false),
            ("/a", "/ab", false),
            ("/a", "/etc/passwd", false),
            ("", "../b", false),
            ("", "/b", false),
            ("s3://bucket/x", "s3://bucket/x/../y", false),
        ] {
            assert_eq!(is_below(Path::new(root), Path::new(path)), expected, "{root} {path}");
        }
    }
}
