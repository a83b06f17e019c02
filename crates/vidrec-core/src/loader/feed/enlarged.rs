//! The clips whose frames are smaller than the pictures.

use crate::dataset::{Clip, Dataset, Tables};
use crate::loader::options::Rules;
use vidrec_format::error::Result;

/// Most clips of a data set that are looked at, the first ones. They take a tenth of a second.
const MOST: u64 = 1 << 18;

/// The clips whose frames are enlarged in every sample.
#[derive(Debug, Default)]
pub(super) struct EnlargedClips {
    pub count: u64,
    /// The number of clips that were looked at.
    pub seen: u64,
    /// Width and height of the first one's frames, and those to which they are enlarged.
    pub example: ((u32, u32), (u32, u32)),
}

impl EnlargedClips {
    /// Reads the entries of clips. `rules` are those of each source, for each of its cameras.
    ///
    /// The first clip of a remote data set says whether it is worth to fetch the entries of all.
    pub fn find<'a>(sources: &[Dataset], rules: impl Iterator<Item = &'a [Rules]>) -> Result<Self> {
        let mut found = EnlargedClips::default();
        for (dataset, rules) in sources.iter().zip(rules) {
            let enlarged = |clip: &Clip<'_>| rules[clip.ordinal() as usize % rules.len()].enlarged(clip);
            // An entry that cannot be read is an error when its clip is loaded.
            let clips = || dataset.clips().flatten();
            let mut most = MOST.min(dataset.len());
            if dataset.is_remote() && (dataset.len() > MOST || clips().next().as_ref().and_then(enlarged).is_none()) {
                most = most.min(1);
            } else {
                dataset.prefetch_all(Tables { clips: true, ..Tables::default() })?;
            }
            found.seen += most;
            for (to, clip) in clips().take(most as usize).filter_map(|clip| Some((enlarged(&clip)?, clip))) {
                if found.count == 0 {
                    found.example = ((clip.width(), clip.height()), to);
                }
                found.count += 1;
            }
        }
        Ok(found)
    }
}
