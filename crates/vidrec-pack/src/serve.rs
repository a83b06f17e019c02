//! The worker processes of [`Resources::isolate`](super::Resources::isolate): starting them, and what one does.

use std::io;
use std::sync::Arc;

use super::options::{PackOptions, TOOL};
use super::track::PlannedTrack;
use super::work::messages::{Greeting, Setup};
use super::work::{ClipRecipe, MemoryBound, OpenVideos, Pool, RunClient, VideoStore, confine, pack_one};
use crate::video;
use vidrec_format::error::{Error, Result};

/// Packs the videos that a run with [`Resources::isolate`](super::Resources::isolate) asks for, until the run ends.
///
/// Standard input is a socket to the run, which nothing else may use. `options` must be those of the run. The run is over
/// at the end of standard input. The caller should end the process when this function returns.
///
/// On Linux, **the process is confined from here on, for the rest of its life**: it cannot open a file, make a
/// connection, start a program or end another process, and a few signals no longer reach it. The run opens the
/// videos. Call this function before the process has a second thread, and only in a process that does nothing
/// else.
///
/// # Errors
///
/// [`Io`](vidrec_format::error::ErrorKind::Io): the run cannot be reached.
pub fn serve(options: &PackOptions) -> Result<()> {
    video::init();
    let greeting = Greeting { setup: setup(options)?, unconfined: confine().err() };
    answer(options, &greeting).map_err(|e| Error::io("talk to the run", "standard input", e))
}

fn answer(options: &PackOptions, greeting: &Greeting) -> io::Result<()> {
    let client = RunClient::connect(greeting)?;
    let (memory, open_videos) = (MemoryBound::of_run(&client), Arc::new(OpenVideos::new(1)));
    while let Some(request) = client.next()? {
        let store = VideoStore::of_run(&client, request.folders, &open_videos);
        let recipe = options.recipe(&store, &request.tracks);
        let recipe = ClipRecipe { measure: request.measure, shared: request.shared, ..recipe };
        client.reply(pack_one(&request.job, recipe, &mut memory.hold(), request.alone))?;
    }
    Ok(())
}

/// Returns the setup that a worker has to share with its run.
fn setup(options: &PackOptions) -> Result<Setup> {
    Ok(Setup { tool: TOOL.into(), ffmpeg: video::ffmpeg_version(), settings: options.settings()? })
}

/// Starts the workers of a run, if its options ask for any.
pub(super) fn pool<'a>(tracks: &'a [PlannedTrack], options: &'a PackOptions) -> Result<Option<Pool<'a>>> {
    let start = |command: &'a Vec<_>| Pool::start(command, setup(options)?, options.limits.timeout.0, tracks);
    options.resources.isolate.as_ref().map(start).transpose()
}
