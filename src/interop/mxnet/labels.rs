//! The labels of a record, and how a clip gets them.

use serde_json::{Value, json};

use super::super::clip_json::ClipJson;
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;

/// A record's labels: one number, or as many numbers as the header says.
#[derive(Debug, Clone)]
pub(super) enum Labels {
    One(f32),
    Several(Box<[f32]>),
}

impl Labels {
    /// Reads the labels of a record. `flag` and `label` are from its header, and the label bytes `bytes` follow
    /// the header.
    pub fn from_bytes(flag: u32, label: f32, bytes: &[u8]) -> Self {
        if flag == 0 {
            return Labels::One(label);
        }
        let several = bytes.as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b));
        Labels::Several(several.collect())
    }

    /// Whether the bits are the same, so that a NaN equals itself.
    pub fn same(&self, other: &Self) -> bool {
        let bits = |labels: &Self| labels.values().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        match (self, other) {
            (Labels::One(a), Labels::One(b)) => a.to_bits() == b.to_bits(),
            _ => bits(self) == bits(other),
        }
    }

    pub fn values(&self) -> &[f32] {
        match self {
            Labels::One(label) => std::slice::from_ref(label),
            Labels::Several(labels) => labels,
        }
    }

    /// Gives a clip these labels. One whole number becomes its label (-1 for none), and several become its attribute
    /// `labels`. Numbers that are not valid labels become the attribute `label_value` or `label_values`.
    pub fn apply(&self, clip: &mut ClipJson) -> Result<()> {
        let whole = |x: f32| (x >= 0.0 && x <= limits::MAX_LABEL as f32 && x.fract() == 0.0).then_some(x as u32);
        if let Some(bad) = self.values().iter().find(|x| !x.is_finite()) {
            return Err(Error::decode("a label is not a finite number").found(bad));
        }
        let mut set = |key: &str, value: Value| drop(clip.attributes.0.insert(key.into(), value));
        match self.values() {
            [] | [-1.0] => {}
            [x] => match whole(*x) {
                Some(label) => clip.label = Some(label),
                None => set("label_value", json!(f64::from(*x))),
            },
            several => match several.iter().map(|&x| whole(x)).collect::<Option<Vec<u32>>>() {
                Some(labels) => set("labels", json!(labels)),
                None => set("label_values", several.iter().map(|&x| json!(f64::from(x))).collect()),
            },
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(labels: Labels) -> (Option<u32>, String) {
        let mut clip = ClipJson::named(String::new(), (1, 1));
        labels.apply(&mut clip).unwrap();
        (clip.label, serde_json::to_string(&clip.attributes).unwrap())
    }

    #[test]
    fn labels_find_their_places() {
        assert_eq!(applied(Labels::One(7.0)), (Some(7), "{}".into()));
        assert_eq!(applied(Labels::One(-1.0)), (None, "{}".into()));
        assert_eq!(applied(Labels::One(0.5)), (None, r#"{"label_value":0.5}"#.into()));
        let several = |x: &[f32]| applied(Labels::Several(x.into()));
        assert_eq!(several(&[3.0]), (Some(3), "{}".into()));
        assert_eq!(several(&[3.0, 1.0]), (None, r#"{"labels":[3,1]}"#.into()));
        assert_eq!(several(&[3.0, -0.25]), (None, r#"{"label_values":[3.0,-0.25]}"#.into()));
        let mut clip = ClipJson::named(String::new(), (1, 1));
        assert!(Labels::One(f32::NAN).apply(&mut clip).is_err());
    }
}
