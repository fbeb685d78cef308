//! Files with the keys of tunnels. All mistakes of a file are reported at once, and no message shows anything that it
//! holds.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use weft_core::units::did_you_mean;
use weft_esp::EspCipher;

/// Index and cipher of a direction.
type Association = (u32, EspCipher);
/// The values of a section by key, each with its line.
type Section<'a> = BTreeMap<&'a str, (usize, &'a str)>;

const KEYS: [&str; 4] = ["spi", "cipher", "key", "integrity"];
const CIPHERS: [&str; 3] = ["aes-128-gcm", "aes-256-gcm", COMBINED];
const COMBINED: &str = "aes-128-cbc-hmac-sha1";
/// Digits at the end of a GCM key that are its salt.
const SALT_DIGITS: usize = 8;

/// The mistakes in a file; each begins with its place, which follows the name of the file.
#[derive(Debug, Default)]
struct KeyMistakes(Vec<String>);

impl KeyMistakes {
    fn at(&mut self, line: usize, message: &str) {
        self.0.push(format!(":{line}: {message}"));
    }

    fn of(&mut self, section: &str, message: &str) {
        self.0.push(format!(": [{section}]: {message}"));
    }
}

/// The associations of a file, outbound and inbound, or all its mistakes.
pub(crate) fn read_keys(path: &Path) -> Result<[Association; 2], Vec<String>> {
    let unreadable = |error: std::io::Error| vec![format!(": cannot be read: {error}")];
    let mode = std::fs::metadata(path).map_err(unreadable)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(vec![format!(": others can read it (mode {:o}): chmod 600", mode & 0o777)]);
    }
    parse_keys(&std::fs::read_to_string(path).map_err(unreadable)?)
}

/// The same for a text.
fn parse_keys(text: &str) -> Result<[Association; 2], Vec<String>> {
    let mut mistakes = KeyMistakes::default();
    let sections = sections(text, &mut mistakes);
    let both = ["out", "in"].map(|name| match sections.get(name) {
        Some(section) => association((name, section), &mut mistakes),
        None => {
            mistakes.0.push(format!(": the section [{name}] is missing"));
            None
        }
    });
    refuse_one_key(["out", "in"].map(|name| sections.get(name)), &mut mistakes);
    match both {
        [Some(out), Some(back)] if mistakes.0.is_empty() => Ok([out, back]),
        _ => Err(mistakes.0),
    }
}

fn sections<'a>(text: &'a str, mistakes: &mut KeyMistakes) -> BTreeMap<&'a str, Section<'a>> {
    let mut sections: BTreeMap<&str, Section<'_>> = BTreeMap::new();
    let mut section = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        match line {
            "" => {}
            "[out]" | "[in]" => {
                section = Some(line.trim_matches(['[', ']']));
                sections.entry(line.trim_matches(['[', ']'])).or_default();
            }
            _ => match (key_of(line), section) {
                (Err(message), _) => mistakes.at(number, &message),
                (Ok(_), None) => mistakes.at(number, "before it comes [out] or [in]"),
                (Ok((name, value)), Some(section)) => {
                    let own = sections.entry(section).or_default();
                    if own.insert(name, (number, value)).is_some() {
                        mistakes.at(number, &format!("`{name}` is there already"));
                    }
                }
            },
        }
    }
    sections
}

/// The key and the value of a line.
fn key_of(line: &str) -> Result<(&'static str, &str), String> {
    let (name, value) = line.split_once('=').ok_or("neither [out], [in] nor a key")?;
    let known = KEYS.iter().find(|known| **known == name.trim());
    let known = known.ok_or_else(|| {
        format!("allowed are {}{}", KEYS.join(", "), did_you_mean(name.trim(), KEYS.iter().copied()))
    })?;
    let value = value.trim().strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    Ok((known, value.ok_or("a value must be in quotation marks")?))
}

/// Both ends count initialisation vectors, so with one encryption key for both directions two packets could have the
/// same vector, which reveals their content (RFC 4106, section 2). Salt and integrity key make no difference.
fn refuse_one_key(sections: [Option<&Section<'_>>; 2], mistakes: &mut KeyMistakes) {
    let [Some(out), Some(back)] = sections else { return };
    if let (Some((_, own)), Some((line, other))) = (encryption_key(out), encryption_key(back))
        && own == other
    {
        mistakes.at(line, "[out] and [in] have the same key: each direction needs its own");
    }
}

/// The digits of the encryption key, without the salt, and their line.
fn encryption_key(section: &Section<'_>) -> Option<(usize, String)> {
    let (line, digits) = section.get("key")?;
    let salt = if section.get("cipher")?.1.ends_with("-gcm") { SALT_DIGITS } else { 0 };
    Some((*line, digits.get(..digits.len().checked_sub(salt)?)?.to_ascii_lowercase()))
}

/// The association that a section describes, if the section is free of mistakes.
fn association((name, section): (&str, &Section<'_>), mistakes: &mut KeyMistakes) -> Option<Association> {
    for wanted in ["spi", "cipher", "key"] {
        if !section.contains_key(wanted) {
            mistakes.of(name, &format!("`{wanted}` is missing"));
        }
    }
    let spi = section.get("spi").and_then(|(line, spi)| {
        let number = match spi.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => spi.parse(),
        };
        let number = number.ok().filter(|spi| *spi >= 256);
        number.or_else(|| {
            mistakes.at(*line, "`spi` is a number from 256 to 0xffffffff");
            None
        })
    });
    let cipher = cipher_of((name, section), mistakes);
    Some((spi?, cipher?))
}

fn cipher_of((name, section): (&str, &Section<'_>), mistakes: &mut KeyMistakes) -> Option<EspCipher> {
    let (line, cipher) = *section.get("cipher")?;
    if !CIPHERS.contains(&cipher) {
        let meant = did_you_mean(cipher, CIPHERS);
        mistakes.at(line, &format!("`cipher` is {}{meant}", CIPHERS.join(", ")));
        return None;
    }
    match section.get("integrity") {
        Some((line, _)) if cipher != COMBINED => {
            mistakes.at(*line, "`integrity` has no effect: GCM needs no second key");
        }
        None if cipher == COMBINED => mistakes.of(name, "`integrity` is missing"),
        _ => {}
    }
    let mut part = |name: &str, length: usize| {
        let (line, text) = *section.get(name)?;
        bytes(name, text, length).map_err(|message| mistakes.at(line, &message)).ok()
    };
    match cipher {
        COMBINED => {
            let (key, integrity) = (part("key", 16), part("integrity", 20));
            Some(EspCipher::aes_128_cbc_hmac_sha1(&array([key?, integrity?].concat())))
        }
        "aes-128-gcm" => Some(EspCipher::aes_128_gcm(&array(part("key", 20)?))),
        _ => Some(EspCipher::aes_256_gcm(&array(part("key", 36)?))),
    }
}

/// Parses hexadecimal digits into exactly as many bytes as needed.
fn bytes(name: &str, text: &str, length: usize) -> Result<Vec<u8>, String> {
    if text.len() != 2 * length || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        let salt = if name == "key" && length != 16 { ", the last 8 of them the salt" } else { "" };
        return Err(format!("`{name}` has {} hexadecimal digits{salt}", 2 * length));
    }
    let pairs = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap_or("00"));
    Ok(pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap_or(0)).collect())
}

/// Bytes whose number has been checked.
fn array<const N: usize>(bytes: Vec<u8>) -> [u8; N] {
    std::array::from_fn(|n| bytes[n])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = "# made with: openssl rand -hex 20\n[out]\nspi = \"0x1001\"\ncipher = \"aes-128-gcm\"\nkey = \"00112233445566778899aabbccddeeff01020304\"\n\n[in]\nspi = \"4098\"\ncipher = \"aes-128-cbc-hmac-sha1\"\nkey = \"ff112233445566778899aabbccddee00\"\nintegrity = \"000102030405060708090a0b0c0d0e0f10111213\"\n";

    #[test]
    fn a_file_of_keys_has_two_directions() {
        let [out, back] = parse_keys(SOUND).unwrap();
        assert_eq!((out.0, back.0), (0x1001, 4098));
        assert_eq!(format!("{:?}", out.1), "AES-128-GCM (secret)");
    }

    /// Whatever the mistake, no message shows a key.
    #[test]
    fn mistakes_are_told_without_keys() {
        for (from, to, message) in [
            ("[in]", "[on]", ":7: neither [out], [in] nor a key"),
            ("spi = \"4098\"", "spi = \"255\"", ":8: `spi` is a number from 256 to 0xffffffff"),
            ("aes-128-gcm", "des", ":4: `cipher` is aes-128-gcm, aes-256-gcm, aes-128-cbc-hmac-sha1"),
            (
                "aes-128-gcm",
                "aes-256-gcm",
                ":5: `key` has 72 hexadecimal digits, the last 8 of them the salt",
            ),
            (
                "integrity =",
                "integrety =",
                ":11: allowed are spi, cipher, key, integrity; did you mean `integrity`?",
            ),
            ("[out]\n", "", ":2: before it comes [out] or [in]"),
            ("key = \"0011", "key = \"0011\"\nkey = \"0011", ":6: `key` is there already"),
            (
                "key = \"00112233445566778899aabbccddeeff01020304\"",
                "key = 00112233445566778899aabbccddeeff",
                ":5: a value must be in quotation marks",
            ),
            ("aes-128-cbc-hmac-sha1", "aes-128-gcm", ":10: `key` has 40 hexadecimal digits"),
            (
                "aes-128-cbc-hmac-sha1\"\nkey = \"ff112233445566778899aabbccddee00\"\nintegrity = \"000102030405060708090a0b0c0d0e0f10111213\"",
                "aes-128-gcm\"\nkey = \"00112233445566778899AABBCCDDEEFF04030201\"",
                ":10: [out] and [in] have the same key: each direction needs its own",
            ),
            (
                "ff112233445566778899aabbccddee00",
                "00112233445566778899aabbccddeeff",
                ":10: [out] and [in] have",
            ),
        ] {
            let problem = parse_keys(&SOUND.replacen(from, to, 1)).unwrap_err().join("\n");
            assert!(problem.contains(message), "{to}: {problem}");
            assert!(!problem.contains("33445566"), "{problem}");
        }
    }

    #[test]
    fn all_mistakes_of_a_file_are_told_at_once() {
        let text = "[out]\nspi = \"1\"\ncipher = \"aes-128-gmc\"\n[in]\nkye = \"00\"\nspi = 300\n";
        let problems = parse_keys(text).unwrap_err();
        for expected in [
            ":2: `spi` is a number",
            "did you mean `aes-128-gcm`?",
            ": [out]: `key` is missing",
            ":5: allowed are spi, cipher, key, integrity; did you mean `key`?",
            ":6: a value must be in quotation marks",
            ": [in]: `cipher` is missing",
        ] {
            assert!(problems.iter().any(|problem| problem.contains(expected)), "{expected}: {problems:#?}");
        }
    }
}
