//! An attribute of the clips of a batch.

/// An attribute of the clips of a batch: [`Batch::fields`](super::Batch::fields).
///
/// The type is the same in every batch. It follows from all clips of the data set. Numbers are integers if every
/// clip has one, and all of them are whole and fit 64 bits.
///
/// ```
/// let scores = vidrec::Field::Floats(vec![0.5, f64::NAN]);
/// assert_eq!(scores.len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Field {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Numbers; NaN for a clip without one.
    Floats(Vec<f64>),
    /// Texts.
    Texts(Vec<Option<String>>),
    /// Anything else (lists, objects, `true` and `false`), as JSON.
    Json(Vec<Option<String>>),
}

impl Field {
    /// The number of clips.
    pub fn len(&self) -> usize {
        match self {
            Field::Integers(values) => values.len(),
            Field::Floats(values) => values.len(),
            Field::Texts(values) | Field::Json(values) => values.len(),
        }
    }

    /// Whether there are no clips.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
