//! Inputs for readers, changed at random: what `fuzz/` does, without looking at what is covered.

use std::time::{Duration, Instant};

use vidrec_format::random::Random;

/// Does `work` with inputs that begin as the seeds of a reader (`fuzz/seeds`) and are changed again and again, for a
/// hundred times or as long as `VIDREC_FUZZ_SECONDS` says. What it does not survive is in the panic's message.
pub fn mutate_seeds(reader: &str, work: impl Fn(&[u8])) {
    let folder = format!("{}/../../fuzz/seeds/{reader}", env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let seeds: Vec<Vec<u8>> = paths.into_iter().map(|path| std::fs::read(path).unwrap()).collect();
    let seconds = std::env::var("VIDREC_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let (started, mut input, mut case) = (Instant::now(), Vec::new(), 0);
    while seconds.map_or(case < 100, |seconds| started.elapsed() < Duration::from_secs(seconds)) {
        let mut random = Random::new(case, &[]);
        if case % 16 == 0 {
            input.clone_from(&seeds[(case / 16) as usize % seeds.len()]);
        }
        if case >= 16 * seeds.len() as u64 || case % 16 > 0 {
            change(&mut input, &seeds, &mut random);
        }
        let survived = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&input)));
        assert!(survived.is_ok(), "{reader}, case {case}: {:?}", String::from_utf8_lossy(&input));
        case += 1;
    }
    println!("{reader}: {case} cases in {:.0} s", started.elapsed().as_secs_f64());
}

/// Changes a few bytes, a number, or a stretch.
fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    const NUMBERS: [u64; 10] = [0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 62, u64::MAX];
    const WORDS: [&str; 12] =
        ["null", "-1", "1e999", "[]", "{}", "\"\"", "true", "[[[[", "..", "/", "\\u0000", "18446744073709551616"];
    for _ in 0..=random.below(3) {
        let at = random.below(input.len() as u64 + 1) as usize;
        let end = (at + random.below(9) as usize).min(input.len());
        match random.below(8) {
            0 => input.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
            1 => input.iter_mut().skip(at).take(1).for_each(|byte| *byte = random.next_u32() as u8),
            2 => {
                let number = NUMBERS[random.below(10) as usize].to_le_bytes();
                input.iter_mut().skip(at).zip(&number[..1 << random.below(4)]).for_each(|(to, from)| *to = *from);
            }
            3 => drop(input.drain(at..end)),
            4 => drop(input.splice(at..at, input[at..end].to_vec())),
            5 => drop(input.splice(at..end, WORDS[random.below(12) as usize].bytes())),
            6 => input.truncate(at.max(1)),
            _ => {
                let other = &seeds[random.below(seeds.len() as u64) as usize];
                let from = random.below(other.len() as u64 + 1) as usize;
                let to = (from + random.below(64) as usize).min(other.len());
                drop(input.splice(at..end, other[from..to].iter().copied()));
            }
        }
    }
}
