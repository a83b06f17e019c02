//! Train a small network with candle on packed clips.
//!
//!     cargo run --release --bin train_candle                      # on textures that move, which it makes
//!     cargo run --release --bin train_candle -- TRAIN HELD_OUT    # on your packed data sets

use std::error::Error;

use candle_core::{D, DType, Device, Result, Tensor};
use candle_nn::{AdamW, Conv2d, Conv2dConfig, Linear, Module, Optimizer, ParamsAdamW, VarBuilder, VarMap};
use rust_frameworks::{Clips, Data, epoch};

const EPOCHS: u64 = 5;

/// Convolutions over pictures whose channels are the frames of a clip.
struct Net {
    first: Conv2d,
    second: Conv2d,
    head: Linear,
}

impl Net {
    fn new(frames: usize, classes: usize, variables: VarBuilder) -> Result<Self> {
        let half = Conv2dConfig { stride: 2, padding: 2, ..Conv2dConfig::default() };
        Ok(Net {
            first: candle_nn::conv2d(frames, 32, 5, half, variables.pp("first"))?,
            second: candle_nn::conv2d(32, 32, 5, half, variables.pp("second"))?,
            head: candle_nn::linear(32, classes, variables.pp("head"))?,
        })
    }
}

impl Module for Net {
    fn forward(&self, clips: &Tensor) -> Result<Tensor> {
        let features = clips.apply(&self.first)?.relu()?.apply(&self.second)?.relu()?;
        features.mean((2, 3))?.apply(&self.head)
    }
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let data = Data::from_arguments()?;
    let device = Device::Cpu;
    let variables = VarMap::new();
    let frames = data.train.shape()[1];
    let net = Net::new(frames, data.classes, VarBuilder::from_varmap(&variables, DType::F32, &device))?;
    let mut optimizer = AdamW::new(variables.all_vars(), ParamsAdamW { lr: 3e-3, ..ParamsAdamW::default() })?;

    for number in 0..EPOCHS {
        let mut last = None;
        for clips in epoch(&data.train, number)? {
            let Clips { pixels, shape, labels, .. } = clips?;
            let pixels = Tensor::from_vec(pixels, &shape, &device)?; // on a CPU, without a copy
            let labels = Tensor::from_vec(labels, shape[0], &device)?;
            let loss = candle_nn::loss::cross_entropy(&net.forward(&pixels)?, &labels)?;
            optimizer.backward_step(&loss)?;
            last = Some(loss);
        }
        if let Some(loss) = last {
            println!("epoch {number}: loss {:.3}", loss.to_scalar::<f32>()?);
        }
    }

    let (mut right, mut all) = (0, 0);
    for clips in epoch(&data.held_out, 0)? {
        let mut clips = clips?;
        let pixels = Tensor::from_vec(std::mem::take(&mut clips.pixels), &clips.shape, &device)?;
        let guesses = net.forward(&pixels)?.argmax(D::Minus1)?.to_dtype(DType::I64)?;
        let (of_these, counted) = clips.right(&guesses.to_vec1()?);
        (right, all) = (right + of_these, all + counted);
    }
    Ok(data.report(right, all)?)
}
