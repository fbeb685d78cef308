//! Makes foreign text visible: characters that would control a terminal are escaped.

/// Whether a terminal acts on a character, or reorders text because of it. Line ends and tabs do not count.
fn is_control(c: char) -> bool {
    let bidirectional = ['\u{61c}', '\u{200e}', '\u{200f}'].contains(&c)
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c);
    let separator = ['\u{2028}', '\u{2029}'].contains(&c);
    (c.is_control() && !['\n', '\t'].contains(&c)) || bidirectional || separator
}

/// `text` with characters that control a terminal or the direction of text written as `\u001b`, which is also how JSON
/// writes them.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_control(c) {
            shown += &format!("\\u{:04x}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    shown
}

/// As [`visible`], but colours stay: sequences `ESC [ … m` that start or end bold, dim or coloured text.
#[must_use]
pub fn visible_in_colour(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut shown = visible(parts.next().unwrap_or_default());
    for part in parts {
        let codes = part.split_once('m').filter(|(codes, _)| is_colour(codes));
        shown += &match codes {
            Some((codes, rest)) => format!("\u{1b}[{codes}m{}", visible(rest)),
            None => visible(&format!("\u{1b}[{part}")),
        };
    }
    shown
}

/// Whether the codes only change colours or weight: `0`, `1`, `2`, `33`, `1;94`, `38;5;12` (reset, bold, dim,
/// underlined, colours of letters).
fn is_colour(codes: &str) -> bool {
    let codes: Vec<&str> = codes.split(';').collect();
    match codes.as_slice() {
        ["38", "5", number] => number.parse::<u8>().is_ok(),
        codes => codes.iter().all(|code| matches!(code.parse::<u8>(), Ok(0..=2 | 4 | 30..=37 | 90..=97))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_controls_a_terminal_is_shown_instead() {
        let evil = "a\u{1b}]0;title\u{7}b\u{1b}[2Jc\u{202e}d\r\u{9b}31m\te\nf";
        let shown = "a\\u001b]0;title\\u0007b\\u001b[2Jc\\u202ed\\u000d\\u009b31m\te\nf";
        assert_eq!(visible(evil), shown);
        assert_eq!(visible_in_colour(evil), shown);
        let ours = "\u{1b}[1m\u{1b}[38;5;12mmean\u{1b}[0m 3\u{202f}us × –";
        assert_eq!(visible_in_colour(ours), ours);
        let hidden = "\u{1b}[8mconcealed\u{1b}[0m\u{1b}[m";
        assert_eq!(visible_in_colour(hidden), "\\u001b[8mconcealed\u{1b}[0m\\u001b[m");
    }
}
