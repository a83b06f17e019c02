//! File names from patterns such as `data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet`, or in version 2
//! `data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet`.

use std::path::{Component, Path, PathBuf};

/// A pattern of paths in the folder of the data set.
#[derive(Debug)]
pub(super) struct Pattern(Vec<Piece>);

#[derive(Debug)]
enum Piece {
    Text(String),
    Chunk(usize),
    File(usize),
    Key,
}

impl Pattern {
    /// Reads a pattern. The error says what is wrong with it.
    pub fn new(text: &str) -> Result<Self, String> {
        let (mut pieces, mut rest) = (Vec::new(), text);
        while let Some((before, after)) = rest.split_once('{') {
            let (field, after) = after.split_once('}').ok_or("a brace is not closed")?;
            pieces.push(Piece::Text(before.into()));
            pieces.push(Piece::of(field).ok_or_else(|| format!("it has no field {{{field}}}"))?);
            rest = after;
        }
        pieces.push(Piece::Text(rest.into()));
        let pattern = Pattern(pieces);
        pattern.path("key", 0, 0)?;
        Ok(pattern)
    }

    /// Returns the path for a feature and the numbers of a chunk and a file. It is an error if the path leaves the
    /// folder.
    pub fn path(&self, key: &str, chunk: u64, file: u64) -> Result<PathBuf, String> {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Chunk(width) => format!("{chunk:0width$}"),
            Piece::File(width) => format!("{file:0width$}"),
            Piece::Key => key.to_owned(),
        };
        let path: String = self.0.iter().map(text).collect();
        let inside = Path::new(&path).components().all(|step| matches!(step, Component::Normal(_)));
        if path.is_empty() || !inside || path.contains(['\\', '\0']) {
            return Err(format!("{path:?} leads out of the data set's folder"));
        }
        Ok(path.into())
    }
}

impl Piece {
    /// Reads a field such as `chunk_index:03d`.
    fn of(field: &str) -> Option<Self> {
        /// The most digits that are accepted.
        const MOST: usize = 20;
        let (name, format) = field.split_once(':').unwrap_or((field, "0d"));
        let width = format.strip_suffix('d')?.parse().ok().filter(|&width| width <= MOST && format.starts_with('0'))?;
        match name {
            "chunk_index" | "episode_chunk" => Some(Piece::Chunk(width)),
            "file_index" | "episode_index" => Some(Piece::File(width)),
            "video_key" if !field.contains(':') => Some(Piece::Key),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_become_names() {
        let path = |pattern: &str| Pattern::new(pattern).unwrap().path("observation.images.top", 7, 1234).unwrap();
        let usual = path("videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4");
        assert_eq!(usual, Path::new("videos/observation.images.top/chunk-007/file-1234.mp4"));
        assert_eq!(path("{chunk_index}-{file_index:06d}"), Path::new("7-001234"));
        assert_eq!(
            path("{episode_chunk:03d}/{video_key}_{episode_index:06d}"),
            Path::new("007/observation.images.top_001234")
        );
    }

    #[test]
    fn other_fields_and_ways_out_are_refused() {
        for bad in ["{", "{x}", "{chunk_index:3x}", "{chunk_index:0999d}", "{video_key:03d}", "{0.__class__}", ""] {
            assert!(Pattern::new(bad).is_err(), "{bad}");
        }
        for bad in ["/a/{chunk_index}", "../a", "a/../../b", "./a", "a\\b", "a\0b"] {
            assert!(Pattern::new(bad).unwrap_err().contains("leads out"), "{bad}");
        }
        let keys = Pattern::new("videos/{video_key}/a.mp4").unwrap();
        for bad in ["..", "a/../..", "\\x"] {
            assert!(keys.path(bad, 0, 0).is_err(), "{bad}");
        }
        assert!(Pattern::new("{video_key}/a").unwrap().path("/etc", 0, 0).is_err());
    }
}
