//! Reads the chosen frames of a video.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::container::{Deadline, Input, Packets, StreamInfo, VideoFile};
use super::decode::{DecodePass, FrameFilter, FrameHandler, PacketMap};
use super::error::{Stage, VideoError, refused_size};
use super::ffmpeg::init;
use super::options::VideoOptions;
use super::picture::{Size, display_size, target_size};
use super::timeline::{Choose, Timeline};
use super::timeline::{SampledFrame, SampledVideo};
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;

/// Reads the frames of a video that `choose` picks.
///
/// See [`Choose`] for how frames are chosen.
///
/// # Errors
///
/// [`VideoError`] says at which stage reading failed. Damage does not fail a video as long as a frame decodes: see
/// [`VideoFacts::decode_errors`](super::VideoFacts::decode_errors).
pub fn sample(path: &Path, options: &VideoOptions, choose: Choose<'_>) -> Result<SampledVideo, VideoError> {
    Video::open(path, options)?.sample(choose)
}

/// An open video.
pub struct Video {
    file: VideoFile,
    options: VideoOptions,
    deadline: Deadline,
    file_bytes: u64,
    /// The open file, until its packets have been read.
    input: Option<Input>,
    stream: StreamInfo,
    known: Option<KnownPackets>,
}

/// The facts that the packets of a video tell.
struct KnownPackets {
    packets: Packets,
    /// The frames that they promise.
    guess: Timeline,
    /// Which packets each frame needs, or why that is unknown. `None` if all are to be decoded.
    map: Option<Result<PacketMap, String>>,
}

impl Video {
    /// Opens a file and chooses its video stream. The timeout starts here.
    ///
    /// # Errors
    ///
    /// [`VideoError`] with [`Stage::Open`], [`Stage::Stream`] or [`Stage::Timeout`].
    pub fn open(path: &Path, options: &VideoOptions) -> Result<Self, VideoError> {
        Video::open_file(VideoFile::local(path), options)
    }

    /// Does the same for a file that may be remote.
    pub(crate) fn open_file(file: VideoFile, options: &VideoOptions) -> Result<Self, VideoError> {
        init();
        let deadline = Deadline::new(from_now(options.timeout));
        let input = Input::open(&file, &deadline)?;
        let (stream, file_bytes, options) = (input.stream_info()?, input.file_bytes(), options.clone());
        Ok(Video { file, options, deadline, file_bytes, input: Some(input), stream, known: None })
    }

    /// Starts the timeout again, for another clip of the video.
    pub(crate) fn begin_again(&mut self) {
        self.deadline.set(from_now(self.options.timeout));
    }

    /// Gives back most of the memory that the packets of the video take, until another clip is made of it. Returns `None`
    /// if they could not be read.
    pub(crate) fn rest(mut self) -> Option<Self> {
        self.known.as_mut()?.packets.rest();
        Some(self)
    }

    /// Returns an upper bound for the memory that decoding takes, in bytes, according to the container.
    ///
    /// It includes the packets and the part of a remote file that are kept in memory, as many pictures as a codec
    /// may hold, and one chosen frame while it is scaled. The memory of the caller's results is not included.
    pub(crate) fn memory_needed(&self) -> u64 {
        /// No codec has more than 16 references. One more picture is being decoded, and one is on its way out.
        const PICTURES: u64 = 18;
        /// The tables and buffers of FFmpeg and of vidrec.
        const OVERHEAD: u64 = 16 << 20;
        let packets = self.file_bytes.min(self.options.keep_bytes as u64);
        let (width, height, bits) = self.stream.picture;
        let picture = u64::from(width).saturating_mul(height.into()).saturating_mul(bits.into()) / 8;
        let decoder = picture.saturating_mul(PICTURES);
        let stored = self.picture_size();
        // With odd sides, chroma is scaled at full size. The sum has four parts: 16-bit samples as swscale writes
        // them, the same in our planes, one plane that is turned, and the finished picture.
        let is_even = stored.is_some_and(|(w, h)| w % 2 == 0 && h % 2 == 0);
        let bytes_per_pixel = if is_even { 3 + 3 + 2 + 2 } else { 6 + 6 + 2 + 2 };
        // The first, the second and the fourth of these, with all chroma.
        let in_hand = stored.map_or(0, |(w, h)| u64::from(w) * u64::from(h) * bytes_per_pixel);
        OVERHEAD.saturating_add(packets).saturating_add(decoder).saturating_add(in_hand)
    }

    /// Returns the width and height of the stored pictures, if the container is right about the video. Ignores
    /// quarter turns. Returns `None` if the requested size is impossible.
    pub(crate) fn picture_size(&self) -> Option<(u32, u32)> {
        let (width, height, _) = self.stream.picture;
        if width == 0 || height == 0 {
            return None;
        }
        let shown = display_size(Size { width, height }, self.stream.sar);
        let target = target_size(shown, self.options.size).ok()?;
        Some((target.width, target.height))
    }

    /// Reads the frames that `choose` picks.
    ///
    /// # Errors
    ///
    /// As [`sample`].
    pub fn sample(self, choose: Choose<'_>) -> Result<SampledVideo, VideoError> {
        self.sample_with(choose, &mut |frame| frame)
    }

    /// Reads the frames that `choose` picks, and keeps what `make` returns for each, such as a compressed picture.
    ///
    /// `make` gets a frame as soon as it is decoded, and nothing else holds the frame at that time. If the stream
    /// has to be decoded a second time ([why](crate::video)), `make` gets the frames again, and this function
    /// drops the earlier results. Therefore `make` should depend on the frame alone, and leave collecting the
    /// results to this function. If `make` can fail, let it return a `Result`. It is still called for the frames
    /// after a failure. Its time counts towards [`VideoOptions::timeout`].
    ///
    /// ```no_run
    /// use vidrec::video::{Video, VideoOptions};
    ///
    /// let video = Video::open("clip.mp4".as_ref(), &VideoOptions::default())?;
    /// // The mean luma of every frame: one picture is in memory at a time.
    /// let brightness = video.sample_with(&|t| Ok((0..t.frame_count()).collect()), &mut |frame| {
    ///     frame.image.y.iter().map(|&y| f64::from(y)).sum::<f64>() / frame.image.y.len() as f64
    /// })?;
    /// println!("{:?}", brightness.frames);
    /// # Ok::<(), vidrec::video::VideoError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`sample`].
    pub fn sample_with<T>(
        mut self,
        choose: Choose<'_>,
        make: &mut dyn FnMut(SampledFrame) -> T,
    ) -> Result<SampledVideo<T>, VideoError> {
        self.sample_part(choose, make)
    }

    /// Does the same. The next call reads no packets but those that its frames need.
    pub(crate) fn sample_part<T>(
        &mut self,
        choose: Choose<'_>,
        make: &mut dyn FnMut(SampledFrame) -> T,
    ) -> Result<SampledVideo<T>, VideoError> {
        run(self, choose, FrameHandler::Picture(make))
    }

    /// Does the same for the numbers of gray frames, of which the options change none.
    pub(crate) fn sample_numbers<T>(
        &mut self,
        choose: Choose<'_>,
        make: &mut dyn FnMut((Vec<u16>, [usize; 2])) -> T,
    ) -> Result<SampledVideo<T>, VideoError> {
        run(self, choose, FrameHandler::Numbers(make))
    }

    /// Returns why every frame takes a decode of the whole video or of most of it, if its packets have been read and show
    /// that.
    pub(crate) fn why_whole(&self) -> Option<String> {
        self.known.as_ref()?.map.as_ref()?.as_ref().map_or_else(|why| Some(why.clone()), PacketMap::why_whole)
    }

    /// Reads the packets, unless they are known.
    fn know(&mut self) -> Result<(), VideoError> {
        let Some(mut input) = self.input.take() else { return Ok(()) };
        let packets = Packets::scan(&mut input, &self.stream, self.file.clone(), self.options.keep_bytes)?;
        let map = (!self.options.decode_all).then(|| PacketMap::of(&packets, &self.stream));
        self.known = Some(KnownPackets { guess: packets.timeline(&self.stream), packets, map });
        Ok(())
    }
}

/// Returns the time after this timeout. One beyond the range of the clock means no timeout, and a century will do.
fn from_now(timeout: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(timeout).unwrap_or(now + Duration::from_secs(100 * 365 * 86_400))
}

impl fmt::Debug for Video {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Video { file, options, .. } = self;
        f.debug_struct("Video").field("path", &file.path()).field("options", options).finish_non_exhaustive()
    }
}

fn run<T>(video: &mut Video, choose: Choose<'_>, mut make: FrameHandler<'_, T>) -> Result<SampledVideo<T>, VideoError> {
    video.options.check_pixels((video.stream.picture.0, video.stream.picture.1))?;
    video.know()?;
    let Video { options, deadline, stream, known, .. } = video;
    let Some(KnownPackets { packets, guess, map }) = known else {
        return Err(VideoError::new(Stage::Decode, Error::decode("an earlier attempt to read the video failed")));
    };

    let pass = DecodePass { stream, packets, options, deadline: deadline.at() };
    // `choose` may fail for the estimate. Only a failure for the true timeline counts.
    let wanted = if guess.pts.is_empty() { None } else { chosen(choose, guess).ok() };
    if let Some(wanted) = &wanted
        && let Some(Ok(map)) = map
        && let Some(plan) = map.plan(wanted)
        && let Some(found) = pass.run_plan(wanted, &plan, make.again())?
    {
        return Ok(found.into_video(stream, packets, guess.clone()));
    }
    let wanted = wanted.unwrap_or_default();
    let mut first = pass.run(&wanted, (FrameFilter::Intact, None), make.again())?;
    let (keep, presentation) = first.what_to_keep(stream, packets);
    let truth = presentation.timeline(stream, packets);
    if truth.pts.is_empty() {
        return Err(nothing_decodes(first.facts.first_error.or(packets.first_error()), options));
    }
    let truly_wanted = chosen(choose, &truth).map_err(|e| VideoError::new(Stage::Sample, e))?;
    if keep == FrameFilter::Intact && presentation.is_as_guessed && truly_wanted == wanted {
        first.flaws = presentation.flaws;
        return Ok(first.into_video(stream, packets, truth));
    }
    drop(first); // frees memory before the second pass
    let second = pass.run(&truly_wanted, (keep, Some(&presentation)), make)?;
    if second.count() != truth.frame_count() {
        let error =
            Error::decode("two decodes differ").expected(format!("{} frames", truth.pts.len())).found(second.count());
        return Err(VideoError::new(Stage::Decode, error));
    }
    Ok(second.into_video(stream, packets, truth))
}

/// Asks `choose` for the wanted ordinals, checks them, and removes repeats.
fn chosen(choose: Choose<'_>, timeline: &Timeline) -> Result<Vec<u32>> {
    let count = timeline.frame_count();
    let mut wanted = choose(timeline)?;
    if !wanted.is_sorted() {
        return Err(Error::usage("the chosen frames are not in ascending order"));
    }
    if let Some(&last) = wanted.last().filter(|&&last| last >= count) {
        return Err(Error::usage(format!("frame {last} was chosen from a video with {count} frames")));
    }
    wanted.dedup();
    if wanted.len() > limits::MAX_FRAMES_PER_CLIP as usize {
        let most = limits::MAX_FRAMES_PER_CLIP;
        return Err(Error::limit(format!("{} frames were chosen", wanted.len())).expected(format!("at most {most}")));
    }
    Ok(wanted)
}

fn nothing_decodes(first_error: Option<String>, options: &VideoOptions) -> VideoError {
    if let Some(Err(too_large)) = first_error.as_deref().and_then(refused_size).map(|size| options.check_pixels(size)) {
        return too_large;
    }
    let why = first_error.unwrap_or_else(|| "the stream holds no picture data".to_owned());
    VideoError::new(Stage::Decode, Error::decode(format!("no frame decodes; {why}")))
}
