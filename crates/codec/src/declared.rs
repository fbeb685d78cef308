//! Look-ups in the declarations of settings: keys of tables, members of families, dotted paths.

use crate::FLATTENED_FAMILY;
use weft_core::settings::{Family, Field, Kind, Member, Table, Value};

/// `outer.inner`, or `inner` at the root.
pub fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// The family whose settings are part of a list entry.
pub fn flattened_family(table: &'static Table) -> Option<&'static Field> {
    table.fields.iter().find_map(|field| match field.kind {
        Kind::Flatten(inner) => flattened_family(inner),
        _ => (field.name == FLATTENED_FAMILY).then_some(field),
    })
}

/// The member of a family with this name.
pub fn member_named(family: &Family, name: &str) -> Option<&'static Member> {
    family.members.iter().find(|member| member.name == name)
}

/// The member in effect if the file chooses none.
pub fn default_member(family: &Family, field: &Field) -> &'static Member {
    let named = match field.default.map(|default| default()) {
        Some(Value::Member(name, _)) => member_named(family, name),
        _ => None,
    };
    named.unwrap_or(&family.members[0])
}

/// The names of a family's members.
pub(crate) fn names(family: &Family) -> impl Iterator<Item = &'static str> {
    family.members.iter().map(|member| member.name)
}

/// The keys of a table, including those of flattened tables.
pub fn keys(table: &Table) -> Vec<&'static str> {
    let mut keys = Vec::new();
    for field in table.fields {
        match field.kind {
            Kind::Flatten(inner) => keys.extend(self::keys(inner)),
            _ => keys.push(field.name),
        }
    }
    keys
}
