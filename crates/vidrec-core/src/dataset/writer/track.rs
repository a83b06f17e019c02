//! A track of a clip, as given to a writer.

use half::f16;
use serde::{Deserialize, Serialize};

use vidrec_format::track::coding;
use vidrec_format::track::coding::{NewBlocks, TrackCoding};
use vidrec_format::track::opus::usual_bits;
use vidrec_format::track::payload::{Facts, Payload, lists_to_bytes, numbers, push_times, texts_to_bytes};
use vidrec_format::track::schema::{TrackSchema, TrackTiming, TrackType};
use vidrec_format::words::unknown_variant;
use vidrec_format::{Error, Result};

/// Values beside the frames of a clip: states and actions of a robot, captions, sound.
///
/// ```
/// use vidrec::{Track, TrackTimes, TrackValues};
///
/// // Two joints, a hundred times a second.
/// let state = Track {
///     name: "state".into(),
///     values: TrackValues::F32(vec![0.0; 200]),
///     shape: vec![2],
///     times: TrackTimes::Rate { first_ns: 0, rate: (100, 1) },
///     ..Track::default()
/// };
/// assert_eq!(state.len(), 100);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Track {
    /// Its name, of 1 to 255 bytes.
    pub name: String,
    /// All values, or all items of lists, one after the other, each in row-major order.
    pub values: TrackValues,
    /// The shape of one value, or of an item of lists. Default: empty, for single numbers and for texts.
    pub shape: Vec<u32>,
    /// The timing of the values. Default: one value for each frame.
    pub times: TrackTimes,
    /// Whether numbers may be infinite or not a number. Default: they may not.
    pub nan: bool,
    /// The coding of the values, if they are sound: numbers of type `i16` at a rate, at most 8 to a value. Default: as
    /// FLAC, of which readers get the same values. [Pictures](TrackSchema::is_picture) are stored as PNG, of which readers
    /// get the same values, too, unless this is `Raw`.
    pub coding: SoundCoding,
    /// If each value is a list of items, such as the boxes of a frame: how many items each list has. Default `None`: it
    /// is not.
    pub lists: Option<Vec<u32>>,
}

/// The values of a [`Track`].
#[derive(Debug, Clone, PartialEq)]
pub enum TrackValues {
    /// `f16`.
    F16(Vec<f16>),
    /// `f32`.
    F32(Vec<f32>),
    /// `f64`.
    F64(Vec<f64>),
    /// `i16`.
    I16(Vec<i16>),
    /// `i32`.
    I32(Vec<i32>),
    /// `i64`.
    I64(Vec<i64>),
    /// `u8`.
    U8(Vec<u8>),
    /// `u16`.
    U16(Vec<u16>),
    /// `bool`.
    Bool(Vec<bool>),
    /// Texts.
    Texts(Vec<String>),
}

/// The methods of [`TrackValues`], which are the same for all types of numbers.
macro_rules! by_type {
    ($($name:ident)*) => {
        impl TrackValues {
            /// Little-endian numbers; `None` for texts.
            #[doc(hidden)]
            pub fn of_bytes(kind: TrackType, bytes: &[u8]) -> Option<Self> {
                Some(match kind {
                    $(TrackType::$name => TrackValues::$name(numbers(bytes).into_owned()),)*
                    TrackType::Bool => TrackValues::Bool(bytes.iter().map(|&byte| byte != 0).collect()),
                    TrackType::Utf8 => return None,
                })
            }

            /// The type of its numbers, or the type for texts.
            #[doc(hidden)]
            pub fn kind(&self) -> TrackType {
                match self {
                    $(TrackValues::$name(_) => TrackType::$name,)*
                    TrackValues::Bool(_) => TrackType::Bool,
                    TrackValues::Texts(_) => TrackType::Utf8,
                }
            }

            /// The count of numbers, or of texts.
            #[doc(hidden)]
            pub fn count(&self) -> usize {
                match self {
                    $(TrackValues::$name(n) => n.len(),)*
                    TrackValues::Bool(n) => n.len(),
                    TrackValues::Texts(texts) => texts.len(),
                }
            }

            fn to_bytes(&self) -> Option<Vec<u8>> {
                Some(match self {
                    $(TrackValues::$name(n) => n.iter().flat_map(|n| n.to_le_bytes()).collect(),)*
                    TrackValues::Bool(n) => n.iter().map(|&b| b.into()).collect(),
                    TrackValues::Texts(texts) => texts_to_bytes(texts)?,
                })
            }
        }
    };
}

by_type! { F16 F32 F64 I16 I32 I64 U8 U16 }

impl Default for TrackValues {
    fn default() -> Self {
        TrackValues::F32(Vec::new())
    }
}

/// The timing of the values of a [`Track`], in nanoseconds on the clip's clock, which is also that of its frames.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TrackTimes {
    /// One value for each frame.
    #[default]
    Frames,
    /// The time of each value, not decreasing.
    Times(Vec<i64>),
    /// The start and end of each value. Starts do not decrease, and no end is before its start.
    Spans {
        /// The starts.
        starts: Vec<i64>,
        /// The ends.
        ends: Vec<i64>,
    },
    /// The values follow each other at a fixed rate.
    Rate {
        /// The time of the first value.
        first_ns: i64,
        /// Values per second, as numerator and denominator.
        rate: (u32, u32),
    },
}

/// A track in its stored form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EncodedTrack {
    /// Name, type, shape and timing.
    pub schema: TrackSchema,
    /// The counts that are stored before the values.
    pub facts: Facts,
    /// The stored bytes of the values.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

impl EncodedTrack {
    /// The track as a reader sees it.
    pub fn payload(&self) -> Payload<'_> {
        Payload { schema: &self.schema, facts: self.facts, bytes: &self.bytes }
    }
}

impl Track {
    /// The number of values.
    pub fn len(&self) -> usize {
        match &self.lists {
            Some(lists) => lists.len(),
            None => self.items(),
        }
    }

    /// The number of values, or of the items of lists.
    fn items(&self) -> usize {
        self.values.count() / self.schema().numbers_per_value().max(1)
    }

    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The schema of all values of the track.
    pub fn schema(&self) -> TrackSchema {
        let timing = match self.times {
            TrackTimes::Frames => TrackTiming::Frames,
            TrackTimes::Times(_) => TrackTiming::Times,
            TrackTimes::Spans { .. } => TrackTiming::Spans,
            TrackTimes::Rate { .. } => TrackTiming::Rate,
        };
        TrackSchema {
            name: self.name.clone(),
            kind: self.values.kind(),
            shape: self.shape.clone(),
            timing,
            nan: self.nan,
            list: self.lists.is_some(),
        }
    }

    /// Encodes the track for a clip of `frames` frames.
    #[doc(hidden)]
    pub fn encode(&self, frames: u32) -> Result<EncodedTrack> {
        let schema = self.schema();
        schema.check().map_err(Error::usage)?;
        let wrong = |what: &str| Error::usage(format!("track \"{}\": {what}", self.name));
        let count = self.len();
        if self.items() * schema.numbers_per_value() != self.values.count() {
            return Err(wrong("the last value is incomplete")
                .expected(format!("a multiple of {}", schema.numbers_per_value()))
                .found(self.values.count()));
        }
        let mut facts = Facts { count: count as u64, ..Facts::default() };
        let lists: Vec<&[i64]> = match &self.times {
            TrackTimes::Frames => vec![],
            TrackTimes::Times(times) => vec![times],
            TrackTimes::Spans { starts, ends } => vec![starts, ends],
            TrackTimes::Rate { first_ns, rate } => {
                (facts.first_ns, facts.rate) = (*first_ns, *rate);
                vec![]
            }
        };
        if let Some(list) = lists.iter().find(|list| list.len() != count) {
            return Err(wrong("it does not have one time for each value").expected(count).found(list.len()));
        }
        let too_long = || Error::limit("the texts are longer than 4 GiB, or lists have too many items");
        let mut bytes = self.values.to_bytes().ok_or_else(too_long)?;
        if let Some(lists) = &self.lists {
            let items: usize = lists.iter().map(|&items| items as usize).sum();
            if items != self.items() {
                return Err(wrong("the lists do not have all items").expected(self.items()).found(items));
            }
            bytes = lists_to_bytes(lists, &bytes).ok_or_else(too_long)?;
        }
        let coded = self.coded(&schema, facts.rate, &bytes, &lists)?;
        push_times(&mut bytes, &lists);
        if let Some((coding, coded)) = coded.filter(|(_, coded)| coded.len() < bytes.len()) {
            (facts.coding, bytes) = (coding, coded);
        }
        let encoded = EncodedTrack { schema, facts, bytes };
        let payload = encoded.payload();
        let proven = payload.prove(frames).and_then(|()| payload.prove_rest());
        proven.map_err(|e| wrong(&e.to_string()))?;
        Ok(encoded)
    }

    /// The coding for these values, and their bytes in it, if there is one. `raw` is what they are without one.
    fn coded(&self, schema: &TrackSchema, rate: (u32, u32), raw: &[u8], times: &[&[i64]]) -> Result<CodedBytes> {
        let each = schema.numbers_per_value();
        Ok(match (&self.values, self.coding) {
            (TrackValues::I16(numbers), SoundCoding::Flac) if TrackCoding::Flac.fits(schema, rate) => {
                coding::encode(numbers, each).map(|bytes| (TrackCoding::Flac, bytes))
            }
            (TrackValues::I16(numbers), SoundCoding::Opus) if TrackCoding::Opus.fits(schema, rate) => {
                let bits = usual_bits(rate.0, each);
                coding::encode_opus(numbers, (each, rate.0, bits)).map(|bytes| (TrackCoding::Opus, bytes))
            }
            (_, SoundCoding::Opus) => return Err(self.not_for_opus(rate)),
            (_, SoundCoding::Flac) if schema.is_picture() => pictures(schema, raw, times),
            _ => None,
        })
    }

    fn not_for_opus(&self, (numerator, denominator): (u32, u32)) -> Error {
        let found = format!("{} of shape {:?} at {numerator}/{denominator}", self.values.kind(), self.shape);
        Error::usage(format!("track \"{}\" cannot be stored as Opus", self.name))
            .expected("i16, one or two to a value, at 8000, 12000, 16000, 24000 or 48000 values a second")
            .found(found)
            .help("choose another rate, one or two channels, or another coding")
    }
}

/// A coding, and bytes in it.
type CodedBytes = Option<(TrackCoding, Vec<u8>)>;

/// Values that are pictures, each as PNG, with their times; none if they are too long.
fn pictures(schema: &TrackSchema, raw: &[u8], times: &[&[i64]]) -> CodedBytes {
    let mut blocks = NewBlocks::default();
    raw.chunks(schema.value_bytes()? as usize)
        .try_for_each(|value| blocks.push(&coding::encode_picture(value, schema)?))?;
    Some((TrackCoding::Png, blocks.into_bytes(times)))
}

/// A track of pictures, made of one picture at a time.
#[doc(hidden)]
pub struct NewPictures {
    schema: TrackSchema,
    count: u64,
    blocks: NewBlocks,
}

impl NewPictures {
    /// # Errors
    ///
    /// The schema is invalid.
    pub fn new(schema: TrackSchema) -> Result<Self> {
        schema.check().map_err(Error::usage)?;
        Ok(NewPictures { schema, count: 0, blocks: NewBlocks::default() })
    }

    /// Encodes the picture of a frame.
    ///
    /// # Errors
    ///
    /// It is not of this track: it has another size, or a number that the type does not have.
    pub fn encode(&self, numbers: &[u16]) -> Result<Vec<u8>> {
        let bytes: Vec<u8> = match self.schema.kind {
            TrackType::U8 => {
                let byte = |&n: &u16| u8::try_from(n).map_err(|_| Error::usage("a number is too large").found(n));
                numbers.iter().map(byte).collect::<Result<_>>().map_err(|e| e.expected("up to 255, for type=u8"))?
            }
            _ => numbers.iter().flat_map(|n| n.to_le_bytes()).collect(),
        };
        let encoded = coding::encode_picture(&bytes, &self.schema);
        encoded.ok_or_else(|| Error::limit("the pictures of a track are not of one size"))
    }

    /// Adds the picture of the next frame, [encoded](Self::encode).
    ///
    /// # Errors
    ///
    /// The pictures take more than 4 GiB.
    pub fn push(&mut self, encoded: &[u8]) -> Result<()> {
        self.count += 1;
        self.blocks.push(encoded).ok_or_else(|| Error::limit("the pictures of a track take more than 4 GiB"))
    }

    /// The track, with the times of its pictures, or none if they belong to the frames of the clip.
    pub fn finish(self, times: &[i64]) -> EncodedTrack {
        let facts = Facts { count: self.count, coding: TrackCoding::Png, ..Facts::default() };
        EncodedTrack { schema: self.schema, facts, bytes: self.blocks.into_bytes(&[times]) }
    }
}

/// The coding in which a writer stores the values of a [`Track`] of sound: numbers of type `i16` at a rate, at most 8 to a
/// value. Where that does not take fewer bytes, they are stored as they are, as are all other tracks.
///
/// As a word (`FromStr`, `Display`): `flac`, `raw` or `opus`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum SoundCoding {
    /// As FLAC. Readers get the same values.
    #[default]
    Flac,
    /// As they are. A reader copies them.
    Raw,
    /// As Opus. Readers get sound that is nearly the same, and the same values on every machine. Only for one or two
    /// numbers to a value, at 8000, 12000, 16000, 24000 or 48000 values a second. The average bit rate is, for each number
    /// of a value, 8 thousand bits per second and one for each value per second: 24 thousand for one at 16 kHz.
    Opus,
}
