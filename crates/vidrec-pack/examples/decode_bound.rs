//! The wall that packing runs into: how fast FFmpeg decodes the packets that the chosen frames need, and nothing else.
//!
//!     cargo run --release --package vidrec-pack --example decode_bound -- JOBS [--threads N]
//!
//! JOBS is a file with a line for each video: its path, a tab, and the ordinals of the wanted frames with spaces between.
//! Each video is decoded by one thread, from its first packet to the last wanted frame; pictures that nothing refers to are
//! dropped by the decoder (`AVDISCARD_NONREF`) where they are not wanted. Nothing is scaled, converted or encoded. The answer is
//! one line of JSON; `decode_seconds` leaves out opening and reading the files.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use ffmpeg_next::codec::{self, discard::Discard, threading};
use ffmpeg_next::{Packet, format, frame, media};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

struct Job {
    path: String,
    wanted: Vec<usize>,
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let (Some(jobs), threads) = (args.next(), args.nth(1).and_then(|n| n.parse().ok()).unwrap_or(1)) else {
        eprintln!("usage: decode_bound JOBS [--threads N]");
        return ExitCode::from(2);
    };
    match measure(&jobs, threads) {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("decode_bound: {e}");
            ExitCode::FAILURE
        }
    }
}

fn read_jobs(path: &str) -> Result<Vec<Job>> {
    let line = |line: &str| -> Result<Job> {
        let (path, wanted) = line.split_once('\t').ok_or("a line without a tab")?;
        let wanted = wanted.split(' ').map(str::parse).collect::<std::result::Result<_, _>>()?;
        Ok(Job { path: path.to_owned(), wanted })
    };
    std::fs::read_to_string(path)?.lines().map(line).collect()
}

fn measure(jobs: &str, threads: usize) -> Result<String> {
    ffmpeg_next::init()?;
    ffmpeg_next::log::set_level(ffmpeg_next::log::Level::Quiet);
    let jobs = read_jobs(jobs)?;
    let (next, total) = (AtomicUsize::new(0), Mutex::new((Duration::ZERO, 0)));
    let started = Instant::now();
    let work = || -> Result<()> {
        while let Some(job) = jobs.get(next.fetch_add(1, Relaxed)) {
            let (time, frames) = decode(job)?;
            let mut total = total.lock().expect("no thread panics under the lock");
            *total = (total.0 + time, total.1 + frames);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|w| w.join().expect("no thread panics"))
    })?;
    let (time, frames) = *total.lock().expect("no thread panics under the lock");
    let report = serde_json::json!({
        "videos": jobs.len(),
        "decoded_frames": frames,
        "seconds": started.elapsed().as_secs_f64(),
        "decode_seconds": time.as_secs_f64() / threads as f64,
    });
    Ok(report.to_string())
}

/// The time that decoding alone takes, and the frames that came out.
fn decode(job: &Job) -> Result<(Duration, u64)> {
    let mut input = format::input(&job.path)?;
    let stream = input.streams().best(media::Type::Video).ok_or("no video stream")?;
    let (index, parameters) = (stream.index(), stream.parameters());
    let mut packets = Vec::new();
    loop {
        let mut packet = Packet::empty();
        match packet.read(&mut input) {
            Ok(()) if packet.stream() == index => packets.push(packet),
            Ok(()) => {}
            Err(ffmpeg_next::Error::Eof) => break,
            Err(e) => return Err(e.into()),
        }
    }
    let mut times: Vec<i64> = packets.iter().map(|p| p.pts().unwrap_or(i64::MAX)).collect();
    times.sort_unstable();
    let wanted = job.wanted.iter().map(|&i| times.get(i).copied().ok_or("a frame beyond the end"));
    let wanted: Vec<i64> = wanted.collect::<std::result::Result<_, _>>()?;
    let is_wanted = |p: &Packet| p.pts().is_some_and(|t| wanted.contains(&t));
    let last = packets.iter().rposition(is_wanted).ok_or("no wanted frame")?;

    let started = Instant::now();
    let mut context = codec::Context::from_parameters(parameters)?;
    context.set_threading(threading::Config { kind: threading::Type::None, count: 1, ..Default::default() });
    let mut decoder = context.decoder().video()?;
    let (mut frame, mut frames) = (frame::Video::empty(), 0);
    for packet in &packets[..=last] {
        decoder.skip_frame(if is_wanted(packet) { Discard::Default } else { Discard::NonReference });
        decoder.send_packet(packet)?;
        while decoder.receive_frame(&mut frame).is_ok() {
            frames += 1;
        }
    }
    decoder.send_eof()?;
    while decoder.receive_frame(&mut frame).is_ok() {
        frames += 1;
    }
    Ok((started.elapsed(), frames))
}
