//! Finds the tracks of MP4 and MOV files (ISO/IEC 14496-12) whose samples are encrypted.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::time::Instant;

/// The types of encrypted samples: those of Common Encryption (ISO/IEC 23001-7) and of FairPlay.
const ENCRYPTED: [&[u8; 4]; 4] = [b"encv", b"enca", b"drmi", b"drms"];

/// The boxes that a file may start with.
const FIRST: [&[u8; 4]; 9] = [b"ftyp", b"styp", b"moov", b"mdat", b"free", b"skip", b"wide", b"pnot", b"uuid"];

/// The search ends after this many boxes. Real files have a few dozen up to the end of their tracks.
const MOST_BOXES: u32 = 20_000;

/// Whether a file with these first bytes consists of boxes.
pub(super) fn begins(start: &[u8; 12]) -> bool {
    FIRST.iter().any(|kind| start[4..8] == kind[..])
}

/// Returns the numbers of the tracks with encrypted samples, and the types of these samples. Data that cannot be
/// read counts as having none.
pub(super) fn encrypted_tracks(source: &mut (impl Read + Seek), end: u64, deadline: Instant) -> Vec<(u32, [u8; 4])> {
    let mut reader = BoxReader { inner: source, deadline, left: MOST_BOXES };
    let mut found = Vec::new();
    // Tracks found before an error count.
    let _ = reader.tracks(0..end, &mut found);
    found
}

/// A box: its type, and where its content lies.
pub struct Found {
    kind: [u8; 4],
    content: Range<u64>,
}

struct BoxReader<'a, R> {
    inner: &'a mut R,
    deadline: Instant,
    /// How many more boxes may be read.
    left: u32,
}

impl<R: Read + Seek> BoxReader<'_, R> {
    fn tracks(&mut self, file: Range<u64>, found: &mut Vec<(u32, [u8; 4])>) -> io::Result<()> {
        let Some(mut movie) = self.find(file, b"moov")? else { return Ok(()) };
        while let Some(track) = self.next(&mut movie)? {
            if &track.kind == b"trak"
                && let Some(entry) = self.encrypted_entry(track.content.clone())?
                && let Some(number) = self.number(track.content)?
            {
                found.push((number, entry));
            }
        }
        Ok(())
    }

    /// Returns the type of the first encrypted samples of a track.
    fn encrypted_entry(&mut self, track: Range<u64>) -> io::Result<Option<[u8; 4]>> {
        let mut within = track;
        for kind in [b"mdia", b"minf", b"stbl", b"stsd"] {
            let Some(content) = self.find(within, kind)? else { return Ok(None) };
            within = content;
        }
        // Version, flags and a count come first.
        within.start = within.start.saturating_add(8);
        while let Some(entry) = self.next(&mut within)? {
            if ENCRYPTED.contains(&&entry.kind) {
                return Ok(Some(entry.kind));
            }
        }
        Ok(None)
    }

    /// Returns the number of a track.
    fn number(&mut self, track: Range<u64>) -> io::Result<Option<u32>> {
        let Some(header) = self.find(track, b"tkhd")? else { return Ok(None) };
        // Version and flags come first, then two times, which take 8 bytes each in version 1.
        let version = self.bytes::<1>(header.start)?;
        let number = self.bytes::<4>(header.start.saturating_add(if version == [1] { 20 } else { 12 }))?;
        Ok(Some(u32::from_be_bytes(number)))
    }

    /// Returns the content of the first box of a kind.
    fn find(&mut self, mut within: Range<u64>, kind: &[u8; 4]) -> io::Result<Option<Range<u64>>> {
        while let Some(found) = self.next(&mut within)? {
            if &found.kind == kind {
                return Ok(Some(found.content));
            }
        }
        Ok(None)
    }

    /// Returns the box at the start of `within`, and removes it from `within`.
    fn next(&mut self, within: &mut Range<u64>) -> io::Result<Option<Found>> {
        let room = within.end.saturating_sub(within.start);
        if room < 8 || self.left == 0 || Instant::now() >= self.deadline {
            return Ok(None);
        }
        self.left -= 1;
        let head = self.bytes::<8>(within.start)?;
        let [a, b, c, d, kind @ ..] = head;
        let (head, size) = match u32::from_be_bytes([a, b, c, d]) {
            0 => (8, room),
            1 => (16, u64::from_be_bytes(self.bytes(within.start + 8)?)),
            size => (8, u64::from(size)),
        };
        if size < head || size > room {
            return Ok(None);
        }
        let start = within.start;
        within.start = start + size;
        Ok(Some(Found { kind, content: start + head..start + size }))
    }

    fn bytes<const N: usize>(&mut self, at: u64) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.inner.seek(SeekFrom::Start(at))?;
        self.inner.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::time::Duration;

    use super::*;

    fn atom(kind: &[u8; 4], content: &[&[u8]]) -> Vec<u8> {
        let content = content.concat();
        [&(content.len() as u32 + 8).to_be_bytes()[..], kind, &content].concat()
    }

    fn track(number: u32, version: u8, entries: &[&[u8; 4]]) -> Vec<u8> {
        let times: &[u8] = if version == 1 { &[0; 16] } else { &[0; 8] };
        let header = atom(b"tkhd", &[&[version, 0, 0, 0], times, &number.to_be_bytes(), &[0; 60]]);
        let entries: Vec<u8> = entries.iter().flat_map(|kind| atom(kind, &[&[0; 30]])).collect();
        let table = atom(b"stbl", &[&atom(b"stsd", &[&[0, 0, 0, 0, 0, 0, 0, 1], &entries])]);
        atom(b"trak", &[&header, &atom(b"mdia", &[&atom(b"minf", &[&table])])])
    }

    fn movie() -> Vec<u8> {
        let tracks = [
            track(1, 0, &[b"avc1"]),
            track(2, 0, &[b"avc1", b"encv"]),
            track(7, 1, &[b"enca"]),
            track(8, 0, &[b"mp4a"]),
        ];
        // Its length takes 64 bits.
        let media = [&1u32.to_be_bytes()[..], b"mdat", &26u64.to_be_bytes(), &[9; 10]].concat();
        [atom(b"ftyp", &[b"isom"]), media, atom(b"moov", &[&tracks.concat()])].concat()
    }

    fn encrypted(bytes: &[u8]) -> Vec<(u32, [u8; 4])> {
        let deadline = Instant::now() + Duration::from_secs(100);
        encrypted_tracks(&mut Cursor::new(bytes), bytes.len() as u64, deadline)
    }

    #[test]
    fn nonsense_ends_the_search() {
        let movie = movie();
        for cut in 0..movie.len() {
            assert!(encrypted(&movie[..cut]).len() <= 2);
        }
        for at in 0..movie.len() {
            for value in [0, 1, 7, 0x80, 0xff] {
                let mut bytes = movie.clone();
                bytes[at] = value;
                assert!(encrypted(&bytes).len() <= 2);
            }
        }
        let many = atom(b"free", &[]).repeat(MOST_BOXES as usize);
        assert!(encrypted(&[many, movie].concat()).is_empty());
    }
}
