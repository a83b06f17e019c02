//! The memory of the machine, or of the container of this process.

#[cfg(target_os = "linux")]
use std::path::Path;

#[cfg(target_os = "linux")]
use vidrec_format::machine::kilobytes;

/// The number of bytes of memory for this process and those beside it: the memory of the machine, or the limit of the
/// container if it is lower. `None` if the system does not say.
#[cfg(target_os = "linux")]
pub fn memory() -> Option<u64> {
    let text = |path: &str| std::fs::read_to_string(path).ok();
    let of_machine = text("/proc/meminfo").and_then(|text| kilobytes(&text, "MemTotal:"));
    let groups = text("/proc/self/cgroup").unwrap_or_default();
    of_machine.into_iter().chain(memory_of_groups(&groups, text)).min()
}

/// The lowest memory limit of the control groups in `groups`, and of the groups around them. `groups` has the form of
/// `/proc/self/cgroup`. `read` returns the text of a file.
#[cfg(target_os = "linux")]
fn memory_of_groups(groups: &str, read: impl Fn(&str) -> Option<String>) -> Option<u64> {
    let mut lowest = None;
    for line in groups.lines() {
        // A line contains the number of the hierarchy, its controllers, and the path: "0::/a/b", "7:memory:/a/b".
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let (root, name) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        for group in Path::new(path).ancestors() {
            let group = group.to_string_lossy();
            let limit = read(&format!("{root}{}/{name}", group.trim_end_matches('/')));
            lowest = lowest.into_iter().chain(limit.and_then(|text| text.trim().parse::<u64>().ok())).min();
        }
    }
    lowest
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_limit_of_all_groups_around_counts() {
        let of = |groups: &str, files: &[(&str, &str)]| {
            memory_of_groups(groups, |path| Some(files.iter().find(|(name, _)| *name == path)?.1.to_owned()))
        };
        let files = [
            ("/sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("/sys/fs/cgroup/a/memory.max", "5000\n"),
            ("/sys/fs/cgroup/memory/c/memory.limit_in_bytes", "3000\n"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ];
        assert_eq!(of("0::/a/b\n", &files), Some(5000));
        assert_eq!(of("5:cpu,memory:/c/d\n4:pids:/a\n0::/\n", &files), Some(3000));
        assert_eq!(of("0::/\n", &files), None);
        assert_eq!(of("not a group\n1:2\n", &files), None);
        assert!(memory().is_some_and(|bytes| bytes > 1 << 24));
    }
}
