//! The vectors in `format-spec/vectors/`: this reader reads the good ones as expected, and it refuses each bad one by the rule
//! that it breaks, when it must. No vector ever changes.
//!
//! A new good vector is a data set in `good/`: `VIDREC_UPDATE=1 cargo test --test suite vectors::` writes the expected parse.
//! A new bad vector is a good one with one change, and a JSON file with the rule and the time at which it must be found.
//! `common::hostile::seal` makes the other checksums of an index right.

mod frozen;
mod versions;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use vidrec::dataset_json::ShardJson;
use vidrec::{Clip, Dataset, Error, ErrorKind, Frame, Result, TrackView, VerifyOptions, verify};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("format-spec")
}

/// What to open for each vector in `dir`, by name: a folder, or an index file.
fn names(dir: &Path) -> BTreeMap<String, PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    let sets = entries.filter(|p| p.is_dir() || p.extension().is_some_and(|e| e == "vidx"));
    sets.map(|p| (p.file_name().unwrap().to_str().unwrap().trim_end_matches(".vidx").to_owned(), p)).collect()
}

/// Everything that a data set says but for the pictures, which are read and checked: as `reader.py` prints it.
fn parse(path: &Path) -> Result<Value> {
    let set = Dataset::open(path)?;
    let listing = set.to_json();
    let of_shard = |shard: &ShardJson| std::iter::repeat_n(shard.has_tracks(), shard.clips as usize);
    let has_tracks = listing.shards.iter().flat_map(of_shard);
    let clips = set.clips().zip(has_tracks).map(|(clip, has_tracks)| parse_clip(&clip?, has_tracks));
    let clips = clips.collect::<Result<Vec<_>>>()?;
    Ok(json!({
        "classes": listing.classes,
        "tool": listing.tool,
        "ffmpeg": listing.ffmpeg.unwrap_or_default(),
        "settings": listing.settings,
        "shards": listing.shards,
        "clips": clips,
    }))
}

fn parse_clip(clip: &Clip<'_>, has_tracks: bool) -> Result<Value> {
    let mut parsed = json!({
        "label": clip.label(),
        "source": clip.source()?,
        "class_name": clip.class()?,
        "attributes": clip.attributes_json()?,
        "width": clip.width(),
        "height": clip.height(),
        "time_base": clip.time_base(),
        "short": clip.is_short(),
        "frames": clip.frames().map(|frame| parse_frame(&frame?)).collect::<Result<Vec<_>>>()?,
    });
    if has_tracks {
        parsed["tracks"] = clip.tracks()?.all()?.iter().map(parse_track).collect();
    }
    Ok(parsed)
}

fn parse_track(track: &TrackView<'_>) -> Value {
    let (first_ns, rate) = track.rate().unwrap_or_default();
    let mut parsed = json!({
        "name": track.name(),
        "count": track.len(),
        "numbers": vidrec::raw::data_binding::hex(track.number_bytes().unwrap_or_default()),
        "texts": track.texts().map(|texts| texts.collect::<Vec<_>>()),
        "starts": track.starts_ns().unwrap_or_default(),
        "ends": track.ends_ns().unwrap_or_default(),
        "first_ns": first_ns,
        "rate": rate,
    });
    if track.schema().list {
        parsed["lists"] = (0..track.len()).filter_map(|i| track.items(i)).map(|items| items.len()).collect();
    }
    parsed
}

fn parse_frame(frame: &Frame<'_>) -> Result<Value> {
    frame.check()?;
    Ok(json!({
        "offset": frame.offset(),
        "pts": frame.pts(),
        "source_index": frame.source_index(),
        "crc32": frame.crc32(),
        "length": frame.jpeg().len(),
    }))
}

/// Kinds of the problems that `verify` finds.
fn problems(path: &Path, deep: bool) -> BTreeSet<String> {
    let report = verify(path, VerifyOptions { deep, ..VerifyOptions::default() }, &mut vidrec::no_progress).unwrap();
    report.problems.into_iter().map(|p| p.kind).collect()
}

fn json_at(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap_or_default()).unwrap_or_default()
}

fn list(dir: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()) {
        if path.is_dir() { list(&path, found) } else { found.push(path) }
    }
}

/// The dump closes the text of the format: lines with a place, bytes and characters, in blocks that are named.
#[test]
fn the_hex_dump_in_the_text_is_that_of_the_files() {
    let text = fs::read_to_string(root().join("vidrec-v1.md")).unwrap();
    let dump = text.split_once("<!-- hex:begin -->").unwrap().1.split_once("<!-- hex:end -->").unwrap().0;
    let line = |at: usize, bytes: &[u8]| {
        let digits: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let text: String = bytes.iter().map(|&b| if b.is_ascii_graphic() { char::from(b) } else { '.' }).collect();
        format!("    {at:08x}: {:<47}  {text}", digits.join(" "))
    };
    let (_, both) = dump.split_once("`minimal.rec`").unwrap();
    for (part, ending) in both.split("`minimal.vidx`").zip(["rec", "vidx"]) {
        let file = fs::read(root().join("vectors/good/minimal").with_extension(ending)).unwrap();
        let mut at = 0;
        for found in part.lines().filter(|line| line.contains(": ")) {
            let end = at + found[14..61].split_whitespace().count();
            assert_eq!(found, line(at, &file[at..end]));
            at = end;
        }
        assert_eq!(at, file.len(), "minimal.{ending}");
    }
}

#[test]
fn good_vectors_are_read_as_expected_and_verify() {
    for (name, path) in names(&root().join("vectors/good")) {
        let file = root().join(format!("vectors/good/{name}.json"));
        if std::env::var_os("VIDREC_UPDATE").is_some() {
            fs::write(&file, serde_json::to_string_pretty(&parse(&path).unwrap()).unwrap() + "\n").unwrap();
        }
        let expected = json_at(&file);
        assert_eq!(parse(&path).unwrap(), expected, "{name}");
        assert_eq!(problems(&path, true), BTreeSet::new(), "{name}");
    }
}

#[test]
fn bad_vectors_are_refused_by_their_rule_when_they_must_be() {
    let mut wrong = Vec::new();
    for (name, path) in names(&root().join("vectors/bad")) {
        let expected = json_at(&root().join(format!("vectors/bad/{name}.json")));
        if let Err(what) = refused(&path, expected["rule"].as_str().unwrap(), expected["when"].as_str().unwrap()) {
            wrong.push(format!("{name}: {what}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Whether the data set at `path` breaks `rule` at the time `when`, not earlier, and breaks no other.
fn refused(path: &Path, rule: &str, when: &str) -> Result<(), String> {
    let kind = |e: &Error| match e.kind() {
        ErrorKind::Format => e.rule().unwrap_or("no rule").to_owned(),
        kind => format!("{kind:?}: {e}"),
    };
    let opened = Dataset::open(path).err().map(|e| kind(&e));
    let read = parse(path).err().map(|e| kind(&e));
    let (shallow, deep) = (problems(path, false), problems(path, true));
    let only = BTreeSet::from([rule.to_owned()]);
    let right = match when {
        "open" => opened.as_deref() == Some(rule) && shallow.contains(rule),
        "use" => opened.is_none() && read.as_deref() == Some(rule) && shallow.contains(rule),
        "verify" => read.is_none() && shallow == only && deep == only,
        "deep" => read.is_none() && shallow.is_empty() && deep == only,
        _ => false,
    };
    let found = || format!("open: {opened:?}, use: {read:?}, verify: {shallow:?}, deep: {deep:?}");
    if right { Ok(()) } else { Err(found()) }
}

#[test]
fn every_rule_has_a_vector_and_is_the_only_one_of_its_name() {
    let text = fs::read_to_string(root().join("vidrec-v1.md")).unwrap();
    let rules = rules_in_table(&text);
    let bad = names(&root().join("vectors/bad"));
    let shown: BTreeSet<_> = bad.keys().map(|name| name.split('.').next().unwrap().to_owned()).collect();
    assert_eq!(shown, rules, "bad vectors and the table of rules");
    let mut sources = Vec::new();
    list(&Path::new(env!("CARGO_MANIFEST_DIR")).join("crates"), &mut sources);
    sources.retain(|path| path.extension().is_some_and(|ending| ending == "rs"));
    let used: BTreeSet<_> = sources.iter().flat_map(|path| rules_in_code(&fs::read_to_string(path).unwrap())).collect();
    let unknown: Vec<_> = used.difference(&rules).collect();
    assert!(unknown.is_empty(), "used in crates/ but not in the table: {unknown:?}");
    // What cannot be decoded carries no rule of its own: `verify` names it.
    let unused: Vec<_> = rules.difference(&used).filter(|rule| *rule != "jpeg-decode").collect();
    assert!(unused.is_empty(), "in the table but not used in src/: {unused:?}");
}

/// Identifiers in the first column of the table under "Rules".
fn rules_in_table(text: &str) -> BTreeSet<String> {
    let section = text.split("\n## Rules\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let cells = section.lines().filter(|line| line.starts_with("| `")).map(|line| line.split('|').nth(1).unwrap());
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

/// First arguments of `Error::format` and of the `fault` closures that call it.
fn rules_in_code(code: &str) -> Vec<String> {
    let calls = code.split("format(").skip(1).chain(code.split("fault(").skip(1));
    let strings = calls.filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next());
    let is_rule = |text: &&str| text.contains('-') && text.bytes().all(|b| b == b'-' || b.is_ascii_lowercase());
    strings.filter(is_rule).map(str::to_owned).collect()
}
