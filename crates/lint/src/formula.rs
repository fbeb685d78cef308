//! The formulas behind the rules, each with its source. Bytes are real numbers here, because thresholds are shares.

use weft_core::{Bytes, Rate, Span};
use weft_device_config::model::{Metres, Threshold};
use weft_switch::pause::headroom::response_quanta;

/// A pause frame on the wire: 64 bytes, preamble and gap.
const PAUSE_FRAME: f64 = 84.0;
/// Ethernet header and checksum.
const FRAMING: f64 = 18.0;
/// Propagation in fibre, seconds per metre.
const PER_METRE: f64 = 5e-9;

/// Bytes that may still arrive after XOFF: a frame of ours before the pause frame, the pause frame, a round trip on the
/// cable, the response time of the sender, and one of its frames. The simulated switch uses the same formula and
/// response times. Transceiver delays are not included.
pub(crate) fn headroom(rate: Rate, cable: Metres, mtu: Bytes) -> f64 {
    let flight = rate.0 as f64 / 8.0 * 2.0 * cable.0 * PER_METRE;
    2.0 * (mtu.0 as f64 + FRAMING) + PAUSE_FRAME + f64::from(response_quanta(rate)) * 64.0 + flight
}

/// Length of one of `sharing` equally congested queues under dynamic thresholds (Choudhury and Hahne 1998):
/// alpha B / (1 + n alpha).
pub(crate) fn share(alpha: f64, pool: Bytes, sharing: usize) -> f64 {
    alpha * pool.0 as f64 / (1.0 + sharing as f64 * alpha)
}

/// Length of an egress queue when the first of `inputs` ingress ports that feed it equally reaches XOFF.
pub(crate) fn queue_at_xoff(threshold: Threshold, pool: Bytes, inputs: usize) -> f64 {
    match threshold {
        Threshold::Static(limit) => limit.0 as f64 * inputs as f64,
        Threshold::Dynamic(alpha) => inputs as f64 * share(alpha, pool, inputs),
    }
}

/// A size for "or more": rounded up to three digits, so that whoever follows the advice has enough.
pub(crate) fn at_least(bytes: f64) -> String {
    size(three(bytes, f64::ceil))
}

/// A size for "below": rounded down to three digits.
pub(crate) fn at_most(bytes: f64) -> String {
    size(three(bytes, f64::floor))
}

/// Whole bytes rounded to three digits.
fn three(bytes: f64, round: fn(f64) -> f64) -> f64 {
    let step = 10_f64.powf(bytes.max(1.0).log10().floor() - 2.0).max(1.0);
    round(bytes / step) * step
}

/// The queue at which XOFF is reached by the smallest incast, of two ports or the only other one, and by the largest, of all
/// `others`; in words too.
pub(crate) fn incasts(threshold: Threshold, pool: Bytes, others: usize) -> (f64, f64, String) {
    let at = |inputs| queue_at_xoff(threshold, pool, inputs);
    let (least, most) = (at(others.min(2)), at(others));
    let ports = if others == 1 { "1 port" } else { "2 ports" };
    let larger = if others > 2 { format!(", {} with {others}", size(most)) } else { String::new() };
    (least, most, format!("{} with {ports} sending to it{larger}", size(least)))
}

/// The highest marking threshold that is reached before XOFF under every load of `ports` egress queues and `classes`
/// lossless classes: one ingress port may feed them all (DCQCN, SIGCOMM'15, section 4). Static: T / n. Dynamic: alpha B
/// / (n (1 + c alpha)).
pub(crate) fn marking_before_xoff(
    threshold: Threshold,
    pool: Bytes,
    (ports, classes): (usize, usize),
) -> f64 {
    match threshold {
        Threshold::Static(limit) => limit.0 as f64 / ports as f64,
        Threshold::Dynamic(alpha) => alpha * pool.0 as f64 / (ports as f64 * (1.0 + classes as f64 * alpha)),
    }
}

/// The bandwidth-delay product.
pub(crate) fn bandwidth_delay(rate: Rate, rtt: Span) -> f64 {
    rate.0 as f64 / 8.0 * rtt.seconds()
}

/// A size with three significant digits.
pub(crate) fn size(bytes: f64) -> String {
    match bytes {
        small if small < 1e3 => format!("{} B", small.round()),
        more => three_digits(more / 1e3, ["kB", "MB", "GB"]),
    }
}

/// A time with three significant digits.
pub(crate) fn time(span: Span) -> String {
    match span.seconds() * 1e9 {
        short if short < 1e3 => format!("{} ns", short.round()),
        more => three_digits(more / 1e3, ["us", "ms", "s"]),
    }
}

/// A number with three significant digits, in one of three units, each a thousand times the previous one.
fn three_digits(number: f64, units: [&str; 3]) -> String {
    let (value, unit) = match number {
        first if first < 1e3 => (first, units[0]),
        second if second < 1e6 => (second / 1e3, units[1]),
        third => (third / 1e6, units[2]),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_have_three_digits() {
        let sizes = [999.4, 1_000.0, 12_345.0, 2.5e6, 3e9].map(size);
        assert_eq!(sizes, ["999 B", "1.00 kB", "12.3 kB", "2.50 MB", "3.00 GB"]);
        let times = [Span(62_215_040), Span(480_000), Span::from_ms(200), Span::from_ms(2_500)].map(time);
        assert_eq!(times, ["62.2 us", "480 ns", "200 ms", "2.50 s"]);
    }

    /// SIGCOMM'15, section 4: 32 ports of 40 Gb/s, 12 MB, 8 classes, 22.4 kB of headroom each.
    const POOL: Bytes = Bytes(12_000_000 - 8 * 32 * 22_400);

    #[test]
    fn the_published_thresholds_of_dcqcn() {
        let fixed = POOL.0 as f64 / (8.0 * 32.0);
        assert!((fixed - 24_475.0).abs() < 1.0);
        let limit = Threshold::Static(Bytes(fixed as u64));
        assert!((marking_before_xoff(limit, POOL, (32, 8)) - 765.0).abs() < 1.0);
        // The paper's beta is 8 times our alpha, for it divides among 8 classes.
        let dynamic = marking_before_xoff(Threshold::Dynamic(8.0 / 8.0), POOL, (32, 8));
        assert!((dynamic - 21_755.0).abs() < 1.0, "{dynamic}");
    }

    #[test]
    fn dynamic_thresholds_share_as_published() {
        for (alpha, queues, megabytes) in [(1.0, 1, 16.0), (1.0, 4, 6.4), (8.0, 1, 28.4), (8.0, 14, 2.265)] {
            let one = share(alpha, Bytes(32_000_000), queues) / 1e6;
            assert!((one - megabytes).abs() < 0.05, "{alpha} {queues}: {one}");
        }
    }

    #[test]
    fn more_inputs_leave_marking_more_room() {
        let at = |inputs| queue_at_xoff(Threshold::Dynamic(0.125), Bytes(12_000_000), inputs);
        assert!((at(1) - 1_333_333.0).abs() < 1.0 && (at(8) - 6_000_000.0).abs() < 1.0);
        assert!((queue_at_xoff(Threshold::Static(Bytes(1_000)), POOL, 3) - 3_000.0).abs() < 1e-9);
    }

    #[test]
    fn headroom_grows_with_the_cable_by_two_flights() {
        let near = headroom(Rate::from_gbps(100), Metres(5.0), Bytes(9_100));
        assert!((near - (18_236.0 + 84.0 + 25_216.0 + 625.0)).abs() < 1e-6);
        let far = headroom(Rate::from_gbps(100), Metres(305.0), Bytes(9_100));
        assert!((far - near - 37_500.0).abs() < 1e-6);
    }

    #[test]
    fn sizes_have_three_digits() {
        let shown = [17.0, 999.0, 1_234.0, 56_780.0, 1_048_576.0, 2.5e10].map(size);
        assert_eq!(shown, ["17 B", "999 B", "1.23 kB", "56.8 kB", "1.05 MB", "25.0 GB"]);
    }
}
