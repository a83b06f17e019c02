//! The graphics protocol of kitty (<https://sw.kovidgoyal.net/kitty/graphics-protocol/>).

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::picture::{self, Picture};

/// The most letters of base64 in an escape sequence.
const CHUNK: usize = 4096;

/// Writes a picture that is as wide as some columns, as PNG.
pub fn write(out: &mut impl Write, picture: &Picture, columns: u32) -> io::Result<()> {
    let mut png = Vec::new();
    picture::png(&mut png, picture)?;
    let text = STANDARD.encode(png);
    let mut chunks = text.as_bytes().chunks(CHUNK).peekable();
    let mut keys = format!("a=T,f=100,q=2,c={columns},");
    while let Some(chunk) = chunks.next() {
        let more = u8::from(chunks.peek().is_some());
        write!(out, "\x1b_G{keys}m={more};")?;
        out.write_all(chunk)?;
        write!(out, "\x1b\\")?;
        keys.clear();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_comes_in_chunks() {
        let mut noise = Picture::of(64, 64, [0; 3]);
        for (x, y) in (0..64).flat_map(|y| (0..64).map(move |x| (x, y))) {
            *noise.pixel_mut(x, y).unwrap() = [(x * 37 + y * y * 91) as u8, (x * y) as u8, y as u8 ^ x as u8];
        }
        let mut text = Vec::new();
        write(&mut text, &noise, 7).unwrap();
        let text = String::from_utf8(text).unwrap();
        let parts: Vec<_> = text.split_terminator("\x1b\\").map(|part| part.strip_prefix("\x1b_G").unwrap()).collect();
        assert!(parts.len() > 1 && parts[0].starts_with("a=T,f=100,q=2,c=7,m=1;"));
        assert!(parts[1..parts.len() - 1].iter().all(|part| part.starts_with("m=1;") && part.len() == CHUNK + 4));
        assert!(parts.last().unwrap().starts_with("m=0;"));
        let joined: String = parts.iter().map(|part| part.split_once(';').unwrap().1).collect();
        let picture = image::load_from_memory(&STANDARD.decode(joined).unwrap()).unwrap().to_rgb8();
        assert_eq!(picture.as_raw().as_slice(), noise.pixels().as_flattened());
    }
}
