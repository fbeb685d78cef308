//! Shell scripts that configure a host: `sysctl -w name=value`, writes to `/proc/sys`, and lines of a sysctl file
//! that a script writes. Every command is assumed to run, in order, even inside an `if`. Values that the script
//! computes are skipped.

use super::{LinuxSetting, LinuxSettings};
use crate::place::{SourceFile, lines};

/// The settings of a script.
#[must_use]
pub fn read(source: &SourceFile) -> LinuxSettings {
    let mut told = LinuxSettings::default();
    for (start, line) in lines(&source.text) {
        let text = line.trim();
        let at = start + line.len() - line.trim_start().len();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        if let Some((name, value)) = text.split_once('=').filter(|(name, _)| is_name(name.trim())) {
            set(&mut told, (name, value), at);
            continue;
        }
        for command in commands(text) {
            of_command(&mut told, &command, at);
        }
    }
    told
}

/// Whether a line of the script is a line of a sysctl file that it writes.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/*-".contains(c);
    ["net.", "net/", "vm.", "kernel.", "fs."].iter().any(|head| name.starts_with(head))
        && name.chars().all(plain)
}

fn set(told: &mut LinuxSettings, (name, value): (&str, &str), at: usize) {
    match value.contains(['$', '`']) {
        true => told.other.push(format!("{} (computed)", name.trim())),
        false => told.settings.push(LinuxSetting::new(name, value, at)),
    }
}

fn of_command(told: &mut LinuxSettings, words: &[String], at: usize) {
    let is = |word: &str, name: &str| word == name || word.ends_with(&format!("/{name}"));
    let written = words.iter().find_map(|word| word.trim_start_matches('>').strip_prefix("/proc/sys/"));
    let program = words.iter().position(|word| is(word, "sysctl"));
    match (program, written) {
        (Some(place), _) => {
            let sets = words[place + 1..].iter().filter_map(|word| word.split_once('='));
            let mut any = false;
            for pair in sets.filter(|(name, _)| !name.starts_with("--")) {
                set(told, pair, at);
                any = true;
            }
            if !any {
                told.other.push("sysctl without a value".to_owned());
            }
        }
        (None, Some(name)) if words.iter().any(|word| is(word, "echo") || is(word, "printf")) => {
            let values = words.iter().skip_while(|word| !is(word, "echo") && !is(word, "printf")).skip(1);
            let values = values.take_while(|word| !word.starts_with('>') && *word != "|");
            let values: Vec<&str> =
                values.map(String::as_str).filter(|word| !matches!(*word, "-n" | "-e")).collect();
            set(told, (name, &values.join(" ")), at);
        }
        _ => told.other.push("other commands".to_owned()),
    }
}

/// The commands of a line, each as words. A pipe stays a word, because `echo 1 | tee FILE` sets one value.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let mut word = String::new();
    let mut quote = None;
    let mut letters = line.chars().peekable();
    let end = |word: &mut String, all: &mut Vec<Vec<String>>| {
        if !word.is_empty() {
            all.last_mut().expect("one at least").push(std::mem::take(word));
        }
    };
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (Some(_), letter) => word.push(letter),
            (None, '"' | '\'') => quote = Some(letter),
            (None, '\\') => word.extend(letters.next()),
            (None, '#') if word.is_empty() => break,
            (None, ';') => {
                end(&mut word, &mut all);
                all.push(Vec::new());
            }
            (None, '&' | '|') if letters.peek() == Some(&letter) => {
                letters.next();
                end(&mut word, &mut all);
                all.push(Vec::new());
            }
            (None, '|') => {
                end(&mut word, &mut all);
                word.push('|');
                end(&mut word, &mut all);
            }
            (None, '>') => {
                end(&mut word, &mut all);
                word.push('>');
            }
            (None, letter) if letter.is_whitespace() => {
                // `> FILE` is one word.
                if word.trim_start_matches('>').is_empty() && !word.is_empty() {
                    continue;
                }
                end(&mut word, &mut all);
            }
            (None, letter) => word.push(letter),
        }
    }
    end(&mut word, &mut all);
    all.retain(|words| !words.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(script: &str) -> Vec<(String, String)> {
        let source = SourceFile { name: "x.sh".to_owned(), text: script.to_owned() };
        read(&source).settings.into_iter().map(|setting| (setting.name, setting.value)).collect()
    }

    #[test]
    fn every_way_of_setting_is_read() {
        let one = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        for script in [
            "sysctl -w net.ipv4.tcp_ecn=1",
            "sudo /sbin/sysctl -q -w net/ipv4/tcp_ecn='1' || exit 1",
            "modprobe tcp_dctcp; sysctl net.ipv4.tcp_ecn=1 # marks",
            "echo 1 > /proc/sys/net/ipv4/tcp_ecn",
            "echo 1 >/proc/sys/net/ipv4/tcp_ecn",
            "echo -n \"1\" | sudo tee /proc/sys/net/ipv4/tcp_ecn",
            "cat > /etc/sysctl.d/x.conf <<EOF\nnet.ipv4.tcp_ecn = 1\nEOF",
        ] {
            assert_eq!(settings(script), one("net.ipv4.tcp_ecn", "1"), "{script}");
        }
        let buffers = "sysctl -w net.ipv4.tcp_rmem=\"4096 131072 6291456\"";
        assert_eq!(settings(buffers), one("net.ipv4.tcp_rmem", "4096 131072 6291456"));
    }

    #[test]
    fn what_a_script_computes_or_only_says_is_not_read() {
        for script in
            ["sysctl -w net.ipv4.tcp_ecn=$ECN", "# sysctl -w net.ipv4.tcp_ecn=1", "sysctl -p", "echo 1"]
        {
            assert_eq!(settings(script), [], "{script}");
        }
    }
}
