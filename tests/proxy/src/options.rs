//! The program's options.

use std::io;

use fault_proxy::{Origin, Proxy, Server};

use crate::command;

/// What to serve, and the commands to begin with.
#[derive(Default)]
pub struct Options {
    to: Option<String>,
    folder: Option<String>,
    listen: Option<String>,
    log: bool,
    writable: Option<String>,
    commands: Vec<String>,
}

impl Options {
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        while let Some(name) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{name} needs a value"));
            match name.as_str() {
                "--to" => options.to = Some(value()?),
                "--folder" => options.folder = Some(value()?),
                "--listen" => options.listen = Some(value()?),
                "--log" => options.log = true,
                "--latency-ms" | "--connect-latency-ms" | "--gbit" | "--fault" => {
                    options.commands.push(format!("{} {}", &name[2..], value()?));
                }
                "--writable" | "--writable-without-conditions" => options.writable = Some(name),
                _ => return Err(format!("no option '{name}'")),
            }
        }
        match (&options.to, &options.folder) {
            (Some(_), Some(_)) => Err("--to and --folder exclude each other".to_owned()),
            (None, None) => Err("--to or --folder is needed".to_owned()),
            (Some(_), None) if options.writable.is_some() => Err("what is writable is a folder".to_owned()),
            _ => Ok(options),
        }
    }

    pub fn start(&self) -> io::Result<Server> {
        let listen = self.listen.as_deref().unwrap_or("127.0.0.1:0");
        let server = match (&self.to, &self.folder) {
            (Some(to), _) => Proxy::start(to, listen)?,
            (_, folder) => self.origin(folder.as_deref().unwrap_or(".")).start(listen)?,
        };
        server.keep_log(self.log);
        for line in &self.commands {
            command::run(&server, line).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        }
        Ok(server)
    }

    fn origin(&self, folder: &str) -> Origin {
        let origin = Origin::new(folder);
        match self.writable.as_deref() {
            None => origin,
            Some("--writable") => origin.writable(),
            Some(_) => origin.writable_without_conditions(),
        }
    }
}
