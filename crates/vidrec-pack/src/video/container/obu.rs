//! The units of AV1 streams: the AV1 bitstream specification, 5.3.

/// The type of a unit with what all pictures of a sequence share.
pub(super) const SEQUENCE_HEADER: u8 = 1;

/// A unit.
pub(super) struct Obu<'a> {
    pub kind: u8,
    /// Temporal and spatial layer.
    pub layers: (u8, u8),
    pub payload: &'a [u8],
}

/// Returns the units of a packet; an `Err` if it makes no sense.
pub(super) fn all(mut data: &[u8]) -> impl Iterator<Item = Result<Obu<'_>, ()>> {
    std::iter::from_fn(move || {
        if data.is_empty() {
            return None;
        }
        let first = next(&mut data).ok_or(());
        if first.is_err() {
            data = &[];
        }
        Some(first)
    })
}

fn next<'a>(data: &mut &'a [u8]) -> Option<Obu<'a>> {
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
