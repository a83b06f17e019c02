//! Reads what a packet says about itself before it is decoded: whether other pictures refer to its picture, whether
//! decoding can start with it, and which parameter sets it has.
//!
//! This reports only what a codec's own standard guarantees, and only for the codecs below. `None` means "not
//! understood"; the whole stream is then decoded. Memory safety does not depend on anything here.

use ffmpeg_next::codec::{self, Id};

/// The dependence of the rest of the stream on the picture in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PacketRole {
    /// Nothing from this packet on refers to anything before it, so decoding can start here.
    Restart,
    /// Later pictures may refer to it.
    Reference,
    /// No other picture refers to it, unless it is in a lower temporal layer than the stream's highest.
    Disposable,
}

/// The properties of one packet, known without decoding it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PacketInfo {
    pub role: PacketRole,
    /// Whether the decoder outputs the packet's picture. An understood packet has at most one such picture.
    pub shown: bool,
    /// The temporal layer; 0 in streams without layers.
    pub layer: u8,
    /// Whether the picture may be shown before one that is decoded earlier.
    pub moves_ahead: bool,
}

impl PacketInfo {
    fn plain(role: PacketRole) -> Self {
        PacketInfo { role, shown: true, layer: 0, moves_ahead: false }
    }
}

/// The syntax of the packets of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// H.264 as in MP4, Matroska and FLV: the length of each NAL unit comes before it and has this many bytes.
    H264 {
        length_bytes: usize,
    },
    /// HEVC in the same containers.
    Hevc {
        length_bytes: usize,
    },
    Vp8,
    Vp9,
    Av1,
    /// JPEGs, which may leave their tables to an earlier one.
    Jpeg,
    /// Every picture stands alone.
    Intra,
}

impl Syntax {
    /// Returns the syntax of a stream, if it is one of these.
    pub fn of(codec: Id, extradata: &[u8]) -> Option<Self> {
        // Byte 0 is 1 in the configuration records of ISO/IEC 14496-15; Annex B streams begin with zeros.
        let length_bytes = |at: usize| {
            let configuration = extradata.first() == Some(&1);
            extradata.get(at).filter(|_| configuration).map(|b| usize::from(b & 3) + 1)
        };
        match codec {
            Id::H264 => Some(Syntax::H264 { length_bytes: length_bytes(4)? }),
            Id::HEVC => Some(Syntax::Hevc { length_bytes: length_bytes(21)? }),
            Id::VP8 => Some(Syntax::Vp8),
            Id::VP9 => Some(Syntax::Vp9),
            Id::AV1 => Some(Syntax::Av1),
            Id::MJPEG => Some(Syntax::Jpeg),
            Id::PRORES | Id::DNXHD => Some(Syntax::Intra),
            _ => None,
        }
    }

    /// Returns a codec whose streams have this syntax.
    pub fn codec(self) -> Id {
        match self {
            Syntax::H264 { .. } => Id::H264,
            Syntax::Hevc { .. } => Id::HEVC,
            Syntax::Vp8 => Id::VP8,
            Syntax::Vp9 => Id::VP9,
            Syntax::Av1 => Id::AV1,
            Syntax::Jpeg => Id::MJPEG,
            Syntax::Intra => Id::PRORES,
        }
    }

    /// Reads the data of one packet.
    pub fn read(self, data: &[u8]) -> Option<PacketInfo> {
        match self {
            Syntax::H264 { length_bytes } => h264(Units { data, length_bytes }),
            Syntax::Hevc { length_bytes } => hevc(Units { data, length_bytes }),
            Syntax::Vp8 => vp8(data),
            Syntax::Vp9 => vp9(data),
            Syntax::Av1 => av1(data),
            Syntax::Jpeg => jpeg(data),
            Syntax::Intra => Some(PacketInfo::plain(PacketRole::Restart)),
        }
    }
}

/// Returns the bytes that a container has for the decoder of a stream.
pub(super) fn extradata(parameters: &codec::Parameters) -> &[u8] {
    // SAFETY: `parameters` is live; `extradata` is null or points to `extradata_size` bytes that it owns.
    unsafe {
        let p = &*parameters.as_ptr();
        match (p.extradata.is_null(), usize::try_from(p.extradata_size)) {
            (false, Ok(size)) => std::slice::from_raw_parts(p.extradata, size),
            _ => &[],
        }
    }
}

/// The NAL units of a packet; an `Err` if the lengths do not add up.
pub(super) struct Units<'a> {
    pub data: &'a [u8],
    pub length_bytes: usize,
}

impl<'a> Iterator for Units<'a> {
    type Item = Result<&'a [u8], ()>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.data.is_empty() {
            return None;
        }
        let unit = self.data.split_at_checked(self.length_bytes).and_then(|(length, rest)| {
            let length = length.iter().fold(0, |n, &b| n << 8 | usize::from(b)); // at most 4 bytes
            rest.split_at_checked(length)
        });
        let Some((unit, rest)) = unit else {
            self.data = &[];
            return Some(Err(()));
        };
        self.data = rest;
        Some(Ok(unit))
    }
}

/// Reads the markers of a JPEG up to its first scan, by ITU-T T.81, annex B. FFmpeg's decoder keeps tables and what it
/// learns of some comments and application data, so only a JPEG stands alone that has its tables and nothing of the latter.
fn jpeg(data: &[u8]) -> Option<PacketInfo> {
    let (mut rest, mut quantizers, mut codes) = (data.strip_prefix(b"\xff\xd8")?, false, false);
    loop {
        let ([0xff, marker, high, low], _) = rest.split_first_chunk::<4>()? else { return None };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let segment = rest.get(4..length.checked_add(2)?)?;
        match marker {
            0xda => return (quantizers && codes).then(|| PacketInfo::plain(PacketRole::Restart)),
            0xdb => quantizers = true,
            0xc4 => codes = true,
            0xc0 | 0xdd => {}
            0xe0 if segment.starts_with(b"JFIF\0") => {}
            // FFmpeg's encoder names itself like this.
            0xfe if segment.starts_with(b"Lavc") => {}
            _ => return None,
        }
        rest = &rest[2 + length..];
    }
}

/// Reads a packet by ITU-T H.264, 7.3.1, 7.4.1 and table 7-1.
///
/// After an IDR picture nothing refers to what came before it (7.4.1.2.4). Nothing refers to a picture whose slices
/// have `nal_ref_idc` 0. A packet of two fields has two first slices and is not understood.
fn h264(units: Units) -> Option<PacketInfo> {
    let (mut pictures, mut slices, mut idr, mut unreferenced) = (0, 0, 0, 0);
    let mut moves_ahead = false;
    for unit in units {
        let unit = unit.ok()?;
        let &header = unit.first()?; // FFmpeg refuses packets with empty units
        match header & 0x9f {
            kind @ (1 | 5) => {
                slices += 1;
                idr += u32::from(kind == 5);
                unreferenced += u32::from(header & 0x60 == 0);
                // `first_mb_in_slice` is 0 if its Exp-Golomb code is a single 1.
                let &start = unit.get(1)?;
                pictures += u32::from(start & 0x80 != 0);
                moves_ahead |= start & 0x80 != 0 && is_b_slice(start);
            }
            6..=9 | 12 | 13 | 15 => {}
            _ => return None, // data partitions, ends of sequences, extensions, the forbidden bit
        }
    }
    let role = match (idr, unreferenced) {
        _ if pictures != 1 => return None,
        (0, 0) => PacketRole::Reference,
        (0, n) if n == slices => PacketRole::Disposable,
        (n, 0) if n == slices => PacketRole::Restart,
        _ => return None, // slices that contradict each other
    };
    Some(PacketInfo { moves_ahead, ..PacketInfo::plain(role) })
}

/// Whether the code after the first bit of a first slice is that of a B slice: 1 or 6 (`slice_type`, table 7-6).
fn is_b_slice(start: u8) -> bool {
    start & 0x70 == 0b010 << 4 || start & 0x7c == 0b00111 << 2
}

/// Reads a packet by ITU-T H.265, 7.3.1.2 and table 7-1.
///
/// After an IDR picture nothing refers to what came before it. Only a higher temporal layer may refer to a sub-layer
/// non-reference picture (an even type below 16).
fn hevc(units: Units) -> Option<PacketInfo> {
    let (mut pictures, mut first) = (0, None);
    for unit in units {
        let unit = unit.ok()?;
        let &[a, b, ..] = unit else { return None };
        let (kind, spatial, temporal) = (a >> 1, (a & 1) << 5 | b >> 3, (b & 7).checked_sub(1)?);
        if spatial != 0 {
            return None; // several layers or views
        }
        match kind {
            0..=9 | 16..=21 => {
                if *first.get_or_insert((kind, temporal)) != (kind, temporal) {
                    return None;
                }
                pictures += u32::from(unit.get(2)? & 0x80 != 0); // first_slice_segment_in_pic_flag
            }
            32..=35 | 38..=40 | 62 => {} // parameter sets, delimiter, filler, SEI; Dolby Vision's metadata
            _ => return None,            // ends of sequences, reserved types, the forbidden bit
        }
    }
    let (kind, layer) = first.filter(|_| pictures == 1)?;
    let role = match kind {
        19 | 20 => PacketRole::Restart,
        0 | 2 | 4 | 6 | 8 => PacketRole::Disposable,
        _ => PacketRole::Reference,
    };
    // The types of slices come after parameters. So only pictures at which decoding can start are certain not to
    // move ahead.
    let moves_ahead = kind < 16;
    Some(PacketInfo { layer, moves_ahead, ..PacketInfo::plain(role) })
}

/// Reads a frame by RFC 6386, 9.1. A key frame replaces all three references and every probability.
///
/// All other frames count as references: even one that replaces no picture may change probabilities.
fn vp8(data: &[u8]) -> Option<PacketInfo> {
    let &[tag, ..] = data else { return None };
    let role = if tag & 1 == 0 { PacketRole::Restart } else { PacketRole::Reference };
    Some(PacketInfo { shown: tag & 0x10 != 0, ..PacketInfo::plain(role) })
}

/// Reads a packet by the VP9 bitstream specification, 6.2 and annex B. A key frame replaces all eight references
/// and every context.
///
/// All other frames count as references. A frame that replaces no picture may still change contexts, and the next
/// frame may use its motion vectors.
fn vp9(data: &[u8]) -> Option<PacketInfo> {
    let (mut shown, mut role) = (0, None);
    for frame in vp9_frames(data)? {
        let mut bits = frame.first().map(|&b| u32::from(b))?;
        let mut next = |n: u32| {
            let value = bits >> (8 - n) & ((1 << n) - 1);
            bits = bits << n & 0xff;
            value
        };
        if next(2) != 2 {
            return None;
        }
        let profile = next(1) | next(1) << 1;
        if profile == 3 {
            next(1);
        }
        let (existing, inter, show) = (next(1) == 1, next(1) == 1, next(1) == 1);
        shown += u32::from(existing || show);
        // Decoding can start at a packet if its first frame is a key frame.
        role.get_or_insert(if existing || inter { PacketRole::Reference } else { PacketRole::Restart });
    }
    Some(PacketInfo { shown: shown == 1, ..PacketInfo::plain(role.filter(|_| shown <= 1)?) })
}

/// Returns the frames of a VP9 packet, which may be a superframe with an index at its end.
fn vp9_frames(data: &[u8]) -> Option<Vec<&[u8]>> {
    let &marker = data.last()?;
    if marker & 0xe0 != 0xc0 {
        return Some(vec![data]);
    }
    let (count, size_bytes) = (usize::from(marker & 7) + 1, usize::from(marker >> 3 & 3) + 1);
    let index_at = data.len().checked_sub(2 + count * size_bytes)?;
    let (mut frames, index) = data.split_at(index_at);
    if index.first() != Some(&marker) {
        return Some(vec![data]);
    }
    let sizes = index[1..index.len() - 1].chunks_exact(size_bytes);
    sizes
        .map(|size| {
            let size = size.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b)); // at most 4 bytes, little-endian
            let (frame, rest) = frames.split_at_checked(size)?;
            frames = rest;
            Some(frame)
        })
        .collect()
}

/// Reads a temporal unit by the AV1 bitstream specification, 5.9.2 and 7.20. A key frame that is shown replaces all eight
/// references and every context.
///
/// All other frames count as references: which of them replace nothing follows much later in their headers.
fn av1(data: &[u8]) -> Option<PacketInfo> {
    let (mut shown, mut role) = (0, None);
    for unit in obus(data) {
        let unit = unit.ok()?;
        let first = || unit.payload.first().copied();
        match unit.kind {
            // Pictures that are no video have shorter headers of frames.
            SEQUENCE_HEADER if first()? & 0x10 != 0 => return None,
            _ if unit.layers.1 != 0 => return None,
            // A frame, with its header alone or with the rest.
            3 | 6 => {
                let bits = first()?;
                let (existing, kind, show) = (bits & 0x80 != 0, bits >> 5 & 3, bits & 0x10 != 0);
                shown += u32::from(existing || show);
                let restarts = !existing && kind == 0 && show;
                role.get_or_insert(if restarts { PacketRole::Restart } else { PacketRole::Reference });
            }
            // Sequence headers, delimiters, tiles, metadata, copies of headers and padding.
            SEQUENCE_HEADER | 2 | 4 | 5 | 7 | 15 => {}
            _ => return None,
        }
    }
    Some(PacketInfo { shown: shown == 1, ..PacketInfo::plain(role.filter(|_| shown <= 1)?) })
}

/// The type of an OBU with what all pictures of a sequence share.
const SEQUENCE_HEADER: u8 = 1;

/// A unit of an AV1 stream (AV1 bitstream specification, 5.3).
struct Obu<'a> {
    kind: u8,
    /// Temporal and spatial layer.
    layers: (u8, u8),
    payload: &'a [u8],
}

/// Returns the units of a packet; an `Err` if it makes no sense.
fn obus(mut data: &[u8]) -> impl Iterator<Item = Result<Obu<'_>, ()>> {
    std::iter::from_fn(move || {
        if data.is_empty() {
            return None;
        }
        let first = next_obu(&mut data).ok_or(());
        if first.is_err() {
            data = &[];
        }
        Some(first)
    })
}

fn next_obu<'a>(data: &mut &'a [u8]) -> Option<Obu<'a>> {
    let &head = data.split_off_first()?;
    let (forbidden, has_layers, has_size) = (head & 0x80 != 0, head & 4 != 0, head & 2 != 0);
    let layers = if has_layers { *data.split_off_first()? } else { 0 };
    let size = if has_size { leb128(data)? } else { data.len() };
    let payload = data.split_off(..size)?;
    let layers = (layers >> 5, layers >> 3 & 3);
    (!forbidden).then_some(Obu { kind: head >> 3 & 15, layers, payload })
}

/// Reads a number of at most 32 bits (4.10.5).
fn leb128(data: &mut &[u8]) -> Option<usize> {
    let mut value = 0u64;
    for at in 0..8 {
        let &byte = data.split_off_first()?;
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return u32::try_from(value).ok().map(|size| size as usize);
        }
    }
    None
}

/// Follows what a decoder must know besides the pictures that a picture refers to: parameter sets and, because FFmpeg decodes
/// what some versions of x264 wrote in another way, the version of x264.
pub(super) struct ParameterSets<'a> {
    syntax: Option<Syntax>,
    extradata: &'a [u8],
    /// The sets of the first packet, one after the other, if the stream does not have the same; `None` before it.
    first: Option<Vec<u8>>,
    /// Whether a later packet has had others.
    changed: bool,
}

/// The parameter sets of a packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PacketSets {
    /// Whether it has any. Later pictures may need these even if they do not refer to its picture.
    pub some: bool,
    /// Whether a decoder that got only the first packet and this one has all sets that count from here on.
    pub stands_alone: bool,
}

impl<'a> ParameterSets<'a> {
    /// Starts with those of the stream.
    pub fn new(syntax: Option<Syntax>, extradata: &'a [u8]) -> Self {
        ParameterSets { syntax, extradata, first: None, changed: false }
    }

    /// Takes the data of the next packet; `None` if it cannot be read, or replaces the parameters of the stream.
    pub fn take(&mut self, data: Option<&[u8]>) -> PacketSets {
        let sets = self.syntax.zip(data).and_then(|(syntax, data)| parameter_sets(syntax, data));
        let has = |bytes: &[u8], set: &&[u8]| memchr::memmem::find(bytes, set).is_some();
        match (&self.first, &sets) {
            (None, Some(sets)) => {
                let is_known = sets.iter().all(|set| has(self.extradata, set));
                self.first = Some(if is_known { Vec::new() } else { sets.concat() });
            }
            (Some(first), Some(sets)) => {
                let known = if first.is_empty() { self.extradata } else { first };
                self.changed |= !sets.iter().all(|set| has(known, set));
            }
            (_, None) => self.changed = true,
        }
        PacketSets { some: sets.is_none_or(|sets| !sets.is_empty()), stands_alone: !self.changed }
    }
}

/// Returns the parameter sets of a packet; `None` if it makes no sense.
fn parameter_sets(syntax: Syntax, data: &[u8]) -> Option<Vec<&[u8]>> {
    let mut sets = Vec::new();
    match syntax {
        Syntax::H264 { length_bytes } => {
            for unit in (Units { data, length_bytes }) {
                let unit = unit.ok()?;
                match unit.first()? & 0x1f {
                    7 | 8 | 13 | 15 => sets.push(unit),
                    6 => sets.extend(x264_version(unit)),
                    _ => {}
                }
            }
        }
        Syntax::Hevc { length_bytes } => {
            for unit in (Units { data, length_bytes }) {
                let unit = unit.ok()?;
                if (32..=34).contains(&(unit.first()? >> 1 & 0x3f)) {
                    sets.push(unit);
                }
            }
        }
        Syntax::Av1 => {
            for obu in obus(data) {
                let Obu { kind, payload, .. } = obu.ok()?;
                if kind == SEQUENCE_HEADER {
                    sets.push(payload);
                }
            }
        }
        Syntax::Vp8 | Syntax::Vp9 | Syntax::Jpeg | Syntax::Intra => {}
    }
    Some(sets)
}

/// Returns the words with the version of x264, if the unit holds the text that x264 writes about itself.
fn x264_version(unit: &[u8]) -> Option<&[u8]> {
    const BEFORE: &[u8] = b"x264 - core ";
    let text = &unit[memchr::memmem::find(unit, BEFORE)?..];
    let digits = text[BEFORE.len()..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    text.get(..BEFORE.len() + digits + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const H264: Syntax = Syntax::H264 { length_bytes: 2 };
    const HEVC: Syntax = Syntax::Hevc { length_bytes: 1 };

    fn role(syntax: Syntax, data: &[u8]) -> Option<PacketRole> {
        syntax.read(data).map(|a| a.role)
    }

    #[test]
    fn pictures_that_may_be_shown_before_earlier_ones() {
        let moves = |syntax: Syntax, data: &[u8]| syntax.read(data).unwrap().moves_ahead;
        // The first bit says that the slice is the first one; its type follows: P, B, I, P, B, I.
        let starts = [0b1100_0000, 0b1010_0000, 0b1011_0000, 0b1001_1000, 0b1001_1100, 0b1000_1000];
        let expected = [false, true, false, false, true, false];
        assert_eq!(starts.map(|start| moves(H264, &[0, 2, 0x41, start])), expected);
        assert!(moves(HEVC, &[3, 1 << 1, 1, 0x80]) && !moves(HEVC, &[3, 21 << 1, 1, 0x80]));
    }

    #[test]
    fn a_jpeg_with_its_tables_stands_alone() {
        let segment = |marker: u8, data: &[u8]| [&[0xff, marker, 0, data.len() as u8 + 2], data].concat();
        let jpeg = |segments: &[(u8, &[u8])]| {
            let segments = segments.iter().flat_map(|(marker, data)| segment(*marker, data));
            [0xff, 0xd8].into_iter().chain(segments).collect::<Vec<u8>>()
        };
        let tables: [(u8, &[u8]); 4] = [(0xdb, &[0; 65]), (0xc0, &[8; 15]), (0xc4, &[0; 17]), (0xda, &[0; 10])];
        let with = |marker: u8, data: &'static [u8]| [&[(marker, data)], &tables[..]].concat();
        for whole in [tables.to_vec(), with(0xe0, b"JFIF\0\x01\x01"), with(0xdd, &[0, 2]), with(0xfe, b"Lavc59.37.100")]
        {
            assert_eq!(role(Syntax::Jpeg, &jpeg(&whole)), Some(PacketRole::Restart));
        }
        for other in [with(0xe0, b"AVI1\0"), with(0xfe, b"CS=ITU601"), with(0xee, b"Adobe"), with(0xc2, &[8; 15])] {
            assert_eq!(role(Syntax::Jpeg, &jpeg(&other)), None);
        }
        for without in [0, 2] {
            let mut some = tables.to_vec();
            some.remove(without);
            assert_eq!(role(Syntax::Jpeg, &jpeg(&some)), None);
        }
        let whole = jpeg(&tables);
        assert!((0..whole.len() - 12).all(|end| role(Syntax::Jpeg, &whole[..end]).is_none()));
    }

    #[test]
    fn packets_have_their_roles() {
        use PacketRole::{Disposable, Reference, Restart};
        let av1_key = [0x12, 0, 0x0a, 2, 0, 0, 0x32, 2, 0x10, 0];
        let superframe = [0b1000_0100, 7, 0b1000_0110, 8, 0xc1, 2, 2, 0xc1];
        for (syntax, data, role, shown) in [
            (H264, &[0, 2, 0x65, 0x80][..], Restart, true),
            (H264, &[0, 2, 0x41, 0x80], Reference, true),
            (H264, &[0, 1, 0x09, 0, 2, 0x01, 0x80, 0, 2, 0x01, 0x40], Disposable, true),
            (HEVC, &[3, 19 << 1, 1, 0x80], Restart, true),
            (HEVC, &[3, 21 << 1, 1, 0x80], Reference, true),
            (HEVC, &[3, 1 << 1, 1, 0x80], Reference, true),
            (HEVC, &[3, 0, 3, 0x80, 3, 0, 3, 0], Disposable, true),
            (Syntax::Av1, &av1_key, Restart, true),
            (Syntax::Av1, &[0x32, 1, 0x30], Reference, true),
            (Syntax::Av1, &[0x32, 1, 0x00], Reference, false), // a key frame that is not shown
            (Syntax::Av1, &[0x1a, 1, 0x80], Reference, true),  // a frame that was decoded earlier
            (Syntax::Av1, &[0x32, 1, 0x20, 0x30, 0x30], Reference, true), // without a size
            (Syntax::Vp8, &[0x10], Restart, true),
            (Syntax::Vp8, &[0x01], Reference, false),
            (Syntax::Vp9, &[0b1000_0010, 0], Restart, true),
            (Syntax::Vp9, &[0b1000_0110, 0], Reference, true),
            (Syntax::Vp9, &[0b1000_1000], Reference, true),
            (Syntax::Vp9, &[0b1000_0100, 0], Reference, false),
            (Syntax::Vp9, &superframe, Reference, true), // two frames: one hidden, one shown
        ] {
            let found = syntax.read(data).map(|packet| (packet.role, packet.shown));
            assert_eq!(found, Some((role, shown)), "{syntax:?} {data:x?}");
        }
        assert_eq!(HEVC.read(&[3, 0, 3, 0x80, 3, 0, 3, 0]).unwrap().layer, 2);
    }

    #[test]
    fn what_is_not_understood_has_no_role() {
        for (syntax, why, data) in [
            (H264, "no picture", &[0, 1, 0x09][..]),
            (H264, "two fields", &[0, 2, 0x41, 0x80, 0, 2, 0x41, 0x80]),
            (H264, "referenced in part", &[0, 2, 0x41, 0x80, 0, 2, 0x01, 0x40]),
            (H264, "an IDR picture that nothing refers to", &[0, 2, 0x05, 0x80]),
            (H264, "an end of sequence", &[0, 2, 0x41, 0x80, 0, 1, 0x0a]),
            (H264, "a length beyond the end", &[0, 3, 0x41, 0x80]),
            (H264, "half a length", &[0, 2, 0x41, 0x80, 0]),
            (H264, "an empty unit", &[0, 2, 0x41, 0x80, 0, 0]),
            (H264, "the forbidden bit", &[0, 2, 0xc1, 0x80]),
            (H264, "a slice without data", &[0, 1, 0x41]),
            (H264, "nothing", &[]),
            (HEVC, "another view", &[3, 1, 1, 0x80]),
            (HEVC, "two pictures", &[3, 2, 1, 0x80, 3, 2, 1, 0x80]),
            (HEVC, "an end of sequence", &[3, 2, 1, 0x80, 2, 36 << 1, 1]),
            (HEVC, "a temporal layer of -1", &[3, 2, 0, 0x80]),
            (Syntax::Av1, "nothing", &[]),
            (Syntax::Av1, "only a delimiter", &[0x12, 0]),
            (Syntax::Av1, "a still picture", &[0x0a, 1, 0x10, 0x32, 1, 0x10]),
            (Syntax::Av1, "two shown frames", &[0x32, 1, 0x10, 0x32, 1, 0x30]),
            (Syntax::Av1, "a spatial layer", &[0x36, 0x08, 1, 0x10]),
            (Syntax::Av1, "a list of tiles", &[0x42, 0, 0x32, 1, 0x10]),
            (Syntax::Av1, "the forbidden bit", &[0xb2, 1, 0x10]),
            (Syntax::Av1, "a size beyond the end", &[0x32, 3, 0x10]),
            (Syntax::Av1, "half a size", &[0x32, 0x80]),
            (Syntax::Av1, "an empty frame", &[0x32, 0]),
            (Syntax::Vp9, "another profile", &[0b0100_0110, 0]),
            (Syntax::Vp9, "two shown frames", &[0b1000_0110, 7, 0b1000_0110, 8, 0xc1, 2, 2, 0xc1]),
            (Syntax::Vp9, "a size beyond the end", &[0b1000_0110, 7, 0xc1, 2, 2, 0xc1]),
        ] {
            assert_eq!(syntax.read(data), None, "{syntax:?}: {why}");
        }
    }

    /// Says for each packet with these units, in a stream with the sets `a` and `b`, whether it stands alone.
    fn alone(packets: &[&[&[u8]]]) -> Vec<bool> {
        let data = |units: &&[&[u8]]| units.iter().flat_map(|unit| [&[0, unit.len() as u8], *unit].concat()).collect();
        let mut sets = ParameterSets::new(Some(H264), b"\x01avcC\x67a\x68b");
        packets.iter().map(data).map(|data: Vec<u8>| sets.take(Some(&data)).stands_alone).collect()
    }

    #[test]
    fn a_packet_after_other_parameter_sets_does_not_stand_alone() {
        let (a, b, other): (&[u8], &[u8], &[u8]) = (b"\x67a", b"\x68b", b"\x67c");
        assert_eq!(alone(&[&[], &[a], &[b], &[a, b]]), [true; 4], "the same ones again");
        assert_eq!(alone(&[&[other], &[], &[other], &[a], &[]]), [true, true, true, false, false]);
        assert_eq!(alone(&[&[], &[other, b], &[]]), [true, false, false]);
        let (one, two): (&[u8], &[u8]) = (b"\x06x264 - core 9 r", b"\x06x264 - core 94 r");
        assert_eq!(alone(&[&[one], &[one], &[two]]), [true, true, false], "another version of x264");
        assert_eq!(ParameterSets::new(Some(H264), b"").take(None), PacketSets { some: true, stands_alone: false });
    }
}
