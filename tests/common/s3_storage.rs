//! How a client reaches a server that speaks S3's protocol.

use fault_proxy::Server;
use vidrec::Storage;

fn options(server: &Server) -> [(&'static str, String); 4] {
    [
        ("endpoint", server.url()),
        ("region", "us-east-1".into()),
        ("access_key_id", "me".into()),
        ("secret_access_key", "hunter2".into()),
    ]
}

/// For calls of the library.
pub fn storage(server: &Server) -> Storage {
    let options = options(server).into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Storage { options, ..Storage::default() }
}

/// Variables for the program.
pub fn variables(server: &Server) -> impl Iterator<Item = (String, String)> {
    options(server).into_iter().map(|(name, value)| (format!("AWS_{}", name.to_uppercase()), value))
}
