//! The walk on a small table with one field of every kind.

use super::*;
use weft_core::settings::{Amount, Setting as _, Share};
use weft_core::{Bytes, Rate, Span, choice, settings};
use weft_mistake::Sources;
use weft_mistake::node::parse_document;

choice! {
    /// A word.
    pub(crate) enum Word {
        /// The first.
        First = "first",
        /// The second.
        Second = "second",
    }
}

settings! {
    /// A cable.
    pub(crate) struct Cable {
        /// Speed.
        rate: Rate = Rate::from_gbps(10),
        /// Length in time.
        delay: Span = Span::from_ns(500),
    }
}

/// A family with settings, one of them required.
pub(crate) mod greeting {
    pub(crate) trait Greeter {
        fn words(&self) -> u32;
    }
    pub(crate) mod short {
        pub(crate) const SUMMARY: &str = "Says little";
        weft_core::settings! {
            /// Little.
            pub(crate) struct ShortSettings {
                /// How often.
                times: u32 [1, 9] = 1,
            }
        }
        pub(crate) struct Short(u32);
        impl Short {
            pub(crate) fn new(settings: &ShortSettings, _site: ()) -> Short {
                Short(settings.times)
            }
        }
        impl super::Greeter for Short {
            fn words(&self) -> u32 {
                self.0
            }
        }
    }
    pub(crate) mod long {
        pub(crate) const SUMMARY: &str = "Says much";
        weft_core::settings! {
            /// Much.
            pub(crate) struct LongSettings {
                /// To whom.
                name: String,
                /// How loud.
                volume: weft_core::settings::Share = weft_core::settings::Share(0.5),
            }
        }
        pub(crate) struct Long;
        impl Long {
            pub(crate) fn new(_settings: &LongSettings, _site: ()) -> Long {
                Long
            }
        }
        impl super::Greeter for Long {
            fn words(&self) -> u32 {
                100
            }
        }
    }
    weft_core::family! {
        /// All greeters.
        pub(crate) enum AnyGreeter: Greeter;
        /// Which greeter.
        pub(crate) enum GreeterSettings;
        called "greeter" built at ();
        members { "short" => short::Short(ShortSettings), "long" => long::Long(LongSettings) }
        methods { fn words(&self) -> u32; }
    }
}
use greeting::GreeterSettings;

settings! {
    /// A visitor.
    pub(crate) struct Visitor {
        /// Called.
        tag: String,
        /// Comes after.
        start: Span = Span::ZERO,
        /// How it greets.
        pattern: GreeterSettings = GreeterSettings::default(),
    }
}

settings! {
    /// Two numbers.
    pub(crate) struct Pair {
        /// Left.
        left: u32 = 1,
        /// Right.
        right: u32 = 2,
    }
}

settings! {
    /// One of each.
    pub(crate) struct House {
        /// Name.
        name: String,
        /// Number.
        floors: u32 [1, 9] = 3,
        /// Any number.
        slope: f64 [-1, 1] = 0.0,
        /// Part.
        full: Share = Share(0.25),
        /// Size.
        cellar: Bytes = Bytes(1000),
        /// Amount.
        shelf: Amount = Amount::Packets(65),
        /// Word.
        word: Word = Word::Second,
        /// Yes or no.
        lit: bool = false,
        /// Off unless given.
        bell: Option<Span> = None,
        /// On unless switched off.
        lamp: Option<Span> = Some(Span::from_ms(1)),
        /// Both at once.
        pair: Pair [flatten],
        /// The wire.
        cable: Cable = Cable { rate: Rate::from_gbps(40), delay: Span::from_us(2) },
        /// The door.
        door: GreeterSettings = GreeterSettings::default(),
        /// Those who come.
        visitor: Vec<Visitor> = vec![],
        /// Words.
        words: Vec<Word> = vec![Word::First],
    }
}

fn decoded(text: &str) -> (Decoded, Sources) {
    let (root, mistakes) = parse_document(text);
    assert_eq!(mistakes, []);
    (decode(&House::TABLE, &root, "", &["sweep"]), Sources::of_file("house.toml", text))
}

fn house(text: &str) -> House {
    let (decoded, _) = decoded(text);
    assert_eq!(decoded.mistakes, []);
    House::from_value(&decoded.value)
}

/// `line:column message` of every mistake.
fn mistakes(text: &str) -> Vec<String> {
    let (decoded, sources) = decoded(text);
    let line = |mistake: &Mistake| {
        let at = sources.line_column(mistake.place);
        let near = mistake.nearest.as_ref().map_or(String::new(), |name| format!(" -> {name}"));
        format!("{}:{} {}{near}", at.line, at.column, mistake.message)
    };
    decoded.mistakes.iter().map(line).collect()
}

#[test]
fn what_is_not_said_has_its_default() {
    let house = house("name = \"a\"");
    assert_eq!(house, House { name: "a".into(), ..House::default() });
    assert_eq!((house.floors, house.pair.right, house.lamp), (3, 2, Some(Span::from_ms(1))));
}

#[test]
fn every_kind_is_read() {
    let text = "name = \"a\"\nfloors = 9\nslope = -1\nfull = \"80 %\"\ncellar = \"12 MiB\"\nshelf = \"7 pkt\"\n\
        word = \"first\"\nlit = true\nbell = \"2 us\"\nlamp = false\nleft = 7\nwords = [\"second\", \"first\"]\n";
    let house = house(text);
    assert_eq!((house.floors, house.slope, house.full), (9, -1.0, Share(0.8)));
    assert_eq!((house.cellar, house.shelf), (Bytes(12 << 20), Amount::Packets(7)));
    assert_eq!(
        (house.word, house.lit, house.bell, house.lamp),
        (Word::First, true, Some(Span::from_us(2)), None)
    );
    assert_eq!((house.pair.left, house.words), (7, vec![Word::Second, Word::First]));
}

#[test]
fn a_partly_given_table_keeps_the_rest_of_the_outer_default() {
    let house = house("name = \"a\"\ncable = { delay = \"1 us\" }");
    assert_eq!(house.cable, Cable { rate: Rate::from_gbps(40), delay: Span::from_us(1) });
}

#[test]
fn a_family_is_written_in_three_ways() {
    let five = GreeterSettings::Short(greeting::short::ShortSettings { times: 5 });
    assert_eq!(house("name = \"a\"\n[door.short]\ntimes = 5").door, five);
    assert_eq!(house("name = \"a\"\ndoor = { kind = \"short\", times = 5 }").door, five);
    assert_eq!(house("name = \"a\"\ndoor = \"short\"").door, GreeterSettings::default());
    assert_eq!(greeting::AnyGreeter::new(&five, ()).words(), 5);
}

#[test]
fn the_entry_of_a_list_chooses_by_kind_and_holds_the_settings_itself() {
    let text = "name = \"a\"\n[[visitor]]\ntag = \"x\"\ntimes = 4\n[[visitor]]\ntag = \"y\"\nkind = \"long\"\nname = \"you\"\n";
    let (decoded, _) = decoded(text);
    assert_eq!(decoded.mistakes, []);
    let house = House::from_value(&decoded.value);
    assert_eq!(house.visitor[0].pattern, GreeterSettings::Short(greeting::short::ShortSettings { times: 4 }));
    assert!(matches!(&house.visitor[1].pattern, GreeterSettings::Long(long) if long.name == "you"));
    assert!(decoded.provenance.at("visitor.x.times").is_some());
    assert_eq!(decoded.provenance.tagged("visitor[1].name"), "visitor.y.name");
}

#[test]
fn all_mistakes_are_reported_at_their_own_places() {
    let text = "floors = 12\nnmae = \"a\"\nshelf = 65\ncellar = \"3 KB\"\n[door.short]\ntime = 5\n";
    let found = mistakes(text);
    assert_eq!(found.len(), 6, "{found:#?}");
    assert!(found.iter().any(|m| m == "2:1 unknown key `nmae` -> name"), "{found:#?}");
    assert!(found.iter().any(|m| m.starts_with("1:1 `name` is missing: Name.")), "{found:#?}");
    assert!(found.iter().any(|m| m.starts_with("1:10 found the number 12, expected a whole number")));
    assert!(found.iter().any(|m| m.starts_with("3:9 found the number 65") && m.contains("bare number")));
    assert!(found.iter().any(|m| m.starts_with("4:10") && m.contains("kB (1000) or KiB (1024)")));
    assert!(found.iter().any(|m| m == "6:1 unknown key `time` in `door.short` -> times"), "{found:#?}");
}

#[test]
fn the_right_word_is_guessed() {
    assert!(mistakes("name = \"a\"\nword = \"secnod\"")[0].ends_with("-> second"));
    assert!(mistakes("name = \"a\"\ndoor = \"shrot\"")[0].ends_with("unknown greeter `shrot` -> short"));
    assert!(mistakes("name = \"a\"\n[swep]\na = [1, 2]")[0].ends_with("unknown key `swep` -> sweep"));
}

#[test]
fn a_family_is_chosen_once_and_by_a_known_name() {
    let found = mistakes("name = \"a\"\n[door.short]\n[door.long]\nname = \"b\"");
    assert_eq!(found, ["3:7 `door` is already `short`; choose one greeter"]);
    assert_eq!(mistakes("name = \"a\"\n[door]\n"), ["2:1 `door` does not name a greeter"]);
    let stray = mistakes("name = \"a\"\n[door]\nvolume = 1\n");
    assert_eq!(stray, ["3:1 `volume` is a setting of `long`; write it under [door.long]"]);
    assert_eq!(mistakes("name = \"a\"\ndoor = 3").len(), 1);
}

#[test]
fn a_required_setting_of_a_member_is_asked_for() {
    assert!(
        mistakes("name = \"a\"\ndoor = \"long\"")[0].starts_with("2:8 `door.long.name` is missing: To whom.")
    );
}

#[test]
fn a_setting_of_another_kind_is_named_as_such() {
    let found =
        mistakes("name = \"a\"\n[[visitor]]\ntag = \"x\"\nkind = \"long\"\nname = \"b\"\ntimes = 3\n");
    assert_eq!(found, ["6:1 unknown key `times` in `visitor.x`; it is a setting of kind = \"short\""]);
}

#[test]
fn a_tag_names_one_entry() {
    let twice = mistakes("name = \"a\"\n[[visitor]]\ntag = \"x\"\n[[visitor]]\ntag = \"x\"\n");
    assert_eq!(twice, ["5:7 two entries of `visitor` have the tag `x`; tags must be unique"]);
    assert!(mistakes("name = \"a\"\n[[visitor]]\ntag = \"a.b\"")[0].contains("is not a valid tag"));
}

#[test]
fn wrong_kinds_of_values_are_refused_everywhere() {
    for line in [
        "floors = -1",
        "floors = 2.5",
        "floors = \"3\"",
        "slope = nan",
        "slope = 1.5",
        "full = \"120 %\"",
        "full = \"x\"",
        "lit = 1",
        "bell = true",
        "bell = \"3 parsec\"",
        "cable = 3",
        "words = \"first\"",
        "words = [1]",
        "visitor = 1",
        "visitor = [1]",
        "shelf = \"1.5 pkt\"",
        "cellar = 1979-05-27",
        "word = 1",
        "left = []",
    ] {
        let found = mistakes(&format!("name = \"a\"\n{line}\n"));
        assert_eq!(found.len(), 1, "{line}: {found:?}");
        assert!(found[0].starts_with("2:"), "{line}: {found:?}");
    }
}
