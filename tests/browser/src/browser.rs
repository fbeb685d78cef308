//! Chromium, driven over its debugging pipe: messages are JSON ended by a zero byte (the DevTools protocol). Knows
//! nothing about reports.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running browser with one page.
#[derive(Debug)]
pub struct Browser {
    process: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: String,
    serial: u64,
    /// What the page reported: console messages, exceptions, requests.
    pub events: Vec<Value>,
    profile: PathBuf,
}

/// The first Chromium on this machine.
///
/// # Errors
/// One line that says how to install it.
pub fn find_chromium() -> Result<PathBuf, String> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let candidates = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    candidates
        .into_iter()
        .find(|candidate| candidate.is_file())
        .ok_or_else(|| "no Chromium found; on Debian: apt-get install chromium".to_owned())
}

impl Browser {
    /// Starts a browser with a fresh profile in `profile` and an empty page of the given size.
    ///
    /// # Panics
    /// If there is no Chromium, or if it does not answer.
    #[must_use]
    pub fn start(profile: &Path, width: u32, height: u32) -> Browser {
        let chromium = find_chromium().unwrap_or_else(|line| panic!("{line}"));
        let _ = std::fs::remove_dir_all(profile);
        let mut process = launch(&chromium, profile);
        let to = process.stdin.take().expect("the pipe was asked for");
        let from = listen(process.stdout.take().expect("the pipe was asked for"));
        let mut browser = Browser {
            process,
            to,
            from,
            session: String::new(),
            serial: 0,
            events: Vec::new(),
            profile: profile.to_owned(),
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let session = browser.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        browser.session = session["sessionId"].as_str().unwrap_or_default().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.resize(width, height);
        browser
    }

    /// Sets the size of the page in pixels.
    pub fn resize(&mut self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Sets what the reader prefers: `light` or `dark`, on `screen` or on `print`.
    pub fn media(&mut self, scheme: &str, medium: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features, "media": medium }));
    }

    /// Opens a file and waits until it is drawn. `fragment` is what follows `#`.
    pub fn open(&mut self, file: &Path, fragment: &str) {
        self.call("Page.navigate", json!({ "url": "about:blank" }));
        let url = format!("file://{}#{fragment}", file.display());
        self.call("Page.navigate", json!({ "url": url }));
        while self.evaluate("location.protocol == 'file:' && document.readyState == 'complete'") != true {
            std::thread::sleep(Duration::from_millis(20));
        }
        let drawn = "new Promise((done) => { const look = () => document.documentElement.dataset.drawn ? \
                     setTimeout(done, 60) : setTimeout(look, 20); look(); })";
        self.evaluate(drawn);
    }

    /// The value of a JavaScript expression in the page; promises are waited for.
    ///
    /// # Panics
    /// If the expression throws.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let ask = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", ask);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Presses a key, for example `Tab` or `ArrowRight`.
    pub fn press(&mut self, key: &str) {
        let code =
            json!({ "Tab": 9, "Enter": 13, "ArrowRight": 39, "ArrowDown": 40, "Escape": 27 })[key].clone();
        for kind in [if key == "Enter" { "keyDown" } else { "rawKeyDown" }, "keyUp"] {
            let mut event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            // what presses a button is the character of the key
            if (key, kind) == ("Enter", "keyDown") {
                event["text"] = json!("\r");
            }
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Moves the pointer.
    pub fn point(&mut self, x: f64, y: f64) {
        self.call("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y }));
    }

    /// Saves a picture of the whole page as PNG.
    pub fn screenshot(&mut self, file: &Path) {
        let answer =
            self.call("Page.captureScreenshot", json!({ "captureBeyondViewport": true, "format": "png" }));
        save(file, &answer["data"]);
    }

    /// Prints the page on A4 as the page's own style says, and gives back the bytes.
    pub fn pdf(&mut self, file: &Path) -> Vec<u8> {
        self.call("Emulation.setEmulatedMedia", json!({ "media": "print" }));
        let options = json!({ "printBackground": true, "preferCSSPageSize": true });
        let answer = self.call("Page.printToPDF", options);
        save(file, &answer["data"])
    }

    /// Events of the given method so far.
    #[must_use]
    pub fn seen(&self, method: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["method"] == method).collect()
    }

    /// Asks the browser and waits for its answer; events that arrive before it are kept.
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.serial += 1;
        let mut message = json!({ "id": self.serial, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let text = format!("{message}\0");
        self.to.write_all(text.as_bytes()).and_then(|()| self.to.flush()).expect("the browser listens");
        loop {
            let answer = self.from.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no answer to {method}"));
            if answer["id"] == self.serial {
                assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

/// The pipe wants descriptors 3 and 4; the shell renames standard input and output.
fn launch(chromium: &Path, profile: &Path) -> Child {
    let flags = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
                 --disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars \
                 --remote-debugging-pipe";
    Command::new("sh")
        .args([
            "-c",
            &format!("exec \"$0\" {flags} \"--user-data-dir=$1\" 3<&0 4>&1 </dev/null >/dev/null 2>&1"),
        ])
        .args([chromium, profile])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell starts")
}

fn listen(pipe: impl Read + Send + 'static) -> Receiver<Value> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(pipe);
        let mut message = Vec::new();
        while reader.read_until(0, &mut message).is_ok_and(|length| length > 0) {
            message.pop();
            let Ok(value) = serde_json::from_slice(&message) else { break };
            if send.send(value).is_err() {
                break;
            }
            message.clear();
        }
    });
    receive
}

fn save(file: &Path, data: &Value) -> Vec<u8> {
    let bytes = from_base64(data.as_str().unwrap_or_default());
    std::fs::write(file, &bytes).unwrap_or_else(|cause| panic!("{}: {cause}", file.display()));
    bytes
}

/// Bytes from base 64 (RFC 4648).
fn from_base64(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u32> = text.bytes().filter_map(digit).map(u32::from).collect();
    let bytes = digits.chunks(4).flat_map(|four| {
        let word = four.iter().fold(0, |word, digit| word << 6 | digit) << (6 * (4 - four.len()));
        word.to_be_bytes().into_iter().skip(1).take(four.len() - 1)
    });
    bytes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_64_of_every_length() {
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob")]
        {
            assert_eq!(from_base64(text), bytes.as_bytes());
        }
    }
}
