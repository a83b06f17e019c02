//! Keeps tests of locks apart from tests that start processes: a process shares all locks of this one from its
//! beginning until it runs its program.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static STARTS: RwLock<()> = RwLock::new(());

/// No test starts a process while this lives.
pub fn none() -> RwLockReadGuard<'static, ()> {
    STARTS.read().unwrap_or_else(PoisonError::into_inner)
}

/// This test starts processes.
#[cfg_attr(not(unix), allow(dead_code, reason = "the tests that start processes are for Unix"))]
pub fn some() -> RwLockWriteGuard<'static, ()> {
    STARTS.write().unwrap_or_else(PoisonError::into_inner)
}
