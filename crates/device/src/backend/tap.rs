//! TAP devices: the router is the other end of an interface that the kernel sees.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

use crate::backend::system::{self, SendFailure};
use crate::backend::{Backend, DeviceLosses, give_back};
use crate::pool::{Frame, FrameBatch, FramePool};

/// A TAP device.
#[derive(Debug)]
pub struct TapDevice {
    device: File,
    port: u16,
    losses: DeviceLosses,
    send_calls: u64,
}

impl TapDevice {
    /// Creates or attaches to the device of this name.
    ///
    /// # Errors
    /// There is no `/dev/net/tun`, no permission, or the name is too long or in use.
    pub fn open(name: &str, port: u16) -> io::Result<TapDevice> {
        let mut options = OpenOptions::new();
        let device = options.read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")?;
        system::attach_tap(&device, name)?;
        Ok(TapDevice { device, port, losses: DeviceLosses::default(), send_calls: 0 })
    }
}

impl Backend for TapDevice {
    fn receive(&mut self, pool: &mut FramePool, batch: &mut FrameBatch) -> io::Result<()> {
        while batch.room() > 0 {
            let Some(buffer) = pool.take() else { return Ok(()) };
            match self.device.read(pool.buffer(buffer)) {
                Ok(length) if length > 0 => {
                    batch.push(Frame { buffer, length: length as u16, port: self.port });
                }
                other => {
                    pool.give(buffer);
                    return match other {
                        Err(error) if !system::is_busy(&error) => Err(error),
                        _ => Ok(()),
                    };
                }
            }
        }
        Ok(())
    }

    fn transmit(&mut self, pool: &mut FramePool, frames: &mut Vec<Frame>) -> io::Result<usize> {
        let (mut lost, mut result) = (0, Ok(()));
        for (n, frame) in frames.iter().enumerate() {
            self.send_calls += 1;
            // A device accepts a frame completely or not at all.
            let Err(error) = self.device.write_all(pool.bytes(*frame)) else { continue };
            lost += 1;
            self.losses.unsent_bytes += u64::from(frame.length);
            match system::send_failure(&error) {
                SendFailure::Busy | SendFailure::Full => {}
                SendFailure::Refused => self.losses.refused += 1,
                // If some have been sent, the next call fails again and reports it.
                SendFailure::Failed if lost == n + 1 => result = Err(error),
                SendFailure::Failed => {}
            }
        }
        give_back(pool, frames);
        result.map(|()| lost)
    }

    fn losses(&mut self) -> DeviceLosses {
        std::mem::take(&mut self.losses)
    }

    fn send_calls(&self) -> u64 {
        self.send_calls
    }

    fn descriptors(&self) -> Vec<RawFd> {
        vec![self.device.as_raw_fd()]
    }
}
