//! A frame to values.

use super::bits::BitReader;
use super::frame::{Channels, header};
use super::predict::{FIXED, Predictor};

/// Decodes the frame of this number of a stream, of so many values and channels, and appends the interleaved numbers in
/// little-endian order. The error says what is wrong with the frame.
pub fn decode(bytes: &[u8], (count, channels): (usize, usize), number: u32, out: &mut Vec<u8>) -> Result<(), String> {
    let way = Channels::of_header(bytes, channels).ok_or("it has other channels")?;
    let head = header(number, count, way);
    let body = bytes.strip_prefix(&head[..]).ok_or("its header is not the expected one")?;
    // The checksum of the frame follows. That of the block covers it.
    decode_body(body.get(..body.len().saturating_sub(2)).unwrap_or_default(), (count, channels), way, out)
}

/// Decodes what follows the header, whose channels are stored this way.
pub(super) fn decode_body(
    body: &[u8],
    (count, channels): (usize, usize),
    way: Channels,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    let mut bits = BitReader::new(body);
    let stored = (0..channels).map(|i| subframe(&mut bits, count, way.depth(i))).collect::<Result<Vec<_>, _>>()?;
    if bits.bytes_read() != body.len() {
        return Err(format!("{} bytes after its header, of which {} are used", body.len(), bits.bytes_read()));
    }
    let fits = |x: i32| i16::try_from(x).map(i16::to_le_bytes).map_err(|_| "a number has more than 16 bits");
    match (way, &stored[..]) {
        (Channels::Apart(_), [one]) => {
            one.iter().try_for_each(|&x| fits(x).map(|bytes| out.extend_from_slice(&bytes)))?;
        }
        (Channels::Apart(_), all) => {
            for i in 0..count {
                all.iter().try_for_each(|channel| fits(channel[i]).map(|bytes| out.extend_from_slice(&bytes)))?;
            }
        }
        (_, [first, second]) => {
            for (&a, &b) in first.iter().zip(second) {
                let (left, right) = match way {
                    Channels::LeftSide => (a, a.wrapping_sub(b)),
                    Channels::SideRight => (b.wrapping_add(a), b),
                    _ => {
                        let twice = a.wrapping_mul(2) | (b & 1);
                        (twice.wrapping_add(b) >> 1, twice.wrapping_sub(b) >> 1)
                    }
                };
                out.extend_from_slice(&fits(left)?);
                out.extend_from_slice(&fits(right)?);
            }
        }
        _ => return Err("it has other channels".into()),
    }
    Ok(())
}

/// One channel.
fn subframe(bits: &mut BitReader<'_>, count: usize, depth: u32) -> Result<Vec<i32>, String> {
    let (padding, kind, has_wasted) = (bits.bits(1), bits.bits(6), bits.bits(1) == 1);
    // Low bits that are zero in all numbers.
    let wasted = if has_wasted { bits.unary().saturating_add(1) } else { 0 };
    let depth = depth.checked_sub(wasted).filter(|&depth| depth > 0).ok_or("a channel has no bits")?;
    let mut numbers = match kind {
        0 => vec![bits.signed(depth); count],
        1 => plain(bits, count, depth)?,
        8..=12 => {
            let predictor = Predictor { coefficients: FIXED[kind as usize - 8].to_vec(), shift: 0 };
            predicted(bits, count, depth, kind as usize - 8, |_| Ok(predictor))?
        }
        32.. => predicted(bits, count, depth, kind as usize - 31, |bits| linear(bits, kind as usize - 31))?,
        _ => return Err(format!("a channel is stored in an unknown way, {kind}")),
    };
    if padding != 0 || bits.is_beyond() {
        return Err("it ends early".into());
    }
    if wasted > 0 {
        numbers.iter_mut().for_each(|x| *x = x.wrapping_shl(wasted));
    }
    Ok(numbers)
}

/// Numbers as they are.
fn plain(bits: &mut BitReader<'_>, count: usize, depth: u32) -> Result<Vec<i32>, String> {
    let numbers = (0..count).map(|_| bits.signed(depth)).collect();
    if bits.is_beyond() { Err("it ends early".into()) } else { Ok(numbers) }
}

fn predicted<'a>(
    bits: &mut BitReader<'a>,
    count: usize,
    depth: u32,
    order: usize,
    predictor: impl FnOnce(&mut BitReader<'a>) -> Result<Predictor, String>,
) -> Result<Vec<i32>, String> {
    if order > count {
        return Err(format!("{order} numbers before {count}"));
    }
    let mut numbers = plain(bits, order, depth)?;
    let predictor = predictor(bits)?;
    residual(bits, count, order, &mut numbers)?;
    predictor.restore(&mut numbers);
    Ok(numbers)
}

fn linear(bits: &mut BitReader<'_>, order: usize) -> Result<Predictor, String> {
    let (precision, shift) = (bits.bits(4) + 1, bits.signed(5));
    let coefficients = (0..order).map(|_| bits.signed(precision)).collect();
    match u32::try_from(shift) {
        Ok(shift) if precision < 16 => Ok(Predictor { coefficients, shift }),
        _ => Err(format!("a predictor of {precision} bits with a shift of {shift}")),
    }
}

/// Appends the differences between the numbers and what is predicted.
fn residual(bits: &mut BitReader<'_>, count: usize, order: usize, out: &mut Vec<i32>) -> Result<(), String> {
    let (method, parts) = (bits.bits(2), bits.bits(4));
    if method > 1 || !count.is_multiple_of(1 << parts) || count >> parts < order {
        return Err(format!("differences in 2^{parts} parts, by method {method}"));
    }
    out.reserve(count - order);
    let (width, each) = (4 + method, count >> parts);
    for part in 0..1usize << parts {
        let numbers = if part == 0 { each - order } else { each };
        let parameter = bits.bits(width);
        if parameter == (1 << width) - 1 {
            let depth = bits.bits(5);
            out.extend((0..numbers).map(|_| bits.signed(depth)));
        } else {
            out.extend((0..numbers).map(|_| bits.rice(parameter)));
        }
        if bits.is_beyond() {
            return Err("it ends early".into());
        }
    }
    Ok(())
}
