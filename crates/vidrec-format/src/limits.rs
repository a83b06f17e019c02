//! Limits that vidrec checks before it allocates memory or enters a loop. Each is far above ordinary use.

/// Largest payload of one RecordIO record over all its parts: 2^29 - 1 bytes, because the length has 29 bits.
pub const MAX_RECORD_BYTES: u64 = (1 << 29) - 1;

/// Largest `META` section, in bytes. It is the one index section that is read in full when a shard is opened.
pub const MAX_META_BYTES: u64 = 64 << 20;

/// Largest `dataset.json`, in bytes: enough for 100,000 shards. It is read in full when a data set is opened.
pub const MAX_LISTING_BYTES: u64 = 64 << 20;

/// Largest intent of an interrupted write, in bytes. It names the files of up to two data sets in each folder.
pub const MAX_PLAN_BYTES: u64 = 256 << 20;

/// Largest list of failures that is read, in bytes.
pub const MAX_SMALL_OBJECT_BYTES: u64 = 1 << 30;

/// Longest source, class and attributes of a clip together, in bytes. These are the texts in an index.
pub const MAX_CLIP_TEXT_BYTES: u64 = 16 << 20;

/// Longest line of a list of failures, in bytes.
pub const MAX_FAILURE_BYTES: u64 = 1 << 20;

/// Maximum number of sections in an index file.
pub const MAX_SECTIONS: u32 = 64;

/// Maximum number of clips in a shard, and of frames in a shard. It keeps `id` and `id2` clear of RecordIO's magic.
pub const MAX_ORDINALS: u64 = 1 << 31;

/// Largest label. MXNet's record header stores the label as a float32, which is exact for whole numbers up to this one.
pub const MAX_LABEL: i32 = 1 << 24;

/// Largest width or height of a frame: baseline JPEG's maximum, less libjpeg's own margin.
pub const MAX_SIDE: u32 = 65_500;

/// Maximum number of pixels in a decoded image: 2^28, such as 16,384 x 16,384.
pub const MAX_PIXELS: u64 = 1 << 28;

/// Maximum number of frames in a clip when it is packed.
pub const MAX_FRAMES_PER_CLIP: u32 = 1 << 20;

/// Maximum number of columns in a table of videos or of changes.
pub const MAX_COLUMNS: usize = 4096;

/// Maximum number of tracks in a shard.
pub const MAX_TRACKS: usize = 1024;

/// Longest name of a track, in bytes.
pub const MAX_TRACK_NAME_BYTES: usize = 255;

/// Maximum number of sides of the shape of a track's values.
pub const MAX_TRACK_SIDES: usize = 8;

/// Maximum number of numbers in one value of a track: 2^28.
pub const MAX_TRACK_VALUE_NUMBERS: u64 = 1 << 28;

/// Longest schema of a track file, in bytes. It is read in full when the file is opened.
pub const MAX_TRACK_SCHEMA_BYTES: u64 = 1 << 20;

/// Largest block of a track file: all tracks of one clip, in bytes.
pub const MAX_TRACK_BLOCK_BYTES: u64 = (1 << 32) - 1;
