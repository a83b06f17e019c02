//! Every way to store color, against ffmpeg's own picture.

use vidrec::video::FrameSize;

use crate::video::support::{all, clips, psnr, psnrs};

/// Blurred, so that 4:2:0 loses nothing to speak of and what differs is the conversion.
const SOURCE: &str = "testsrc2=s=322x242:r=5,gblur=sigma=14";

/// Lossless clips: what differs from ffmpeg's picture is vidrec's. At 40 dB the mean error is 2.5 of 255; a wrong
/// range or matrix is below 25 dB, and chroma off by half a sample is seen at 40 dB on sharp content only.
#[test]
fn pixel_formats_matrices_and_ranges() {
    let Some(clips) = clips() else { return };
    let cases = [
        ("yuv420p", "", ("bt601", "limited", "left")),
        ("yuv420p", "-colorspace bt709 -color_range tv", ("bt709", "limited", "left")),
        ("yuv420p", "-colorspace bt709 -color_range pc", ("bt709", "full", "left")),
        ("yuv420p", "-colorspace smpte170m", ("bt601", "limited", "left")),
        ("yuv420p", "-colorspace bt2020nc", ("bt2020", "limited", "left")),
        ("yuv420p", "-colorspace smpte240m", ("smpte240m", "limited", "left")),
        ("yuv420p", "-colorspace fcc", ("fcc", "limited", "left")),
        ("yuv420p", "-chroma_sample_location center", ("bt601", "limited", "center")),
        ("yuv420p", "-chroma_sample_location topleft", ("bt601", "limited", "topleft")),
        ("yuv420p10le", "-colorspace bt709", ("bt709", "limited", "left")),
        ("yuv420p10le", "-color_range pc", ("bt601", "full", "left")),
        ("yuv420p16le", "-color_range pc", ("bt601", "full", "left")),
        ("yuv422p", "-colorspace bt709", ("bt709", "limited", "left")),
        ("yuv422p10le", "", ("bt601", "limited", "left")),
        ("yuv444p", "-colorspace bt709", ("bt709", "limited", "none")),
        ("yuv444p12le", "-color_range pc", ("bt601", "full", "none")),
        ("yuv440p", "", ("bt601", "limited", "center")),
        ("yuv411p", "", ("bt601", "limited", "left")),
        ("yuv410p", "", ("bt601", "limited", "center")),
        ("yuva420p", "", ("bt601", "limited", "left")),
        ("gray", "", ("bt601", "full", "none")),
        ("gray10le", "", ("bt601", "full", "none")),
        ("bgr0", "", ("bt601", "full", "none")),
        ("gbrp10le", "", ("bt601", "full", "none")),
    ];
    for (i, (format, tags, facts)) in cases.into_iter().enumerate() {
        let path = clips.make("c.mkv", &format!("-f lavfi -i {SOURCE} -frames:v 2 -pix_fmt {format} {tags} -c:v ffv1"));
        check(&path, i, &format!("{format} {tags}"), facts);
    }
}

#[test]
fn packed_formats_and_palettes() {
    let Some(clips) = clips() else { return };
    let cases = [
        ("yuyv422", "p.nut", "rawvideo"),
        ("uyvy422", "p.nut", "rawvideo"),
        ("nv12", "p.nut", "rawvideo"),
        ("nv21", "p.nut", "rawvideo"),
        ("rgb24", "p.nut", "rawvideo"),
        ("bgr24", "p.avi", "rawvideo"),
        ("ya8", "p.nut", "rawvideo"),
        ("rgb48be", "p.mkv", "png"),
        ("yuvj422p", "p.avi", "mjpeg -q:v 1"),
    ];
    for (i, (format, name, codec)) in cases.into_iter().enumerate() {
        let path = clips.make(name, &format!("-f lavfi -i {SOURCE} -frames:v 2 -pix_fmt {format} -c:v {codec}"));
        let video = all(&path, FrameSize::Original).unwrap();
        let f = &video.facts;
        let facts = (f.matrix.clone(), f.range.clone(), f.chroma_location.clone());
        check(&path, i, &format!("{format} {codec}"), (&facts.0, &facts.1, &facts.2));
    }
    // A palette dithers, and five bits make steps: such chroma does not survive 4:2:0. Bounds that a wrong picture fails.
    for (name, args, bound) in [("p.gif", "", 20.0), ("p.nut", "-pix_fmt rgb565le -c:v rawvideo", 32.0)] {
        let path = clips.make(name, &format!("-f lavfi -i {SOURCE} -frames:v 2 {args}"));
        let db = psnr(&path, &all(&path, FrameSize::Original).unwrap());
        assert!(db > bound, "{name}: {db} dB");
    }
}

/// At its own size, and at one of five others in turn.
fn check(path: &std::path::Path, turn: usize, what: &str, facts: (&str, &str, &str)) {
    // 322 is the size itself; 121 exercises odd chroma; 32 goes far down; 500 goes up.
    let others = [
        FrameSize::ShortSide(120),
        FrameSize::Exact { width: 161, height: 121 },
        FrameSize::ShortSide(32),
        FrameSize::Exact { width: 500, height: 400 },
        FrameSize::Exact { width: 322, height: 120 },
    ];
    let sizes = [FrameSize::Original, others[turn % 5]];
    let videos = sizes.map(|size| all(path, size).unwrap());
    for ((size, video), db) in sizes.into_iter().zip(&videos).zip(psnrs(path, &videos)) {
        let f = &video.facts;
        assert_eq!((&*f.matrix, &*f.range, &*f.chroma_location), facts, "{what}");
        let bound = if size == FrameSize::ShortSide(32) { 34.0 } else { 40.0 };
        assert!(db > bound, "{what} {size:?}: {db:.1} dB");
    }
}

/// FFmpeg's scaler takes two steps of its own for long ways, and forgets the range: white became 235.
#[test]
fn white_stays_white_however_far_it_is_scaled() {
    let Some(clips) = clips() else { return };
    for (format, range) in [("gbrp", "pc"), ("yuv444p", "pc"), ("yuv420p10le", "pc"), ("yuv420p", "tv")] {
        let source = format!("color=white:s=3840x160:r=1,scale=out_range={range},format={format}");
        let path = clips.make("w.mkv", &format!("-f lavfi -i {source} -frames:v 1 -color_range {range} -c:v ffv1"));
        for (width, height) in [(3840, 160), (1920, 80), (120, 5), (56, 160), (8, 8), (1, 1)] {
            let image = &all(&path, FrameSize::Exact { width, height }).unwrap().frames[0].image;
            // ffmpeg's own way to 10-bit full range ends at 1019.
            assert!(image.y.iter().all(|&v| v >= 254), "{format} {width}x{height}: {:?}", &image.y[..1]);
            assert!(image.cb.iter().chain(&image.cr).all(|&v| v == 128), "{format} {width}x{height}");
        }
    }
}
