//! The annotated hex dump of the smallest data set that closes the text of the format.

use std::path::Path;

use vidrec::raw::section::{BYTES as TABLE_ENTRY, SectionEntry};

const BEGIN: &str = "<!-- hex:begin -->\n";
const END: &str = "<!-- hex:end -->";

/// The text before the dump, the dump, and the text behind it.
pub fn in_text(text: &str) -> (&str, &str, &str) {
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (dump, after) = rest.split_once(END).unwrap();
    (before, dump, after)
}

/// Puts `dump` into the file at `path`.
pub fn replace(path: &Path, dump: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    let (before, _, after) = in_text(&text);
    std::fs::write(path, format!("{before}{BEGIN}{dump}{END}{after}")).unwrap();
}

/// Both files, a block for each structure.
pub fn dump(record: &[u8], index: &[u8]) -> String {
    let mut out = String::new();
    out += "`minimal.rec`\n";
    let length = u32::from_le_bytes(record[4..8].try_into().unwrap()) as usize;
    let parts = [("magic, lrec", 8), ("flag, label", 8), ("id, id2", 16), ("JPEG", length - 24)];
    let rest = record.len() - 8 - length;
    blocks(record, 0, parts.into_iter().chain([("padding", rest)]), &mut out);

    out += "\n`minimal.vidx`\n";
    let table = u64::from_le_bytes(index[24..32].try_into().unwrap()) as usize;
    let entries: Vec<_> =
        index[table..index.len() - 24].as_chunks::<TABLE_ENTRY>().0.iter().map(SectionEntry::from_bytes).collect();
    blocks(index, 0, [("header", 64)], &mut out);
    for (n, entry) in entries.iter().enumerate() {
        let (begin, length) = (entry.offset as usize, entry.length as usize);
        let next = entries.get(n + 1).map_or(table, |e| e.offset as usize);
        let name = format!("{:?}", entry.id);
        blocks(index, begin, [(&name[..], length), ("padding", next - begin - length)], &mut out);
    }
    for (n, entry) in entries.iter().enumerate() {
        let name = format!("section table, {:?}", entry.id);
        blocks(index, table + n * TABLE_ENTRY, [(&name[..], TABLE_ENTRY)], &mut out);
    }
    blocks(index, index.len() - 24, [("footer", 24)], &mut out);
    out
}

fn blocks<'a>(file: &[u8], mut at: usize, parts: impl IntoIterator<Item = (&'a str, usize)>, out: &mut String) {
    for (name, length) in parts.into_iter().filter(|(_, length)| *length > 0) {
        *out += &format!("\n    {name}\n");
        for (row, bytes) in file[at..at + length].chunks(16).enumerate() {
            let digits: Vec<_> = bytes.iter().map(|b| format!("{b:02x}")).collect();
            let text: String = bytes.iter().map(|&b| if b.is_ascii_graphic() { char::from(b) } else { '.' }).collect();
            *out += &format!("    {:08x}: {:<47}  {text}\n", at + row * 16, digits.join(" "));
        }
        at += length;
    }
}
