//! A folder of GulpIO, as GulpIO2 writes it.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

/// Writes a chunk of videos: the id, the metadata and the JPEGs of each.
pub fn write_chunk(folder: &Path, number: u32, videos: &[(&str, Value, Vec<Vec<u8>>)]) {
    let (mut data, mut table) = (Vec::new(), Map::new());
    for (id, meta, jpegs) in videos {
        let mut frames = Vec::new();
        for jpeg in jpegs {
            let padded = jpeg.len().next_multiple_of(4);
            frames.push(json!([data.len(), padded - jpeg.len(), padded]));
            data.extend(jpeg);
            data.resize(data.len() + padded - jpeg.len(), 0);
        }
        table.insert((*id).into(), json!({ "meta_data": [meta], "frame_info": frames }));
    }
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(format!("data_{number}.gulp")), data).unwrap();
    fs::write(folder.join(format!("meta_{number}.gmeta")), Value::Object(table).to_string()).unwrap();
}
