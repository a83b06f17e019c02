//! Repairing one shard.

use super::old_index::OldIndex;
use super::output::Sink;
use super::report::{LostClip, PartlyLost, RepairOptions, RepairReport};
use super::salvage::{FOREIGN_WITHOUT_ENTRY, Fate, Salvage, SalvagedClip};
use super::shards::ShardFiles;
use super::tracks::OldTracks;
use vidrec_format::data_binding::{DataBinding, edge_crc32};
use vidrec_format::error::{Error, Result};
use vidrec_format::meta::{FOREIGN_RECORDS, Meta};
use vidrec_format::progress::Counter;

/// The repair of one shard.
pub(super) struct Run<'r, 'a, 'p, 'f> {
    pub name: &'r str,
    pub tracks: Option<&'r OldTracks<'r>>,
    pub salvage: Salvage<'a>,
    pub options: &'r RepairOptions,
    pub report: &'r mut RepairReport,
    pub sink: &'r mut Sink,
    pub counter: &'r mut Counter<'p, 'f>,
    /// Whether an intact clip was not saved.
    pub left_out: bool,
}

impl<'a> Run<'_, 'a, '_, '_> {
    pub fn shard(&mut self, shard: &ShardFiles, old: &OldIndex<'_>, meta: &Meta) -> Result<()> {
        let binding = binding(shard.record.as_deref().unwrap_or_default(), self.salvage.sha256);
        let binding_fits = old.binding == Some(binding);
        let tracks_fit = old.tracks == self.tracks.and_then(|tracks| tracks.binding);
        self.sink.begin_shard(shard, self.tracks, old.is_whole && binding_fits && tracks_fit)?;
        let draws = crate::edit::draws(meta);
        let clip_count = self.salvage.clip_count();
        self.report.clips += clip_count;
        let mut group: Vec<Fate<'a>> = Vec::new();
        let mut next = 0;
        for ordinal in self.salvage.ordinals() {
            if group.first().is_some_and(|_| ordinal / draws != (next - 1) / draws) {
                self.group(&mut group, draws)?;
            }
            self.nothing_left(next, ordinal);
            group.push(self.salvage.clip(ordinal));
            next = ordinal + 1;
            self.counter.add(0, 0)?;
        }
        self.group(&mut group, draws)?;
        self.nothing_left(next, clip_count);
        let foreign = self.salvage.is_foreign;
        // Only the digests prove the parts of another program's records that are not images.
        let is_known = !foreign || old.binding.is_none() || binding_fits;
        let record_is_whole = self.salvage.fills_the_file() && is_known && shard.record.is_some();
        let name = self.name;
        if shard.record.is_some() && !record_is_whole && foreign && is_known && !old.is_whole {
            self.report.damage.push(format!(
                "{name}: another program wrote the ids and labels of its records, and the index that says which of \
                 them form a clip is damaged; to rebuild it, import {name} in place again, with the same options as \
                 before"
            ));
            self.report.needs_import.push(name.to_owned());
        } else if !record_is_whole && shard.record.is_some() {
            self.report.damage.push(format!("{name}: the record file is damaged or incomplete"));
        } else if record_is_whole && old.binding.is_some() && !binding_fits {
            self.report.damage.push(format!("{name}: its length or digests do not match the index"));
        }
        let keeps_all = record_is_whole && !self.left_out;
        let records = if foreign { FOREIGN_RECORDS.to_owned() } else { String::new() };
        self.sink.end_shard(keeps_all.then_some(&binding), &Meta { records, ..meta.clone() })
    }

    /// Reports clips that have neither an entry nor a record left.
    fn nothing_left(&mut self, first: u64, end: u64) {
        if first < end {
            let reason = if self.salvage.is_foreign { FOREIGN_WITHOUT_ENTRY } else { "nothing of it is left" };
            self.report.lost.push(LostClip {
                shard: self.name.to_owned(),
                clip: first,
                clips: end - first,
                source: None,
                label: None,
                frames: Vec::new(),
                reason: reason.into(),
            });
        }
    }

    /// Writes the draws of one video if all of them can be saved, and none of them otherwise.
    fn group(&mut self, group: &mut Vec<Fate<'a>>, draws: u64) -> Result<()> {
        let unproven = |clip: &SalvagedClip<'_>| self.options.proven_only && clip.losses.unproven;
        let fits = |fate: &Fate<'_>| matches!(fate, Fate::Salvaged(clip) if !unproven(clip));
        let complete = group.len() as u64 == draws && group.iter().all(fits);
        for fate in group.drain(..) {
            match fate {
                Fate::Lost(lost) => self.report.lost.push(lost),
                Fate::Salvaged(clip) if complete => self.write(clip)?,
                Fate::Salvaged(clip) => {
                    let reason = match clip.losses.unproven && self.options.proven_only {
                        true => "no checksum proves that it is intact",
                        false => "another draw of the same video is lost",
                    };
                    self.report.lost.push(LostClip {
                        shard: self.name.to_owned(),
                        clip: clip.ordinal,
                        clips: 1,
                        source: known(&clip.info.source),
                        label: clip.info.label,
                        frames: Vec::new(),
                        reason: reason.into(),
                    });
                    self.left_out = true;
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, mut clip: SalvagedClip<'a>) -> Result<()> {
        let (tracks, lost) = self.tracks.map(|t| t.clip(clip.ordinal, clip.frames.len() as u32)).unwrap_or_default();
        clip.losses.tracks = lost;
        let repair = clip.losses.to_json();
        if !repair.is_empty() {
            self.report.partly_lost.push(PartlyLost {
                shard: self.name.to_owned(),
                clip: clip.ordinal,
                source: known(&clip.info.source),
                repair: repair.clone(),
            });
            clip.info.attributes.0.insert("repair".into(), repair.0.into());
        }
        self.report.salvaged += 1;
        self.sink.write(&clip, &tracks).map_err(|e: Error| e.in_clip(clip.ordinal))
    }
}

fn binding(file: &[u8], sha256: [u8; 32]) -> DataBinding {
    DataBinding { length: file.len() as u64, sha256, edge_crc32: edge_crc32(file) }
}

fn known(source: &str) -> Option<String> {
    (!source.is_empty()).then(|| source.to_owned())
}
