use weft_core::HostId;

use super::*;

/// A table of switch 0, a leaf: one host at each leaf, at port 7.
fn table(groups: Vec<Group>) -> ForwardingTable {
    let leaves = groups.len() as u16;
    let hosts = ((0..leaves).collect(), (0..leaves).map(|_| PortId(7)).collect());
    ForwardingTable::new(hosts, Some(0), (0..u32::from(leaves)).map(GroupId).collect::<Vec<_>>(), groups)
}

fn group(components: &[&[u16]]) -> Group {
    let equal = |ports: &&[u16]| Component::equal(ports.iter().map(|port| PortId(*port)).collect());
    Group { components: components.iter().map(equal).collect() }
}

fn packet(to: usize, ports: u32) -> Header {
    Header { destination: HostId(to as u32), ports, ..Header::default() }
}

/// The result that [`ForwardingTable::way`] must return, from [`ForwardingTable::route`].
fn resolved<'a>(table: &'a ForwardingTable, packet: &Header) -> Way<'a> {
    match table.route(packet) {
        Route::Local(port) => Way::Only(port),
        Route::Component(_, component) if component.ports.len() == 1 => Way::Only(component.ports[0]),
        Route::Component(number, component) => Way::Several(number, component),
        Route::None => Way::None,
    }
}

fn agree(table: &ForwardingTable) {
    for (to, ports) in (0..table.leaves).flat_map(|to| (0..8).map(move |ports| (to, ports))) {
        let packet = packet(to, ports);
        assert_eq!(table.way(&packet), resolved(table, &packet), "to {to}");
    }
}

#[test]
fn ways_agree_with_routes() {
    let mut table = table(vec![
        group(&[&[1]]),
        group(&[&[2]]),
        group(&[&[1, 2, 3]]),
        group(&[]),
        group(&[&[1, 2], &[3], &[4, 5]]),
        group(&[&[40_000]]),
        group(&[&[3, 40_000]]),
    ]);
    let answers = [0, 1, 3, 5].map(|to| table.way(&packet(to, 0)));
    let only = |port| Way::Only(PortId(port));
    assert_eq!(answers, [only(7), only(2), Way::None, only(40_000)]);
    let chosen = |ports| table.way(&packet(4, ports));
    assert!((0..64).any(|ports| chosen(ports) == only(3)) && (0..64).any(|ports| chosen(ports) != only(3)));
    agree(&table);
    for port in [2, 3, 1] {
        table.set_port(PortId(port), false);
        agree(&table);
    }
    assert_eq!(table.way(&packet(2, 0)), Way::None);
    table.set_port(PortId(1), true);
    assert_eq!(table.way(&packet(2, 0)), only(1), "of three ports one is up");
    agree(&table);
}

#[test]
fn components_of_any_number_are_found() {
    let pair = |number: u16| group(&[&[number, number + 1]]);
    let table = table((0..33_000).map(pair).collect());
    for to in [1, 32_765, 32_766, 32_767, 32_768, 32_999] {
        let packet = packet(to, 0);
        let Way::Several(number, component) = table.way(&packet) else { panic!("{to} has two ports") };
        assert_eq!((number, component.ports[0]), (GroupId(to as u32), PortId(to as u16)));
    }
}
