//! Numbers on the command line: the library says which ones an option takes.

use vidrec::pack::arguments;

/// Reads numbers for the option of this name.
pub fn number<T: TryFrom<u64>>(option: &'static str) -> impl Fn(&str) -> vidrec::Result<T> + Clone {
    move |text| arguments::number(option, text)
}
