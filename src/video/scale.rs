//! FFmpeg's scaler, held to scaling: same matrix and same range on both sides, chroma positions said out loud.
//!
//! Two habits of swscale are worked around here (seen in FFmpeg 5.1):
//! * at the same size and subsampling it only copies planes: chroma positions are ignored, and full-range samples are
//!   widened to 16 bits by repeating bits where the scaling path shifts. Such pictures do not go through swscale;
//! * asked to change the matrix between two YUV formats it goes through RGB. It is never asked.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

use ffmpeg_next::{ffi, frame};

use crate::{Error, Result};

use super::colour::centre_chroma;
use super::deep::{Deep, Layout};
use super::geometry::Size;
use super::picture::{Class, Picture};

/// Bicubic, all chroma samples used, exact rounding, the same result on every CPU.
const FLAGS: c_int =
    ffi::SWS_BICUBIC | ffi::SWS_ACCURATE_RND | ffi::SWS_FULL_CHR_H_INT | ffi::SWS_FULL_CHR_H_INP | ffi::SWS_BITEXACT;

/// Scales frames of one description to one size and layout.
pub(super) struct Scaler {
    from: Picture,
    size: Size,
    layout: Layout,
    route: Route,
}

enum Route {
    /// Read the planes as they are.
    Direct,
    Swscale {
        context: Swscale,
        out: frame::Video,
    },
}

impl Scaler {
    /// # Errors
    ///
    /// A pixel format that swscale cannot read, or no memory.
    pub fn new(from: Picture, size: Size, full_chroma: bool) -> Result<Self> {
        let layout = match (from.class, full_chroma) {
            (Class::Grey, _) => Layout::Grey,
            (_, true) => Layout::Full,
            (_, false) => Layout::Half,
        };
        let same_chroma = match layout {
            Layout::Grey => true,
            Layout::Half => from.subsampling == (1, 1),
            Layout::Full => from.subsampling == (0, 0),
        };
        let route = if from.plain_planes && same_chroma && from.size == size {
            Route::Direct
        } else {
            Route::Swscale { context: Swscale::new(&from, size, layout)?, out: buffer(layout, size)? }
        };
        Ok(Scaler { from, size, layout, route })
    }

    /// Whether this scaler is the one for such frames.
    pub fn fits(&self, from: &Picture) -> bool {
        self.from == *from
    }

    /// Scales a frame of the kind that this scaler was made for. Chroma comes out centred.
    ///
    /// # Errors
    ///
    /// A frame of another kind, or one that swscale refuses.
    pub fn run(&mut self, frame: &frame::Video) -> Result<Deep> {
        if Picture::of(frame) != Some(self.from) {
            return Err(Error::usage("a frame of another kind than the scaler was made for"));
        }
        let mut deep = Deep::new(self.size, self.layout);
        match &mut self.route {
            Route::Direct => {
                read_planes(frame, self.from.depth, &mut deep)?;
                if self.layout == Layout::Half {
                    let (x, y) = self.from.siting;
                    let down = match y {
                        0 => 1,
                        256 => -1,
                        _ => 0,
                    };
                    let chroma = deep.chroma_size();
                    centre_chroma(&mut deep.cb, chroma, x == 0, down);
                    centre_chroma(&mut deep.cr, chroma, x == 0, down);
                }
            }
            Route::Swscale { context, out } => {
                context.run(frame, out)?;
                read_planes(out, 16, &mut deep)?;
            }
        }
        Ok(deep)
    }
}

/// The pixel format that swscale writes for a layout: native 16-bit samples.
fn output_format(layout: Layout) -> ffi::AVPixelFormat {
    use ffi::AVPixelFormat::*;
    let little = cfg!(target_endian = "little");
    match layout {
        Layout::Grey if little => AV_PIX_FMT_GRAY16LE,
        Layout::Grey => AV_PIX_FMT_GRAY16BE,
        Layout::Half if little => AV_PIX_FMT_YUV420P16LE,
        Layout::Half => AV_PIX_FMT_YUV420P16BE,
        Layout::Full if little => AV_PIX_FMT_YUV444P16LE,
        Layout::Full => AV_PIX_FMT_YUV444P16BE,
    }
}

fn buffer(layout: Layout, size: Size) -> Result<frame::Video> {
    let out = frame::Video::new(output_format(layout).into(), size.width, size.height);
    // SAFETY: the frame is live; `is_empty` only looks at its first data pointer.
    if unsafe { out.is_empty() } {
        return Err(Error::limit(format!("no memory for a picture of {}x{}", size.width, size.height)));
    }
    Ok(out)
}

/// Copies the planes of a frame with plain planes, shifted to fill 16 bits.
fn read_planes(frame: &frame::Video, depth: u32, deep: &mut Deep) -> Result<()> {
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

/// One row of samples. Rows may be stored from the bottom up (a negative stride), as in uncompressed AVI.
fn row<T>(frame: &frame::Video, plane: usize, y: usize, width: usize) -> Result<&[T]> {
    // SAFETY: the frame is live; these are plain fields of it.
    let (data, stride) = unsafe { ((*frame.as_ptr()).data[plane], (*frame.as_ptr()).linesize[plane] as isize) };
    let fits = !data.is_null() && stride.unsigned_abs() >= width * size_of::<T>();
    if !fits || stride % align_of::<T>() as isize != 0 || !data.cast::<T>().is_aligned() {
        return Err(Error::decode("FFmpeg gave a picture without its planes"));
    }
    // SAFETY: `Picture` says that this plane holds whole samples of T, and FFmpeg keeps a plane's rows `stride` bytes
    // apart, for as many rows as the picture's size gives this plane, which the caller's `y` is below; `width` samples
    // fit in a row (checked above), and the borrow of `frame` keeps its buffers alive.
    Ok(unsafe { std::slice::from_raw_parts(data.offset(stride * y as isize).cast::<T>(), width) })
}

/// An `SwsContext` of our own: ffmpeg-next's does not let one set positions and ranges, nor says whether it worked.
struct Swscale(*mut ffi::SwsContext);

// SAFETY: the context belongs to this value alone and is not tied to a thread.
unsafe impl Send for Swscale {}

impl Swscale {
    fn new(from: &Picture, size: Size, layout: Layout) -> Result<Self> {
        // SAFETY: takes any pixel format.
        if unsafe { ffi::sws_isSupportedInput(from.format) } == 0 {
            return Err(Error::decode(format!("pictures in pixel format {} cannot be converted", from.name)));
        }
        // SAFETY: no arguments; null means no memory, which is checked.
        let context = Swscale(unsafe { ffi::sws_alloc_context() });
        if context.0.is_null() {
            return Err(Error::limit("no memory for a scaler"));
        }
        let full = from.range_name() == "full";
        // FFmpeg's word for "centre, at any subsampling".
        const CENTRE: c_int = -513;
        let rgb = from.class == Class::Rgb;
        let (x, y) = if from.class == Class::Yuv { from.siting } else { (CENTRE, CENTRE) };
        for (name, value) in [
            (c"srcw", int(from.size.width)?),
            (c"srch", int(from.size.height)?),
            (c"src_format", from.format as c_int),
            (c"dstw", int(size.width)?),
            (c"dsth", int(size.height)?),
            (c"dst_format", output_format(layout) as c_int),
            (c"sws_flags", FLAGS),
            (c"src_range", c_int::from(full && !rgb)),
            (c"dst_range", c_int::from(full)),
            (c"src_h_chr_pos", x),
            (c"src_v_chr_pos", y),
            (c"dst_h_chr_pos", CENTRE),
            (c"dst_v_chr_pos", CENTRE),
        ] {
            context.set(name, value)?;
        }
        // SAFETY: a live context whose options are set; null filters mean none.
        let code = unsafe { ffi::sws_init_context(context.0, ptr::null_mut(), ptr::null_mut()) };
        if code < 0 {
            let error = ffmpeg_next::Error::from(code);
            return Err(Error::decode(format!("cannot scale {} from {:?} to {size:?}: {error}", from.name, from.size)));
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
        // SAFETY: both frames are live, and `Scaler::run` has compared this frame's size and format with those that
        // this context was made for, so swscale stays within the planes that the two frames describe.
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
    c_int::try_from(v).map_err(|_| Error::limit(format!("a picture with a side of {v} pixels")))
}
