//! Keeps the sound of whole videos, for clips that are parts of them.
//!
//! Where a part begins in the coded sound follows from all sound before it: decoders carry noise from frame to frame, and
//! gaps shift what comes later. So a part has the samples that it has in the whole, and the whole is decoded once.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;

use super::options::AudioOptions;
use super::read::{MAX_BYTES, Sound, after, read};
use crate::video::container::VideoFile;
use crate::video::error::{Stage, VideoError};
use crate::video::facts::AudioFacts;

/// The most bytes of sound that are kept of a video: more than an hour at 16 kHz and one channel.
const MOST_BYTES: usize = 128 << 20;

/// The number of videos whose sound is kept. Parts of a video come one after another, on several threads.
const MOST_VIDEOS: usize = 2;

/// The sound of the videos that were read last.
#[derive(Debug, Default)]
pub(crate) struct SoundCache(Mutex<Vec<CachedSound>>);

/// All that decides the sound of a video: its path, the size and time of its file, and how it is read.
type Key = (PathBuf, Option<(u64, u64)>, (AudioOptions, Option<u32>));

/// The sound of a video. Whoever needs it waits while another thread decodes it.
#[derive(Debug, Clone)]
struct CachedSound {
    key: Key,
    whole: Arc<Mutex<SoundState>>,
}

#[derive(Debug)]
enum SoundState {
    Unknown,
    TooLong,
    Read(Option<Sound>, AudioFacts),
}

impl SoundCache {
    /// Reads the sound of a part of a video, as [`read`] does. Of a video with little sound, it is read once for all
    /// parts that come one after another, as long as the size and time of its file, `stamp`, are the same.
    pub fn read_part(
        &self,
        (file, stamp): (&VideoFile, Option<(u64, u64)>),
        options: (&AudioOptions, Option<u32>),
        part: (i64, i64),
        deadline: Instant,
    ) -> Result<(Option<Sound>, AudioFacts), VideoError> {
        let kept = self.kept((file.path().to_owned(), stamp, (*options.0, options.1)));
        let mut whole = kept.lock();
        if matches!(*whole, SoundState::Unknown) {
            *whole = match read(file, options, (i64::MIN, i64::MAX), MOST_BYTES, deadline) {
                Ok((sound, facts)) => SoundState::Read(sound, facts),
                Err(e) if e.stage == Stage::Limit => SoundState::TooLong,
                Err(e) => return Err(e),
            };
        }
        if let SoundState::Read(sound, facts) = &*whole {
            let cut = |sound: &Sound| sound.part(part, options.0.rate);
            return Ok((sound.as_ref().map(cut), facts.clone()));
        }
        drop(whole);
        read(file, options, part, MAX_BYTES, deadline)
    }

    /// The place of the sound of a video, which is kept from now on instead of that of the video that was asked for
    /// first.
    fn kept(&self, key: Key) -> Arc<Mutex<SoundState>> {
        let mut all = self.0.lock();
        let known = all.iter().position(|kept| kept.key == key);
        let kept = match known {
            Some(i) => all.remove(i),
            None => CachedSound { key, whole: Arc::new(Mutex::new(SoundState::Unknown)) },
        };
        all.push(kept.clone());
        let surplus = all.len().saturating_sub(MOST_VIDEOS);
        all.drain(..surplus);
        kept.whole
    }
}

impl Sound {
    /// The samples from `start` up to `end`, in nanoseconds on the clock of the container.
    fn part(&self, (start, end): (i64, i64), rate: u32) -> Sound {
        let channels = self.channels.max(1) as usize;
        let before = |time: i64| {
            let (mut low, mut high) = (0, self.samples.len() / channels);
            while low < high {
                let middle = low.midpoint(high);
                if after(self.first_ns, middle as u64, rate) < time { low = middle + 1 } else { high = middle }
            }
            low
        };
        let (first, last) = (before(start), before(end));
        let samples = self.samples[first * channels..last.max(first) * channels].to_vec();
        Sound { samples, channels: self.channels, first_ns: after(self.first_ns, first as u64, rate) }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::video::audio::AudioChannels;
    use vidrec_core::dataset::writer::SoundCoding;

    /// Three seconds of stereo sound that never repeats.
    fn wave() -> Vec<u8> {
        let samples = (0..24_000u32).flat_map(|i| [i.wrapping_mul(7919) as u16, (i * i) as u16]);
        let data: Vec<u8> = samples.flat_map(u16::to_le_bytes).collect();
        let mut wave = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0\x40\x1f\0\0\0\x7d\0\0\x04\0\x10\0data".to_vec();
        wave.extend((data.len() as u32).to_le_bytes());
        wave.extend(data);
        let length = (wave.len() - 8) as u32;
        wave[4..8].copy_from_slice(&length.to_le_bytes());
        wave
    }

    #[test]
    fn a_part_of_the_whole_is_what_is_read_of_it_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sound.wav");
        std::fs::write(&path, wave()).unwrap();
        let (file, kept) = (VideoFile::local(&path), SoundCache::default());
        let deadline = Instant::now() + Duration::from_secs(600);
        for (rate, channels) in
            [(8000, AudioChannels::Source), (16_000, AudioChannels::Mono), (11_025, AudioChannels::Stereo)]
        {
            let options = AudioOptions { rate, channels, coding: SoundCoding::Flac };
            let parts = [(0, 500_000_000), (1, 1_000_000_000), (999_999_999, 3_000_000_001), (i64::MIN, i64::MAX)];
            for part in
                [&parts[..], &[(-9, 0), (5_000_000_000, 6_000_000_000), (2_000_000_000, 1_000_000_000)]].concat()
            {
                let alone = read(&file, (&options, None), part, MAX_BYTES, deadline).unwrap();
                let kept = kept.read_part((&file, None), (&options, None), part, deadline).unwrap();
                assert_eq!(kept, alone, "{part:?} at {rate} Hz");
            }
        }
    }
}
