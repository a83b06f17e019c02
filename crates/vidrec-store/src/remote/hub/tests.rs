//! Objects of a server that answers as the Hub does, from lists and when they are opened.

use std::fs;
use std::path::Path;

use super::{at, is_pinned, next, split};
use crate::fake_hugging_face_hub::{Hub, TOKEN};
use crate::remote::{Listing, Opening, Remote};
use crate::storage::Storage;

const SET: &str = "hf://datasets/me/set";

#[test]
fn lists_have_the_order_and_the_versions_of_what_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["b.rec", "a/c.rec", "a.d/e f.rec", "a/empty", "g/a/h/i"] {
        let path = folder.path().join("x").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, if name == "a/empty" { "" } else { name }).unwrap();
    }
    let hub = Hub::new(folder.path());
    hub.state().is_private = true;
    let storage = Storage { options: hub.options(TOKEN), ..Storage::default() };
    let remote = Remote::new(&storage).unwrap();
    let location = remote.pinned(Path::new(&format!("{SET}/x"))).unwrap();
    hub.commit(&folder.path().join("x"));
    let mut listing = Listing::begin(&location, &storage, None).unwrap();
    let objects = listing.next_page().unwrap().unwrap();
    assert!(listing.next_page().unwrap().is_none());
    let names: Vec<_> = objects.iter().map(|object| &*object.name).collect();
    assert_eq!(names, ["a.d/e f.rec", "a/c.rec", "a/empty", "b.rec", "g/a/h/i"]);
    for object in &objects {
        let file = Opening::start(&remote, &location.join(&object.name), object.bytes == 0).unwrap().finish().unwrap();
        assert_eq!((file.len(), file.version()), (object.bytes, &*object.version));
        let mut bytes = Vec::new();
        file.read(0..file.len(), || 0..file.len(), &mut bytes).unwrap();
        assert_eq!(bytes, if object.bytes == 0 { "" } else { &object.name }.as_bytes());
    }
    let asked = hub.state().asked.concat();
    assert!(asked.matches("/revision/").count() == 1 && !asked.contains("/resolve/main"), "{asked}");
    // Only the host to which the Hub redirects hears no token, and again once its URLs have expired.
    let before = hub.state().asked.len();
    hub.state().signature += 1;
    for _ in 0..3 {
        Opening::start(&remote, &location.join("b.rec"), false).unwrap().finish().unwrap();
    }
    let state = hub.state();
    assert_eq!(state.asked.len(), before + 1);
    assert!(!state.fetched.concat().to_ascii_lowercase().contains("authorization"));
    assert!(state.fetched.len() >= 5 && state.asked.iter().all(|head| head.contains(TOKEN)));
}

#[test]
fn repositories_revisions_and_paths_are_told_apart() {
    for (rest, expected) in [
        ("lerobot/pusht", Some(("lerobot/pusht", ""))),
        ("lerobot/pusht/", Some(("lerobot/pusht", ""))),
        ("o/n.x@v2.0/a/b.rec", Some(("o/n.x@v2.0", "a/b.rec"))),
        ("o/n@refs%2Fpr%2F1/a@b", Some(("o/n@refs%2Fpr%2F1", "a@b"))),
        ("o", None),
        ("o/@main", None),
        ("o/n@/a", None),
        ("../n", None),
        ("o/n%2F..", None),
    ] {
        let expected = expected.map(|(store, path)| (format!("hf://datasets/{store}"), path));
        assert_eq!(split(rest), expected, "{rest}");
    }
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let pinned = at("hf://datasets/o/n@v1", commit);
    assert_eq!(pinned, format!("hf://datasets/o/n@{commit}"));
    assert!(is_pinned(&pinned) && !is_pinned("hf://datasets/o/n@v1") && !is_pinned("hf://datasets/o/n"));
}

#[test]
fn pages_name_the_next_one() {
    let here = "https://hub/api/datasets/o/n/tree/main";
    let of = |link: &str| next([link].into_iter(), here);
    assert_eq!(of("<https://hub/x?cursor=1>; rel=\"next\"").as_deref(), Some("https://hub/x?cursor=1"));
    assert_eq!(of("</x>; rel=\"first\", </y?c=2>; rel=\"next\"").as_deref(), Some("https://hub/y?c=2"));
    assert_eq!((of("<https://hub/x>; rel=\"first\""), of("rel=\"next\"")), (None, None));
}
