//! Prefixes of addresses.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// An address prefix. Bits beyond its length are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IpPrefix {
    address: IpAddr,
    length: u8,
}

impl IpPrefix {
    /// The prefix of this length that contains an address, unless the length exceeds that of addresses.
    #[must_use]
    pub fn around(address: IpAddr, length: u8) -> Option<IpPrefix> {
        let address = match address {
            IpAddr::V4(four) => {
                let mask = u32::MAX.checked_shl(32_u32.checked_sub(length.into())?).unwrap_or(0);
                IpAddr::V4((u32::from(four) & mask).into())
            }
            IpAddr::V6(six) => {
                let mask = u128::MAX.checked_shl(128_u32.checked_sub(length.into())?).unwrap_or(0);
                IpAddr::V6((u128::from(six) & mask).into())
            }
        };
        Some(IpPrefix { address, length })
    }

    /// The first address.
    #[must_use]
    pub const fn address(&self) -> IpAddr {
        self.address
    }

    /// The number of fixed bits.
    #[must_use]
    pub const fn length(&self) -> u8 {
        self.length
    }

    /// Whether it contains an address.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.address.is_ipv4() && IpPrefix::around(address, self.length) == Some(*self)
    }

    /// The prefix of a family whose addresses have this many bits, from the high bits of a word.
    pub(crate) fn of_key(key: u128, length: u8, width: u8) -> Option<IpPrefix> {
        let address =
            if width == 32 { IpAddr::V4(((key >> 96) as u32).into()) } else { IpAddr::V6(key.into()) };
        IpPrefix::around(address, length)
    }

    /// The address in the high bits of a word.
    pub(crate) fn key(&self) -> u128 {
        match self.address {
            IpAddr::V4(four) => u128::from(u32::from(four)) << 96,
            IpAddr::V6(six) => six.into(),
        }
    }
}

impl fmt::Display for IpPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

impl FromStr for IpPrefix {
    type Err = String;

    fn from_str(text: &str) -> Result<IpPrefix, String> {
        const FORM: &str =
            "a prefix is an address, a slash and a length, such as 198.51.100.0/24 or 2001:db8::/32";
        let (address, length) = text.split_once('/').ok_or(FORM)?;
        let address: IpAddr = address.parse().map_err(|_| FORM)?;
        let digits = !length.is_empty() && length.bytes().all(|digit| digit.is_ascii_digit());
        let length: u8 = length.parse().ok().filter(|_| digits).ok_or(FORM)?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let prefix = IpPrefix::around(address, length)
            .ok_or_else(|| format!("a prefix of {address} has at most {most} bits"))?;
        match prefix.address == address {
            true => Ok(prefix),
            false => Err(format!("bits beyond the length must be zero: did you mean {prefix}?")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_read_as_they_are_written() {
        for text in ["0.0.0.0/0", "198.51.100.0/24", "192.0.2.1/32", "::/0", "2001:db8::/32", "::1/128"] {
            assert_eq!(text.parse::<IpPrefix>().unwrap().to_string(), text);
        }
        for wrong in ["", "10.0.0.0", "10.0.0.0/33", "::/129", "10.0.0.0/+8", "10.0.0.0/", "10.0.0/8"] {
            assert!(wrong.parse::<IpPrefix>().is_err(), "{wrong}");
        }
        let wrong = "10.1.2.3/16".parse::<IpPrefix>().unwrap_err();
        assert!(wrong.ends_with("did you mean 10.1.0.0/16?"), "{wrong}");
    }

    #[test]
    fn a_prefix_contains_its_addresses_only() {
        let prefix: IpPrefix = "10.1.0.0/16".parse().unwrap();
        assert!(prefix.contains("10.1.255.255".parse().unwrap()));
        assert!(
            !prefix.contains("10.2.0.0".parse().unwrap()) && !prefix.contains("::a01:0".parse().unwrap())
        );
    }
}
