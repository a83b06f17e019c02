//! Videos that the `ffmpeg` program makes. Many tests want the same few, so what it makes is kept in Cargo's folder for
//! tests, and each test gets a copy. `cargo clean` removes them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use sha2::{Digest, Sha256};

/// What `ffmpeg` says of itself, where there is one.
static VERSION: LazyLock<Option<Vec<u8>>> =
    LazyLock::new(|| Command::new("ffmpeg").arg("-version").output().ok().map(|run| run.stdout));

/// Makes a file as `ffmpeg ARGS TO` does; the arguments are given as one string.
#[track_caller]
pub fn make(args: &str, to: impl AsRef<Path>) {
    // Not in a closure, whose panics would be at this place.
    if let Err(why) = try_make(args, to) {
        panic!("{why}");
    }
}

/// The same, for tests that can do without the file. The error says why there is none.
pub fn try_make(args: &str, to: impl AsRef<Path>) -> Result<(), String> {
    make_in(Path::new("."), &args.split_whitespace().collect::<Vec<_>>(), to)
}

/// Makes a file as `ffmpeg ARGS TO` does in a folder, which paths of inputs and of the output may begin at.
pub fn make_in(folder: &Path, args: &[&str], to: impl AsRef<Path>) -> Result<(), String> {
    let to = folder.join(to);
    let Some(name) = kept_name(folder, args, &to) else { return ffmpeg(folder, args, &to) };
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("made-videos").join(name);
    if !kept.exists() {
        keep(folder, args, &kept)?;
    }
    // Not a link: tests change what they get.
    fs::copy(&kept, &to).map(drop).map_err(|e| format!("{}: {e}", to.display()))
}

/// What `ffprobe` says of these entries of a file and of its first real video stream: the fields of each line.
pub fn probe(path: &Path, entries: &str) -> Vec<Vec<String>> {
    let mut ffprobe = Command::new("ffprobe");
    ffprobe.args(["-v", "error", "-select_streams", "V:0", "-of", "csv=p=0", "-show_entries", entries]).arg(path);
    let text = String::from_utf8(ffprobe.output().unwrap().stdout).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// Makes a file elsewhere and moves it, because other tests may make the same one at the same time.
fn keep(folder: &Path, args: &[&str], kept: &Path) -> Result<(), String> {
    let in_place = || {
        let parent = kept.parent().unwrap();
        fs::create_dir_all(parent)?;
        tempfile::tempdir_in(parent)
    };
    let room = in_place().map_err(|e| format!("{}: {e}", kept.display()))?;
    let made = room.path().join(kept.file_name().unwrap());
    ffmpeg(folder, args, &made)?;
    fs::rename(made, kept).map_err(|e| format!("{}: {e}", kept.display()))
}

/// A name that stands for all that the file is made of: the program, its arguments, the bytes of its inputs, and the
/// ending of the output. `None` where that is more than can be seen here.
fn kept_name(folder: &Path, args: &[&str], to: &Path) -> Option<String> {
    let name = to.file_name()?.to_str()?;
    let many_files = name.contains("%d") || name.contains("%0");
    if many_files || args.contains(&"concat") {
        return None;
    }
    let ending = |path: &Path| path.extension().map_or(String::new(), |e| format!(".{}", e.to_string_lossy()));
    let mut digest = Sha256::new();
    let mut add = |part: &[u8]| {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    };
    add(VERSION.as_deref()?);
    add(ending(to).as_bytes());
    for (i, arg) in args.iter().enumerate() {
        let (is_input, is_source) = (args[..i].ends_with(&["-i"]), args[..i].ends_with(&["-f", "lavfi", "-i"]));
        if is_input && !is_source {
            add(ending(Path::new(arg)).as_bytes());
            add(&fs::read(folder.join(arg)).ok()?);
        } else {
            add(arg.as_bytes());
        }
    }
    let digits: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Some(digits + &ending(to))
}

fn ffmpeg(folder: &Path, args: &[&str], to: &Path) -> Result<(), String> {
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.current_dir(folder).args(["-nostdin", "-v", "error", "-y"]).args(args).arg(to);
    let run = ffmpeg.output().map_err(|e| format!("no ffmpeg, which scripts/setup.sh installs: {e}"))?;
    let said = String::from_utf8_lossy(&run.stderr);
    if run.status.success() { Ok(()) } else { Err(format!("ffmpeg {}: {} {said}", args.join(" "), run.status)) }
}
