//! Every command that writes, and what it finds where it writes.

use std::fs;
use std::path::Path;

use crate::faults::inputs::Inputs;
use crate::faults::state::{State, copy};

/// A command, and what is there before it runs.
pub struct Row {
    pub name: String,
    /// The command as one line; see [`Inputs::command`].
    pub line: String,
    /// More words for the run that follows a killed one.
    pub resume: &'static str,
    /// Whether the command has `--overwrite`.
    pub forces: bool,
    /// A command that makes the outputs of what this one wrote, or cleans up after it where it cannot run again.
    pub finish: Option<&'static str>,
    pub outputs: &'static [Output],
    before: Before,
}

/// Where a command writes, relative to the folder in which it runs.
#[derive(Clone, Copy)]
pub enum Output {
    Set(&'static str),
    Files(&'static str),
}

/// Makes what is there before, in an empty folder.
type Before = Box<dyn Fn(&Inputs, &Path) + Send + Sync>;

impl Output {
    pub fn state(self, folder: &Path) -> State {
        match self {
            Output::Set(name) => State::of_set(&folder.join(name)),
            Output::Files(name) => State::of_files(&folder.join(name)),
        }
    }
}

impl Row {
    fn new(name: &str, line: &str, outputs: &'static [Output], before: Before) -> Self {
        let (name, line) = (name.to_owned(), line.to_owned());
        Row { name, line, outputs, before, resume: "", forces: false, finish: None }
    }

    /// Makes what is there before the command runs.
    pub fn prepare(&self, inputs: &Inputs, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        (self.before)(inputs, folder);
    }

    /// The command for another run, after one that was killed or failed.
    pub fn again(&self) -> String {
        // To resume a pack that replaces a data set, run the same command again.
        let resume = if self.line.contains("--if-exists") { "" } else { self.resume };
        format!("{}{resume}", self.line)
    }

    /// The same over an output that is there already.
    pub fn forced(&self) -> String {
        let again = self.again();
        match () {
            () if again.contains("--overwrite") || again.contains("replace") => again,
            () if self.line.starts_with("pack ") => format!("{} --if-exists replace", self.line),
            () => again + " --overwrite",
        }
    }
}

/// How a command is told to replace what is there.
fn force(line: &str) -> &'static str {
    if line.starts_with("pack ") { "--if-exists replace" } else { "--overwrite" }
}

const SET: &[Output] = &[Output::Set("out")];
const PARTS: &[Output] = &[Output::Set("out/train"), Output::Set("out/val"), Output::Set("out/test")];
const IN_PLACE: &[Output] = &[Output::Set("set")];
const FILES: &[Output] = &[Output::Files("out")];

/// Commands that pack: all into an empty place, and over what `OLD_PACK` makes.
const PACKS: [(&str, &str); 3] = [
    ("pack", "pack {in}/good"),
    ("pack, some bad", "pack {in}/some-bad"),
    ("pack --shards 3", "pack {in}/some-bad --shards 3"),
];
const PACK_OPTIONS: &str = " -o out -n 2 -j 2";
const OLD_PACK: &str = " -o out -n 3 -j 2 --quality 50 --if-exists replace";

/// Commands that make data sets from something else: all into an empty place, and over another data set.
const MAKE_SETS: [(&str, &str); 9] = [
    ("reshard", "subset {in}/a -o out --shards 3"),
    ("subset", "subset {in}/a -o out --class walk --class jump"),
    ("merge", "merge {in}/a {in}/b -o out --shards 2"),
    ("relabel", "subset {in}/a --changes {in}/labels.csv -o out"),
    ("repair", "repair {in}/damaged -o out"),
    ("import mxnet", "import mxnet {in}/mxnet/*.rec -o out"),
    ("import frames", "import frames {in}/frames -o out"),
    ("fetch", "fetch {url}/a -o out"),
    ("subset of a remote one", "subset {url}/a -o out --class walk --class jump"),
];

/// Commands that make other files from a data set: all into an empty place, and over another one's where they have
/// `--overwrite`.
const EXPORTS: [(&str, &str); 3] = [("export mxnet", ""), ("export frames", ""), ("browse", " --threads 1")];

/// All of them.
pub fn table(inputs: &Inputs) -> Vec<Row> {
    let mut rows = packs();
    for (name, line) in MAKE_SETS {
        let over: Before = Box::new(|inputs, folder| copy(&inputs.at("old"), &folder.join("out")));
        rows.extend(fresh_and_over(name, line, SET, over));
    }
    rows.extend(plans());
    rows.extend(splits());
    rows.push(Row::new(
        "append",
        "merge {in}/b --append -o set",
        IN_PLACE,
        Box::new(|inputs, folder| copy(&inputs.at("a"), &folder.join("set"))),
    ));
    rows.extend(tracks());
    rows.push(Row::new(
        "remove",
        "remove set --class walk --class jump",
        IN_PLACE,
        Box::new(|inputs, folder| copy(&inputs.at("a"), &folder.join("set"))),
    ));
    for (command, more) in EXPORTS {
        rows.extend(export(inputs, command, more));
    }
    rows
}

/// The command where there is nothing, and with `--overwrite` over what `before` makes.
fn fresh_and_over(name: &str, line: &str, outputs: &'static [Output], before: Before) -> [Row; 2] {
    let fresh = Row { forces: true, ..Row::new(name, line, outputs, Box::new(|_, _| ())) };
    let over = Row::new(&format!("{name}, over another"), &format!("{line} {}", force(line)), outputs, before);
    [fresh, Row { forces: true, ..over }]
}

/// Tracks and attributes that are added, also in place of others, and removed.
fn tracks() -> [Row; 3] {
    const ADD: &str = "tracks add set force={in}/values.jsonl,rate=2 --fields {in}/fields.csv --replace";
    let fresh: Before = Box::new(|inputs, folder| copy(&inputs.at("a"), &folder.join("set")));
    let with_others = || -> Before {
        Box::new(|inputs, folder| {
            copy(&inputs.at("a"), &folder.join("set"));
            inputs.vidrec(folder, "tracks add set force={in}/values.jsonl,rate=3 --fields {in}/labels.csv");
        })
    };
    [
        Row::new("tracks add", ADD, IN_PLACE, fresh),
        Row::new("tracks add, over others", ADD, IN_PLACE, with_others()),
        Row::new("tracks remove", "tracks remove set force --field label", IN_PLACE, with_others()),
    ]
}

fn packs() -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, line) in PACKS {
        let old = format!("{line}{OLD_PACK}");
        let over: Before = Box::new(move |inputs, folder| inputs.vidrec(folder, &old));
        rows.extend(fresh_and_over(name, &format!("{line}{PACK_OPTIONS}"), SET, over));
    }
    rows.into_iter().map(|row| Row { resume: " --if-exists resume", ..row }).collect()
}

/// A part of a plan, and the publication of a plan where nothing is and over another data set.
fn plans() -> [Row; 3] {
    let plan = |inputs: &Inputs, folder: &Path| {
        inputs.vidrec(folder, "plan {in}/some-bad -o out --shards 2 -n 2");
        inputs.vidrec(folder, "pack out --part 0 -j 1");
    };
    let packed = move |inputs: &Inputs, folder: &Path| {
        plan(inputs, folder);
        inputs.vidrec(folder, "pack out --part 1 -j 1");
    };
    let part = Row::new("pack --part", "pack out --part 1 -j 2", SET, Box::new(plan));
    let part = Row { finish: Some("publish out"), ..part };
    let over = move |inputs: &Inputs, folder: &Path| {
        inputs.vidrec(folder, &format!("pack {{in}}/some-bad{OLD_PACK}"));
        packed(inputs, folder);
    };
    let fresh = Row::new("publish", "publish out", SET, Box::new(packed));
    let over = Row::new("publish, over another", "publish out --overwrite", SET, Box::new(over));
    [part, fresh, over]
        .map(|row| Row { finish: row.finish.or(Some("merge {in}/packed-before --append -o out")), ..row })
}

fn splits() -> [Row; 2] {
    const SHARES: &str = "-o out --ratio 0.4,0.3,0.3";
    let over: Before = Box::new(|inputs, folder| inputs.vidrec(folder, &format!("split {{in}}/old {SHARES}")));
    let [fresh, over] = fresh_and_over("split", &format!("split {{in}}/a {SHARES}"), PARTS, over);
    [Row { resume: " --overwrite", ..fresh }, over]
}

fn export(inputs: &Inputs, command: &str, more: &str) -> Vec<Row> {
    let forces =
        String::from_utf8_lossy(&inputs.command(Path::new("."), &format!("{command} --help")).output().unwrap().stdout)
            .contains("--overwrite");
    let out = if command == "browse" { "--export" } else { "-o" };
    let old = format!("{command} {{in}}/old {out} out{more}");
    let over: Before = Box::new(move |inputs, folder| inputs.vidrec(folder, &old));
    let rows = fresh_and_over(&format!("{command}{more}"), &format!("{command} {{in}}/a {out} out{more}"), FILES, over);
    // Without `--overwrite` there must be nothing before.
    rows.into_iter().take(if forces { 2 } else { 1 }).map(|row| Row { forces, ..row }).collect()
}
