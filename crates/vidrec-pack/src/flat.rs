//! Groups of options as one flat object.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use vidrec_format::error::{Error, Result};

/// How alike a name must be for it to be suggested, from 0 to 1.
const NEAR: f64 = 0.8;

/// Returns a group of options as an object.
pub(crate) fn map<T: Serialize>(group: &T) -> Result<Map<String, Value>> {
    match serde_json::to_value(group) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(other) => Err(Error::internal(format!("options: {other}"))),
        Err(e) => Err(Error::internal(format!("options: {e}"))),
    }
}

/// Takes the options of a group out of an object. The others have their defaults.
pub(crate) fn take<T: Serialize + DeserializeOwned + Default>(options: &mut Map<String, Value>) -> Result<T> {
    let names = map(&T::default())?;
    let own: Map<String, Value> = names.keys().filter_map(|name| options.remove_entry(name)).collect();
    serde_json::from_value(Value::Object(own.clone())).map_err(|e| refuse::<T>(own, &e))
}

/// Returns the error for the option that is wrong, which serde does not name.
fn refuse<T: DeserializeOwned>(options: Map<String, Value>, all: &serde_json::Error) -> Error {
    let alone = |(name, value): (String, Value)| {
        let e = serde_json::from_value::<T>(Value::Object([(name.clone(), value)].into_iter().collect())).err()?;
        Some(Error::usage(format!("option {name}: {e}")))
    };
    options.into_iter().find_map(alone).unwrap_or_else(|| Error::usage(format!("options: {all}")))
}

/// Refuses options that nobody has taken, and names the nearest of the `known` ones.
pub(crate) fn check_known(left: &Map<String, Value>, known: &[String]) -> Result<()> {
    let Some(name) = left.keys().next() else { return Ok(()) };
    let e = Error::usage("unknown option").found(name);
    let alike = known.iter().map(|known| (strsim::jaro_winkler(name, known), known)).filter(|(alike, _)| *alike > NEAR);
    match alike.max_by(|(a, _), (b, _)| a.total_cmp(b)) {
        Some((_, near)) => Err(e.help(format!("did you mean {near}?"))),
        None => Err(e.help(format!("the options are {}", known.join(", ")))),
    }
}

/// Whether an option does something.
pub(crate) fn is_set(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(list) => !list.is_empty(),
        _ => true,
    }
}
