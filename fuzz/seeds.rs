//! Writes inputs to begin with to `corpus/TARGET/`: the vectors of the format, and pictures that are made here.

use std::fs;
use std::path::Path;

use vidrec_jpeg::fuzzing::{generated, originals};

#[path = "../tests/common/hostile.rs"]
#[allow(dead_code)]
mod hostile;

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let write = |target: &str, name: &str, bytes: &[u8]| {
        let folder = here.join("corpus").join(target);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name), bytes).unwrap();
    };
    let pictures = originals().into_iter().chain((0..24).map(generated));
    for (i, jpeg) in pictures.enumerate() {
        write("segments", &format!("picture-{i}"), &jpeg);
        for scale in 0..4 {
            let wish = [4 * i as u8 | scale, 0, 0, 255, 255];
            write("decoders", &format!("picture-{i}-{scale}"), &[&wish, &jpeg[..]].concat());
        }
    }
    for (i, quality) in [0u8, 49, 74, 89, 99].into_iter().enumerate() {
        for smooth in [0, 3, 30] {
            let samples: Vec<u8> = (0..2000u32).map(|n| (n * n / 7 + n * smooth) as u8).collect();
            let wish = [quality, 16 * i as u8 + 15, 47, i as u8 % 2, smooth as u8];
            write("encoder", &format!("clip-{i}-{smooth}"), &[&wish, &samples[..]].concat());
        }
    }
    for folder in ["good", "bad", "good/two-shards"] {
        for entry in fs::read_dir(here.join("../format-spec/vectors").join(folder)).unwrap() {
            let index = entry.unwrap().path();
            if index.extension().is_none_or(|extension| extension != "vidx") {
                continue;
            }
            let record = fs::read(index.with_extension("rec")).unwrap_or_default();
            let name = format!("{}-{}", folder.replace('/', "-"), index.file_stem().unwrap().display());
            write("records", &name, &record);
            write("data_set", &name, &hostile::input(&fs::read(&index).unwrap(), &record));
        }
    }
    for reader in fs::read_dir(here.join("seeds")).unwrap() {
        let reader = reader.unwrap().path();
        for seed in fs::read_dir(&reader).unwrap() {
            let seed = seed.unwrap().path();
            let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
            write(&name(&reader), &name(&seed), &fs::read(&seed).unwrap());
        }
    }
}
