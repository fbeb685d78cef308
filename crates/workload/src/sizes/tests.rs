//! Means compared with the published table of the distributions, draws with the distribution, texts with messages.

use super::*;
use weft_core::Purpose;

/// Name, number of points, mean in bytes, share of flows and of bytes in flows of at most 100 kB.
const PUBLISHED: &[(&str, usize, f64, f64, f64)] = &[
    ("web-search", 12, 1711250.0, 0.5417, 0.01023),
    ("web-search-pias", 12, 1665831.0, 0.5436, 0.01051),
    ("web-search-tlt", 12, 1710004.0, 0.5429, 0.00961),
    ("data-mining", 13, 12658199.0, 0.8231, 0.00020),
    ("data-mining-pfabric", 9, 7470236.0, 0.8237, 0.00045),
    ("data-mining-tlt", 7, 7487884.0, 0.8218, 0.00070),
    ("facebook-web", 13, 66121.0, 0.8089, 0.10182),
    ("facebook-cache", 23, 712574.0, 0.5200, 0.00319),
    ("facebook-hadoop", 20, 120421.0, 0.8850, 0.07906),
    ("facebook-hadoop-fine", 461, 121849.0, 0.8870, 0.08551),
    ("facebook-unitless", 17, 342.0, 1.0000, 0.98393),
    ("ali-storage", 9, 40870.0, 0.9535, 0.24304),
    ("google-rpc", 843, 2892.0, 0.9959, 0.42025),
    ("solar", 8, 39424.0, 0.9588, 0.81061),
    ("imc10", 12, 195357.0, 0.8236, 0.01717),
];

fn curve(name: &str) -> Curve {
    BUNDLED.iter().find(|bundled| bundled.name == name).expect(name).curve()
}

/// The distribution of the flows of at most `limit` bytes: their share, and their share of the bytes.
fn up_to(curve: &Curve, limit: f64) -> (f64, f64) {
    let (mut flows, mut bytes) = (0.0, 0.0);
    for pair in curve.points().windows(2) {
        let ((least, low), (most, high)) = (pair[0], pair[1]);
        let part = if most <= limit { 1.0 } else { ((limit - least) / (most - least)).clamp(0.0, 1.0) };
        flows += part * (high - low);
        bytes += part * (high - low) * (least + part * (most - least) / 2.0);
    }
    (flows, bytes / curve.mean())
}

#[test]
fn every_bundled_distribution_has_its_published_mean_and_shares() {
    assert_eq!(BUNDLED.len(), PUBLISHED.len());
    for &(name, points, mean, flows, bytes) in PUBLISHED {
        let curve = curve(name);
        assert_eq!(curve.points().len(), points, "{name}");
        assert!((curve.mean() - mean).abs() <= 0.5 + 1e-6 * mean, "{name}: {} {mean}", curve.mean());
        let (f, b) = up_to(&curve, 1e5);
        assert!((f - flows).abs() < 6e-5 && (b - bytes).abs() < 6e-5, "{name}: {f} {flows} {b} {bytes}");
    }
}

#[test]
fn draws_have_the_mean_of_the_distribution() {
    for name in ["facebook-web", "web-search-pias", "facebook-hadoop-fine", "google-rpc", "solar"] {
        let sizes = SizeDistribution::Curve(curve(name));
        assert_mean(&sizes, sizes.mean(), |size| size.0 as f64);
    }
    assert_mean(&SizeDistribution::Exponential(5e4), 5e4, |size| size.0 as f64);
    let pareto = SizeDistribution::Pareto { least: 1e4, shape: 3.0 };
    assert_mean(&pareto, 1.5e4, |size| size.0 as f64);
}

/// The mean of 200 000 draws within 4 standard errors, and half a byte for rounding.
fn assert_mean(sizes: &SizeDistribution, mean: f64, value: impl Fn(Bytes) -> f64) {
    let mut random = Random::new(5, Purpose::Test, 0);
    let draws: Vec<f64> = (0..200_000).map(|_| value(sizes.draw(&mut random))).collect();
    let n = draws.len() as f64;
    let found = draws.iter().sum::<f64>() / n;
    let variance = draws.iter().map(|x| (x - found).powi(2)).sum::<f64>() / n;
    assert!((found - mean).abs() < 4.0 * (variance / n).sqrt() + 0.5, "{sizes:?}: {found} {mean}");
}

#[test]
fn mean_packets_is_that_of_the_draws() {
    let mss = Bytes(1460);
    let pareto = SizeDistribution::Pareto { least: 1e3, shape: 3.0 };
    let curves = ["facebook-web", "web-search", "data-mining-tlt", "google-rpc"]
        .map(|name| SizeDistribution::Curve(curve(name)));
    for sizes in curves.into_iter().chain([
        SizeDistribution::Exponential(3e3),
        pareto,
        SizeDistribution::Fixed(Bytes(1461)),
    ]) {
        assert_mean(&sizes, sizes.mean_packets(mss), |size| size.0.div_ceil(mss.0) as f64);
    }
}

#[test]
fn wire_bytes_of_whole_packets_are_exact() {
    // all sizes are multiples of 1460 bytes at the points of the first piece: an atom of one packet
    let atom = Curve::new(vec![(1460.0, 0.0), (1460.0, 1.0)]).unwrap();
    let framing = Framing { mss: Bytes(1460), overhead: Bytes(78), least: Bytes(84) };
    assert_eq!(SizeDistribution::Curve(atom).mean_wire(framing), 1538.0);
    let fixed = |size| SizeDistribution::Fixed(Bytes(size)).mean_wire(framing);
    assert_eq!([fixed(1), fixed(6), fixed(7), fixed(1460)], [84.0, 84.0, 85.0, 1538.0]);
    assert_eq!([fixed(1461), fixed(1467)], [1538.0 + 84.0, 1538.0 + 85.0]);
}

#[test]
fn interpolation_atoms_and_gaps() {
    let curve =
        Curve::new(vec![(100.0, 0.1), (100.0, 0.3), (200.0, 0.5), (400.0, 0.5), (800.0, 1.0)]).unwrap();
    for (share, size) in
        [(0.0, 100.0), (0.05, 100.0), (0.2, 100.0), (0.4, 150.0), (0.5, 200.0), (0.75, 600.0)]
    {
        assert!((curve.at(share) - size).abs() < 1e-9, "{share}: {}", curve.at(share));
    }
    assert!((curve.mean() - (0.3 * 100.0 + 0.2 * 150.0 + 0.5 * 600.0)).abs() < 1e-9);
    // between 200 and 400 bytes there are no flows: they begin just above 400
    assert!(curve.at(0.5 + 1e-9) > 399.9);
}

/// The search begins at a step of the share; atoms, gaps and the ends of steps must not move.
#[test]
fn sizes_lie_between_the_points_around_their_share() {
    let odd =
        Curve::new(vec![(1.0, 0.25), (5.0, 0.25), (5.0, 0.5), (9.0, 0.5 + 1e-12), (20.0, 1.0)]).unwrap();
    for curve in [odd, curve("google-rpc"), curve("web-search")] {
        let points = curve.points();
        let steps = (0..=4_096).map(|n| f64::from(n) / 4_096.0);
        for share in steps.chain(points.iter().map(|point| point.1)) {
            let size = curve.at(share);
            let above = points.partition_point(|point| point.1 < share);
            assert!(size <= points[above].0, "{share}: {size}");
            assert!(above == 0 || size >= points[above - 1].0, "{share}: {size}");
        }
    }
}

#[test]
fn a_draw_is_at_least_one_byte() {
    let tiny = SizeDistribution::Curve(Curve::new(vec![(0.0, 0.0), (1.0, 1.0)]).unwrap());
    let mut random = Random::new(1, Purpose::Test, 0);
    assert!((0..100).all(|_| tiny.draw(&mut random) == Bytes(1)));
}

fn read(text: &str) -> Result<SizeDistribution, String> {
    SizeDistribution::read(text, Path::new(""))
}

#[test]
fn what_a_scenario_may_say() {
    assert_eq!(read("64 kB"), Ok(SizeDistribution::Fixed(Bytes(64_000))));
    assert_eq!(read("exponential(1 MB)"), Ok(SizeDistribution::Exponential(1e6)));
    assert_eq!(read("pareto(10 kB, 1.5)"), Ok(SizeDistribution::Pareto { least: 1e4, shape: 1.5 }));
    assert_eq!(read("uniform(1 kB, 3 kB)").unwrap().mean(), 2000.0);
    assert_eq!(read("web-search").unwrap(), SizeDistribution::Curve(curve("web-search")));
}

#[test]
fn what_it_may_not_say_is_explained() {
    let message = |text: &str| read(text).unwrap_err();
    assert!(message("web-serch").contains("did you mean `web-search`?"));
    assert!(message("zebra").contains("or one of web-search, "));
    assert!(message("64 KB").contains("kB (1000)"));
    assert!(message("64000").contains("bare number"));
    assert!(message("0 B").contains("at least one byte"));
    assert!(message("pareto(1 kB, 0.9)").contains("above 1"));
    assert!(message("uniform(3 kB, 1 kB)").contains("smaller size comes first"));
    assert!(message("normal(3 kB)").contains("is not a known formula"));
    assert!(message("missing.csv").starts_with("missing.csv: "));
    assert!(message("").contains("there is no size distribution called"));
}

#[test]
fn files_of_points_are_checked_line_by_line() {
    let message = |text: &str| Curve::read(text).unwrap_err();
    assert!(message("# c\n1,0\n2;0.5;7").contains("line 3: found `2;0.5;7`"));
    assert!(message("# c\n1,0.5\n2,0.4").contains("line 3"));
    assert!(message("2,0.5\n1,1").contains("line 2"));
    let all = message("a,b\n2,0.5\n1,2\n\n3,0.1");
    assert!(all.contains("line 3: needs") && all.contains("line 5: sizes and shares"), "{all}");
    assert!(message("1,0.5\n2,0.9").contains("it must be 1"));
    assert!(message("1,0.5\n2,NaN").contains("line 2"));
    assert_eq!(
        Curve::new(vec![(1.0, 0.5), (2.0, 0.4)]).unwrap_err(),
        "point 2: sizes and shares must not decrease"
    );
    assert!(message(&"1;1;1\n".repeat(30)).contains("20 more lines"));
    assert!(message("").contains("no points"));
    assert!(message("0,1").contains("largest size is 0"));
    assert_eq!(Curve::read("size_bytes,cdf\n10,0\n20 1\n").unwrap().points(), [(10.0, 0.0), (20.0, 1.0)]);
}
