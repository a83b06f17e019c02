//! Objects that are written in parts.

use std::ops::ControlFlow;

use fault_proxy::{Fault, Rule};
use vidrec::{ClipInfo, FrameData, Writer, WriterOptions};

use crate::common::jpeg;
use crate::remote_writing::store::{Store, same};

/// A store and a data set `long`, with a record file of three parts.
fn long() -> Store {
    let store = Store::new();
    let mut writer = Writer::create(store.path("long"), WriterOptions::default()).unwrap();
    for i in 0..4_u32 {
        let mut image = jpeg((24, 16), i);
        // Behind its end, where no decoder looks.
        image.extend((0..5_u32 << 20).map(|at| (at.wrapping_mul(2_654_435_761 + i) >> 24) as u8));
        let info = ClipInfo { label: Some(i), width: 24, height: 16, ..ClipInfo::default() };
        writer.append(&info, &[FrameData { jpeg: &image, pts: 0, source_index: None }]).unwrap();
    }
    writer.finish().unwrap();
    store
}

#[test]
#[ignore = "full: a fault at each request"]
fn long_files_are_uploaded_in_parts_and_faults_at_any_of_them_change_nothing() {
    let store = long();
    let files = store.files("long");
    store.push("long", "train").unwrap();
    same("clean", &store.objects("train"), &files);
    let log = store.server.take_log();
    let posts = log.iter().filter(|exchange| exchange.method == "POST").count();
    let puts = log.iter().filter(|exchange| exchange.method == "PUT" && exchange.path.ends_with(".rec")).count();
    assert_eq!((posts, puts, store.origin.open_uploads()), (2, 3, 0));
    for (fault, method, n) in [
        (Fault::Lost, "POST", 1),
        (Fault::SlowDown, "POST", 2),
        (Fault::Conflict, "PUT", 1),
        (Fault::Lost, "PUT", 2),
        (Fault::ResetUpload { after: 1 << 20 }, "PUT", 3),
    ] {
        store.clear();
        store.server.rules().add(Rule::new(fault.clone()).path(".rec").method(method).nth(n));
        let what = format!("{fault:?} at {method} {n}");
        let before = store.origin.open_uploads();
        store.push("long", "train").unwrap_or_else(|e| panic!("{what}: {e:#}"));
        same(&what, &store.objects("train"), &files);
        // Only the id of an upload that was lost is never known.
        let lost = usize::from(fault == Fault::Lost && (method, n) == ("POST", 1));
        assert_eq!(store.origin.open_uploads(), before + lost, "{what}");
    }
}

#[test]
fn parts_are_given_up_after_an_error_and_after_a_stop() {
    let store = long();
    store.server.rules().add(Rule::new(Fault::Forbidden).path("partNumber=2"));
    let e = store.push("long", "train").unwrap_err();
    assert!(format!("{e:#}").contains("s3:PutObject"), "{e:#}");
    assert_eq!(store.origin.open_uploads(), 0);
    assert!(!store.objects("train").keys().any(|name| name.ends_with(".rec") || name == "dataset.json"));

    store.clear();
    let stop = &mut |progress: &vidrec::Progress| {
        if progress.done > 8 << 20 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let e = vidrec::push(store.path("long"), "s3://bucket/train", &store.push_options(), stop).unwrap_err();
    assert_eq!(e.kind(), vidrec::ErrorKind::Interrupted, "{e:#}");
    assert_eq!(store.origin.open_uploads(), 0);
    assert!(!store.objects("train").contains_key("dataset.json"));
    store.push("long", "train").unwrap();
    same("after the stop", &store.objects("train"), &store.files("long"));
}

#[test]
fn parts_that_cannot_be_given_up_are_named() {
    let store = long();
    store.server.rules().add(Rule::new(Fault::Forbidden).path("partNumber=2"));
    store.server.rules().add(Rule::new(Fault::Forbidden).path("uploadId").method("DELETE"));
    let text = format!("{:#}", store.push("long", "train").unwrap_err());
    assert!(text.contains("could not be removed, and may be charged for") && text.contains(".rec"), "{text}");
}
