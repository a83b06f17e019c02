//! The manifests of Kinetics and Something-Something, which name videos by ids.
//!
//! Those of Kinetics are tables: `label,youtube_id,time_start,time_end,split`, without labels in the test set. A file may be
//! anywhere below the root. The search is first for the name `ID_000010_000020`, which is a segment that was cut out already.
//! It is then for `ID`, which is the whole video, and the pack takes the segment from it. If several files have the name, the
//! one in a folder named after the class is taken, or else the first in the order of paths.
//!
//! Those of Something-Something are arrays of `{"id", "label", "template", "placeholders"}`, with `labels.json` beside them, which
//! numbers the templates without their brackets. The test set has only ids. Videos are searched for below the root by their ids,
//! whatever their extension. A folder with an id as its name holds frames. The manifest's `label` is a caption, and is kept as
//! the attribute `caption`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use csv::StringRecord;
use serde_json::{Map, Value};
use walkdir::WalkDir;

use super::columns::{ColumnRole, ColumnTally};
use super::context::Context;
use super::row::ManifestRow;
use crate::plan::extensions::has_video_ending;
use crate::plan::labels::{Classes, Label};
use crate::plan::text::whole;
use vidrec_core::source_name;
use vidrec_core::store::location::is_remote;
use vidrec_format::error::{Error, Hint, Result};

/// The columns that such a manifest has.
const ID: &str = "youtube_id";
const START: &str = "time_start";
const END: &str = "time_end";

pub(super) fn is_kinetics(header: &StringRecord) -> bool {
    let has = |wanted| header.iter().any(|name| name == wanted);
    [ID, START, END].into_iter().all(has) && !header.iter().any(|name| ColumnRole::of(name) == ColumnRole::Path)
}

/// A manifest with its videos and the places of its columns.
pub(super) struct Kinetics<'a> {
    files: Lookup,
    header: &'a StringRecord,
    roles: Vec<ColumnRole>,
}

impl<'a> Kinetics<'a> {
    pub fn new(context: &Context<'_>, header: &'a StringRecord, columns: &mut ColumnTally) -> Result<Self> {
        let roles: Vec<ColumnRole> = header.iter().map(ColumnRole::of).collect();
        columns.add(ColumnRole::Path, ID);
        header.iter().zip(&roles).for_each(|(name, &role)| columns.add(role, name));
        Ok(Kinetics { files: Lookup::new(&context.root)?, header, roles })
    }

    pub fn row(&self, line: u64, record: &StringRecord) -> ManifestRow {
        let cell =
            |wanted: &str| self.header.iter().zip(record).find(|(name, _)| *name == wanted).map_or("", |(_, v)| v);
        let id = cell(ID);
        let mut row = ManifestRow::of(self.header, &self.roles, line, record);
        for name in [ID, START, END].into_iter().filter(|name| cell(name).is_empty()) {
            row.refuse(name, "the cell is empty");
        }
        let whole_seconds = |name: &str| cell(name).parse::<f64>().unwrap_or_default() as u64;
        let cut_name = format!("{id}_{:06}_{:06}", whole_seconds(START), whole_seconds(END));
        let cut = self.files.find(&cut_name);
        let path = cut.or_else(|| self.files.find(id)).map(source_name::of_path);
        // A missing file is reported under the name that Kinetics' own downloader gives it.
        let path = path.unwrap_or_else(|| if id.is_empty() { String::new() } else { format!("{cut_name}.mp4") });
        row.set(ColumnRole::Path, ID, path.into());
        if cut.is_some() {
            (row.start_us, row.end_us) = (None, None);
        }
        row
    }
}

/// The videos below a folder.
pub(super) struct Lookup {
    root: PathBuf,
    /// Paths relative to the root, in order.
    by_stem: HashMap<String, PathBuf>,
}

impl Lookup {
    pub fn new(root: &Path) -> Result<Self> {
        if is_remote(root) {
            let e = Error::usage(
                "a list of ids needs a local folder to find its videos in, because vidrec cannot list a remote one",
            );
            return Err(e.file(root).help("give a manifest with the paths of the videos"));
        }
        let mut by_stem: HashMap<String, PathBuf> = HashMap::new();
        // The root is empty if the manifest was named without a folder.
        let start = if root.as_os_str().is_empty() { Path::new(".") } else { root };
        for entry in WalkDir::new(start).follow_links(true).sort_by_file_name() {
            let entry = entry.map_err(|e| {
                let path = e.path().unwrap_or(start).to_owned();
                Error::io("list the folder", path, e.into())
            })?;
            let path = entry.path();
            if entry.file_type().is_file() && path.extension().is_some() && has_video_ending(path) {
                let stem = source_name::of_os_str(path.file_stem().unwrap_or_default());
                by_stem.entry(stem).or_insert_with(|| path.strip_prefix(start).unwrap_or(path).to_owned());
            }
        }
        Ok(Lookup { root: start.to_owned(), by_stem })
    }

    /// Returns the file called `stem`. Of several, it is the first.
    pub fn find(&self, stem: &str) -> Option<&Path> {
        self.by_stem.get(stem).map(PathBuf::as_path)
    }

    /// Whether a folder called `name` is directly below the root.
    pub fn has_folder(&self, name: &str) -> bool {
        self.root.join(name).is_dir()
    }
}

/// Names of the data set's own file of classes.
const LABELS: [&str; 2] = ["labels.json", "something-something-v2-labels.json"];

pub(super) fn read_something(
    context: &Context<'_>,
    columns: &mut ColumnTally,
) -> Result<(Vec<ManifestRow>, Option<Classes>)> {
    let fault = |what: String| Error::usage(what).file(context.file);
    let bytes = context.bytes()?;
    let not_json = |e| fault(format!("the file is not JSON: {e}")).help(LINES);
    let entries: Value = serde_json::from_str(whole(&bytes, context.file)?).map_err(not_json)?;
    let Value::Array(entries) = entries else {
        return Err(fault("expected an array of objects with an \"id\", as in Something-Something".into()).help(LINES));
    };
    let has_id = |entry: &Value| entry.get("id").is_some();
    let objects = || entries.iter().filter_map(Value::as_object);
    let is_path = |name: &String| ColumnRole::among(context.options, name) == ColumnRole::Path;
    if !entries.iter().any(has_id) && objects().any(|entry| entry.keys().any(is_path)) {
        return Err(fault("only the lists of Something-Something are arrays of objects, with an \"id\"".into())
            .help(context.one_each_line()));
    }
    let files = Lookup::new(&context.root)?;
    let rows = (1..).zip(entries).map(|(n, entry)| match entry {
        Value::Object(entry) => row(&files, n, entry, columns),
        other => ManifestRow::bad(n, format!("expected an object, found {other}")),
    });
    let rows: Vec<ManifestRow> = rows.collect();
    let labeled = rows.iter().any(|row| row.label != Label::None);
    let classes = if labeled && context.options.classes.is_none() { Some(own_classes(context)?) } else { None };
    Ok((rows, classes))
}

/// The help for a file that is no array.
const LINES: &str = "if each line has one object, use the ending .jsonl";

fn row(files: &Lookup, n: u64, mut entry: Map<String, Value>, columns: &mut ColumnTally) -> ManifestRow {
    let id = match entry.remove("id") {
        Some(Value::String(id)) if !id.is_empty() => id,
        Some(Value::Number(id)) => id.to_string(),
        other => {
            let found = other.unwrap_or_default();
            return ManifestRow::bad(n, format!("key \"id\": expected the name of a video, found {found}"));
        }
    };
    columns.add(ColumnRole::Path, "id");
    if entry.contains_key("template") {
        columns.add(ColumnRole::Label, "template");
    }
    let (label, fault) = match entry.remove("template") {
        Some(Value::String(template)) => (Label::name(&template.replace(['[', ']'], "")), None),
        None | Some(Value::Null) => (Label::None, None),
        Some(other) => (Label::None, Some(format!("key \"template\": expected text, found {other}"))),
    };
    if let Some(caption) = entry.remove("label") {
        entry.insert("caption".into(), caption);
    }
    entry.keys().for_each(|name| columns.add(ColumnRole::Attribute, name));
    let found = files.find(&id).map(source_name::of_path);
    let path = found.unwrap_or_else(|| if files.has_folder(&id) { id.clone() } else { format!("{id}.webm") });
    entry.insert("id".into(), id.into());
    ManifestRow { path, label, attributes: entry, fault, ..ManifestRow::new(n) }
}

fn own_classes(context: &Context<'_>) -> Result<Classes> {
    let folder = context.file.parent().unwrap_or(std::path::Path::new(""));
    let candidates: Vec<PathBuf> = LABELS.iter().map(|name| folder.join(name)).collect();
    match candidates.iter().find(|path| path.is_file()) {
        Some(path) => Classes::read(path),
        None => Err(Error::usage("there is no labels.json beside the list, which numbers its templates")
            .file(context.file)
            .help("name the file of classes")
            .hint(Hint::Set("classes"))),
    }
}
