//! Finds the encrypted tracks of a file.
//!
//! FFmpeg passes encrypted packets on unchanged, and decoders turn them into gray pictures. FFmpeg does not report
//! that a track is encrypted. It reports only packets with their own initialization vector (Common Encryption), so
//! vidrec reads the file itself.

use std::io::{Read, Seek};
use std::time::Instant;

use ffmpeg_next::format::context;
use ffmpeg_next::media;

use super::source::VideoSource;
use super::{matroska, mp4};
use crate::video::error::{Stage, VideoError};

/// What a file says about the encryption of its tracks.
pub(crate) enum Encryption {
    /// The numbers of the encrypted tracks, and the types of their samples.
    Mp4(Vec<(u32, [u8; 4])>),
    /// All tracks, in order.
    Matroska(Vec<matroska::Track>),
    /// The file says nothing.
    Unknown,
}

impl Encryption {
    /// Reads the start of a file, and then seeks back to its first byte.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn of(source: &mut VideoSource, deadline: Instant) -> Result<Self, VideoError> {
        let (mut start, end) = ([0; 12], source.bytes);
        // FFmpeg judges files that make no sense or end too early.
        let found = match source.read_exact(&mut start) {
            Ok(()) if start.starts_with(&matroska::START) => {
                Encryption::Matroska(matroska::tracks(source, end, deadline))
            }
            Ok(()) if mp4::begins(&start) => Encryption::Mp4(mp4::encrypted_tracks(source, end, deadline)),
            _ => Encryption::Unknown,
        };
        let _ = source.rewind();
        source.failure.check(Stage::Open)?;
        Ok(found)
    }

    /// Returns how a stream is encrypted, if it is.
    pub fn of_stream(&self, context: &context::Input, index: usize) -> Option<String> {
        let stream = context.stream(index)?;
        match self {
            Encryption::Mp4(tracks) => {
                let number = u32::try_from(stream.id()).ok()?;
                let (_, entry) = tracks.iter().find(|(track, _)| *track == number)?;
                Some(format!("samples of type '{}'", entry.escape_ascii()))
            }
            Encryption::Matroska(tracks) => {
                let medium = stream.parameters().medium();
                let before = context.streams().take(index).filter(|s| s.parameters().medium() == medium).count();
                let kind = match medium {
                    media::Type::Video => matroska::VIDEO,
                    media::Type::Audio => matroska::AUDIO,
                    _ => return None,
                };
                let track = tracks.iter().filter(|track| track.kind == kind).nth(before)?;
                track.encrypted.then(|| "a track with ContentEncryption".into())
            }
            Encryption::Unknown => None,
        }
    }
}
