//! Settings of Linux hosts by name, whatever sets them. Must not depend on any particular setting.

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
    /// Where.
    pub at: usize,
}

impl LinuxSetting {
    /// Names have dots or slashes; a dash before one says that errors do not matter.
    fn new(name: &str, value: &str, at: usize) -> LinuxSetting {
        let name = name.trim().trim_start_matches('-').replace('/', ".");
        LinuxSetting { name, value: value.trim().to_owned(), at }
    }
}

/// What stands in a file.
#[derive(Clone, Debug, Default)]
pub struct LinuxSettings {
    /// In the order in which they are applied.
    pub settings: Vec<LinuxSetting>,
    /// A word for each other thing.
    pub other: Vec<String>,
}
