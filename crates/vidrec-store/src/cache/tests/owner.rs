//! Tests of who may see the contents of a cache, and whose caches are used.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use super::support::{fill, right_pages};
use crate::cache::{PAGE_BYTES, PageCache, clear, show};
use vidrec_format::error::{ErrorKind, Result};

const LENGTH: u64 = 3 * PAGE_BYTES;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

/// Everything below a folder.
fn all(dir: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { [vec![path.clone()], all(&path)].concat() } else { vec![path] })
        .collect()
}

fn use_it(dir: &Path) -> Result<()> {
    let cache = PageCache::open(dir, 1 << 20)?;
    let object = cache.object("s3://b/o", "1", LENGTH)?;
    fill(&object, 0..LENGTH);
    assert_eq!(right_pages(&object), 3);
    Ok(())
}

#[test]
fn nobody_else_can_read_what_is_kept() {
    let _starts = crate::process_starts::none();
    let parent = tempfile::tempdir().unwrap();
    for given in [None, Some(0o755), Some(0o777)] {
        let dir = parent.path().join(format!("{given:?}"));
        if let Some(given) = given {
            fs::create_dir(&dir).unwrap();
            fs::set_permissions(&dir, fs::Permissions::from_mode(given)).unwrap();
        }
        use_it(&dir).unwrap();
        assert_eq!(mode(&dir), 0o700);
        let found = all(&dir);
        assert!(found.len() > 8, "{found:?}");
        for path in found.iter().filter(|path| path.file_name().unwrap() != "clean") {
            assert_eq!(mode(path) & 0o077, 0, "{}", path.display());
        }
        // The folder may be from an older version, or have been opened to others by hand.
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
        use_it(&dir).unwrap();
        assert_eq!(mode(&dir), 0o700);
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o770)).unwrap();
        let e = use_it(&dir).unwrap_err();
        assert!(e.to_string().contains("other users own or can write to") && e.to_string().contains("mode 770"), "{e}");
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o700)).unwrap();
        // A link that the user made is accepted like the folder itself.
        symlink(&dir, dir.with_extension("link")).unwrap();
        use_it(&dir.with_extension("link")).unwrap();
    }
}

#[test]
fn the_cache_of_another_user_is_refused() {
    let _starts = crate::process_starts::none();
    let dir = tempfile::tempdir().unwrap();
    use_it(dir.path()).unwrap();
    if chown(dir.path(), Some(65534), None).is_err() {
        return eprintln!("skipped: only root can give files to others");
    }
    for e in [use_it(dir.path()).unwrap_err(), clear(dir.path(), None).map(drop).unwrap_err()] {
        assert_eq!(e.kind(), ErrorKind::Usage, "{e}");
        for word in [
            "of user 65534",
            "other users own or can write to",
            "each user needs their own cache",
            "name another folder",
        ] {
            assert!(e.to_string().contains(word), "no {word:?} in {e}");
        }
    }
    assert!(show(dir.path()).is_ok(), "looking changes nothing");
}
