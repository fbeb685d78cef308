//! The table of claims on a page: one line for each measured part. Depends on the words of findings; must not depend
//! on runs.

use std::fmt::Write as _;

use crate::finding::{ClaimFindings, ClaimStatus, verdict};
use crate::score::double_standards;
use crate::source::{PublishedClaim, PublishedSource};
use crate::words;
use weft_draw::text::escaped;

/// The table, as HTML, because cells of a claim span the lines of its parts; one for each engine.
pub(crate) fn table(source: &PublishedSource, findings: &ClaimFindings) -> String {
    let head = ["claim", "statement", "published", "measured", "band", "verdict"];
    let head: String = head.iter().map(|name| format!("<th>{name}</th>")).collect();
    let parts = source.by_engine();
    let mut text = String::new();
    for (engine, claims) in &parts {
        if parts.len() > 1 {
            let name = engine.map_or("packets".to_owned(), |name| format!("the engine `{name}`"));
            let _ = write!(text, "### With {name}\n\n");
        }
        let _ = writeln!(
            text,
            "<div class=\"table-wrapper\"><table class=\"claims\"><thead><tr>{head}</tr></thead>"
        );
        for claim in claims {
            let _ = writeln!(text, "<tbody>{}</tbody>", rows(source, claim, findings));
        }
        text += "</table></div>\n";
        text += if parts.len() > 1 { "\n" } else { "" };
    }
    text
}

/// The rows of a claim, on one line of the file.
fn rows(source: &PublishedSource, claim: &PublishedClaim, findings: &ClaimFindings) -> String {
    let lines = lines(claim, findings);
    let span = match lines.len() {
        1 => String::new(),
        all => format!(" rowspan=\"{all}\""),
    };
    let whole = |text: &str| format!("<td{span}>{text}</td>");
    let id = format!("<strong>{}</strong><br>{}", cell(claim.id.get_ref()), cell(&claim.place));
    let before = [id, cell(&claim.says), cell(&claim.published)].map(|text| whole(&text)).concat();
    let after = whole(&told(source, claim, findings));
    let row = |(number, [measured, band]): (usize, &[String; 2])| {
        let own = format!("<td>{}</td><td>{}</td>", cell(measured), cell(band));
        if number == 0 { format!("<tr>{before}{own}{after}</tr>") } else { format!("<tr>{own}</tr>") }
    };
    lines.iter().enumerate().map(row).collect()
}

/// What was measured and its band: a line for each part, and one for each with the other choice.
fn lines(claim: &PublishedClaim, findings: &ClaimFindings) -> Vec<[String; 2]> {
    let finding = findings.claim(claim);
    let mut measured = words::measured(claim, finding).into_iter();
    let with =
        |(band, lies): (String, String)| if lies.is_empty() { band } else { format!("{band}; {lies}") };
    let bands = words::bands(claim, finding).into_iter().map(with);
    let mut lines: Vec<[String; 2]> = bands.map(|band| [measured.next().unwrap_or_default(), band]).collect();
    let bands: Vec<String> = claim.parts.iter().map(crate::source::Part::band).collect();
    lines.extend(words::otherwise(claim, findings).into_iter().zip(bands).map(|(told, band)| [told, band]));
    if lines.is_empty() { vec![Default::default()] } else { lines }
}

/// The verdict, with a note if a claim that holds fails under an assumption that excuses another.
fn told(source: &PublishedSource, claim: &PublishedClaim, findings: &ClaimFindings) -> String {
    let verdict = verdict(claim, findings);
    let words = cell(&verdict.words());
    let class = match verdict {
        ClaimStatus::Reproduced => "reproduced",
        ClaimStatus::NotReproduced => "refuted",
        ClaimStatus::NotComparable(_) | ClaimStatus::NotRun(_) | ClaimStatus::NotMeasured(_) => return words,
    };
    let mut text = format!("<strong class=\"{class}\">{words}</strong>");
    for one in double_standards(source, claim, findings) {
        let _ = write!(text, "; {}", cell(&one.words()));
    }
    text
}

/// A text without markup except `code`.
fn cell(text: &str) -> String {
    let plain = escaped(&text.replace('\n', " "));
    let pieces = plain.split('`').enumerate();
    pieces
        .map(|(n, piece)| if n % 2 == 1 { format!("<code>{piece}</code>") } else { piece.to_owned() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{ClaimFinding, SeedValues};

    #[test]
    fn each_part_has_a_line_and_a_value_that_is_certain_no_interval() {
        let source = r#"
title = ""
reference = ""
about = ""
[[claim]]
id = "C1"
place = "4"
says = "`a` < b"
part = [{ measure = "fct.mean(a)", exactly = 0 }, { measure = "fct.mean(b)", above = 1 }]
otherwise = { open = "", choice = "half send", set = [] }
"#;
        let source: PublishedSource = toml::from_str(source).unwrap();
        let values =
            |values: [f64; 2]| SeedValues { seeds: vec![1, 2], values: values.to_vec(), ratio: false };
        let found = |parts| [("C1".to_owned(), ClaimFinding { parts, ..ClaimFinding::default() })].into();
        let findings = ClaimFindings {
            claims: found(vec![values([0.0, 0.0]), values([2.0, 2.1])]),
            others: found(vec![values([0.5, 0.5]), values([0.5, 0.5])]),
            ..ClaimFindings::default()
        };
        let told = table(&source, &findings);
        assert!(told.contains("<td rowspan=\"4\"><code>a</code> &lt; b</td>"), "{told}");
        assert!(told.contains("<td>0</td><td>exactly 0"), "two equal seeds have no interval: {told}");
        assert!(told.contains("<td>2.05 (1.41 to 2.69)</td>"), "{told}");
        assert!(told.contains("<tr><td>if half send: 0.500</td><td>above 1</td></tr>"), "{told}");
        assert_eq!(told.matches("<tr>").count(), 5);
    }
}
