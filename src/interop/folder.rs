//! A folder that appears under its name only when everything in it is there.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::ExportReport;
use crate::atomic_file::sync_folder;
use crate::{Error, Result};

/// Files are written to `.NAME.partial` beside the folder, which [`publish`](Self::publish) renames. Dropped before, it
/// is removed.
pub(super) struct NewFolder {
    temporary: PathBuf,
    path: PathBuf,
    published: bool,
    /// What was written so far; callers count clips and frames.
    pub report: ExportReport,
}

impl NewFolder {
    /// Begins a folder at `path`, where there must be none, or an empty one.
    pub fn create(path: &Path) -> Result<Self> {
        let name = path.file_name().ok_or_else(|| Error::usage("not a name for a folder").file(path))?;
        if path.exists() {
            let mut entries = fs::read_dir(path).map_err(|e| Error::io("list the folder", path, e))?;
            if entries.next().is_some() {
                return Err(Error::usage("there is something here already").file(path).help("name a new folder"));
            }
        }
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(|e| Error::io("create the folder", parent, e))?;
        let temporary = parent.join(format!(".{}.partial", name.to_string_lossy()));
        fs::create_dir(&temporary).map_err(|e| {
            let e = Error::io("create the folder", &temporary, e);
            if temporary.exists() { e.help("another export is writing it, or was killed: then remove it") } else { e }
        })?;
        Ok(NewFolder { temporary, path: path.to_owned(), published: false, report: ExportReport::default() })
    }

    /// Where a file of this name is written now.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.temporary.join(name)
    }

    /// Begins a file of this name, in the folder or one in it.
    pub fn file(&self, name: impl AsRef<Path>) -> Result<NewFile> {
        let path = self.join(name);
        let folder = path.parent().unwrap_or(&self.temporary);
        fs::create_dir_all(folder).map_err(|e| Error::io("create the folder", folder, e))?;
        let file = fs::File::create_new(&path).map_err(|e| Error::io("create the file", &path, e))?;
        Ok(NewFile { out: BufWriter::with_capacity(1 << 18, file), path, bytes: 0 })
    }

    /// Ends a file and counts it.
    pub fn finish(&mut self, file: NewFile) -> Result<()> {
        self.report.files += 1;
        self.report.bytes += file.bytes;
        let written = file.out.into_inner().map_err(std::io::IntoInnerError::into_error).and_then(|f| f.sync_all());
        written.map_err(|e| Error::io("bring to the disk", &file.path, e))
    }

    /// Writes a file whole.
    pub fn write(&mut self, name: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
        let mut file = self.file(name)?;
        file.write(bytes)?;
        self.finish(file)
    }

    /// Writes a file whole without waiting for the disk: for many small ones.
    pub fn write_many(&mut self, name: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
        let mut file = self.file(name)?;
        file.write(bytes)?;
        self.report.files += 1;
        self.report.bytes += file.bytes;
        file.out.flush().map_err(|e| Error::io("write", &file.path, e))
    }

    /// Gives the folder its name.
    pub fn publish(mut self) -> Result<ExportReport> {
        sync_folder(&self.temporary)?;
        let failed = |e| Error::io("give the folder its name", &self.path, e);
        if self.path.exists() {
            fs::remove_dir(&self.path).map_err(failed)?;
        }
        fs::rename(&self.temporary, &self.path).map_err(failed)?;
        self.published = true;
        sync_folder(self.path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")))?;
        Ok(std::mem::take(&mut self.report))
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        if !self.published {
            // Best effort: what stays is named in the error of the next export to the same place.
            let _ = fs::remove_dir_all(&self.temporary);
        }
    }
}

/// A file of a [`NewFolder`], while it is written.
pub(super) struct NewFile {
    out: BufWriter<fs::File>,
    path: PathBuf,
    /// Length so far.
    pub bytes: u64,
}

impl NewFile {
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes).map_err(|e| Error::io("write", &self.path, e))
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_appears_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let mut folder = NewFolder::create(&path).unwrap();
        folder.write("a/b.txt", b"text").unwrap();
        assert!(!path.exists());
        assert!(NewFolder::create(&path).is_err_and(|e| e.to_string().contains("another export")));
        let report = folder.publish().unwrap();
        assert_eq!((report.files, report.bytes), (1, 4));
        assert_eq!(fs::read(path.join("a/b.txt")).unwrap(), b"text");
        assert!(NewFolder::create(&path).is_err_and(|e| e.to_string().contains("something here already")));

        let other = dir.path().join("other");
        drop(NewFolder::create(&other).unwrap());
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
    }
}
