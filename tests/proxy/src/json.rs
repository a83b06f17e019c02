//! Counts and log as JSON, without a library.

use fault_proxy::{Counts, Exchange};

pub fn counts(counts: &Counts) -> String {
    let paths = counts.paths.iter().map(|(path, (requests, bytes))| format!("{}: [{requests}, {bytes}]", quoted(path)));
    format!(
        r#"{{"requests": {}, "body_bytes": {}, "faults": {}, "connections": {}, "most_in_flight": {}, "paths": {{{}}}}}"#,
        counts.requests,
        counts.body_bytes,
        counts.faults,
        counts.connections,
        counts.most_in_flight,
        paths.collect::<Vec<_>>().join(", ")
    )
}

pub fn log(log: &[Exchange]) -> String {
    let text = |text: Option<&str>| text.map_or("null".to_owned(), quoted);
    let lines = log.iter().map(|e| {
        format!(
            r#"{{"method": {}, "path": {}, "range": {}, "status": {}, "bytes": {}, "fault": {}}}"#,
            quoted(&e.method),
            quoted(&e.path),
            text(e.range.as_deref()),
            e.status,
            e.bytes,
            text(e.fault)
        )
    });
    format!("[{}]", lines.collect::<Vec<_>>().join(", "))
}

fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c < ' ' => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}
