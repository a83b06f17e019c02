//! Batches made ahead into the consumer's own memory, part of an epoch's batches, and waiting for a moment.

use std::time::Duration;

use crate::common::{damage, loader, options, set};
use vidrec::order::Order;
use vidrec::{Batch, Dtype, Epochs, LoaderOptions};

/// Memory that tells which piece it is.
struct Piece(usize, Vec<u8>);

impl AsMut<[u8]> for Piece {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.1
    }
}

fn shuffled() -> LoaderOptions {
    LoaderOptions { order: Order::Shuffled, dtype: Dtype::F16, ..options(2, (16, 16)) }
}

#[test]
fn batches_come_in_the_memory_that_was_provided_in_its_order_with_the_same_bytes() {
    let (_folder, dir) = set(9, 2, (32, 24));
    let loader = loader(&dir, shuffled());
    for pieces in [1, 2, 5] {
        let mut batches = loader.iter_into::<Piece>(3).unwrap();
        (0..pieces).for_each(|i| batches.provide(Piece(i, vec![0xAA; loader.batch_bytes()])));
        let mut k = 0;
        while let Some(batch) = batches.next() {
            let (piece, batch, state) = batch.unwrap();
            let expected = loader.batch(3, k as u64).unwrap();
            assert_eq!(piece.0, k % pieces);
            let bytes = expected.data.bytes();
            assert_eq!(&piece.1[..bytes.len()], bytes, "a smaller batch is at the start");
            assert_eq!(
                (&batch.labels, &batch.params, &batch.mask),
                (&expected.labels, &expected.params, &expected.mask)
            );
            k += 1;
            assert_eq!(state, loader.state(3, k as u64));
            batches.provide(piece);
        }
        assert_eq!(k, 5);
    }
}

#[test]
fn memory_of_the_wrong_size_and_damage_are_errors_in_their_place() {
    let (_folder, dir) = set(6, 3, (160, 120));
    damage(&dir, 3, 0);
    let loader = loader(&dir, options(2, (16, 16)));
    let mut batches = loader.iter_into::<Vec<u8>>(0).unwrap();
    [0, 0, 1].iter().for_each(|more| batches.provide(vec![0; loader.batch_bytes() + more]));
    assert!(batches.next().unwrap().is_ok());
    assert_eq!(batches.next().unwrap().err().unwrap().clip(), Some(3));
    let e = batches.next().unwrap().err().unwrap();
    assert!(e.to_string().contains("memory for a batch"), "{e}");
    assert!(batches.next().is_none());
}

#[test]
fn without_memory_a_consumer_waits_no_longer_than_it_said() {
    let (_folder, dir) = set(4, 1, (32, 24));
    let loader = loader(&dir, options(2, (16, 16)));
    let mut batches = loader.iter_into::<Vec<u8>>(0).unwrap();
    assert!(!batches.wait(Duration::from_millis(20)));
    batches.provide(vec![0; loader.batch_bytes()]);
    while !batches.wait(Duration::from_secs(1)) {}
    assert!(batches.next().unwrap().is_ok());
    assert!(!batches.wait(Duration::ZERO));
    assert!(loader.stats().consumer_wait_seconds >= 0.02);
    drop(batches);
}

#[test]
fn parts_taken_in_turn_are_the_whole() {
    let (_folder, dir) = set(13, 1, (32, 24));
    let loader = loader(&dir, shuffled());
    let whole: Vec<Batch> = crate::common::one_by_one(&loader, 1).map(Result::unwrap).collect();
    for step in 1..4 {
        let part = |first| loader.iter(Epochs::from(1).part(first, step)).unwrap().map(|b| b.unwrap().into_batch());
        let mut parts: Vec<_> = (0..step).map(part).collect();
        let found: Vec<Batch> = (0..whole.len()).map(|k| parts[k % step as usize].next().unwrap()).collect();
        assert_eq!(found, whole);
        assert!(parts.iter_mut().all(|part| part.next().is_none()));
    }
}
