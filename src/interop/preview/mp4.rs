//! Encodes frames as MP4 through FFmpeg: for people to look at, never for training.

use std::path::{Path, PathBuf};

use ffmpeg_next::codec::encoder;
use ffmpeg_next::codec::{self, Id};
use ffmpeg_next::format::{self, Pixel};
use ffmpeg_next::software::scaling;
use ffmpeg_next::{Dictionary, Packet, Rational, frame};

use vidrec_format::error::{Error, Result};
use vidrec_jpeg::RgbPicture;
use vidrec_pack::video;

/// A video file that grows frame by frame.
pub(super) struct Mp4 {
    path: PathBuf,
    output: format::context::Output,
    encoder: encoder::Video,
    size: (u32, u32),
    frames: i64,
    rate: Rational,
}

impl Mp4 {
    /// Creates the file.
    ///
    /// Sides are rounded up to even numbers, which 4:2:0 needs. The codec is H.264 through libx264, or MPEG-4 if
    /// FFmpeg has no libx264.
    pub fn create(path: &Path, (width, height): (u32, u32), fps: u32) -> Result<Self> {
        video::init();
        Self::open(path, (width.next_multiple_of(2), height.next_multiple_of(2)), fps).map_err(|e| failed(path, e))
    }

    fn open(path: &Path, size: (u32, u32), fps: u32) -> Result<Self, ffmpeg_next::Error> {
        let mut output = format::output_as(path, "mp4")?;
        let x264 = encoder::find_by_name("libx264");
        let codec = x264.or_else(|| encoder::find(Id::MPEG4)).ok_or(ffmpeg_next::Error::EncoderNotFound)?;
        let mut encoder = codec::Context::new_with_codec(codec).encoder().video()?;
        let rate = Rational(fps as i32, 1);
        encoder.set_width(size.0);
        encoder.set_height(size.1);
        encoder.set_format(Pixel::YUV420P);
        encoder.set_time_base(rate.invert());
        encoder.set_frame_rate(Some(rate));
        if output.format().flags().contains(format::Flags::GLOBAL_HEADER) {
            encoder.set_flags(codec::Flags::GLOBAL_HEADER);
        }
        let mut options = Dictionary::new();
        if x264.is_some() {
            options.set("crf", "18");
            options.set("preset", "medium");
            // One thread produces the same bytes on any number of cores.
            options.set("threads", "1");
        } else {
            encoder.set_bit_rate(4_000_000);
        }
        let encoder = encoder.open_with(options)?;
        let mut stream = output.add_stream(codec)?;
        stream.set_parameters(&encoder);
        stream.set_time_base(rate.invert());
        output.write_header()?;
        Ok(Mp4 { path: path.to_owned(), output, encoder, size, frames: 0, rate })
    }

    /// Adds a frame. Scales it to the video's size if it has another size.
    pub fn push(&mut self, picture: &RgbPicture) -> Result<()> {
        let RgbPicture { width, height, ref pixels } = *picture;
        let row = width as usize * 3;
        if row == 0 || pixels.len() != row * height as usize {
            return Err(Error::usage("the length of the picture does not fit its size"));
        }
        let mut from = frame::Video::new(Pixel::RGB24, width, height);
        let stride = from.stride(0);
        for (to, row) in from.data_mut(0).chunks_mut(stride).zip(pixels.chunks(row)) {
            to[..row.len()].copy_from_slice(row);
        }
        self.encode(&from).map_err(|e| failed(&self.path, e))
    }

    fn encode(&mut self, from: &frame::Video) -> Result<(), ffmpeg_next::Error> {
        let (width, height) = self.size;
        let flags = scaling::Flags::BICUBIC | scaling::Flags::ACCURATE_RND | scaling::Flags::FULL_CHR_H_INT;
        let mut scaler =
            scaling::Context::get(Pixel::RGB24, from.width(), from.height(), Pixel::YUV420P, width, height, flags)?;
        let mut picture = frame::Video::empty();
        scaler.run(from, &mut picture)?;
        picture.set_pts(Some(self.frames));
        self.frames += 1;
        self.encoder.send_frame(&picture)?;
        self.write_packets()
    }

    fn write_packets(&mut self) -> Result<(), ffmpeg_next::Error> {
        let time_base = self.output.stream(0).ok_or(ffmpeg_next::Error::StreamNotFound)?.time_base();
        let mut packet = Packet::empty();
        while self.encoder.receive_packet(&mut packet).is_ok() {
            packet.set_stream(0);
            packet.set_duration(1);
            packet.rescale_ts(self.rate.invert(), time_base);
            packet.write_interleaved(&mut self.output)?;
        }
        Ok(())
    }

    /// Writes the rest and completes the file.
    pub fn finish(mut self) -> Result<()> {
        self.end().map_err(|e| failed(&self.path, e))
    }

    fn end(&mut self) -> Result<(), ffmpeg_next::Error> {
        self.encoder.send_eof()?;
        self.write_packets()?;
        self.output.write_trailer()
    }
}

fn failed(path: &Path, e: ffmpeg_next::Error) -> Error {
    Error::decode(format!("could not encode the video: {e}")).file(path)
}
