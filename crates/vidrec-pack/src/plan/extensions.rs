//! Folders of pictures: which files are pictures, and their order.

use std::fs;
use std::path::{Path, PathBuf};

use vidrec_core::source_name::{NaturalOrder, is_hidden};
use vidrec_format::error::{Error, Result};

/// Extensions of pictures that can be the frames of a clip.
const PICTURE_ENDINGS: [&str; 4] = ["jpg", "jpeg", "png", "webp"];

/// Returns the pictures of a folder in the natural order of their names: `img_2.jpg` before `img_10.jpg`.
///
/// Hidden files do not count.
///
/// # Errors
///
/// The folder cannot be listed, or an entry cannot be looked at.
pub(crate) fn pictures(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    let failed = |e| Error::io("list the folder", folder, e);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let is_listed = is_picture(&path) && !is_hidden(path.file_name().unwrap_or_default());
        if is_listed && fs::metadata(&path).map_err(|e| Error::io("look at the picture", &path, e))?.is_file() {
            paths.push(path);
        }
    }
    paths.sort_by_cached_key(|path| NaturalOrder::of_file(path));
    Ok(paths)
}

pub(super) fn is_picture(path: &Path) -> bool {
    path.extension().is_some_and(|e| PICTURE_ENDINGS.iter().any(|p| e.eq_ignore_ascii_case(p)))
}

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
