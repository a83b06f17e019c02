//! `vidrec check`: find clips that a person should look at.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::check::{CheckOptions, CheckReport, Finding, FindingKind, FoundClip, check};
use crate::cli::arguments::{parse_threads, words};
use crate::cli::output::{count, printable};
use crate::cli::{Outcome, ProgressArgs, Run, StorageArgs, clip_list, local, output};

/// Find clips that a person should look at: black, frozen, duplicate, leaked, mislabelled or damaged ones.
///
/// Decodes all frames at an eighth of their size, four of each clip also larger, and compares their checksums and the
/// clips with each other. Give the data sets to train and to test with together: what is in both is a leak. The exit
/// status is 3 if anything was found.
///
/// Kinds of findings: black, uniform (one brightness), dark, blown-out; frozen (all frames show the same),
/// repeated-frames (many in a row do), scene-cut; near-duplicate (clips that show nearly the same), leak (the same, in
/// different data sets), label-conflict (the same, with different labels); corrupt (a checksum does not match, or a frame
/// does not decode), substituted (the packer noted faults of the video), rounded-times (a version before 1.0.0 packed at a
/// rate by times that containers rounded), failed (videos that were not packed).
#[derive(clap::Args)]
pub struct Args {
    /// The data sets.
    #[arg(required = true)]
    dataset: Vec<PathBuf>,
    /// Look for these kinds only, with commas between.
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = words::<FindingKind>(), hide_possible_values = true)]
    only: Vec<FindingKind>,
    /// Do not look for these kinds.
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = words::<FindingKind>(), hide_possible_values = true)]
    skip: Vec<FindingKind>,
    /// Exit with status 3 only if something of these kinds was found. [default: any]
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = words::<FindingKind>(), hide_possible_values = true)]
    fail_on: Vec<FindingKind>,
    /// The most that clips may differ that show nearly the same, in bits of a hash of 256: 0 for copies, at most 64.
    #[arg(long, value_name = "BITS", default_value_t = CheckOptions::DEFAULT_DISTANCE, value_parser = clap::value_parser!(u32).range(0..=i64::from(CheckOptions::MAX_DISTANCE)))]
    distance: u32,
    /// Write the clips that can be left out unseen to this file, as `vidrec subset --exclude` reads it: black, uniform and corrupt
    /// ones, and of those that show the same and have one label, all but the best. With --only, clips of these kinds.
    /// May be given once for each data set, in their order.
    #[arg(long, value_name = "FILE", value_parser = local)]
    list: Vec<PathBuf>,
    /// Print all findings, and all of their clips.
    #[arg(long)]
    all: bool,
    /// Number of threads. [default: one for each core]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<usize>,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    progress: ProgressArgs,
    #[command(flatten)]
    storage: StorageArgs,
}

pub fn run(args: &Args) -> Run {
    if args.list.len() > args.dataset.len() {
        return Err("there are more --list than data sets".into());
    }
    let sets = args.dataset.iter().map(|path| args.storage.open(path)).collect::<Result<Vec<_>, _>>()?;
    let is_wanted =
        |kind: &FindingKind| (args.only.is_empty() || args.only.contains(kind)) && !args.skip.contains(kind);
    let kinds: Vec<FindingKind> = FindingKind::ALL.into_iter().filter(is_wanted).collect();
    let options = CheckOptions { kinds, threads: args.threads, distance: args.distance };
    let report = check(&sets, &options, &mut args.progress.of("clips"))?;
    write_lists(&report.findings, args)?;
    output::print(args.json, &report, |report| render(report, args))?;
    let counts = |finding: &Finding| args.fail_on.is_empty() || args.fail_on.contains(&finding.kind);
    Ok(if report.findings.iter().any(counts) { Outcome::Problems } else { Outcome::Done })
}

fn write_lists(findings: &[Finding], args: &Args) -> Result<(), String> {
    let lists = args.list.len();
    let is_listed = |finding: &&Finding| is_safe_to_exclude(finding, lists, !args.only.is_empty());
    let (listed, others): (Vec<&Finding>, Vec<&Finding>) = findings.iter().partition(is_listed);
    for (set, path) in args.list.iter().enumerate() {
        fs::write(path, clip_list::text(&to_exclude(&listed, set, lists)))
            .map_err(|e| format!("{}: cannot write the list: {e}", path.display()))?;
    }
    if lists > 0 && !others.is_empty() {
        let kinds: BTreeSet<FindingKind> = others.iter().map(|finding| finding.kind).collect();
        let kinds: Vec<String> = kinds.iter().map(ToString::to_string).collect();
        output::tell(format_args!(
            "not in the list, because a person should look first: {} ({})",
            count(others.len() as u64, "finding"),
            kinds.join(", ")
        ));
    }
    Ok(())
}

/// Whether clips of a finding can be left out, unseen or because the kind `is_named`. Of copies with different labels,
/// a person has to say which label is right, unless a copy in a data set without a list stays anyway.
fn is_safe_to_exclude(finding: &Finding, lists: usize, is_named: bool) -> bool {
    match finding.kind {
        FindingKind::Black | FindingKind::Uniform | FindingKind::Corrupt => true,
        FindingKind::NearDuplicate | FindingKind::Leak => {
            let classes: BTreeSet<&str> = finding.clips.iter().filter_map(|clip| clip.class.as_deref()).collect();
            classes.len() <= 1 || is_elsewhere(finding, lists)
        }
        _ => is_named,
    }
}

/// Whether a clip of a finding is in a data set without a list.
fn is_elsewhere(finding: &Finding, lists: usize) -> bool {
    finding.clips.iter().any(|clip| clip.set >= lists)
}

/// The clips of a data set to leave out. Of clips that show the same, one stays: one of a data set without a list, or else
/// the first, which is the best.
fn to_exclude<'a>(findings: &[&'a Finding], set: usize, lists: usize) -> Vec<&'a FoundClip> {
    let mut clips = BTreeSet::new();
    for finding in findings {
        let is_same = matches!(finding.kind, FindingKind::NearDuplicate | FindingKind::Leak);
        let stays = if is_same && !is_elsewhere(finding, lists) { finding.clips.first() } else { None };
        clips.extend(finding.clips.iter().filter(|clip| clip.set == set && Some(*clip) != stays));
    }
    clips.into_iter().collect()
}

/// Findings of a kind, and clips of a finding, that are printed without --all.
const SHOWN: usize = 5;

fn render(report: &CheckReport, args: &Args) -> String {
    let shown = if args.all { usize::MAX } else { SHOWN };
    let sets = if args.dataset.len() > 1 {
        format!(" in {}", count(args.dataset.len() as u64, "data set"))
    } else {
        String::new()
    };
    let size = format!("{}, {}{sets}", count(report.clips, "clip"), count(report.frames, "frame"));
    if report.findings.is_empty() {
        return format!("nothing found: {size}\n");
    }
    let mut text = String::new();
    for findings in report.findings.chunk_by(|a, b| a.kind == b.kind) {
        text += &format!("{}: {}\n", findings[0].kind, count(findings.len() as u64, "finding"));
        findings.iter().take(shown).for_each(|finding| text += &one(finding, args, shown));
        text += &more(findings.len(), shown, "  ", "findings");
    }
    text + &format!("{} in {size}\n", count(report.findings.len() as u64, "finding"))
}

fn one(finding: &Finding, args: &Args, shown: usize) -> String {
    let said = printable(&finding.text);
    let name = |clip: &FoundClip| {
        let set = if args.dataset.len() > 1 { format!("{} ", args.dataset[clip.set].display()) } else { String::new() };
        let class = clip.class.as_ref().map(|class| format!(" ({class})")).unwrap_or_default();
        printable(&format!("{set}clip {} {}{class}", clip.clip, clip.source))
    };
    if let ([clip], []) = (&finding.clips[..], &finding.videos[..]) {
        return format!("  {}: {said}\n", name(clip));
    }
    let mut text = format!("  {said}\n");
    finding.clips.iter().take(shown).for_each(|clip| text += &format!("    {}\n", name(clip)));
    finding.videos.iter().take(shown).for_each(|video| text += &format!("    {}\n", printable(&video.source)));
    text + &more(finding.clips.len().max(finding.videos.len()), shown, "    ", "more")
}

fn more(all: usize, shown: usize, indent: &str, what: &str) -> String {
    if all <= shown {
        return String::new();
    }
    let number = output::grouped((all - shown) as u64);
    let what = if what == "more" { "more".to_owned() } else { format!("more {what}") };
    format!("{indent}and {number} {what} (--all shows them)\n")
}
