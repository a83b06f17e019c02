//! Uses FFmpeg's scaler, for scaling only: same matrix and same range on both sides, explicit chroma positions.
//!
//! This works around three habits of swscale (seen in FFmpeg 5.1):
//! * at the same size and subsampling, it only copies planes. It ignores chroma positions, and it widens
//!   full-range samples to 16 bits by repeating bits, although the scaling path shifts them. Such pictures do not
//!   go through swscale;
//! * it converts between the matrices of two YUV formats through RGB. vidrec never asks for that;
//! * if a filter gets too long (for scaling to a sixtieth, or to a thirtieth if chroma is also halved), it scales
//!   in two steps of its own and loses range and positions in between. vidrec scales that far in steps of
//!   [`MAX_FACTOR`].

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

use ffmpeg_next::{ffi, frame};

use super::color::{ColorRange, center_chroma};
use super::format::{Class, PictureFormat};
use super::geometry::Size;
use super::geometry::{ChromaLayout, Planes16};
use crate::video::error::ffmpeg_error;
use vidrec_format::error::{Error, Result};
use vidrec_format::machine::Shortage;

/// The scaler's flags: bicubic, all chroma samples used, exact rounding, and the same result on every CPU.
///
/// swscale widens the filter when it shrinks a picture, so the result does not alias. `format-spec/notes.md`
/// compares this filter with others.
const FLAGS: c_int =
    ffi::SWS_BICUBIC | ffi::SWS_ACCURATE_RND | ffi::SWS_FULL_CHR_H_INT | ffi::SWS_FULL_CHR_H_INP | ffi::SWS_BITEXACT;

/// The largest factor by which swscale shrinks a side in one step.
const MAX_FACTOR: u32 = 16;

/// Scales frames of one description to one size and layout.
pub(crate) struct Scaler {
    from: PictureFormat,
    size: Size,
    layout: ChromaLayout,
    /// The steps of swscale. They are empty if the planes of the frame are read without scaling.
    steps: Vec<ScaleStep>,
}

impl Scaler {
    /// Creates a scaler to `size`. `turned` says that the pictures will be turned or mirrored afterwards.
    ///
    /// # Errors
    ///
    /// swscale cannot read the pixel format, or there is no memory.
    pub fn new(from: PictureFormat, size: Size, turned: bool) -> Result<Self> {
        let even = size.width.is_multiple_of(2) && size.height.is_multiple_of(2);
        let same_size = from.plain_planes && from.size == size;
        let layout = if from.class == Class::Gray {
            ChromaLayout::Gray
        } else if even || same_size && from.subsampling == (1, 1) && !turned {
            ChromaLayout::Half
        } else {
            // The last chroma sample of an odd side lies half outside of the picture. swscale would stretch all
            // chroma by that half sample, and mirroring would move it by as much.
            ChromaLayout::Full
        };
        Self::to_layout(from, size, layout)
    }

    fn to_layout(from: PictureFormat, size: Size, layout: ChromaLayout) -> Result<Self> {
        let same_size = from.plain_planes && from.size == size;
        let same_chroma = match layout {
            ChromaLayout::Gray => true,
            ChromaLayout::Half => from.subsampling == (1, 1),
            ChromaLayout::Full => from.subsampling == (0, 0),
        };
        let mut scaler = Scaler { from, size, layout, steps: Vec::new() };
        if !(same_size && same_chroma) {
            scaler.plan()?;
        }
        Ok(scaler)
    }

    /// Creates a scaler that reads luma at its own size.
    pub fn of_luma(from: PictureFormat) -> Result<Self> {
        let mut scaler = Scaler { from, size: from.size, layout: ChromaLayout::Gray, steps: Vec::new() };
        if !from.plain_planes {
            scaler.plan()?;
        }
        Ok(scaler)
    }

    fn plan(&mut self) -> Result<()> {
        let mut side = Side::of(&self.from);
        while self.steps.is_empty() || side.size != self.size {
            let next = next_size(side.size, self.size);
            let layout =
                if next == self.size || self.layout == ChromaLayout::Gray { self.layout } else { ChromaLayout::Full };
            let step = ScaleStep::new(&side, self.from.name, next, layout)?;
            side = step.result;
            self.steps.push(step);
        }
        Ok(())
    }

    /// Whether this scaler fits such frames and this size.
    pub fn fits(&self, from: &PictureFormat, size: Size) -> bool {
        self.from == *from && self.size == size
    }

    /// Scales a frame of the kind that this scaler was created for. Its chroma comes out centered.
    ///
    /// # Errors
    ///
    /// The frame is of another kind, or swscale refuses it.
    pub fn run(&mut self, frame: &frame::Video) -> Result<Planes16> {
        if PictureFormat::of(frame) != Some(self.from) {
            return Err(Error::usage("the frame does not have the size and format of this scaler"));
        }
        let mut deep = Planes16::new(self.size, self.layout)?;
        if self.steps.is_empty() {
            read_planes(frame, self.from.depth, &mut deep)?;
            self.center(&mut deep);
            return Ok(deep);
        }
        let mut scaled = frame;
        for step in &mut self.steps {
            step.run(scaled)?;
            scaled = &step.out;
        }
        read_planes(scaled, 16, &mut deep)?;
        Ok(deep)
    }

    /// Centers chroma in planes that were only read. swscale does this for planes that it scales.
    fn center(&self, deep: &mut Planes16) {
        if self.layout != ChromaLayout::Half {
            return;
        }
        let (x, y) = self.from.siting;
        let down = match y {
            0 => 1,
            256 => -1,
            _ => 0,
        };
        let chroma = deep.chroma_size();
        center_chroma(&mut deep.cb, chroma, x == 0, down);
        center_chroma(&mut deep.cr, chroma, x == 0, down);
    }
}

/// Returns the size after one step from `from` towards `to`.
fn next_size(from: Size, to: Size) -> Size {
    Size {
        width: to.width.max(from.width.div_ceil(MAX_FACTOR)),
        height: to.height.max(from.height.div_ceil(MAX_FACTOR)),
    }
}

/// The properties of a picture that swscale reads or writes.
#[derive(Debug, Clone, Copy)]
struct Side {
    format: ffi::AVPixelFormat,
    size: Size,
    rgb: bool,
    full_range: bool,
    siting: (c_int, c_int),
}

/// swscale's value for "center, at any subsampling".
const CENTER: c_int = -513;

impl Side {
    fn of(from: &PictureFormat) -> Self {
        Side {
            format: from.format,
            size: from.size,
            rgb: from.class == Class::Rgb,
            full_range: from.range != ColorRange::Limited,
            siting: if from.class == Class::Yuv { from.siting } else { (CENTER, CENTER) },
        }
    }
}

/// One call of swscale, and the picture that it writes.
struct ScaleStep {
    context: Swscale,
    out: frame::Video,
    result: Side,
}

impl ScaleStep {
    fn new(from: &Side, name: &str, size: Size, layout: ChromaLayout) -> Result<Self> {
        let result = Side {
            format: output_format(layout),
            size,
            rgb: false,
            full_range: from.full_range,
            siting: (CENTER, CENTER),
        };
        let context = Swscale::new(from, name, &result)?;
        let out = frame::Video::new(result.format.into(), size.width, size.height);
        // SAFETY: the frame is live; `is_empty` only looks at its first data pointer.
        if unsafe { out.is_empty() } {
            let e = Error::limit(format!("no memory for a picture of {}x{}", size.width, size.height));
            return Err(e.short_of(Some(Shortage::Memory)));
        }
        Ok(ScaleStep { context, out, result })
    }

    fn run(&mut self, from: &frame::Video) -> Result<()> {
        self.context.run(from, &mut self.out)
    }
}

/// Returns the pixel format that swscale writes for a layout: native 16-bit samples.
fn output_format(layout: ChromaLayout) -> ffi::AVPixelFormat {
    use ffi::AVPixelFormat::*;
    let little = cfg!(target_endian = "little");
    match layout {
        ChromaLayout::Gray if little => AV_PIX_FMT_GRAY16LE,
        ChromaLayout::Gray => AV_PIX_FMT_GRAY16BE,
        ChromaLayout::Half if little => AV_PIX_FMT_YUV420P16LE,
        ChromaLayout::Half => AV_PIX_FMT_YUV420P16BE,
        ChromaLayout::Full if little => AV_PIX_FMT_YUV444P16LE,
        ChromaLayout::Full => AV_PIX_FMT_YUV444P16BE,
    }
}

/// Copies the planes of a frame with plain planes, shifted to fill 16 bits.
fn read_planes(frame: &frame::Video, depth: u32, deep: &mut Planes16) -> Result<()> {
    for index in 0..deep.planes() {
        let (plane, size) = deep.plane_mut(index);
        let (width, height) = (size.width as usize, size.height as usize);
        for (y, out) in plane.chunks_exact_mut(width.max(1)).take(height).enumerate() {
            if depth == 8 {
                let row = row::<u8>(frame, index, y, width)?;
                out.iter_mut().zip(row).for_each(|(o, &v)| *o = u16::from(v) << 8);
            } else {
                let row = row::<u16>(frame, index, y, width)?;
                out.iter_mut().zip(row).for_each(|(o, &v)| *o = v << (16 - depth));
            }
        }
    }
    Ok(())
}

/// Returns one row of samples. Rows may be stored from the bottom up (a negative stride), as in uncompressed AVI.
fn row<T>(frame: &frame::Video, plane: usize, y: usize, width: usize) -> Result<&[T]> {
    // SAFETY: the frame is live; these are plain fields of it.
    let (data, stride) = unsafe { ((*frame.as_ptr()).data[plane], (*frame.as_ptr()).linesize[plane] as isize) };
    let fits = !data.is_null() && stride.unsigned_abs() >= width * size_of::<T>();
    if !fits || stride % align_of::<T>() as isize != 0 || !data.cast::<T>().is_aligned() {
        return Err(Error::decode("FFmpeg gave a picture without its planes"));
    }
    // SAFETY: `PictureFormat` says that this plane holds whole samples of T. FFmpeg keeps a plane's rows `stride`
    // bytes apart. The caller's `y` is below the number of rows that the picture's size gives this plane. `width`
    // samples fit in a row (checked above). The borrow of `frame` keeps its buffers alive.
    Ok(unsafe { std::slice::from_raw_parts(data.offset(stride * y as isize).cast::<T>(), width) })
}

/// Our own wrapper of an `SwsContext`, because ffmpeg-next's cannot set positions and ranges, and does not report
/// failures.
struct Swscale(*mut ffi::SwsContext);

// SAFETY: the context belongs to this value alone and is not tied to a thread.
unsafe impl Send for Swscale {}

impl Swscale {
    fn new(from: &Side, name: &str, to: &Side) -> Result<Self> {
        // SAFETY: the call takes any pixel format.
        if unsafe { ffi::sws_isSupportedInput(from.format) } == 0 {
            return Err(Error::decode(format!("pictures in pixel format {name} cannot be converted")));
        }
        // SAFETY: the call has no arguments; null means no memory, which is checked.
        let context = Swscale(unsafe { ffi::sws_alloc_context() });
        if context.0.is_null() {
            return Err(Error::limit("no memory for a scaler").short_of(Some(Shortage::Memory)));
        }
        for (name, value) in [
            (c"srcw", int(from.size.width)?),
            (c"srch", int(from.size.height)?),
            (c"src_format", from.format as c_int),
            (c"dstw", int(to.size.width)?),
            (c"dsth", int(to.size.height)?),
            (c"dst_format", to.format as c_int),
            (c"sws_flags", FLAGS),
            (c"src_range", c_int::from(from.full_range && !from.rgb)),
            (c"dst_range", c_int::from(to.full_range)),
            (c"src_h_chr_pos", from.siting.0),
            (c"src_v_chr_pos", from.siting.1),
            (c"dst_h_chr_pos", to.siting.0),
            (c"dst_v_chr_pos", to.siting.1),
        ] {
            context.set(name, value)?;
        }
        // SAFETY: the context is live and its options are set; null filters mean none.
        let code = unsafe { ffi::sws_init_context(context.0, ptr::null_mut(), ptr::null_mut()) };
        if code < 0 {
            let error = ffmpeg_next::Error::from(code);
            let (a, b) = (from.size, to.size);
            let what = format!("{name} from {}x{} to {}x{}", a.width, a.height, b.width, b.height);
            return Err(ffmpeg_error(&format!("swscale cannot scale {what}"), &error, None));
        }
        Ok(context)
    }

    fn set(&self, name: &CStr, value: c_int) -> Result<()> {
        // SAFETY: an SwsContext starts with its AVClass, as the option functions need; the name is a C string.
        let code = unsafe { ffi::av_opt_set_int(self.0.cast::<c_void>(), name.as_ptr(), i64::from(value), 0) };
        if code < 0 {
            let error = ffmpeg_next::Error::from(code);
            return Err(Error::decode(format!("the scaler refuses {}={value}: {error}", name.to_string_lossy())));
        }
        Ok(())
    }

    fn run(&mut self, from: &frame::Video, to: &mut frame::Video) -> Result<()> {
        let (height, rows) = (int(from.height())?, int(to.height())?);
        // SAFETY: both frames are live. `Scaler::run` has compared the first frame's size and format with those
        // that the first step was made for. Each further step was made for the output of the step before it. So
        // swscale stays within the planes that the two frames describe.
        let done = unsafe {
            let (from, to) = (from.as_ptr(), to.as_mut_ptr());
            ffi::sws_scale(
                self.0,
                (*from).data.as_ptr().cast(),
                (*from).linesize.as_ptr(),
                0,
                height,
                (*to).data.as_ptr(),
                (*to).linesize.as_ptr(),
            )
        };
        if done != rows {
            return Err(Error::decode("scaling failed").expected(format!("{rows} rows")).found(done));
        }
        Ok(())
    }
}

impl Drop for Swscale {
    fn drop(&mut self) {
        // SAFETY: the context came from `sws_alloc_context` and is freed once; null is allowed.
        unsafe { ffi::sws_freeContext(self.0) }
    }
}

fn int(v: u32) -> Result<c_int> {
    c_int::try_from(v).map_err(|_| Error::limit(format!("a picture cannot have a side of {v} pixels")))
}

/// Returns the numbers of a gray frame, or of the luma of a frame with more than 8 bits. Encoders that have no gray store
/// depth as luma.
///
/// # Errors
///
/// The frame has no such numbers.
pub(crate) fn numbers(frame: &frame::Video, picture: PictureFormat) -> Result<Vec<u16>> {
    let is_gray = picture.class == Class::Gray && picture.stored_depth <= 16;
    let is_luma = picture.class == Class::Yuv && picture.plain_planes && picture.depth > 8;
    if !(is_gray || is_luma) {
        let e = Error::usage("the frames do not have one number to a pixel");
        return Err(e.expected("gray of up to 16 bits, or luma of 9 to 16 bits").found(picture.name));
    }
    let mut numbers = Scaler::of_luma(picture)?.run(frame)?.y;
    let fill = 16 - picture.depth;
    numbers.iter_mut().for_each(|number| *number >>= fill);
    Ok(numbers)
}
