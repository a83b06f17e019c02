//! Takes away access to all files, by Landlock.

use landlock::{ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetError, Scope};

/// Takes access to files, the network and other processes from this thread and the threads that it starts.
///
/// It takes as much as the kernel can. Files that are already open, or that another process hands over, stay
/// usable.
pub(super) fn close() {
    // If the kernel has no Landlock, the filter of system calls must suffice.
    let _ = restrict();
}

fn restrict() -> Result<(), RulesetError> {
    let rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    let rules = rules.handle_access(AccessFs::from_all(ABI::V5))?.handle_access(AccessNet::from_all(ABI::V5))?;
    rules.scope(Scope::from_all(ABI::V6))?.create()?.restrict_self()?;
    Ok(())
}
