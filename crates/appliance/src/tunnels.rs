//! The `[[tunnel]]` tables of a file, and the files with their keys. No message shows anything that a file of keys holds.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use weft_esp::EspCipher;
use weft_mistake::Mistake;
use weft_mistake::node::Toml;

use crate::plan::{PlannedPort, PlannedTunnel};
use weft_mistake::TableReader;

const KEYS: &[&str] =
    &["name", "local", "remote", "keys", "window", "encapsulation", "local_port", "remote_port"];
const LOCAL: &str = "an address of this router";
const REMOTE: &str = "the address of the other router, of the family of `local`";
const FILE: &str = "the path of a file with keys, from this file's folder";
/// Packets within which order does not matter, unless the file says otherwise.
const WINDOW: u32 = 256;
/// The UDP port of ESP, unless the file says otherwise (RFC 3948, section 2.1; RFC 7296, section 2.23).
const UDP_PORT: u16 = 4500;

/// All tunnels; `None` if any of them is incomplete.
pub(crate) fn tunnels(
    tables: &[Toml],
    place: (&[PlannedPort], bool, &Path),
    mistakes: &mut Vec<Mistake>,
) -> Option<Vec<PlannedTunnel>> {
    let mut found: Vec<PlannedTunnel> = Vec::new();
    for (number, table) in tables.iter().enumerate() {
        let Some(tunnel) = tunnel((table, number), place, &found, mistakes) else { continue };
        found.push(tunnel);
    }
    (found.len() == tables.len()).then_some(found)
}

fn tunnel(
    (table, number): (&Toml, usize),
    (ports, kernel, folder): (&[PlannedPort], bool, &Path),
    before: &[PlannedTunnel],
    mistakes: &mut Vec<Mistake>,
) -> Option<PlannedTunnel> {
    let mut reader = TableReader::new(table, &format!("tunnel[{number}]"), KEYS, mistakes);
    for (key, allowed) in [("name", "a name"), ("local", LOCAL), ("remote", REMOTE), ("keys", FILE)] {
        reader.require(key, allowed);
    }
    let name = reader.text("name", "a name")?;
    if before.iter().any(|other| other.name == name) {
        reader.wrong("name", format!("there is a tunnel `{name}` already"), "a name of its own");
    }
    let local: Option<IpAddr> = reader.parsed("local", LOCAL);
    let remote: Option<IpAddr> = reader.parsed("remote", REMOTE);
    let window = reader.number("window", 64, 65_536).map_or(WINDOW, |window| window as u32);
    let udp = udp_ports(&mut reader);
    let owns = |port: &PlannedPort| port.addresses.iter().any(|(own, _)| Some(*own) == local);
    if let Some(local) = local.filter(|_| !kernel && !ports.iter().any(owns)) {
        reader.wrong("local", format!("{local} is the address of no port"), LOCAL);
    }
    let ends = (local?, remote?);
    if ends.0.is_ipv4() != ends.1.is_ipv4() {
        reader.wrong("remote", format!("{} and {} are of different families", ends.0, ends.1), REMOTE);
    }
    let path = folder.join(reader.text("keys", FILE)?);
    let [outbound, inbound] = match read_keys(&path) {
        Ok(keys) => keys,
        Err(problem) => {
            let file = path.display();
            reader.wrong("keys", format!("{file}: {problem}"), "see the page on `weft router`");
            return None;
        }
    };
    if before.iter().any(|other| other.inbound.0 == inbound.0) {
        let message = format!("index {:#x} is that of another tunnel", inbound.0);
        reader.wrong("keys", message, "an index of its own for what each tunnel receives");
    }
    Some(PlannedTunnel { name: name.to_owned(), ends, udp, outbound, inbound, window })
}

/// The UDP ports of both ends, if ESP travels in UDP.
fn udp_ports(reader: &mut TableReader<'_, '_>) -> Option<(u16, u16)> {
    let encapsulation = reader.word("encapsulation", &["none", "udp"]);
    if encapsulation == Some("udp") {
        let mut port = |key| reader.number(key, 1, 65_535).map_or(UDP_PORT, |port| port as u16);
        return Some((port("local_port"), port("remote_port")));
    }
    // A misspelt word has been told; its ports may be right.
    if encapsulation.is_some() || !reader.has("encapsulation") {
        ["local_port", "remote_port"]
            .iter()
            .for_each(|key| reader.refuse(key, "without encapsulation = \"udp\""));
    }
    None
}

/// Index and cipher of a direction.
type Association = (u32, EspCipher);

/// The associations of a file: what is sent, what is received.
fn read_keys(path: &Path) -> Result<[Association; 2], String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    let mode = std::fs::metadata(path).map_err(unreadable)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(format!("others can read it (mode {:o}): chmod 600", mode & 0o777));
    }
    parse_keys(&std::fs::read_to_string(path).map_err(unreadable)?)
}

/// The same for a text.
fn parse_keys(text: &str) -> Result<[Association; 2], String> {
    let mut sections: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    let mut section = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        match line {
            "" => {}
            "[out]" | "[in]" => section = Some(line.trim_matches(['[', ']'])),
            _ => {
                let (name, value) =
                    line.split_once('=').ok_or(format!("line {number}: neither [out], [in] nor a key"))?;
                let value = value.trim().strip_prefix('"').and_then(|value| value.strip_suffix('"'));
                let value = value.ok_or(format!("line {number}: a value stands in quotation marks"))?;
                let name = ["spi", "cipher", "key", "integrity"].iter().find(|known| **known == name.trim());
                let name = name.ok_or(format!("line {number}: allowed are spi, cipher, key, integrity"))?;
                let section = section.ok_or(format!("line {number}: before it comes [out] or [in]"))?;
                if sections.entry(section).or_default().insert(name, value).is_some() {
                    return Err(format!("line {number}: `{name}` is there already"));
                }
            }
        }
    }
    let association = |name: &str| {
        let section = sections.get(name).ok_or(format!("the section [{name}] is missing"))?;
        association(section).map_err(|problem| format!("[{name}]: {problem}"))
    };
    let both = [association("out")?, association("in")?];
    refuse_one_key(["out", "in"].map(|name| &sections[name]))?;
    Ok(both)
}

/// Both ends count initialisation vectors: with one key for both directions of GCM two packets could have the same nonce, which reveals
/// what is in them (RFC 4106, section 2).
fn refuse_one_key([out, back]: [&BTreeMap<&str, &str>; 2]) -> Result<(), String> {
    let key = |section: &BTreeMap<&str, &str>| {
        let is_gcm = section.get("cipher").is_some_and(|cipher| cipher.ends_with("-gcm"));
        section.get("key").filter(|_| is_gcm).map(|key| key.to_ascii_lowercase())
    };
    match key(out).is_some_and(|own| Some(own) == key(back)) {
        true => Err("[out] and [in] have the same key: each direction needs its own".to_owned()),
        false => Ok(()),
    }
}

fn association(section: &BTreeMap<&str, &str>) -> Result<Association, String> {
    let field = |name: &str| section.get(name).copied().ok_or(format!("`{name}` is missing"));
    let spi = field("spi")?;
    let spi = match spi.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => spi.parse(),
    };
    let spi = spi.ok().filter(|spi| *spi >= 256).ok_or("`spi` is a number from 256 to 0xffffffff")?;
    let key = |length| bytes("key", field("key")?, length);
    let combined = "aes-128-cbc-hmac-sha1";
    let cipher = match field("cipher")? {
        "aes-128-gcm" => EspCipher::aes_128_gcm(&array(key(20)?)),
        "aes-256-gcm" => EspCipher::aes_256_gcm(&array(key(36)?)),
        name if name == combined => {
            let integrity = bytes("integrity", field("integrity")?, 20)?;
            EspCipher::aes_128_cbc_hmac_sha1(&array([key(16)?, integrity].concat()))
        }
        _ => return Err(format!("`cipher` is aes-128-gcm, aes-256-gcm or {combined}")),
    };
    if section.contains_key("integrity") && field("cipher")? != combined {
        return Err("`integrity` has no effect: GCM needs no second key".to_owned());
    }
    Ok((spi, cipher))
}

/// Bytes from hexadecimal digits, exactly as many as needed.
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

    const SOUND: &str = "# made with: openssl rand -hex 20\n[out]\nspi = \"0x1001\"\ncipher = \"aes-128-gcm\"\nkey = \"00112233445566778899aabbccddeeff01020304\"\n\n[in]\nspi = \"4098\"\ncipher = \"aes-128-cbc-hmac-sha1\"\nkey = \"00112233445566778899aabbccddeeff\"\nintegrity = \"000102030405060708090a0b0c0d0e0f10111213\"\n";

    #[test]
    fn a_file_of_keys_has_two_directions() {
        let [out, back] = parse_keys(SOUND).unwrap();
        assert_eq!((out.0, back.0), (0x1001, 4098));
        assert_eq!(format!("{:?}", out.1), "AES-128-GCM (secret)");
    }

    /// Whatever is wrong, no message shows a key.
    #[test]
    fn mistakes_are_told_without_keys() {
        for (from, to, message) in [
            ("[in]", "[on]", "line 7: neither [out], [in] nor a key"),
            ("spi = \"4098\"", "spi = \"255\"", "[in]: `spi` is a number from 256 to 0xffffffff"),
            ("aes-128-gcm", "des", "[out]: `cipher` is aes-128-gcm, aes-256-gcm or aes-128-cbc-hmac-sha1"),
            (
                "aes-128-gcm",
                "aes-256-gcm",
                "[out]: `key` has 72 hexadecimal digits, the last 8 of them the salt",
            ),
            ("integrity =", "integrety =", "line 11: allowed are spi, cipher, key, integrity"),
            ("[out]\n", "", "line 2: before it comes [out] or [in]"),
            ("key = \"0011", "key = \"0011\"\nkey = \"0011", "line 6: `key` is there already"),
            (
                "key = \"00112233445566778899aabbccddeeff01020304\"",
                "key = 00112233445566778899aabbccddeeff",
                "line 5: a value stands in quotation marks",
            ),
            ("aes-128-cbc-hmac-sha1", "aes-128-gcm", "[in]: `key` has 40 hexadecimal digits"),
            (
                "aes-128-cbc-hmac-sha1\"\nkey = \"00112233445566778899aabbccddeeff\"\nintegrity = \"000102030405060708090a0b0c0d0e0f10111213\"",
                "aes-128-gcm\"\nkey = \"00112233445566778899AABBCCDDEEFF01020304\"",
                "[out] and [in] have the same key: each direction needs its own",
            ),
        ] {
            let problem = parse_keys(&SOUND.replacen(from, to, 1)).unwrap_err();
            assert!(problem.contains(message), "{to}: {problem}");
            assert!(!problem.contains("33445566"), "{problem}");
        }
    }
}
