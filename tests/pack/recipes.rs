//! Recipes: `vidrec pack recipe.toml`, `--write-recipe` and `vidrec inspect --recipe`, from outside.

use std::fs;

use crate::common::program_runs::Place;
use crate::common::rich::files;

/// A folder with three clips of four pictures, which need no `ffmpeg`, and a list of them.
fn folder() -> Place {
    let place = Place::new();
    for (clip, shade) in [("x/1", 40), ("y/1", 120), ("y/2", 200)] {
        let clip = place.at("in").join(clip);
        fs::create_dir_all(&clip).unwrap();
        for i in 0..4u8 {
            let picture = image::GrayImage::from_pixel(48, 32, image::Luma([shade + 8 * i]));
            picture.save(clip.join(format!("{i}.png"))).unwrap();
        }
    }
    let rows = "clip,class,text\nin/x/1,run,one\nin/y/1,jump,two\nin/y/2,run,three\n";
    fs::write(place.at("list.csv"), rows).unwrap();
    place
}

#[test]
fn a_recipe_packs_the_bytes_of_its_flags_and_comes_back_from_the_data_set() {
    let place = folder();
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
        place.run(&pack, 0);
        let told = place.error(&format!("pack list.csv{flags} --write-recipe recipe{i}.toml"), 0);
        assert!(told.contains("wrote the recipe"), "{told}");
        place.run(&format!("pack recipe{i}.toml -o recipe{i}"), 0);
        assert!(files(&place.at(&format!("recipe{i}"))) == files(&place.at(&format!("flags{i}"))), "{flags}");
        let back = place.text(&format!("inspect flags{i} --recipe"), 0);
        fs::write(place.at("back.toml"), &back).unwrap();
        place.run(&format!("pack back.toml -o back{i}"), 0);
        assert!(files(&place.at(&format!("back{i}"))) == files(&place.at(&format!("flags{i}"))), "{flags}: {back}");
        place.run(&format!("pack back.toml --if-exists resume -o flags{i}"), 0);
    }
}

#[test]
fn flags_replace_what_the_recipe_has_and_a_plan_takes_it() {
    let place = folder();
    fs::write(place.at("r.toml"), "inputs = ['in']\nframes = 2\nquality = 50\nshards = 2\n").unwrap();
    place.run("pack r.toml -o recipe --quality 90 --frames 3", 0);
    place.run("pack in -o flags --frames 3 --shards 2", 0);
    assert!(files(&place.at("recipe")) == files(&place.at("flags")));
    place.run("plan r.toml -o plan --all --quality 90", 0);
    place.run("pack plan --part 0", 0);
    place.run("pack plan --part 1", 0);
    place.run("publish plan", 0);
    place.run("pack r.toml -o all --all --quality 90", 0);
    assert!(files(&place.at("plan")) == files(&place.at("all")));
}

#[test]
fn columns_are_chosen_by_name() {
    let place = folder();
    place.run("pack list.csv -o set --path-column clip --label-column class --caption-column text", 0);
    let clip = place.json("inspect set --clip 1", 0);
    assert_eq!((&clip["class"], &clip["attributes"]["caption"]), (&"jump".into(), &"two".into()), "{clip}");
    let err = place.error("pack list.csv -o no --path-column clip --label-column klass", 1);
    assert!(err.contains("no column \"klass\"") && err.contains("\"class\""), "{err}");
}

#[test]
fn a_wrong_recipe_names_what_is_wrong_and_what_is_near() {
    let place = folder();
    for (text, words) in [
        ("inputs = ['in']\nqualty = 9\n", &["r.toml", "qualty", "quality"][..]),
        ("inputs = ['in']\nquality = 101\n", &["r.toml", "quality 101", "1 to 100"]),
        ("inputs = ['in']\nframes = 'all'\nsample = 'random'\n", &["r.toml", "--sample"]),
        ("inputs = [", &["r.toml", "not valid TOML"]),
        ("inputs = ['in']\nparts = 2\n", &["r.toml", "parts"]),
    ] {
        fs::write(place.at("r.toml"), text).unwrap();
        let err = place.error("pack r.toml -o set", 2);
        assert!(words.iter().all(|word| err.contains(word)), "{text}: {err}");
    }
    place.run("pack in -o set", 0);
    place.run("subset set -o part --clips 0", 0);
    let err = place.error("inspect part --recipe", 1);
    assert!(err.contains("no recipe"), "{err}");
}

#[test]
fn clips_that_have_only_some_frames_are_counted_and_keep_their_pace_if_asked() {
    let place = folder();
    for (flags, thinned, indexes) in [("", 3, [1, 3]), (" --cut", 3, [0, 1])] {
        let report = place.json(&format!("pack in -o set --all --max-frames 2 --if-exists replace{flags}"), 0);
        assert_eq!(report["thinned"], thinned, "{report}");
        let clip = place.json("inspect set --clip 0", 0);
        let found: Vec<u64> =
            clip["frames"].as_array().unwrap().iter().map(|f| f["source_index"].as_u64().unwrap()).collect();
        assert_eq!(found, indexes, "{clip}");
    }
    let out = place.text("pack in -o set --all --max-frames 2 --if-exists replace", 0);
    assert!(out.contains("3 videos with more frames than --max-frames"), "{out}");
    assert_eq!(place.json("pack in -o set --all --max-frames 4 --if-exists replace", 0)["thinned"], 0);
}
