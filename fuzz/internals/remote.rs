//! Entry points for the fuzz targets in `fuzz/`: parsers of server answers and of the configuration of AWS's tools.

use std::path::Path;

use super::{aws, failure, url};

/// Parses `bytes` as the body of a refusal, as a location, and as a profile.
pub fn answers(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for status in [None, Some(301), Some(400), Some(403), Some(500)] {
        let _ = failure::of_answer(&text, status, None);
    }
    let _ = url::Address::of(Path::new(&*text));
    let profile = aws::Profile::of(&text, &text, "default");
    let _ = (profile.credentials(), aws::read(bytes));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz_seeds::mutate_seeds;

    #[test]
    fn any_change_of_an_answer_is_read_or_refused() {
        mutate_seeds("answers", answers);
    }
}
