//! Words of a command that people copy into a POSIX shell. Must not depend on what the command does.

use std::path::Path;

/// Quotes any text as one word.
#[must_use]
pub fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A file name as a word, never an option.
#[must_use]
pub fn file(path: &Path) -> String {
    let name = path.display().to_string();
    word(&if name.starts_with('-') { format!("./{name}") } else { name })
}

/// A word, unquoted if it contains nothing special.
#[must_use]
pub fn word(text: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || "_-./+,:=@%".contains(c);
    if !text.is_empty() && text.chars().all(bare) { text.to_owned() } else { quoted(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        for word in
            ["it's $(touch X).toml", "a b", "`x`", "\\", "-x.toml", "plain/file-1.toml", "\"", "new\nline"]
        {
            let line = format!("printf %s {}", file(Path::new(word)));
            let shell = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
            let said = String::from_utf8(shell.stdout).unwrap();
            assert_eq!(said.trim_start_matches("./"), word);
        }
        assert_eq!(file(Path::new("plain/file-1.toml")), "plain/file-1.toml");
        assert_eq!((quoted("it's"), word("")), ("'it'\\''s'".to_owned(), "''".to_owned()));
    }
}
