// Per-flow DRILL around drill_engine, to compare cost: DRILL decides for the first packet of a flow, and a flow table of 2^FW
// entries (a memory outside: flow_*) remembers its choice for the others. An entry whose port is down is decided anew.
module flow_drill_engine #(
  parameter int NP = 48, QW = 16, SW = 8, D = 2, M = 1, NG = 16, NC = 4, WW = 4, TW = 8, FW = 16,
  parameter logic [63:0] SEED = 64'd1,
  parameter int PW = (NP > 1) ? $clog2(NP) : 1, GW = (NG > 1) ? $clog2(NG) : 1,
    RW = (NG * NC > 1) ? $clog2(NG * NC) : 1
) (
  input  logic                 clk_i, rst_i, cfg_we_i, req_valid_i, rsp_ready_i,
  output logic                 req_ready_o, rsp_valid_o, rsp_none_o, join_valid_o,
  input  logic [GW-1:0]        req_group_i,
  input  logic [31:0]          req_hash_i,
  input  logic [SW-1:0]        req_size_i,
  input  logic [TW-1:0]        req_tag_i,
  output logic [PW-1:0]        rsp_port_o, join_port_o,
  output logic [TW-1:0]        rsp_tag_o,
  output logic [SW-1:0]        join_size_o,
  output logic [FW-1:0]        flow_index_o,  // the entry of the packet whose turn it is
  output logic                 flow_we_o,     // that entry gets a port
  output logic [PW-1:0]        flow_port_o,
  input  logic                 flow_valid_i,  // what the entry holds, within the clock
  input  logic [PW-1:0]        flow_port_i,
  input  logic [(QW+1)*NP-1:0] queue_i,
  input  logic [NP-1:0]        up_i, cfg_members_i,
  input  logic [RW-1:0]        cfg_row_i,
  input  logic [WW-1:0]        cfg_weight_i
);
  logic [TW-1:0] unused_tag;
  logic [FW-1:0] unused_index;
  logic          pick_valid, pinned;
  wire           unused = ^{unused_tag, unused_index};

  drill_engine #(
    .NP(NP), .QW(QW), .SW(SW), .D(D), .M(M), .NG(NG), .NC(NC), .WW(WW), .TW(FW + TW), .VIS(0), .SEED(SEED)
  ) u_engine (
    .clk_i, .rst_i, .cfg_we_i, .req_valid_i, .rsp_ready_i, .req_ready_o, .rsp_valid_o, .req_group_i, .req_hash_i,
    .req_size_i, .req_tag_i({req_hash_i[FW-1:0], req_tag_i}), .rsp_none_o, .rsp_tag_o({unused_index, rsp_tag_o}),
    .pick_valid_o(pick_valid), .pick_tag_o({flow_index_o, unused_tag}), .pinned_i(pinned), .pinned_port_i(flow_port_i),
    .join_valid_o, .rsp_port_o, .pick_port_o(flow_port_o), .join_port_o, .join_size_o, .queue_i, .up_i,
    .cfg_row_i, .cfg_members_i, .cfg_weight_i
  );

  assign pinned = flow_valid_i && up_i[flow_port_i];
  assign flow_we_o = pick_valid && !pinned;
endmodule
