//! What one thread needs to turn a stored frame into a picture, kept from frame to frame.

use super::kernel::{Kernel, Sample};
use crate::Result;
use crate::jpeg::Decoder;
use crate::reader::Clip;

/// A decoder and its buffers.
pub(super) struct Worker {
    decoder: Decoder,
    /// The frame, 3 bytes a pixel.
    rgb: Vec<u8>,
    /// Scratch space of the kernel.
    line: Vec<f32>,
    /// The frame's record, where files are not mapped.
    record: Vec<u8>,
}

/// What decoding a frame took.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Work {
    /// Bytes of JPEG.
    pub bytes: u64,
    /// Tiles of the JPEG that did not have to be decoded.
    pub tiles_skipped: u64,
}

impl Worker {
    pub fn new() -> Result<Self> {
        Ok(Worker { decoder: Decoder::new()?, rgb: Vec::new(), line: Vec::new(), record: Vec::new() })
    }

    /// Reads, checks (if `check_crc`) and decodes frame `t` of `clip`, and writes its picture to `slot`.
    ///
    /// `kernel` has the tables if the frame has the size that its clip says; `other` makes them for any other size.
    pub fn frame<S: Sample>(
        &mut self,
        clip: &Clip<'_>,
        t: u32,
        check_crc: bool,
        kernel: Option<&Kernel>,
        other: impl Fn((u32, u32)) -> Kernel,
        slot: &mut [S],
    ) -> Result<Work> {
        let mut record = std::mem::take(&mut self.record);
        let work = clip.frame_with(t, &mut record).and_then(|frame| {
            if check_crc {
                frame.check()?;
            }
            self.picture(frame.jpeg(), kernel, other, slot).map_err(|e| frame.place(e))
        });
        self.record = record;
        work
    }

    fn picture<S: Sample>(
        &mut self,
        jpeg: &[u8],
        kernel: Option<&Kernel>,
        other: impl Fn((u32, u32)) -> Kernel,
        slot: &mut [S],
    ) -> Result<Work> {
        let size = self.decode(jpeg)?;
        match kernel {
            Some(kernel) if kernel.frame() == size => kernel.run(&self.rgb, &mut self.line, slot),
            _ => other(size).run(&self.rgb, &mut self.line, slot),
        }
        Ok(Work { bytes: jpeg.len() as u64, tiles_skipped: 0 })
    }

    fn decode(&mut self, jpeg: &[u8]) -> Result<(u32, u32)> {
        let header = self.decoder.header(jpeg)?;
        self.rgb.resize(header.rgb_len(), 0);
        self.decoder.decode_rgb(jpeg, &mut self.rgb, header.width as usize * 3)?;
        Ok((header.width, header.height))
    }
}
