//! Finds the faults of a video that the attributes of its clip record.

use serde_json::Value;

use super::finding::FindingKind;
use super::judge::Found;
use vidrec_format::json_object::JsonObject;

/// The packer's counts under the attribute `video`, in words for one and for several. `repair` and `retry` do not
/// write any of them.
const COUNTS: [(&str, &str, &str); 8] = [
    ("substituted_frames", "frame stands for a damaged one", "frames stand for damaged ones"),
    ("damaged_frames", "damaged frame", "damaged frames"),
    ("decode_errors", "decoding error", "decoding errors"),
    ("corrupt_packets", "corrupt packet", "corrupt packets"),
    ("failed_checksums", "failed checksum", "failed checksums"),
    ("logged_errors", "logged error", "logged errors"),
    ("size_changes", "change of the picture size", "changes of the picture size"),
    ("unordered_times", "time out of order", "times out of order"),
];

/// Returns the known faults of a clip's video.
pub(super) fn known_faults(attributes: &JsonObject) -> Option<Found> {
    let video = attributes.0.get("video");
    let mut total = 0u64;
    let mut parts = Vec::new();
    for (name, one, several) in COUNTS {
        // Imports have no object of the packer, so their counts are at the top level.
        let count = video.and_then(|video| video.get(name)).or_else(|| attributes.0.get(name)).and_then(Value::as_u64);
        if let Some(count) = count.filter(|&count| count > 0) {
            total = total.saturating_add(count);
            parts.push(format!("{count} {}", if count == 1 { one } else { several }));
        }
    }
    if let Some((claimed, found)) = video.and_then(cut_off) {
        parts.push(format!("the container claims {claimed:.1} s, but only {found:.1} s decode"));
    }
    if let Some(seconds) = video.and_then(|video| video.pointer("/time_gap/seconds")).and_then(Value::as_f64) {
        parts.push(format!("no frame for {seconds:.1} s, a gap that no rate explains"));
    }
    if attributes.0.contains_key("repair") {
        parts.push("saved by a repair without some of its metadata".into());
    }
    if parts.is_empty() {
        return None;
    }
    let first = video.and_then(|video| video.get("first_error")).and_then(Value::as_str);
    let first = first.map(|first| format!("; first: {first}")).unwrap_or_default();
    let text = format!("the video has known faults: {}{first}", parts.join(", "));
    Some(Found { kind: FindingKind::Substituted, frames: Vec::new(), value: Some(total as f64), text })
}

/// Returns the seconds that the container claims and those that exist, if the video is clearly shorter. The rule
/// is the packer's: a tenth is missing, and more than a second.
fn cut_off(video: &Value) -> Option<(f64, f64)> {
    let seconds = |name: &str| video.get(name).and_then(Value::as_f64);
    let (claimed, found) = (seconds("claimed_seconds")?, seconds("stream_seconds")?);
    (found < 0.9 * claimed && claimed - found > 1.0).then_some((claimed, found))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(attributes: &Value) -> Option<(Option<f64>, String)> {
        known_faults(&JsonObject::of(attributes).unwrap()).map(|found| (found.value, found.text))
    }

    #[test]
    fn counts_and_cuts_are_found_and_sound_videos_are_not() {
        let sound =
            json!({"video": {"codec": "h264", "decode_errors": 0, "claimed_seconds": 10.0, "stream_seconds": 9.5}});
        assert_eq!(found(&sound), None);
        assert_eq!(found(&json!({})), None);
        let (value, text) = found(&json!({"video": {
            "decode_errors": 1, "damaged_frames": 3, "first_error": "no frame!", "claimed_seconds": 10.0, "stream_seconds": 4.0
        }}))
        .unwrap();
        assert_eq!(value, Some(4.0));
        assert_eq!(
            text,
            "the video has known faults: 3 damaged frames, 1 decoding error, the container claims 10.0 s, but only \
             4.0 s decode; first: no frame!"
        );
        assert!(found(&json!({"repair": {"frames": 1}, "video": 3})).unwrap().1.contains("saved by a repair"));
    }
}
