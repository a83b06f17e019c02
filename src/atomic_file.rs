//! A file that appears under its name only when it is complete.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::folder_lock::{is_still_named, try_lock};
use crate::{Error, Result, fault};

/// Writes to `.NAME.tmp` in the same folder; [`sync`](Self::sync) and then [`publish`](Self::publish) make it `NAME`.
///
/// The temporary file is locked while it is written, so a second writer of the same name is refused, and one that a
/// killed process left behind is taken over. Dropped before `publish`, it is removed, unless it is to be kept.
#[derive(Debug)]
pub(crate) struct AtomicFile {
    out: BufWriter<Disk>,
    temporary: Temporary,
    path: PathBuf,
}

/// An open file, by way of the faults that tests make.
#[derive(Debug)]
struct Disk(File);

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        fault::write(&mut self.0, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Seek for Disk {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

/// A temporary file that goes away with this, unless it is to be kept.
#[derive(Debug)]
pub(crate) struct Temporary {
    path: PathBuf,
    keep: bool,
}

impl Temporary {
    /// The temporary file of `path`, which is there already and is to be kept.
    #[cfg(feature = "pack")]
    pub fn kept(path: &Path) -> Result<Self> {
        Ok(Temporary { path: temporary_name(path)?, keep: true })
    }

    pub fn keep(&mut self) {
        self.keep = true;
    }

    /// Removes it, also if it was to be kept.
    #[cfg(feature = "pack")]
    pub fn discard(mut self) {
        self.keep = false;
    }

    /// Length in bytes; `None` if it is not there.
    #[cfg(feature = "pack")]
    pub fn length(&self) -> Result<Option<u64>> {
        match fs::metadata(&self.path) {
            Ok(meta) => Ok(Some(meta.len())),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::io("look at", &self.path, e)),
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.keep {
            // Best effort: a temporary file that stays is taken over by the next writer of the same name.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl AtomicFile {
    pub fn create(path: &Path) -> Result<Self> {
        let file = Self::reopen(path)?;
        file.out.get_ref().0.set_len(0).map_err(|e| Error::io("create", &file.temporary.path, e))?;
        Ok(file)
    }

    /// As [`create`](Self::create), but what the temporary file holds stays; the next write goes to its start.
    pub fn reopen(path: &Path) -> Result<Self> {
        let temporary = temporary_name(path)?;
        let file = open_locked(&temporary)?;
        let out = BufWriter::with_capacity(1 << 20, Disk(file));
        Ok(AtomicFile { out, temporary: Temporary { path: temporary, keep: false }, path: path.to_owned() })
    }

    /// From now on the temporary file stays when this is dropped.
    pub fn keep(&mut self) {
        self.temporary.keep();
    }

    pub fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(|e| Error::io("write", &self.temporary.path, e))
    }

    /// Reads on in a file that was [reopened](Self::reopen) and not yet written to. Returns 0 at its end.
    #[cfg(feature = "pack")]
    pub fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        loop {
            match io::Read::read(&mut self.out.get_mut().0, bytes) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                read => return read.map_err(|e| Error::io("read", &self.temporary.path, e)),
            }
        }
    }

    /// Cuts the file to `length` bytes; the next write goes there.
    #[cfg(feature = "pack")]
    pub fn cut(&mut self, length: u64) -> Result<()> {
        let file = &mut self.out.get_mut().0;
        file.set_len(length)
            .and_then(|()| file.seek(SeekFrom::Start(length)).map(drop))
            .map_err(|e| Error::io("cut", &self.temporary.path, e))
    }

    /// Replaces the first bytes of the file, which were written before.
    pub fn patch_start(&mut self, bytes: &[u8]) -> Result<()> {
        let patch = |out: &mut BufWriter<Disk>| -> io::Result<()> {
            out.seek(SeekFrom::Start(0))?;
            out.write_all(bytes)?;
            out.seek(SeekFrom::End(0)).map(drop)
        };
        patch(&mut self.out).map_err(|e| Error::io("write", &self.temporary.path, e))
    }

    /// Makes sure that what was written is on the disk.
    pub fn sync(&mut self) -> Result<()> {
        self.out
            .flush()
            .and_then(|()| fault::step())
            .and_then(|()| self.out.get_ref().0.sync_all())
            .map_err(|e| Error::io("bring to the disk", &self.temporary.path, e))
    }

    /// Removes the temporary file, also one that was to be kept.
    pub fn discard(mut self) {
        self.temporary.keep = false;
    }

    /// Closes the file without giving it its name, which [`publish`] does later. Call [`sync`](Self::sync) before.
    pub fn seal(self) -> Temporary {
        self.temporary
    }

    /// Gives the file its name, in place of a file that had it. Call [`sync`](Self::sync) before.
    pub fn publish(mut self) -> Result<()> {
        self.keep();
        publish(&self.path)
    }
}

/// Renames the temporary file of `path` to `path`; one that was renamed before is as it should be.
pub(crate) fn publish(path: &Path) -> Result<()> {
    let temporary = temporary_name(path)?;
    match fault::step().and_then(|()| fs::rename(&temporary, path)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound && path.exists() => Ok(()),
        done => done.map_err(|e| Error::io("give the file its name", path, e)),
    }
}

/// Removes a file; one that is gone already is as it should be.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fault::step().and_then(|()| fs::remove_file(path)) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", path, e)),
        _ => Ok(()),
    }
}

fn temporary_name(path: &Path) -> Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| Error::usage("not a file name").file(path))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(".tmp");
    Ok(path.with_file_name(hidden))
}

fn open_locked(temporary: &Path) -> Result<File> {
    let io = |e| Error::io("create", temporary, e);
    loop {
        let mut how = OpenOptions::new();
        let file = how.read(true).write(true).create(true).truncate(false).open(temporary).map_err(io)?;
        if !try_lock(&file).map_err(io)? {
            return Err(Error::usage("another process is writing this file")
                .file(temporary)
                .help("wait until it is done, or write to another folder"));
        }
        // Its former owner may have published it between our open and our lock.
        if is_still_named(&file, temporary).map_err(io)? {
            return Ok(file);
        }
    }
}

/// Writes a small file whole: temporary name, sync, rename.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes)?;
    file.sync()?;
    file.publish()
}

/// Makes renames and removals in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(unix) {
        let opened = File::open(folder).and_then(|f| fault::step().and_then(|()| f.sync_all()));
        opened.map_err(|e| Error::io("bring the folder to the disk", folder, e))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appears_only_when_published() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"0123").unwrap();
        file.patch_start(b"ab").unwrap();
        file.write_all(b"4").unwrap();
        file.sync().unwrap();
        assert!(!path.exists());
        file.publish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"ab234");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
    }

    #[test]
    fn a_second_writer_is_refused_and_a_leftover_is_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let first = AtomicFile::create(&path).unwrap();
        assert!(AtomicFile::create(&path).unwrap_err().to_string().contains("another process"));
        drop(first);
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
        fs::write(dir.path().join(".a.tmp"), b"left by a killed process").unwrap();
        write_file(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}
