//! Errors of the library as exceptions of the package.

use std::error::Error as _;

use pyo3::prelude::*;
use vidrec::{Error, ErrorKind};

/// The exception for an error, with its causes in the message.
pub fn raise(e: Error) -> PyErr {
    let mut message = e.to_string();
    let mut cause = e.source();
    while let Some(e) = cause {
        message += &format!(": {e}");
        cause = e.source();
    }
    let kind = match e.kind() {
        ErrorKind::Io => "FileError",
        ErrorKind::Format => "FormatError",
        ErrorKind::Limit | ErrorKind::Resources => "LimitError",
        ErrorKind::Usage => "UsageError",
        ErrorKind::Decode => "DecodeError",
        _ => "InternalError",
    };
    let file = e.path().map(|path| path.display().to_string());
    Python::attach(|py| make(py, kind, (message, file, e.offset(), e.clip(), e.frame(), e.rule())))
}

/// The exception for an argument that makes no sense.
pub fn usage(message: String) -> PyErr {
    let none = None::<u64>;
    Python::attach(|py| make(py, "UsageError", (message, None::<String>, none, none, None::<u32>, None::<&str>)))
}

type Told<'a> = (String, Option<String>, Option<u64>, Option<u64>, Option<u32>, Option<&'a str>);

fn make(py: Python<'_>, kind: &str, told: Told<'_>) -> PyErr {
    let class = py.import("vidrec.errors").and_then(|module| module.getattr(kind));
    class.and_then(|class| class.call1(told)).map_or_else(|e| e, PyErr::from_value)
}
