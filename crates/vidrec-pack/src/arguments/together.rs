//! Which options can be given together.

use vidrec_format::error::{Error, Hint, Result};

/// The options that replace a fixed number of frames.
const PACES: &[&str] = &["fps", "every", "all", "keyframes"];

/// Groups of options that exclude each other.
const ALTERNATIVES: &[&[&str]] = &[
    &["frames", "fps", "every", "all", "keyframes"],
    &["sample", "fps", "every", "all", "keyframes"],
    &["stride", "fps", "every", "all", "keyframes"],
    &["draws", "fps", "every", "all", "keyframes"],
    &["short_side", "size", "original"],
    &["enlarge", "size", "original"],
    &["quality", "target_quality"],
    &["resume", "restart"],
    &["shards", "shard_size"],
    &["shards", "parts"],
];

/// Options that have no effect without one of the listed others.
const NEEDS: &[(&str, &[&str])] = &[("max_frames", PACES), ("jobs", &["parts"]), ("audio_channels", &["audio"])];

/// Checks that the options of these names can be given together.
///
/// An option that nobody gave, and that has its default, does not belong in `given`. Options that this function
/// does not know can be combined with all others.
///
/// ```
/// # mod vidrec { pub use vidrec_pack as pack; pub use vidrec_format::error::Error; }
/// use vidrec::pack::arguments::check_together;
///
/// check_together(&["fps", "max_frames", "quality"])?;
/// let e = check_together(&["fps", "frames"]).unwrap_err();
/// assert_eq!(e.to_string(), "two options exclude each other; give only one of the options frames and fps");
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): two of the options exclude each other, or one has no effect
/// without another. A [`Hint`] names them.
pub fn check_together(given: &[&str]) -> Result<()> {
    let is_given = |option: &&&str| given.contains(*option);
    for group in ALTERNATIVES {
        let mut chosen = group.iter().filter(is_given);
        if let (Some(one), Some(other)) = (chosen.next(), chosen.next()) {
            return Err(Error::usage("two options exclude each other").hint(Hint::OnlyOne(one, other)));
        }
    }
    for &(option, others) in NEEDS {
        if given.contains(&option) && !others.iter().any(|other| given.contains(other)) {
            return Err(Error::usage("an option has no effect alone").hint(Hint::Together(option, others)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_two_of_a_group_are_refused_and_one_is_not() {
        for group in ALTERNATIVES {
            for (i, &one) in group.iter().enumerate() {
                check_together(&[one, "seed"]).unwrap();
                for &other in &group[..i] {
                    let e = check_together(&["seed", one, other]).unwrap_err().to_string();
                    assert!(e.contains(one) && e.contains(other), "{e}");
                }
            }
        }
    }

    #[test]
    fn an_option_that_would_have_no_effect_is_refused() {
        let e = check_together(&["max_frames", "frames"]).unwrap_err().to_string();
        assert!(e.ends_with("give max_frames together with one of fps, every, all, keyframes"), "{e}");
        check_together(&["max_frames", "keyframes"]).unwrap();
    }
}
