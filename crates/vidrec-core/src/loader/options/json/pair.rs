//! A number, or two.

use serde::{Deserialize, Serialize};

/// A number, or two.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number of 0 or more, or two of them")]
pub(super) enum OneOrTwo {
    One(u32),
    Two(u32, u32),
}

impl OneOrTwo {
    pub fn of((a, b): (u32, u32)) -> Self {
        if a == b { OneOrTwo::One(a) } else { OneOrTwo::Two(a, b) }
    }

    pub fn both(self) -> (u32, u32) {
        match self {
            OneOrTwo::One(a) => (a, a),
            OneOrTwo::Two(a, b) => (a, b),
        }
    }
}
