//! Generates, from one list, the types that hold any stack: the configuration of a run, the ends of its flows, the
//! host parts and the bodies of its packets. The list itself is in [`protocols`](crate::protocols).
//!
//! All are closed enums that calls match on. The first stack of the list has the fastest path; the others are reached
//! out of line.

pub(crate) mod datagrams;
pub(crate) mod tcp;

use weft_core::stack::{End, Stack};

/// The host part of a stack.
pub(crate) type HostOf<S> = <<S as Stack>::Receiver as End>::Host;

/// A packet body in the layout of one stack.
pub(crate) trait HoldsLayout<L> {
    /// The content; every packet of a flow has the layout of the flow's stack.
    fn view(&self) -> &L;
    /// The content, to be overwritten completely: the previous content is lost.
    fn view_mut(&mut self) -> &mut L;
}

/// Implements a type that holds the end of any flow.
macro_rules! any_end {
    (@then_needs $end:ident, $call:ident($($argument:expr),+)) => {{
        End::$call($end, $($argument),+);
        End::needs($end)
    }};
    ($end:ident: $first:ident $($stack:ident)*) => {
        impl $end {
            #[inline(never)]
            pub(crate) fn needs(&self) -> Needs {
                match self {
                    $end::$first(end) => End::needs(end),
                    $($end::$stack(end) => End::needs(end),)*
                }
            }

            #[inline(never)]
            pub(crate) fn on_packet(&mut self, now: Time, header: &Header, body: &Body) {
                match self {
                    $end::$first(end) => End::on_packet(end, now, header, body.view()),
                    $($end::$stack(end) => End::on_packet(end, now, header, body.view()),)*
                }
            }

            /// Writes a packet; returns the current needs of the end.
            #[inline(never)]
            pub(crate) fn send(&mut self, now: Time, header: &mut Header, body: &mut Body) -> Needs {
                match self {
                    $end::$first(end) => any_end!(@then_needs end, send(now, header, body.view_mut())),
                    $($end::$stack(end) => any_end!(@then_needs end, send(now, header, body.view_mut())),)*
                }
            }

            pub(crate) fn on_wakeup(&mut self, now: Time) {
                match self {
                    $end::$first(end) => End::on_wakeup(end, now),
                    $($end::$stack(end) => End::on_wakeup(end, now),)*
                }
            }

            pub(crate) fn burst(&self) -> u64 {
                match self {
                    $end::$first(end) => End::burst(end),
                    $($end::$stack(end) => End::burst(end),)*
                }
            }

            pub(crate) fn in_band(&self) -> InBand {
                match self {
                    $end::$first(end) => End::in_band(end),
                    $($end::$stack(end) => End::in_band(end),)*
                }
            }

            pub(crate) fn on_in_band(&mut self, now: Time, carried: &InBand) {
                match self {
                    $end::$first(end) => End::on_in_band(end, now, carried),
                    $($end::$stack(end) => End::on_in_band(end, now, carried),)*
                }
            }

            /// A flow sent as datagrams needs nothing from another stack's host part.
            pub(crate) fn ask(&mut self, host: &mut AnyHost) {
                match (self, host) {
                    ($end::$first(end), AnyHost::$first(host)) => End::ask(end, host),
                    $(($end::$stack(end), AnyHost::$stack(host)) => End::ask(end, host),)*
                    _ => {}
                }
            }

            pub(crate) fn on_turn(&mut self, now: Time) -> bool {
                match self {
                    $end::$first(end) => End::on_turn(end, now),
                    $($end::$stack(end) => End::on_turn(end, now),)*
                }
            }
        }
    };
}

/// Generates the types from the list: see [`protocols`](crate::protocols).
macro_rules! stacks {
    ($($stack:ident is $type:ty $(, in $body:ty)?, by $by:ident {
        $($name:literal => $module:ident :: $member:ident($settings:ident)
            $(law $law:ident $(:: $variant:ident($own:ident))? $($point:ident)?)?),+ $(,)?
    })+) => {
        $($by! {
            $($name => $module::$member($settings) $(law $law $(:: $variant($own))? $($point)?)?,)+
        })+

        weft_core::family! {
            /// All transports.
            pub enum AnyProtocol: Protocol;
            /// The transport of a scenario.
            pub enum TransportSettings;
            called "transport" built at ();
            members { $($($name => $module::$member($settings),)+)+ }
            methods { fn stack(&self) -> AnyStack; }
        }

        /// The configured stack of a run.
        #[derive(Clone, Debug)]
        #[allow(missing_docs, reason = "stacks are documented in their files")]
        pub enum AnyStack {
            $($stack(Arc<$type>),)+
        }

        /// The part of a packet that only the ends of a flow see: 64 bytes, the cold column of the pool.
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs, reason = "layouts are documented in their stacks")]
        pub enum Body {
            /// TCP, queue pairs and datagrams.
            Segment(Segment),
            $($($stack($body),)?)+
        }

        /// The host part that flows share.
        #[derive(Debug)]
        #[allow(missing_docs, reason = "parts are documented in their stacks")]
        pub enum AnyHost {
            $($stack(HostOf<$type>),)+
        }

        #[allow(clippy::large_enum_variant, reason = "nearly all flows are TCP; a box would cost each an allocation")]
        pub(crate) enum SenderEnd {
            $($stack(<$type as Stack>::Sender),)+
        }

        #[allow(clippy::large_enum_variant, reason = "nearly all flows are TCP; a box would cost each an allocation")]
        pub(crate) enum ReceiverEnd {
            $($stack(<$type as Stack>::Receiver),)+
        }

        any_end! { SenderEnd: $($stack)+ }
        any_end! { ReceiverEnd: $($stack)+ }

        impl SenderEnd {
            pub(crate) fn rank(&self) -> u32 {
                match self { $(SenderEnd::$stack(end) => Sending::rank(end),)+ }
            }

            pub(crate) fn report(&self) -> SenderReport {
                match self { $(SenderEnd::$stack(end) => Sending::report(end),)+ }
            }
        }

        impl ReceiverEnd {
            /// Whether a host part lets a control packet leave; that of another stack does.
            pub(crate) fn is_admitted(&self, now: Time, host: &mut AnyHost) -> bool {
                match (self, host) {
                    $((ReceiverEnd::$stack(_), AnyHost::$stack(host)) => host.admits(now, PacketKind::Control),)+
                    _ => true,
                }
            }

            pub(crate) fn refused(&mut self) {
                match self { $(ReceiverEnd::$stack(end) => Receiving::refused(end),)+ }
            }

            pub(crate) fn completed(&self) -> Option<Time> {
                match self { $(ReceiverEnd::$stack(end) => Receiving::completed(end),)+ }
            }

            pub(crate) fn report(&self) -> ReceiverReport {
                match self { $(ReceiverEnd::$stack(end) => Receiving::report(end),)+ }
            }
        }

        impl AnyStack {
            pub(crate) fn sender(&self, site: &FlowSite, now: Time) -> SenderEnd {
                match self { $(AnyStack::$stack(own) => SenderEnd::$stack(Stack::sender(own, site, now)),)+ }
            }

            pub(crate) fn receiver(&self, site: &FlowSite) -> ReceiverEnd {
                match self { $(AnyStack::$stack(own) => ReceiverEnd::$stack(Stack::receiver(own, site)),)+ }
            }

            /// `None` if its flows share nothing.
            pub(crate) fn host(&self, line: Rate) -> Option<AnyHost> {
                match self {
                    $(AnyStack::$stack(own) => (size_of::<HostOf<$type>>() > 0)
                        .then(|| AnyHost::$stack(Stack::host(&**own, line))),)+
                }
            }

            /// Packet sizes from the settings.
            #[must_use]
            pub fn sizes(&self) -> Sizes {
                match self { $(AnyStack::$stack(own) => Stack::sizes(&**own),)+ }
            }

            pub(crate) fn opening(&self) -> Option<u16> {
                match self { $(AnyStack::$stack(own) => Stack::opening(&**own),)+ }
            }

            pub(crate) fn classes(&self, own_class: Option<Class>) -> Classes {
                match self { $(AnyStack::$stack(own) => Stack::classes(&**own, own_class),)+ }
            }

            pub(crate) fn reply_after_close(&self, header: &Header, body: &Body, now: Time) -> Option<(Header, Body)> {
                match self {
                    $(AnyStack::$stack(own) => Stack::reply_after_close(&**own, header, body.view(), now)
                        .map(|(header, body)| (header, body.into())),)+
                }
            }

            /// Whether the ends react to congestion marks.
            #[must_use]
            pub fn reads_marks(&self) -> bool {
                match self { $(AnyStack::$stack(own) => Stack::reads_marks(&**own),)+ }
            }

            /// Whether congestion marks are the ends' only signal.
            #[must_use]
            pub fn goes_by_marks(&self) -> bool {
                match self { $(AnyStack::$stack(own) => Stack::goes_by_marks(&**own),)+ }
            }

            /// Whether the ends use the class of a flow, regardless of how many queues the switches have.
            #[must_use]
            pub fn goes_by_classes(&self) -> bool {
                match self { $(AnyStack::$stack(own) => Stack::goes_by_classes(&**own),)+ }
            }

            /// Whether packets carry ranks.
            #[must_use]
            pub fn ranks_packets(&self) -> bool {
                match self { $(AnyStack::$stack(own) => Stack::ranks_packets(&**own),)+ }
            }

            /// Whether full queues may trim packets to their headers.
            #[must_use]
            pub fn is_trimmable(&self) -> bool {
                match self { $(AnyStack::$stack(own) => Stack::is_trimmable(&**own),)+ }
            }

            /// Names what ends and switches send besides data, acknowledgements and connection openings.
            #[must_use]
            pub fn sends_besides(&self) -> Option<&'static str> {
                match self { $(AnyStack::$stack(own) => Stack::sends_besides(&**own),)+ }
            }

            /// The arbiter that the links on the flows' paths need.
            #[must_use]
            pub fn arbiter(&self) -> Option<&'static str> {
                match self { $(AnyStack::$stack(own) => Stack::arbiter(&**own),)+ }
            }
        }

        impl HostPart for AnyHost {
            fn and(&mut self, other: AnyHost) {
                match (self, other) {
                    $((AnyHost::$stack(part), AnyHost::$stack(other)) => part.and(other),)+
                    _ => unreachable!("only parts of one kind are joined"),
                }
            }

            fn next(&mut self, now: Time) -> Option<(Side, FlowId)> {
                match self { $(AnyHost::$stack(part) => part.next(now),)+ }
            }

            fn used(&mut self, now: Time) {
                match self { $(AnyHost::$stack(part) => part.used(now),)+ }
            }

            fn wake(&self) -> Time {
                match self { $(AnyHost::$stack(part) => part.wake(),)+ }
            }

            fn admits(&mut self, now: Time, kind: PacketKind) -> bool {
                match self { $(AnyHost::$stack(part) => part.admits(now, kind),)+ }
            }
        }

        impl Default for Body {
            fn default() -> Body {
                Body::Segment(Segment::default())
            }
        }

        /// Queries of a host on every packet, for layouts other than the usual one.
        impl Body {
            #[inline(never)]
            fn other_flow(&self) -> FlowId {
                match self {
                    Body::Segment(own) => own.flow(),
                    $($(Body::$stack(own) => <$body as Layout>::flow(own),)?)+
                }
            }

            #[inline(never)]
            fn other_side(&self, header: &Header) -> Side {
                match self {
                    Body::Segment(own) => own.side(header),
                    $($(Body::$stack(own) => <$body as Layout>::side(own, header),)?)+
                }
            }
        }

        body_of! { Segment(Segment) }
        $($(body_of! { $stack($body) })?)+

        impl Layout for Body {
            #[inline]
            fn flow(&self) -> FlowId {
                if let Body::Segment(own) = self { own.flow() } else { self.other_flow() }
            }

            #[inline]
            fn payload(&self) -> u64 {
                match self {
                    Body::Segment(own) => own.payload(),
                    $($(Body::$stack(own) => <$body as Layout>::payload(own),)?)+
                }
            }

            #[inline]
            fn side(&self, header: &Header) -> Side {
                if let Body::Segment(own) = self { own.side(header) } else { self.other_side(header) }
            }

            #[inline]
            fn has_toll(&self) -> bool {
                match self {
                    Body::Segment(own) => own.has_toll(),
                    $($(Body::$stack(own) => <$body as Layout>::has_toll(own),)?)+
                }
            }

            #[inline]
            fn toll(&self) -> Toll {
                match self {
                    Body::Segment(own) => own.toll(),
                    $($(Body::$stack(own) => <$body as Layout>::toll(own),)?)+
                }
            }

            fn add_toll(&mut self, toll: Toll) {
                match self {
                    Body::Segment(own) => own.add_toll(toll),
                    $($(Body::$stack(own) => <$body as Layout>::add_toll(own, toll),)?)+
                }
            }
        }
    };
}

/// Adds a layout to the variants of a body.
macro_rules! body_of {
    ($stack:ident($body:ty)) => {
        impl From<$body> for Body {
            fn from(own: $body) -> Body {
                Body::$stack(own)
            }
        }

        impl HoldsLayout<$body> for Body {
            #[inline]
            fn view(&self) -> &$body {
                #[allow(irrefutable_let_patterns, reason = "there may be one layout only")]
                let Body::$stack(own) = self else {
                    unreachable!("a packet has the layout of its flow's stack")
                };
                own
            }

            #[inline]
            fn view_mut(&mut self) -> &mut $body {
                if !matches!(self, Body::$stack(_)) {
                    *self = Body::$stack(<$body>::default());
                }
                #[allow(irrefutable_let_patterns, reason = "there may be one layout only")]
                let Body::$stack(own) = self else { unreachable!("it has just been made so") };
                own
            }
        }
    };
}
