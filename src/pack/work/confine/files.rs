//! No way to any file, by Landlock.

use landlock::{ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetError, Scope};

/// Takes every right to files, to the network and to other processes from this thread and those that it starts, as far as
/// the kernel can. Files that are open, or that another process hands over, can be used as before.
pub(super) fn close() {
    // Where the kernel has no Landlock, the filter of calls has to do.
    let _ = restrict();
}

fn restrict() -> Result<(), RulesetError> {
    let rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    let rules = rules.handle_access(AccessFs::from_all(ABI::V5))?.handle_access(AccessNet::from_all(ABI::V5))?;
    rules.scope(Scope::from_all(ABI::V6))?.create()?.restrict_self()?;
    Ok(())
}
