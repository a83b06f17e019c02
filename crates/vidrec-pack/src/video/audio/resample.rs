//! Converts the format, rate and channels of sound with FFmpeg's libswresample.

use ffmpeg_next::format::Sample;
use ffmpeg_next::format::sample::Type;
use ffmpeg_next::software::resampling::Context;
use ffmpeg_next::{ChannelLayout, Dictionary, Error, frame};

/// The format while samples are counted.
const FLOATS: Sample = Sample::F32(Type::Packed);
/// The format of stored samples.
const STORED: Sample = Sample::I16(Type::Packed);

/// Converts decoded frames to floats at one rate, with the channels to store.
pub(super) struct FloatResampler {
    context: Option<Context>,
    rate: u32,
    channels: ChannelLayout,
}

impl FloatResampler {
    pub fn new(rate: u32, channels: ChannelLayout) -> Self {
        FloatResampler { context: None, rate, channels }
    }

    /// Returns the samples of a frame, interleaved by channel.
    pub fn convert(&mut self, frame: &frame::Audio) -> Result<Vec<f32>, Error> {
        let (format, source, rate) = (frame.format(), frame.channel_layout(), frame.rate());
        let fits = |context: &&mut Context| {
            let input = context.input();
            (input.format, input.rate) == (format, rate) && input.channel_layout == source
        };
        let context = match self.context.as_mut().filter(fits) {
            Some(context) => context,
            None => {
                // Mixed channels are scaled so that they cannot exceed the range of the stored format.
                let mut options = Dictionary::new();
                options.set("rematrix_maxval", "1.0");
                let new = Context::get_with(format, source, rate, FLOATS, self.channels, self.rate, options)?;
                self.context.insert(new)
            }
        };
        let mut out = room(FLOATS, frame.samples(), (rate, self.rate), self.channels);
        context.run(frame, &mut out)?;
        Ok(bytes(&out, self.channels, 4)
            .chunks_exact(4)
            .map(|b| f32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
            .collect())
    }
}

/// Converts floats at one rate to stored samples at another.
pub(super) struct StoredResampler {
    context: Context,
    from: u32,
    to: u32,
    channels: ChannelLayout,
}

impl StoredResampler {
    pub fn new(from: u32, to: u32, channels: ChannelLayout) -> Result<Self, Error> {
        let context = Context::get(FLOATS, channels, from, STORED, channels, to)?;
        Ok(StoredResampler { context, from, to, channels })
    }

    /// Takes in samples, and returns those that are finished.
    pub fn convert(&mut self, samples: &[f32]) -> Result<Vec<i16>, Error> {
        let each = samples.len() / count(self.channels);
        if each == 0 {
            return Ok(Vec::new());
        }
        let mut input = frame::Audio::new(FLOATS, each, self.channels);
        input.set_rate(self.from);
        let bytes = samples.iter().flat_map(|n| n.to_ne_bytes());
        input.data_mut(0).iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
        let mut out = room(STORED, each, (self.from, self.to), self.channels);
        self.context.run(&input, &mut out)?;
        Ok(self.stored(&out))
    }

    /// Returns the last samples.
    pub fn finish(&mut self) -> Result<Vec<i16>, Error> {
        let mut all = Vec::new();
        loop {
            let mut out = room(STORED, 4096, (1, 1), self.channels);
            self.context.flush(&mut out)?;
            if out.samples() == 0 {
                return Ok(all);
            }
            all.extend(self.stored(&out));
        }
    }

    fn stored(&self, out: &frame::Audio) -> Vec<i16> {
        bytes(out, self.channels, 2).chunks_exact(2).map(|b| i16::from_ne_bytes([b[0], b[1]])).collect()
    }
}

/// Returns the number of channels.
pub(super) fn count(channels: ChannelLayout) -> usize {
    usize::try_from(channels.channels()).unwrap_or(0).max(1)
}

/// Creates a frame with room for the output of this many samples, and for samples held back earlier.
fn room(format: Sample, samples: usize, (from, to): (u32, u32), channels: ChannelLayout) -> frame::Audio {
    let most = (samples as u64 * u64::from(to)).div_ceil(u64::from(from.max(1))) + 4096;
    frame::Audio::new(format, most as usize, channels)
}

/// Returns the bytes of the samples of a packed frame.
fn bytes(frame: &frame::Audio, channels: ChannelLayout, each: usize) -> &[u8] {
    let length = frame.samples() * count(channels) * each;
    if length == 0 { &[] } else { &frame.data(0)[..length] }
}
