//! The `vidrec` program from outside. What belongs to `vidrec pack` alone is in `tests/pack`.

mod browse;
mod check;
mod edit;
mod fetch;
mod hostile;
mod hostile_text;
mod look;
mod program;
mod progress;
mod remote;
mod report;
