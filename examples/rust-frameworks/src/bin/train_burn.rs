//! Train a small network with burn on packed clips.
//!
//!     cargo run --release --bin train_burn                      # on textures that move, which it makes
//!     cargo run --release --bin train_burn -- TRAIN HELD_OUT    # on your packed data sets

use std::error::Error;

use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig, PaddingConfig2d};
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Int, Tensor, TensorData};
use rust_frameworks::{Clips, Data, epoch};

const EPOCHS: u64 = 5;

/// Convolutions over pictures whose channels are the frames of a clip.
#[derive(Module, Debug)]
struct Net {
    first: Conv2d,
    second: Conv2d,
    head: Linear,
}

impl Net {
    fn new(frames: usize, classes: usize, device: &Device) -> Self {
        let half = |channels| {
            let config = Conv2dConfig::new(channels, [5, 5]).with_stride([2, 2]);
            config.with_padding(PaddingConfig2d::Explicit(2, 2, 2, 2)).init(device)
        };
        Net { first: half([frames, 32]), second: half([32, 32]), head: LinearConfig::new(32, classes).init(device) }
    }

    fn forward(&self, clips: Tensor<4>) -> Tensor<2> {
        let features = relu(self.second.forward(relu(self.first.forward(clips))));
        self.head.forward(features.flatten::<3>(2, 3).mean_dim(2).flatten(1, 2))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let data = Data::from_arguments()?;
    let device = Device::flex().autodiff();
    device.seed(0);
    let mut net = Net::new(data.train.shape()[1], data.classes, &device);
    let mut optimizer = AdamConfig::new().init();
    let cross_entropy = CrossEntropyLossConfig::new().init(&device);

    for number in 0..EPOCHS {
        let mut last = None;
        for clips in epoch(&data.train, number)? {
            let Clips { pixels, shape, labels, .. } = clips?;
            let labels = Tensor::<1, Int>::from_data(TensorData::new(labels, [shape[0]]), &device);
            let pixels = Tensor::from_data(TensorData::new(pixels, shape), &device); // on a CPU, without a copy
            let loss = cross_entropy.forward(net.forward(pixels), labels);
            let gradients = GradientsParams::from_grads(loss.backward(), &net);
            net = optimizer.step(3e-3, net, gradients);
            last = Some(loss);
        }
        if let Some(loss) = last {
            println!("epoch {number}: loss {:.3}", loss.into_scalar::<f32>());
        }
    }

    let (mut right, mut all) = (0, 0);
    let device = device.inner();
    let net = net.valid();
    for clips in epoch(&data.held_out, 0)? {
        let mut clips = clips?;
        let pixels = TensorData::new(std::mem::take(&mut clips.pixels), clips.shape);
        let guesses = net.forward(Tensor::from_data(pixels, &device)).argmax(1).into_data();
        let (of_these, counted) = clips.right(&guesses.iter::<i64>().collect::<Vec<_>>());
        (right, all) = (right + of_these, all + counted);
    }
    Ok(data.report(right, all)?)
}
