//! The only caller of TurboJPEG's C API: handles whose methods check every length before C sees a pointer.

use std::ffi::{CStr, c_int, c_void};
use std::ptr::NonNull;

use turbojpeg::raw;

use crate::markers::Markers;
use crate::private_copy::PrivateJpeg;
use crate::private_copy::between_reads;
use crate::region::Scale;
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;
use vidrec_format::machine::Shortage;

/// The maximum number of scans of a progressive file. Real files have about ten. A hostile file has thousands,
/// each of which is a pass over the picture.
const MAX_SCANS: c_int = 100;

/// Three planes in TurboJPEG's sizes. For 4:2:0, the luma plane is padded to even sides, without other padding.
pub(crate) struct Yuv420<T> {
    pub width: u32,
    pub height: u32,
    pub planes: [T; 3],
}

/// The contents of a JPEG's header, in TurboJPEG's own numbers.
pub(crate) struct RawHeader {
    pub width: u32,
    pub height: u32,
    pub subsampling: raw::TJSAMP,
    pub colorspace: c_int,
}

impl RawHeader {
    /// Whether the JPEG decodes to planes: 4:2:0 YCbCr.
    pub fn has_planes(&self) -> bool {
        (self.subsampling, self.colorspace) == (raw::TJSAMP_TJSAMP_420, raw::TJCS_TJCS_YCbCr as c_int)
    }
}

/// The length of each plane of a [`Yuv420`] in bytes.
fn plane_lengths(width: u32, height: u32) -> [usize; 3] {
    let (chroma_width, chroma_height) = (width.div_ceil(2) as usize, height.div_ceil(2) as usize);
    let chroma = chroma_width * chroma_height;
    [4 * chroma, chroma, chroma]
}

fn no_instance() -> Error {
    Error::limit("no memory for a TurboJPEG instance").short_of(Some(Shortage::Memory))
}

/// One TurboJPEG instance, destroyed on drop.
struct Handle(NonNull<c_void>);

// SAFETY: an instance has no tie to the thread that made it; TurboJPEG only forbids simultaneous use of one
// instance, and every method that changes it takes `&mut self`.
unsafe impl Send for Handle {}

impl Handle {
    fn new(kind: raw::TJINIT) -> Result<Self> {
        // SAFETY: takes no pointer; returns null on failure, which is tested.
        let handle = unsafe { raw::tj3Init(kind as c_int) };
        NonNull::new(handle).map(Handle).ok_or_else(no_instance)
    }

    fn set(&mut self, parameter: raw::TJPARAM, value: c_int) -> Result<()> {
        // SAFETY: the handle is live until drop; a bad parameter or value is refused by a return value.
        let status = unsafe { raw::tj3Set(self.0.as_ptr(), parameter as c_int, value) };
        self.check(status)
    }

    fn get(&self, parameter: raw::TJPARAM) -> c_int {
        // SAFETY: the handle is live until drop, and reading a parameter changes nothing.
        unsafe { raw::tj3Get(self.0.as_ptr(), parameter as c_int) }
    }

    fn scale(&mut self, scale: Scale) -> Result<()> {
        let factor = raw::tjscalingfactor { num: 1, denom: scale.step() as c_int };
        // SAFETY: the handle is live until drop; the factor goes by value, and an unknown one is refused.
        let status = unsafe { raw::tj3SetScalingFactor(self.0.as_ptr(), factor) };
        self.check(status)
    }

    /// Turns a return value into a result, with libjpeg's own message in the error.
    fn check(&self, status: c_int) -> Result<()> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: the handle is live; the string is NUL-terminated, belongs to the instance, and is copied at once.
        let words = unsafe { CStr::from_ptr(raw::tj3GetErrorStr(self.0.as_ptr())) }.to_string_lossy();
        // SAFETY: the handle is live, and reading the code changes nothing.
        let code = unsafe { raw::tj3GetErrorCode(self.0.as_ptr()) };
        // libjpeg's JERR_OUT_OF_MEMORY, and TurboJPEG's message for its own allocations.
        if words.contains("Insufficient memory") || words.contains("Memory allocation failure") {
            return Err(Error::decode(format!("libjpeg-turbo: {words}")).short_of(Some(Shortage::Memory)));
        }
        let damaged = if code == raw::TJERR_TJERR_WARNING as c_int { "damaged data: " } else { "" };
        Err(Error::decode(format!("libjpeg-turbo: {damaged}{words}")))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: made by `tj3Init`, never handed out, destroyed only here.
        unsafe { raw::tj3Destroy(self.0.as_ptr()) }
    }
}

/// A compressor of 4:2:0 planes into baseline JPEG.
pub(crate) struct Compressor(Handle);

impl Compressor {
    /// `quality` 1 to 100; anything else is an error.
    pub fn new(quality: u8) -> Result<Self> {
        let mut handle = Handle::new(raw::TJINIT_TJINIT_COMPRESS)?;
        handle.set(raw::TJPARAM_TJPARAM_QUALITY, quality.into())?;
        handle.set(raw::TJPARAM_TJPARAM_SUBSAMP, raw::TJSAMP_TJSAMP_420)?;
        handle.set(raw::TJPARAM_TJPARAM_FASTDCT, 0)?;
        handle.set(raw::TJPARAM_TJPARAM_OPTIMIZE, 0)?;
        handle.set(raw::TJPARAM_TJPARAM_NOREALLOC, 1)?;
        Ok(Compressor(handle))
    }

    /// Gives each picture Huffman tables of its own.
    #[cfg(any(test, vidrec_internals))]
    pub fn optimize(&mut self) -> Result<()> {
        self.0.set(raw::TJPARAM_TJPARAM_OPTIMIZE, 1)
    }

    /// Compresses into `out`, with a restart marker every `restart` MCUs, and returns the length.
    ///
    /// An `out` that is too small is an error, not an overrun.
    pub fn compress(&mut self, picture: &Yuv420<&[u8]>, restart: u16, out: &mut [u8]) -> Result<usize> {
        let (width, height) = sides(picture.width, picture.height)?;
        let lengths = picture.planes.map(<[u8]>::len);
        if lengths != plane_lengths(picture.width, picture.height) {
            return Err(Error::usage("the lengths of the planes do not fit the size of the picture"));
        }
        self.0.set(raw::TJPARAM_TJPARAM_RESTARTBLOCKS, restart.into())?;
        let planes = picture.planes.map(<[u8]>::as_ptr);
        let mut target = out.as_mut_ptr();
        let mut length = out.len() as _;
        // SAFETY: null strides mean TurboJPEG's own plane widths, and each plane has exactly as many bytes as those
        // need (checked above). `target` and `length` describe `out`; NOREALLOC makes the library stop with an error
        // at its end and never replace the pointer.
        let status = unsafe {
            let handle = self.0.0.as_ptr();
            let strides = std::ptr::null();
            raw::tj3CompressFromYUVPlanes8(handle, planes.as_ptr(), width, strides, height, &mut target, &mut length)
        };
        self.0.check(status)?;
        Ok(length as usize)
    }
}

/// A decompressor that treats libjpeg's warnings (truncated or damaged data) as errors.
pub(crate) struct Decompressor(Handle);

impl Decompressor {
    pub fn new() -> Result<Self> {
        Self::instance().map(Decompressor)
    }

    fn instance() -> Result<Handle> {
        let mut handle = Handle::new(raw::TJINIT_TJINIT_DECOMPRESS)?;
        handle.set(raw::TJPARAM_TJPARAM_STOPONWARNING, 1)?;
        handle.set(raw::TJPARAM_TJPARAM_FASTDCT, 0)?;
        handle.set(raw::TJPARAM_TJPARAM_FASTUPSAMPLE, 0)?;
        handle.set(raw::TJPARAM_TJPARAM_SCANLIMIT, MAX_SCANS)?;
        handle.set(raw::TJPARAM_TJPARAM_MAXPIXELS, limits::MAX_PIXELS as c_int)?;
        handle.set(raw::TJPARAM_TJPARAM_SAVEMARKERS, 0)?;
        Ok(handle)
    }

    /// Reads the header of `jpeg`. Returns an error for a picture beyond [`limits`].
    pub fn open<'a>(&'a mut self, jpeg: PrivateJpeg<'a>) -> Result<OpenJpeg<'a>> {
        // A file of tables alone is a well-formed JPEG, and TurboJPEG would report the previous file's size for
        // it.
        if !Markers::new(jpeg.bytes()).any(|segment| segment.is_frame_header()) {
            return Err(Error::decode("this is not a JPEG: its first segments have no frame header"));
        }
        let header = self.header(jpeg.bytes())?;
        check_limits(header.width, header.height)?;
        between_reads();
        Ok(OpenJpeg { handle: &mut self.0, jpeg: jpeg.bytes(), header })
    }

    fn header(&mut self, jpeg: &[u8]) -> Result<RawHeader> {
        // SAFETY: pointer and length are those of one slice, which the library only reads.
        let status = unsafe { raw::tj3DecompressHeader(self.0.0.as_ptr(), jpeg.as_ptr(), jpeg.len() as _) };
        if let Err(e) = self.0.check(status) {
            // `tj3DecompressHeader` leaves the instance in the middle of the header (3.1.x), and would read the
            // next file as its continuation. A new instance avoids that.
            self.0 = Self::instance()?;
            return Err(e);
        }
        let side = |parameter| u32::try_from(self.0.get(parameter)).unwrap_or(0);
        Ok(RawHeader {
            width: side(raw::TJPARAM_TJPARAM_JPEGWIDTH),
            height: side(raw::TJPARAM_TJPARAM_JPEGHEIGHT),
            subsampling: self.0.get(raw::TJPARAM_TJPARAM_SUBSAMP),
            colorspace: self.0.get(raw::TJPARAM_TJPARAM_COLORSPACE),
        })
    }
}

/// A JPEG whose header was read. Nothing changes it before it is decoded.
pub(crate) struct OpenJpeg<'a> {
    handle: &'a mut Handle,
    jpeg: &'a [u8],
    header: RawHeader,
}

impl OpenJpeg<'_> {
    pub fn header(&self) -> &RawHeader {
        &self.header
    }

    /// Decodes to RGB, 3 bytes a pixel, rows `pitch` bytes apart.
    pub fn rgb(self, out: &mut [u8], pitch: usize) -> Result<()> {
        let OpenJpeg { handle, jpeg, header } = self;
        let (width, height) = (header.width as usize, header.height as usize);
        let row = width.checked_mul(3).filter(|&row| row != 0 && height != 0 && row <= pitch);
        let needed = row.and_then(|row| (height - 1).checked_mul(pitch)?.checked_add(row));
        let (true, Ok(pitch)) = (needed.is_some_and(|n| n <= out.len()), c_int::try_from(pitch)) else {
            let message = format!("{} bytes in rows of {pitch} cannot hold a picture of {width}x{height}", out.len());
            return Err(Error::usage(message));
        };
        handle.scale(Scale::Full)?;
        // SAFETY: the library reads `jpeg` within its length and takes the size from its header, without scaling. That
        // is the header that `open` read: a `PrivateJpeg` does not change while it is borrowed. The library writes
        // `width * 3` bytes at the start of each of `height` rows, which is within `out` (checked above).
        let status = unsafe {
            let (instance, format) = (handle.0.as_ptr(), raw::TJPF_TJPF_RGB as c_int);
            raw::tj3Decompress8(instance, jpeg.as_ptr(), jpeg.len() as _, out.as_mut_ptr(), pitch, format)
        };
        handle.check(status)
    }

    /// Decodes a 4:2:0 YCbCr JPEG to its planes. Each side is divided by `scale` and rounded up. Padding repeats
    /// the edge.
    pub fn yuv420(self, scale: Scale, out: Yuv420<&mut [u8]>) -> Result<()> {
        let OpenJpeg { handle, jpeg, header } = self;
        let scaled = (scale.side(header.width), scale.side(header.height));
        let lengths = [out.planes[0].len(), out.planes[1].len(), out.planes[2].len()];
        if !header.has_planes() || scaled != (out.width, out.height) || lengths != plane_lengths(out.width, out.height)
        {
            return Err(Error::usage("the planes do not fit the JPEG's size and subsampling"));
        }
        handle.scale(scale)?;
        let [luma, blue, red] = out.planes;
        let mut planes = [luma.as_mut_ptr(), blue.as_mut_ptr(), red.as_mut_ptr()];
        // SAFETY: the library reads `jpeg` within its length and takes size and subsampling from its header. That is the
        // header that `open` read: a `PrivateJpeg` does not change while it is borrowed. The scale is the one just set,
        // which rounds up as `Scale::side` does; null strides mean the library's own plane widths, and each plane has
        // exactly as many bytes as those need (checked above). The three slices are disjoint, being `&mut`.
        let status = unsafe {
            let instance = handle.0.as_ptr();
            let strides = std::ptr::null_mut();
            raw::tj3DecompressToYUVPlanes8(instance, jpeg.as_ptr(), jpeg.len() as _, planes.as_mut_ptr(), strides)
        };
        handle.check(status)?;
        repeat_edge(luma, out.width as usize, out.height as usize);
        Ok(())
    }
}

/// Repeats the last column and row of a luma plane in its padding to even sides.
///
/// At 1/8, TurboJPEG (3.1.x) pads an odd side with memory that it has not written, because libjpeg skips blocks
/// outside the picture.
fn repeat_edge(luma: &mut [u8], width: usize, height: usize) {
    let pitch = width.next_multiple_of(2);
    if width % 2 == 1 {
        luma.chunks_exact_mut(pitch).for_each(|row| row[width] = row[width - 1]);
    }
    if height % 2 == 1 {
        luma.copy_within((height - 1) * pitch..height * pitch, height * pitch);
    }
}

/// Rewrites a JPEG's entropy-coded data. The DCT coefficients do not change, and so neither do the pixels.
pub(crate) struct Transformer(Handle);

impl Transformer {
    pub fn new() -> Result<Self> {
        let mut handle = Handle::new(raw::TJINIT_TJINIT_TRANSFORM)?;
        handle.set(raw::TJPARAM_TJPARAM_STOPONWARNING, 1)?;
        handle.set(raw::TJPARAM_TJPARAM_SCANLIMIT, MAX_SCANS)?;
        handle.set(raw::TJPARAM_TJPARAM_MAXPIXELS, limits::MAX_PIXELS as c_int)?;
        handle.set(raw::TJPARAM_TJPARAM_OPTIMIZE, 0)?;
        handle.set(raw::TJPARAM_TJPARAM_PROGRESSIVE, 0)?;
        handle.set(raw::TJPARAM_TJPARAM_ARITHMETIC, 0)?;
        handle.set(raw::TJPARAM_TJPARAM_NOREALLOC, 1)?;
        Ok(Transformer(handle))
    }

    /// Writes `jpeg` into `out` as a single scan with the standard Huffman tables and a restart marker every
    /// `restart` MCUs. Returns the length. Other marker segments are copied.
    ///
    /// `jpeg` must have a frame header (SOFn). An `out` that is too small is an error, not an overrun.
    pub fn restart(&mut self, jpeg: PrivateJpeg<'_>, restart: u16, out: &mut [u8]) -> Result<usize> {
        let jpeg = jpeg.bytes();
        self.0.set(raw::TJPARAM_TJPARAM_RESTARTBLOCKS, restart.into())?;
        let transform = raw::tjtransform {
            r: raw::tjregion { x: 0, y: 0, w: 0, h: 0 },
            op: raw::TJXOP_TJXOP_NONE as c_int,
            options: 0,
            data: std::ptr::null_mut(),
            customFilter: None,
        };
        let mut target = out.as_mut_ptr();
        let mut length = out.len() as _;
        // SAFETY: the library reads `jpeg`, which does not change, within its length. There is one transform, and one
        // pointer and one length for its target, which describe `out`. NOREALLOC makes the library stop with an error
        // at its end and never replace the pointer. No filter is called.
        let status = unsafe {
            let handle = self.0.0.as_ptr();
            raw::tj3Transform(handle, jpeg.as_ptr(), jpeg.len() as _, 1, &mut target, &mut length, &transform)
        };
        self.0.check(status)?;
        Ok(length as usize)
    }
}

/// Both sides as C integers. They are proven to be within [`limits`], so no product of them can overflow.
fn sides(width: u32, height: u32) -> Result<(c_int, c_int)> {
    if width == 0 || height == 0 {
        return Err(Error::usage(format!("a picture cannot have {width}x{height} pixels")));
    }
    check_limits(width, height)?;
    Ok((width as c_int, height as c_int))
}

/// Returns an error for a picture beyond [`limits`].
pub(crate) fn check_limits(width: u32, height: u32) -> Result<()> {
    if width > limits::MAX_SIDE || height > limits::MAX_SIDE {
        let sides = format!("{width}x{height}");
        return Err(Error::limit(format!(
            "the JPEG has {sides} pixels, but each side can have at most {}",
            limits::MAX_SIDE
        )));
    }
    if u64::from(width) * u64::from(height) > limits::MAX_PIXELS {
        let sides = format!("{width}x{height}");
        return Err(Error::limit(format!(
            "the JPEG has {sides} pixels, but at most {} are allowed",
            limits::MAX_PIXELS
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use vidrec_format::error::ErrorKind;

    fn gray(width: u32, height: u32) -> Vec<u8> {
        let [y, cb, cr] = plane_lengths(width, height).map(|n| vec![128u8; n]);
        let picture = Yuv420 { width, height, planes: [&y[..], &cb, &cr] };
        let mut out = vec![0; 1 << 16];
        let length = Compressor::new(90).unwrap().compress(&picture, 1, &mut out).unwrap();
        out.truncate(length);
        out
    }

    #[test]
    fn our_plane_lengths_are_turbojpegs() {
        for (width, height) in [(1, 1), (2, 3), (5, 4), (16, 16), (17, 33), (340, 256)] {
            let theirs = [0, 1, 2].map(|plane| {
                let (w, h) = (width as c_int, height as c_int);
                // SAFETY: arithmetic on integers; no pointer, no state.
                unsafe { raw::tj3YUVPlaneSize(plane, w, 0, h, raw::TJSAMP_TJSAMP_420) as usize }
            });
            assert_eq!(plane_lengths(width, height), theirs, "{width}x{height}");
        }
    }

    #[test]
    fn a_target_that_is_too_small_is_an_error_and_nothing_behind_it_changes() {
        let whole = gray(48, 48);
        let [y, cb, cr] = plane_lengths(48, 48).map(|n| vec![128u8; n]);
        let picture = Yuv420 { width: 48, height: 48, planes: [&y[..], &cb, &cr] };
        let mut compressor = Compressor::new(90).unwrap();
        for room in 0..whole.len() {
            let mut out = vec![0xAA; whole.len() + 8];
            assert!(compressor.compress(&picture, 1, &mut out[..room]).is_err(), "{room}");
            assert!(out[room..].iter().all(|&b| b == 0xAA), "{room}");
        }
        // libjpeg asks for more room as soon as none is left, so it needs one spare byte.
        let mut out = vec![0; whole.len() + 1];
        assert_eq!(compressor.compress(&picture, 1, &mut out).unwrap(), whole.len());
        assert_eq!(out[..whole.len()], whole);
    }

    #[test]
    fn short_planes_are_refused_before_c_sees_them() {
        let picture = Yuv420 { width: 16, height: 16, planes: [&[0u8; 255][..], &[0; 64], &[0; 64]] };
        let e = Compressor::new(90).unwrap().compress(&picture, 1, &mut [0; 4096]).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Usage);
    }

    #[test]
    fn a_short_target_or_pitch_is_refused_before_c_sees_it() {
        let jpeg = gray(20, 10);
        let mut decompressor = Decompressor::new().unwrap();
        for (length, pitch) in [(599, 60), (600, 59), (0, 60), (600, 1 << 40), (600, usize::MAX)] {
            let e = decompressor.open((&jpeg).into()).unwrap().rgb(&mut vec![0; length], pitch).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::Usage, "{length} {pitch}");
        }
        decompressor.open((&jpeg).into()).unwrap().rgb(&mut [0; 600], 60).unwrap();
        let planes = [&mut [0u8; 200][..], &mut [0; 50], &mut [0; 49]];
        let out = Yuv420 { width: 20, height: 10, planes };
        let e = decompressor.open((&jpeg).into()).unwrap().yuv420(Scale::Full, out).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Usage);
    }

    #[test]
    fn padding_repeats_the_edge() {
        for ((width, height), scale) in
            [(22, 2), (24, 24), (8, 40), (17, 9)].into_iter().flat_map(|size| Scale::ALL.map(|scale| (size, scale)))
        {
            let planes = plane_lengths(width, height).map(|n| (0..n).map(|i| (i * i * 37) as u8).collect::<Vec<_>>());
            let picture = Yuv420 { width, height, planes: [&planes[0][..], &planes[1], &planes[2]] };
            let mut jpeg = vec![0; 1 << 16];
            let length = Compressor::new(90).unwrap().compress(&picture, 1, &mut jpeg).unwrap();
            jpeg.truncate(length);

            let (width, height) = (scale.side(width), scale.side(height));
            let mut planes = plane_lengths(width, height).map(|n| vec![0; n]);
            let out = Yuv420 { width, height, planes: planes.each_mut().map(|plane| &mut plane[..]) };
            Decompressor::new().unwrap().open((&jpeg).into()).unwrap().yuv420(scale, out).unwrap();
            let rows: Vec<_> = planes[0].chunks(width.next_multiple_of(2) as usize).collect();
            assert!(rows.iter().all(|row| row[row.len() - 1] == row[width as usize - 1]), "{width} {scale:?}");
            assert!(rows[rows.len() - 1] == rows[height as usize - 1], "{height} {scale:?}");
        }
    }

    #[test]
    fn rows_keep_their_pitch() {
        let jpeg = gray(20, 10);
        let mut out = vec![7; 9 * 64 + 60];
        Decompressor::new().unwrap().open((&jpeg).into()).unwrap().rgb(&mut out, 64).unwrap();
        for row in out.chunks(64) {
            assert!(row[..60].iter().all(|&b| b == 128));
            assert!(row[60..].iter().all(|&b| b == 7));
        }
    }
}
