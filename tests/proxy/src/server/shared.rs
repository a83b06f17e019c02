//! What the connections of a server share.

use std::collections::HashMap;
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use crate::fault::Rules;
use crate::journal::Journal;
use crate::link::Link;

/// What the connections of a server share.
pub struct Shared {
    pub rules: Rules,
    pub link: Link,
    pub journal: Journal,
    pub stopping: AtomicBool,
    /// A copy of each open connection, to cut it.
    pub open: Mutex<HashMap<u64, TcpStream>>,
}

impl Shared {
    pub fn new() -> Self {
        Self {
            rules: Rules::default(),
            link: Link::new(),
            journal: Journal::new(),
            stopping: AtomicBool::new(false),
            open: Mutex::default(),
        }
    }
}
