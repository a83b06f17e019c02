//! Which number of threads is best here? More can be slower: they share memory bandwidth, and the training needs cores.

use std::num::NonZero;

use crate::LoaderOptions;
use serde::Serialize;

use super::args::Args;
use super::measure::{Report, measure};

/// Fewer threads are better if they lose no more than this part of the best rate.
const GOOD_ENOUGH: f64 = 0.03;

/// The result of the search.
#[derive(Serialize)]
pub struct Tuning {
    /// The least number of threads within 3 % of the best rate.
    pub best_threads: usize,
    /// In order of the number of threads.
    pub runs: Vec<Report>,
}

/// Measures with 1, 2, 4 and so on threads, up to twice the cores.
pub fn tune(args: &Args, options: &LoaderOptions) -> Result<Tuning, crate::cli::Failure> {
    if options.threads.is_some() {
        return Err("--tune chooses the number of threads; omit threads=".into());
    }
    let with = |threads| LoaderOptions { threads: Some(threads), ..options.clone() };
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let runs = candidates(cores).into_iter().map(|n| measure(args, with(n))).collect::<Result<Vec<_>, _>>()?;
    let rates: Vec<_> = runs.iter().map(|r| (r.threads, r.frames_per_second)).collect();
    Ok(Tuning { best_threads: best(&rates), runs })
}

/// Powers of two up to twice the cores, the cores themselves and twice that.
fn candidates(cores: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|&n| n <= 2 * cores);
    let mut counts: Vec<usize> = powers.chain([cores, 2 * cores]).collect();
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// The first number of threads that is fast enough.
fn best(rates: &[(usize, f64)]) -> usize {
    let most = rates.iter().map(|&(_, rate)| rate).fold(0.0, f64::max);
    rates.iter().find(|&&(_, rate)| rate >= most * (1.0 - GOOD_ENOUGH)).map_or(1, |&(threads, _)| threads)
}

pub fn render(tuning: &Tuning) -> String {
    let mut text = String::from("threads   frames/s   CPU s / 1000 frames\n");
    for r in &tuning.runs {
        let cpu = r.cpu_seconds_per_1000_frames.map_or("?".into(), |cpu| format!("{cpu:.3}"));
        text += &format!("{:7} {:10.0} {cpu:>21}\n", r.threads, r.frames_per_second);
    }
    text + &format!("best: {} threads, the fewest within 3 % of the fastest\n", tuning.best_threads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_to_try_include_the_cores() {
        assert_eq!(candidates(1), [1, 2]);
        assert_eq!(candidates(6), [1, 2, 4, 6, 8, 12]);
        assert_eq!(candidates(8), [1, 2, 4, 8, 16]);
    }

    #[test]
    fn fewer_threads_win_where_more_gain_nothing() {
        assert_eq!(best(&[(1, 50.0), (2, 98.0), (4, 100.0), (8, 60.0)]), 2);
        assert_eq!(best(&[(1, 50.0), (2, 90.0), (4, 100.0)]), 4);
        assert_eq!(best(&[]), 1);
    }
}
