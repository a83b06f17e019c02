//! Passes open files from one process to another over a socket.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::cmsg_space;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

/// The end of a socket that sends bytes and open files.
pub(super) struct FileSender<'a> {
    pub socket: &'a UnixStream,
    /// The file that goes with the next byte.
    pub file: Option<File>,
}

impl Write for FileSender<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(file) = self.file.take() else { return self.socket.write(bytes) };
        let files = [file.as_fd()];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        // The buffer has room for one.
        beside.push(SendAncillaryMessage::ScmRights(&files));
        Ok(sendmsg(self.socket, &[IoSlice::new(bytes)], &mut beside, SendFlags::empty())?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The other end of the socket, and the files that arrived, in order.
pub(crate) struct FileReceiver {
    socket: OwnedFd,
    files: VecDeque<File>,
}

impl FileReceiver {
    pub fn new(socket: OwnedFd) -> Self {
        FileReceiver { socket, files: VecDeque::new() }
    }

    /// Takes the first file that arrived and was not yet taken.
    pub fn take_file(&mut self) -> Option<File> {
        self.files.pop_front()
    }
}

impl Read for FileReceiver {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::empty();
        let read = recvmsg(&self.socket, &mut [IoSliceMut::new(buffer)], &mut beside, flags)?.bytes;
        for message in beside.drain() {
            if let RecvAncillaryMessage::ScmRights(files) = message {
                self.files.extend(files.map(File::from));
            }
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Seek};

    use super::*;

    #[test]
    fn files_come_in_their_order_whatever_is_read_at_a_time() {
        let (here, there) = UnixStream::pair().unwrap();
        for i in 0..5u8 {
            let mut file = (i % 2 == 0).then(|| tempfile::tempfile().unwrap());
            if let Some(file) = &mut file {
                file.write_all(&[i; 3]).unwrap();
                file.rewind().unwrap();
            }
            FileSender { socket: &here, file }.write_all(&[i; 10]).unwrap();
        }
        drop(here);
        let mut receiver = BufReader::new(FileReceiver::new(there.into()));
        let mut bytes = Vec::new();
        receiver.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes.len(), 50);
        for i in [0u8, 2, 4] {
            let mut content = Vec::new();
            receiver.get_mut().take_file().unwrap().read_to_end(&mut content).unwrap();
            assert_eq!(content, [i; 3]);
        }
        assert!(receiver.get_mut().take_file().is_none());
    }
}
