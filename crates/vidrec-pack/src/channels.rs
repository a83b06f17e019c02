//! The number of channels that all sound has, where the videos decide it.

use super::options::PackOptions;
use super::plan::{Job, PackPlan};
use super::work::{Pool, Sources, VideoStore, sound_channels};
use crate::video;
use vidrec_format::error::{Error, Hint, Result};

/// The number of videos that are searched for one with sound.
const FIRST_VIDEOS: usize = 100;

/// Returns the number of channels of all sound, if the videos decide it.
///
/// It is that of the first video that has sound and can be packed. That video is packed only to find out, so a
/// file that crashes a decoder crashes it in a process where decoders may crash.
pub(super) fn channels(plan: &PackPlan, options: &PackOptions, pool: Option<&Pool<'_>>) -> Result<Option<u32>> {
    if options.input.audio.is_none_or(|audio| audio.channels.count().is_some()) {
        return Ok(None);
    }
    video::init();
    let jobs = plan.jobs.get(..FIRST_VIDEOS).unwrap_or(&plan.jobs);
    let store = VideoStore::new(&options.input.storage, 1);
    let jobs: Vec<&Job> = jobs.iter().collect();
    let sources = Sources::new(&jobs, options.recipe(&store, (&plan.tracks, None)), &options.resources, pool, 1);
    for (ordinal, job) in jobs.iter().enumerate() {
        match sources.pack(ordinal).clips {
            Ok(clips) => {
                if let Some(channels) = clips.first().and_then(sound_channels) {
                    return Ok(Some(channels));
                }
            }
            Err(failure) if failure.stops() => return Err(failure.to_error(&job.path)),
            Err(_) => {}
        }
    }
    let e = Error::usage(format!(
        "none of the first {} videos has sound, so the number of channels to store is unknown",
        jobs.len()
    ));
    Err(e.help("store sound of one channel, such as 16000, or of two, such as 16000:stereo").hint(Hint::Set("audio")))
}
