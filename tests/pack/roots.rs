//! Several inputs with videos of the same name: their sources stay apart, so edits by source touch the right one.

use crate::common::program_runs::stderr;
use crate::pack::support::Room;

/// Packs inputs, and gives what is said on standard error.
fn pack(room: &Room, inputs: &[&str]) -> String {
    let run = room.pack(inputs[0], &[&inputs[1..], &["-n", "1", "--progress", "none"]].concat());
    assert!(run.status.success(), "{}", stderr(&run));
    stderr(&run)
}

fn sources(room: &Room) -> Vec<String> {
    room.set().clips().map(|clip| clip.unwrap().source().unwrap()).collect()
}

#[test]
fn the_same_source_in_two_folders_becomes_two() {
    let room = Room::new();
    for (clip, shade) in [("dA/x/3", 40), ("dA/x/4", 80), ("dB/x/3", 120), ("dC/x/5", 200)] {
        image::GrayImage::from_pixel(32, 32, image::Luma([shade])).save(room.path(&format!("{clip}/1.png"))).unwrap();
    }
    let said = pack(&room, &["dA", "dB", "dC"]);
    assert!(said.contains("\"x/3\"") && said.contains("sources begin with \"dA\", \"dB\""), "{said}");
    assert_eq!(sources(&room), ["dA/x/3", "dA/x/4", "dB/x/3", "x/5"]);

    room.write("new.csv", "source,label\ndB/x/3,y\n");
    assert!(room.vidrec(&["subset", "set", "--changes", "new.csv", "-o", "relabeled"]).status.success());
    let relabeled = vidrec::Dataset::open(room.path("relabeled")).unwrap();
    let classes: Vec<String> = relabeled.clips().map(|clip| clip.unwrap().class().unwrap()).collect();
    assert_eq!(classes, ["x", "x", "y", "x"]);

    assert_eq!(pack(&room, &["dA", "dC"]), "");
    assert_eq!(sources(&room), ["x/3", "x/4", "x/5"]);
}
