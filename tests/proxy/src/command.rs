//! Lines that change a server while it runs, or ask what it did.

use std::str::FromStr;
use std::time::Duration;

use fault_proxy::{Rule, Server};
use serde_json::{Value, json};

/// Does what a line says; its answer is one line.
pub fn run(server: &Server, line: &str) -> Result<String, String> {
    let (name, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
    match name {
        "latency-ms" => server.link().set_latency(milliseconds(rest)?),
        "connect-latency-ms" => server.link().set_connect_latency(milliseconds(rest)?),
        "gbit" => server.link().set_bandwidth(bits(rest)?),
        "fault" => server.rules().add(rest.parse::<Rule>()?),
        "clear" => server.rules().clear(),
        "reset" => server.reset_counts(),
        "counts" => return Ok(counts(server).to_string()),
        "log" => return Ok(log(server).to_string()),
        _ => return Err(format!("no command '{name}'")),
    }
    Ok("ok".to_owned())
}

/// What the server did so far.
pub fn counts(server: &Server) -> Value {
    let counts = server.counts();
    json!({
        "requests": counts.requests,
        "body_bytes": counts.body_bytes,
        "faults": counts.faults,
        "paths": counts.paths,
    })
}

fn log(server: &Server) -> Value {
    let of = |e: fault_proxy::Exchange| json!({"method": e.method, "path": e.path, "range": e.range});
    server.take_log().into_iter().map(of).collect()
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    let ms: f64 = number(text)?;
    Duration::try_from_secs_f64(ms / 1000.0).map_err(|_| format!("'{text}' is no time"))
}

fn bits(text: &str) -> Result<Option<u64>, String> {
    let gbit: f64 = number(text)?;
    if !(0.0..=1e9).contains(&gbit) {
        return Err(format!("'{text}' is no bandwidth"));
    }
    Ok((gbit > 0.0).then_some((gbit * 1e9) as u64))
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("'{text}' is no number"))
}
