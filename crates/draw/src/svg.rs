//! The parts that all SVG files share: the document, its title, a white background.

use crate::text::escaped;

/// A document of this size around its parts; `font_size` applies to its text.
#[must_use]
pub fn document((width, height): (f64, f64), font_size: u32, title: &str, parts: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"{font_size}\">\n<title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         {parts}</svg>\n",
        escaped(title)
    )
}

/// A text at these coordinates; `attributes` may be empty.
#[must_use]
pub fn text((x, y): (&str, &str), attributes: &str, words: &str) -> String {
    let gap = if attributes.is_empty() { "" } else { " " };
    format!("<text x=\"{x}\" y=\"{y}\"{gap}{attributes}>{}</text>\n", escaped(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_markup() {
        let file = document((10.0, 5.5), 12, "a < b", &text(("1", "2"), "", "<x>"));
        assert!(
            file.contains("viewBox=\"0 0 10 5.5\"") && file.contains("<title>a &lt; b</title>"),
            "{file}"
        );
        assert!(file.ends_with("<text x=\"1\" y=\"2\">&lt;x&gt;</text>\n</svg>\n"), "{file}");
    }
}
