//! A track file in parts, put together without the crate's writer, which refuses to write what a vector needs.

use vidrec::raw::crc32;

/// What a track file is made from.
#[derive(Clone)]
pub struct Tracks {
    pub schema: String,
    /// The tracks of each clip.
    pub clips: Vec<Vec<Track>>,
    /// Bytes before the second block that nothing owns.
    pub gap: usize,
}

/// A track of a clip.
#[derive(Clone, Default)]
pub struct Track {
    /// Its number in the schema, and 2^16 times the number of its coding.
    pub number: u32,
    pub count: u64,
    pub first_ns: i64,
    pub rate: [u32; 2],
    pub bytes: Vec<u8>,
}

/// Numbers as their bytes.
pub fn le<const N: usize, T: Copy>(numbers: &[T], bytes: fn(T) -> [u8; N]) -> Vec<u8> {
    numbers.iter().flat_map(|&n| bytes(n)).collect()
}

/// Texts with their offsets.
pub fn texts(texts: &[&str]) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    let mut end = 0;
    for text in texts {
        end += text.len() as u32;
        bytes.extend(end.to_le_bytes());
    }
    [bytes, texts.concat().into_bytes()].concat()
}

/// Times after values.
pub fn timed(mut values: Vec<u8>, times: &[i64]) -> Vec<u8> {
    values.resize(values.len().next_multiple_of(8), 0);
    [values, le(times, i64::to_le_bytes)].concat()
}

impl Tracks {
    /// The file, with every checksum right.
    pub fn file(&self) -> File {
        let mut bytes = b"\x89VTRK\r\n\x1a\x01\0\x01\0".to_vec();
        bytes.resize(64, 0);
        let (mut blocks, mut table) = (Vec::new(), Vec::new());
        for (clip, tracks) in self.clips.iter().enumerate() {
            if tracks.is_empty() {
                table.extend([0; 24]);
                blocks.push(None);
                continue;
            }
            if blocks.len() == 1 {
                bytes.resize(bytes.len() + self.gap, 0);
            }
            bytes.resize(bytes.len().next_multiple_of(64), 0);
            let (start, mut block) = (bytes.len(), vec![0; 8 + 48 * tracks.len()]);
            block[..4].copy_from_slice(&(tracks.len() as u32).to_le_bytes());
            block[4..8].copy_from_slice(&(clip as u32).to_le_bytes());
            for (i, track) in tracks.iter().enumerate() {
                block.resize(block.len().next_multiple_of(64), 0);
                let mut entry = [track.number, 0].map(u32::to_le_bytes).concat();
                entry
                    .extend([block.len() as u64, track.bytes.len() as u64, track.count].map(u64::to_le_bytes).concat());
                entry.extend(track.first_ns.to_le_bytes());
                entry.extend(track.rate.map(u32::to_le_bytes).concat());
                block[8 + 48 * i..][..48].copy_from_slice(&entry);
                block.extend_from_slice(&track.bytes);
            }
            table.extend([start as u64, block.len() as u64, 0].map(u64::to_le_bytes).concat());
            blocks.push(Some(start));
            bytes.extend(block);
        }
        bytes.resize(bytes.len().next_multiple_of(64), 0);
        let (at, clips) = (bytes.len() as u64, self.clips.len() as u64);
        let schema_at = at + table.len() as u64;
        bytes.extend(table);
        bytes.extend_from_slice(self.schema.as_bytes());
        let length = bytes.len() as u64 + 64;
        bytes.extend([length, clips, at, schema_at].map(u64::to_le_bytes).concat());
        bytes.extend((self.schema.len() as u32).to_le_bytes());
        bytes.extend([0; 20]);
        bytes.extend(*b"\x89VTRK\r\n\x1a");
        let mut file = File { bytes, blocks, table: at as usize };
        file.seal(Seal::Tracks);
        file
    }
}

/// From which checksum on a file that was changed is made right again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seal {
    /// Those of tracks, of directories, of entries and of the ends.
    Tracks,
    /// All but those of tracks.
    Directories,
    Entries,
    /// Those of header, schema and footer.
    Ends,
    /// That of the footer.
    Footer,
}

/// The bytes of a track file, to be changed in place.
#[derive(Clone)]
pub struct File {
    pub bytes: Vec<u8>,
    /// Where the block of each clip begins.
    pub blocks: Vec<Option<usize>>,
    pub table: usize,
}

impl File {
    pub fn change(mut self, from: Seal, change: impl FnOnce(&mut Self)) -> Vec<u8> {
        change(&mut self);
        self.seal(from);
        self.bytes
    }

    /// Where entry `i` of the directory of a clip is.
    pub fn entry(&self, clip: usize, i: usize) -> usize {
        self.blocks[clip].unwrap() + 8 + 48 * i
    }

    /// Where the bytes of track `i` of a clip begin.
    pub fn track(&self, clip: usize, i: usize) -> usize {
        self.blocks[clip].unwrap() + self.u64(self.entry(clip, i) + 8) as usize
    }

    /// The footer's place.
    pub fn footer(&self) -> usize {
        self.bytes.len() - 64
    }

    pub fn u32(&mut self, at: usize, value: u32) {
        self.bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    pub fn add(&mut self, at: usize, n: u64) {
        let sum = self.u64(at).wrapping_add(n);
        self.bytes[at..at + 8].copy_from_slice(&sum.to_le_bytes());
    }

    pub fn flip(&mut self, at: usize) {
        self.bytes[at] ^= 1;
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes[at..at + 8].try_into().unwrap())
    }

    fn u32_at(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes[at..at + 4].try_into().unwrap())
    }

    fn count(&self, block: usize) -> usize {
        self.u32_at(block) as usize
    }

    fn seal(&mut self, from: Seal) {
        for (clip, block) in self.blocks.clone().into_iter().enumerate() {
            let entry = self.table + 24 * clip;
            if let Some(block) = block {
                for i in (0..self.count(block).min(9)).filter(|_| from <= Seal::Tracks) {
                    let (at, entry) = (self.track(clip, i), self.entry(clip, i));
                    let (length, count) = (self.u64(entry + 16) as usize, self.u64(entry + 24) as usize);
                    // Pictures are in tracks of timing `frames` or `times`, of which the second is number 1.
                    let summed = match self.bytes[entry + 2] {
                        1 => length.min(8 * count.div_ceil(4096)),
                        2 => length.min(8 * count.div_ceil((self.u32_at(entry + 40) as usize / 2).max(1))),
                        3 => length.min(8 * count * (1 + usize::from(self.bytes[entry]))),
                        _ => length,
                    };
                    let crc = crc32(&self.bytes[at..at + summed]);
                    self.u32(entry + 4, crc);
                }
                if from <= Seal::Directories {
                    let end = self.bytes.len().min(block + 8 + 48 * self.count(block));
                    let crc = crc32(&self.bytes[block..end]);
                    self.u32(entry + 16, crc);
                }
            }
            if from <= Seal::Entries {
                let crc = crc32(&[&self.bytes[entry..entry + 20], &(clip as u64).to_le_bytes()].concat());
                self.u32(entry + 20, crc);
            }
        }
        let footer = self.footer();
        if from <= Seal::Ends {
            let crc = crc32(&self.bytes[..60]);
            self.u32(60, crc);
            self.u32(footer + 40, crc);
            let schema = self.u64(footer + 24) as usize;
            let crc = crc32(&self.bytes[schema.min(footer)..footer]);
            self.u32(footer + 36, crc);
        }
        let crc = crc32(&self.bytes[footer..footer + 52]);
        self.u32(footer + 52, crc);
    }
}
