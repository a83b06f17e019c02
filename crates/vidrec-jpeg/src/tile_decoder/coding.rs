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
            places.codes[component] =
                [(*dc.get(usize::from(code >> 4))?)?, (*ac.get(usize::from(code & 15))?)?];
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
        let is_valid = if class >> 4 == 0 { DcTable::accepts(counts, symbols) } else { AcTable::accepts(counts, symbols) };
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
#[derive(Debug, Clone)]
pub(crate) struct Coding {
    quantizations: [Quantization; 3],
    /// The factors of two blocks of luma.
    pub(super) luma: Factors,
    /// The factors of one blue and one red block.
    pub(super) chroma: Factors,
    codes: Arc<HuffmanTables>,
}

/// The Huffman tables of a header, which are expensive to build.
#[derive(Debug)]
struct HuffmanTables {
    /// For each table its component and class, and the bytes that define it.
    bytes: Vec<u8>,
    /// The tables of each component; `None` if they are those of an earlier one.
    tables: [(Option<DcTable>, Option<AcTable>); 3],
    /// For each component, the component that has its tables of DC and AC.
    owners: [[usize; 2]; 3],
}

impl Coding {
    /// Builds the tables of `header`. If one of `known` has the same Huffman tables, they are shared.
    pub fn new<'a>(
        header: &[u8],
        places: &TablePlaces,
        mut known: impl Iterator<Item = &'a Coding>,
    ) -> Option<Self> {
        let mut quantizations = [Quantization::from_zigzag(&[0; 64]); 3];
        for (quantization, &at) in quantizations.iter_mut().zip(&places.quantizers) {
            *quantization = Quantization::from_zigzag(header.get(at as usize..)?.first_chunk()?);
        }
        let bytes = HuffmanTables::bytes(header, places)?;
        let codes = match known.find(|coding| coding.codes.bytes == bytes) {
            Some(coding) => coding.codes.clone(),
            None => Arc::new(HuffmanTables::new(header, places, bytes)?),
        };
        let [luma, blue, red] = quantizations.each_ref();
        let (luma, chroma) = (Factors::new([luma, luma]), Factors::new([blue, red]));
        Some(Coding { quantizations, luma, chroma, codes })
    }

    /// Whether block `i` of an MCU has larger values than pictures do: see [`Quantization::beyond_pictures`].
    pub(super) fn beyond_pictures(&self, i: usize, block: &Block) -> bool {
        self.quantizations[component_of(i)].beyond_pictures(block)
    }

    pub(super) fn tables(&self, component: usize) -> Option<(&DcTable, &AcTable)> {
        let [dc, ac] = self.codes.owners[component];
        self.codes.tables[dc].0.as_ref().zip(self.codes.tables[ac].1.as_ref())
    }
}

impl HuffmanTables {
    /// For each component, the first component with the same tables of DC and AC.
    fn owners(places: &TablePlaces) -> [[usize; 2]; 3] {
        let first = |place: u32, class: usize| places.codes.iter().position(|codes| codes[class] == place);
        places.codes.map(|codes| [0, 1].map(|class| first(codes[class], class).unwrap_or(0)))
    }

    fn bytes(header: &[u8], places: &TablePlaces) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        for (component, owners) in Self::owners(places).iter().enumerate() {
            for class in [0, 1].into_iter().filter(|&class| owners[class] == component) {
                let (counts, symbols) = code_at(header, places.codes[component][class])?;
                bytes.push((2 * component + class) as u8);
                bytes.extend(counts);
                bytes.extend(symbols);
            }
        }
        Some(bytes)
    }

    fn new(header: &[u8], places: &TablePlaces, bytes: Vec<u8>) -> Option<Self> {
        let owners = Self::owners(places);
        let mut tables = [const { (None, None) }; 3];
        for (component, table) in tables.iter_mut().enumerate() {
            let [dc, ac] = places.codes[component];
            if owners[component][0] == component {
                let (counts, symbols) = code_at(header, dc)?;
                table.0 = Some(DcTable::new(counts, symbols)?);
            }
            if owners[component][1] == component {
                let (counts, symbols) = code_at(header, ac)?;
                table.1 = Some(AcTable::new(counts, symbols)?);
            }
        }
        Some(HuffmanTables { bytes, tables, owners })
    }
}
