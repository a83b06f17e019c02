//! Statistics of tracks and pictures.

use vidrec::{
    ClipInfo, Dataset, FrameData, Track, TrackNormalize, TrackScaling, TrackTimes, TrackValues, Writer, WriterOptions,
    track_stats,
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

/// Python's tests compare statistics of fewer numbers with NumPy's.
#[test]
fn quantiles_of_many_numbers_are_those_of_a_sample_and_all_else_is_exact() {
    let many: Vec<u16> = (0..600_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 20) as u16).collect();
    let halves = many.chunks(300_000).map(|half| Some(track(TrackValues::U16(half.to_vec()), 1))).collect();
    let (_folder, dataset) = set(halves);
    let stats = track_stats(&dataset, None).unwrap().remove("n").unwrap();
    let mut sorted: Vec<f64> = many.into_iter().map(f64::from).collect();
    sorted.sort_by(f64::total_cmp);
    assert_eq!((stats.count[0], stats.min[0], stats.max[0]), (600_000, sorted[0], sorted[599_999]));
    assert!((stats.mean[0] - sorted.iter().sum::<f64>() / 6e5).abs() < 1e-9);
    for (found, percent) in [(&stats.q01, 1), (&stats.q10, 10), (&stats.q50, 50), (&stats.q90, 90), (&stats.q99, 99)] {
        let expected = quantile(&sorted, percent);
        assert!((found[0] - expected).abs() <= 0.002 * 4096.0, "{percent} %: {} and {expected}", found[0]);
    }
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
    let mut writer = Writer::create(folder.path(), WriterOptions::default()).unwrap();
    for (clip, size) in [(0, (24, 16)), (1, (16, 16))] {
        let frames: Vec<_> = (0..6).map(|t| jpeg(size, clip * 10 + t)).collect();
        let frames: Vec<_> = frames.iter().map(|jpeg| FrameData { jpeg, pts: 0, source_index: None }).collect();
        writer.append(&ClipInfo { width: size.0, height: size.1, ..ClipInfo::default() }, &frames).unwrap();
    }
    writer.finish().unwrap();
    let set = Dataset::open(folder.path()).unwrap();
    // Frames 1 and 4 of six are the centers of two equal parts.
    let (mut decoder, mut levels) = (vidrec::jpeg::Decoder::new().unwrap(), <[Vec<f64>; 3]>::default());
    for (clip, t) in set.clips().flat_map(|clip| [1, 4].map(|t| (clip.as_ref().copied().unwrap(), t))) {
        let picture = decoder.decode_picture(clip.frame(t).unwrap().jpeg()).unwrap();
        let put = |(i, &level): (usize, &u8)| levels[i % 3].push(f64::from(level) / 255.0);
        picture.pixels.iter().enumerate().for_each(put);
    }
    let found = vidrec::picture_stats(&set, 2).unwrap();
    for (i, mut channel) in levels.into_iter().enumerate() {
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
}
