//! An extension point: a trait, its members, and one list. Adding a member is one file and one line in the list.
//!
//! A member's file holds `SUMMARY` (one sentence), its settings (declared with [`settings!`](crate::settings!)), the
//! state struct with `new(&…Settings, …)`, the trait's `impl` and the tests. The list generates the settings enum of
//! the scenario file, the closed enum that the hot path matches on (no virtual call), a `Custom` arm for code outside
//! this repository, and the names for `weft list` and the reference pages.

/// Declares a family. The balancers of `weft-switch` are the model to follow.
///
/// ```
/// mod greeters {
/// pub trait Greeter { fn greet(&self, name: &str) -> String; }
/// pub mod plain {
///     pub const SUMMARY: &str = "Says hello";
///     weft_core::settings! { /// How.
///         pub struct PlainSettings { /// Shout.
///             loud: bool = false } }
///     pub struct Plain { loud: bool }
///     impl Plain { pub fn new(settings: &PlainSettings, _site: &u32) -> Plain { Plain { loud: settings.loud } } }
///     impl super::Greeter for Plain {
///         fn greet(&self, name: &str) -> String {
///             if self.loud { format!("HELLO {name}") } else { format!("hello {name}") }
///         }
///     }
/// }
/// weft_core::family! {
///     /// All greeters.
///     pub enum AnyGreeter: Greeter;
///     /// Which greeter, and how.
///     pub enum GreeterSettings;
///     called "greeter" built at &u32;
///     members { "plain" => plain::Plain(PlainSettings) }
///     methods { fn greet(&self, name: &str) -> String; }
/// }
/// }
/// use greeters::*;
/// let settings = GreeterSettings::Plain(plain::PlainSettings { loud: true });
/// assert_eq!(AnyGreeter::new(&settings, &0).greet("you"), "HELLO you");
/// assert_eq!(GreeterSettings::FAMILY.members[0].name, "plain");
/// ```
#[macro_export]
macro_rules! family {
    (
        $(#[$any_doc:meta])* $vis:vis enum $any:ident : $trait:ident;
        $(#[$settings_doc:meta])* $settings_vis:vis enum $settings:ident;
        called $called:literal built at $site:ty;
        members { $($name:literal => $module:ident :: $member:ident($own:ident)),+ $(,)? }
        methods { $($methods:tt)* }
    ) => {
        // An explicit tag: one hidden in a member's spare values costs more to read than it saves.
        $(#[$any_doc])*
        #[repr(u8)]
        #[allow(clippy::large_enum_variant, missing_docs, reason = "members are documented in their files")]
        $vis enum $any {
            $($member($module::$member),)+
            /// A member from outside this repository.
            Custom(Box<dyn $trait + Send>),
        }

        $(#[$settings_doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs, reason = "members are documented in their files")]
        $settings_vis enum $settings {
            $($member($module::$own),)+
        }

        impl $any {
            /// Builds the chosen member.
            #[must_use]
            $vis fn new(settings: &$settings, site: $site) -> $any {
                match settings {
                    $($settings::$member(own) => $any::$member($module::$member::new(own, site)),)+
                }
            }
        }

        impl $settings {
            /// The members, for the parser, `weft list` and the reference pages.
            pub const FAMILY: $crate::settings::Family = $crate::settings::Family {
                name: $called,
                members: &[$($crate::settings::Member {
                    name: $name,
                    summary: $module::SUMMARY,
                    table: &$module::$own::TABLE,
                }),+],
            };

            /// The member's name in the file.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $($settings::$member(_) => $name,)+
                }
            }
        }

        impl $crate::settings::Setting for $settings {
            const KIND: $crate::settings::Kind = $crate::settings::Kind::Family(&$settings::FAMILY);
            fn from_value(value: &$crate::settings::Value) -> Self {
                match value {
                    $($crate::settings::Value::Member($name, own) =>
                        $settings::$member($crate::settings::Setting::from_value(own)),)+
                    _ => $settings::default(),
                }
            }
            fn to_value(&self) -> $crate::settings::Value {
                match self {
                    $($settings::$member(own) => $crate::settings::Value::Member(
                        $name, Box::new($crate::settings::Setting::to_value(own))),)+
                }
            }
        }

        impl Default for $settings {
            /// The first member of the list with its defaults.
            fn default() -> Self {
                $crate::family_first!($settings, $($module::$member($own)),+)
            }
        }

        impl $any {
            $crate::family_methods! { $any [$($member)+] $($methods)* }
        }
    };
}

/// Part of [`family!`]: the default is the first member.
#[doc(hidden)]
#[macro_export]
macro_rules! family_first {
    ($settings:ident, $module:ident :: $member:ident($own:ident) $(, $($rest:tt)*)?) => {
        $settings::$member($module::$own::default())
    };
}

/// Part of [`family!`]: forwards each method to the member.
#[doc(hidden)]
#[macro_export]
macro_rules! family_methods {
    ($any:ident $members:tt) => {};
    ($any:ident $members:tt
        $(#[$doc:meta])* fn $method:ident(&mut self $(, $arg:ident : $type:ty)* $(,)?) $(-> $out:ty)?; $($rest:tt)*) => {
        $(#[$doc])*
        #[inline]
        #[allow(missing_docs, reason = "documented at the trait")]
        pub fn $method(&mut self $(, $arg: $type)*) $(-> $out)? {
            $crate::family_match!(self, $any, $members, $method($($arg),*))
        }
        $crate::family_methods! { $any $members $($rest)* }
    };
    ($any:ident $members:tt
        $(#[$doc:meta])* fn $method:ident(&self $(, $arg:ident : $type:ty)* $(,)?) $(-> $out:ty)?; $($rest:tt)*) => {
        $(#[$doc])*
        #[inline]
        #[allow(missing_docs, reason = "documented at the trait")]
        pub fn $method(&self $(, $arg: $type)*) $(-> $out)? {
            $crate::family_match!(self, $any, $members, $method($($arg),*))
        }
        $crate::family_methods! { $any $members $($rest)* }
    };
}

/// Part of [`family!`]: the match itself.
#[doc(hidden)]
#[macro_export]
macro_rules! family_match {
    ($self:ident, $any:ident, [$($member:ident)+], $method:ident $args:tt) => {
        match $self {
            $($any::$member(own) => own.$method $args,)+
            $any::Custom(own) => own.$method $args,
        }
    };
}
