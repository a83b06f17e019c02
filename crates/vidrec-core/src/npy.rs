//! Headers of NumPy arrays: `.npy` files of versions 1.0, 2.0 and 3.0.
//!
//! The format: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>. The header is a Python dict.
//! Only the syntax that NumPy writes is understood.

use vidrec_format::error::{Error, Result};

/// Longest header. NumPy's own are below 200 bytes, and an array has at most 32 dimensions.
const MAX_HEADER: usize = 64 << 10;

/// The description of the array in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The type of its numbers, such as `<f4`.
    pub descr: String,
    /// Whether the first index changes fastest.
    pub fortran_order: bool,
    /// The length of each dimension.
    pub shape: Vec<usize>,
}

impl Header {
    /// Returns the header of a file, and the bytes of its numbers.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): it is not a `.npy` file.
    pub fn read(bytes: &[u8]) -> Result<(Self, &[u8])> {
        let fault = |what: &str| Error::usage(format!("vidrec cannot read this .npy file: {what}"));
        let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or_else(|| fault("it does not begin with NumPy's magic"))?;
        let short = || fault("its header is cut off");
        let (length, rest) = match rest.split_first_chunk::<2>().ok_or_else(short)? {
            ([1, 0], rest) => {
                let (length, rest) = rest.split_first_chunk().ok_or_else(short)?;
                (usize::from(u16::from_le_bytes(*length)), rest)
            }
            ([2 | 3, 0], rest) => {
                let (length, rest) = rest.split_first_chunk().ok_or_else(short)?;
                (u32::from_le_bytes(*length) as usize, rest)
            }
            ([major, minor], _) => return Err(fault(&format!("its version is {major}.{minor}"))),
        };
        if length > MAX_HEADER {
            return Err(fault("its header is too long").found(length));
        }
        let (header, data) = rest.split_at_checked(length).ok_or_else(short)?;
        let text = std::str::from_utf8(header).map_err(|_| fault("its header is not text"))?;
        let header = Self::parse(text);
        Ok((header.ok_or_else(|| fault("its header is not one that NumPy writes").found(text.trim()))?, data))
    }

    /// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`, with its keys in any order.
    fn parse(text: &str) -> Option<Self> {
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (key, after) = quoted(rest)?;
            rest = after.trim_start().strip_prefix(':')?.trim_start();
            rest = match key {
                "descr" => {
                    let (value, after) = quoted(rest)?;
                    descr = Some(value.to_owned());
                    after
                }
                "fortran_order" => {
                    let is_on = rest.starts_with("True");
                    fortran_order = Some(is_on);
                    rest.strip_prefix(if is_on { "True" } else { "False" })?
                }
                "shape" => {
                    let (inner, after) = rest.strip_prefix('(')?.split_once(')')?;
                    let sides = inner.split(',').map(str::trim).filter(|side| !side.is_empty());
                    shape = Some(sides.map(|side| side.trim_end_matches('L').parse().ok()).collect::<Option<_>>()?);
                    after
                }
                _ => return None,
            };
            rest = rest.trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        }
        Some(Header { descr: descr?, fortran_order: fortran_order?, shape: shape? })
    }
}

/// Reads a text in single or double quotes, and returns it with the rest.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_numpy_writes_is_read() {
        // As numpy.lib.format.write_array_header_1_0 wrote them before it left room for larger arrays.
        for (shape, text) in [(&[][..], "()"), (&[3][..], "(3,)"), (&[3, 0, 14][..], "(3, 0, 14)")] {
            let text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {text}, }}\n");
            let length = (text.len() as u16).to_le_bytes();
            let bytes = [b"\x93NUMPY\x01\x00", &length[..], text.as_bytes(), &[1, 2, 3]].concat();
            let header = Header { descr: "<f4".into(), fortran_order: false, shape: shape.to_vec() };
            assert_eq!(Header::read(&bytes).unwrap(), (header, &[1, 2, 3][..]));
        }
    }
}
