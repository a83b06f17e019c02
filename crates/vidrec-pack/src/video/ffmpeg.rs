//! Collects the messages that FFmpeg logs while it works for one video.
//!
//! FFmpeg has one log callback per process. A caller of FFmpeg listens during the call, on its own thread. This
//! works because decoders and demuxers are opened with one thread, so they log on the thread that calls them.
//! Nothing is printed. Messages outside of these calls are dropped.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Once;

use ffmpeg_next::software::scaling;
use ffmpeg_next::{codec, ffi, format};

/// The messages of one or several calls, at error level or worse.
#[derive(Debug, Default, Clone)]
pub(super) struct LoggedErrors {
    pub errors: u64,
    /// The text of the first message, cleaned.
    pub first: Option<String>,
}

impl LoggedErrors {
    fn note(&mut self, text: impl FnOnce() -> String) {
        self.errors += 1;
        self.first.get_or_insert_with(text);
    }

    /// Adds messages that were logged later, during `doing`.
    pub fn add(&mut self, later: LoggedErrors, doing: &str) {
        self.errors += later.errors;
        self.first = self.first.take().or(later.first.map(|text| format!("{doing}: {text}")));
    }
}

thread_local! {
    static LISTENER: RefCell<Option<LoggedErrors>> = const { RefCell::new(None) };
}

/// Runs `work`, and returns the errors that FFmpeg logs meanwhile on this thread.
pub(super) fn collect_errors<R>(work: impl FnOnce() -> R) -> (R, LoggedErrors) {
    let outer = LISTENER.replace(Some(LoggedErrors::default()));
    let result = work();
    (result, LISTENER.replace(outer).unwrap_or_default())
}

/// Takes over FFmpeg's log messages, for the whole process.
pub(super) fn take_over() {
    // SAFETY: `on_message` may be called at any time and on any thread: it touches only its arguments and what belongs
    // to its thread.
    unsafe { av_log_set_callback(Some(on_message)) }
}

/// FFmpeg's `va_list`. Every ABI that vidrec is built for passes it to a function as one pointer. On x86-64
/// (System V) and 64-bit ARM (AAPCS64 6.8.2, C.4: a composite of more than 16 bytes goes by reference), the
/// pointer points to a structure. On the others, it is the `va_list` itself.
type Arguments = *mut c_void;

type Callback = unsafe extern "C" fn(*mut c_void, c_int, *const c_char, Arguments);

// This is declared again, because bindgen's type for a `va_list` differs between platforms.
#[allow(clashing_extern_declarations)]
unsafe extern "C" {
    fn av_log_set_callback(callback: Option<Callback>);
    fn av_log_format_line2(
        context: *mut c_void,
        level: c_int,
        format: *const c_char,
        arguments: Arguments,
        line: *mut c_char,
        line_size: c_int,
        print_prefix: *mut c_int,
    ) -> c_int;
}

/// Receives every message of every thread.
///
/// # Safety
///
/// FFmpeg calls this: `format` is a C string that fits `arguments`, and `context` is null or points to a structure
/// that starts with its `AVClass`.
unsafe extern "C" fn on_message(context: *mut c_void, level: c_int, format: *const c_char, arguments: Arguments) {
    // The bytes above the lowest hold a color.
    if level & 0xff > ffi::AV_LOG_ERROR {
        return;
    }
    // Either call may be refused: the thread may be ending, or a message may come while another one is being
    // recorded.
    let _ = LISTENER.try_with(|listener| {
        if let Ok(mut listener) = listener.try_borrow_mut()
            && let Some(logged) = listener.as_mut()
        {
            // SAFETY: the arguments are those that FFmpeg gave for this one call, and are used once.
            logged.note(|| clean(&unsafe { format_line(context, level, format, arguments) }));
        }
    });
}

/// Returns the text of a message, without FFmpeg's prefix, which contains an address.
///
/// # Safety
///
/// The requirements of [`on_message`] apply. `arguments` must not have been used before.
unsafe fn format_line(context: *mut c_void, level: c_int, format: *const c_char, arguments: Arguments) -> String {
    let mut line = [0u8; 512];
    let mut print_prefix = 0;
    // SAFETY: by this function's contract; at most `line.len()` bytes are written to `line`, the last of them a zero.
    unsafe {
        let size = line.len() as c_int;
        av_log_format_line2(context, level, format, arguments, line.as_mut_ptr().cast(), size, &raw mut print_prefix)
    };
    CStr::from_bytes_until_nul(&line).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The longest text to keep of a message, in characters.
const MAX_TEXT: usize = 160;

/// Returns one line of printable characters, cut to [`MAX_TEXT`].
///
/// It omits long hexadecimal numbers, because an address differs in every run.
fn clean(text: &str) -> String {
    let is_address = |word: &str| word.find("0x").is_some_and(|at| word[at + 2..].len() > 8);
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = words.map(|word| if is_address(word) { "0x…" } else { word }).collect::<Vec<_>>().join(" ");
    let line = line.trim_end_matches('.');
    match line.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Prepares FFmpeg. Further calls cost little.
///
/// Loads its error texts. Also takes over its log messages in the whole process, to count them
/// ([`VideoFacts::logged_errors`](super::VideoFacts::logged_errors)) and never print them.
pub fn init() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // This only loads error texts; nothing in it can fail.
        let _ = ffmpeg_next::init();
        ffmpeg_next::log::set_level(ffmpeg_next::log::Level::Quiet);
        take_over();
    });
}

/// Returns the versions of FFmpeg's libraries in use, such as `libavcodec 59.37.100, libavformat 59.27.100,
/// libswscale 6.7.100`.
///
/// The same file, options and versions give the same pictures.
#[must_use]
pub fn ffmpeg_version() -> String {
    let (avcodec, avformat, swscale) =
        (dotted(codec::version()), dotted(format::version()), dotted(scaling::version()));
    format!("libavcodec {avcodec}, libavformat {avformat}, libswscale {swscale}")
}

/// Returns one line with the FFmpeg libraries that this build decodes with, their versions and their license.
///
/// ```
/// assert!(vidrec::video::libraries().starts_with("libavformat "));
/// ```
#[must_use]
pub fn libraries() -> String {
    // Only scripts/build_ffmpeg.sh configures FFmpeg this way. No distribution does.
    let inside = codec::configuration().contains("--disable-shared");
    let linked = if inside { "inside" } else { "of the system" };
    format!(
        "libavformat {}, libavcodec {}, libswscale {} ({linked}, {})",
        dotted(format::version()),
        dotted(codec::version()),
        dotted(scaling::version()),
        codec::license(),
    )
}

/// Formats a version number of FFmpeg, which has major, minor and micro in 16, 8 and 8 bits.
fn dotted(version: u32) -> String {
    format!("{}.{}.{}", version >> 16, (version >> 8) & 0xff, version & 0xff)
}

#[cfg(test)]
mod tests {
    use std::ptr::null_mut;

    use super::*;

    fn log(level: c_int, text: &CStr) {
        // SAFETY: the format takes one string, which is given.
        unsafe { ffi::av_log(null_mut(), level, c"%s of %d\n".as_ptr(), text.as_ptr(), 7) }
    }

    #[test]
    fn errors_of_the_own_thread_are_heard() {
        super::super::init();
        let ((), logged) = collect_errors(|| {
            log(ffi::AV_LOG_WARNING, c"a warning");
            log(ffi::AV_LOG_ERROR, c"first\n\x1b one");
            log(ffi::AV_LOG_FATAL, c"second");
            std::thread::spawn(|| log(ffi::AV_LOG_ERROR, c"another thread's")).join().unwrap();
            let ((), inner) = collect_errors(|| log(ffi::AV_LOG_ERROR, c"inner"));
            assert_eq!((inner.errors, inner.first.as_deref()), (1, Some("inner of 7")));
        });
        assert_eq!((logged.errors, logged.first.as_deref()), (2, Some("first one of 7")));
        log(ffi::AV_LOG_ERROR, c"nobody listens");
        assert_eq!(collect_errors(|| ()).1.errors, 0);
    }

    #[test]
    fn a_long_message_is_cut_and_an_address_left_out() {
        super::super::init();
        let long = std::ffi::CString::new("ä".repeat(2000)).unwrap();
        let first = collect_errors(|| log(ffi::AV_LOG_ERROR, &long)).1.first.unwrap();
        assert!(first.chars().count() == MAX_TEXT + 1 && first.ends_with('…'), "{first}");
        assert_eq!(clean("at 0x7ffe12345678, offset 0x2110a."), "at 0x… offset 0x2110a");
        assert_eq!(clean("\t \n"), "");
    }
}
