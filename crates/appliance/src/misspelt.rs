//! Words of `weft router` that are neither a command nor a file.

use weft_core::units::did_you_mean;

/// The commands of `weft router`, and the parts of a router that `weft router show` can show separately.
const COMMANDS: [&str; 3] = ["plan", "simulate", "show"];
const PARTS: [&str; 4] = ["workers", "routes", "ports", "queues"];

/// The message about a word that should be a command; `None` if it may be the name of a file, unless `surely`.
#[must_use]
pub fn misspelt_command(word: &str, surely: bool) -> Option<String> {
    misspelt((word, surely), "`weft router` has no command", &COMMANDS, "or a file")
}

/// The message about a word that should name a part; `None` if it may be the name of a file, unless `surely`.
#[must_use]
pub fn misspelt_part(word: &str, surely: bool) -> Option<String> {
    misspelt((word, surely), "a router shows no", &PARTS, "or nothing but a file")
}

fn misspelt((word, surely): (&str, bool), lacks: &str, known: &[&str], otherwise: &str) -> Option<String> {
    let meant = did_you_mean(word, known.iter().copied());
    let message = format!("{lacks} `{word}`{meant}\nallowed: {}, {otherwise}", known.join(", "));
    (surely || !meant.is_empty()).then_some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_word_is_told_from_a_file() {
        let said = misspelt_part("porst", false).expect("no file has such a name");
        assert!(
            said.contains("did you mean `ports`?") && said.contains("allowed: workers, routes,"),
            "{said}"
        );
        assert_eq!(misspelt_part("router.toml", false), None);
        assert!(misspelt_part("everything", true).is_some(), "a file follows");
        for (word, meant) in [("plam", "plan"), ("shw", "show"), ("simluate", "simulate")] {
            let said = misspelt_command(word, false).expect("no file has such a name");
            assert!(said.contains(&format!("did you mean `{meant}`?")), "{said}");
        }
        assert_eq!(misspelt_command("edge.toml", false), None);
    }
}
