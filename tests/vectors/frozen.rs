//! What a version of the format was promised with: bytes that never change, and that every later version reads and edits.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use vidrec::edit::{self, Changes, EditOptions, Selection};
use vidrec::raw::data_binding::hex;
use vidrec::{Dataset, ErrorKind, no_progress};

use crate::vectors::{json_at, list, names, parse, problems, root};

/// The digest and the name of each file, as `sha256sum` prints them.
pub(super) fn digests(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    list(folder, &mut files);
    let line = |path: &std::path::PathBuf| {
        let name = path.strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/");
        format!("{}  {name}", hex(&Sha256::digest(fs::read(path).unwrap())))
    };
    let mut lines: Vec<_> = files.iter().map(line).collect();
    lines.sort_unstable_by(|a, b| a[64..].cmp(&b[64..]));
    lines
}

/// A version of the format may add vectors. Their lines are then added here; no line ever changes or goes.
#[test]
fn vectors_and_the_corpus_never_change() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let frozen = fs::read_to_string(corpus.join("frozen.sha256")).unwrap();
    let mut now = digests(&root().join("vectors/good"));
    now.extend(digests(&root().join("vectors/bad")));
    now.extend(["clips", "versions"].iter().flat_map(|folder| digests(&corpus.join(folder))));
    let gone: Vec<_> = frozen.lines().filter(|line| !now.iter().any(|found| found == line)).collect();
    assert!(gone.is_empty(), "these were promised and are not there as they were:\n{}", gone.join("\n"));
    let new: Vec<_> = now.into_iter().filter(|line| !frozen.lines().any(|known| known == line)).collect();
    assert!(new.is_empty(), "add to tests/corpus/frozen.sha256:\n{}", new.join("\n"));
}

/// What clips say in any data set: not where their records are, and not in which order tracks and attributes are, which edits may
/// change, and the lengths of JPEGs only if `exact`: those that hold RecordIO's magic word get a byte more. No attributes are `{}` or nothing, and no tracks an empty list or nothing.
fn clips(parsed: &Value, exact: bool) -> Vec<Value> {
    let mut clips = parsed["clips"].as_array().unwrap().clone();
    for clip in clips.iter_mut().map(|clip| clip.as_object_mut().unwrap()) {
        clip.retain(|_, value| *value != "{}" && *value != "" && *value != json!([]));
        clip.entry("attributes").and_modify(|text| *text = serde_json::from_str(text.as_str().unwrap()).unwrap());
        if let Some(Value::Array(tracks)) = clip.get_mut("tracks") {
            tracks.sort_by_key(|track| track["name"].to_string());
        }
        let frames = clip.get_mut("frames").and_then(Value::as_array_mut).into_iter().flatten();
        let says = |key: &str| key != "offset" && (exact || !["crc32", "length"].contains(&key));
        frames.for_each(|frame| frame.as_object_mut().unwrap().retain(|key, _| says(key)));
    }
    clips
}

fn copy(set: &Dataset, out: &Path) -> vidrec::Result<()> {
    let (all, unchanged) = (Selection::default(), Changes::default());
    edit::subset(set, &all, &unchanged, out, &EditOptions::default(), &mut no_progress).map(drop)
}

#[test]
fn edits_take_every_good_vector_and_keep_its_clips() {
    let place = tempfile::tempdir().unwrap();
    for (name, path) in names(&root().join("vectors/good")) {
        let exact = name != "multi-part";
        let expected = clips(&json_at(&root().join(format!("vectors/good/{name}.json"))), exact);
        let set = Dataset::open(&path).unwrap();
        let out = place.path().join(&name);
        let edited = copy(&set, &out);
        if expected.is_empty() {
            assert_eq!(edited.unwrap_err().kind(), ErrorKind::Usage, "{name}");
            continue;
        }
        edited.unwrap();
        assert_eq!(clips(&parse(&out).unwrap(), exact), expected, "{name}");
        assert!(problems(&out, true).is_empty(), "{name}");
        let twice = place.path().join(format!("{name} twice"));
        edit::merge(&[Dataset::open(&out).unwrap(), set], &twice, &EditOptions::default(), &mut no_progress).unwrap();
        assert_eq!(clips(&parse(&twice).unwrap(), exact), [expected.clone(), expected].concat(), "{name}");
        assert!(problems(&twice, true).is_empty(), "{name}");
    }
}

/// `optional-section` is what a later 1.x may be: read above like all others. A copy has nothing of what nobody here knows.
#[test]
fn edits_leave_out_what_only_a_later_version_knows() {
    let place = tempfile::tempdir().unwrap();
    let old = root().join("vectors/good/optional-section.vidx");
    let unknown = [&b"x-no"[..], br#""new":{"key":1}"#, &[0x55; 4]];
    let has = |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).any(|found| found == what);
    assert!(unknown.iter().all(|what| has(&fs::read(&old).unwrap(), what)));
    copy(&Dataset::open(old).unwrap(), &place.path().join("out")).unwrap();
    let mut files = Vec::new();
    list(&place.path().join("out"), &mut files);
    let index = files.iter().find(|path| path.extension().is_some_and(|ending| ending == "vidx")).unwrap();
    let bytes = fs::read(index).unwrap();
    assert!(unknown.iter().all(|what| !has(&bytes, what)));
    // The minor version and the optional flags.
    assert_eq!((bytes[10..12].to_vec(), bytes[16..20].to_vec()), (vec![0; 2], vec![0; 4]));
}
