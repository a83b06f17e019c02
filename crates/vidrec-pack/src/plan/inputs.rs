//! Inputs become a list of videos with labels.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::extensions::pictures;
use super::job::FoundVideo;
use super::job::Job;
use super::labels::{Classes, Label, Tag};
use super::listed::{ListedVideos, ObjectList};
use super::manifest::ManifestColumns;
use super::notes::{IgnoredFiles, IgnoredTally};
use super::options::InputOptions;
use super::roots::Roots;
use super::segment::SegmentClock;
use super::{folders, manifest, notes};
use crate::track;
use crate::track::{PlannedTrack, ReadVideo, TrackClock, TrackFiles, TrackSpec};
use crate::video::open_regular;
use vidrec_core::source_name;
use vidrec_core::store::location::is_remote;
use vidrec_core::store::remote::pinned;
use vidrec_core::store::storage::Storage;
use vidrec_format::dataset_json;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::sampler::order::Permutation;

/// The videos to be packed, in order.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PackPlan {
    /// The inputs, as they were named. Queries of URLs are left out, because they may be secret.
    pub(crate) inputs: Vec<String>,
    /// The videos.
    pub jobs: Vec<Job>,
    /// Class names by label. Empty if labels are plain integers or absent.
    pub classes: Vec<String>,
    /// Files in folders that are neither videos nor frames, by kind.
    pub passed_over: Vec<IgnoredFiles>,
    /// The meaning that vidrec gave each column of each manifest.
    pub manifests: Vec<ManifestColumns>,
    /// Further notes before the work begins: columns that may be misspelled, videos without a label, and sources
    /// that begin with the name of their folder because they would be the same otherwise.
    pub notes: Vec<String>,
    /// The type and shape of each track.
    pub(crate) tracks: Vec<PlannedTrack>,
    /// The videos, if they stay on disk. `jobs` is then empty.
    pub(crate) listed: Option<Arc<ListedVideos>>,
}

impl PackPlan {
    /// Finds the videos of the inputs for [`write_plan`](crate::write_plan) alone, which needs few of them in memory at
    /// a time.
    ///
    /// If the only input is a location in object storage, its videos stay in a file on this machine, in a folder in
    /// `$TMPDIR` or else in `$XDG_CACHE_HOME/vidrec` or `~/.cache/vidrec`, and `jobs` is empty. The file is removed
    /// with the plan. Some options need all videos at once, and then this is [`from_inputs`](Self::from_inputs): a
    /// split, tracks, a shuffle, or sound with as many channels as the source.
    ///
    /// # Errors
    ///
    /// The errors of [`from_inputs`](Self::from_inputs).
    pub fn for_parts<P: AsRef<Path>>(inputs: &[P], options: &InputOptions) -> Result<Self> {
        let needs_all = options.split.is_some() || !options.track.is_empty() || options.shuffle_seed.is_some();
        let found = as_read(inputs, &options.storage)?;
        let [input] = &found[..] else { return Self::from_inputs(&found, options) };
        if needs_all || !is_remote_folder(input) {
            return Self::from_inputs(&found, options);
        }
        let classes = options.classes.as_deref().map(Classes::read).transpose()?;
        let listed = ListedVideos::of(input, classes, options)?;
        if listed.videos == 0 {
            return Err(no_videos(inputs, &listed.passed_over));
        }
        Ok(PackPlan {
            inputs: vec![named(input)],
            jobs: Vec::new(),
            classes: listed.classes().to_vec(),
            passed_over: listed.passed_over.clone(),
            manifests: Vec::new(),
            notes: listed.note.iter().cloned().collect(),
            tracks: Vec::new(),
            listed: Some(Arc::new(listed)),
        })
    }

    /// Finds the videos of the inputs: folders, video files, manifests.
    ///
    /// # Errors
    ///
    /// [`Io`](vidrec_format::error::ErrorKind::Io): an input or a folder cannot be read.
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): a manifest cannot be read, labels are of different
    /// kinds, a class or split is unknown, or there is no video at all.
    pub fn from_inputs<P: AsRef<Path>>(inputs: &[P], options: &InputOptions) -> Result<Self> {
        check_tracks(options)?;
        let inputs = &as_read(inputs, &options.storage)?;
        let mut pinned_root = options.clone();
        pinned_root.root = options.root.as_deref().map(|root| pinned(root, &options.storage)).transpose()?;
        let options = &pinned_root;
        let mut gathered = InputList::default();
        for input in inputs {
            gathered.add(input, options)?;
        }
        let InputList { mut found, classes, passed_over, manifests, notes, roots } = gathered;
        if found.is_empty() {
            return Err(no_videos(inputs, &passed_over.into_list()));
        }
        if let Some(split) = &options.split {
            keep_split(&mut found, split)?;
        }
        let clash = roots.keep_apart(&mut found);
        one_kind(&found)?;
        let notes = notes.into_iter().chain(notes::unlabeled(&found)).chain(clash).collect();
        let classes = match (&options.classes, classes) {
            (Some(path), _) => Classes::read(path)?,
            (None, Some(own)) => own,
            (None, None) => Classes::of(found.iter().map(|f| &f.label))?,
        };
        // In this order, the jobs take the memory of what they are made of.
        let jobs =
            found.into_iter().enumerate().map(|(i, f)| f.into_job(i as u64, &classes)).collect::<Result<Vec<_>>>()?;
        // Plan the tracks before any shuffling, and from all videos of the plan.
        let video: ReadVideo<'_> = &|_, _, _| Err(Error::internal("a plan decodes no video"));
        let how = TrackFiles { open: &open_regular, list: &pictures, video };
        let rows = jobs.iter().filter_map(|job| job.tracks.as_deref());
        // Rows that make no sense have no tracks.
        let tracks = track::plan(&options.track, rows, how).map_err(|e| {
            let fault = jobs.iter().find_map(|job| job.fault.as_deref());
            fault.into_iter().fold(e, Error::also_help)
        })?;
        let jobs = match options.shuffle_seed {
            Some(seed) => shuffled(jobs, seed),
            None => jobs,
        };
        let inputs = inputs.iter().map(|input| named(input)).collect();
        Ok(PackPlan {
            inputs,
            jobs,
            classes: classes.names,
            passed_over: passed_over.into_list(),
            manifests,
            notes,
            tracks,
            listed: None,
        })
    }

    /// Returns the videos that are missing on this machine. Each of them would fail. Remote videos are not looked
    /// for.
    pub fn missing(&self) -> impl Iterator<Item = &Job> {
        self.jobs.iter().filter(|job| job.is_missing())
    }
}

/// Returns the inputs with the commits that they are read from. A whole repository of the Hugging Face Hub is a folder.
fn as_read<P: AsRef<Path>>(inputs: &[P], storage: &Storage) -> Result<Vec<PathBuf>> {
    let one = |input: &P| {
        let input = input.as_ref();
        let is_whole = input.to_str().is_some_and(|text| text.starts_with("hf://") && text.split('/').count() == 5);
        pinned(&if is_whole { input.join("") } else { input.to_owned() }, storage)
    };
    inputs.iter().map(one).collect()
}

/// Returns an input as it was named, without what may be secret.
fn named(input: &Path) -> String {
    let name = source_name::of_path(input);
    match name.split_once('?') {
        Some((location, _)) if is_remote(input) => location.to_owned(),
        _ => name,
    }
}

/// The error for inputs that have nothing but these files.
fn no_videos<P: AsRef<Path>>(inputs: &[P], ignored: &[IgnoredFiles]) -> Error {
    let names: Vec<_> = inputs.iter().map(|p| p.as_ref().display().to_string()).collect();
    let names = names.join(", ");
    if ignored.iter().any(|kind| kind.kind == ".vidx") {
        return packed_already(names);
    }
    let kinds =
        ignored.iter().map(|IgnoredFiles { kind, files, example }| format!("{files} {kind} files such as {example:?}"));
    let found = kinds.reduce(|all, kind| format!("{all}, {kind}")).unwrap_or("nothing else, hidden files aside".into());
    let e = Error::usage(format!("no videos in {names}")).found(found);
    e.expected("video files in folders that are named for their class")
}

fn packed_already(names: impl fmt::Display) -> Error {
    Error::usage(format!("{names}: this is a data set, whose videos are packed already"))
        .help("to change it, use subset, split, merge, remove or tracks; for other frames, name its videos again")
}

/// Whether an input is remote and not a single video.
fn is_remote_folder(input: &Path) -> bool {
    is_remote(input) && input.to_string_lossy().ends_with('/')
}

/// Refuses tracks that no manifest can provide.
fn check_tracks(options: &InputOptions) -> Result<()> {
    for (i, TrackSpec { name, column, clock, .. }) in options.track.iter().enumerate() {
        let wrong = |what: String| Error::usage(format!("track {name:?}: {what}"));
        if options.track[..i].iter().any(|other| other.name == *name) {
            return Err(wrong("two tracks have this name".into()));
        }
        if manifest::is_known_column(column) {
            return Err(wrong(format!("column {column:?} has another meaning")));
        }
        if *clock == TrackClock::Segment && options.segments == SegmentClock::Ignore {
            return Err(wrong("clock=segment has no meaning for whole files".into()).hint(Hint::Unset("segments")));
        }
    }
    Ok(())
}

/// The videos, classes and notes of the inputs so far.
#[derive(Default)]
struct InputList {
    found: Vec<FoundVideo>,
    classes: Option<Classes>,
    passed_over: IgnoredTally,
    manifests: Vec<ManifestColumns>,
    /// Notes on manifests.
    notes: Vec<String>,
    roots: Roots,
}

impl InputList {
    /// Adds the videos of an input.
    fn add(&mut self, path: &Path, options: &InputOptions) -> Result<()> {
        if is_remote(path) {
            return self.add_remote(path, options);
        }
        let meta = std::fs::metadata(path).map_err(|e| Error::io("open the input", path, e))?;
        if meta.is_dir() {
            return self.add_folder(path, options);
        }
        if path.ends_with(dataset_json::FILE_NAME) {
            return Err(packed_already(path.display()));
        }
        if !self.add_list(path, None, None, options)? {
            let source = source_name::of_os_str(path.file_name().unwrap_or_default());
            let root = self.roots.number(path.parent().unwrap_or(Path::new("")))?;
            self.found.push(FoundVideo { root, ..FoundVideo::new(path.to_owned(), source, Label::None) });
        }
        Ok(())
    }

    /// Adds a remote video, or the videos below a location that ends with a slash.
    fn add_remote(&mut self, location: &Path, options: &InputOptions) -> Result<()> {
        if is_remote_folder(location) {
            let list = ObjectList::of(location, options)?;
            let root = self.roots.number(location)?;
            return list.each_video(&mut self.passed_over, &mut |found, _| {
                self.found.push(FoundVideo { root, ..found });
                Ok(())
            });
        }
        let text = location.to_string_lossy();
        if manifest::is_manifest(location) {
            let e =
                Error::usage("a remote input has to be a video, or a folder whose location ends with /").file(location);
            return Err(e.help("copy the manifest to this machine, and set its remote root").hint(Hint::Set("root")));
        }
        let (root, name) = text.rsplit_once('/').unwrap_or((&text, &text));
        let root = self.roots.number(Path::new(root))?;
        self.found.push(FoundVideo { root, ..FoundVideo::new(location.to_owned(), name.to_owned(), Label::None) });
        Ok(())
    }

    fn add_folder(&mut self, path: &Path, options: &InputOptions) -> Result<()> {
        folders::refuse_lerobot(path)?;
        let lists = folders::lists(path)?;
        if !lists.is_empty() {
            let before = self.found.len();
            let add = |(list, split): (PathBuf, _)| self.add_list(&list, split, Some(path), options).map(drop);
            lists.into_iter().try_for_each(add)?;
            // Their sources begin with the split, so they are relative to this folder.
            if options.root.is_none() {
                self.set_root(before, path)?;
            }
            return Ok(());
        }
        let before = self.found.len();
        folders::walk(path, options, &mut self.found, &mut self.passed_over)?;
        // A folder of frames that is itself an input has its own name as its source.
        let is_clip = self.found.get(before).is_some_and(|found| found.path == path);
        self.set_root(before, if is_clip { path.parent().unwrap_or(path) } else { path })
    }

    /// Sets `root` as the root of the videos from place `first` on.
    fn set_root(&mut self, first: usize, root: &Path) -> Result<()> {
        let root = self.roots.number(root)?;
        self.found[first..].iter_mut().for_each(|found| found.root = root);
        Ok(())
    }

    /// Adds the videos that a manifest lists. Returns false if the file is not a manifest.
    ///
    /// Rows that name no split get `split`. A manifest that was found in the input `folder`, and not named by the
    /// caller, can only lead to files in that folder.
    fn add_list(
        &mut self,
        path: &Path,
        split: Option<String>,
        folder: Option<&Path>,
        options: &InputOptions,
    ) -> Result<bool> {
        let Some(mut manifest) = manifest::read(path, folder, options)? else { return Ok(false) };
        if let Some(split) = split {
            for found in manifest.videos.iter_mut().filter(|f| f.split.is_none()) {
                found.attributes.insert("split", split.as_str());
                found.split = Some(split.as_str().into());
                found.source = format!("{split}/{}", found.source);
            }
        }
        let root = self.roots.number(&manifest.root)?;
        manifest.videos.iter_mut().for_each(|found| found.root = root);
        if self.found.is_empty() {
            self.found = manifest.videos;
        } else {
            self.found.append(&mut manifest.videos);
        }
        self.manifests.push(manifest.columns);
        self.notes.append(&mut manifest.notes);
        match (&self.classes, manifest.classes) {
            (Some(known), Some(new)) if *known != new => {
                return Err(Error::usage("the inputs have different classes")
                    .file(path)
                    .help("name one file of classes for all inputs")
                    .hint(Hint::Set("classes")));
            }
            (None, Some(new)) => self.classes = Some(new),
            _ => {}
        }
        Ok(true)
    }
}

fn keep_split(found: &mut Vec<FoundVideo>, split: &str) -> Result<()> {
    let known: BTreeSet<Box<str>> = found.iter().filter_map(|f| f.split.clone()).collect();
    let is_in = |f: &FoundVideo| f.split.as_deref() == Some(split);
    // Nobody knows the split of a row that makes no sense, so it is listed.
    found.retain(|f| is_in(f) || (f.fault.is_some() && f.split.is_none()));
    if found.iter().any(is_in) {
        return Ok(());
    }
    let known = known.iter().map(|split| &**split).collect::<Vec<_>>().join(", ");
    let known = if known.is_empty() { "none: the inputs do not name splits".into() } else { known };
    Err(Error::usage(format!("no video is in the split \"{split}\"")).found(known))
}

/// Refuses labels that are numbers in some inputs and names in others, and single labels beside lists of labels.
fn one_kind(found: &[FoundVideo]) -> Result<()> {
    let mixed = |what: &str, a: &FoundVideo, b: &FoundVideo| {
        let e = Error::usage(what).expected("one kind of label in all inputs");
        Err(e.found(format!("{} and {}", describe(a), describe(b))))
    };
    let of = |wanted: fn(&Label) -> bool| found.iter().find(|f| wanted(&f.label));
    let name = of(|l| l.tags().iter().any(|t| matches!(t, Tag::Name(_))));
    let number = of(|l| l.tags().iter().any(|t| matches!(t, Tag::Number(_))));
    if let (Some(name), Some(number)) = (name, number) {
        return mixed("labels are numbers in one input and names in another", number, name);
    }
    match (of(|l| matches!(l, Label::One(_))), of(|l| matches!(l, Label::Many(_)))) {
        (Some(one), Some(many)) => mixed("some clips have one label, and others have a list of labels", one, many),
        _ => Ok(()),
    }
}

fn describe(found: &FoundVideo) -> String {
    let tags: Vec<String> = found
        .label
        .tags()
        .iter()
        .map(|t| match t {
            Tag::Name(name) => format!("\"{name}\""),
            Tag::Number(n) => n.to_string(),
        })
        .collect();
    let many = matches!(found.label, Label::Many(_));
    let tags = if many { format!("[{}]", tags.join(", ")) } else { tags.join("") };
    format!("{tags} for {}", found.source)
}

/// Returns the jobs in the order that a loader would have in epoch 0 with this seed.
fn shuffled(jobs: Vec<Job>, seed: u64) -> Vec<Job> {
    let order = Permutation::new(jobs.len() as u64, seed, 0);
    let mut jobs: Vec<Option<Job>> = jobs.into_iter().map(Some).collect();
    // A permutation names every place exactly once.
    (0..jobs.len() as u64).filter_map(|i| jobs.get_mut(order.get(i)? as usize)?.take()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            write(dir.path(), file, "");
        }
        dir
    }

    fn write(dir: &Path, file: &str, text: &str) {
        let path = dir.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn plan<P: AsRef<Path>>(input: P) -> Result<PackPlan> {
        PackPlan::from_inputs(&[input], &InputOptions::default())
    }

    fn short(plan: &PackPlan) -> Vec<(&str, Option<u32>, &str)> {
        plan.jobs.iter().map(|i| (i.source.as_str(), i.label, &*i.class)).collect()
    }

    #[test]
    fn a_list_in_utf_16_is_a_list_and_a_bad_row_is_in_every_split() {
        let dir = tree(&["a.mp4"]);
        let wide: Vec<u8> = "\u{feff}file_name\na.mp4\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
        std::fs::write(dir.path().join("metadata.csv"), wide).unwrap();
        assert!(plan(dir.path()).unwrap_err().to_string().contains("UTF-16"));
        write(dir.path(), "l.jsonl", "{\"path\": \"a.mp4\", \"split\": \"train\"}\n{\"path\": \n");
        let options = InputOptions { split: Some("train".into()), ..InputOptions::default() };
        let split = PackPlan::from_inputs(&[dir.path().join("l.jsonl")], &options).unwrap();
        assert_eq!(short(&split), [("a.mp4", None, ""), ("l.jsonl:2", None, "")]);
        let options = InputOptions { split: Some("val".into()), ..options };
        assert!(PackPlan::from_inputs(&[dir.path().join("l.jsonl")], &options).is_err());
    }

    #[test]
    fn a_table_that_names_no_files_is_not_a_list() {
        let dir = tree(&["a/1.mp4"]);
        write(dir.path(), "metadata.csv", "author,year\nsomebody,2020\n");
        assert_eq!(short(&plan(dir.path()).unwrap()), [("a/1.mp4", Some(0), "a")]);
    }

    #[test]
    fn classes_given_fix_the_labels() {
        let dir = tree(&["b/1.mp4", "a/2.mp4"]);
        write(dir.path(), "classes.txt", "c\nb\na\n");
        let options = InputOptions { classes: Some(dir.path().join("classes.txt")), ..InputOptions::default() };
        let plan = PackPlan::from_inputs(&[dir.path()], &options).unwrap();
        assert_eq!(plan.classes, ["c", "b", "a"]);
        assert_eq!(short(&plan), [("a/2.mp4", Some(2), "a"), ("b/1.mp4", Some(1), "b")]);
        write(dir.path(), "classes.txt", "c\nb\n");
        let e = PackPlan::from_inputs(&[dir.path()], &options).unwrap_err().to_string();
        assert!(e.contains("a/2.mp4") && e.contains("not among the 2 given"), "{e}");
    }

    #[test]
    fn kinds_of_labels_do_not_mix() {
        let dir = tree(&["x/1.mp4"]);
        write(dir.path(), "numbers.csv", "path,label\na.mp4,3\n");
        write(dir.path(), "many.jsonl", "{\"path\": \"b.mp4\", \"label\": [1, 2]}\n");
        let both = |a: &str, b: &str| {
            PackPlan::from_inputs(&[dir.path().join(a), dir.path().join(b)], &InputOptions::default())
                .unwrap_err()
                .to_string()
        };
        let e = both("x/..", "numbers.csv");
        assert!(e.contains("numbers in one input") && e.contains("3 for a.mp4") && e.contains("\"x\" for x/"), "{e}");
        let e = both("numbers.csv", "many.jsonl");
        assert!(e.contains("a list of labels") && e.contains("[1, 2] for b.mp4"), "{e}");
    }
}
