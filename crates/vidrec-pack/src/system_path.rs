//! Paths in JSON, as text. Bytes that are not UTF-8 are escaped as in the names of sources.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use vidrec_core::source_name;

pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    source_name::of_os_str(path.as_os_str()).serialize(to)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    String::deserialize(from).map(|name| source_name::to_path(&name))
}

/// Lists of paths.
pub(crate) mod several {
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serializer};

    use vidrec_core::source_name;

    pub(crate) fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(paths.iter().map(|path| source_name::of_os_str(path.as_os_str())))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
        Ok(Vec::<String>::deserialize(from)?.iter().map(|name| source_name::to_path(name)).collect())
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
        let odd = PathBuf::from(std::ffi::OsString::from_vec(vec![b'a', 0xff]));
        let paths = Paths(odd.clone(), vec![odd, r"b\xFF".into(), "s3://b//c".into()]);
        let json = serde_json::to_string(&paths).unwrap();
        assert_eq!(serde_json::from_str::<Paths>(&json).unwrap(), paths);
    }
}
