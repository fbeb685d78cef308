//! The formats of topology files that can be read.

weft_core::choice! {
    /// The format of a topology file.
    pub enum Format {
        /// `topology.txt` of the HPCC simulator and its relatives (ConWeave, Alibaba's ns-3): counts, switch
        /// numbers, then one line per cable.
        Hpcc = "hpcc",
        /// `.topo` of htsim: a folded Clos described by tiers.
        Htsim = "htsim",
    }
}
