//! The functions that read receipts, messages and tables from any bytes, for the fuzz targets in
//! `fuzz/`.

use std::path::Path;

use super::shards::receipt;
use super::track::read_any;
use super::work::wire::{Hello, Request, receive, receive_said};

/// Reads the receipt of a part.
pub fn receipts(bytes: &[u8]) {
    receipt::prove(bytes);
}

/// Reads what a run and its decoding processes say to each other.
pub fn messages(bytes: &[u8]) {
    let _ = receive::<Hello>(&mut &*bytes);
    let _ = receive::<Request>(&mut &*bytes);
    let _ = receive_said(&mut &*bytes, u64::MAX);
}

/// Reads a file of track values, of the kind that its extension names.
pub fn values(file: &Path) {
    read_any(file);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz_seeds::mutate_seeds;

    /// Calls `work` with a folder that has a file of these bytes.
    fn with_file(name: &str, bytes: &[u8], work: impl FnOnce(&Path)) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
        work(folder.path());
    }

    #[test]
    fn any_change_of_a_receipt_or_a_plan_is_read_or_refused() {
        mutate_seeds("receipt", receipts);
        mutate_seeds("parts_plan", |bytes| {
            with_file(".vidrec.pack/plan.json", bytes, |folder| {
                let _ = crate::plan_status(folder, &vidrec_core::store::storage::Storage::default());
            });
        });
        mutate_seeds("changes", |bytes| {
            with_file(".vidrec.changes", bytes, |folder| {
                let _ = vidrec_core::store::disk::publication::recover(folder);
            });
        });
    }

    #[test]
    fn any_change_of_a_message_is_read_or_refused() {
        mutate_seeds("messages", messages);
    }

    #[test]
    fn any_change_of_a_file_of_values_is_read_or_refused() {
        for kind in ["npy", "npz", "csv", "json"] {
            let name = format!("a.{kind}");
            mutate_seeds(kind, |bytes| with_file(&name, bytes, |folder| values(&folder.join(&name))));
        }
    }
}
