//! Fields of the tables that are read: those that rules use, and the rest of SONiC's schema (`sonic-yang-models`). Any
//! other field is not read, and probably a misspelling if it resembles one that rules use.

use super::{HINT_LENGTH, HINTS, Reader, short};
use crate::told::OddityKind;
use std::collections::HashMap;
use weft_config::json::{JsonEntry, JsonNode};
use weft_core::units::nearest;

/// A table, the fields that rules use, and the other fields of the schema.
type Table = (&'static str, &'static [&'static str], &'static [&'static str]);

const TABLES: [Table; 11] = [
    (
        "PORT",
        &["speed", "mtu", "admin_status"],
        &[
            "adv_interface_types",
            "adv_speeds",
            "alias",
            "asic_port_name",
            "autoneg",
            "core_id",
            "core_port_id",
            "description",
            "dhcp_rate_limit",
            "dom_polling",
            "fast_linkup",
            "fec",
            "index",
            "interface_type",
            "lanes",
            "laser_freq",
            "link_training",
            "macsec",
            "mode",
            "mux_cable",
            "num_voq",
            "pfc_asym",
            "role",
            "subport",
            "tpid",
            "tx_power",
        ],
    ),
    ("BUFFER_POOL", &["type", "size", "xoff"], &["mode", "percentage"]),
    (
        "BUFFER_PROFILE",
        &["pool", "size", "dynamic_th", "static_th", "xoff", "xon", "xon_offset", "headroom_type"],
        &["packet_discard_action"],
    ),
    ("BUFFER_PG", &["profile"], &[]),
    ("BUFFER_QUEUE", &["profile"], &[]),
    ("QUEUE", &["wred_profile"], &["scheduler"]),
    (
        "WRED_PROFILE",
        &[
            "ecn",
            "wred_green_enable",
            "wred_yellow_enable",
            "wred_red_enable",
            "green_min_threshold",
            "green_max_threshold",
            "green_drop_probability",
            "yellow_min_threshold",
            "yellow_max_threshold",
            "yellow_drop_probability",
            "red_min_threshold",
            "red_max_threshold",
            "red_drop_probability",
        ],
        &[],
    ),
    (
        "PORT_QOS_MAP",
        &[
            "dscp_to_tc_map",
            "tc_to_pg_map",
            "tc_to_queue_map",
            "pfc_to_queue_map",
            "pfc_to_pg_map",
            "pfc_enable",
        ],
        &[
            "dot1p_to_tc_map",
            "dscp_to_fc_map",
            "exp_to_fc_map",
            "mpls_tc_to_tc_map",
            "pfcwd_sw_enable",
            "scheduler",
            "tc_to_dot1p_map",
            "tc_to_dscp_map",
        ],
    ),
    (
        "PFC_WD",
        &["detection_time", "restoration_time", "POLL_INTERVAL"],
        &["action", "pfc_stat_history", "BIG_RED_SWITCH"],
    ),
    ("DEVICE_NEIGHBOR", &["name"], &["local_port", "mgmt_addr", "port", "type"]),
    ("SWITCH_HASH", &["ecmp_hash_algorithm"], &["ecmp_hash", "lag_hash", "lag_hash_algorithm"]),
];

fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|(table, ..)| *table == name)
}

fn knows((_, used, others): &Table, field: &str) -> bool {
    used.contains(&field) || others.contains(&field) || field == "weft_lint"
}

/// Fields of an entry that the schema of its table lacks; none for a table that is not listed.
pub(super) fn foreign<'a>(name: &str, entry: &'a JsonNode) -> impl Iterator<Item = &'a JsonEntry> {
    let table = table(name);
    entry.entries().iter().filter(move |field| table.is_some_and(|table| !knows(table, &field.key)))
}

/// Reports the fields that are probably misspelt.
pub(super) fn misspelt(reader: &mut Reader<'_>) {
    let mut near = HashMap::new();
    for (table, used, _) in &TABLES {
        for entry in reader.table(table) {
            reader.about(entry);
            for field in foreign(table, &entry.node) {
                let Some(meant) = meant((table, used), (entry, &field.key), &mut near) else { continue };
                let says = format!("{table} has no field `{}`; did you mean `{meant}`?", short(&field.key));
                reader.odd(OddityKind::Value, field.at, (says, "correct the name".to_owned()));
            }
        }
    }
}

/// Similar names by table and unknown field.
type Near<'a> = HashMap<(&'static str, &'a str), Option<&'static str>>;

/// The field that an unknown one resembles, unless the entry has both or the unknown name extends the other.
fn meant<'a>(
    (table, used): (&'static str, &'static [&'static str]),
    (entry, field): (&JsonEntry, &'a str),
    near: &mut Near<'a>,
) -> Option<&'static str> {
    let known = near.contains_key(&(table, field)) || near.len() < HINTS && field.len() <= HINT_LENGTH;
    let abbreviated = |name: &&str| name.starts_with(field) && name.len() <= 2 * field.len();
    let resembles = || nearest(field, used.iter().copied()).or(used.iter().copied().find(abbreviated));
    let meant = known.then(|| *near.entry((table, field)).or_insert_with(resembles)).flatten()?;
    let extends = field.starts_with(&format!("{meant}_")) || field.ends_with(&format!("_{meant}"));
    (entry.node.get(meant).is_none() && !extends).then_some(meant)
}
