//! The data for training: two packed data sets, or clips that are made here.

use std::error::Error;
use std::path::Path;

use tempfile::TempDir;
use vidrec::{Channels, Crop, Dataset, Dtype, Frames, LastBatch, Loader, LoaderOptions, Normalize};

use crate::textures;

const FRAMES: u32 = 8;
const SIDE: u32 = 32;

/// Loaders of the clips to train on, and of clips that are held out.
pub struct Data {
    pub train: Loader,
    pub held_out: Loader,
    pub classes: usize,
    /// The clips that were made, until this is dropped.
    made: Option<TempDir>,
}

impl Data {
    /// The data sets that the program's arguments name. Without arguments, textures that move.
    pub fn from_arguments() -> Result<Self, Box<dyn Error>> {
        let paths: Vec<String> = std::env::args().skip(1).collect();
        match &paths[..] {
            [train, held_out] => Ok(Data::open(train.as_ref(), held_out.as_ref(), None)?),
            [] => Data::make(),
            _ => Err("expected two packed data sets, TRAIN HELD_OUT, or no arguments".into()),
        }
    }

    fn make() -> Result<Self, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let (train, held_out) = (folder.path().join("train"), folder.path().join("held-out"));
        textures::pack(&train, 0..320, FRAMES)?;
        textures::pack(&held_out, 320..400, FRAMES)?;
        Ok(Data::open(&train, &held_out, Some(folder))?)
    }

    fn open(train: &Path, held_out: &Path, made: Option<TempDir>) -> vidrec::Result<Self> {
        let (train, held_out) = (Dataset::open(train)?, Dataset::open(held_out)?);
        let resize = Some((SIDE * 5 / 4, SIDE * 5 / 4));
        let options = LoaderOptions {
            frames: Frames::uniform(FRAMES),
            // No flip: a clip that is mirrored moves the other way.
            crop: Crop::center((SIDE, SIDE)).with_resize(resize),
            channels: Channels::Gray,
            dtype: Dtype::F32,
            normalize: Some(Normalize { mean: [0.5; 3], std: [0.25; 3] }),
            ..LoaderOptions::default()
        };
        let training = LoaderOptions {
            crop: Crop::random((SIDE, SIDE)).with_resize(resize),
            shuffle: true,
            last: LastBatch::Wrap,
            ..options.clone()
        };
        let classes = train.classes().len();
        Ok(Data { train: Loader::new(&train, training)?, held_out: Loader::new(&held_out, options)?, classes, made })
    }

    /// Says how many held-out clips are right. Of clips that were made here, more than half must be: chance is a quarter.
    pub fn report(&self, right: usize, all: usize) -> Result<(), String> {
        println!("{right} of {all} held-out clips right");
        let learned = self.made.is_none() || 2 * right > all;
        if learned { Ok(()) } else { Err("nothing was learned".into()) }
    }
}
