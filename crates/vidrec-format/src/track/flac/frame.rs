//! Header and checksums of a frame.

/// The most channels that a frame can have.
pub const MAX_CHANNELS: usize = 8;

/// Bits of a number.
pub(super) const DEPTH: u32 = 16;

/// The code of a frame of 4,096 values, and of one whose number of values follows.
const FULL: u8 = 12;
const GIVEN: u8 = 7;

/// How the channels of a frame are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Channels {
    /// Each by itself.
    Apart(usize),
    /// The left one, and left less right.
    LeftSide,
    /// Left less right, and the right one.
    SideRight,
    /// Half the sum, and left less right.
    MidSide,
}

impl Channels {
    fn code(self) -> u8 {
        match self {
            Channels::Apart(count) => count as u8 - 1,
            Channels::LeftSide => 8,
            Channels::SideRight => 9,
            Channels::MidSide => 10,
        }
    }

    /// The channels in a header; `None` if they are not so many.
    pub fn of_header(bytes: &[u8], count: usize) -> Option<Self> {
        let all = [Channels::Apart(count), Channels::LeftSide, Channels::SideRight, Channels::MidSide];
        let code = bytes.get(3)? >> 4;
        let found = all.into_iter().find(|channels| channels.code() == code)?;
        ((1..=MAX_CHANNELS).contains(&count) && (found == all[0] || count == 2)).then_some(found)
    }

    /// The bits of a number of stored channel `i`: differences have one more.
    pub fn depth(self, i: usize) -> u32 {
        let is_side = matches!((self, i), (Channels::LeftSide | Channels::MidSide, 1) | (Channels::SideRight, 0));
        DEPTH + u32::from(is_side)
    }
}

/// The header of the frame of this number, with so many values.
pub(super) fn header(number: u32, count: usize, channels: Channels) -> Vec<u8> {
    let size = if count == 4096 { FULL } else { GIVEN };
    // The sample rate is not given here, and numbers have 16 bits.
    let mut bytes = vec![0xFF, 0xF8, size << 4, channels.code() << 4 | 4 << 1];
    push_number(&mut bytes, number);
    if size == GIVEN {
        bytes.extend((count.saturating_sub(1) as u16).to_be_bytes());
    }
    bytes.push(crc8(&bytes));
    bytes
}

/// Appends a number of at most 31 bits, as UTF-8 encodes characters.
fn push_number(bytes: &mut Vec<u8>, number: u32) {
    if number < 0x80 {
        bytes.push(number as u8);
        return;
    }
    // Each byte after the first holds six bits, and the first one has a bit for each byte.
    let more = (1..6).find(|more| number < 1 << (5 * more + 6)).unwrap_or(5);
    bytes.push((0xFF80u32 >> (more + 1)) as u8 | (number >> (6 * more)) as u8);
    bytes.extend((0..more).rev().map(|i| 0x80 | (number >> (6 * i) & 0x3F) as u8));
}

fn crc8(bytes: &[u8]) -> u8 {
    let bit = |crc: u8, _| crc << 1 ^ if crc & 0x80 == 0 { 0 } else { 0x07 };
    bytes.iter().fold(0, |crc, byte| (0..8).fold(crc ^ byte, bit))
}

/// What each byte adds to the checksum of a frame.
const CRC16: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = ((byte as u16) << 8, 0);
        while bit < 8 {
            crc = crc << 1 ^ if crc & 0x8000 == 0 { 0 } else { 0x8005 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

/// The checksum at the end of a frame.
pub(super) fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| crc << 8 ^ CRC16[usize::from((crc >> 8) as u8 ^ byte)])
}
