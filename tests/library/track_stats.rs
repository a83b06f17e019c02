//! Statistics of tracks, against sorted numbers.

use proptest::prelude::*;
use vidrec::{
    ClipInfo, Dataset, FrameData, Mix, MixOptions, Track, TrackNormalize, TrackScaling, TrackStats, TrackTimes,
    TrackValues, Writer, WriterOptions, track_stats,
};

use crate::common::jpeg;

/// A data set with a clip for each of these tracks.
fn set(tracks: Vec<Option<Track>>) -> (tempfile::TempDir, Dataset) {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(folder.path(), WriterOptions::default()).unwrap();
    let jpeg = jpeg((16, 16), 0);
    for track in tracks {
        let info = ClipInfo { width: 16, height: 16, ..ClipInfo::default() };
        let frames = [FrameData { jpeg: &jpeg, pts: 0, source_index: None }];
        writer.append_with_tracks(&info, &frames, &track.into_iter().collect::<Vec<_>>()).unwrap();
    }
    writer.finish().unwrap();
    let dataset = Dataset::open(folder.path()).unwrap();
    (folder, dataset)
}

fn track(values: TrackValues, each: usize) -> Track {
    let shape = if each > 1 { vec![each as u32] } else { vec![] };
    let times = TrackTimes::Rate { first_ns: 0, rate: (10, 1) };
    Track { name: "n".into(), shape, values, times, nan: true, ..Track::default() }
}

/// The smallest number that at least this many percent do not exceed.
fn quantile(sorted: &[f64], percent: usize) -> f64 {
    sorted[(sorted.len() * percent).div_ceil(100).max(1) - 1]
}

fn assert_stats(stats: &TrackStats, numbers: &[f64], each: usize) {
    for place in 0..each {
        let all: Vec<f64> = numbers.iter().skip(place).step_by(each).copied().collect();
        let mut sorted: Vec<f64> = all.iter().copied().filter(|n| n.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        assert_eq!(stats.count[place], sorted.len() as u64);
        assert_eq!(stats.not_finite[place], (all.len() - sorted.len()) as u64);
        if sorted.is_empty() {
            assert_eq!((stats.mean[place], stats.q50[place], stats.max[place]), (0.0, 0.0, 0.0));
            continue;
        }
        assert_eq!((stats.min[place], stats.max[place]), (sorted[0], sorted[sorted.len() - 1]));
        for (found, percent) in
            [(&stats.q01, 1), (&stats.q10, 10), (&stats.q50, 50), (&stats.q90, 90), (&stats.q99, 99)]
        {
            assert_eq!(found[place], quantile(&sorted, percent), "{percent} %");
        }
        let n = sorted.len() as f64;
        let mean = sorted.iter().map(|x| x / n).sum::<f64>();
        let std = sorted.iter().map(|x| (x - mean) * (x - mean) / n).sum::<f64>().sqrt();
        let near =
            |a: f64, b: f64| (a - b).abs() <= 1e-9 * (sorted[0].abs().max(sorted[sorted.len() - 1].abs()) + 1e-300);
        assert!(near(stats.mean[place], mean), "{} and {mean}", stats.mean[place]);
        assert!(near(stats.std[place], std), "{} and {std}", stats.std[place]);
    }
}

/// Cuts numbers into the tracks of clips. Every fifth clip has none.
fn clips<T: Clone>(numbers: &[T], each: usize, values: impl Fn(Vec<T>) -> TrackValues) -> Vec<Option<Track>> {
    let mut tracks: Vec<Option<Track>> = Vec::new();
    for part in numbers.chunks(3 * each) {
        if tracks.len() % 5 == 4 {
            tracks.push(None);
        }
        tracks.push(Some(track(values(part.to_vec()), each)));
    }
    tracks
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn they_are_those_of_sorted_numbers(
        each in 1usize..4,
        f32s in prop::collection::vec(any::<f32>(), 1..400),
        f64s in prop::collection::vec(prop_oneof![-10.0..10.0, Just(0.0), Just(f64::NAN), any::<f64>().prop_map(|n| n / 1e200)], 1..400),
        i16s in prop::collection::vec(any::<i16>(), 1..400),
        i64s in prop::collection::vec(-(1i64 << 53)..1 << 53, 1..400),
        u8s in prop::collection::vec(0u8..4, 1..400),
    ) {
        fn check<T: Clone>(mut all: Vec<T>, each: usize, values: impl Fn(Vec<T>) -> TrackValues, float: impl Fn(&T) -> f64) {
            all.truncate(all.len() / each * each);
            if all.is_empty() {
                return;
            }
            let tracks = clips(&all, each, values);
            let with = tracks.iter().flatten().count() as u64;
            let without = tracks.len() as u64 - with;
            let (_folder, dataset) = set(tracks);
            let stats = track_stats(&dataset, Some(&["n"])).unwrap().remove("n").unwrap();
            assert_eq!((stats.clips, stats.clips_without), (with, without));
            assert_stats(&stats, &all.iter().map(float).collect::<Vec<_>>(), each);
            assert_eq!(track_stats(&dataset, None).unwrap()["n"], stats);
        }
        let small = |n: &f32| f64::from(*n);
        check(f32s, each, TrackValues::F32, small);
        check(f64s, each, TrackValues::F64, |n| *n);
        check(i16s, each, TrackValues::I16, |n| f64::from(*n));
        check(i64s, each, TrackValues::I64, |n| *n as f64);
        check(u8s, each, TrackValues::U8, |n| f64::from(*n));
    }
}

#[test]
fn sources_of_a_mix_count_by_their_weights() {
    let of = |numbers: &[f32]| set(vec![Some(track(TrackValues::F32(numbers.to_vec()), 1))]);
    let ((_a, zeros), (_b, tens)) = (of(&[0.0; 50]), of(&[10.0, 10.0, 10.0, 20.0]));
    let mix = |weights: (f64, f64)| {
        let sources = [("zeros", zeros.clone(), weights.0), ("tens", tens.clone(), weights.1)];
        Mix::new(sources, MixOptions::default()).unwrap().track_stats(Some(&["n"])).unwrap().remove("n").unwrap()
    };
    let equal = mix((1.0, 1.0));
    assert_eq!((equal.mean[0], equal.count[0], equal.min[0], equal.max[0]), (6.25, 54, 0.0, 20.0));
    // Half are 0, 3 in 8 are 10, 1 in 8 is 20.
    assert_eq!((equal.q01[0], equal.q10[0], equal.q50[0], equal.q90[0], equal.q99[0]), (0.0, 0.0, 0.0, 20.0, 20.0));
    let squares = 0.5 * 6.25f64.powi(2) + 0.375 * 3.75f64.powi(2) + 0.125 * 13.75f64.powi(2);
    assert!((equal.std[0] - squares.sqrt()).abs() < 1e-12);
    assert_eq!(mix((1.0, 9.0)).q50[0], 10.0);
    assert_eq!(mix((0.0, 1.0)), track_stats(&tens, None).unwrap()["n"]);
}

#[test]
fn names_that_have_no_statistics_are_refused() {
    let texts = track(TrackValues::Texts(vec!["a".into()]), 1);
    let (_folder, dataset) = set(vec![Some(Track { nan: false, ..texts })]);
    let e = |name: &str| track_stats(&dataset, Some(&[name])).unwrap_err().to_string();
    assert!(e("n").contains("texts") && e("action").contains("there is no track \"action\""));
    assert!(track_stats(&dataset, None).unwrap().is_empty());
}

#[test]
fn equal_numbers_are_normalized_to_zero() {
    let (_folder, dataset) = set(vec![Some(track(TrackValues::F32([3.0, 1.0, 3.0, 5.0].repeat(50)), 2))]);
    let stats = &track_stats(&dataset, None).unwrap()["n"];
    for (scaling, shift, scale) in
        [(TrackScaling::MeanStd, 3.0, 2.0), (TrackScaling::MinMax, 3.0, 2.0), (TrackScaling::Quantiles, 3.0, 2.0)]
    {
        let expected = TrackNormalize { shift: vec![3.0, shift], scale: vec![1.0, scale] };
        assert_eq!(TrackNormalize::of(stats, scaling), expected, "{scaling}");
    }
}

/// The same numbers, from decoded pixels one by one.
#[test]
fn statistics_of_pictures_are_those_of_their_pixels() {
    let folder = tempfile::tempdir().unwrap();
    let mut sets = Vec::new();
    for (i, sizes) in [vec![(24, 16), (16, 16)], vec![(32, 24)]].into_iter().enumerate() {
        let dir = folder.path().join(i.to_string());
        let mut writer = Writer::create(&dir, WriterOptions::default()).unwrap();
        for (clip, size) in (0u32..).zip(sizes) {
            let frames: Vec<_> = (0..6).map(|t| jpeg(size, i as u32 * 50 + clip * 10 + t)).collect();
            let frames: Vec<_> = frames.iter().map(|jpeg| FrameData { jpeg, pts: 0, source_index: None }).collect();
            let info = ClipInfo { width: size.0, height: size.1, ..ClipInfo::default() };
            writer.append(&info, &frames).unwrap();
        }
        writer.finish().unwrap();
        sets.push(Dataset::open(&dir).unwrap());
    }
    // Frames 1 and 4 of six are the centers of two equal parts.
    let levels = |set: &Dataset| {
        let mut decoder = vidrec::jpeg::Decoder::new().unwrap();
        let mut all: [Vec<f64>; 3] = Default::default();
        for clip in set.clips() {
            for t in [1, 4] {
                let clip = clip.as_ref().unwrap();
                let picture = decoder.decode_picture(clip.frame(t).unwrap().jpeg()).unwrap();
                let put = |(i, &level): (usize, &u8)| all[i % 3].push(f64::from(level) / 255.0);
                picture.pixels.iter().enumerate().for_each(put);
            }
        }
        all
    };
    let found = vidrec::picture_stats(&sets[0], 2).unwrap();
    for (i, mut channel) in levels(&sets[0]).into_iter().enumerate() {
        channel.sort_by(f64::total_cmp);
        let n = channel.len() as f64;
        let mean = channel.iter().sum::<f64>() / n;
        let std = (channel.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
        assert!((found.mean[i] - mean).abs() < 1e-12 && (found.std[i] - std).abs() < 1e-12);
        assert_eq!((found.count[i], found.clips), (channel.len() as u64, 2));
        assert_eq!([found.min[i], found.max[i]], [channel[0], channel[channel.len() - 1]]);
        let quantiles = [found.q01[i], found.q10[i], found.q50[i], found.q90[i], found.q99[i]];
        assert_eq!(quantiles, [1, 10, 50, 90, 99].map(|percent| quantile(&channel, percent)));
    }
    let mix = Mix::new([("a", sets[0].clone(), 3.0), ("b", sets[1].clone(), 1.0)], MixOptions::default()).unwrap();
    let (mixed, other) = (mix.picture_stats(2).unwrap(), vidrec::picture_stats(&sets[1], 2).unwrap());
    for i in 0..3 {
        assert!((mixed.mean[i] - (0.75 * found.mean[i] + 0.25 * other.mean[i])).abs() < 1e-12);
    }
}
