//! The parts of a plan for a device, as bytes that one copy brings there.

/// Parts begin at multiples of so many bytes.
const ALIGNMENT: usize = 64;

/// Parts of a plan, one behind the other, as values of this machine.
#[derive(Default)]
pub struct PlanParts {
    pub bytes: Vec<u8>,
    /// Where each part begins and ends.
    pub places: Vec<(usize, usize)>,
}

impl PlanParts {
    pub fn push<T: Copy, const N: usize>(&mut self, values: &[T], bytes: fn(T) -> [u8; N]) {
        let start = self.bytes.len();
        self.bytes.reserve((values.len() * N).next_multiple_of(ALIGNMENT));
        values.iter().for_each(|&value| self.bytes.extend_from_slice(&bytes(value)));
        self.places.push((start, self.bytes.len()));
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
    }
}
