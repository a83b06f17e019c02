//! FLAC frames of 16-bit numbers (RFC 9639), which hold the blocks of coded sound. `claxon` decodes them.
//!
//! The encoder is our own, because its bytes must be the same on every machine: it calculates with whole numbers, and with floats
//! only sums, products and quotients in a fixed order.

use std::array::from_fn;
use std::io::Cursor;
use std::sync::LazyLock;

use claxon::frame::FrameReader;

/// The values of a block, of which the last one may have fewer.
pub const BLOCK_VALUES: usize = 4096;

/// The most channels that a frame can have.
pub const MAX_CHANNELS: usize = 8;

/// Bits of a number. The difference of two channels has one more.
const DEPTH: u32 = 16;

/// The coefficients of the fixed predictors, that of the latest number first (RFC 9639, section 9.2.5).
const FIXED: [&[i32]; 5] = [&[], &[1], &[2, -1], &[3, -3, 1], &[4, -6, 4, -1]];

/// The orders of linear predictors that the encoder tries, the largest of them, and the bits of a coefficient.
const ORDERS: [usize; 3] = [4, 8, MAX_ORDER];
const MAX_ORDER: usize = 12;
const PRECISION: u32 = 14;

/// The most partitions of a residual, as a power of two, and the largest Rice parameter.
const MAX_PARTITION_ORDER: u32 = 6;
const MAX_PARAMETER: u32 = 14;

/// Decodes the frame of this number of a stream, of so many values and channels, and appends the interleaved numbers in
/// little-endian order.
///
/// # Errors
///
/// The frame has another header, does not decode, or is longer. Frames with unencoded residuals, which no encoder writes for sound,
/// are not supported.
pub fn decode(bytes: &[u8], (count, channels): (usize, usize), number: u32, out: &mut Vec<u8>) -> Result<(), String> {
    let code = bytes.get(3).map_or(0, |byte| byte >> 4);
    let fits = usize::from(code) + 1 == channels || (channels == 2 && matches!(code, 8..=10));
    if !fits || !bytes.starts_with(&header(number, count, code)) {
        return Err("its header is not the expected one".into());
    }
    let mut frames = FrameReader::new(Cursor::new(bytes));
    let block = frames.read_next_or_eof(Vec::new()).map_err(|e| e.to_string())?;
    let numbers = block.map(|block| block.into_buffer()).unwrap_or_default();
    if numbers.len() != channels * count || frames.into_inner().position() != bytes.len() as u64 {
        return Err("the frame has another length".into());
    }
    for i in 0..count {
        for &number in numbers[i..].iter().step_by(count) {
            let number = i16::try_from(number).map_err(|_| "a number has more than 16 bits")?;
            out.extend_from_slice(&number.to_le_bytes());
        }
    }
    Ok(())
}

/// Encodes interleaved numbers of so many channels as the frame of this number of a stream.
///
/// There is at least one value, there are at most 65,535, and at most [`MAX_CHANNELS`].
pub fn encode(numbers: &[i16], channels: usize, number: u32) -> Vec<u8> {
    let channel = |i: usize| numbers.iter().skip(i).step_by(channels).map(|&x| i32::from(x)).collect::<Vec<_>>();
    let stored: Vec<Vec<i32>> = (0..channels).map(channel).collect();
    let (mid, side): (Vec<i32>, Vec<i32>);
    let mut subframes: Vec<Subframe> = stored.iter().map(|numbers| Subframe::best(numbers, DEPTH)).collect();
    let mut code = channels as u8 - 1;
    if let [left, right] = &stored[..] {
        (side, mid) = left.iter().zip(right).map(|(l, r)| (l - r, (l + r) >> 1)).unzip();
        let (mid, side) = (Subframe::best(&mid, DEPTH), Subframe::best(&side, DEPTH + 1));
        let [left, right] = [subframes[0].cost, subframes[1].cost];
        let costs = [left + right, left + side.cost, side.cost + right, mid.cost + side.cost];
        let best = (0..4).min_by_key(|&i| costs[i]).unwrap_or_default();
        match best {
            1 => subframes[1] = side,
            2 => subframes[0] = side,
            3 => subframes = vec![mid, side],
            _ => {}
        }
        code = [code, 8, 9, 10][best];
    }
    let mut out = BitWriter { bytes: header(number, numbers.len() / channels, code), rest: (0, 0) };
    subframes.iter().for_each(|subframe| subframe.write(&mut out));
    let mut bytes = out.finish();
    bytes.extend(crc16(&bytes).to_be_bytes());
    bytes
}

/// The header of the frame of this number, with so many values (RFC 9639, section 9.1). `channels` is the code of their channels.
fn header(number: u32, count: usize, channels: u8) -> Vec<u8> {
    // A block of 4,096 values, or of a number of values that follows; no sample rate, and numbers of 16 bits.
    let size = if count == 4096 { 12 } else { 7 };
    let mut bytes = vec![0xFF, 0xF8, size << 4, channels << 4 | 4 << 1];
    // The number is coded as UTF-8 codes characters. Each byte after the first holds six bits.
    match (1..6).find(|more| number < 1 << (5 * more + 6)).unwrap_or(5) {
        _ if number < 0x80 => bytes.push(number as u8),
        more => {
            bytes.push((0xFF80u32 >> more) as u8 | (number >> (6 * more)) as u8);
            bytes.extend((0..more).rev().map(|i| 0x80 | (number >> (6 * i) & 0x3F) as u8));
        }
    }
    if size == 7 {
        bytes.extend((count.saturating_sub(1) as u16).to_be_bytes());
    }
    bytes.push(crc(&bytes, 8, 0x07) as u8);
    bytes
}

/// The checksum of so many bits by this polynomial.
fn crc(bytes: &[u8], width: u32, polynomial: u32) -> u32 {
    let bit = |crc: u32, _| crc << 1 ^ if crc >> (width - 1) & 1 == 0 { 0 } else { polynomial };
    let crc = bytes.iter().fold(0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte) << (width - 8), bit));
    crc & ((1 << width) - 1)
}

/// The checksum at the end of a frame.
fn crc16(bytes: &[u8]) -> u16 {
    static OF_BYTE: LazyLock<[u16; 256]> = LazyLock::new(|| from_fn(|byte| crc(&[byte as u8], 16, 0x8005) as u16));
    bytes.iter().fold(0, |crc, byte| crc << 8 ^ OF_BYTE[usize::from((crc >> 8) as u8 ^ byte)])
}

/// The shortest coding of a channel that was found.
struct Subframe<'a> {
    numbers: &'a [i32],
    depth: u32,
    coding: Coding,
    /// About how many bits it takes.
    cost: u64,
}

enum Coding {
    Constant,
    Verbatim,
    Predicted { predictor: Predictor, is_fixed: bool, residual: Vec<i32>, parameters: Vec<u32> },
}

impl<'a> Subframe<'a> {
    /// Encodes numbers of `depth` bits.
    fn best(numbers: &'a [i32], depth: u32) -> Self {
        const HEAD: u64 = 8;
        if numbers.windows(2).all(|two| two[0] == two[1]) {
            return Subframe { numbers, depth, coding: Coding::Constant, cost: HEAD + u64::from(depth) };
        }
        let verbatim = HEAD + numbers.len() as u64 * u64::from(depth);
        let mut best = Subframe { numbers, depth, coding: Coding::Verbatim, cost: verbatim };
        let fixed = |c: &[i32]| (Predictor { coefficients: c.to_vec(), shift: 0 }, true);
        let linear = linear_predictors(numbers).into_iter().map(|predictor| (predictor, false));
        for (predictor, is_fixed) in linear.chain(FIXED.into_iter().map(fixed)) {
            let order = predictor.coefficients.len();
            let Some(residual) = predictor.residual(numbers).filter(|residual| !residual.is_empty()) else { continue };
            let (parameters, cost) = partitioned(&residual, numbers.len());
            let head = if is_fixed { 0 } else { 4 + 5 + u64::from(PRECISION) * order as u64 };
            let cost = HEAD + head + order as u64 * u64::from(depth) + 6 + cost;
            if cost < best.cost {
                (best.cost, best.coding) = (cost, Coding::Predicted { predictor, is_fixed, residual, parameters });
            }
        }
        best
    }

    fn write(&self, out: &mut BitWriter) {
        let mut start = |kind: u32, count: usize| {
            out.bits(kind << 1, 8);
            self.numbers.iter().take(count).for_each(|&number| out.bits(number as u32, self.depth));
        };
        let Coding::Predicted { predictor, is_fixed, residual, parameters } = &self.coding else {
            return if let Coding::Constant = self.coding { start(0, 1) } else { start(1, self.numbers.len()) };
        };
        let order = predictor.coefficients.len();
        start(if *is_fixed { 8 } else { 31 } + order as u32, order);
        if !is_fixed {
            out.bits(PRECISION - 1, 4);
            out.bits(predictor.shift, 5);
            predictor.coefficients.iter().for_each(|&c| out.bits(c as u32, PRECISION));
        }
        out.bits(0, 2);
        out.bits(parameters.len().trailing_zeros(), 4);
        for (part, &parameter) in partitions(residual, self.numbers.len(), parameters.len()).zip(parameters) {
            out.bits(parameter, 4);
            part.iter().for_each(|&number| out.rice(number, parameter));
        }
    }
}

/// The best Rice parameters for equal partitions of the residual of a channel of `count` numbers, and about how many bits the
/// residual takes with them.
fn partitioned(residual: &[i32], count: usize) -> (Vec<u32>, u64) {
    let fits = |&order: &u32| count.is_multiple_of(1 << order) && count >> order > count - residual.len();
    let finest = (0..=MAX_PARTITION_ORDER).rev().find(fits).unwrap_or(0);
    let sum = |part: &[i32]| (part.iter().map(|&number| u64::from(fold(number))).sum::<u64>(), part.len() as u64);
    let mut sums: Vec<(u64, u64)> = partitions(residual, count, 1 << finest).map(sum).collect();
    let mut best = (vec![0], u64::MAX);
    loop {
        let (parameters, costs): (Vec<u32>, Vec<u64>) = sums.iter().map(|&(sum, count)| parameter(sum, count)).unzip();
        let cost = costs.iter().map(|cost| 4 + cost).sum();
        if cost < best.1 {
            best = (parameters, cost);
        }
        if sums.len() == 1 {
            return best;
        }
        sums = sums.chunks(2).map(|two| two.iter().fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))).collect();
    }
}

/// Equal partitions of a channel's numbers, without the first numbers of the channel, which have no residual.
fn partitions(residual: &[i32], count: usize, number: usize) -> impl Iterator<Item = &[i32]> {
    let (order, each) = (count - residual.len(), count / number);
    let range = move |i: usize| (i * each).saturating_sub(order)..(i + 1) * each - order;
    (0..number).map(move |i| residual.get(range(i)).unwrap_or_default())
}

/// The Rice parameter for numbers with this sum, and about how many bits they take with it.
fn parameter(sum: u64, count: u64) -> (u32, u64) {
    let cost = |parameter: u32| count * (u64::from(parameter) + 1) + (sum.saturating_sub(count / 2) >> parameter);
    let all = (0..=MAX_PARAMETER).map(|parameter| (parameter, cost(parameter)));
    all.min_by_key(|(_, cost)| *cost).unwrap_or_default()
}

/// A predictor: the sum of the latest numbers times coefficients, that of the latest number first, shifted right.
struct Predictor {
    coefficients: Vec<i32>,
    shift: u32,
}

impl Predictor {
    /// The predictor with these coefficients as whole numbers; `None` if they are too large.
    fn rounded(coefficients: &[f64]) -> Option<Predictor> {
        let largest = coefficients.iter().fold(0f64, |largest, c| largest.max(c.abs()));
        let limit = f64::from(1 << (PRECISION - 1)) - 1.0;
        let shift = (0..=15).rev().find(|&shift| largest * f64::from(1 << shift) <= limit)?;
        let mut error = 0.0;
        let rounded = coefficients.iter().map(|c| {
            let exact = c * f64::from(1 << shift) + error;
            let rounded = exact.round().clamp(-limit, limit);
            error = exact - rounded;
            rounded as i32
        });
        Some(Predictor { coefficients: rounded.collect(), shift })
    }

    /// The differences between the numbers and their predictions; `None` if one is too large to be stored.
    fn residual(&self, numbers: &[i32]) -> Option<Vec<i32>> {
        let windows = numbers.windows(self.coefficients.len() + 1).map(|window| {
            let (&number, before) = window.split_last()?;
            let products = before.iter().rev().zip(&self.coefficients).map(|(&x, &c)| i64::from(x) * i64::from(c));
            let difference = i64::from(number) - (products.sum::<i64>() >> self.shift);
            i32::try_from(difference).ok().filter(|difference| difference.unsigned_abs() < 1 << 30)
        });
        windows.collect()
    }
}

/// The best linear predictors of [`ORDERS`], by the recursion of Levinson and Durbin. There are fewer if the numbers are few or
/// simple.
fn linear_predictors(numbers: &[i32]) -> Vec<Predictor> {
    let products = autocorrelation(numbers);
    let (mut error, mut all) = (products[0], [0.0; MAX_ORDER]);
    let mut found = Vec::new();
    for order in 1..=MAX_ORDER {
        if order * 4 > numbers.len() || error.is_nan() || error <= 0.0 {
            break;
        }
        let before = all;
        let sum = (1..order).fold(products[order], |sum, i| sum - before[i - 1] * products[order - i]);
        let reflection = sum / error;
        all[order - 1] = reflection;
        for i in 1..order {
            all[i - 1] = before[i - 1] - reflection * before[order - 1 - i];
        }
        error *= 1.0 - reflection * reflection;
        if ORDERS.contains(&order) {
            found.extend(Predictor::rounded(&all[..order]));
        }
    }
    found
}

/// The sums of the products of numbers that are 0, 1 and so on apart, faded out at both ends.
fn autocorrelation(numbers: &[i32]) -> [f64; MAX_ORDER + 1] {
    let middle = (numbers.len() as f64 - 1.0) / 2.0;
    let faded = numbers.iter().enumerate().map(|(i, &x)| {
        let from_middle = (i as f64 - middle) / (middle + 1.0);
        f64::from(x) * (1.0 - from_middle * from_middle)
    });
    let padded: Vec<f64> = std::iter::repeat_n(0.0, MAX_ORDER).chain(faded).collect();
    let mut sums = [0.0; MAX_ORDER + 1];
    for window in padded.windows(MAX_ORDER + 1) {
        let latest = window[MAX_ORDER];
        sums.iter_mut().zip(window.iter().rev()).for_each(|(sum, x)| *sum += latest * x);
    }
    sums
}

/// Signed numbers as 0, -1, 1, -2, 2 and so on.
fn fold(number: i32) -> u32 {
    ((number << 1) ^ (number >> 31)) as u32
}

/// Collects bits, the highest of each byte first.
struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that are not yet a byte, and how many.
    rest: (u64, u32),
}

impl BitWriter {
    /// Writes the lowest bits of a number, at most 32.
    fn bits(&mut self, number: u32, count: u32) {
        let (bits, held) = self.rest;
        let mask = (1u64 << count) - 1;
        let (bits, mut held) = ((bits << count) | (u64::from(number) & mask), held + count);
        while held >= 8 {
            held -= 8;
            self.bytes.push((bits >> held) as u8);
        }
        self.rest = (bits & ((1 << held) - 1), held);
    }

    /// Writes a number in Rice's code with this parameter, in which small numbers of either sign are short.
    fn rice(&mut self, number: i32, parameter: u32) {
        let folded = fold(number);
        let mut zeros = folded >> parameter;
        while zeros > 0 {
            let some = zeros.min(32);
            self.bits(0, some);
            zeros -= some;
        }
        self.bits(1, 1);
        self.bits(folded, parameter);
    }

    /// Fills the last byte with zeros, and returns all bytes.
    fn finish(mut self) -> Vec<u8> {
        let fill = self.rest.1.wrapping_neg() % 8;
        self.bits(0, fill);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(bytes: &[u8], count: usize, channels: usize, number: u32) -> Result<Vec<i16>, String> {
        let mut out = Vec::new();
        decode(bytes, (count, channels), number, &mut out)?;
        Ok(out.chunks(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect())
    }

    /// Waves and noise, in channels with something in common.
    fn sound() -> impl Strategy<Value = (Vec<i16>, usize)> {
        let all = (prop_oneof![1..40usize, Just(4096), 100..5000usize], 1..9usize, any::<u32>(), 0..16u32, 0..16u32);
        all.prop_map(|(count, channels, seed, loud, noisy)| {
            let mut random = crate::random::Random::new(seed.into(), &[]);
            let mut noise = |bits: u32| random.below(1 << bits) as i32 - (1 << bits >> 1);
            let value = |i: usize| {
                let wave = (f64::from(1 << loud) * (i as f64 * f64::from(seed % 1000) / 3000.0).sin()) as i32;
                (0..channels).map(|c| ((wave >> (c % 3)) + noise(noisy)).clamp(-32_768, 32_767) as i16).collect()
            };
            let values: Vec<Vec<i16>> = (0..count).map(value).collect();
            (values.concat(), channels)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn numbers_come_back_from_the_right_frame_alone((values, channels) in sound(), number in prop_oneof![0..200u32, 0..1u32 << 31]) {
            let frame = encode(&values, channels, number);
            let count = values.len() / channels;
            prop_assert_eq!(decoded(&frame, count, channels, number).unwrap(), values);
            prop_assert!(frame.len() <= 2 * channels * count + 16 + 2 * channels + count * channels / 8);
            prop_assert!(decoded(&frame, count, channels, number ^ 1).is_err(), "the frame of another place");
            prop_assert!(decoded(&frame, count + 1, channels, number).is_err());
            prop_assert!(decoded(&frame, count, channels % 8 + 1, number).is_err());
            prop_assert!(decoded(&frame[..frame.len() - 3], count, channels, number).is_err());
        }

        /// A changed frame has another checksum. With the right one, its numbers may be others.
        #[test]
        fn changed_frames_do_not_panic(
            (values, channels) in sound(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..9),
        ) {
            let (count, mut frame) = (values.len() / channels, encode(&values, channels, 7));
            frame.truncate(frame.len() - 2);
            for (at, byte) in changes {
                let at = at.index(frame.len());
                frame[at] = byte;
            }
            frame.extend(crc16(&frame).to_be_bytes());
            if let Ok(found) = decoded(&frame, count, channels, 7) {
                prop_assert_eq!(found.len(), values.len());
            }
        }
    }
}
