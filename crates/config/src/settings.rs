//! Settings of Linux hosts by name, from any kind of file. Must not depend on any particular setting.

pub mod shell;
pub mod sysctl;
pub mod tuned;

/// A setting and the byte at which its line begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinuxSetting {
    /// With dots: `net.ipv4.tcp_ecn`.
    pub name: String,
    /// As it is written, without quotes.
    pub value: String,
    /// Offset of its line.
    pub at: usize,
}

impl LinuxSetting {
    /// Normalises the name: slashes become dots; a leading dash, which tells sysctl to ignore errors, is dropped.
    fn new(name: &str, value: &str, at: usize) -> LinuxSetting {
        let name = name.trim().trim_start_matches('-').replace('/', ".");
        LinuxSetting { name, value: value.trim().to_owned(), at }
    }
}

/// The contents of a file.
#[derive(Clone, Debug, Default)]
pub struct LinuxSettings {
    /// In the order in which they are applied.
    pub settings: Vec<LinuxSetting>,
    /// A description of everything else in the file.
    pub other: Vec<String>,
}
