//! This user's folder inside a folder that all users share. The processes of a user find each other's files there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::regular_file::in_place;
use super::{private_folder, system};
use vidrec_format::error::{Error, ErrorKind, Result};

/// The name of the folder in errors.
const WHAT: &str = "the folder for decoded planes";
/// The file in the user's cache folder that contains the other name in use.
const NAME_FILE: &str = "memory-folder";
/// The number of random digits in such a name.
const DIGITS: usize = 32;

/// A folder that belongs to this user alone.
#[derive(Debug)]
pub(super) struct MemoryFolder {
    pub path: PathBuf,
    /// What the user should know about the folder.
    pub notice: Option<String>,
}

impl MemoryFolder {
    /// Finds or creates the folder in `dir`. Its name contains the number of the user. Another user may take that
    /// name first, or the name of an earlier fallback, but gains nothing: the folder then gets a random name, which
    /// the user's cache folder remembers.
    pub fn find(dir: &Path) -> Result<Self> {
        let usual = dir.join(usual_name());
        match own(&usual) {
            Ok(()) => Ok(MemoryFolder { path: usual, notice: None }),
            Err(e) if e.kind() == ErrorKind::Usage => {
                Self::by_chance(dir, &usual, private_folder::of_user().as_deref())
            }
            Err(e) => Err(e),
        }
    }

    fn by_chance(dir: &Path, usual: &Path, user: Option<&Path>) -> Result<Self> {
        let file = user.map(|folder| folder.join(NAME_FILE));
        let known = file.as_deref().and_then(read).map(|name| dir.join(name)).filter(|known| own(known).is_ok());
        let (path, is_known) = match known {
            Some(known) => (known, true),
            None => {
                let name = chance().map_err(|e| Error::io("draw a name for the folder", dir, e))?;
                own(&dir.join(&name))?;
                let is_known = file.is_some_and(|file| write(&file, &name).is_ok());
                (dir.join(name), is_known)
            }
        };
        let others = if is_known { "" } else { ", which other processes cannot find" };
        let notice =
            format!("other users can write to {}, so vidrec uses {} instead{others}", usual.display(), path.display());
        Ok(MemoryFolder { path, notice: Some(notice) })
    }
}

fn usual_name() -> String {
    format!("vidrec-{}", system::user())
}

/// Creates a folder if it does not exist. Refuses one that other users could have created or can change.
fn own(folder: &Path) -> Result<()> {
    private_folder::create(folder)?;
    match private_folder::claim(folder, WHAT) {
        // The last process that used the folder has just removed it.
        Err(e) if e.is_missing() => Ok(()),
        claimed => claimed,
    }
}

/// A random name, which no user can take beforehand.
fn chance() -> io::Result<String> {
    let mut bytes = [0; DIGITS / 2];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().fold(format!("{}-", usual_name()), |name, byte| format!("{name}{byte:02x}")))
}

/// The name in a file, if it has the form of a name that [`chance`] draws.
fn read(file: &Path) -> Option<String> {
    let mut text = String::new();
    let open = in_place(OpenOptions::new().read(true)).open(file).ok()?;
    open.take(100).read_to_string(&mut text).ok()?;
    let digits = text.strip_prefix(&format!("{}-", usual_name()))?;
    let is_ours = digits.len() == DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit());
    is_ours.then_some(text)
}

fn write(file: &Path, name: &str) -> Result<()> {
    let io = |e| Error::io("write", file, e);
    private_folder::create_all(super::folder_of(file))?;
    let new = file.with_extension(std::process::id().to_string());
    let written = in_place(OpenOptions::new().write(true).create(true).truncate(true)).open(&new);
    written.and_then(|mut new| new.write_all(name.as_bytes())).map_err(io)?;
    fs::rename(&new, file).map_err(io)
}
