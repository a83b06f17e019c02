//! placeholder
use super::ExportReport;
use crate::{Dataset, Result};
use std::path::Path;
/// x
/// # Errors
/// x
pub fn export(_: &Dataset, _: &Path, _: u32) -> Result<ExportReport> {
    Ok(ExportReport::default())
}
