//! The privileges that a lab needs, and how to get them without being root.

use std::fs;
use std::io;

use crate::space::Space;
use crate::system;

/// Acquires the right to create network namespaces: root has it; others get it in a user namespace of their own,
/// where the system allows that. Must be called while the process has one thread.
///
/// # Errors
/// What is missing.
pub fn take_rights() -> Result<(), String> {
    let (user, group) = system::user_and_group();
    if user != 0 {
        own_users(user, group).map_err(|cause| {
            format!(
                "a lab needs root, or user namespaces, which this system refuses ({cause}): run it with sudo"
            )
        })?;
    }
    Space::new().map(drop).map_err(|cause| {
        format!("a lab makes network namespaces, which needs CAP_SYS_ADMIN and CAP_NET_ADMIN: {cause}")
    })
}

/// Becomes root of a new user namespace.
fn own_users(user: u32, group: u32) -> io::Result<()> {
    system::leave_users()?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

/// The kernel's name of a congestion law.
pub(crate) fn kernel_name(law: &str) -> &str {
    if law == "newreno" { "reno" } else { law }
}

/// The congestion controls that the kernel has loaded.
#[must_use]
pub fn congestion_controls() -> Vec<String> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// Whether the kernel has a congestion control, which it may load first.
pub(crate) fn has_congestion_control(name: &str) -> bool {
    let tried = || Space::new()?.within(|| system::set_congestion_control(&system::tcp_socket()?, name));
    tried().is_ok()
}
