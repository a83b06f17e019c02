//! To which requests a fault applies.

use std::str::FromStr;
use std::sync::Mutex;

use serde::Deserialize;

use super::kind::Fault;
use crate::message::Head;

/// A fault, and the requests that it applies to: all, unless told otherwise.
///
/// As JSON, such as `{"fault": {"reset": {"after": 1000}}, "path": ".rec", "when": {"every": 5}}`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    fault: Fault,
    #[serde(default)]
    path: String,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    when: When,
}

impl FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|e| format!("{text}: {e}"))
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum When {
    #[default]
    Always,
    Nth(u64),
    First(u64),
    After(u64),
    Every(u64),
    /// With this probability, the same requests for the same seed.
    Chance {
        p: f64,
        seed: u64,
    },
}

/// Whether the `number`-th throw hits, with probability `p`.
fn hits(p: f64, seed: u64, number: u64) -> bool {
    // 53 bits: all that a float has.
    let thrown = (mix(mix(seed) ^ number) >> 11) as f64 / (1_u64 << 53) as f64;
    thrown < p
}

/// SplitMix64's finalizer (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl When {
    /// Whether it is the turn of the `number`-th matching request, from 1 on.
    fn is_now(self, number: u64) -> bool {
        match self {
            Self::Always => true,
            Self::Nth(n) => number == n,
            Self::First(n) => number <= n,
            Self::After(n) => number > n,
            Self::Every(n) => number.is_multiple_of(n),
            Self::Chance { p, seed } => hits(p, seed, number),
        }
    }
}

impl Rule {
    /// This fault for every request.
    pub fn new(fault: Fault) -> Self {
        Self { fault, path: String::new(), method: None, when: When::Always }
    }

    /// Only for requests whose path or query has this text in it.
    pub fn path(self, part: &str) -> Self {
        Self { path: part.to_owned(), ..self }
    }

    /// Only for this method, as in `GET`.
    pub fn method(self, method: &str) -> Self {
        Self { method: Some(method.to_owned()), ..self }
    }

    /// Only for the `n`-th of the requests that match path and method, from 1 on.
    pub fn nth(self, n: u64) -> Self {
        Self { when: When::Nth(n), ..self }
    }

    /// Only for the first `n` of the requests that match path and method.
    pub fn first(self, n: u64) -> Self {
        Self { when: When::First(n), ..self }
    }

    /// For all but the first `n` of the requests that match path and method.
    pub fn after(self, n: u64) -> Self {
        Self { when: When::After(n), ..self }
    }

    /// Only for every `n`-th of the requests that match path and method.
    pub fn every(self, n: u64) -> Self {
        Self { when: When::Every(n), ..self }
    }

    fn matches(&self, head: &Head) -> bool {
        let target = head.uri().to_string();
        target.contains(&self.path) && self.method.as_ref().is_none_or(|method| *method == head.method().as_str())
    }
}

/// The rules of a server. They can be changed while it runs.
#[derive(Debug, Default)]
pub struct Rules(Mutex<Vec<(Rule, u64)>>);

impl Rules {
    /// Adds a rule behind those that there are. The first rule that applies to a request decides; every rule counts the
    /// requests that match it, from when it was added.
    pub fn add(&self, rule: Rule) {
        self.0.lock().unwrap().push((rule, 0));
    }

    /// Removes all rules.
    pub fn clear(&self) {
        self.0.lock().unwrap().clear();
    }

    pub(crate) fn choose(&self, head: &Head) -> Option<Fault> {
        let mut chosen = None;
        for (rule, matched) in self.0.lock().unwrap().iter_mut().filter(|(rule, _)| rule.matches(head)) {
            *matched += 1;
            if chosen.is_none() && rule.when.is_now(*matched) {
                chosen = Some(rule.fault.clone());
            }
        }
        chosen
    }
}
