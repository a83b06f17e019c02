//! The pass over a frame on each kind of machine, for `benches/parts.rs`.

use half::{bf16, f16};

use super::isa::Machine;
use super::*;
use crate::loader::aligned::Aligned;
use vidrec_jpeg::{DecodedPart, Pixels};

/// Planes of a 4:2:0 frame of 340 by 256 pixels, and tables that make pictures of its middle.
pub struct KernelBench {
    kernel: Kernel,
    planes: [Vec<u8>; 3],
    scratch: Scratch,
    out: Aligned<f32>,
    halves: Aligned<f16>,
    brain: Aligned<bf16>,
    levels: Aligned<u8>,
}

const FRAME: (u32, u32) = (340, 256);

impl KernelBench {
    /// Creates tables for square pictures of `side` pixels from the `crop` by `crop` pixels in the middle of the
    /// frame, normalized.
    pub fn new(crop: u32, side: u32) -> Self {
        let span = |length: u32| {
            let start = (length - crop) / 2;
            Span { bounds: (start, start + crop), start: start.into(), scale: f64::from(crop) / f64::from(side) }
        };
        let (mean, std, matrix) = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225], ColorMatrix::IDENTITY);
        let target =
            PictureSpec { size: (side, side), channels: Channels::Rgb, mean, std, matrix, reducing_gap: f64::INFINITY };
        let kernel =
            Kernel::new(&target, &View { x: span(FRAME.0), y: span(FRAME.1), flip: false }, FRAME, Pixels::Ycc420);
        let plane = |samples: u32| (0..samples).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let planes = [FRAME.0 * FRAME.1, FRAME.0 * FRAME.1 / 4, FRAME.0 * FRAME.1 / 4].map(plane);
        let samples = 3 * side as usize * side as usize;
        let (mut out, mut halves) = (Aligned::default(), Aligned::default());
        let (mut brain, mut levels) = (Aligned::default(), Aligned::default());
        out.resize(samples);
        halves.resize(samples);
        brain.resize(samples);
        levels.resize(samples);
        KernelBench { kernel, planes, scratch: Scratch::default(), out, halves, brain, levels }
    }

    /// The names of the kinds of machines that this machine supports.
    pub fn machines() -> Vec<String> {
        Machine::all().iter().map(|machine| format!("{machine:?}").replace("(())", "")).collect()
    }

    /// Makes one picture of f32, plane by plane, on one of [`machines`](Self::machines).
    pub fn f32(&mut self, machine: usize) -> f32 {
        let slot = PictureBuffer::planes(&mut self.out);
        run(machine, &self.kernel, &self.planes, &mut self.scratch, slot);
        self.out[0]
    }

    /// Makes one picture of f16, plane by plane.
    pub fn f16(&mut self, machine: usize) -> f16 {
        let slot = PictureBuffer::planes(&mut self.halves);
        run(machine, &self.kernel, &self.planes, &mut self.scratch, slot);
        self.halves[0]
    }

    /// Makes one picture of bf16, plane by plane.
    pub fn bf16(&mut self, machine: usize) -> bf16 {
        let slot = PictureBuffer::planes(&mut self.brain);
        run(machine, &self.kernel, &self.planes, &mut self.scratch, slot);
        self.brain[0]
    }

    /// Makes one picture of u8, pixel by pixel.
    pub fn u8(&mut self, machine: usize) -> u8 {
        let slot = PictureBuffer::Pixels(&mut self.levels);
        run(machine, &self.kernel, &self.planes, &mut self.scratch, slot);
        self.levels[0]
    }
}

fn run<S: SampleType>(
    machine: usize,
    kernel: &Kernel,
    planes: &[Vec<u8>; 3],
    scratch: &mut Scratch,
    slot: PictureBuffer<'_, S>,
) {
    let pitch = FRAME.0 as usize;
    let planes = planes.each_ref().map(Vec::as_slice);
    let frame = DecodedPart { planes, pitches: [pitch, pitch / 2, pitch / 2], origin: (0, 0) };
    pass::run(Machine::all()[machine], kernel, &frame, scratch, slot);
}
