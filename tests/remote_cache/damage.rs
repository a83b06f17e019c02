//! Pages on the disk that are wrong, and objects that are replaced on the server.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use vidrec::{Dataset, Loader, cache};

use crate::disk_use::{Watch, page_files, when_unused};
use crate::orders;
use crate::served::{PAGE, Served, cached, epoch, write};
use crate::worker::in_own_process;

#[test]
fn a_flipped_byte_is_found_and_its_page_is_fetched_once_more() {
    let served = Served::small();
    let folder = tempfile::tempdir().unwrap();
    let storage = || cached(folder.path(), served.all_bytes() * 2);
    let o = orders::with(&orders::shuffled());
    let expected = epoch(&Loader::new(&served.set, o.clone()).unwrap(), 0);
    let read = || epoch(&Loader::new(&served.open(storage()), o.clone()).unwrap(), 0) == expected;
    assert!(read());
    let largest = page_files(folder.path()).into_iter().max_by_key(|file| file.metadata().unwrap().len()).unwrap();
    // Within the JPEGs of the first clips, more than a clip from each other.
    let places = [3 * PAGE + 17, 17 * PAGE + 5];
    for at in places {
        let mut file = fs::OpenOptions::new().read(true).write(true).open(&largest).unwrap();
        let mut byte = [0];
        file.seek(SeekFrom::Start(at)).unwrap();
        file.read_exact(&mut byte).unwrap();
        file.seek(SeekFrom::Start(at)).unwrap();
        file.write_all(&[byte[0] ^ 16]).unwrap();
    }
    served.downloaded();
    assert!(read());
    // The heads of the record files, and of the frame that was wrong its pages.
    let (requests, came) = served.downloaded();
    assert!(requests == 3 + 2 && came > 3 * PAGE + 2 * 4_000, "{requests} requests, {came} bytes");
    assert!(came <= 3 * PAGE + 2 * 25_000, "{came} bytes");
    assert!(read());
    assert_eq!(served.downloaded(), (3, 3 * PAGE), "what came is kept");
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
    let urls: Vec<_> =
        local.iter().map(|file| format!("{}/{}", served.url(), file.file_name().unwrap().to_str().unwrap())).collect();
    let open = || Dataset::open_shards_with(&urls, cached(folder.path(), limit)).unwrap();
    let before = batches(&Dataset::open_shards(&local).unwrap());
    assert!(batches(&open()) == before);

    // The same names, and other bytes.
    let new = served.folder.path().join("new");
    write(&new, &[9, 8, 7], 4, 5_000, 2);
    let new = shards(&new);
    let after = batches(&Dataset::open_shards(&new).unwrap());
    let old = open();
    for (new, old) in new.iter().zip(&local) {
        fs::rename(new, old).unwrap();
        fs::rename(new.with_extension("vidx"), old.with_extension("vidx")).unwrap();
    }
    let both = open();
    assert!(batches(&both) == after);
    let used = cache::show(folder.path()).unwrap().objects;
    assert!(used.len() == 12 && used.iter().all(|object| object.in_use), "{used:?}");
    // What was open is of before the change: all of that is here.
    assert!(batches(&old) == before && before != after);
    drop((old, both));
    when_unused(folder.path());

    // There was no room for both. Now nobody uses the old ones.
    assert!(batches(&open()) == after);
    let again = open();
    served.downloaded();
    assert!(batches(&again) == after);
    assert_eq!(served.downloaded(), (0, 0), "all of the new one is kept");
    let report = cache::show(folder.path()).unwrap();
    let old: u64 = report.objects.iter().filter(|object| !object.in_use).map(|object| object.bytes).sum();
    assert!(old <= served.all_bytes() / 2 && report.taken.unwrap() <= limit, "{report:?}");
    watch.end();
}

#[test]
fn a_replaced_object_is_read_anew_and_the_old_one_makes_room() {
    in_own_process("damage::a_replaced_object_is_read_anew_and_the_old_one_makes_room", replaced);
}
