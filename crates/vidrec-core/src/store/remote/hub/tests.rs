//! Names of repositories, and links of lists.

use super::{at, is_pinned, next, split};

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
