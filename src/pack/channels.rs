//! How many channels all sound has, if the videos decide it.

use super::options::PackOptions;
use super::plan::PackPlan;
use super::work::{Pool, Sources, VideoStore, sound_channels};
use crate::{Error, Hint, Result, video};

/// Videos that are looked at for one with sound.
const FIRST_VIDEOS: usize = 100;

/// The number of channels of all sound, if the videos decide it: that of the first one that has sound and can be packed. It
/// is packed only for this, so that a file that crashes a decoder does so where decoders may crash.
pub(super) fn channels(plan: &PackPlan, options: &PackOptions, pool: Option<&Pool<'_>>) -> Result<Option<u32>> {
    if options.audio.is_none_or(|audio| audio.channels.count().is_some()) {
        return Ok(None);
    }
    video::init();
    let jobs = plan.jobs.get(..FIRST_VIDEOS).unwrap_or(&plan.jobs);
    let store = VideoStore::new(&options.input.storage);
    let sources = Sources::new(jobs, options.recipe(&store, (&plan.tracks, None)), &options.resources, None, pool, 1);
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
    let e =
        Error::usage(format!("none of the first {} videos has sound that says how many channels to store", jobs.len()));
    Err(e.hint(Hint::Choose("audio_channels", "mono")).hint(Hint::Choose("audio_channels", "stereo")))
}
