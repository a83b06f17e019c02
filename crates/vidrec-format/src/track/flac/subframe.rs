//! One channel of a frame, encoded.

use super::bits::{BitWriter, fold};
use super::predict::{self, FIXED, Predictor};

/// The orders of linear predictors that are tried.
const ORDERS: [usize; 3] = [4, 8, 12];

/// The most parts of the differences that have parameters of their own, as a power of two.
const MAX_PARTS: u32 = 6;

/// The largest parameter of Rice's code.
const MAX_PARAMETER: u32 = 14;

/// The bits of what precedes the numbers of a channel.
const HEAD: u64 = 8;

/// The shortest way to store a channel that was found.
pub(super) struct Subframe<'a> {
    numbers: &'a [i32],
    depth: u32,
    way: Way,
    /// About how many bits it takes.
    pub cost: u64,
}

enum Way {
    Constant,
    Verbatim,
    Predicted { predictor: Predictor, is_fixed: bool, rest: Vec<i32>, parts: Parts },
}

/// The parameters of Rice's code for equal parts of the differences.
struct Parts {
    parameters: Vec<u32>,
    cost: u64,
}

impl<'a> Subframe<'a> {
    /// Encodes numbers of `depth` bits.
    pub fn best(numbers: &'a [i32], depth: u32) -> Self {
        if numbers.windows(2).all(|two| two[0] == two[1]) {
            return Subframe { numbers, depth, way: Way::Constant, cost: HEAD + u64::from(depth) };
        }
        let verbatim = HEAD + numbers.len() as u64 * u64::from(depth);
        let mut best = Subframe { numbers, depth, way: Way::Verbatim, cost: verbatim };
        for predictor in predict::linear(numbers, &ORDERS) {
            let head = 4 + 5 + u64::from(predict::PRECISION) * predictor.coefficients.len() as u64;
            best.try_predictor(predictor, false, head);
        }
        for coefficients in FIXED {
            best.try_predictor(Predictor { coefficients: coefficients.to_vec(), shift: 0 }, true, 0);
        }
        best
    }

    fn try_predictor(&mut self, predictor: Predictor, is_fixed: bool, head: u64) {
        let order = predictor.coefficients.len();
        let Some(rest) = predictor.residual(self.numbers).filter(|rest| !rest.is_empty()) else { return };
        let parts = Parts::of(&rest, self.numbers.len(), order);
        let cost = HEAD + head + order as u64 * u64::from(self.depth) + 6 + parts.cost;
        if cost < self.cost {
            (self.cost, self.way) = (cost, Way::Predicted { predictor, is_fixed, rest, parts });
        }
    }

    pub fn write(&self, out: &mut BitWriter) {
        let plain = |out: &mut BitWriter, count| {
            self.numbers.iter().take(count).for_each(|&number| out.signed(number, self.depth));
        };
        match &self.way {
            Way::Constant => {
                out.bits(0, 8);
                plain(out, 1);
            }
            Way::Verbatim => {
                out.bits(1 << 1, 8);
                plain(out, self.numbers.len());
            }
            Way::Predicted { predictor, is_fixed, rest, parts } => {
                let order = predictor.coefficients.len();
                out.bits((if *is_fixed { 8 + order as u32 } else { 31 + order as u32 }) << 1, 8);
                plain(out, order);
                if !is_fixed {
                    out.bits(predict::PRECISION - 1, 4);
                    out.bits(predictor.shift, 5);
                    predictor.coefficients.iter().for_each(|&c| out.signed(c, predict::PRECISION));
                }
                parts.write(rest, self.numbers.len(), out);
            }
        }
    }
}

impl Parts {
    /// The best division of the differences `rest` of a channel of `count` numbers, the first `order` of which have none.
    fn of(rest: &[i32], count: usize, order: usize) -> Self {
        let fits = |&parts: &u32| count.is_multiple_of(1 << parts) && count >> parts > order;
        let finest = (0..=MAX_PARTS).rev().find(fits).unwrap_or(0);
        let mut sums: Vec<(u64, u64)> = divided(rest, count, 1 << finest)
            .map(|part| (part.iter().map(|&rest| u64::from(fold(rest))).sum(), part.len() as u64))
            .collect();
        let mut best: Option<Parts> = None;
        loop {
            let chosen: Vec<(u32, u64)> = sums.iter().map(|&(sum, count)| parameter(sum, count)).collect();
            let cost = chosen.iter().map(|(_, cost)| 4 + cost).sum();
            if best.as_ref().is_none_or(|best| cost < best.cost) {
                best = Some(Parts { parameters: chosen.iter().map(|(parameter, _)| *parameter).collect(), cost });
            }
            if sums.len() == 1 {
                break;
            }
            sums = sums.chunks(2).map(|two| two.iter().fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))).collect();
        }
        best.unwrap_or(Parts { parameters: vec![0], cost: 0 })
    }

    fn write(&self, rest: &[i32], count: usize, out: &mut BitWriter) {
        out.bits(0, 2);
        out.bits(self.parameters.len().trailing_zeros(), 4);
        for (part, &parameter) in divided(rest, count, self.parameters.len()).zip(&self.parameters) {
            out.bits(parameter, 4);
            part.iter().for_each(|&rest| out.rice(rest, parameter));
        }
    }
}

/// Equal parts of a channel's numbers, without the first numbers of the channel, which have no differences.
fn divided(rest: &[i32], count: usize, parts: usize) -> impl Iterator<Item = &[i32]> {
    let (order, each) = (count - rest.len(), count / parts);
    (0..parts).map(move |i| rest.get((i * each).saturating_sub(order)..(i + 1) * each - order).unwrap_or_default())
}

/// The parameter for numbers with this sum, and about how many bits they take with it.
fn parameter(sum: u64, count: u64) -> (u32, u64) {
    let cost = |parameter: u32| count * (u64::from(parameter) + 1) + (sum.saturating_sub(count / 2) >> parameter);
    let all = (0..=MAX_PARAMETER).map(|parameter| (parameter, cost(parameter)));
    all.min_by_key(|(_, cost)| *cost).unwrap_or_default()
}
