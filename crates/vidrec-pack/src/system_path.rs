//! Paths as the system has them, for serde: a text where a path is UTF-8, as almost all are, and what serde makes of an
//! `OsString` where it is not.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Other(OsString),
}

pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => text.serialize(to),
        None => path.as_os_str().serialize(to),
    }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    Ok(match Written::deserialize(from)? {
        Written::Text(path) => path.into(),
        Written::Other(path) => path.into(),
    })
}

/// The same for several paths.
pub(crate) mod several {
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize)]
    struct Borrowed<'a>(#[serde(serialize_with = "super::serialize")] &'a Path);

    #[derive(Deserialize)]
    struct Owned(#[serde(deserialize_with = "super::deserialize")] PathBuf);

    pub(crate) fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(paths.iter().map(|path| Borrowed(path)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
        Ok(Vec::<Owned>::deserialize(from)?.into_iter().map(|Owned(path)| path).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Paths(#[serde(with = "super")] PathBuf, #[serde(with = "several")] Vec<PathBuf>);

    #[test]
    fn paths_are_text_unless_they_are_not_utf_8() {
        let paths = Paths("a/é".into(), vec!["b".into(), "c d".into()]);
        let json = serde_json::to_string(&paths).unwrap();
        assert_eq!(json, r#"["a/é",["b","c d"]]"#);
        assert_eq!(serde_json::from_str::<Paths>(&json).unwrap(), paths);
    }

    #[cfg(unix)]
    #[test]
    fn other_paths_stay_what_they_are() {
        use std::os::unix::ffi::OsStringExt;
        let odd = PathBuf::from(OsString::from_vec(vec![b'a', 0xff]));
        let paths = Paths(odd.clone(), vec![odd, "b".into()]);
        let json = serde_json::to_string(&paths).unwrap();
        assert_eq!(serde_json::from_str::<Paths>(&json).unwrap(), paths);
    }
}
