//! Imports of files that were changed at random: a data set or an error.

use std::fs;
use std::time::{Duration, Instant};

#[path = "../common/importers.rs"]
mod exports;

/// Numbers that are all over the place.
fn next(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

/// Does `import` with the export in `fuzz/seeds`, changed again and again: some times, or as long as `VIDREC_FUZZ_SECONDS`
/// says.
fn changed(reader: &str, import: impl Fn(&[u8])) {
    let seed = fs::read(format!("{}/fuzz/seeds/{reader}/export", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let seconds = std::env::var("VIDREC_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let (started, mut state, mut cases) = (Instant::now(), 1, 0);
    while seconds.map_or(cases < 16, |seconds| started.elapsed() < Duration::from_secs(seconds)) {
        let mut input = seed.clone();
        for _ in 0..next(&mut state) % 4 {
            let at = next(&mut state) % input.len();
            match next(&mut state) % 4 {
                0 => input[at] ^= 1 << (next(&mut state) % 8),
                1 => input[at] = next(&mut state) as u8,
                2 => input.truncate(at.max(1)),
                _ => drop(input.splice(at..at, [b'0' + (next(&mut state) % 10) as u8])),
            }
        }
        let survived = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| import(&input)));
        assert!(survived.is_ok(), "{reader}, case {cases}: {:?}", String::from_utf8_lossy(&input));
        cases += 1;
    }
    println!("{reader}: {cases} cases");
}

#[test]
fn any_change_of_another_projects_files_is_imported_or_refused() {
    changed("import_mxnet", exports::mxnet);
    changed("import_frames", exports::frames);
}
