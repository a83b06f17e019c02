//! The coding of blocks that a header describes: quantization and Huffman tables, and the tables of each
//! component.

use std::sync::Arc;

use super::huffman::{AcTable, DcTable};
use super::idct::{Factors, Quantization};
use super::mcu::{Block, component_of};
use crate::markers::{DHT, DQT, SOF0, SOS, headers};

/// The location of the tables of the three components in the header of a tiled JPEG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TablePlaces {
    /// For each component, the first of its 64 quantizers, in coding order.
    pub quantizers: [u32; 3],
    /// For each component, its Huffman codes of DC and AC: the first of the 16 counts of each length. The symbols follow them.
    pub codes: [[u32; 2]; 3],
}

impl TablePlaces {
    /// Finds and checks the tables. `None` if a table is missing, violates the standard, or has more than 8 bits.
    pub fn read(header: &[u8]) -> Option<Self> {
        let (mut quantizers, mut codes) = ([None; 4], [[None; 4]; 2]);
        let (mut quantizer_of, mut codes_of) = (None, None);
        for segment in headers(header) {
            let (body, start) = (segment.body, segment.end - segment.body.len());
            match segment.marker {
                DQT => find_quantizers(body, start, &mut quantizers)?,
                DHT => find_codes(body, start, &mut codes)?,
                SOF0 => quantizer_of = Some([*body.get(8)?, *body.get(11)?, *body.get(14)?]),
                SOS => codes_of = Some([*body.get(2)?, *body.get(4)?, *body.get(6)?]),
                _ => {}
            }
        }
        let mut places = TablePlaces { quantizers: [0; 3], codes: [[0; 2]; 3] };
        for (component, (quantizer, code)) in quantizer_of?.into_iter().zip(codes_of?).enumerate() {
            places.quantizers[component] = (*quantizers.get(usize::from(quantizer))?)?;
            let [dc, ac] = &codes;
            places.codes[component] = [(*dc.get(usize::from(code >> 4))?)?, (*ac.get(usize::from(code & 15))?)?];
        }
        Some(places)
    }
}

/// Finds tables of 64 bytes, each after its number.
fn find_quantizers(body: &[u8], start: usize, places: &mut [Option<u32>; 4]) -> Option<()> {
    let (parts, []) = body.as_chunks::<65>() else { return None };
    for (i, [number, ..]) in parts.iter().enumerate() {
        *places.get_mut(usize::from(*number))? = Some(u32::try_from(start + 65 * i + 1).ok()?);
    }
    Some(())
}

/// Finds Huffman codes, each after its class and number.
fn find_codes(mut body: &[u8], mut start: usize, places: &mut [[Option<u32>; 4]; 2]) -> Option<()> {
    while let Some((&class, rest)) = body.split_first() {
        let (counts, symbols) = code_at(rest, 0)?;
        let place = places.get_mut(usize::from(class >> 4))?.get_mut(usize::from(class & 15))?;
        let is_valid =
            if class >> 4 == 0 { DcTable::accepts(counts, symbols) } else { AcTable::accepts(counts, symbols) };
        *place = Some(u32::try_from(start + 1).ok().filter(|_| is_valid)?);
        let length = 17 + symbols.len();
        (body, start) = (&body[length..], start + length);
    }
    Some(())
}

/// The Huffman code at a place: the number of codes of each length, and their symbols.
fn code_at(bytes: &[u8], at: u32) -> Option<(&[u8; 16], &[u8])> {
    let (counts, rest) = bytes.get(at as usize..)?.split_first_chunk()?;
    Some((counts, rest.get(..counts.iter().map(|&count| usize::from(count)).sum())?))
}

/// The coding of the blocks of the three components.
pub(crate) struct Coding {
    quantizations: [Quantization; 3],
    /// The factors of two blocks of luma.
    pub(super) luma: Factors,
    /// The factors of one blue and one red block.
    pub(super) chroma: Factors,
    /// The Huffman tables of each component, which blue and red usually share.
    tables: [(Arc<DcTable>, Arc<AcTable>); 3],
}

impl Coding {
    /// Builds the tables of `header`.
    pub fn new(header: &[u8], places: &TablePlaces) -> Option<Self> {
        let quantization = |at: u32| Some(Quantization::from_zigzag(header.get(at as usize..)?.first_chunk()?));
        let [luma, blue, red] = places.quantizers.map(quantization);
        let quantizations = [luma?, blue?, red?];
        let mut tables: Vec<(Arc<DcTable>, Arc<AcTable>)> = Vec::new();
        for [dc, ac] in places.codes {
            let known = |class: usize, at| tables.iter().zip(&places.codes).find(|(_, known)| known[class] == at);
            let dc = match known(0, dc) {
                Some(((dc, _), _)) => dc.clone(),
                None => code_at(header, dc).and_then(|(counts, symbols)| DcTable::new(counts, symbols))?.into(),
            };
            let ac = match known(1, ac) {
                Some(((_, ac), _)) => ac.clone(),
                None => code_at(header, ac).and_then(|(counts, symbols)| AcTable::new(counts, symbols))?.into(),
            };
            tables.push((dc, ac));
        }
        let [luma, blue, red] = quantizations.each_ref();
        let (luma, chroma) = (Factors::new([luma, luma]), Factors::new([blue, red]));
        Some(Coding { quantizations, luma, chroma, tables: tables.try_into().ok()? })
    }

    /// Whether block `i` of an MCU has larger values than pictures do: see [`Quantization::beyond_pictures`].
    pub(super) fn beyond_pictures(&self, i: usize, block: &Block) -> bool {
        self.quantizations[component_of(i)].beyond_pictures(block)
    }

    pub(super) fn tables(&self, component: usize) -> (&DcTable, &AcTable) {
        let (dc, ac) = &self.tables[component];
        (dc, ac)
    }
}
