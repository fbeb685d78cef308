// ECMP in the frame of drill_engine, to compare cost: the same request, table, components and reaction to failures; the
// port follows from a second hash of the flow. With one hash for both, a component's flows would meet in a part of its ports.
module ecmp_engine #(
  parameter int NP = 48, NG = 16, NC = 4, WW = 4, TW = 8,
  parameter int PW = (NP > 1) ? $clog2(NP) : 1, GW = (NG > 1) ? $clog2(NG) : 1,
    RW = (NG * NC > 1) ? $clog2(NG * NC) : 1
) (
  input  logic          clk_i, rst_i, cfg_we_i, req_valid_i, rsp_ready_i,
  output logic          req_ready_o, rsp_valid_o,
  input  logic [GW-1:0] req_group_i,
  input  logic [31:0]   req_hash_i,    // for the component
  input  logic [31:0]   req_spread_i,  // for the port
  input  logic [TW-1:0] req_tag_i,
  output logic          rsp_none_o,
  output logic [PW-1:0] rsp_port_o,
  output logic [TW-1:0] rsp_tag_o,
  input  logic [NP-1:0] up_i,
  input  logic [RW-1:0] cfg_row_i,
  input  logic [NP-1:0] cfg_members_i,
  input  logic [WW-1:0] cfg_weight_i
);
  localparam int KW = $clog2(NP + 1), CW = (NC > 1) ? $clog2(NC) : 1, XW = 64 + TW;

  // Stages as in drill_engine: 1 rows, 2 component, 3 number; the answer is the port.
  logic             advance, rotate, move, unused_purge;
  logic [NP-1:0]    up;
  logic [3:1]       valid_d, valid_q;
  logic [GW-1:0]    group1_d, group1_q, group2_q, group3_q;
  logic [XW-1:0]    x1_d, x1_q, x2_q, x3_q;
  logic [NC*NP-1:0] members, members_q;
  logic [NC*WW-1:0] weights, weights_q;
  logic [CW-1:0]    unused_component;
  logic [NP-1:0]    ports, ports2_q, ports3_q;
  logic [KW-1:0]    k2_q;
  logic [PW-1:0]    number3_q, port, rsp_port_q;
  logic             rsp_valid_d, rsp_valid_q, rsp_none_q;
  logic [TW-1:0]    rsp_tag_q;
  wire              unused = ^{unused_purge, unused_component};

  drill_control #(.NP(NP), .STAGES(3)) u_control (
    .clk_i, .rst_i, .cfg_we_i, .rsp_valid_i(rsp_valid_q), .rsp_ready_i, .up_i,
    .advance_o(advance), .rotate_o(rotate), .purge_o(unused_purge), .up_o(up)
  );
  drill_table #(.NP(NP), .NG(NG), .NC(NC), .WW(WW)) u_table (
    .clk_i, .we_i(cfg_we_i), .row_i(cfg_row_i), .members_i(cfg_members_i), .weight_i(cfg_weight_i),
    .group_i(group1_d), .members_o(members), .weights_o(weights)
  );
  drill_component #(.NP(NP), .NC(NC), .WW(WW)) u_component (
    .hash_i(x1_q[TW+32 +: 32]), .live_i(members_q & {NC{up}}), .weights_i(weights_q), .component_o(unused_component),
    .ports_o(ports)
  );
  drill_select #(.NP(NP), .D(1)) u_select (.set_i(ports3_q), .numbers_i(number3_q), .ports_o(port));

  assign move = advance || rotate;
  assign req_ready_o = advance;
  assign {group1_d, x1_d} = rotate ? {group3_q, x3_q} : {req_group_i, req_hash_i, req_spread_i, req_tag_i};
  assign valid_d = !move ? valid_q : {valid_q[2:1], rotate ? valid_q[3] : req_valid_i};
  assign rsp_valid_d = advance ? valid_q[3] : rsp_valid_q && !rsp_ready_i;

  always_ff @(posedge clk_i) begin
    valid_q <= rst_i ? '0 : valid_d;
    rsp_valid_q <= !rst_i && rsp_valid_d;
    if (move) begin
      {group1_q, group2_q, group3_q} <= {group1_d, group1_q, group2_q};
      {x1_q, x2_q, x3_q} <= {x1_d, x1_q, x2_q};
      {members_q, weights_q} <= {members, weights};
      {ports2_q, k2_q} <= {ports, KW'($countones(ports))};
      {ports3_q, number3_q} <= {ports2_q, PW'(((32 + KW)'(x2_q[TW +: 32]) * (32 + KW)'(k2_q)) >> 32)};
    end
    if (advance) {rsp_none_q, rsp_port_q, rsp_tag_q} <= {~|ports3_q, port, x3_q[TW-1:0]};
  end
  assign {rsp_valid_o, rsp_none_o, rsp_port_o, rsp_tag_o} = {rsp_valid_q, rsp_none_q, rsp_port_q, rsp_tag_q};
endmodule
