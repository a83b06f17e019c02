//! Tests our decoder without libjpeg-turbo, so that Miri can run it. All machines must return the same, whatever
//! the bytes.
//!
//! Other tests prove that libjpeg-turbo returns the same for these pictures.

use std::ops::Range;

use super::*;
use crate::tile_decoder::{TileDecoder, TilePlanes, Tiles};
use crate::tiles::Tiler;
use vidrec_format::random::Random;

/// Does the same as `RegionDecoder::planes`, without libjpeg-turbo.
fn decode(tiler: &mut Tiler, own: &mut TileDecoder, jpeg: &[u8], region: Region, scale: Scale) -> Option<[Vec<u8>; 3]> {
    let selection = tiler.select(jpeg, region, true)?;
    if tiler.is_new() {
        tiler.read_coding();
    }
    let (segments, coding) = tiler.selected();
    let range = |range: &Range<u32>| range.start as usize..range.end as usize;
    let tiles = Tiles {
        jpeg,
        coding: coding?,
        segments,
        across: selection.grid.parts().0 as usize,
        columns: range(&selection.parts.columns),
        rows: range(&selection.parts.rows),
        restart: selection.grid.restart() as usize,
    };
    let [width, height] =
        [selection.cut.region.width, selection.cut.region.height].map(|side| scale.side(side) as usize);
    let mut planes = [width * height, width * height / 4, width * height / 4].map(|length| vec![0; length]);
    let target =
        TilePlanes { planes: planes.each_mut().map(|plane| &mut plane[..]), pitches: [width, width / 2, width / 2] };
    own.decode(&tiles, scale, target).map(|()| planes)
}

/// Decodes at a scale and in part as `turn` says. Returns true if our decoder returned pixels.
fn same_on_all_machines(tiler: &mut Tiler, on: &mut [TileDecoder], jpeg: &[u8], turn: u64) -> bool {
    let Some((width, height)) = tiler.size(jpeg).filter(|&(width, height)| width.max(height) <= 256) else {
        return false;
    };
    let scale = Scale::ALL[turn as usize % 4];
    let mut random = Random::new(turn, &[2]);
    let (x, y) = (random.below(width.into()) as u32, random.below(height.into()) as u32);
    let part = Region { x, y, width: 1, height: height - y };
    let region = if turn.is_multiple_of(2) { Region::whole((width, height)) } else { part };
    let mut found = on.iter_mut().map(|own| decode(tiler, own, jpeg, region, scale));
    let first = found.next().unwrap();
    assert!(found.all(|other| other == first), "{turn}: {region:?} {scale:?}");
    first.is_some()
}

#[test]
fn all_machines_give_the_same_for_generated_and_for_changed_pictures() {
    let cases = if cfg!(miri) { 8 } else { 200 };
    let mut on: Vec<_> = IdctMachine::all().into_iter().map(TileDecoder::on).collect();
    let mut tiler = Tiler::default();
    let (mut whole, mut changed) = (0, 0);
    for turn in 0..cases {
        let jpeg = fuzzing::generated(turn);
        whole += u64::from(same_on_all_machines(&mut tiler, &mut on, &jpeg, turn));
        let input = fuzzing::changed_again(&[&[0; 5], &jpeg[..]].concat(), turn, usize::MAX);
        changed += u64::from(same_on_all_machines(&mut tiler, &mut on, input.get(5..).unwrap_or_default(), turn));
    }
    println!("of {cases} pictures {whole} are decoded, {changed} of the changed ones, on {} machines", on.len());
    assert!(whole > cases / 2 && changed > 0 && changed < cases);
}
