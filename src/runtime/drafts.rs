//! Drafts on disk: one thread that keeps the newest state of each file, in order, so that keys never wait for a disk. Owns reading and writing
//! below `drafts/` in the state folder; must not look into a draft.

use std::{
    collections::BTreeMap,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::mpsc,
    thread::JoinHandle,
};

use tokio::sync::mpsc::UnboundedSender;

use super::links::Done;
use crate::{config::folders, nodegroups::draft::MAX_BYTES, state::Msg};

enum Job {
    Save(String, Option<Vec<u8>>),
    Load(String),
}

/// The way to the thread. Dropping it waits until everything sent is on disk.
pub struct Drafts {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Drafts {
    /// Drafts in the state folder.
    pub fn open(done: UnboundedSender<Done>) -> Drafts {
        Drafts::within(folders::state().map(|d| d.join("drafts")), done)
    }

    /// Drafts in a folder; `None` where there is no home: then every save is told to have failed.
    pub fn within(folder: Option<PathBuf>, done: UnboundedSender<Done>) -> Drafts {
        let (jobs, inbox) = mpsc::channel();
        let thread = std::thread::Builder::new().name("drafts".into()).spawn(move || work(folder.as_deref(), &inbox, &done)).ok();
        Drafts { jobs: Some(jobs), thread }
    }

    /// Keeps a file's newest content; `None` deletes it.
    pub fn save(&self, name: String, bytes: Option<Vec<u8>>) {
        self.send(Job::Save(name, bytes));
    }

    /// Reads a file after everything that was sent before; the answer comes as a message.
    pub fn load(&self, name: String) {
        self.send(Job::Load(name));
    }

    fn send(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(job);
        }
    }
}

impl Drop for Drafts {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn work(folder: Option<&Path>, inbox: &mpsc::Receiver<Job>, done: &UnboundedSender<Done>) {
    let mut told = false;
    while let Ok(first) = inbox.recv() {
        let mut newest: BTreeMap<String, Option<Vec<u8>>> = BTreeMap::new();
        let mut loads = Vec::new();
        for job in std::iter::once(first).chain(inbox.try_iter()) {
            match job {
                Job::Save(name, bytes) => {
                    newest.insert(name, bytes);
                }
                Job::Load(name) => loads.push(name),
            }
        }
        for (name, bytes) in newest {
            // Told once: with every key again it would hide everything else.
            match keep(folder, &name, bytes.as_deref()) {
                Ok(()) => told = false,
                Err(why) if !told => {
                    told = true;
                    let _ = done.send(Done::Msg(Msg::Notice(format!("the draft is not kept on disk: {why}"))));
                }
                Err(_) => {}
            }
        }
        for name in loads {
            let result = read(folder, &name);
            let _ = done.send(Done::Msg(Msg::DraftLoaded { name, result }));
        }
    }
}

fn keep(folder: Option<&Path>, name: &str, bytes: Option<&[u8]>) -> Result<(), String> {
    let path = folder.ok_or("there is no home folder")?.join(name);
    let done = match bytes {
        Some(bytes) => folders::write_private(&path, bytes),
        None => match std::fs::remove_file(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
            other => other,
        },
    };
    done.map_err(|e| format!("{}: {e}", path.display()))
}

fn read(folder: Option<&Path>, name: &str) -> Result<Option<Vec<u8>>, String> {
    use std::io::Read as _;
    let Some(path) = folder.map(|f| f.join(name)) else { return Ok(None) };
    let file = match std::fs::File::open(&path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|e| format!("{}: {e}", path.display()))?,
    };
    let mut bytes = Vec::new();
    // One byte more than allowed shows that it is too large, without reading all of it.
    let read = file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_content_stands_when_it_is_closed_and_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let (done, mut answers) = tokio::sync::mpsc::unbounded_channel();
        let drafts = Drafts::within(Some(dir.path().join("drafts")), done.clone());
        for n in 0..50 {
            drafts.save("draft-a.json".into(), Some(vec![n]));
        }
        drafts.save("draft-b.json".into(), Some(vec![1]));
        drafts.save("draft-b.json".into(), None);
        drafts.load("draft-a.json".into());
        drafts.load("draft-b.json".into());
        drop(drafts);
        let path = dir.path().join("drafts/draft-a.json");
        assert_eq!(std::fs::read(&path).unwrap(), [49]);
        assert!(!dir.path().join("drafts/draft-b.json").exists());
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions()) & 0o777, 0o600);
        let mut loaded = Vec::new();
        while let Ok(Done::Msg(Msg::DraftLoaded { name, result })) = answers.try_recv() {
            loaded.push((name, result));
        }
        assert_eq!(loaded, [("draft-a.json".to_string(), Ok(Some(vec![49]))), ("draft-b.json".to_string(), Ok(None))]);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_told_once() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), b"x").unwrap();
        let (done, mut answers) = tokio::sync::mpsc::unbounded_channel();
        let drafts = Drafts::within(Some(dir.path().join("file/below")), done);
        drafts.save("draft-a.json".into(), Some(vec![1]));
        drafts.save("draft-c.json".into(), Some(vec![1]));
        drop(drafts);
        assert!(matches!(answers.try_recv(), Ok(Done::Msg(Msg::Notice(_)))));
        assert!(answers.try_recv().is_err());
    }
}
