//! Values that are null.

use serde::{Deserialize, Deserializer};

/// The default for `null`.
pub fn null_is_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(from)?.unwrap_or_default())
}
