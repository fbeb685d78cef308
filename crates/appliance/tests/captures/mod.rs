//! Routers that run on captures in a folder of the test.
#![allow(dead_code, reason = "each test uses some of it")]

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use weft_appliance::file::read_plan;
use weft_appliance::{RouterReport, run};
use weft_packet::Mac;
use weft_packet::capture::CaptureReader;

pub(crate) const OWN: Mac = Mac([2, 0, 0, 0, 0, 1]);
pub(crate) const FAR: Mac = Mac([2, 0, 0, 0, 0, 9]);

/// A folder of a test, gone when it is dropped.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("weft-play-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), bytes).unwrap();
    }

    pub(crate) fn frames(&self, name: &str) -> Vec<(u64, Vec<u8>)> {
        frames(&self.0.join(name))
    }

    /// Runs the router of a text, after removing its earlier output.
    pub(crate) fn run(&self, text: &str) -> RouterReport {
        self.write("r.toml", text);
        for written in ["left.pcapng", "right.pcapng"] {
            let _ = std::fs::remove_file(self.0.join(written));
        }
        let plan =
            read_plan(&self.0.join("r.toml")).unwrap_or_else(|mistakes| panic!("{}", mistakes.short()));
        run(&plan, &AtomicBool::new(false), || Ok(())).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn frames(path: &Path) -> Vec<(u64, Vec<u8>)> {
    let file = std::fs::read(path).unwrap();
    let owned = |frame: weft_packet::capture::CapturedFrame<'_>| (frame.time_ns, frame.bytes.to_vec());
    CaptureReader::new(&file).unwrap().map(|frame| owned(frame.unwrap())).collect()
}
