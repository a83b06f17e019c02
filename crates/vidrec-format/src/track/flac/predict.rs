//! Predictors of the next number of a channel from those before it.

/// The coefficients of the predictors of fixed order, the latest number first.
pub(super) const FIXED: [&[i32]; 5] = [&[], &[1], &[2, -1], &[3, -3, 1], &[4, -6, 4, -1]];

/// The bits of a coefficient.
pub(super) const PRECISION: u32 = 14;

/// The most coefficients that are tried.
pub(super) const MAX_ORDER: usize = 12;

/// A predictor: the sum of the latest numbers times coefficients, shifted right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Predictor {
    /// The coefficients, that of the latest number first.
    pub coefficients: Vec<i32>,
    pub shift: u32,
}

impl Predictor {
    /// What it predicts after these numbers, which are as many as its coefficients.
    fn next(&self, before: &[i32]) -> i64 {
        let products = before.iter().rev().zip(&self.coefficients).map(|(&x, &c)| i64::from(x) * i64::from(c));
        products.sum::<i64>() >> self.shift
    }

    /// The differences between the numbers and what is predicted; `None` if one is too large to be stored.
    pub fn residual(&self, numbers: &[i32]) -> Option<Vec<i32>> {
        let order = self.coefficients.len();
        let windows = numbers.windows(order + 1).map(|window| match window.split_last() {
            Some((&number, before)) => i64::from(number) - self.next(before),
            None => 0,
        });
        windows.map(|rest| i32::try_from(rest).ok().filter(|rest| rest.unsigned_abs() < 1 << 30)).collect()
    }

    /// Replaces differences, which follow the first numbers, by the numbers.
    pub fn restore(&self, numbers: &mut [i32]) {
        match self.coefficients.len() {
            1 => self.restore_after::<1>(numbers),
            2 => self.restore_after::<2>(numbers),
            3 => self.restore_after::<3>(numbers),
            4 => self.restore_after::<4>(numbers),
            8 => self.restore_after::<8>(numbers),
            12 => self.restore_after::<12>(numbers),
            order => {
                for i in order..numbers.len() {
                    numbers[i] = (self.next(&numbers[i - order..i]) + i64::from(numbers[i])) as i32;
                }
            }
        }
    }

    /// The same for the orders that the encoder chooses, which takes half the time.
    fn restore_after<const ORDER: usize>(&self, numbers: &mut [i32]) {
        let Some(coefficients) = self.coefficients.first_chunk::<ORDER>() else { return };
        let coefficients = coefficients.map(i64::from);
        for i in ORDER..numbers.len() {
            let Some(before) = numbers[..i].last_chunk::<ORDER>() else { return };
            let sum: i64 = before.iter().rev().zip(&coefficients).map(|(&x, c)| i64::from(x) * c).sum();
            numbers[i] = ((sum >> self.shift) + i64::from(numbers[i])) as i32;
        }
    }
}

/// The best linear predictors of these orders, which rise to at most [`MAX_ORDER`]. There are fewer if the numbers are
/// few or simple.
///
/// All arithmetic is sums, products and quotients in a given order, which have the same result on every machine.
pub(super) fn linear(numbers: &[i32], orders: &[usize]) -> Vec<Predictor> {
    let products = autocorrelation(numbers);
    let (mut error, mut all) = (products[0], [0.0; MAX_ORDER]);
    let mut found = Vec::new();
    for order in 1..=MAX_ORDER {
        if order * 4 > numbers.len() || error.is_nan() || error <= 0.0 {
            break;
        }
        let before = all;
        let sum = (1..order).fold(products[order], |sum, i| sum - before[i - 1] * products[order - i]);
        let reflection = sum / error;
        all[order - 1] = reflection;
        for i in 1..order {
            all[i - 1] = before[i - 1] - reflection * before[order - 1 - i];
        }
        error *= 1.0 - reflection * reflection;
        if orders.contains(&order) {
            found.extend(whole(&all[..order]));
        }
    }
    found
}

/// The sums of the products of numbers that are 0, 1 and so on apart, faded out at both ends.
fn autocorrelation(numbers: &[i32]) -> [f64; MAX_ORDER + 1] {
    let middle = (numbers.len() as f64 - 1.0) / 2.0;
    let faded = numbers.iter().enumerate().map(|(i, &x)| {
        let from_middle = (i as f64 - middle) / (middle + 1.0);
        f64::from(x) * (1.0 - from_middle * from_middle)
    });
    let padded: Vec<f64> = std::iter::repeat_n(0.0, MAX_ORDER).chain(faded).collect();
    let mut sums = [0.0; MAX_ORDER + 1];
    for window in padded.windows(MAX_ORDER + 1) {
        let latest = window[MAX_ORDER];
        sums.iter_mut().zip(window.iter().rev()).for_each(|(sum, x)| *sum += latest * x);
    }
    sums
}

/// The predictor with these coefficients as whole numbers; `None` if they are too large.
fn whole(coefficients: &[f64]) -> Option<Predictor> {
    let most = coefficients.iter().fold(0f64, |most, c| most.max(c.abs()));
    let limit = f64::from(1 << (PRECISION - 1)) - 1.0;
    let shift = (0..=15).rev().find(|&shift| most * f64::from(1 << shift) <= limit)?;
    let mut error = 0.0;
    let rounded = coefficients.iter().map(|c| {
        let exact = c * f64::from(1 << shift) + error;
        let rounded = exact.round().clamp(-limit, limit);
        error = exact - rounded;
        rounded as i32
    });
    Some(Predictor { coefficients: rounded.collect(), shift })
}
