//! What the commands read: data sets, folders of pictures to pack, other projects' files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fault_proxy::{Origin, Server};
use tempfile::TempDir;

use crate::common::rich::Rich;
use crate::common::{damage, jpeg};
use crate::faults::state::copy;

/// A folder with inputs, which no command may change.
pub struct Inputs {
    temp: TempDir,
    /// Of the same folder.
    server: Server,
}

impl Inputs {
    pub fn make() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let inputs = Inputs { server: Origin::serve(temp.path()).unwrap(), temp };
        Rich::default().write(&inputs.at("a"));
        Rich { from: 30, ..Rich::default() }.write(&inputs.at("b"));
        Rich { from: 60, shards: &[4, 4, 3], ..Rich::default() }.write(&inputs.at("old"));
        copy(&inputs.at("a"), &inputs.at("damaged"));
        damage(&inputs.at("damaged"), 1, 0);
        fs::write(inputs.at("labels.csv"), "source,label\ndir/é0.mp4,swim\ndir/é3.mp4,walk\n").unwrap();
        fs::write(inputs.at("fields.csv"), "clip,caption\n0,a cat\n5,a dog\n").unwrap();
        fs::write(inputs.at("values.jsonl"), "{\"clip\":1,\"force\":[1,2]}\n{\"clip\":4,\"force\":[3]}\n").unwrap();
        for format in ["mxnet", "frames"] {
            inputs.vidrec(inputs.temp.path(), &format!("export {format} {{in}}/a -o {format}"));
        }
        inputs.make_videos();
        inputs
    }

    /// Folders of pictures, which `pack` takes for videos. Of `some-bad`, two cannot be decoded; of `mended` one
    /// cannot, and `packed-before` was made of it when there were two.
    fn make_videos(&self) {
        for (i, name) in ["even/0", "odd/1", "even/2", "odd/3"].iter().enumerate() {
            for t in 0..3 {
                self.write(&format!("good/{name}/{t:03}.jpg"), &jpeg((32, 16), i as u32 * 10 + t));
            }
        }
        copy(&self.at("good"), &self.at("some-bad"));
        self.write("some-bad/even/1/000.jpg", b"no picture");
        self.write("some-bad/odd/2/000.jpg", b"no picture");
        copy(&self.at("some-bad"), &self.at("mended"));
        self.vidrec(self.temp.path(), "pack {in}/mended -o packed-before -n 2 --shards 2");
        self.write("mended/even/1/000.jpg", &jpeg((32, 16), 77));
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    /// A command as one line: `{in}` is the folder of the inputs, `{url}` its location on a server, and `*.rec` all files of this ending in their order.
    pub fn command(&self, folder: &Path, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vidrec"));
        command.current_dir(folder);
        for word in line.split(' ') {
            let word = word.replace("{in}", self.temp.path().to_str().unwrap()).replace("{url}", &self.server.url());
            match word.split_once("/*.") {
                Some((folder, ending)) => command.args(files(Path::new(folder), ending)),
                None => command.arg(word),
            };
        }
        command
    }

    /// Runs a command that makes an input, or what was there before.
    pub fn vidrec(&self, folder: &Path, line: &str) {
        let run = self.command(folder, line).output().unwrap();
        // Some of the inputs are bad.
        assert!(matches!(run.status.code(), Some(0 | 3)), "{line}\n{}", String::from_utf8_lossy(&run.stderr));
    }
}

/// The files in a folder with this ending, in order of their names.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths.filter(|path| path.extension().is_some_and(|e| e == ending)).collect();
    files.sort();
    files
}
