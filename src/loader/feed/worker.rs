//! What one thread needs to turn a stored frame into a picture, kept from frame to frame.

use crate::allocation;
use crate::dataset::Clip;
use crate::jpeg::{Cut, JpegDecoder, Region, RegionDecoder, Scale};
use crate::loader::kernel::{Decoded, Kernel, PictureSlot, SampleType, Scratch, Wanted};
use crate::{Error, Result};

/// A decoder and its buffers.
pub(super) struct Worker {
    decoder: RegionDecoder,
    /// Of a part of the frame: luma and chroma, or red, green and blue.
    planes: [Vec<u8>; 3],
    /// Of a part of the frame, 3 bytes a pixel.
    rgb: Vec<u8>,
    scratch: Scratch,
    /// The frame's record, where files are not mapped.
    record: Vec<u8>,
}

/// What decoding a frame took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct DecodeCost {
    /// Bytes of JPEG.
    pub bytes: u64,
    /// Tiles of the JPEG that were decoded; 0 if it has no tiles and was decoded whole.
    pub tiles_decoded: u64,
    /// Tiles of the JPEG that did not have to be decoded.
    pub tiles_skipped: u64,
}

impl Worker {
    pub fn new(decoder: JpegDecoder) -> Result<Self> {
        let planes = [const { Vec::new() }; 3];
        let (decoder, scratch) = (RegionDecoder::new(decoder)?, Scratch::default());
        Ok(Worker { decoder, planes, rgb: Vec::new(), scratch, record: Vec::new() })
    }

    /// Reads frame `t` of `clip`, checks it (if `check_crc`), decodes it and writes its picture to `slot`: see
    /// [`picture`](Self::picture).
    pub fn frame<S: SampleType>(
        &mut self,
        clip: &Clip<'_>,
        t: u32,
        check_crc: bool,
        kernel: Option<&Kernel>,
        other: impl Fn((u32, u32)) -> Kernel,
        slot: PictureSlot<'_, S>,
    ) -> Result<DecodeCost> {
        let mut record = std::mem::take(&mut self.record);
        let work = clip.frame_with(t, &mut record).and_then(|frame| {
            // What was fetched has been checked.
            if check_crc && !clip.is_remote() {
                frame.check()?;
            }
            let made = self.picture(frame.jpeg(), kernel, other, slot);
            frame.prove_still_there()?;
            made.map_err(|e| frame.place(e))
        });
        self.record = record;
        work
    }

    /// Copies the JPEG of frame `t` of `clip` to `to`, which has its length, checks the copy (if `check_crc`) and reads the
    /// width and height in its header.
    pub fn jpeg(&mut self, clip: &Clip<'_>, t: u32, check_crc: bool, to: &mut [u8]) -> Result<(u32, u32)> {
        let mut record = std::mem::take(&mut self.record);
        let size = clip.frame_with(t, &mut record).and_then(|frame| {
            let jpeg = frame.jpeg();
            if jpeg.len() != to.len() {
                let e = Error::format("record-length", "the length of the frame's JPEG changed while it was read");
                return Err(frame.place(e.expected(to.len()).found(jpeg.len())));
            }
            to.copy_from_slice(jpeg);
            // What was fetched has been checked.
            if check_crc && !clip.is_remote() {
                frame.check_copy(to)?;
            }
            let format = self.decoder.format(to);
            frame.prove_still_there()?;
            format.map(|format| format.size).map_err(|e| frame.place(e))
        });
        self.record = record;
        size
    }

    /// Decodes as much of `jpeg` as its picture needs, and writes the picture to `slot`.
    ///
    /// `kernel` has the tables for a frame of the size that its clip gives; `other` makes them for any other size.
    fn picture<S: SampleType>(
        &mut self,
        jpeg: &[u8],
        kernel: Option<&Kernel>,
        other: impl Fn((u32, u32)) -> Kernel,
        slot: PictureSlot<'_, S>,
    ) -> Result<DecodeCost> {
        let picture = self.decoder.format(jpeg)?;
        let own;
        let kernel = match kernel.filter(|kernel| kernel.frame() == picture.size) {
            Some(kernel) => kernel,
            None => {
                own = other(picture.size);
                &own
            }
        };
        let (wanted, region) = kernel.wants(picture.pixels);
        let (cut, pitches) = match wanted {
            Wanted::Planes(scale) => self.decode_planes(jpeg, region, scale)?,
            Wanted::Rgb => self.decode_rgb(jpeg, region)?,
        };
        let planes = self.planes.each_ref().map(Vec::as_slice);
        let frame = Decoded { planes, pitches, origin: (cut.region.x, cut.region.y) };
        kernel.run(picture.pixels, &frame, &mut self.scratch, slot);
        let (tiles_decoded, tiles_skipped) = (cut.tiles.into(), cut.skipped.into());
        Ok(DecodeCost { bytes: jpeg.len() as u64, tiles_decoded, tiles_skipped })
    }

    fn decode_planes(&mut self, jpeg: &[u8], region: Region, scale: Scale) -> Result<(Cut, [usize; 3])> {
        let cut = self.decoder.planes(jpeg, region, scale, &mut self.planes)?;
        let pitch = cut.luma_pitch(scale);
        Ok((cut, [pitch, pitch / 2, pitch / 2]))
    }

    fn decode_rgb(&mut self, jpeg: &[u8], region: Region) -> Result<(Cut, [usize; 3])> {
        let cut = self.decoder.rgb(jpeg, region, &mut self.rgb)?;
        let pixels = cut.region.width as usize * cut.region.height as usize;
        let rgb = &self.rgb.as_chunks().0[..pixels];
        for (c, plane) in self.planes.iter_mut().enumerate() {
            allocation::resize(plane, pixels, 0, "a frame")?;
            plane.iter_mut().zip(rgb).for_each(|(sample, pixel): (_, &[u8; 3])| *sample = pixel[c]);
        }
        Ok((cut, [cut.region.width as usize; 3]))
    }
}
