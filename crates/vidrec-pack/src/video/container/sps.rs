//! Reads sequence parameter sets of H.264, up to what they say about colors: ITU-T H.264, 7.3.2.1.1 and E.1.1.

/// The longest parameter set that is read. Real ones have less than a tenth of this.
pub(super) const LONGEST: usize = 4096;

/// What FFmpeg's decoder takes for the colors: the range, the description, and the place of chroma samples. It keeps each
/// until a set has another one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Colors([Option<u32>; 3]);

impl Colors {
    /// Returns the colors after a set with the colors `next`.
    pub fn then(self, next: Colors) -> Self {
        Colors(std::array::from_fn(|i| next.0[i].or(self.0[i])))
    }
}

/// Returns the colors of a set; `None` if it cannot be read.
pub(super) fn colors(unit: &[u8]) -> Option<Colors> {
    /// The profiles with a chroma format.
    const HIGH: [u32; 13] = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135];
    let mut bits = Bits::of(unit);
    let profile = bits.skip(8)?.take(8)?;
    bits.skip(16)?.number()?;
    if HIGH.contains(&profile) {
        let chroma = bits.number()?;
        bits.skip(usize::from(chroma == 3))?;
        bits.numbers(2)?.skip(1)?;
        if bits.flag()? {
            for list in 0..if chroma == 3 { 12 } else { 8 } {
                if bits.flag()? {
                    bits.skip_scaling_list(if list < 6 { 16 } else { 64 })?;
                }
            }
        }
    }
    bits.number()?;
    match bits.number()? {
        0 => drop(bits.number()?),
        1 => {
            bits.skip(1)?.numbers(2)?;
            let count = bits.number()?;
            bits.numbers(count)?;
        }
        _ => {}
    }
    bits.number()?;
    bits.skip(1)?.numbers(2)?;
    if !bits.flag()? {
        bits.skip(1)?;
    }
    bits.skip(1)?;
    if bits.flag()? {
        bits.numbers(4)?;
    }
    if bits.flag()? { of_usability(&mut bits) } else { Some(Colors::default()) }
}

fn of_usability(bits: &mut Bits) -> Option<Colors> {
    let mut colors = [None; 3];
    if bits.flag()? && bits.take(8)? == 255 {
        bits.skip(32)?;
    }
    if bits.flag()? {
        bits.skip(1)?;
    }
    if bits.flag()? {
        colors[0] = Some(bits.skip(3)?.take(1)?);
        colors[1] = if bits.flag()? { Some(bits.take(24)?) } else { None };
    }
    colors[2] = if bits.flag()? { Some(bits.number()?) } else { None };
    Some(Colors(colors))
}

/// The bits of a NAL unit, without the bytes that keep start codes out of it.
pub(super) struct Bits {
    bytes: Vec<u8>,
    at: usize,
}

impl Bits {
    pub fn of(unit: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(unit.len().min(LONGEST));
        let mut zeros = 0;
        for &byte in unit.iter().take(LONGEST) {
            let escapes = byte == 3 && zeros >= 2;
            zeros = if byte == 0 { zeros + 1 } else { 0 };
            if !escapes {
                bytes.push(byte);
            }
        }
        Bits { bytes, at: 0 }
    }

    pub fn skip(&mut self, count: usize) -> Option<&mut Self> {
        self.at += count;
        (self.at <= 8 * self.bytes.len()).then_some(self)
    }

    pub fn take(&mut self, count: usize) -> Option<u32> {
        let mut value = 0;
        for at in self.at..self.at + count {
            value = value << 1 | u32::from(self.bytes.get(at / 8)? >> (7 - at % 8) & 1);
        }
        self.at += count;
        Some(value)
    }

    /// Reads an Exp-Golomb code (ITU-T H.264, 9.1) of at most 31 zeros.
    pub fn number(&mut self) -> Option<u32> {
        let mut zeros = 0;
        while self.take(1)? == 0 {
            zeros += 1;
            if zeros > 31 {
                return None;
            }
        }
        Some((1u32 << zeros) - 1 + self.take(zeros)?)
    }

    /// Skips the profiles and levels of a layer and of those below it (ITU-T H.265, 7.3.3).
    pub fn skip_profiles(&mut self, layers: u32) -> Option<&mut Self> {
        self.skip(88 + 8)?;
        let mut more = 0;
        for layer in 0..if layers > 0 { 8 } else { 0 } {
            let (profile, level) = (self.take(1)? as usize, self.take(1)? as usize);
            more += if layer < layers { 88 * profile + 8 * level } else { 0 };
        }
        self.skip(more)
    }

    fn flag(&mut self) -> Option<bool> {
        Some(self.take(1)? == 1)
    }

    /// Skips some Exp-Golomb codes.
    fn numbers(&mut self, count: u32) -> Option<&mut Self> {
        for _ in 0..count {
            self.number()?;
        }
        Some(self)
    }

    /// Skips a scaling list (7.3.2.1.1.1).
    fn skip_scaling_list(&mut self, size: u32) -> Option<()> {
        let (mut last, mut next) = (8i64, 8i64);
        for _ in 0..size {
            if next != 0 {
                let code = i64::from(self.number()?);
                let delta = if code % 2 == 1 { (code + 1) / 2 } else { -code / 2 };
                next = (last + delta).rem_euclid(256);
            }
            last = if next == 0 { last } else { next };
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets of x264 for 160x96 pixels: without colors, and with those of BT.709.
    #[test]
    fn colors_of_sets_of_x264() {
        let hex = |text: &str| -> Vec<u8> {
            (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
        };
        let plain = colors(&hex("6764001eacd940a02ff970110000030001000003003c0f162d96")).unwrap();
        assert_eq!(plain, Colors::default());
        let bt709 = colors(&hex("6764001eacd940a02ff97016a0202028000003000800000301e078b16cb0")).unwrap();
        assert_eq!(bt709, Colors([Some(0), Some(0x01_01_01), None]));
        assert_eq!((plain.then(bt709), bt709.then(plain)), (bt709, bt709), "colors stay until there are others");
        let short = hex("6764001eacd9");
        assert!((0..short.len()).all(|end| colors(&short[..end]).is_none()));
    }
}
