//! The list of all transports: TCP under each congestion law, datagrams, RoCE under each rate law, NDP, pFabric, PDQ, PASE.
//!
//! A line names a stack ([`weft_core::stack::Stack`]), the layout of its packets unless they are segments, and the transports
//! that a scenario can choose; a new transport, or a new law, adds one line. [`laws`](crate::laws) and
//! [`protocols`](crate::protocols) generate their types from it.

macro_rules! list {
    ($then:ident) => {
        $then! {
            Tcp is TcpStack, by over_tcp {
                "newreno" => newreno::NewReno(TcpNewRenoSettings) law NewRenoSettings,
                "cubic" => cubic::Cubic(TcpCubicSettings) law CubicSettings,
                "dctcp" => dctcp::Dctcp(TcpDctcpSettings) law DctcpSettings,
                "htcp" => htcp::Htcp(TcpHtcpSettings) law HtcpSettings,
                "l2dct" => l2dct::L2dct(TcpL2dctSettings) law L2dctSettings,
            }
            Datagram is Datagrams, by alone { "udp" => udp::Udp(UdpSettings) }
            Roce is QueuePairs, by over_roce {
                "roce" => roce::Roce(RoceFixedSettings) law fixed::FixedRate(FixedRateSettings),
                "dcqcn" => dcqcn::Dcqcn(RoceDcqcnSettings) law dcqcn::Dcqcn(DcqcnSettings) notification,
                "timely" => timely::Timely(RoceTimelySettings) law timely::Timely(TimelySettings),
                "patched-timely" => patched_timely::PatchedTimely(RocePatchedTimelySettings)
                    law patched_timely::PatchedTimely(PatchedTimelySettings),
                "timely-pi" => timely_pi::TimelyPi(RoceTimelyPiSettings) law timely_pi::TimelyPi(TimelyPiSettings),
                "hpcc" => hpcc::Hpcc(RoceHpccSettings) law hpcc::Hpcc(HpccSettings),
            }
            Ndp is weft_ndp::NdpStack, in weft_ndp::packet::NdpPacket, by alone { "ndp" => ndp::Ndp(NdpSettings) }
            Pfabric is weft_pfabric::PfabricStack, in weft_pfabric::packet::PfabricPacket, by alone {
                "pfabric" => pfabric::Pfabric(PfabricSettings)
            }
            Pdq is weft_pdq::PdqStack, in weft_pdq::packet::PdqPacket, by alone { "pdq" => pdq::Pdq(PdqSettings) }
            Pase is weft_pase::PaseStack, in weft_pase::packet::PasePacket, by alone { "pase" => pase::Pase(PaseSettings) }
        }
    };
}
