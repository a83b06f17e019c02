//! Options as Python writes them.

mod literal;

use std::str::FromStr;

use serde_json::{Map, Value, json};

use self::literal::{Arguments, Literal};
use super::{LoaderOptions, Normalize};
use vidrec_format::error::{Error, Result};

/// Reads options as Python's `vidrec.Loader` takes and prints them: `batch_size=8, frames=Uniform(8), flip=0.5`.
///
/// Texts may lack their quotes, and names their module. Options that are not written have their defaults. What Python
/// alone does (`output="torch"`, `output="numpy"`, `pin_memory`, `process`) has no effect.
///
/// # Errors
///
/// Returns a [usage error](vidrec_format::error::ErrorKind::Usage) that names the place or the option.
///
/// ```
/// use vidrec::{Crop, Dtype, Frames, LoaderOptions};
///
/// let options: LoaderOptions = "frames=Run(16, fps=4), crop=RandomResizedCrop(112), dtype='float32'".parse()?;
/// assert_eq!(options.frames, Frames::run(16).with_fps(Some("4".parse()?)));
/// assert_eq!((options.crop, options.dtype), (Crop::random_resized((112, 112)), Dtype::F32));
/// # Ok::<(), vidrec::Error>(())
/// ```
impl FromStr for LoaderOptions {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |what: String| Error::usage(format!("loader options: {what}"));
        let Arguments { unnamed, named } = literal::arguments(text).map_err(wrong)?;
        if !unnamed.is_empty() {
            return Err(wrong("an option lacks its name".into()).expected("NAME=VALUE, such as frames=Uniform(8)"));
        }
        let mut options = Map::new();
        for (name, written) in named {
            let value = option(&name, written).map_err(|e| wrong(format!("{name}: {e}")))?;
            if !value.is_null() && options.insert(name.clone(), value).is_some() {
                return Err(wrong(format!("{name} is given twice")));
            }
        }
        serde_json::from_value(options.clone().into()).map_err(|e| wrong(fault(&options).unwrap_or(e.to_string())))
    }
}

/// What is wrong with the first option that cannot be read, with its name, which serde does not say.
fn fault(options: &Map<String, Value>) -> Option<String> {
    options.iter().find_map(|(name, value)| {
        let e = serde_json::from_value::<LoaderOptions>(json!({name: value})).err()?.to_string();
        let names_it = e.starts_with(&format!("unknown field `{name}`"));
        Some(if names_it { e } else { format!("{name}: {e}") })
    })
}

/// The JSON of an option.
fn option(name: &str, written: Literal) -> Result<Value, String> {
    match (name, written) {
        ("frames" | "crop" | "order" | "batching", Literal::Call(class, arguments)) => tagged(&class, arguments),
        ("frames", Literal::Plain(count @ Value::Number(_))) => Ok(json!({"Uniform": {"count": count}})),
        ("crop", size @ (Literal::Plain(Value::Number(_)) | Literal::List(_))) => {
            Ok(json!({"CenterCrop": {"size": size.plain(&value)?}}))
        }
        ("order", samples @ Literal::List(_)) => Ok(json!({"Given": samples.plain(&value)?})),
        ("prefetch", Literal::Plain(batches @ Value::Number(_))) => Ok(json!({"batches": batches})),
        ("decoded_cache", Literal::Plain(size)) if !size.is_null() => Ok(json!({"size": size})),
        ("normalize", Literal::Plain(Value::String(name))) => match name.rsplit('.').next() {
            Some("IMAGENET") => Ok(json!(Normalize::IMAGENET)),
            Some("KINETICS") => Ok(json!(Normalize::KINETICS)),
            _ => Err(format!("expected Normalize(mean, std), IMAGENET or KINETICS, found {name}")),
        },
        ("layout", Literal::Plain(Value::String(name))) if name == "channels_last_3d" => Ok("BTHWC".into()),
        // What Python makes of a batch.
        ("output", Literal::Plain(Value::String(name))) if ["torch", "numpy"].contains(&name.as_str()) => {
            Ok(Value::Null)
        }
        ("pin_memory" | "process", _) => Ok(Value::Null),
        // Such as torch.float32.
        ("dtype", Literal::Plain(Value::String(name))) => Ok(name.rsplit('.').next().into()),
        (_, written) => written.plain(&value),
    }
}

/// The JSON of one of several classes: its fields, under its name.
fn tagged(class: &str, arguments: Arguments) -> Result<Value, String> {
    let fields = fields(class, arguments)?;
    Ok(if class == "Shuffled" { class.into() } else { json!({class: fields}) })
}

/// The JSON of a call elsewhere.
fn value(class: String, arguments: Arguments) -> Result<Value, String> {
    match (class.as_str(), &arguments.unnamed[..]) {
        ("range", [Literal::Plain(end)]) => Ok(json!([0, end])),
        ("range", [Literal::Plain(start), Literal::Plain(end)]) => Ok(json!([start, end])),
        _ => Ok(fields(&class, arguments)?.into()),
    }
}

/// The names of the fields of a class that may come without them.
fn unnamed(class: &str) -> Result<&'static [&'static str], String> {
    Ok(match class {
        "Uniform" | "Random" | "Run" | "Windows" => &["count"],
        "Views" => &["views", "count"],
        "AllFrames" => &["max"],
        "CenterCrop" | "RandomCrop" | "RandomResizedCrop" | "MultiScaleCrop" | "ThreeCrop" | "Cover" => &["size"],
        "SmartResize" => &["factor"],
        "Normalize" => &["mean", "std"],
        "TrackNormalize" => &["shift", "scale"],
        "Blocks" => &["block"],
        "Weighted" => &["weights"],
        "Buckets" => &["lengths"],
        "FrameBudget" => &["frames"],
        "TokenBudget" => &["tokens"],
        "Cameras" => &["names"],
        "Prefetch" => &["batches"],
        "DecodedCache" => &["size"],
        "track" => &["window", "rate", "how"],
        "ColorJitter" | "Homes" | "Shuffled" => &[],
        _ => return Err(format!("there is no {class}")),
    })
}

fn fields(class: &str, arguments: Arguments) -> Result<Map<String, Value>, String> {
    let names = unnamed(class)?;
    if arguments.unnamed.len() > names.len() {
        return Err(format!("{class}: too many values without a name"));
    }
    let first = names.iter().map(|&name| name.to_owned()).zip(arguments.unnamed);
    let mut fields = Map::new();
    for (name, written) in first.chain(arguments.named) {
        let value = field(&name, written.plain(&value)?);
        if !value.is_null() && fields.insert(name.clone(), value).is_some() {
            return Err(format!("{class}: {name} is given twice"));
        }
    }
    Ok(fields)
}

/// The JSON of a field that may be written in several forms.
fn field(name: &str, value: Value) -> Value {
    match (name, value) {
        ("fps" | "rate", Value::Number(rate)) => rate.to_string().into(),
        ("mean" | "std", Value::Number(each)) => json!([each, each, each]),
        ("steps", Value::Number(count)) => json!([0, count]),
        (_, value) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<LoaderOptions> {
        text.parse()
    }

    #[test]
    fn each_value_can_be_written() {
        for (text, json) in [
            ("", "{}"),
            ("frames=8, crop=112", r#"{"frames": {"Uniform": {"count": 8}}, "crop": {"CenterCrop": {"size": 112}}}"#),
            ("frames=None, color=None, rank=(1, 2)", r#"{"rank": [1, 2]}"#),
            (
                "frames=vidrec.Views(10, count=16, fps=29.97)",
                r#"{"frames": {"Views": {"views": 10, "count": 16, "fps": "29.97"}}}"#,
            ),
            (
                "frames=AllFrames(), batching=FrameBudget(256, buckets=(8, 16))",
                r#"{"frames": {"AllFrames": {}}, "batching": {"FrameBudget": {"frames": 256, "buckets": [8, 16]}}}"#,
            ),
            (
                "crop=Cover(sizes=((6, 8), (7, 7)), reducing_gap=inf)",
                r#"{"crop": {"Cover": {"sizes": [[6, 8], 7], "reducing_gap": 1.7976931348623157e308}}}"#,
            ),
            ("order=Shuffled(), output='numpy', pin_memory=True, process=True", r#"{"order": "Shuffled"}"#),
            ("order=Homes(homes=4, exchange=0.1)", r#"{"order": {"Homes": {"homes": 4, "exchange": 0.1}}}"#),
            ("order=(3, 1)", r#"{"order": {"Given": [3, 1]}}"#),
            (
                "dtype=torch.float32, normalize=KINETICS",
                r#"{"dtype": "float32", "normalize": {"mean": [0.45, 0.45, 0.45], "std": [0.225, 0.225, 0.225]}}"#,
            ),
            (
                "dtype='float32', normalize=Normalize(0.5, (0.1, 0.2, 0.3))",
                r#"{"dtype": "float32", "normalize": {"mean": [0.5, 0.5, 0.5], "std": [0.1, 0.2, 0.3]}}"#,
            ),
            ("prefetch=8, decoded_cache=200GB", r#"{"prefetch": {"batches": 8}, "decoded_cache": {"size": "200GB"}}"#),
            (
                "tracks={'a': track(steps=range(-2, 48), rate=25), 'b': track((0, 1))}",
                r#"{"tracks": {"a": {"steps": [-2, 48], "rate": "25"}, "b": {"window": [0, 1]}}}"#,
            ),
            (
                "tracks={'a': track(normalize=TrackNormalize((1.5, 0), (2, 0.5)))}",
                r#"{"tracks": {"a": {"normalize": {"shift": [1.5, 0], "scale": [2, 0.5]}}}}"#,
            ),
            ("cameras=Cameras(['front'], missing=mask)", r#"{"cameras": {"names": ["front"], "missing": "mask"}}"#),
        ] {
            let expected: LoaderOptions = serde_json::from_str(json).unwrap();
            assert_eq!(read(text).unwrap_or_else(|e| panic!("{text}: {e}")), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (text, named) in [
            ("8", "lacks its name"),
            ("frames=8, frames=9", "frames is given twice"),
            ("frames=Uniform(8, 9)", "Uniform: too many values"),
            ("frames=Uniform(8, count=9)", "Uniform: count is given twice"),
            ("frames=Uniform(8, fps=4)", "loader options: frames: unknown field `fps`"),
            ("flip=0.5, batch_size=x", "loader options: batch_size: invalid type"),
            ("frame=8", "loader options: unknown field `frame`"),
            ("frames=Uniformly(8)", "frames: there is no Uniformly"),
            ("crop=Uniform(8)", "crop: unknown variant `Uniform`"),
            ("normalize=imagenet", "normalize: expected Normalize(mean, std)"),
            ("output=jpeg", "unknown field `output`"),
            ("crop=(1", "at the end: expected a comma"),
        ] {
            let e = read(text).unwrap_err().to_string();
            assert!(e.contains(named), "{text}: {e}");
        }
    }
}
