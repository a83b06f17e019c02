//! The rules of the strictest decoders of baseline JPEGs.

/// Checks the rules of baseline decoders in hardware and on GPUs: one scan of 8-bit samples at 4:2:0, quantizers
/// of 8 bits, and at most two Huffman tables of each class, numbered 0 and 1, as T.81, annex C and F.1.2, allows.
///
/// # Panics
///
/// A rule is broken.
pub(crate) fn strictly_baseline(jpeg: &[u8]) {
    let segments = segments(jpeg);
    let markers: Vec<u8> = segments.iter().map(|&(marker, _)| marker).collect();
    assert_eq!(markers, [0xE0, 0xDB, 0xDB, 0xC0, 0xC4, 0xC4, 0xC4, 0xC4, 0xDD, 0xDA]);
    for (id, &(_, table)) in (0..).zip(&segments[1..3]) {
        assert_eq!((table[0], table.len()), (id, 65), "8 bits a quantizer");
        assert!(table[1..].iter().all(|&quantizer| quantizer > 0));
    }
    let [_, _, _, frame, .., scan] = &segments[..] else { unreachable!() };
    assert_eq!((frame.1[0], frame.1[5]), (8, 3), "bits of a sample, components");
    assert_eq!(frame.1[6..], [1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]);
    assert_eq!(scan.1, [3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0], "one scan with all coefficients");
    for (id, &(_, table)) in [0x00, 0x10, 0x01, 0x11].iter().zip(&segments[4..8]) {
        huffman_table(table, *id);
    }
}

/// The segments before the scan, with the scan's own header: marker and contents.
fn segments(jpeg: &[u8]) -> Vec<(u8, &[u8])> {
    assert_eq!(jpeg[..2], [0xFF, 0xD8]);
    let (mut at, mut all) = (2, Vec::new());
    while all.last().is_none_or(|&(marker, _)| marker != 0xDA) {
        assert_eq!(jpeg[at], 0xFF, "a segment begins with a marker");
        let length = usize::from(u16::from_be_bytes([jpeg[at + 2], jpeg[at + 3]]));
        all.push((jpeg[at + 1], &jpeg[at + 4..at + 2 + length]));
        at += 2 + length;
    }
    all
}

/// Checks a Huffman table of a class (upper 4 bits of `id`: DC or AC) and number.
fn huffman_table(table: &[u8], id: u8) {
    assert_eq!(table[0], id);
    let (counts, symbols) = table[1..].split_at(16);
    assert_eq!(counts.iter().map(|&count| usize::from(count)).sum::<usize>(), symbols.len());
    let mut code = 0u32;
    for (length, &count) in (1..).zip(counts) {
        code = (code << 1) + u32::from(count);
        assert!(code < 1 << length, "no code of {length} bits is only ones");
    }
    let mut sorted = symbols.to_vec();
    sorted.sort_unstable();
    assert!(sorted.windows(2).all(|pair| pair[0] < pair[1]), "each symbol once");
    let fits = |symbol: u8| match (id >> 4, symbol >> 4, symbol & 15) {
        (0, 0, bits) => bits <= 11,
        (0, ..) => false,
        (_, 0 | 15, 0) => true,
        (_, _, bits) => (1..=10).contains(&bits),
    };
    assert!(symbols.iter().all(|&symbol| fits(symbol)), "{id:x}: {symbols:?}");
}
