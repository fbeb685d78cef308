//! The bundled distributions, by name. The points are published facts; each file names their source. Must not depend
//! on sampling.
//!
//! Two unrelated tables are called data mining: `data-mining` in bytes has a mean of 12.7 MB, `data-mining-pfabric`
//! in packets 7.5 MB. State which one a result uses.

use super::Curve;

/// A named distribution.
#[derive(Clone, Copy, Debug)]
pub struct Bundled {
    /// The name in a scenario.
    pub name: &'static str,
    /// What it describes.
    pub about: &'static str,
    /// The source of the points.
    pub source: &'static str,
    text: &'static str,
}

impl Bundled {
    /// The distribution.
    #[must_use]
    pub fn curve(&self) -> Curve {
        Curve::read(self.text).expect("bundled files are tested")
    }
}

macro_rules! bundled {
    ($($name:literal: $about:literal, $source:literal;)*) => {
        /// All bundled distributions.
        pub const BUNDLED: &[Bundled] = &[$(Bundled {
            name: $name,
            about: $about,
            source: $source,
            text: include_str!(concat!("../../cdf/", $name, ".txt")),
        }),*];
    };
}

bundled! {
    "web-search":
        "Web search flows of the DCTCP paper (SIGCOMM 2010), in bytes",
        "points as in DCTCP_CDF.txt of HKUST TrafficGenerator and WebSearch_distribution.txt of the HPCC simulator";
    "web-search-pias":
        "Web search flows in whole packets, as in the PIAS and pFabric simulations",
        "points as in CDF_dctcp.tcl of PIAS-NS2, packets of 1460 bytes";
    "web-search-tlt":
        "Web search flows with finer points for small flows",
        "points as in search.txt of the TLT RDMA simulator";
    "data-mining":
        "Data mining flows of the VL2 paper (SIGCOMM 2009), in bytes; mean 12.7 MB",
        "points as in VL2_CDF.txt of HKUST TrafficGenerator";
    "data-mining-pfabric":
        "Data mining flows in whole packets, as in pFabric; mean 7.5 MB",
        "points as in CDF_vl2.tcl of PIAS-NS2 and CDF_datamining.txt of YAPS, packets of 1460 bytes";
    "data-mining-tlt":
        "Data mining flows with few points",
        "points as in mining.txt of the TLT RDMA simulator";
    "facebook-web":
        "Facebook web servers (Roy et al., SIGCOMM 2015)",
        "digitised by others from the published figure; points as in webserver.txt of the TLT simulator";
    "facebook-cache":
        "Facebook cache followers (Roy et al., SIGCOMM 2015)",
        "digitised by others from the published figure; points as in cachefollower.txt of the TLT simulator";
    "facebook-hadoop":
        "Facebook Hadoop (Roy et al., SIGCOMM 2015), 20 points",
        "digitised by others from the published figure; points as in FbHdp_distribution.txt of the HPCC simulator";
    "facebook-hadoop-fine":
        "Facebook Hadoop (Roy et al., SIGCOMM 2015), 461 points",
        "points as in FbHdp2015.txt of the ConWeave simulator";
    "facebook-unitless":
        "A Facebook table whose source states no unit; taken as bytes, mean 342 B",
        "points as in FB_CDF.txt of HKUST TrafficGenerator, whose unit is uncertain";
    "ali-storage":
        "Alibaba storage, 2019",
        "points as in AliStorage2019.txt of the HPCC simulator";
    "google-rpc":
        "Google remote procedure calls, 2008",
        "points as in GoogleRPC2008.txt of the HPCC simulator";
    "solar":
        "Block storage of the Solar paper (SIGCOMM 2022)",
        "points as in Solar2022.txt of the ConWeave simulator";
    "imc10":
        "Data-centre flows after Benson et al. (IMC 2010), cut at 3 MB",
        "points as in CDF_aditya.txt of YAPS, packets of 1460 bytes";
}
