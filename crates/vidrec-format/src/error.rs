//! The error type of the whole library. It says who is to blame, where, what was expected and found, and what to do.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::machine::Shortage;
use crate::printable::Printable;

/// The result of every fallible function of vidrec.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an error. It decides what a caller can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused: a missing file, no permission, a full disk.
    Io,
    /// The bytes of a file break a rule of the format. [`Error::rule`] names the rule.
    Format,
    /// Well-formed, but larger than this build is willing to handle.
    Limit,
    /// The machine ran out of memory, file descriptors, threads or processes. No file is at fault. The same call may
    /// succeed with more of that resource, or with less work at a time.
    Resources,
    /// The caller's request makes no sense. No file is at fault.
    Usage,
    /// An image or a video could not be decoded or encoded.
    Decode,
    /// The caller stopped the operation before it was done.
    Interrupted,
    /// A bug in vidrec, such as a panic. Please report it.
    Internal,
}

/// A remedy for an error. The library does not know how it is called, so a program turns a hint into its
/// own flags, and a binding into its own arguments. `Display` describes the hint in plain words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hint {
    /// Resume the interrupted pack.
    Resume,
    /// Discard the interrupted pack and start over.
    Restart,
    /// Replace the existing output.
    Overwrite,
    /// Set this option, named as in the library's option structs.
    Set(&'static str),
    /// Set this option, named as in the library's option structs, to this word.
    Choose(&'static str, &'static str),
    /// Turn this option off, named as in the library's option structs.
    Unset(&'static str),
    /// Give only one of these two options.
    OnlyOne(&'static str, &'static str),
    /// Pack videos into a data set.
    Pack,
    /// List what is damaged.
    Verify,
    /// Save the intact clips as a new data set.
    Repair,
    /// Write a new data set from several.
    Merge,
    /// Divide a pack into parts.
    Plan,
    /// List the parts of a plan that are to be packed.
    Status,
    /// Pack the part again.
    Part,
    /// Make a data set of the parts of a plan.
    Publish,
    /// Let the clocks of clips begin together.
    Clock,
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hint::Resume => f.write_str("resume the pack"),
            Hint::Restart => f.write_str("start the pack over"),
            Hint::Overwrite => f.write_str("allow it to be replaced"),
            Hint::Set(option) => write!(f, "set the option {option}"),
            Hint::Choose(option, word) => write!(f, "set the option {option} to {word}"),
            Hint::Unset(option) => write!(f, "turn off the option {option}"),
            Hint::OnlyOne(one, other) => write!(f, "give only one of the options {one} and {other}"),
            Hint::Pack => f.write_str("pack videos into it"),
            Hint::Verify => f.write_str("verify the data set to list the damage"),
            Hint::Repair => f.write_str("repair the data set"),
            Hint::Merge => f.write_str("merge the data sets into a new one"),
            Hint::Plan => f.write_str("divide a pack into parts"),
            Hint::Status => f.write_str("look at the status of the plan"),
            Hint::Part => f.write_str("pack the part again"),
            Hint::Publish => f.write_str("publish the plan"),
            Hint::Clock => f.write_str("let the clocks of the clips begin together"),
        }
    }
}

/// An error with its location: file, section, byte offset, clip and frame, as far as they are known.
///
/// `{}` prints this error without its cause, which [`source`](std::error::Error::source) returns. `{:#}` prints both.
///
/// ```
/// let e = vidrec::parse_bytes("12 parrots").unwrap_err();
/// assert_eq!(e.kind(), vidrec::ErrorKind::Usage);
/// assert!(e.to_string().contains("12 parrots"));
/// ```
pub struct Error(Box<Inner>);

#[derive(Default)]
struct Inner {
    kind: Option<ErrorKind>,
    rule: Option<&'static str>,
    message: String,
    file: Option<PathBuf>,
    section: Option<&'static str>,
    offset: Option<u64>,
    clip: Option<u64>,
    frame: Option<u32>,
    track: Option<String>,
    expected: Option<String>,
    found: Option<String>,
    help: Option<String>,
    hints: Vec<Hint>,
    shortage: Option<Shortage>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The remedy for a path that begins with `~`.
#[doc(hidden)]
pub const HOME: &str =
    "only a shell takes ~ for the home folder: write the whole path (in Python, os.path.expanduser gives it)";

/// The parts of an error, for the crates of vidrec.
#[doc(hidden)]
impl Error {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner { kind: Some(kind), message: message.into(), ..Inner::default() }))
    }

    /// An input/output error on `file`; `doing` completes "could not …". If the machine is at fault rather than the
    /// file, the error says so.
    pub fn io(doing: &str, file: impl AsRef<Path>, source: std::io::Error) -> Self {
        let is_of_home = source.kind() == std::io::ErrorKind::NotFound && file.as_ref().starts_with("~");
        let mut e = Self::new(ErrorKind::Io, format!("could not {doing}")).file(file).short_of(Shortage::of(&source));
        if is_of_home {
            e = e.help(HOME);
        }
        e.0.source = Some(Box::new(source));
        e
    }

    /// Bytes of an open file can no longer be read.
    pub fn lost(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Io, message)
    }

    /// There is no such file or object.
    pub fn missing(message: impl Into<String>) -> Self {
        let mut e = Self::new(ErrorKind::Io, message);
        e.0.source = Some(Box::new(std::io::Error::from(std::io::ErrorKind::NotFound)));
        e
    }

    /// A thread or a process could not be started; `what` completes "could not start …".
    pub fn start(what: &str, source: std::io::Error) -> Self {
        let e = Self::new(ErrorKind::Io, format!("could not start {what}"));
        let mut e = e.short_of(Shortage::of_start(&source));
        e.0.source = Some(Box::new(source));
        e
    }

    /// A thread pool could not be started.
    pub fn start_pool(threads: usize, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        let mut e = Self::new(ErrorKind::Resources, format!("could not start {threads} threads"));
        e = e.short_of(Some(Shortage::Threads));
        e.0.source = Some(Box::new(source));
        e
    }

    /// There is no memory for `what`, which needs `bytes` bytes.
    pub fn no_memory(what: &str, bytes: usize) -> Self {
        let message = format!("no memory for {what}: {bytes} bytes");
        Self::new(ErrorKind::Resources, message).short_of(Some(Shortage::Memory))
    }

    /// Blames the machine if there is a shortage, and adds what to do about it.
    pub fn short_of(self, shortage: Option<Shortage>) -> Self {
        match shortage {
            Some(shortage) => self.blame(shortage).help(shortage.help()),
            None => self,
        }
    }

    /// Blames the machine. The message already says what to do about it.
    pub fn blame(mut self, shortage: Shortage) -> Self {
        self.0.kind = Some(ErrorKind::Resources);
        self.0.shortage = Some(shortage);
        self
    }

    /// Whether there is no such file or object.
    pub fn is_missing(&self) -> bool {
        let source = self.0.source.as_ref().and_then(|e| e.downcast_ref::<std::io::Error>());
        source.is_some_and(|e| e.kind() == std::io::ErrorKind::NotFound)
    }

    /// Whether memory, or address space for a map, ran out.
    pub fn is_out_of_memory(&self) -> bool {
        self.0.shortage == Some(Shortage::Memory)
    }

    /// The resource that the machine ran out of, if a shortage caused the error.
    pub fn shortage(&self) -> Option<Shortage> {
        self.0.shortage
    }

    /// A file breaks a rule of the format. `rule` is an identifier from `format-spec/vidrec-v1.md`.
    pub fn format(rule: &'static str, message: impl Into<String>) -> Self {
        let mut e = Self::new(ErrorKind::Format, message);
        e.0.rule = Some(rule);
        e
    }

    pub fn limit(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Limit, message)
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    pub fn decode(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Decode, message)
    }

    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    pub fn interrupted(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Interrupted, message)
    }

    pub fn file(mut self, file: impl AsRef<Path>) -> Self {
        self.0.file = Some(file.as_ref().to_owned());
        self.of_its_place()
    }

    /// Replaces the hint to repair in an error about a remote file, because only local folders can be repaired.
    fn of_its_place(mut self) -> Self {
        let is_remote = self.0.file.as_ref().and_then(|file| file.to_str()).is_some_and(|file| file.contains("://"));
        if is_remote && self.0.hints.contains(&Hint::Repair) {
            self.0.hints.retain(|hint| *hint != Hint::Repair);
            return self.also_help("upload an intact copy again");
        }
        self
    }

    /// The same error without the file, for a report that already names it.
    pub fn without_file(mut self) -> Self {
        self.0.file = None;
        self
    }

    pub fn section(mut self, section: &'static str) -> Self {
        self.0.section = Some(section);
        self
    }

    pub fn at(mut self, offset: u64) -> Self {
        self.0.offset = Some(offset);
        self
    }

    pub fn in_clip(mut self, clip: u64) -> Self {
        self.0.clip = Some(clip);
        self
    }

    pub fn in_frame(mut self, frame: u32) -> Self {
        self.0.frame = Some(frame);
        self
    }

    pub fn in_track(mut self, name: &str) -> Self {
        self.0.track = Some(name.to_owned());
        self
    }

    pub fn expected(mut self, what: impl fmt::Display) -> Self {
        self.0.expected = Some(what.to_string());
        self
    }

    pub fn found(mut self, what: impl fmt::Display) -> Self {
        self.0.found = Some(what.to_string());
        self
    }

    /// Adds the checksum that was expected, and the one of the bytes that are there.
    pub fn crc32(self, expected: u32, found: u32) -> Self {
        self.expected(format!("{expected:#010x}")).found(format!("{found:#010x}"))
    }

    /// Adds the number of bytes that were expected, and of those that are there.
    pub fn bytes(self, expected: u64, found: u64) -> Self {
        self.expected(format!("{expected} bytes")).found(format!("{found} bytes"))
    }

    pub fn help(mut self, what: impl Into<String>) -> Self {
        self.0.help = Some(what.into());
        self
    }

    /// Adds an action that the caller can take, in a form that each program can put into its own words.
    pub fn hint(mut self, hint: Hint) -> Self {
        self.0.hints.push(hint);
        self.of_its_place()
    }

    /// Removes hints that mean nothing to the caller.
    pub fn without_hints(mut self, hints: &[Hint]) -> Self {
        self.0.hints.retain(|hint| !hints.contains(hint));
        self
    }

    /// Adds another suggestion to [`help`](Self::help).
    pub fn also_help(mut self, what: impl Into<String>) -> Self {
        let what = what.into();
        self.0.help = Some(self.0.help.map_or(what.clone(), |first| format!("{first}; {what}")));
        self
    }
}

impl Error {
    /// Formats this error with all its causes, as `{:#}` prints it, but uses `word` to put the hints into words. A
    /// program uses this to name its flags.
    ///
    /// ```
    /// let e = vidrec::parse_bytes("12 parrots").unwrap_err();
    /// assert_eq!(e.worded(|hint| format!("try {hint}")), format!("{e:#}"));
    /// ```
    #[doc(hidden)]
    pub fn worded(&self, word: impl Fn(Hint) -> String) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text, true, &word);
        text
    }

    fn write(&self, f: &mut dyn fmt::Write, causes: bool, word: &dyn Fn(Hint) -> String) -> fmt::Result {
        let e = &*self.0;
        // Much of the text comes from others: names, and answers of servers.
        let f: &mut dyn fmt::Write = &mut Printable(f);
        let place = [
            e.file.as_ref().map(|file| file.display().to_string()),
            e.clip.map(|clip| format!("clip {clip}")),
            e.frame.map(|frame| format!("frame {frame}")),
            e.track.as_ref().map(|track| format!("track \"{track}\"")),
            e.section.map(str::to_owned),
            e.offset.map(|offset| format!("byte {offset}")),
        ];
        place.iter().flatten().try_for_each(|part| write!(f, "{part}: "))?;
        f.write_str(&e.message)?;
        match (&e.expected, &e.found) {
            (Some(x), Some(y)) => write!(f, ": expected {x}, found {y}")?,
            (Some(x), None) => write!(f, ": expected {x}")?,
            (None, Some(y)) => write!(f, ": found {y}")?,
            (None, None) => {}
        }
        if let Some(rule) = e.rule {
            write!(f, " [{rule}]")?;
        }
        let mut cause = std::error::Error::source(self).filter(|_| causes);
        while let Some(e) = cause {
            write!(f, ": {e}")?;
            cause = e.source();
        }
        if let Some(help) = &e.help {
            write!(f, "; {help}")?;
        }
        for (i, hint) in e.hints.iter().enumerate() {
            write!(f, "{}{}", if i == 0 { "; " } else { ", or " }, word(*hint))?;
        }
        Ok(())
    }

    /// The remedies.
    #[doc(hidden)]
    pub fn hints(&self) -> &[Hint] {
        &self.0.hints
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind.unwrap_or(ErrorKind::Usage)
    }

    /// The identifier of the broken format rule, as listed in `format-spec/vidrec-v1.md`.
    pub fn rule(&self) -> Option<&'static str> {
        self.0.rule
    }

    /// The file at fault.
    pub fn path(&self) -> Option<&Path> {
        self.0.file.as_deref()
    }

    /// The byte offset in that file.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// The ordinal of the clip, counted from 0 in the shard or data set that the call was about.
    pub fn clip(&self) -> Option<u64> {
        self.0.clip
    }

    /// The ordinal of the frame, counted from 0 in its clip.
    pub fn frame(&self) -> Option<u32> {
        self.0.frame
    }

    /// The fault in words, without the location.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

/// `{}` prints this error; `{:#}` also prints its causes, each after a colon.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let causes = f.alternate();
        self.write(f, causes, &|hint| hint.to_string())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({:?}, \"{self}\"", self.kind())?;
        if let Some(source) = &self.0.source {
            fmt::Write::write_fmt(&mut Printable(f), format_args!(", caused by {source}"))?;
        }
        f.write_str(")")
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|e| e as _)
    }
}
