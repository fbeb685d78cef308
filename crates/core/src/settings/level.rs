//! Settings at several levels: an [`Override`] holds only what the file gives at one level, and is applied over the
//! settings of the level below. [`Named`] holds one value for each name that the file chooses.
//!
//! ```
//! use weft_core::settings::{Override, Setting, Value};
//! weft_core::settings! {
//!     /// A queue.
//!     pub struct Queue {
//!         /// Greatest length.
//!         limit: weft_core::Bytes = weft_core::Bytes(1_000),
//!         /// Whether it marks.
//!         marks: bool = false,
//!     }
//! }
//! let said = Value::Table(vec![("marks", Value::Flag(true))]);
//! let level = Override::<Queue>::from_value(&said);
//! assert_eq!(level.over(&Queue::default()), Queue { marks: true, ..Queue::default() });
//! assert!(Override::<Queue>::default().is_empty());
//! ```

use std::marker::PhantomData;

use super::{Family, Kind, Setting, Table, Value};

/// Settings; only those given in the file are kept. Its value is a table with some of its fields, a member with some
/// of its settings, or [`Value::Absent`]: the level gives nothing.
pub struct Override<T> {
    value: Value,
    of: PhantomData<fn() -> T>,
}

impl<T> Override<T> {
    /// Whether the level gives nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.value == Value::Absent
    }

    /// The value given at this level, or [`Value::Absent`].
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }
}

impl<T: Setting> Override<T> {
    /// The settings of the level below, overridden by this level.
    #[must_use]
    pub fn over(&self, below: &T) -> T {
        T::from_value(&over(&T::KIND, below.to_value(), &self.value))
    }
}

impl<T> Clone for Override<T> {
    fn clone(&self) -> Self {
        Override { value: self.value.clone(), of: PhantomData }
    }
}

impl<T> std::fmt::Debug for Override<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.value.fmt(f)
    }
}

impl<T> PartialEq for Override<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T> Default for Override<T> {
    fn default() -> Self {
        Override { value: Value::Absent, of: PhantomData }
    }
}

impl<T: Setting> Setting for Override<T> {
    const KIND: Kind = Kind::Override(&T::KIND);
    fn from_value(value: &Value) -> Self {
        Override { value: value.clone(), of: PhantomData }
    }
    fn to_value(&self) -> Value {
        self.value.clone()
    }
}

/// One value for each name, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T>(pub Vec<(String, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named(Vec::new())
    }
}

impl<T: Setting> Setting for Named<T> {
    const KIND: Kind = Kind::Named(&T::KIND);
    fn from_value(value: &Value) -> Self {
        let Value::Named(entries) = value else { return Named::default() };
        Named(entries.iter().map(|(name, value)| (name.clone(), T::from_value(value))).collect())
    }
    fn to_value(&self) -> Value {
        Value::Named(self.0.iter().map(|(name, value)| (name.clone(), value.to_value())).collect())
    }
}

/// The value `below`, overridden by `said`. A family's member keeps its settings when the same member is chosen
/// again; another member starts from its defaults.
#[must_use]
pub fn over(kind: &Kind, below: Value, said: &Value) -> Value {
    match (kind, said) {
        (Kind::Table(table) | Kind::Flatten(table), Value::Table(said)) => table_over(table, below, said),
        (Kind::Family(family), Value::Member(name, said)) => member_over(family, below, (name, said)),
        (Kind::Optional(inner), said) if *said != Value::Absent => over(inner, below, said),
        (_, said) => said.clone(),
    }
}

fn table_over(table: &Table, below: Value, said: &[(&'static str, Value)]) -> Value {
    let Value::Table(mut fields) = below else { return table_over(table, table.defaults(), said) };
    let kind = |name: &str| table.fields.iter().find(|field| field.name == name).map(|field| &field.kind);
    for (name, value) in &mut fields {
        let new = said.iter().find(|(key, _)| key == name).map(|(_, new)| new);
        if let Some((new, kind)) = new.zip(kind(name)) {
            *value = over(kind, std::mem::replace(value, Value::Absent), new);
        }
    }
    Value::Table(fields)
}

fn member_over(family: &Family, below: Value, (name, said): (&'static str, &Value)) -> Value {
    let Some(member) = family.members.iter().find(|member| member.name == name) else { return below };
    let own = match below {
        Value::Member(chosen, own) if chosen == name => *own,
        _ => member.table.defaults(),
    };
    Value::Member(name, Box::new(over(&Kind::Table(member.table), own, said)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bytes;

    #[allow(
        dead_code,
        unreachable_pub,
        reason = "a whole family, as the macro wants it, of which only the settings are used"
    )]
    mod markers {
        pub(super) mod off {
            pub(crate) const SUMMARY: &str = "No marks";
            crate::settings! { /// None.
            pub struct OffSettings {} }
            pub(crate) struct Off;
            impl Off {
                pub(crate) fn new(_: &OffSettings, (): ()) -> Off {
                    Off
                }
            }
        }
        pub(super) mod step {
            pub(crate) const SUMMARY: &str = "Above a threshold";
            crate::settings! {
                /// Marks.
                pub struct StepSettings {
                    /// From here on.
                    threshold: crate::Bytes,
                    /// Of a packet.
                    packet: crate::Bytes = crate::Bytes(1_500),
                }
            }
            pub(crate) struct Step;
            impl Step {
                pub(crate) fn new(_: &StepSettings, (): ()) -> Step {
                    Step
                }
            }
        }
        pub(super) trait Marker {}
        impl Marker for off::Off {}
        impl Marker for step::Step {}
        crate::family! {
            pub(super) enum AnyMarker: Marker;
            pub(super) enum MarkerSettings;
            called "marker" built at ();
            members { "off" => off::Off(OffSettings), "step" => step::Step(StepSettings) }
            methods {}
        }
    }
    use markers::{MarkerSettings, step};

    crate::settings! {
        /// A switch.
        pub(crate) struct Switch {
            /// Memory.
            buffer: Option<Bytes> = None,
            /// Queues.
            queues: u32 [1, 8] = 1,
        }
    }

    fn step_of(threshold: u64, packet: u64) -> MarkerSettings {
        MarkerSettings::Step(step::StepSettings { threshold: Bytes(threshold), packet: Bytes(packet) })
    }

    fn said(own: Vec<(&'static str, Value)>) -> Override<MarkerSettings> {
        Override::from_value(&Value::Member("step", Box::new(Value::Table(own))))
    }

    #[test]
    fn what_a_level_does_not_say_stays_and_off_is_something_said() {
        let below = Switch { buffer: Some(Bytes(9)), queues: 4 };
        let level = |fields| Override::<Switch>::from_value(&Value::Table(fields));
        assert_eq!(
            level(vec![("queues", Value::Integer(2))]).over(&below),
            Switch { queues: 2, ..below.clone() }
        );
        assert_eq!(level(vec![("buffer", Value::Absent)]).over(&below), Switch { buffer: None, ..below });
    }

    #[test]
    fn a_member_chosen_again_keeps_its_settings_and_another_starts_from_its_defaults() {
        let level = said(vec![("threshold", Value::Size(Bytes(7)))]);
        assert_eq!(level.over(&step_of(3, 9_000)), step_of(7, 9_000));
        assert_eq!(level.over(&MarkerSettings::default()), step_of(7, 1_500));
    }
}
