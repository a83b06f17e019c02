//! Decodes packets to samples.

use std::time::Instant;

use ffmpeg_next::{ChannelLayout, Packet, codec, decoder, frame};

use super::options::{AudioChannels, AudioOptions};
use super::resample::{FloatResampler, StoredResampler, count};
use crate::video::container::{Input, NextPacket, VideoFile};
use crate::video::error::{Stage, VideoError, ffmpeg_error, timeout, words};
use crate::video::facts::AudioFacts;
use crate::video::ffmpeg::{self, LoggedErrors};
use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;
use vidrec_format::error::{Error, Result};

/// The most bytes of sound of one clip: nine hours at 16 kHz and one channel.
pub(crate) const MAX_BYTES: usize = 1 << 30;

/// After this many consecutive errors without a frame, the decoder is no longer asked.
const MAX_ERRORS: u32 = 1000;

/// The sound of a video or of a part of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sound {
    /// The samples, interleaved by channel.
    pub samples: Vec<i16>,
    /// The number of channels in `samples`.
    pub channels: u32,
    /// The time of the first sample on the clock of the container, in nanoseconds.
    pub first_ns: i64,
}

/// Reads the sound of a video from `start` up to `end`, in nanoseconds on the clock of the container.
///
/// Returns the sound, or `None` if the video has none, and the facts about it. `expected` is the number of
/// channels that the video must have if its own channels are stored. More than `most` bytes of sound are an error.
///
/// # Errors
///
/// The file cannot be opened, its sound has another number of channels, none of its sound decodes, or it takes too
/// long or has too much sound.
pub(crate) fn read(
    file: &VideoFile,
    options: &AudioOptions,
    (start, end): (i64, i64),
    most: usize,
    deadline: Instant,
) -> Result<(Option<Sound>, AudioFacts), VideoError> {
    let Some(mut input) = Input::open_audio(file, deadline)? else { return Ok((None, AudioFacts::default())) };
    let (parameters, time_base) = input.audio_info()?;
    let mut facts = AudioFacts { codec: parameters.id().name().to_owned(), ..AudioFacts::default() };
    let fail = |e: ffmpeg_next::Error| {
        let what = format!("cannot decode the sound, {}", parameters.id().name());
        VideoError::new(Stage::Decode, ffmpeg_error(&what, &e, None))
    };
    let mut context = codec::Context::from_parameters(parameters.clone()).map_err(fail)?;
    let one = codec::threading::Config { kind: codec::threading::Type::None, count: 1, ..Default::default() };
    context.set_threading(one);
    let mut decoder = context.decoder();
    decoder.set_packet_time_base((time_base.0 as i32, time_base.1 as i32));
    let mut decoder = ffmpeg::collect_errors(|| decoder.audio()).0.map_err(fail)?;
    let mut sound = SoundReader::new(*options, time_base, (start, end), most, deadline);
    let mut packets = 0u64;
    loop {
        match input.next()? {
            NextPacket::Packet(packet) => {
                packets += 1;
                facts.corrupt_packets += u64::from(packet.is_corrupt());
                feed(&mut decoder, Some(&packet), &mut facts, &mut sound)?;
            }
            NextPacket::End(error) => {
                facts.decode_errors += u64::from(error.is_some());
                note(&mut facts, error.map(|e| words(&e, None)));
                feed(&mut decoder, None, &mut facts, &mut sound)?;
                break;
            }
        }
    }
    if packets == 0 {
        return Ok((None, AudioFacts::default()));
    }
    let Some(made) = sound.finish(&mut facts)? else {
        let why = facts.first_error.take().unwrap_or_else(|| "it has no samples".into());
        let e = Error::decode(format!("no sound decodes; {why}"));
        return Err(VideoError::new(Stage::Decode, e));
    };
    Ok((Some(made), facts))
}

fn note(facts: &mut AudioFacts, text: Option<String>) {
    facts.first_error = facts.first_error.take().or(text);
}

/// Decodes a packet, or with `None` what the decoder still holds at the end.
fn feed(
    decoder: &mut decoder::Audio,
    packet: Option<&Packet>,
    facts: &mut AudioFacts,
    sound: &mut SoundReader,
) -> Result<(), VideoError> {
    use ffmpeg_next::Error::{Eof, Other};
    if packet.is_some_and(|packet| packet.size() == 0) {
        return Ok(()); // a decoder takes an empty packet for the end of the stream
    }
    let is_now = |e: &ffmpeg_next::Error| {
        !matches!(e, Eof) && !matches!(e, Other { errno } if *errno == ffmpeg_next::error::EAGAIN)
    };
    let mut count = |result: Result<(), ffmpeg_next::Error>, logged: LoggedErrors| {
        facts.logged_errors += logged.errors;
        let error = result.err().filter(is_now);
        facts.decode_errors += u64::from(error.is_some());
        note(facts, error.map(|e| words(&e, None)).or(logged.first));
        error.is_some()
    };
    let (sent, logged) = ffmpeg::collect_errors(|| match packet {
        Some(packet) => decoder.send_packet(packet),
        None => decoder.send_eof(),
    });
    count(sent, logged);
    let mut errors = 0;
    while errors < MAX_ERRORS {
        if Instant::now() >= sound.deadline {
            return Err(timeout("decoding the sound"));
        }
        let mut frame = frame::Audio::empty();
        let (received, logged) = ffmpeg::collect_errors(|| decoder.receive_frame(&mut frame));
        match received {
            Ok(()) => {
                count(Ok(()), logged);
                errors = 0;
                sound.push(&mut frame)?;
            }
            Err(e) if is_now(&e) => {
                count(Err(e), logged);
                errors += 1;
            }
            Err(e) => {
                count(Err(e), logged);
                break;
            }
        }
    }
    Ok(())
}

/// Sound that is being read.
struct SoundReader {
    options: AudioOptions,
    time_base: (u32, u32),
    /// The part to keep, in nanoseconds. An open end is the least or the greatest number.
    part: (i64, i64),
    /// The most bytes to keep.
    most: usize,
    deadline: Instant,
    begun: Option<SoundStream>,
    /// The number of samples of one channel before the first that is kept, at the stored rate.
    skipped: u64,
    /// The number of samples of one channel so far, kept or not, at the stored rate.
    done: u64,
    samples: Vec<i16>,
}

/// The properties that the first frame determines.
struct SoundStream {
    first_pts: i64,
    rate: u32,
    /// The number of channels of the video.
    channels: u32,
    /// The channels to store.
    stored: ChannelLayout,
    steady: SampleClock,
    to_floats: FloatResampler,
    to_stored: StoredResampler,
}

fn failed(e: ffmpeg_next::Error) -> VideoError {
    VideoError::new(Stage::Decode, ffmpeg_error("cannot resample the sound", &e, None))
}

impl SoundReader {
    fn new(options: AudioOptions, time_base: (u32, u32), part: (i64, i64), most: usize, deadline: Instant) -> Self {
        let (begun, skipped, done, samples) = (None, 0, 0, Vec::new());
        SoundReader { options, time_base, part, most, deadline, begun, skipped, done, samples }
    }

    fn push(&mut self, frame: &mut frame::Audio) -> Result<(), VideoError> {
        if frame.samples() == 0 || frame.rate() == 0 {
            return Ok(());
        }
        if frame.channel_layout().is_empty() {
            frame.set_channel_layout(ChannelLayout::default(frame.channels().into()));
        }
        let pts = frame.timestamp().or(frame.pts());
        let begun = match &mut self.begun {
            Some(begun) => begun,
            None => {
                let rate = frame.rate();
                let stored = match self.options.channels {
                    AudioChannels::Mono => ChannelLayout::MONO,
                    AudioChannels::Stereo => ChannelLayout::STEREO,
                };
                self.begun.insert(SoundStream {
                    first_pts: pts.unwrap_or(0),
                    rate,
                    channels: frame.channels().into(),
                    stored,
                    steady: SampleClock::new(rate),
                    to_floats: FloatResampler::new(rate, stored),
                    to_stored: StoredResampler::new(rate, self.options.rate, stored).map_err(failed)?,
                })
            }
        };
        let channels = count(begun.stored);
        let floats = begun.to_floats.convert(frame).map_err(failed)?;
        let at = pts.map(|pts| {
            let ticks = i128::from(pts) - i128::from(begun.first_pts);
            let (num, den) = (i128::from(self.time_base.0), i128::from(self.time_base.1));
            let twice = 2 * ticks * num * i128::from(begun.rate) + den;
            i64::try_from(twice.div_euclid(2 * den)).unwrap_or(i64::MAX)
        });
        let step = begun.steady.take(at, floats.len() / channels);
        // Silence is written one second at a time.
        let (mut silence, second) = (step.silence, i64::from(begun.rate));
        while silence > 0 {
            let samples = silence.min(second);
            silence -= samples;
            self.resample(&vec![0.0; samples as usize * channels])?;
        }
        self.resample(&floats[step.skip * channels..])
    }

    fn resample(&mut self, floats: &[f32]) -> Result<(), VideoError> {
        let Some(begun) = &mut self.begun else { return Ok(()) };
        let stored = begun.to_stored.convert(floats).map_err(failed)?;
        self.keep(&stored)
    }

    /// Keeps the samples that lie in the part.
    fn keep(&mut self, stored: &[i16]) -> Result<(), VideoError> {
        if Instant::now() >= self.deadline {
            return Err(timeout("resampling the sound"));
        }
        let channels = self.begun.as_ref().map_or(1, |begun| count(begun.stored));
        if self.part == (i64::MIN, i64::MAX) {
            self.done += (stored.len() / channels) as u64;
            self.samples.extend_from_slice(stored);
        } else {
            self.keep_inside(stored, channels);
        }
        if self.samples.len() * 2 > self.most || self.done > u64::from(u32::MAX) {
            let e = Error::limit("there is too much sound").expected(format!("at most {} bytes", self.most));
            return Err(VideoError::new(Stage::Limit, e));
        }
        Ok(())
    }

    fn keep_inside(&mut self, stored: &[i16], channels: usize) {
        for value in stored.chunks_exact(channels) {
            let time = self.time_of(self.done);
            self.done += 1;
            if time < self.part.0 {
                self.skipped += 1;
            } else if time < self.part.1 {
                self.samples.extend_from_slice(value);
            }
        }
    }

    /// Returns the time of a sample at the stored rate, in nanoseconds on the clock of the container.
    fn time_of(&self, sample: u64) -> i64 {
        let first = self.begun.as_ref().map_or(0, |begun| begun.first_pts);
        let (num, den) = (i128::from(self.time_base.0), i128::from(self.time_base.1));
        after(clamped(rounded(i128::from(first) * num * 1_000_000_000, den)), sample, self.options.rate)
    }

    /// Returns the sound; `None` if there was none.
    fn finish(mut self, facts: &mut AudioFacts) -> Result<Option<Sound>, VideoError> {
        let Some(begun) = &mut self.begun else { return Ok(None) };
        let last = begun.to_stored.finish().map_err(failed)?;
        (facts.rate, facts.channels) = (begun.rate, begun.channels);
        let SampleClock { gaps, silent, cut, .. } = begun.steady;
        (facts.gaps, facts.silent_samples, facts.cut_samples) = (gaps, silent, cut);
        self.keep(&last)?;
        let (first_ns, channels) =
            (self.time_of(self.skipped), self.begun.map_or(1, |begun| count(begun.stored) as u32));
        Ok(Some(Sound { samples: self.samples, channels, first_ns }))
    }
}

/// The time of a sample at a rate, if the first one has this time, in nanoseconds.
pub(super) fn after(first_ns: i64, sample: u64, rate: u32) -> i64 {
    clamped(i128::from(first_ns) + rounded(i128::from(sample) * 1_000_000_000, rate.max(1).into()))
}

fn rounded(numerator: i128, denominator: i128) -> i128 {
    (2 * numerator + denominator).div_euclid(2 * denominator)
}

fn clamped(ns: i128) -> i64 {
    i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
}

/// A position in a steady stream of samples.
#[derive(Debug, Clone)]
pub(super) struct SampleClock {
    /// The number of samples so far.
    pub next: i64,
    tolerance: i64,
    pub gaps: u64,
    pub silent: u64,
    pub cut: u64,
}

/// A correction before samples are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// The number of silent samples to insert before them.
    pub silence: i64,
    /// The number of them to omit, from the first on.
    pub skip: usize,
}

impl SampleClock {
    /// Starts a stream of `rate` samples per second.
    pub fn new(rate: u32) -> Self {
        SampleClock { next: 0, tolerance: i64::from(rate / 50), gaps: 0, silent: 0, cut: 0 }
    }

    /// Takes `count` samples. The first should be sample `at`, if its time is known.
    pub fn take(&mut self, at: Option<i64>, count: usize) -> Step {
        let off = at.map_or(0, |at| at.saturating_sub(self.next));
        let step = if off > self.tolerance {
            self.gaps += 1;
            Step { silence: off, skip: 0 }
        } else if off < -self.tolerance {
            Step { silence: 0, skip: usize::try_from(off.unsigned_abs()).unwrap_or(usize::MAX).min(count) }
        } else {
            Step { silence: 0, skip: 0 }
        };
        self.silent += step.silence.unsigned_abs();
        self.cut += step.skip as u64;
        self.next = self.next.saturating_add(step.silence).saturating_add((count - step.skip) as i64);
        step
    }
}

/// The most bytes of sound that are kept of a video: more than an hour at 16 kHz and one channel.
const MOST_BYTES: usize = 128 << 20;

/// The number of videos whose sound is kept. Parts of a video come one after another, on several threads.
const MOST_VIDEOS: usize = 2;

/// The sound of the videos that were read last.
#[derive(Debug, Default)]
pub(crate) struct SoundCache(Mutex<Vec<CachedSound>>);

/// All that decides the sound of a video: its path, the size and time of its file, and how it is read.
type Key = (PathBuf, Option<(u64, u64)>, AudioOptions);

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
        options: &AudioOptions,
        part: (i64, i64),
        deadline: Instant,
    ) -> Result<(Option<Sound>, AudioFacts), VideoError> {
        let kept = self.kept((file.path().to_owned(), stamp, *options));
        let mut whole = kept.lock();
        if matches!(*whole, SoundState::Unknown) {
            *whole = match read(file, options, (i64::MIN, i64::MAX), MOST_BYTES, deadline) {
                Ok((sound, facts)) => SoundState::Read(sound, facts),
                Err(e) if e.stage == Stage::Limit => SoundState::TooLong,
                Err(e) => return Err(e),
            };
        }
        if let SoundState::Read(sound, facts) = &*whole {
            let cut = |sound: &Sound| sound.part(part, options.rate);
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
            [(8000, AudioChannels::Stereo), (16_000, AudioChannels::Mono), (11_025, AudioChannels::Stereo)]
        {
            let options = AudioOptions { rate, channels, coding: SoundCoding::Flac };
            let parts = [(0, 500_000_000), (1, 1_000_000_000), (999_999_999, 3_000_000_001), (i64::MIN, i64::MAX)];
            for part in
                [&parts[..], &[(-9, 0), (5_000_000_000, 6_000_000_000), (2_000_000_000, 1_000_000_000)]].concat()
            {
                let alone = read(&file, &options, part, MAX_BYTES, deadline).unwrap();
                let kept = kept.read_part((&file, None), &options, part, deadline).unwrap();
                assert_eq!(kept, alone, "{part:?} at {rate} Hz");
            }
        }
    }
}
