//! Whatever the frames and the options are, batches have the bits that they have without a cache.

use proptest::prelude::*;
use vidrec::{Channels, Crop, Dataset, Dtype, Frames, Layout, Loader, LoaderOptions};

use crate::common::{jpeg, set, write};
use crate::decoded_cache::support::{batches, cache, expected, memory, stats, training};

/// Bytes of a file of the test data.
fn stored(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/data/jpeg/{name}.jpg", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn a_frame_is_decoded_once_at_each_scale() {
    let Some(memory) = memory() else { return };
    let (_folder, dir) = set(6, 4, (170, 130));
    let options = LoaderOptions { decoded_cache: cache(memory.path(), 64 << 20), ..training(3, (48, 48)) };
    let loader = crate::common::loader(&dir, options.clone());
    let expected = expected(&dir, &options, 30);
    let mut found = batches(&loader, 1);
    let first = stats(&loader);
    assert_eq!((first.hits, first.misses, first.refused), (0, 24, 0));
    assert!(first.kept_bytes > 0 && first.taken_bytes > first.kept_bytes);
    found.extend((1..30).flat_map(|epoch| crate::common::one_by_one(&loader, epoch)).map(Result::unwrap));
    assert!(found == expected);
    let all = stats(&loader);
    assert!(all.hits > 400 && all.misses < 3 * 24, "{all:?}");
    // All scales of a frame together take less than two of its full size.
    assert!(all.kept_bytes < 24 * (192 * 136 * 3), "{all:?}");
    assert!((30..60).flat_map(|epoch| crate::common::one_by_one(&loader, epoch)).all(|batch| batch.is_ok()));
    let more = stats(&loader);
    assert!(more.hits - all.hits > 600, "hardly anything is read any more: {more:?}");
    assert_eq!(more.failure, None);
}

#[test]
fn fixed_crops_are_hits_from_the_second_epoch_on_and_read_nothing() {
    let Some(memory) = memory() else { return };
    let (_folder, dir) = set(5, 3, (100, 80));
    let crop = Crop::center((64, 64));
    let options = LoaderOptions { crop, decoded_cache: cache(memory.path(), 32 << 20), ..training(2, (64, 64)) };
    let loader = crate::common::loader(&dir, options.clone());
    assert!(batches(&loader, 1) == expected(&dir, &options, 1));
    let (read, kept) = (loader.stats().bytes, stats(&loader).kept_bytes);
    assert!(batches(&loader, 3) == expected(&dir, &options, 3));
    let all = stats(&loader);
    assert_eq!((loader.stats().bytes, all.kept_bytes), (read, kept));
    // The last batch has a clip twice.
    assert_eq!((all.misses, all.hits), (15, loader.stats().frames - 15));
}

#[test]
fn frames_without_tiles_are_kept_whole_and_others_not_at_all() {
    let Some(memory) = memory() else { return };
    let names = ["s420", "progressive", "s422", "s444", "gray"];
    let clips: Vec<_> = names.iter().map(|name| vec![stored(name); 2]).collect();
    let (_folder, dir) = write(&clips, (0, 0));
    for size in [(20, 20), (7, 5)] {
        let options = LoaderOptions { decoded_cache: cache(memory.path(), 32 << 20), ..training(2, size) };
        let loader = crate::common::loader(&dir, options.clone());
        assert!(batches(&loader, 8) == expected(&dir, &options, 8));
        let stats = stats(&loader);
        // The progressive one is 4:2:0 as well.
        assert!(stats.other_frames > 0 && stats.hits > 0, "{stats:?}");
    }
}

#[test]
fn selections_mixes_and_views_share_what_is_of_the_same_shards() {
    let Some(memory) = memory() else { return };
    let (_folder, dir) = set(6, 2, (80, 60));
    let options = LoaderOptions { decoded_cache: cache(memory.path(), 32 << 20), ..training(2, (32, 32)) };
    let all = Dataset::open(&dir).unwrap();
    let odd = all.select([5, 3, 1]).unwrap();
    let of = |set: &Dataset, cached: bool| {
        let decoded_cache = options.decoded_cache.clone().filter(|_| cached);
        Loader::new(set, LoaderOptions { decoded_cache, ..options.clone() }).unwrap()
    };
    let (first, second) = (of(&all, true), of(&odd, true));
    assert!(batches(&first, 12) == batches(&of(&all, false), 12));
    assert!(batches(&second, 12) == batches(&of(&odd, false), 12));
    let found = stats(&second);
    assert!(found.misses == 0, "another loader has decoded these frames: {found:?}");
    let twice = Dataset::concat(&[all.clone(), all.clone()]).unwrap();
    let third = of(&twice, true);
    assert!(batches(&third, 2) == batches(&of(&twice, false), 2));
    assert!(stats(&third).misses > 0, "other shards are another data set");
}

type CropOfSize = fn((u32, u32)) -> Crop;

fn crops() -> impl Strategy<Value = CropOfSize> {
    let crops: [CropOfSize; 6] = [
        Crop::center,
        Crop::random,
        Crop::random_resized,
        |size| Crop::multi_scale(size, false),
        |size| Crop::cover(size, true),
        Crop::three,
    ];
    prop::sample::select(crops.to_vec())
}

/// Pictures of any format in the middle of frames.
fn pictures() -> impl Strategy<Value = LoaderOptions> {
    let dtypes = prop::sample::select(&[Dtype::U8, Dtype::F32, Dtype::F16][..]);
    let layouts = prop::sample::select(&[Layout::Btchw, Layout::Bcthw, Layout::Bthwc][..]);
    let channels = prop::sample::select(&[Channels::Rgb, Channels::Gray][..]);
    // Small ones are decoded at half and a quarter of the size.
    let size = prop_oneof![(1u32..60, 1u32..60), (8u32..16, 8u32..16)];
    (size, dtypes, layouts, channels).prop_map(|(size, dtype, layout, channels)| LoaderOptions {
        crop: Crop::center(size),
        dtype,
        layout,
        channels,
        ..training(2, size)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn any_options_and_sizes_give_the_same_bits(
        sizes in prop::collection::vec((1u32..150, 1u32..150), 1..4), frames in 1u32..4, equal: bool,
        crop in crops(), pictures in pictures(), seed: u64, resize in prop::option::of(20u32..120),
        limit in prop_oneof![Just(32u64 << 20), (100_000u64..1_000_000)], dense: bool,
    ) {
        let Some(memory) = memory() else { return Ok(()) };
        let sizes: Vec<_> = if equal { vec![sizes[0]; 3] } else { sizes };
        let clip = |(i, &size): (usize, &(u32, u32))| (0..frames).map(|t| jpeg(size, 10 * i as u32 + t)).collect();
        let clips: Vec<Vec<_>> = sizes.iter().enumerate().map(clip).collect();
        let (_folder, dir) = write(&clips, if equal { sizes[0] } else { (0, 0) });
        let options = LoaderOptions {
            crop: crop(pictures.crop.size()).with_resize(resize.map(|side| (side, side))),
            frames: if dense { Frames::windows(1) } else { Frames::Stored },
            seed,
            decoded_cache: cache(memory.path(), limit),
            ..pictures
        };
        let Ok(loader) = Loader::new(&Dataset::open(&dir).unwrap(), options.clone()) else {
            // Options that do not go together are refused without a cache, too.
            let without = LoaderOptions { decoded_cache: None, ..options };
            prop_assert!(Loader::new(&Dataset::open(&dir).unwrap(), without).is_err());
            return Ok(());
        };
        // Some frames are too small for some crops.
        let without = crate::common::loader(&dir, LoaderOptions { decoded_cache: None, ..options });
        let told = |loader: &Loader, epoch| crate::common::one_by_one(loader, epoch).map(|b| b.map_err(|e| format!("{e:#}")));
        prop_assert!((0..4).all(|epoch| told(&loader, epoch).eq(told(&without, epoch))));
        let stats = stats(&loader);
        prop_assert!(stats.failure.is_none() && (limit < 32 << 20 || stats.refused == 0), "{:?}", stats);
    }
}
