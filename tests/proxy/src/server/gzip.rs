//! gzip without compression: what every decoder takes.

/// `bytes` as a gzip file of stored blocks (RFC 1951, 3.2.4, and RFC 1952).
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut blocks = bytes.chunks(0xffff).peekable();
    if blocks.peek().is_none() {
        out.extend([1, 0, 0, 0xff, 0xff]);
    }
    while let Some(block) = blocks.next() {
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        out.push(u8::from(blocks.peek().is_none()));
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend(block);
    }
    out.extend(crc32(bytes).to_le_bytes());
    // Modulo 2^32, as the format has it.
    out.extend((bytes.len() as u32).to_le_bytes());
    out
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::{Command, Stdio};

    #[test]
    fn gzip_reads_what_this_writes() {
        for length in [0, 1, 0xffff, 0x1_0000, 200_000] {
            let bytes: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
            let mut gunzip =
                Command::new("gzip").arg("-dc").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let mut stdin = gunzip.stdin.take().unwrap();
            let compressed = gzip(&bytes);
            let writer = std::thread::spawn(move || stdin.write_all(&compressed).unwrap());
            let done = gunzip.wait_with_output().unwrap();
            writer.join().unwrap();
            assert!(done.status.success() && done.stdout == bytes, "{length} bytes");
        }
    }
}
