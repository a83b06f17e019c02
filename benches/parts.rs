//! Parts of the loader by themselves, which `benches/internals` reach with a flag of the compiler:
//!
//!     RUSTFLAGS="--cfg vidrec_internals" cargo bench --no-default-features --bench parts

#[cfg(vidrec_internals)]
#[path = "internals/parts.rs"]
mod parts;

#[cfg(vidrec_internals)]
fn main() {
    parts::benches();
    criterion::Criterion::default().configure_from_args().final_summary();
}

#[cfg(not(vidrec_internals))]
fn main() {
    eprintln!("parts: nothing to measure without RUSTFLAGS=\"--cfg vidrec_internals\"");
}
