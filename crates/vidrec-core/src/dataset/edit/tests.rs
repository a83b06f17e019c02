//! Tests of the choice of clips, against slow and plain models.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::dataset::Dataset;
use crate::dataset::writer::{ClipInfo, FrameData, Writer, WriterOptions};
use vidrec_format::json_object::JsonObject;

const CLIPS: u64 = 48;

fn label(clip: u64) -> Option<u32> {
    [Some(0), Some(1), Some(0), None, Some(2)][clip as usize % 5]
}

fn source(clip: u64) -> String {
    if clip.is_multiple_of(7) { String::new() } else { format!("{}.mp4", clip / 3) }
}

fn weather(clip: u64) -> &'static str {
    ["sun", "rain", "snow"][clip as usize % 3]
}

/// A data set of clips with one frame each. The draws of each video are side by side.
fn data_set(draws: u32) -> (tempfile::TempDir, Dataset) {
    let dir = tempfile::tempdir().unwrap();
    let mut jpeg = Vec::new();
    vidrec_jpeg::Encoder::new(50).unwrap().encode(&vidrec_jpeg::Planes::new(16, 16).unwrap(), &mut jpeg).unwrap();
    let mut options = WriterOptions::default();
    options.meta.draws = Some(draws);
    let mut writer = Writer::create(dir.path().join("set"), options).unwrap();
    for clip in 0..CLIPS {
        let attributes = JsonObject::of(json!({"weather": weather(clip)})).unwrap();
        let info = ClipInfo { label: label(clip), source: source(clip), attributes, ..ClipInfo::default() };
        writer.append(&info, &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }]).unwrap();
    }
    writer.finish().unwrap();
    let set = Dataset::open(dir.path().join("set")).unwrap();
    (dir, set)
}

/// A view of the data set; `stored` are the clips' ordinals in it.
fn view(set: &Dataset, videos: &[u64], draws: u64) -> (Vec<u64>, Dataset) {
    let stored: Vec<u64> = videos.iter().flat_map(|video| video * draws..(video + 1) * draws).collect();
    (stored.clone(), set.select(stored).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn selections_are_those_of_the_model(
        videos in prop::collection::vec(0..CLIPS, 0..40),
        (class, weather_wanted) in (prop::option::of(0u32..3), prop::option::of(0usize..3)),
        list in prop::option::of((prop::collection::vec(0u64..40, 0..9), prop::collection::vec(0u64..18, 0..9))),
        exclude in (prop::collection::vec(0u64..40, 0..4), prop::collection::vec(0u64..18, 0..4)),
    ) {
        thread_local!(static SET: (tempfile::TempDir, Dataset) = data_set(1));
        SET.with(|(_, set)| {
            let (stored, set) = view(set, &videos, 1);
            let inside = |clips: &[u64]| clips.iter().copied().filter(|&clip| clip < set.len()).collect::<Vec<_>>();
            let listed = |(clips, sources): &(Vec<u64>, Vec<u64>)| ClipList {
                clips: inside(clips),
                sources: sources.iter().map(|n| format!("{n}.mp4")).collect(),
            };
            let weather_wanted = weather_wanted.map(|i| weather(i as u64));
            let selection = Selection {
                classes: class.iter().map(u32::to_string).collect(),
                list: list.as_ref().map(listed),
                exclude: listed(&exclude),
                attributes: weather_wanted.iter().map(|w| ("weather".into(), (*w).into())).collect(),
                ..Selection::default()
            };
            let names = |list: &ClipList, clip: u64| {
                list.clips.contains(&clip) || list.sources.contains(&source(stored[clip as usize]))
            };
            let fits = |&clip: &u64| {
                let origin = stored[clip as usize];
                class.is_none_or(|class| label(origin) == Some(class))
                    && weather_wanted.is_none_or(|w| weather(origin) == w)
                    && selection.list.as_ref().is_none_or(|list| names(list, clip))
                    && !names(&selection.exclude, clip)
            };
            let expected: Vec<u64> = (0..set.len()).filter(fits).collect();
            let (found, _) = subset_clips(&set, &selection).unwrap();
            prop_assert_eq!(&found, &expected);
            let some = Selection { sample: Some(expected.len() as u64 / 2), seed: 5, ..selection.clone() };
            let (drawn, _) = subset_clips(&set, &some).unwrap();
            prop_assert!(drawn.len() == expected.len() / 2 && drawn.is_sorted());
            prop_assert!(drawn.iter().all(|clip| expected.contains(clip)));
            Ok(())
        })?;
    }
}

/// The same seed must produce the same parts in every version.
#[test]
fn parts_stay_those_of_earlier_versions() {
    let (_dir, set) = data_set(1);
    let parts = [("train", 0.7), ("val", 0.3)].map(|(name, share)| (name.to_owned(), share)).to_vec();
    let split = RatioSplit { parts, seed: 11, ..RatioSplit::default() };
    let parts = split_clips(&set, &split).unwrap();
    assert_eq!(parts[1], [1, 2, 6, 8, 15, 16, 17, 22, 23, 28, 39, 40, 41, 42]);
}

#[test]
fn groups_that_tear_draws_or_miss_clips_are_refused() {
    let (_dir, set) = data_set(2);
    let refused = |numbers: Vec<u64>| {
        let parts = vec![("all".to_owned(), 1.0)];
        let keep_together = KeepTogether::Groups(numbers);
        let split = RatioSplit { parts, keep_together, ..RatioSplit::default() };
        split_clips(&set, &split).unwrap_err().to_string()
    };
    assert!(refused(vec![0; 3]).contains("expected 48 numbers, found 3"));
    let torn = refused((0..CLIPS).map(|clip| clip.div_ceil(2)).collect());
    assert!(torn.contains("clips 0 to 1 are draws of one video"), "{torn}");
    let exclude = ClipList { clips: vec![5], ..ClipList::default() };
    let (clips, _) = subset_clips(&set, &Selection { exclude, ..Selection::default() }).unwrap();
    assert!(clips.len() == 46 && !clips.contains(&4) && !clips.contains(&5), "both draws of the video");
}

#[test]
fn a_few_clips_of_many_shards_share_shards_and_most_clips_do_not() {
    let (dir, set) = data_set(1);
    let sharded = |name: &str, set: &Dataset, shards| {
        let options = EditOptions { shards, ..EditOptions::default() };
        merge(std::slice::from_ref(set), dir.path().join(name), &options, &mut crate::progress::no_progress).unwrap();
        Dataset::open(dir.path().join(name)).unwrap()
    };
    let in_twelve = sharded("twelve", &set, Some(crate::dataset::writer::Sharding::Count(12)));
    let shards = |name: &str, clips: Vec<u64>| sharded(name, &in_twelve.select(clips).unwrap(), None).shard_count();
    assert_eq!(shards("all", (0..CLIPS).collect()), 12);
    assert_eq!(shards("half", (0..CLIPS).filter(|clip| clip % 4 < 2).collect()), 12);
    assert_eq!(shards("quarter", (0..CLIPS).step_by(4).collect()), 6);
    assert_eq!(shards("few", vec![0, 47]), 1);
}
