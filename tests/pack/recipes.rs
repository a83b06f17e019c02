//! Recipes: `vidrec pack recipe.toml`, `--write-recipe` and `vidrec inspect --recipe`, from outside.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::program_runs::vidrec;
use crate::common::tree;

/// A folder with three clips of four pictures, which need no `ffmpeg`, and a list of them.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (clip, shade) in [("x/1", 40), ("y/1", 120), ("y/2", 200)] {
        let clip = dir.path().join("in").join(clip);
        fs::create_dir_all(&clip).unwrap();
        for i in 0..4u8 {
            let picture = image::GrayImage::from_pixel(48, 32, image::Luma([shade + 8 * i]));
            picture.save(clip.join(format!("{i}.png"))).unwrap();
        }
    }
    fs::write(dir.path().join("list.csv"), "clip,class,text\nin/x/1,run,one\nin/y/1,jump,two\nin/y/2,run,three\n")
        .unwrap();
    dir
}

fn ends(dir: &Path, line: &str, status: i32) -> (String, String) {
    let run = vidrec(line, dir);
    let [out, err] = [run.stdout, run.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(run.status.code(), Some(status), "{line}: {err}");
    (out, err)
}

fn files(dir: &Path, set: &str) -> BTreeMap<String, Vec<u8>> {
    tree(&dir.join(set))
}

#[test]
fn a_recipe_packs_the_bytes_of_its_flags_and_comes_back_from_the_data_set() {
    let dir = folder();
    let dir = dir.path();
    for (i, flags) in [
        " --frames 2 --sample random --seed 18446744073709551615 --draws 3",
        " --all --size 24:enlarge --shuffle-seed 4 --shards 2 --timeout 9.5",
        " --all --picture-fps 29.97 --quality 70 --effort 0 --shards 1kB --max-failures 50%",
    ]
    .into_iter()
    .enumerate()
    {
        let flags = format!("{flags} --label-column class --path-column clip --caption-column text");
        let pack = format!("pack list.csv{flags} -o flags{i}");
        ends(dir, &pack, 0);
        let (out, err) = ends(dir, &format!("pack list.csv{flags} --write-recipe recipe{i}.toml"), 0);
        assert!(out.is_empty() && err.contains("wrote the recipe"), "{out} {err}");
        ends(dir, &format!("pack recipe{i}.toml -o recipe{i}"), 0);
        assert!(files(dir, &format!("recipe{i}")) == files(dir, &format!("flags{i}")), "{flags}");
        let (back, _) = ends(dir, &format!("inspect flags{i} --recipe"), 0);
        fs::write(dir.join("back.toml"), &back).unwrap();
        ends(dir, &format!("pack back.toml -o back{i}"), 0);
        assert!(files(dir, &format!("back{i}")) == files(dir, &format!("flags{i}")), "{flags}: {back}");
        ends(dir, &format!("pack back.toml --if-exists resume -o flags{i}"), 0);
    }
}

#[test]
fn flags_replace_what_the_recipe_has_and_a_plan_takes_it() {
    let dir = folder();
    let dir = dir.path();
    fs::write(dir.join("r.toml"), "inputs = ['in']\nframes = 2\nquality = 50\nshards = 2\n").unwrap();
    ends(dir, "pack r.toml -o recipe --quality 90 --frames 3", 0);
    ends(dir, "pack in -o flags --frames 3 --shards 2", 0);
    assert!(files(dir, "recipe") == files(dir, "flags"));
    ends(dir, "plan r.toml -o plan --all --quality 90", 0);
    ends(dir, "pack plan --part 0", 0);
    ends(dir, "pack plan --part 1", 0);
    ends(dir, "publish plan", 0);
    ends(dir, "pack r.toml -o all --all --quality 90", 0);
    assert!(files(dir, "plan") == files(dir, "all"));
}

#[test]
fn columns_are_chosen_by_name() {
    let dir = folder();
    let dir = dir.path();
    ends(dir, "pack list.csv -o set --path-column clip --label-column class --caption-column text", 0);
    let clip: Value = serde_json::from_str(&ends(dir, "inspect set --clip 1 --json", 0).0).unwrap();
    assert_eq!((&clip["class"], &clip["attributes"]["caption"]), (&"jump".into(), &"two".into()), "{clip}");
    let (_, err) = ends(dir, "pack list.csv -o no --path-column clip --label-column klass", 1);
    assert!(err.contains("no column \"klass\"") && err.contains("\"class\""), "{err}");
}

#[test]
fn a_wrong_recipe_names_what_is_wrong_and_what_is_near() {
    let dir = folder();
    let dir = dir.path();
    for (text, words) in [
        ("inputs = ['in']\nqualty = 9\n", &["r.toml", "qualty", "quality"][..]),
        ("inputs = ['in']\nquality = 900\n", &["r.toml", "option quality", "1 to 100"]),
        ("inputs = ['in']\nframes = 'all'\nsample = 'random'\n", &["r.toml", "--sample"]),
        ("inputs = [", &["r.toml", "not valid TOML"]),
        ("inputs = ['in']\nparts = 2\n", &["r.toml", "parts"]),
    ] {
        fs::write(dir.join("r.toml"), text).unwrap();
        let (_, err) = ends(dir, "pack r.toml -o set", 2);
        assert!(words.iter().all(|word| err.contains(word)), "{text}: {err}");
    }
    ends(dir, "pack in -o set", 0);
    ends(dir, "subset set -o part --clips 0", 0);
    let (_, err) = ends(dir, "inspect part --recipe", 1);
    assert!(err.contains("no recipe"), "{err}");
}

#[test]
fn clips_that_have_only_some_frames_are_counted_and_keep_their_pace_if_asked() {
    let dir = folder();
    let dir = dir.path();
    for (flags, thinned, indexes) in [("", 3, [1, 3]), (" --cut", 3, [0, 1])] {
        let line = format!("pack in -o set --all --max-frames 2 --if-exists replace --json{flags}");
        let report: Value = serde_json::from_str(&ends(dir, &line, 0).0).unwrap();
        assert_eq!(report["thinned"], thinned, "{report}");
        let clip: Value = serde_json::from_str(&ends(dir, "inspect set --clip 0 --json", 0).0).unwrap();
        let found: Vec<u64> =
            clip["frames"].as_array().unwrap().iter().map(|f| f["source_index"].as_u64().unwrap()).collect();
        assert_eq!(found, indexes, "{clip}");
    }
    let (out, _) = ends(dir, "pack in -o set --all --max-frames 2 --if-exists replace", 0);
    assert!(out.contains("3 videos with more frames than --max-frames"), "{out}");
    let (out, _) = ends(dir, "pack in -o set --all --max-frames 4 --if-exists replace --json", 0);
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["thinned"], 0);
}
