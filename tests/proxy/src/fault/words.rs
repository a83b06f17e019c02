//! Rules as text: `reset=1000 path=.rec every=5`.

use std::str::FromStr;
use std::time::Duration;

use super::kind::Fault;
use super::rule::{Rule, When};

impl FromStr for Rule {
    type Err = String;

    /// A fault, as `wrong-bytes` for [`Fault::WrongBytes`], with `=NUMBER` if it has one (milliseconds for `latency`), then any of
    /// `path=TEXT`, `method=NAME`, and one of `nth=N`, `first=N`, `after=N`, `every=N`, `chance=P seed=N`.
    ///
    /// # Errors
    ///
    /// Names the first word that is none of these.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let first = words.next().ok_or_else(|| "a rule begins with a fault".to_owned())?;
        let mut rule = Self::new(fault(first)?);
        for word in words {
            rule = condition(rule, word)?;
        }
        Ok(rule)
    }
}

fn condition(rule: Rule, word: &str) -> Result<Rule, String> {
    let (key, value) = word.split_once('=').ok_or_else(|| format!("'{word}' is no KEY=VALUE"))?;
    Ok(match key {
        "path" => rule.path(value),
        "method" => rule.method(value),
        "nth" => rule.nth(number(word, value)?),
        "first" => rule.first(number(word, value)?),
        "after" => rule.after(number(word, value)?),
        "every" => match number(word, value)? {
            0 => return Err(format!("'{word}': must be at least 1")),
            n => rule.every(n),
        },
        "chance" => rule.chance(number(word, value)?, 0),
        "seed" => {
            let When::Chance { p, .. } = rule.when else {
                return Err(format!("'{word}' without 'chance' before it"));
            };
            rule.chance(p, number(word, value)?)
        }
        _ => return Err(format!("no condition '{key}'")),
    })
}

fn fault(word: &str) -> Result<Fault, String> {
    let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let given = || value.ok_or_else(|| format!("'{name}' needs a number, as in '{name}=1'"));
    let n = || number(word, given()?);
    let plain = match name {
        "latency" => return Ok(Fault::Latency(Duration::from_millis(n()?))),
        "slow" => return Ok(Fault::Slow { bits_per_second: n()? }),
        "stall" => return Ok(Fault::Stall { after: n()? }),
        "reset" => return Ok(Fault::Reset { after: n()? }),
        "reset-upload" => return Ok(Fault::ResetUpload { after: n()? }),
        "short" => return Ok(Fault::Short { after: n()? }),
        "unavailable" => return Ok(Fault::Unavailable { retry_after_seconds: n()? }),
        "status" => return Ok(Fault::Status(number(word, given()?)?)),
        "wrong-bytes" => return Ok(Fault::WrongBytes { shift: n()? }),
        "other-length" => return Ok(Fault::OtherLength { more: number(word, given()?)? }),
        "flipped-byte" => return Ok(Fault::FlippedByte { at: n()? }),
        "huge-length" => return Ok(Fault::HugeLength(n()?)),
        "no-answer" => Fault::NoAnswer,
        "slow-down" => Fault::SlowDown,
        "conflict" => Fault::Conflict,
        "forbidden" => Fault::Forbidden,
        "lost" => Fault::Lost,
        "wrong-content-range" => Fault::WrongContentRange,
        "changed-etag" => Fault::ChangedEtag,
        "whole-object" => Fault::WholeObject,
        "html" => Fault::Html,
        "redirect-loop" => Fault::RedirectLoop,
        "gzip-garbage" => Fault::GzipGarbage,
        "gzipped" => Fault::Gzipped,
        "endless" => Fault::Endless,
        "not-http" => Fault::NotHttp,
        _ => return Err(format!("no fault '{name}'")),
    };
    match value {
        Some(_) => Err(format!("'{word}': '{name}' takes no number")),
        None => Ok(plain),
    }
}

fn number<T: FromStr>(word: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("'{word}': '{value}' is no such number"))
}
