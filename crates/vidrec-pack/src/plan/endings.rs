//! File extensions that say which files of a folder are videos.
//!
//! The list is fixed, because the videos of a folder must not depend on how FFmpeg was built. A file that is
//! itself named as an input is always taken, whatever its extension.

use std::path::Path;

use super::pictures::is_picture;

/// Extensions that FFmpeg 5.1 names itself (`AVInputFormat.extensions`), of formats that carry video and that it
/// recognizes by their content. The list leaves out audio, single pictures, text, raw pictures without a header,
/// and extensions that mostly mean something else (`avs`, `cgi`, `dat`, `ism`, `str`, `v`, `vb`, `xl`).
const LISTED: [&str; 57] = [
    "264", "265", "3g2", "3gp", "avc", "avi", "avs2", "avs3", "bmv", "cdg", "cdxl", "dav", "dif", "dv", "f4v", "flm",
    "flv", "h261", "h264", "h265", "h26l", "hevc", "ifv", "imx", "ipu", "ismv", "ivr", "kux", "lvf", "m4v", "mj2",
    "mjpeg", "mjpg", "mk3d", "mkv", "mods", "moflex", "mov", "mp4", "mvi", "mxg", "nut", "obu", "ogg", "psp", "rcv",
    "sdr2", "ser", "sga", "ty", "ty+", "vc1", "viv", "webm", "xmv", "y4m", "yop",
];

/// Usual extensions of formats for which FFmpeg names none: ASF, MPEG program and transport streams, MXF, GXF,
/// RealMedia, animations, recorders and games. The list also has further extensions of Ogg, QuickTime and raw
/// streams.
const UNLISTED: [&str; 69] = [
    "3gp2", "3gpp", "4xm", "amv", "apng", "asf", "bik", "cine", "dirac", "divx", "dnxhd", "drc", "dvr-ms", "dxa",
    "evo", "flc", "fli", "gif", "gxf", "h263", "hnm", "insv", "ivf", "lrv", "lxf", "m1v", "m2p", "m2t", "m2ts", "m2v",
    "mlv", "mp4v", "mpe", "mpeg", "mpg", "mpv", "mts", "mtv", "mve", "mxf", "nsv", "nuv", "ogm", "ogv", "ogx", "pmp",
    "pva", "qt", "r3d", "rl2", "rm", "rmvb", "roq", "rpl", "san", "smk", "swf", "thp", "tod", "tp", "trp", "ts", "vid",
    "vmd", "vob", "vqa", "wmv", "wtv", "xvid",
];

/// Whether a file counts as a video by its name: it has one of these extensions, in upper or lower case, or no
/// extension.
pub(super) fn has_video_ending(path: &Path) -> bool {
    let Some(ending) = path.extension() else { return true };
    LISTED.iter().chain(&UNLISTED).any(|known| ending.eq_ignore_ascii_case(known))
}

/// Whether a file is a clip by its name: a video or, if each picture is a clip, a picture.
pub(super) fn is_clip(path: &Path, images: bool) -> bool {
    if images { is_picture(path) } else { has_video_ending(path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_known_in_any_case() {
        for name in ["a.mp4", "a/b.MP4", "a.Ogg", "a.y4m", "a.gxf", "a.ogv", "noextension", "x.ty+"] {
            assert!(has_video_ending(Path::new(name)), "{name}");
        }
        for name in ["a.mp3", "a.txt", "a.jpg", "a.srt", "a.yuv", "a.mp4.part", "a."] {
            assert!(!has_video_ending(Path::new(name)), "{name}");
        }
    }
}
