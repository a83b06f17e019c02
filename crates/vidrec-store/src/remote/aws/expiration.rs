//! Reads the expiration time of credentials, which commands print as an RFC 3339 time.

use std::time::{Duration, SystemTime};

/// Reads a time such as `2026-11-22T18:05:31Z` or `2026-11-22T19:05:31.5+01:00`. `None` if the text is not a time.
pub(super) fn parse(text: &str) -> Option<SystemTime> {
    let number = |range: std::ops::Range<usize>| {
        let digits = text.get(range).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?;
        digits.parse::<u64>().ok()
    };
    let is = |at: usize, allowed: &[u8]| text.as_bytes().get(at).is_some_and(|b| allowed.contains(b));
    let marks = is(4, b"-") && is(7, b"-") && is(10, b"Tt ") && is(13, b":") && is(16, b":");
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    if !marks || year < 1970 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    // Fractions of a second do not matter here.
    let zone = text.get(19..)?.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    if matches!(zone, "Z" | "z") {
        return Some(time);
    }
    let at = text.len() - zone.len();
    if zone.len() != 6 || !is(at + 3, b":") {
        return None;
    }
    let offset = Duration::from_secs(number(at + 1..at + 3)? * 3600 + number(at + 4..at + 6)? * 60);
    match zone.as_bytes()[0] {
        b'+' => time.checked_sub(offset),
        b'-' => time.checked_add(offset),
        _ => None,
    }
}

/// Days from 1970 to a date of the Gregorian calendar. Years begin in March, so that the leap day is their last.
fn days(year: u64, month: u64, day: u64) -> u64 {
    const FROM_YEAR_0: u64 = 719_468;
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1 - FROM_YEAR_0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_other_programs() {
        // By `date --utc --date TIME +%s`.
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T23:59:59Z", 951_868_799),
            ("2026-11-22T18:05:31Z", 1_795_370_731),
            ("2026-11-22T19:05:31.25+01:00", 1_795_370_731),
            ("2026-11-22 12:35:31-05:30", 1_795_370_731),
            ("2100-03-01T00:00:00Z", 4_107_542_400),
        ] {
            let expected = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(parse(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        let time = "2026-11-22T18:05:31";
        for text in
            ["", "soon", time, "2026-11-22", "2026-13-01T00:00:00Z", "1969-12-31T23:59:59Z", "2026-11-22T18:05:31é"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
        for zone in ["+1:00", "+0100", "*01:00", "Z0", "+é:000"] {
            assert_eq!(parse(&format!("{time}{zone}")), None, "{zone}");
        }
    }
}
