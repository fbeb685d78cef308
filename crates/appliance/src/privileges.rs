//! Privileges of a router: opening devices needs them, forwarding does not.

/// Gives up all capabilities of the calling thread permanently, including those that a program it starts would get;
/// threads that it starts later have none either. Call it once devices are open and before other threads exist.
///
/// # Errors
/// The system's error, if it refuses.
#[cfg(target_os = "linux")]
pub fn give_up_privileges() -> std::io::Result<()> {
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};
    let none = CapabilitySet::empty();
    set_no_new_privs(true)?;
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    Ok(())
}

/// Does nothing: other systems have no capabilities to give up.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn give_up_privileges() -> std::io::Result<()> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// On a thread of its own: capabilities belong to threads.
    #[test]
    fn no_capability_is_left_and_a_child_gets_none() {
        let lines = |status: String| -> Vec<String> {
            status
                .lines()
                .filter(|line| line.starts_with("Cap") && !line.starts_with("CapBnd"))
                .map(str::to_owned)
                .collect()
        };
        let (own, child) = std::thread::spawn(move || {
            give_up_privileges().expect("everybody may give up what they have");
            let own = std::fs::read_to_string("/proc/thread-self/status").expect("readable");
            let child = std::process::Command::new("cat").arg("/proc/self/status").output().expect("it runs");
            (own, String::from_utf8_lossy(&child.stdout).into_owned())
        })
        .join()
        .expect("no panic");
        assert!(own.contains("NoNewPrivs:\t1"), "{own}");
        for line in lines(own) {
            assert!(line.ends_with("0000000000000000"), "{line}");
        }
        assert!(child.contains("NoNewPrivs:\t1"), "{child}");
    }
}
