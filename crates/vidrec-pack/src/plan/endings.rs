//! File extensions that say which files of a folder are videos.
//!
//! The list is fixed, because the videos of a folder must not depend on how FFmpeg was built. A file that is
//! itself named as an input is always taken, whatever its extension.

use std::path::Path;

use super::pictures::is_picture;

/// The file that makes a folder a data set of LeRobot.
pub(super) const LEROBOT_INFO: &str = "meta/info.json";

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
    use std::collections::BTreeSet;

    use super::*;
    use crate::video::demuxer_endings;

    /// The other extensions that FFmpeg 5.1 names.
    const NO_VIDEO: [&str; 183] = [
        "302",
        "669",
        "722",
        "aa",
        "aa3",
        "aac",
        "aax",
        "ac3",
        "acm",
        "adf",
        "adp",
        "ads",
        "adx",
        "aea",
        "afc",
        "aix",
        "al",
        "amf",
        "ams",
        "ans",
        "ape",
        "apl",
        "aptx",
        "aptxhd",
        "aqt",
        "art",
        "asc",
        "ast",
        "avif",
        "avr",
        "avs",
        "bcstm",
        "bfstm",
        "binka",
        "bit",
        "bitpacked",
        "brstm",
        "c2",
        "cdata",
        "cgi",
        "cif",
        "dat",
        "daud",
        "dbm",
        "dfpwm",
        "digi",
        "diz",
        "dmf",
        "dsm",
        "dss",
        "dtk",
        "dtm",
        "dts",
        "dtshd",
        "eac3",
        "fap",
        "far",
        "flac",
        "fsb",
        "fwse",
        "g722",
        "g723_1",
        "g729",
        "gdm",
        "genh",
        "gsm",
        "hca",
        "ice",
        "idf",
        "idx",
        "imf",
        "ircam",
        "ism",
        "isma",
        "it",
        "j2b",
        "j2k",
        "m15",
        "m2a",
        "m4a",
        "m4b",
        "mac",
        "mca",
        "mcc",
        "mdl",
        "med",
        "mka",
        "mks",
        "mlp",
        "mmcmp",
        "mms",
        "mo3",
        "mod",
        "mp2",
        "mp3",
        "mpa",
        "mpc",
        "mpl2",
        "mpo",
        "mptm",
        "msbc",
        "msf",
        "mt2",
        "mtaf",
        "mtm",
        "musx",
        "nfo",
        "nist",
        "nsp",
        "nst",
        "okt",
        "oma",
        "omg",
        "paf",
        "pjs",
        "plm",
        "ppm",
        "psm",
        "pt36",
        "ptm",
        "pvf",
        "qcif",
        "rco",
        "rgb",
        "rsd",
        "rso",
        "rt",
        "s3m",
        "sami",
        "sb",
        "sbc",
        "sbg",
        "scc",
        "sds",
        "sdx",
        "sf",
        "sfx",
        "sfx2",
        "shn",
        "sln",
        "smi",
        "son",
        "sph",
        "ss2",
        "st26",
        "stk",
        "stl",
        "stm",
        "stp",
        "str",
        "sub",
        "sup",
        "svag",
        "svs",
        "sw",
        "tak",
        "tco",
        "thd",
        "tta",
        "txt",
        "ub",
        "ul",
        "ult",
        "umx",
        "uw",
        "v",
        "v210",
        "vag",
        "vb",
        "vpk",
        "vqe",
        "vqf",
        "vql",
        "vt",
        "vtt",
        "wow",
        "wsd",
        "xl",
        "xm",
        "xpk",
        "xvag",
        "yuv",
        "yuv10",
    ];

    #[test]
    fn endings_are_known_in_any_case() {
        for name in ["a.mp4", "a/b.MP4", "a.Ogg", "a.y4m", "a.gxf", "a.ogv", "noextension", "x.ty+"] {
            assert!(has_video_ending(Path::new(name)), "{name}");
        }
        for name in ["a.mp3", "a.txt", "a.jpg", "a.srt", "a.yuv", "a.mp4.part", "a."] {
            assert!(!has_video_ending(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn every_ending_of_ffmpeg_is_decided_on() {
        let [listed, unlisted, others] = [&LISTED[..], &UNLISTED, &NO_VIDEO].map(BTreeSet::from_iter);
        assert_eq!(listed.len() + unlisted.len() + others.len(), LISTED.len() + UNLISTED.len() + NO_VIDEO.len());
        assert!(listed.is_disjoint(&unlisted) && listed.is_disjoint(&others) && unlisted.is_disjoint(&others));
        let (major, theirs) = demuxer_endings();
        for ending in theirs.iter().map(String::as_str).filter(|_| major == 59) {
            assert!(listed.contains(&ending) || others.contains(&ending), "{ending} of FFmpeg is in none of the lists");
        }
    }
}
