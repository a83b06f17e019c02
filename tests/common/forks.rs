//! Keeps tests of locks apart from tests that start processes: a process shares all locks of this one from its
//! beginning until it runs its program.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static FORKS: RwLock<()> = RwLock::new(());

/// No test starts a process while this lives.
pub fn none() -> RwLockReadGuard<'static, ()> {
    FORKS.read().unwrap_or_else(PoisonError::into_inner)
}

/// This test starts processes.
#[cfg_attr(not(unix), allow(dead_code, reason = "the tests that start processes are for Unix"))]
pub fn some() -> RwLockWriteGuard<'static, ()> {
    FORKS.write().unwrap_or_else(PoisonError::into_inner)
}
