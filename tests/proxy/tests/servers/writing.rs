//! Objects that are written to the server of a folder.

use std::fs;

use fault_proxy::{Fault, Origin, Rule};

use crate::client::{Client, Got};

fn put(client: &mut Client, target: &str, fields: &str, body: &str) -> Got {
    client.send(target, &format!("Content-Length: {}\r\n{fields}", body.len()));
    client.write(body.as_bytes());
    client.receive(true, u64::MAX)
}

#[test]
fn objects_are_written_on_conditions() {
    let folder = tempfile::tempdir().unwrap();
    let server = Origin::new(folder.path()).writable().start("127.0.0.1:0").unwrap();
    let client = &mut Client::new(server.address());
    let once = "If-None-Match: *\r\n";
    let first = put(client, "PUT /b/x", once, "one");
    assert_eq!((first.status, fs::read(folder.path().join("b/x")).unwrap()), (200, b"one".to_vec()));
    assert_eq!(put(client, "PUT /b/x", once, "two").status, 412);
    let of = |tag: &str| format!("If-Match: {tag}\r\n");
    let second = put(client, "PUT /b/x", &of(first.field("ETag")), "two");
    assert_eq!(second.status, 200);
    assert_ne!(second.field("ETag"), first.field("ETag"));
    assert_eq!(client.head("/b/x").field("ETag"), second.field("ETag"));
    assert_eq!(put(client, "PUT /b/x", &of(first.field("ETag")), "six").status, 412);
    assert_eq!(put(client, "PUT /b/y", &of(first.field("ETag")), "six").status, 404);
    assert_eq!(put(client, "PUT /b/y", "x-amz-copy-source: b/x\r\n", "").status, 200);
    assert_eq!(client.get("/b/y", "").body, b"two");
    assert_eq!(put(client, "DELETE /b/x", "", "").status, 204);
    assert_eq!(client.head("/b/x").status, 404);

    let server = Origin::new(folder.path()).writable_without_conditions().start("127.0.0.1:0").unwrap();
    assert_eq!(put(&mut Client::new(server.address()), "PUT /b/y", once, "new").status, 200);
    let server = Origin::serve(folder.path()).unwrap();
    assert_eq!(put(&mut Client::new(server.address()), "PUT /b/y", "", "no").status, 405);
    assert_eq!(fs::read(folder.path().join("b/y")).unwrap(), b"new");
}

#[test]
fn an_object_in_parts_appears_when_it_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let origin = Origin::new(folder.path()).writable();
    let server = origin.clone().start("127.0.0.1:0").unwrap();
    let client = &mut Client::new(server.address());
    let begun = String::from_utf8(put(client, "POST /b/x?uploads", "", "").body).unwrap();
    let id = begun.split("<UploadId>").nth(1).unwrap().split('<').next().unwrap().to_owned();
    let long = "x".repeat(5 << 20);
    for (number, body) in [(2, "end"), (1, &*long)] {
        assert_eq!(put(client, &format!("PUT /b/x?partNumber={number}&uploadId={id}"), "", body).status, 200);
    }
    assert!(origin.open_uploads() == 1 && !folder.path().join("b/x").exists());
    let list = |parts: &[u32]| parts.iter().map(|n| format!("<PartNumber>{n}</PartNumber>")).collect::<String>();
    for wrong in [&[][..], &[2, 1], &[1, 3]] {
        assert_eq!(put(client, &format!("POST /b/x?uploadId={id}"), "", &list(wrong)).status, 400);
    }
    assert_eq!(put(client, &format!("POST /b/x?uploadId={id}"), "", &list(&[1, 2])).status, 200);
    assert_eq!(fs::read(folder.path().join("b/x")).unwrap(), format!("{long}end").into_bytes());
    assert_eq!(put(client, &format!("POST /b/x?uploadId={id}"), "", &list(&[1, 2])).status, 404);
    assert_eq!((put(client, &format!("DELETE /b/x?uploadId={id}"), "", "").status, origin.open_uploads()), (404, 0));
}

#[test]
fn a_request_that_breaks_off_takes_no_effect() {
    let folder = tempfile::tempdir().unwrap();
    let server = Origin::new(folder.path()).writable().start("127.0.0.1:0").unwrap();
    server.rules().add(Rule::new(Fault::ResetUpload { after: 2 }));
    assert!(put(&mut Client::new(server.address()), "PUT /b/x", "", "one").is_reset());
    server.rules().clear();
    server.rules().add(Rule::new(Fault::Lost));
    assert!(!folder.path().join("b/x").exists());
    assert!(put(&mut Client::new(server.address()), "PUT /b/x", "", "one").is_cut_in_good_order());
    assert!(folder.path().join("b/x").exists());
}
