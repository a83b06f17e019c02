//! The coding of blocks that a header describes: quantization and Huffman tables, and the tables of each
//! component.

use std::sync::Arc;

use super::huffman::{AcTable, DcTable};
use super::idct::{Factors, Quantization};
use super::mcu::{Block, component_of};
use crate::markers::{DHT, DQT, SOF0, SOS, headers};

/// The coding of the blocks of the three components.
#[derive(Debug, Clone)]
pub struct Coding {
    components: [ComponentCoding; 3],
    /// The factors of two blocks of luma.
    pub(super) luma: Factors,
    /// The factors of one blue and one red block.
    pub(super) chroma: Factors,
    codes: Arc<HuffmanTables>,
}

/// The coding of the blocks of one component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ComponentCoding {
    quantization: Quantization,
    /// The number of the table in [`HuffmanTables`].
    dc: usize,
    ac: usize,
}

/// All Huffman tables of a header, which are expensive to build.
#[derive(Debug)]
struct HuffmanTables {
    /// The segments that define the tables.
    bytes: Vec<u8>,
    dc: [Option<DcTable>; 4],
    ac: [Option<AcTable>; 4],
}

impl Coding {
    /// Reads the tables of `header`, the header of a tiled JPEG. If one of `known` has the same Huffman tables,
    /// they are shared. `None` if a table is missing, violates the standard, or has more than 8 bits.
    pub fn read<'a>(header: &[u8], mut known: impl Iterator<Item = &'a Coding>) -> Option<Self> {
        let mut quantisations = [None; 4];
        let (mut code_bytes, mut quantisation_of, mut codes_of) = (Vec::new(), None, None);
        for segment in headers(header) {
            let body = segment.body;
            match segment.marker {
                DQT => read_quantisations(body, &mut quantisations)?,
                DHT => code_bytes.extend_from_slice(body),
                SOF0 => quantisation_of = Some([*body.get(8)?, *body.get(11)?, *body.get(14)?]),
                SOS => codes_of = Some([*body.get(2)?, *body.get(4)?, *body.get(6)?]),
                _ => {}
            }
        }
        let codes = match known.find(|coding| coding.codes.bytes == code_bytes) {
            Some(coding) => coding.codes.clone(),
            None => Arc::new(HuffmanTables::read(code_bytes)?),
        };
        let mut components = quantisation_of?.into_iter().zip(codes_of?).map(|(quantization, code)| {
            let (dc, ac) = (usize::from(code >> 4), usize::from(code & 15));
            let exist = codes.dc.get(dc)?.is_some() && codes.ac.get(ac)?.is_some();
            let quantization = (*quantisations.get(usize::from(quantization))?)?;
            exist.then_some(ComponentCoding { quantization, dc, ac })
        });
        let components = [components.next()??, components.next()??, components.next()??];
        let [luma, blue, red] = components.each_ref().map(|component| &component.quantization);
        let (luma, chroma) = (Factors::new([luma, luma]), Factors::new([blue, red]));
        Some(Coding { components, luma, chroma, codes })
    }

    /// Whether block `i` of an MCU has larger values than pictures do: see [`Quantization::beyond_pictures`].
    pub(super) fn beyond_pictures(&self, i: usize, block: &Block) -> bool {
        self.components[component_of(i)].quantization.beyond_pictures(block)
    }

    /// The quantizers of each component, row by row.
    pub fn quantizers(&self) -> [[i16; 64]; 3] {
        self.components.map(|component| component.quantization.rows())
    }

    /// Whether both describe the same coding.
    pub fn is(&self, other: &Coding) -> bool {
        let same_codes = Arc::ptr_eq(&self.codes, &other.codes) || self.codes.bytes == other.codes.bytes;
        same_codes && self.components == other.components
    }

    /// Appends the coding in 16-bit words, for a decoder on another device.
    ///
    /// First come six places, counted from the start: those of the DC and AC codes of luma, blue and red. Then come
    /// the quantizers of each component, row by row. A code has the symbol (upper half) and length of the code at the
    /// start of each value of 10 bits, or 0 for a longer code; then for each length of 0 to 16 the first longer code in
    /// 16 left-aligned bits; then for each length the number to add to a code of that length, which gives the place of
    /// its symbol in the lower eight bits; and 256 symbols. Returns `None` if a code is missing.
    pub fn write_words(&self, to: &mut Vec<u16>) -> Option<()> {
        let start = to.len();
        to.extend([0; 6]);
        to.extend(self.quantizers().iter().flatten().map(|&factor| factor as u16));
        let mut known = Vec::new();
        for (i, component) in self.components.iter().enumerate() {
            let (dc, ac) = self.tables(i)?;
            let codes = [(0, component.dc, dc.code()), (1, component.ac, ac.code())];
            for (class, number, code) in codes {
                let at = match known.iter().find(|(key, _)| *key == (class, number)) {
                    Some(&(_, at)) => at,
                    None => {
                        let at = u16::try_from(to.len() - start).ok()?;
                        known.push(((class, number), at));
                        code.write_words(to);
                        at
                    }
                };
                to[start + 2 * i + class] = at;
            }
        }
        Some(())
    }

    pub(super) fn tables(&self, component: usize) -> Option<(&DcTable, &AcTable)> {
        let ComponentCoding { dc, ac, .. } = self.components[component];
        self.codes.dc[dc].as_ref().zip(self.codes.ac[ac].as_ref())
    }
}

/// Reads tables of 64 bytes in zigzag order, each after its number.
fn read_quantisations(body: &[u8], tables: &mut [Option<Quantization>; 4]) -> Option<()> {
    let (parts, []) = body.as_chunks::<65>() else { return None };
    for [number, values @ ..] in parts {
        *tables.get_mut(usize::from(*number))? = Some(Quantization::from_zigzag(values));
    }
    Some(())
}

impl HuffmanTables {
    fn read(bytes: Vec<u8>) -> Option<Self> {
        let mut codes = HuffmanTables { bytes: Vec::new(), dc: [const { None }; 4], ac: [const { None }; 4] };
        let mut rest = &bytes[..];
        while let Some((&[class, ref counts @ ..], behind)) = rest.split_first_chunk::<17>() {
            let symbols = counts.iter().map(|&count| usize::from(count)).sum::<usize>();
            let (symbols, behind) = behind.split_at_checked(symbols)?;
            let number = usize::from(class & 15);
            match class >> 4 {
                0 => *codes.dc.get_mut(number)? = Some(DcTable::new(counts, symbols)?),
                1 => *codes.ac.get_mut(number)? = Some(AcTable::new(counts, symbols)?),
                _ => return None,
            }
            rest = behind;
        }
        if !rest.is_empty() {
            return None;
        }
        codes.bytes = bytes;
        Some(codes)
    }
}
