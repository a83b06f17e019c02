//! Limits that are checked before memory is allocated or a loop is entered. Each is far above ordinary use.

/// Largest payload of one RecordIO record, all parts together (2^29 - 1 bytes: 29 bits of length).
pub const MAX_RECORD_BYTES: u64 = (1 << 29) - 1;

/// Largest index section that is read whole at open (`META`), in bytes.
pub const MAX_META_BYTES: u64 = 64 << 20;

/// Most sections in an index file.
pub const MAX_SECTIONS: u32 = 64;

/// Most clips in a shard, and most frames in a shard: keeps `id` and `id2` clear of RecordIO's magic.
pub const MAX_ORDINALS: u64 = 1 << 31;

/// Largest label: whole numbers up to here are exact in the float32 that MXNet's record header has for it.
pub const MAX_LABEL: i32 = 1 << 24;

/// Largest width or height of a frame (what baseline JPEG can say, less libjpeg's own margin).
pub const MAX_SIDE: u32 = 65_500;

/// Most pixels in a decoded picture: 2^28, sixteen times 4K.
pub const MAX_PIXELS: u64 = 1 << 28;

/// Most frames that a clip may hold when it is packed.
pub const MAX_FRAMES_PER_CLIP: u32 = 1 << 20;

/// Most columns in a table of videos or of changes.
pub const MAX_COLUMNS: usize = 4096;
