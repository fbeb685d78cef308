// CONGA's choice at a leaf in the frame of drill_engine, to compare cost: a flowlet that goes on keeps its port; a new one
// takes a port with the least congestion metric, the greater of the uplink's own and of what the destination leaf has
// reported; of several the flow's last port, or else a fair draw. Estimators, metric tables and the flowlet table (memories
// outside) are not included.
module conga_engine #(
  parameter int NP = 48, NG = 16, NC = 4, WW = 4, TW = 8, MW = 3,
  parameter logic [63:0] SEED = 64'd1,
  parameter int PW = (NP > 1) ? $clog2(NP) : 1, GW = (NG > 1) ? $clog2(NG) : 1,
    RW = (NG * NC > 1) ? $clog2(NG * NC) : 1
) (
  input  logic             clk_i, rst_i, cfg_we_i, req_valid_i, rsp_ready_i,
  output logic             req_ready_o, rsp_valid_o, rsp_none_o,
  input  logic [GW-1:0]    req_group_i,
  input  logic [31:0]      req_hash_i,
  input  logic [TW-1:0]    req_tag_i,
  output logic [TW-1:0]    rsp_tag_o,
  output logic [PW-1:0]    rsp_port_o,
  input  logic [MW*NP-1:0] own_i,           // metrics of the uplinks
  output logic [GW-1:0]    metric_group_o,  // group of the metrics that follow
  input  logic [MW*NP-1:0] told_i,          // metrics that its leaf has reported
  output logic [15:0]      flow_index_o,    // entry of the flowlet table that follows
  input  logic             flow_known_i, flow_alive_i,  // a last port is known; the flowlet goes on
  input  logic [PW-1:0]    flow_port_i,
  input  logic [NP-1:0]    up_i, cfg_members_i,
  input  logic [RW-1:0]    cfg_row_i,
  input  logic [WW-1:0]    cfg_weight_i
);
  localparam int KW = $clog2(NP + 1), CW = (NC > 1) ? $clog2(NC) : 1, XW = GW + 32 + TW;

  // Stages: 1 rows, 2 component, 3 least metric and who has it, 4 how many, 5 number of the draw; the answer is the port.
  logic             advance, rotate, move, unused_purge, rsp_valid_d, rsp_valid_q, rsp_none_q;
  logic [NP-1:0]    up;
  logic [5:1]       valid_d, valid_q;
  logic [XW-1:0]    x1_d, x1_q, x2_q, x3_q, x4_q, x5_q;
  logic [NC*NP-1:0] members, members_q;
  logic [NC*WW-1:0] weights, weights_q;
  logic [CW-1:0]    unused_component;
  logic [NP-1:0]    ports, ports2_q, least, least3_q, least4_q, least5_q;
  logic [KW-1:0]    k4_q;
  logic [PW-1:0]    number5_q, drawn, last3_q, last4_q, last5_q, rsp_port_q;
  logic             keep3_d, keep3_q, keep4_q, keep5_q;
  logic [TW-1:0]    rsp_tag_q;
  logic [47:0]      word;
  wire              unused = ^{unused_purge, unused_component, word[47:16]};

  drill_control #(.NP(NP), .STAGES(5)) u_control (
    .clk_i, .rst_i, .cfg_we_i, .rsp_valid_i(rsp_valid_q), .rsp_ready_i, .up_i,
    .advance_o(advance), .rotate_o(rotate), .purge_o(unused_purge), .up_o(up)
  );
  drill_table #(.NP(NP), .NG(NG), .NC(NC), .WW(WW)) u_table (
    .clk_i, .we_i(cfg_we_i), .row_i(cfg_row_i), .members_i(cfg_members_i), .weight_i(cfg_weight_i),
    .group_i(x1_d[TW+32 +: GW]), .members_o(members), .weights_o(weights)
  );
  drill_component #(.NP(NP), .NC(NC), .WW(WW)) u_component (
    .hash_i(x1_q[TW +: 32]), .live_i(members_q & {NC{up}}), .weights_i(weights_q), .component_o(unused_component),
    .ports_o(ports)
  );
  drill_lfsr #(.SEED(SEED)) u_lfsr (.clk_i, .rst_i, .leap_i(move && valid_q[4]), .word_o(word));
  drill_select #(.NP(NP), .D(1)) u_select (.set_i(least5_q), .numbers_i(number5_q), .ports_o(drawn));

  always_comb begin : p_least
    integer        p, v;
    logic [MW-1:0] metric;
    logic [NP-1:0] at_most;
    {p, metric, at_most, least} = '0;
    for (v = (1 << MW) - 1; v >= 0; v = v - 1) begin
      for (p = 0; p < NP; p = p + 1) begin
        metric = (own_i[p*MW +: MW] > told_i[p*MW +: MW]) ? own_i[p*MW +: MW] : told_i[p*MW +: MW];
        at_most[p] = ports2_q[p] && metric <= MW'(v);
      end
      if (|at_most) least = at_most;
    end
  end

  assign move = advance || rotate;
  assign req_ready_o = advance;
  assign metric_group_o = x2_q[TW+32 +: GW];
  assign flow_index_o = x2_q[TW +: 16];
  assign x1_d = rotate ? x5_q : {req_group_i, req_hash_i, req_tag_i};
  assign valid_d = !move ? valid_q : {valid_q[4:1], rotate ? valid_q[5] : req_valid_i};
  assign rsp_valid_d = advance ? valid_q[5] : rsp_valid_q && !rsp_ready_i;
  assign keep3_d = ports2_q[flow_port_i] && (flow_alive_i || (flow_known_i && least[flow_port_i]));

  always_ff @(posedge clk_i) begin
    valid_q <= rst_i ? '0 : valid_d;
    rsp_valid_q <= !rst_i && rsp_valid_d;
    if (move) begin
      {x1_q, x2_q, x3_q, x4_q, x5_q} <= {x1_d, x1_q, x2_q, x3_q, x4_q};
      {members_q, weights_q, ports2_q} <= {members, weights, ports};
      {least3_q, last3_q, keep3_q} <= {least, flow_port_i, keep3_d};
      {least4_q, last4_q, keep4_q, k4_q} <= {least3_q, last3_q, keep3_q, KW'($countones(least3_q))};
      {least5_q, last5_q, keep5_q} <= {least4_q, last4_q, keep4_q};
      number5_q <= PW'(((16 + KW)'(word[15:0]) * (16 + KW)'(k4_q)) >> 16);
    end
    if (advance) {rsp_none_q, rsp_port_q, rsp_tag_q} <= {~|least5_q, keep5_q ? last5_q : drawn, x5_q[TW-1:0]};
  end
  assign {rsp_valid_o, rsp_none_o, rsp_port_o, rsp_tag_o} = {rsp_valid_q, rsp_none_q, rsp_port_q, rsp_tag_q};
endmodule
