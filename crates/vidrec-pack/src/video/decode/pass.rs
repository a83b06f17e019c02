//! Makes one pass over the stream: counts the frames, takes the wanted ones, and gathers the facts.

use std::time::Instant;

use super::decoder::{Halt, PacketDecoder};
use super::needed::PacketChoice;
use super::result::{Keep, PassResult};
use super::taker::{Make, Taker};
use super::times::Presentation;
use crate::video::container::{Packets, StreamInfo};
use crate::video::error::{Stage, VideoError};
use crate::video::options::VideoOptions;
use vidrec_format::error::Error;

/// The data that all passes over one stream share.
pub(crate) struct DecodePass<'a> {
    pub stream: &'a StreamInfo,
    pub packets: &'a Packets,
    pub options: &'a VideoOptions,
    pub deadline: Instant,
}

impl DecodePass<'_> {
    /// Decodes the whole stream and takes the `wanted` ordinals, which ascend without repeats.
    ///
    /// The ordinals are those of `presentation`, if it is known. Without it, frames count as shown when they come
    /// out.
    pub fn run<T>(
        &self,
        wanted: &[u32],
        (keep, presentation): (Keep, Option<&Presentation>),
        mut make: Make<'_, T>,
    ) -> Result<PassResult<T>, VideoError> {
        let mut taker = Taker::new(self.stream, self.options, wanted, keep, presentation, make.again());
        let decoder = PacketDecoder::open(self.stream, self.options.decoder_pixels(), self.deadline)?;
        let tally = match decoder.run(self.packets, None, &mut |frame, damaged| Ok(taker.see(frame, damaged)?)) {
            Ok(tally) => tally,
            Err(Halt::Failed(e)) => return Err(e),
            Err(Halt::Unexpected) => {
                return Err(VideoError::new(Stage::Decode, Error::decode("a halt without a plan")));
            }
        };
        let mut found = taker.found;
        found.flaws = presentation.map(|shown| shown.flaws).unwrap_or_default();
        (found.errors, found.logged) = (tally.errors, tally.logged);
        found.first_error = tally.first_error;
        Ok(found)
    }

    /// Decodes the packets that `plan` selects and takes the `wanted` ordinals; returns `None` if other frames
    /// come out than planned.
    pub fn run_plan<T>(
        &self,
        wanted: &[u32],
        plan: &PacketChoice,
        mut make: Make<'_, T>,
    ) -> Result<Option<PassResult<T>>, VideoError> {
        let mut taker = Taker::new(self.stream, self.options, wanted, Keep::Intact, None, make.again());
        let mut expected = plan.expected.iter();
        let decoder = PacketDecoder::open(self.stream, self.options.decoder_pixels(), self.deadline)?;
        let run = decoder.run(self.packets, Some(&plan.feed), &mut |frame, damaged| {
            taker.see_expected(frame, damaged, *expected.next().ok_or(Halt::Unexpected)?)
        });
        match run {
            Ok(tally) if tally.is_clean() && expected.len() == 0 => {
                taker.found.undecoded = plan.undecoded;
                Ok(Some(taker.found))
            }
            Ok(_) | Err(Halt::Unexpected) => Ok(None),
            Err(Halt::Failed(e)) => Err(e),
        }
    }
}
