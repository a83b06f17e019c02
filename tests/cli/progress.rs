//! Progress without a terminal: lines on standard error, and never among the results.

use crate::common;
use crate::common::program_runs::vidrec;

#[test]
fn a_log_has_lines_of_long_work_or_where_they_are_wanted() {
    let (folder, _) = common::set(3, 2, (32, 32));
    let name = folder.path().read_dir().unwrap().next().unwrap().unwrap().file_name().into_string().unwrap();
    let told = |more: &str, status| {
        let run = vidrec(&format!("verify {name}{more}"), folder.path());
        assert_eq!(run.status.code(), Some(status));
        if status == 0 {
            let result = "intact: 3 clips, 6 frames; structure, ids and checksums are correct\n";
            assert_eq!(String::from_utf8(run.stdout).unwrap(), result);
        }
        String::from_utf8(run.stderr).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let lines = told(" --progress lines", 0);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("vidrec: ") && lines[0].contains(" of 6 frames"), "{lines:?}");
    assert!(lines[1].starts_with("vidrec: 6 of 6 frames") && lines[1].ends_with("ended after 0 s"), "{lines:?}");
    // A log of short commands stays short.
    assert!(told("", 0).is_empty() && told(" --progress none", 0).is_empty());
    assert!(!told(" --progress dots", 2).is_empty());
}
