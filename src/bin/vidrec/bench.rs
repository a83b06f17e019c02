//! stub
#[derive(clap::Args)]
/// stub
pub struct Args {}
pub fn run(_args: &Args) -> crate::Run {
    Ok(crate::Outcome::Done)
}
