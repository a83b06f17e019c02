//! Errors of the library as exceptions of the package.

use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use vidrec::{Error, ErrorKind, Hint};

/// The exception for an error, with its causes and with the arguments that help.
pub fn raise(e: Error) -> PyErr {
    raise_worded(e, argument)
}

/// The same, with hints in other words.
pub fn raise_worded(e: Error, argument: fn(Hint) -> String) -> PyErr {
    let kind = match e.kind() {
        ErrorKind::Io => "FileError",
        ErrorKind::Format => "FormatError",
        ErrorKind::Limit | ErrorKind::Resources => "LimitError",
        ErrorKind::Usage => "UsageError",
        ErrorKind::Decode => "DecodeError",
        ErrorKind::Interrupted => "Interrupted",
        _ => "InternalError",
    };
    let file = e.path().map(|path| path.display().to_string());
    Python::attach(|py| make(py, kind, (e.worded(argument), file, e.offset(), e.clip(), e.frame(), e.rule())))
}

/// A hint of the library as what to pass or call.
pub fn argument(hint: Hint) -> String {
    match hint {
        Hint::Resume => "pass if_exists='resume' to resume it".into(),
        Hint::Restart => "pass if_exists='replace' to start over".into(),
        Hint::Overwrite => "pass overwrite=True to replace it".into(),
        Hint::Set(option @ "outside") => setting(option, "true"),
        Hint::Set(option) => format!("set {}=…", option),
        Hint::Choose(option, word) => setting(option, word),
        Hint::Unset(option) => format!("omit {}", option),
        Hint::OnlyOne(one, other) => format!("give only one of {one} and {other}"),
        Hint::Pack => "make one with vidrec.pack".into(),
        Hint::Verify => "vidrec.verify lists what is damaged".into(),
        Hint::Repair => "the program `vidrec repair` saves the intact clips as a new data set".into(),
        Hint::Merge => "write a new data set with vidrec.merge".into(),
        Hint::Plan => "make one with vidrec.plan".into(),
        Hint::Status => "vidrec.plan_status lists them".into(),
        Hint::Part => "pack the part again with vidrec.pack_part".into(),
        Hint::Clock => "let their clocks begin together with vidrec.subset(…, align_clocks=True)".into(),
        other => other.to_string(),
    }
}

/// A value of an option of the library as an argument.
fn setting(option: &str, value: &str) -> String {
    if value == "true" { format!("pass {option}=True") } else { format!("pass {option}={value:?}") }
}

/// The exception for an argument that makes no sense, which has this name.
pub fn refuse(name: &str, e: &Error) -> PyErr {
    usage(format!("{name}: {}", e.worded(argument)))
}

/// The exception for an argument that makes no sense.
pub fn usage(message: String) -> PyErr {
    let none = None::<u64>;
    Python::attach(|py| make(py, "UsageError", (message, None::<String>, none, none, None::<u32>, None::<&str>)))
}

/// A report for Python.
pub fn to_json(report: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(report).map_err(|e| usage(e.to_string()))
}

/// What Python wrote as JSON; an error begins with `what` that is.
pub fn from_json<T: DeserializeOwned>(what: &str, text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|e| usage(format!("{what}: {e}")))
}

type ErrorFields<'a> = (String, Option<String>, Option<u64>, Option<u64>, Option<u32>, Option<&'a str>);

fn make(py: Python<'_>, kind: &str, fields: ErrorFields<'_>) -> PyErr {
    let class = py.import("vidrec.errors").and_then(|module| module.getattr(kind));
    class.and_then(|class| class.call1(fields)).map_or_else(|e| e, PyErr::from_value)
}
