//! Examples at the end of each `--help`.

use clap::Command;

/// Subcommands by their path, and commands as one would type them. A test parses each.
pub const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "pack",
        &[
            "vidrec pack videos -o train",
            "vidrec pack list.csv -o train --frames 16 --sample random --size 320 --quality 95",
            "vidrec pack s3://bucket/videos/ -o s3://bucket/train --fps 2 --if-exists resume",
        ],
    ),
    (
        "plan",
        &[
            "vidrec plan videos -o train --shards 100",
            "vidrec plan list.csv -o s3://bucket/plan --shards 1000 --frames 16",
        ],
    ),
    ("status", &["vidrec status train", "sbatch --array=$(vidrec status train --missing) job.sh"]),
    ("publish", &["vidrec publish train", "vidrec publish s3://bucket/train --read-all"]),
    ("inspect", &["vidrec inspect train", "vidrec inspect train --stats", "vidrec inspect train --clip 0 --json"]),
    ("verify", &["vidrec verify train", "vidrec verify train --deep", "vidrec verify s3://bucket/train --json"]),
    (
        "check",
        &[
            "vidrec check train val",
            "vidrec check train val --only leak,label-conflict --json",
            "vidrec check train --fail-on corrupt,failed --list odd.txt",
        ],
    ),
    ("extract", &["vidrec extract train 0-2 -o frames", "vidrec extract train all -o frames --overwrite"]),
    (
        "view",
        &["vidrec view train -o sheet.png", "vidrec view train 0-9 -o sheet.png --height 90", "vidrec view train 3 7"],
    ),
    (
        "browse",
        &[
            "vidrec browse train",
            "vidrec browse train val --port 8000",
            "vidrec browse s3://bucket/train --export train.html --clips 300 --budget 10MB",
        ],
    ),
    (
        "import mxnet",
        &[
            "vidrec import mxnet train.rec -o train --frames-per-clip 8",
            "vidrec import mxnet train.rec --frames-per-clip 8 --in-place",
        ],
    ),
    ("import gulp", &["vidrec import gulp gulped -o train", "vidrec import gulp gulped -o train --retile"]),
    (
        "import webdataset",
        &[
            "vidrec import webdataset shard-000000.tar shard-000001.tar -o train",
            "vidrec import webdataset shard-000000.tar -o train --salvage",
        ],
    ),
    ("import frames", &["vidrec import frames jpegs -o train", "vidrec import frames jpegs -o train --retile"]),
    ("import texts", &["vidrec import texts captions.jsonl -o texts", "vidrec import texts a.jsonl b.jsonl -o texts"]),
    ("export mxnet", &["vidrec export mxnet train -o for-mxnet", "vidrec export mxnet train -o for-mxnet --json"]),
    (
        "export gulp",
        &["vidrec export gulp train -o gulped", "vidrec export gulp train -o gulped --clips-per-chunk 500"],
    ),
    (
        "export webdataset",
        &["vidrec export webdataset train -o tars", "vidrec export webdataset train -o tars --clips-per-shard 200"],
    ),
    ("export mds", &["vidrec export mds train -o mds", "vidrec export mds train -o mds --shard-size 128"]),
    (
        "export lerobot",
        &[
            "vidrec export lerobot train -o for-lerobot",
            "vidrec export lerobot train -o for-lerobot --fps 30 --without gaze",
        ],
    ),
    ("export frames", &["vidrec export frames train -o jpegs", "vidrec export frames s3://bucket/train -o jpegs"]),
    ("export mp4", &["vidrec export mp4 train -o previews", "vidrec export mp4 train -o previews --fps 4"]),
    (
        "export metadata",
        &[
            "vidrec export metadata train -o train.csv",
            "vidrec export metadata train -o frames.parquet --format parquet --rows frames",
        ],
    ),
    ("fetch", &["vidrec fetch s3://bucket/train -o train", "vidrec fetch s3://bucket/train -o train --overwrite"]),
    ("push", &["vidrec push train s3://bucket/train", "vidrec push train gs://bucket/train"]),
    (
        "bench",
        &[
            "vidrec bench train batch_size=16 'crop=RandomResizedCrop(224)' shuffle=True",
            "vidrec bench train 'frames=Uniform(8)' threads=8 --seconds 10",
            "vidrec bench s3://bucket/train --epochs 2",
        ],
    ),
    (
        "merge",
        &[
            "vidrec merge a b -o both",
            "vidrec merge january february -o s3://bucket/all",
            "vidrec merge monday tuesday --append -o train",
        ],
    ),
    (
        "split",
        &[
            "vidrec split all -o parts --ratio 0.9,0.1 --names train,val --seed 1",
            "vidrec split all -o parts --list train=train.txt --list val=val.txt",
            "vidrec split all -o parts --attribute split",
        ],
    ),
    (
        "subset",
        &[
            "vidrec subset train -o jugglers --class juggling",
            "vidrec subset train -o clean --exclude flagged.txt",
            "vidrec subset train -o small --sample 1000 --seed 1",
            "vidrec subset train -o resharded --shards 1GB",
            "vidrec subset train -o relabeled --changes labels.csv --rename-class jogging=running",
        ],
    ),
    ("repair", &["vidrec repair train", "vidrec repair train -o saved"]),
    (
        "cache warm",
        &[
            "vidrec cache warm s3://bucket/train --cache /scratch/vidrec",
            "vidrec cache warm s3://bucket/train --cache /scratch/vidrec --cache-bytes 200GB",
        ],
    ),
    ("cache show", &["vidrec cache show /scratch/vidrec", "vidrec cache show /scratch/vidrec --json"]),
    ("cache trim", &["vidrec cache trim /scratch/vidrec --bytes 100GB", "vidrec cache trim /scratch/vidrec --bytes 0"]),
    (
        "cache clear",
        &["vidrec cache clear /scratch/vidrec", "vidrec cache clear /scratch/vidrec --location s3://bucket/old"],
    ),
    (
        "completions",
        &[
            "vidrec completions bash > ~/.local/share/bash-completion/completions/vidrec",
            "vidrec completions fish > ~/.config/fish/completions/vidrec.fish",
        ],
    ),
    ("manual", &["vidrec manual ~/.local/share/man/man1", "man ~/.local/share/man/man1/vidrec-pack.1"]),
];

/// Adds the examples to the help of a program. A build without FFmpeg has fewer commands.
pub fn added_to(program: Command) -> Command {
    EXAMPLES.iter().fold(program, |program, (path, examples)| {
        let path: Vec<&str> = path.split(' ').collect();
        add(program, &path, &format!("Examples:\n  {}", examples.join("\n  ")))
    })
}

fn add(command: Command, path: &[&str], text: &str) -> Command {
    match path {
        [] => command.after_help(text.to_owned()),
        [name, ..] if command.find_subcommand(name).is_none() => command,
        [name, rest @ ..] => command.mut_subcommand(name, |inner| add(inner, rest, text)),
    }
}
