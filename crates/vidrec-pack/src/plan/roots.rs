//! Sources of videos from several inputs, whose paths below different roots may be the same text.
//!
//! If two roots give different videos the same source, all sources of these roots begin with the name of the root.
//! The name is the last folder of the root, or as many of its last folders as are needed to make all sources
//! differ. Other roots keep their sources, and so do inputs that have only one root.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::path::{Component, Path, PathBuf};

use super::job::FoundVideo;
use vidrec_core::source_name;
use vidrec_core::store::location;
use vidrec_core::store::location::is_remote;
use vidrec_format::error::{Error, Result};

/// The roots of the videos of the inputs, each once.
#[derive(Default)]
pub(super) struct Roots(Vec<Root>);

struct Root {
    /// The root without symbolic links, for comparisons.
    real: PathBuf,
    /// The names of the folders that lead to the root as the caller named it, from the top.
    names: Vec<String>,
}

impl Roots {
    /// Returns the number of a root, for [`FoundVideo::root`].
    ///
    /// # Errors
    ///
    /// The folder cannot be looked at.
    pub fn number(&mut self, folder: &Path) -> Result<usize> {
        if let Some((_, rest)) = location::split(folder) {
            let names = rest.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect();
            return Ok(self.add(folder.to_owned(), names));
        }
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let io = |e| Error::io("look at the folder", folder, e);
        // A root that does not exist has no videos to confuse. Each of its videos will be reported as missing.
        let absolute = std::path::absolute(folder).map_err(io)?;
        let real = folder.canonicalize().unwrap_or_else(|_| absolute.clone());
        let steps_up = absolute.components().any(|c| c == Component::ParentDir);
        let named = if steps_up { &real } else { &absolute };
        let names = named.components().filter(|c| matches!(c, Component::Normal(_)));
        let names = names.map(|c| source_name::of_os_str(c.as_os_str())).collect();
        Ok(self.add(real, names))
    }

    fn add(&mut self, real: PathBuf, names: Vec<String>) -> usize {
        self.0.iter().position(|root| root.real == real).unwrap_or_else(|| {
            self.0.push(Root { real, names });
            self.0.len() - 1
        })
    }

    /// Gives different sources to different videos that would have the same one, and returns a note that says so.
    pub fn keep_apart(&self, found: &mut [FoundVideo]) -> Option<String> {
        let (mut renamed, mut depth) = (BTreeSet::new(), 1);
        let mut example = None;
        while let Some((source, roots)) = self.clash(found, &renamed, depth) {
            let deepest = roots.iter().map(|&root| self.0[root].names.len()).max().unwrap_or(0);
            let known = roots.iter().all(|root| renamed.contains(root));
            // A root has no more names beyond its full path.
            if known && depth >= deepest {
                break;
            }
            depth += usize::from(known);
            renamed.extend(roots);
            example.get_or_insert(source);
        }
        let source = example?;
        for video in found.iter_mut().filter(|video| renamed.contains(&video.root)) {
            video.source = self.source(video, &renamed, depth).into_owned();
        }
        let prefixes: Vec<String> = renamed.iter().map(|&root| format!("{:?}", self.prefix(root, depth))).collect();
        Some(format!(
            "several inputs have a video {source:?}; to tell them apart, sources begin with {}",
            prefixes.join(", ")
        ))
    }

    /// Returns the first such source and all roots that give different videos the same source, while the sources of the roots `renamed` have
    /// prefixes.
    fn clash(
        &self,
        found: &[FoundVideo],
        renamed: &BTreeSet<usize>,
        depth: usize,
    ) -> Option<(String, BTreeSet<usize>)> {
        if self.0.len() < 2 {
            return None;
        }
        let mut first: HashMap<Cow<'_, str>, &FoundVideo> = HashMap::with_capacity(found.len());
        let mut clash = None;
        for video in found {
            let source = self.source(video, renamed, depth);
            let other = *first.entry(source.clone()).or_insert(video);
            if other.root != video.root && self.file(other) != self.file(video) {
                let new = || (source.into_owned(), BTreeSet::new());
                clash.get_or_insert_with(new).1.extend([other.root, video.root]);
            }
        }
        clash
    }

    fn source<'a>(&self, video: &'a FoundVideo, renamed: &BTreeSet<usize>, depth: usize) -> Cow<'a, str> {
        // A manifest may have whole paths, which do not depend on a root.
        if !renamed.contains(&video.root) || Path::new(&video.source).has_root() || is_remote(&video.source) {
            return Cow::Borrowed(&video.source);
        }
        format!("{}/{}", self.prefix(video.root, depth), video.source).into()
    }

    fn prefix(&self, root: usize, depth: usize) -> String {
        let names = &self.0[root].names;
        names[names.len().saturating_sub(depth)..].join("/")
    }

    /// Returns the file of a video, which is the same however its root was named.
    fn file(&self, video: &FoundVideo) -> PathBuf {
        below(&self.0[video.root].real, &source_name::to_path(&video.source))
    }
}

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
    use super::super::labels::Label;
    use super::*;

    /// Returns the sources that videos get, and the note. The videos are given as roots and sources.
    fn apart(videos: &[(&str, &str)]) -> (Vec<String>, Option<String>) {
        let mut roots = Roots::default();
        let mut found: Vec<FoundVideo> = Vec::new();
        for (root, source) in videos {
            let mut video = FoundVideo::new(Path::new(root).join(source), (*source).to_owned(), Label::None);
            video.root = roots.number(Path::new(root)).unwrap();
            found.push(video);
        }
        let note = roots.keep_apart(&mut found);
        (found.into_iter().map(|video| video.source).collect(), note)
    }

    #[test]
    fn the_same_file_twice_is_no_clash() {
        for videos in [
            &[("/n/a", "x/3"), ("/n/a", "x/3")][..],
            &[("/n/a", "x/3"), ("/n/./a", "x/3")],
            &[("/n/a", "/m/3"), ("/n/b", "/m/3")],
            &[("/n/a", "x/3"), ("/n/b", "x/4")],
        ] {
            let (sources, note) = apart(videos);
            assert!(note.is_none() && sources.iter().zip(videos).all(|(now, then)| now == then.1), "{sources:?}");
        }
    }

    #[test]
    fn roots_whose_sources_clash_get_a_prefix() {
        for (videos, expected) in [
            (&[("/n/a", "x/3"), ("/n/b", "x/3"), ("/n/b", "/x/3")][..], ["a/x/3", "b/x/3", "/x/3"]),
            (&[("/n/one/v", "3"), ("/n/two/v", "3"), ("/n/w", "3")], ["one/v/3", "two/v/3", "n/w/3"]),
            (&[("/x", "x/3"), ("/y/x/x", "3"), ("/y/x/x", "x/3")], ["x/x/3", "y/x/x/3", "y/x/x/x/3"]),
            (&[("/n/a", "3"), ("/n/b", "3"), ("/n/c", "a/3")], ["a/3", "b/3", "c/a/3"]),
        ] {
            assert_eq!(apart(videos).0, expected);
        }
    }

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
