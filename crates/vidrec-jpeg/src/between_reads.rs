//! The places where code returns to bytes that another process may have changed since the last read. Tests change
//! the bytes there.

#[cfg(test)]
use std::cell::RefCell;

#[cfg(test)]
type Change<'a> = Box<dyn FnMut() + 'a>;

#[cfg(test)]
thread_local! {
    static CHANGE: RefCell<Option<Change<'static>>> = const { RefCell::new(None) };
}

/// Does nothing, except in a test that asks for it.
#[inline(always)]
pub fn between_reads() {
    #[cfg(test)]
    CHANGE.with_borrow_mut(|change| change.iter_mut().for_each(|change| change()));
}

/// Runs `work`, and runs `change` whenever this thread calls [`between_reads`] meanwhile.
#[cfg(test)]
pub(crate) fn with_change<T>(change: impl FnMut() + 'static, work: impl FnOnce() -> T) -> T {
    struct Reset;
    impl Drop for Reset {
        fn drop(&mut self) {
            CHANGE.set(None);
        }
    }
    CHANGE.set(Some(Box::new(change)));
    let _reset = Reset;
    work()
}
