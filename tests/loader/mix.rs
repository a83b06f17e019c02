//! Mixes of data sets: shares, labels, and runs that stop and go on.

use std::path::PathBuf;

use tempfile::TempDir;
use vidrec::order::{Order, Weights};
use vidrec::{
    Batch, ClipInfo, Crop, Dataset, Dtype, FrameData, Frames, Loader, LoaderOptions, LoaderState, Meta, Mix,
    MixOptions, Normalize, OnBadFrame, OwnOptions, ShortClips, Writer, WriterOptions,
};

use crate::common::{damage, jpeg, options};

/// A data set of clips of these lengths, labeled in turn, with class names if there are any.
pub fn packed(lengths: &[u32], size: (u32, u32), classes: &[&str], first: u32) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("set");
    let meta = Meta { classes: classes.iter().map(|&class| class.to_owned()).collect(), ..Meta::default() };
    let mut writer = Writer::create(&dir, WriterOptions { meta, ..WriterOptions::default() }).unwrap();
    for (i, &length) in (0..).zip(lengths) {
        let label = Some(i % if classes.is_empty() { 2 } else { classes.len() as u32 });
        let class = label.and_then(|label| classes.get(label as usize)).map_or(String::new(), |&class| class.into());
        let info = ClipInfo { label, class, width: size.0, height: size.1, ..ClipInfo::default() };
        let frames: Vec<Vec<u8>> = (0..length).map(|t| jpeg(size, first + i * 100 + t)).collect();
        let frames: Vec<_> = frames.iter().map(|jpeg| FrameData { jpeg, pts: 0, source_index: None }).collect();
        writer.append(&info, &frames).unwrap();
    }
    writer.finish().unwrap();
    (folder, dir)
}

/// Three sources of other lengths, sizes and classes.
struct Sources(Vec<(TempDir, PathBuf)>);

impl Sources {
    fn new() -> Self {
        let lengths = |n: u32, length| vec![length; n as usize];
        Sources(vec![
            packed(&lengths(11, 2), (24, 16), &["run", "sit"], 0),
            packed(&lengths(5, 2), (16, 32), &["push", "run"], 5000),
            packed(&lengths(3, 2), (16, 16), &["fall"], 9000),
        ])
    }

    fn open(&self, i: usize) -> Dataset {
        Dataset::open(&self.0[i].1).unwrap()
    }

    fn mix(&self, weights: [f64; 3], options: MixOptions) -> vidrec::Result<Mix> {
        let named = [
            ("big", self.open(0), weights[0]),
            ("small", self.open(1), weights[1]),
            ("tiny", self.open(2), weights[2]),
        ];
        Mix::new(named, options)
    }

    fn usual(&self, schedule: &[(u64, [f64; 3])]) -> Mix {
        self.mix([0.55, 0.3, 0.15], MixOptions { schedule: steps(schedule), ..of_30() }).unwrap()
    }
}

fn steps(schedule: &[(u64, [f64; 3])]) -> Vec<(u64, Vec<(String, f64)>)> {
    let named = |weights: &[f64; 3]| ["big", "small", "tiny"].map(String::from).into_iter().zip(*weights).collect();
    schedule.iter().map(|(from, weights)| (*from, named(weights))).collect()
}

fn of_30() -> MixOptions {
    MixOptions { samples_per_epoch: Some(30), window: 10, ..MixOptions::default() }
}

fn ranked(batch_size: u32, rank: u32, world_size: u32) -> LoaderOptions {
    LoaderOptions {
        seed: 5,
        threads: Some(1),
        crop: Crop::random_resized((8, 8)),
        flip: 0.5,
        rank: (rank, world_size),
        ..options(batch_size, (8, 8))
    }
}

/// What a run gets of a sample: source, clip, label, pixels.
type Got = (u32, u64, i64, Vec<u8>);

fn samples(batch: &Batch) -> Vec<Got> {
    let pixels = batch.u8().unwrap();
    let each = pixels.len() / batch.labels.len();
    let one =
        |i: usize| (batch.source_ids[i], batch.clips[i], batch.labels[i], pixels[i * each..(i + 1) * each].to_vec());
    (0..batch.labels.len()).filter(|&i| batch.mask[i]).map(one).collect()
}

/// The global stream from where a loader begins to the end of epoch `end - 1`.
fn rest(loader: &Loader, end: u64) -> Vec<Got> {
    let batches = |epoch| (0..loader.batches_in(epoch)).map(move |k| (epoch, k));
    let batches = (loader.first_epoch()..end).flat_map(batches);
    batches.flat_map(|(epoch, k)| samples(&loader.batch(epoch, k).unwrap())).collect()
}

#[test]
fn any_window_has_the_shares_over_epochs_and_batches() {
    let sources = Sources::new();
    let loader = Loader::mix(&sources.usual(&[]), ranked(7, 0, 1)).unwrap();
    assert_eq!((loader.batches_per_epoch(), loader.batches_in(3)), (5, 5));
    let stream = rest(&loader, 8);
    assert_eq!(stream.len(), 240);
    for window in stream.windows(10) {
        let count = |source| window.iter().filter(|got| got.0 == source).count();
        assert_eq!(count(1), 3);
        assert!([5, 6].contains(&count(0)) && [1, 2].contains(&count(2)), "{} {}", count(0), count(2));
    }
    // A small source comes in whole rounds, with other crops each time.
    let tiny: Vec<&Got> = stream.iter().filter(|got| got.0 == 2).collect();
    for round in tiny.chunks_exact(3) {
        let mut clips: Vec<u64> = round.iter().map(|got| got.1).collect();
        clips.sort_unstable();
        assert_eq!(clips, [16, 17, 18]);
    }
    let views = |clip| {
        let mut views: Vec<&Vec<u8>> = tiny.iter().filter(|got| got.1 == clip).map(|got| &got.3).collect();
        let all = views.len();
        views.sort_unstable();
        views.dedup();
        (all, views.len())
    };
    assert!((16..19).all(|clip| views(clip).0 > 5 && views(clip).0 == views(clip).1));
}

#[test]
fn a_run_that_stops_anywhere_goes_on_with_any_number_of_ranks() {
    let sources = Sources::new();
    let mix = sources.usual(&[(37, [1.0, 1.0, 2.0])]);
    let whole = rest(&Loader::mix(&mix, ranked(1, 0, 1)).unwrap(), 4);
    assert_eq!(whole.len(), 120);
    // Number of ranks, batch size, and after how many batches of all epochs they stop.
    for runs in [
        vec![(1, 4, 3), (2, 3, 2), (3, 1, 5), (5, 2, 1), (1, 5, 99)],
        vec![(5, 1, 2), (3, 2, 6), (2, 1, 11), (1, 1, 7), (5, 3, 99)],
        vec![(2, 2, 8), (5, 1, 0), (3, 3, 4), (1, 7, 2), (2, 5, 99)],
    ] {
        let mut state = Loader::mix(&mix, ranked(1, 0, 1)).unwrap().state(0, 0);
        let mut seen = Vec::new();
        for (world, batch_size, stop_after) in runs {
            let saved = serde_json::to_string(&state).unwrap();
            let state_now: LoaderState = serde_json::from_str(&saved).unwrap();
            let resume = |rank| Loader::resume_mix(&mix, ranked(batch_size, rank, world), &state_now).unwrap();
            let ranks: Vec<Loader> = (0..world).map(resume).collect();
            let batches = |epoch| (0..ranks[0].batches_in(epoch)).map(move |k| (epoch, k));
            for (epoch, k) in (ranks[0].first_epoch()..4).flat_map(batches).take(stop_after) {
                ranks.iter().for_each(|rank| seen.extend(samples(&rank.batch(epoch, k).unwrap())));
                state = ranks[0].state(epoch, k + 1);
                assert!(ranks.iter().all(|rank| rank.state(epoch, k + 1) == state), "one state for all");
            }
        }
        assert!(seen == whole, "the same samples with the same pixels");
        assert_eq!((state.epoch, state.consumed), (4, 0));
    }
}

#[test]
fn weights_change_from_a_sample_on_and_leave_what_is_before() {
    let sources = Sources::new();
    let (plain, changed) = (sources.usual(&[]), sources.usual(&[(45, [0.0, 0.5, 0.5])]));
    let loaders = [&plain, &changed].map(|mix| Loader::mix(mix, ranked(5, 0, 1)).unwrap());
    let [before, after] = [rest(&loaders[0], 3), rest(&loaders[1], 3)];
    assert!(before[..45] == after[..45]);
    assert!(after[45..].iter().all(|got| got.0 > 0) && before[45..].iter().any(|got| got.0 == 0));
    let first = sources.mix([1.0, 1.0, 1.0], MixOptions { schedule: steps(&[(0, [0.55, 0.3, 0.15])]), ..of_30() });
    assert!(rest(&Loader::mix(&first.unwrap(), ranked(5, 0, 1)).unwrap(), 3) == before, "a schedule may begin at 0");
    // A run may get other weights for what is to come; what was is in its state.
    let state = loaders[0].state(1, 2);
    let resumed = Loader::resume_mix(&changed, ranked(5, 0, 1), &state).unwrap();
    assert!(rest(&resumed, 3) == after[40..]);
    let state = loaders[0].state(1, 4);
    let resumed = Loader::resume_mix(&changed, ranked(5, 0, 1), &state).unwrap();
    assert!(rest(&resumed, 3).iter().all(|got| got.0 > 0));
    let warnings = resumed.warnings();
    assert!(
        warnings.iter().any(|w| w.contains("from sample 50 on: big 0.000, small 0.500, tiny 0.500")),
        "{warnings:?}"
    );
    assert_eq!(resumed.sources(1, 0)[0].samples, loaders[0].sources(1, 4)[0].samples, "and what was used stays");
}

#[test]
fn what_was_used_of_each_source_follows_from_the_place() {
    let sources = Sources::new();
    let mix = sources.usual(&[(37, [1.0, 1.0, 2.0])]);
    let whole = rest(&Loader::mix(&mix, ranked(1, 0, 1)).unwrap(), 3);
    let loader = Loader::mix(&mix, ranked(2, 1, 3)).unwrap();
    for (epoch, batches) in [(0, 0), (0, 1), (0, 4), (0, 5), (1, 3), (2, 5)] {
        let done = (epoch * 30 + batches * 6) as usize;
        for (i, count) in (0..).zip(loader.sources(epoch, batches)) {
            let expected = whole[..done].iter().filter(|got| got.0 == i).count();
            assert_eq!((count.samples, &count.name), (expected as u64, &mix.names()[i as usize]));
            assert_eq!(count.rounds(), expected as f64 / [11.0, 5.0, 3.0][i as usize]);
        }
    }
    assert!(Loader::new(&sources.open(0), ranked(2, 0, 1)).unwrap().sources(0, 1).is_empty());
}

#[test]
fn labels_are_joined() {
    let sources = Sources::new();
    // The label of each clip in the stream, by its class.
    let mix = sources.mix([1.0; 3], of_30()).unwrap();
    let stream = rest(&Loader::mix(&mix, ranked(5, 0, 1)).unwrap(), 1);
    let mut found = Vec::new();
    for (source, clip, label, _) in stream {
        let (at, ordinal) = mix.place(clip).unwrap();
        assert_eq!(at, source as usize);
        let class = mix.sources()[at].clip(ordinal).unwrap().class().unwrap();
        found.push(format!("{}/{class} {label}", mix.names()[at]));
    }
    found.sort();
    found.dedup();
    assert_eq!(found, ["big/run 0", "big/sit 1", "small/push 2", "small/run 0", "tiny/fall 3"]);
    assert_eq!(mix.classes(), ["run", "sit", "push", "fall"]);
}

#[test]
fn plain_integers_stay_and_do_not_go_with_names() {
    let (_a, a) = packed(&[1; 4], (16, 16), &[], 0);
    let (_b, b) = packed(&[1; 4], (16, 16), &[], 700);
    let (_named, named) = packed(&[1; 4], (16, 16), &["x", "y"], 900);
    let [a, b, named] = [a, b, named].map(|dir| Dataset::open(dir).unwrap());
    let mix = |second: &Dataset| Mix::new([("a", a.clone(), 1.0), ("b", second.clone(), 1.0)], of_30());
    let labels = |mix: &Mix| {
        let mut labels: Vec<_> =
            rest(&Loader::mix(mix, ranked(5, 0, 1)).unwrap(), 1).iter().map(|g| (g.0, g.2)).collect();
        labels.sort_unstable();
        labels.dedup();
        labels
    };
    assert_eq!(labels(&mix(&b).unwrap()), [(0, 0), (0, 1), (1, 0), (1, 1)]);
    assert!(mix(&named).unwrap_err().to_string().contains("have no class names"));
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let sources = Sources::new();
    let refused = |weights, options| sources.mix(weights, options).unwrap_err().to_string();
    assert!(refused([1.0, -1.0, 1.0], of_30()).contains("weight of \"small\""));
    assert!(refused([1.0, 1.0, f64::NAN], of_30()).contains("weight of \"tiny\""));
    assert!(refused([0.0; 3], of_30()).contains("no weight is positive"));
    assert!(refused([1.0; 3], MixOptions { window: 0, ..of_30() }).contains("window"));
    assert!(refused([1.0; 3], MixOptions { samples_per_epoch: Some(0), ..of_30() }).contains("samples_per_epoch"));
    let schedule = |schedule| refused([1.0; 3], MixOptions { schedule, ..of_30() });
    assert!(schedule(steps(&[(9, [1.0; 3]), (9, [1.0; 3])])).contains("do not increase"));
    assert!(schedule(vec![(9, vec![("big".into(), 1.0), ("huge".into(), 1.0)])]).contains("no source \"huge\""));
    assert!(schedule(vec![(0, vec![("big".into(), 1.0), ("tiny".into(), 1.0)])]).contains("\"small\" has no weight"));
    let empty = sources.open(0).select([]).unwrap();
    let e = Mix::new([("big", sources.open(0), 1.0), ("none", empty, 0.0)], of_30()).unwrap_err();
    assert!(e.to_string().contains("\"none\" has no clips"), "{e}");
    let twice = Mix::new([("big", sources.open(0), 1.0), ("big", sources.open(1), 1.0)], of_30()).unwrap_err();
    assert!(twice.to_string().contains("\"big\" is given twice"), "{twice}");

    let mix = sources.usual(&[]);
    let refused = |options| Loader::mix(&mix, options).err().unwrap().to_string();
    let order = |order| LoaderOptions { order, ..ranked(2, 0, 1) };
    let weights = Weights::new(&[1.0; 19]).unwrap();
    let homes = Order::Homes { homes: None, exchange: 1.0, block: 64, window: 8 };
    for other in [Order::List([1].into()), Order::Weighted(weights.into()), homes] {
        assert!(refused(order(other)).contains("option order"));
    }
    let state = Loader::new(&sources.open(0), ranked(2, 0, 1)).unwrap().state(0, 1);
    assert!(
        Loader::resume_mix(&mix, ranked(2, 0, 1), &state).err().unwrap().to_string().contains("a different data set")
    );
}

#[test]
fn sources_of_other_lengths_follow_the_rules_of_one_data_set() {
    let (_a, a) = packed(&[4, 4, 4], (16, 16), &["x"], 0);
    let (_b, b) = packed(&[2, 5], (16, 16), &["x"], 700);
    let [a, b] = [a, b].map(|dir| Dataset::open(dir).unwrap());
    let mix = Mix::new([("a", a.clone(), 1.0), ("b", b.clone(), 1.0)], of_30()).unwrap();
    let e = Loader::mix(&mix, ranked(2, 0, 1)).err().unwrap().to_string();
    assert!(e.contains("the same number of frames") && e.contains("clip 1 of source \"b\""), "{e}");
    let pair = Mix::new([("a", a.clone(), 1.0), ("b", b.select([1]).unwrap(), 1.0)], of_30()).unwrap();
    let e = Loader::mix(&pair, ranked(2, 0, 1)).err().unwrap().to_string();
    assert!(e.contains("the same number of frames") && e.contains("clip 0 of source \"b\""), "{e}");
    let any = LoaderOptions { frames: Frames::all(), ..ranked(5, 0, 1) };
    assert_eq!(rest(&Loader::mix(&mix, any).unwrap(), 1).len(), 30);
    // Samples of a source are views of its clips that are long enough.
    let dense = LoaderOptions {
        frames: Frames::windows(3).with_short(ShortClips::Skip),
        crop: Crop::three((8, 8)),
        ..ranked(5, 0, 1)
    };
    let loader = Loader::mix(&mix, dense.clone()).unwrap();
    let rounds: Vec<u64> = loader.sources(0, 0).iter().map(|count| count.samples_per_round).collect();
    assert_eq!(rounds, [3 * 2 * 3, 3 * 3], "starts of each clip, times three crops");
    assert!(rest(&loader, 2).iter().all(|got| got.1 != 3), "the short clip is skipped");
    let short = Mix::new([("a", a, 1.0), ("b", b.select([0]).unwrap(), 1.0)], of_30()).unwrap();
    let e = Loader::mix(&short, dense).err().unwrap().to_string();
    assert!(e.contains("source \"b\" has no samples"), "{e}");
}

#[test]
fn without_a_number_an_epoch_has_as_many_samples_as_the_sources() {
    let sources = Sources::new();
    let mix = sources.mix([1.0, 1.0, 1.0], MixOptions::default()).unwrap();
    let loader = Loader::mix(&mix, ranked(4, 0, 1)).unwrap();
    assert_eq!((loader.state(0, 0).samples, loader.batches_per_epoch()), (19, 5));
    let fewer = sources.mix([1.0; 3], MixOptions { samples_per_epoch: Some(8), ..MixOptions::default() }).unwrap();
    assert!(rest(&loader, 2)[..38] == rest(&Loader::mix(&fewer, ranked(4, 0, 1)).unwrap(), 5)[..38]);
}

#[test]
fn a_clip_that_cannot_be_read_is_replaced_by_one_of_its_source() {
    let (_a, a) = packed(&[3; 8], (16, 16), &["x"], 0);
    let (_b, b) = packed(&[3; 8], (160, 120), &["x"], 900);
    damage(&b, 5, 1);
    let [a, b] = [a, b].map(|dir| Dataset::open(dir).unwrap());
    let mix = Mix::new([("a", a, 1.0), ("b", b, 1.0)], of_30()).unwrap();
    // Whole pictures, so that the damaged part is read.
    let crop = Crop::center((160, 120));
    let options = LoaderOptions { on_bad_frame: OnBadFrame::Substitute, crop, flip: 0.0, ..ranked(5, 0, 1) };
    let loader = Loader::mix(&mix, options).unwrap();
    let mut replaced = 0;
    for (epoch, k) in (0..4).flat_map(|epoch| (0..6).map(move |k| (epoch, k))) {
        let batch = loader.batch(epoch, k).unwrap();
        for ((params, &source), &clip) in batch.params.iter().zip(&batch.source_ids).zip(&batch.clips) {
            if params.instead_of == Some(13) {
                replaced += 1;
                assert_eq!(source, 1);
            }
            assert_ne!(clip, 13);
        }
    }
    assert!(replaced > 3, "{replaced}");
}

/// Options of the loader of this test that draw nothing, so that a sample does not depend on its place in the order.
fn plain(batch_size: u32) -> LoaderOptions {
    LoaderOptions { dtype: Dtype::F32, flip: 0.0, crop: Crop::center((16, 16)), ..ranked(batch_size, 0, 1) }
}

/// Each source as a loader of its own gives it: the options replaced, one clip in a batch.
fn alone(set: &Dataset, own: &OwnOptions) -> Vec<Batch> {
    let options = LoaderOptions {
        frames: own.frames.clone().unwrap_or_default(),
        crop: own.crop.clone().unwrap_or(Crop::center((16, 16))),
        normalize: own.normalize,
        order: Order::Sequential,
        ..plain(1)
    };
    let loader = Loader::new(set, options).unwrap();
    (0..loader.batches_per_epoch()).map(|k| loader.batch(0, k).unwrap()).collect()
}

#[test]
fn a_source_with_options_of_its_own_gives_what_it_gives_alone() {
    let sources = Sources::new();
    let (_photos, photos) = packed(&[1; 6], (20, 30), &["run", "sit"], 12_000);
    let sets = [sources.open(0), sources.open(1), Dataset::open(photos).unwrap()];
    let normalize = Some(Normalize::IMAGENET);
    for size in [(16, 16), (12, 8)] {
        let own = [
            OwnOptions::default(),
            OwnOptions { frames: Some(Frames::windows(1)), normalize, ..OwnOptions::default() },
            OwnOptions { frames: Some(Frames::all()), crop: Some(Crop::cover(size, false)), ..OwnOptions::default() },
        ];
        let expected: Vec<_> = sets.iter().zip(&own).map(|(set, own)| alone(set, own)).collect();
        let names = ["big", "small", "photos"];
        let named = names.iter().zip(&sets).map(|(name, set)| (*name, set.clone(), 1.0));
        let given = names.iter().zip(&own).map(|(name, own)| ((*name).to_owned(), own.clone())).collect();
        let mix = Mix::new(named, MixOptions { own: given, window: 30, ..of_30() }).unwrap();
        let loader = Loader::mix(&mix, plain(4)).unwrap();
        let mut seen = vec![0; 3];
        for k in 0..loader.batches_per_epoch() {
            let batch = loader.batch(0, k).unwrap();
            let (frames, values) = (batch.shape()[1], batch.f32().unwrap());
            let of_clip = values.len() / batch.shape()[0];
            for (b, (&source, &clip)) in batch.source_ids.iter().zip(&batch.clips).enumerate() {
                let source = source as usize;
                let number = mix.place(clip).unwrap().1;
                let is_it =
                    |found: &&Batch| found.clips == [number] && found.params[0].frames == batch.params[b].frames;
                let alone = expected[source].iter().find(is_it).unwrap();
                let own = alone.f32().unwrap();
                let (made, padding) = values[b * of_clip..][..of_clip].split_at(own.len());
                assert_eq!(made, own, "source {source}, clip {clip}");
                assert_eq!(alone.shape()[2..], batch.shape()[2..]);
                assert!(padding.iter().all(|&value| value == 0.0));
                let mask = &batch.frame_mask[b * frames..][..frames];
                assert_eq!(mask.iter().filter(|&&meant| meant).count(), alone.shape()[1]);
                seen[source] += 1;
            }
        }
        assert_eq!(seen, [10, 10, 10], "shares are exact");
        // A resumed run continues with the same samples.
        let state = loader.state(0, 3);
        let resumed = Loader::resume_mix(&mix, plain(4), &state).unwrap();
        let batches = |loader: &Loader| {
            let batch =
                |k| loader.batch(0, k).map(|batch| (batch.clips.clone(), batch.f32().unwrap().to_vec())).unwrap();
            (0..loader.batches_in(0)).map(batch).collect::<Vec<_>>()
        };
        assert_eq!(batches(&resumed), batches(&loader)[3..]);
        let other = [("small".to_owned(), OwnOptions { normalize, ..OwnOptions::default() })].into();
        let named = names.iter().zip(&sets).map(|(name, set)| (*name, set.clone(), 1.0));
        let other = Mix::new(named, MixOptions { own: other, window: 30, ..of_30() }).unwrap();
        let e = Loader::resume_mix(&other, LoaderOptions { frames: Frames::all(), ..plain(4) }, &state);
        assert!(e.err().unwrap().to_string().contains("own"));
    }
}

#[test]
fn options_of_a_source_that_make_no_sense_are_named() {
    let sources = Sources::new();
    let with = |name: &str, own: OwnOptions| {
        let own = [(name.to_owned(), own)].into();
        let mix = sources.mix([1.0; 3], MixOptions { own, ..of_30() })?;
        Loader::mix(&mix, ranked(4, 0, 1)).map(drop)
    };
    let refused = |name, own| with(name, own).unwrap_err().to_string();
    let e = refused("smal", OwnOptions::default());
    assert!(e.contains("found smal") && e.contains("one of big, small, tiny"), "{e}");
    let e = refused("small", OwnOptions { flip: Some(2.0), ..OwnOptions::default() });
    assert!(e.contains("option flip") && e.contains("source \"small\""), "{e}");
    let e = refused("tiny", OwnOptions { normalize: Some(Normalize::IMAGENET), ..OwnOptions::default() });
    assert!(e.contains("bytes cannot be normalized") && e.contains("source \"tiny\""), "{e}");
}
