//! Clips of a data set, by number and by class.

use crate::Dataset;
use crate::edit::Selection;

use crate::cli::ranges::{self, ClipRange};

/// Which clips: all of them, unless something is given.
#[derive(clap::Args)]
pub struct ClipArgs {
    /// Clips by number, counted from 0: 5, 3-7 or all, with commas between.
    #[arg(long, value_name = "RANGES", value_delimiter = ',')]
    clips: Vec<ClipRange>,
    /// Clips of this class, by name, or by number where classes have no names. May be given several times: any of them.
    #[arg(long, value_name = "CLASS")]
    class: Vec<String>,
}

impl ClipArgs {
    /// What the library takes; `None` for all clips. Opens the data set if it has to know how many clips there are.
    pub fn selection(
        &self,
        open: impl FnOnce() -> Result<Dataset, Box<dyn std::error::Error>>,
    ) -> Result<Option<Selection>, Box<dyn std::error::Error>> {
        if self.clips.is_empty() && self.class.is_empty() {
            return Ok(None);
        }
        let list = match self.clips.is_empty() {
            true => None,
            false => Some(ranges::ordinals(&self.clips, open()?.len())?.into()),
        };
        Ok(Some(Selection { classes: self.class.clone(), list, ..Selection::default() }))
    }
}
