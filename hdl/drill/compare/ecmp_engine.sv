// ECMP in the frame of drill_engine, to compare cost: the same request, table, components and reaction to failures; the
// port follows from the hash of the flow.
module ecmp_engine #(
  parameter int NP = 48, NG = 16, NC = 4, WW = 4, TW = 8,
  parameter int PW = (NP > 1) ? $clog2(NP) : 1, GW = (NG > 1) ? $clog2(NG) : 1,
    RW = (NG * NC > 1) ? $clog2(NG * NC) : 1
) (
  input  logic          clk_i, rst_i, cfg_we_i, req_valid_i, rsp_ready_i,
  output logic          req_ready_o, rsp_valid_o,
  input  logic [GW-1:0] req_group_i,
  input  logic [31:0]   req_hash_i,
  input  logic [TW-1:0] req_tag_i,
  output logic          rsp_none_o,
  output logic [PW-1:0] rsp_port_o,
  output logic [TW-1:0] rsp_tag_o,
  input  logic [NP-1:0] up_i,
  input  logic [RW-1:0] cfg_row_i,
  input  logic [NP-1:0] cfg_members_i,
  input  logic [WW-1:0] cfg_weight_i
);
  localparam int KW = $clog2(NP + 1), CW = (NC > 1) ? $clog2(NC) : 1, XW = GW + 32 + TW;

  // Stages and changes as in drill_engine: 1 rows, 2 component, 3 number; the answer is the port.
  logic          advance, rotate, change, start, stale_q, none_q, rsp_valid_q;
  logic [1:0]    turn_q;
  logic [NP-1:0] up_q;
  logic [3:1]    valid_q;
  assign change = cfg_we_i || up_i != up_q;
  assign start = stale_q && !change && turn_q == 2'd0;
  assign rotate = turn_q != 2'd0;
  assign advance = !(change || stale_q || rotate) && (!rsp_valid_q || rsp_ready_i);
  assign {req_ready_o, rsp_valid_o, rsp_none_o} = {advance, rsp_valid_q, none_q};

  logic [XW-1:0]    x1_d, x1_q, x2_q, x3_q;
  logic [NC*NP-1:0] members, members_q;
  logic [NC*WW-1:0] weights, weights_q;
  logic [NP-1:0]    ports, ports2_q, ports3_q;
  logic [KW-1:0]    k2_q;
  logic [PW-1:0]    number3_q, port;
  /* verilator lint_off UNUSEDSIGNAL */
  logic [CW-1:0]    component;
  /* verilator lint_on UNUSEDSIGNAL */

  assign x1_d = rotate ? x3_q : {req_group_i, req_hash_i, req_tag_i};
  drill_table #(.NP(NP), .NG(NG), .NC(NC), .WW(WW)) u_table (
    .clk_i, .we_i(cfg_we_i), .row_i(cfg_row_i), .members_i(cfg_members_i), .weight_i(cfg_weight_i),
    .group_i(x1_d[TW+32 +: GW]), .members_o(members), .weights_o(weights)
  );
  drill_component #(.NP(NP), .NC(NC), .WW(WW)) u_component (
    .hash_i(x1_q[TW +: 32]), .live_i(members_q & {NC{up_q}}), .weights_i(weights_q), .component_o(component),
    .ports_o(ports)
  );
  drill_select #(.NP(NP), .D(1)) u_select (.set_i(ports3_q), .numbers_i(number3_q), .ports_o(port));

  always_ff @(posedge clk_i) begin
    if (rst_i || !rotate) up_q <= up_i;
    stale_q <= !rst_i && !start && (stale_q || change);
    turn_q <= rst_i ? 2'd0 : start ? 2'd3 : rotate ? turn_q - 2'd1 : 2'd0;
    if (rst_i) valid_q <= '0;
    else if (rotate) valid_q <= {valid_q[2:1], valid_q[3]};
    else if (advance) valid_q <= {valid_q[2:1], req_valid_i};
    if (advance || rotate) begin
      {x1_q, x2_q, x3_q} <= {x1_d, x1_q, x2_q};
      {members_q, weights_q} <= {members, weights};
      {ports2_q, k2_q} <= {ports, KW'($countones(ports))};
      {ports3_q, number3_q} <= {ports2_q, PW'(((32 + KW)'(x2_q[TW +: 32]) * (32 + KW)'(k2_q)) >> 32)};
    end
    if (rst_i) rsp_valid_q <= 1'b0;
    else if (advance) rsp_valid_q <= valid_q[3];
    else if (rsp_ready_i) rsp_valid_q <= 1'b0;
    if (advance) {none_q, rsp_port_o, rsp_tag_o} <= {~|ports3_q, port, x3_q[TW-1:0]};
  end
endmodule
