//! Ranges on the disk that are wrong, and objects that are replaced on the server.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use vidrec::{Dataset, Hint, Loader, VerifyOptions, verify};

use crate::common::own_process;
use crate::common::sample_data_sets;
use crate::remote_cache::disk_use::{Watch, bytes, segments};
use crate::remote_cache::orders;
use crate::remote_cache::served::{PAGE, Served, cached, epoch};

/// Every region of every file that the cache has, one after the other: heads, tables, texts, ends, records, tracks. The set
/// opens, its clips and tracks are right, and it verifies; what was wrong comes once more, and then is right for good.
#[test]
fn no_byte_of_the_cache_can_make_a_remote_data_set_look_damaged() {
    let served = Served::of(sample_data_sets::tracked(&[41, 19]));
    let folder = tempfile::tempdir().unwrap();
    let storage = || cached(folder.path(), served.all_bytes() * 4 + (64 << 20));
    let expected = everything(&served.set).unwrap();
    let verify = || {
        let options = VerifyOptions { storage: storage(), ..VerifyOptions::default() };
        verify(served.url(), options, &mut vidrec::no_progress)
    };
    // All of it comes to the cache.
    assert!(verify().unwrap().ok);
    let mut flipped = 0;
    for file in segments(folder.path()) {
        let length = file.metadata().unwrap().len();
        let step = (length / 24).max(1);
        let places = (0..length).step_by(step as usize).chain([1, 9, 20, 61, length - 3, length - 30, length - 60]);
        for (i, at) in places.filter(|&at| at < length).enumerate() {
            let before = flip(&file, at);
            let what = format!("byte {at} of {length} of {}", file.display());
            if i % 2 == 0 {
                let set = Dataset::open_with(served.url(), storage()).unwrap_or_else(|e| panic!("{what}: {e:#}"));
                assert!(everything(&set).unwrap_or_else(|e| panic!("{what}: {e:#}")) == expected, "{what}");
                // What nobody reads, such as padding, is not found: it must not be counted with what comes next.
                restore(&file, at, before);
            } else {
                let report = verify().unwrap_or_else(|e| panic!("{what}: {e:#}"));
                assert!(report.ok, "{what}: {:?}", report.problems);
            }
            flipped += 1;
        }
    }
    assert!(flipped > 100, "{flipped}");
    // Everything is right now, and nothing but the first bytes of each file comes from the server.
    assert!(verify().unwrap().ok);
    served.downloaded();
    let healed = Dataset::open_with(served.url(), storage()).unwrap();
    assert!(everything(&healed).unwrap() == expected);
    assert_eq!(served.downloaded(), (2, 2 * PAGE), "what came once more is kept");
    // Of one that is flipped, little more than its range comes.
    drop(healed);
    fs::remove_dir_all(folder.path().join("objects")).unwrap();
    assert!(everything(&Dataset::open_with(served.url(), storage()).unwrap()).unwrap() == expected);
    let largest = segments(folder.path()).into_iter().max_by_key(|file| file.metadata().unwrap().len()).unwrap();
    flip(&largest, 4 * PAGE + 17);
    let set = Dataset::open_with(served.url(), storage()).unwrap();
    served.downloaded();
    assert!(everything(&set).unwrap() == expected);
    let (_, came) = served.downloaded();
    assert!(came > 0 && came < served.record_bytes() / 2, "{came} of {}", served.record_bytes());
}

/// An object that is damaged on the server cannot be repaired there, and the error does not say so.
#[test]
fn no_error_about_a_remote_data_set_advises_to_repair_it() {
    let served = Served::small();
    for ending in ["vidx", "rec", "json"] {
        let files = fs::read_dir(served.dir()).unwrap().map(|entry| entry.unwrap().path());
        let file = files.filter(|file| file.extension().is_some_and(|e| e == ending)).min().unwrap();
        let whole = fs::read(&file).unwrap();
        let mut wrong = whole.clone();
        wrong[3] ^= 1;
        fs::write(&file, wrong).unwrap();
        let e = Dataset::open_with(served.url(), vidrec::Storage::default()).unwrap_err();
        let report = verify(served.url(), VerifyOptions::default(), &mut vidrec::no_progress).unwrap();
        assert!(!e.to_string().contains("repair") && !e.hints().contains(&Hint::Repair), "{e}");
        assert!(!report.ok && !report.hints.contains(&Hint::Repair), "{report:?}");
        assert!(report.problems.iter().all(|problem| !problem.message.contains("repair")), "{report:?}");
        fs::write(&file, whole).unwrap();
    }
}

/// All that is known of a clip: text, numbers of its track, JPEGs.
type Everything = (String, Vec<i16>, Vec<Vec<u8>>);

fn everything(set: &Dataset) -> vidrec::Result<Vec<Everything>> {
    let clip = |clip: vidrec::Result<vidrec::Clip<'_>>| {
        let clip = clip?;
        let text = format!("{} {:?} {}", clip.source()?, clip.label(), clip.attributes_json()?);
        let numbers = clip.track("sound")?.unwrap().numbers::<i16>().unwrap().to_vec();
        let frames = clip.frames().map(|frame| frame.and_then(|frame| frame.check().map(|()| frame.jpeg().to_vec())));
        Ok((text, numbers, frames.collect::<vidrec::Result<Vec<_>>>()?))
    };
    set.clips().map(clip).collect()
}

/// Flips a bit, and returns the byte as it was.
fn flip(file: &Path, at: u64) -> u8 {
    let mut bytes = [0];
    let mut open = fs::OpenOptions::new().read(true).write(true).open(file).unwrap();
    open.seek(SeekFrom::Start(at)).unwrap();
    open.read_exact(&mut bytes).unwrap();
    restore(file, at, bytes[0] ^ 16);
    bytes[0]
}

fn restore(file: &Path, at: u64, byte: u8) {
    let mut file = fs::OpenOptions::new().write(true).open(file).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(&[byte]).unwrap();
}

/// Gives the shards of a data set names without a checksum, and returns where they are.
fn shards(dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending != "json"));
    let named = files.into_iter().map(|file| {
        let stem = &file.file_stem().unwrap().to_str().unwrap()["shard-".len()..][..5];
        let name = file.with_file_name(stem).with_extension(file.extension().unwrap());
        fs::rename(&file, &name).unwrap();
        name
    });
    let mut shards: Vec<_> = named.filter(|file| file.extension().is_some_and(|ending| ending == "rec")).collect();
    shards.sort();
    shards
}

fn replaced() {
    let served = Served::small();
    let (folder, limit) = (tempfile::tempdir().unwrap(), served.all_bytes() * 3 / 2);
    let watch = Watch::of(folder.path(), limit);
    let o = orders::with(&orders::shuffled());
    let batches = |set: &Dataset| epoch(&Loader::new(set, o.clone()).unwrap(), 0);
    let local = shards(&served.dir());
    let urls: Vec<_> = local.iter().map(|file| Path::new(&served.url()).join(file.file_name().unwrap())).collect();
    let open_all = |paths: &[PathBuf]| {
        let open = |path| Dataset::open_with(path, cached(folder.path(), limit)).unwrap();
        Dataset::concat(&paths.iter().map(open).collect::<Vec<_>>()).unwrap()
    };
    let open = || open_all(&urls);
    let before = batches(&open_all(&local));
    assert!(batches(&open()) == before);

    // The same names, and other bytes.
    let new = served.folder.path().join("new");
    sample_data_sets::padded(&[9, 8, 7], 4, 5_000, 2)(&new);
    let new = shards(&new);
    let after = batches(&open_all(&new));
    let old = open();
    for (new, old) in new.iter().zip(&local) {
        fs::rename(new, old).unwrap();
        fs::rename(new.with_extension("vidx"), old.with_extension("vidx")).unwrap();
    }
    let both = open();
    assert!(batches(&both) == after);
    // What was open is of before the change: that, or an error.
    let of_old = Loader::new(&old, o.clone()).unwrap();
    let of_old: vidrec::Result<Vec<_>> = of_old.iter(0).unwrap().map(|batch| Ok(batch?.into_batch())).collect();
    let is_right = of_old.as_ref().map_or_else(|e| e.to_string().contains("replaced"), |batches| *batches == before);
    assert!(before != after && is_right, "{:?}", of_old.err());
    drop((old, both));

    // There was no room for both. Those of the old ones are of earlier runs.
    assert!(batches(&open()) == after);
    let again = open();
    served.downloaded();
    assert!(batches(&again) == after);
    assert_eq!(served.downloaded(), (0, 0), "all of the new one is kept");
    assert!(bytes(folder.path()) <= limit);
    watch.end();
}

#[test]
fn a_replaced_object_is_read_anew_and_the_old_one_makes_room() {
    own_process::run(module_path!(), "a_replaced_object_is_read_anew_and_the_old_one_makes_room", replaced);
}
