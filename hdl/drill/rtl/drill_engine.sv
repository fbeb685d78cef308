// A forwarding engine of DRILL(D, M): one decision per clock, each of which sees the one before.
//
//   request -> 1 rows of the group -> 2 component by hash -> 3 numbers of D samples -> 4 their ports, memory -> decision
//
// The decision reads queue lengths, compares and writes the memory within one clock; the stages before it only prepare.
// When a port goes down or comes back, or a row is written, the requests in the stages go round once (drill_control), and
// the memory is purged. No decision names a port that is down.
module drill_engine #(
  parameter int NP = 48, QW = 16, SW = 8, D = 2, M = 1, NG = 16, NC = 4, WW = 4, TW = 8, TIE = 0, VIS = 1,
  parameter bit OWN = 1'b1, LIVE = 1'b1, PURGE = 1'b1,  // PURGE = 0 is wrong: it shows what the purge costs and prevents
  parameter logic [63:0] SEED = 64'd1,
  parameter int PW = (NP > 1) ? $clog2(NP) : 1, GW = (NG > 1) ? $clog2(NG) : 1,
    RW = (NG * NC > 1) ? $clog2(NG * NC) : 1
) (
  input  logic                 clk_i, rst_i, cfg_we_i, req_valid_i, rsp_ready_i,
  output logic                 req_ready_o, rsp_valid_o,
  input  logic [GW-1:0]        req_group_i,
  input  logic [31:0]          req_hash_i,
  input  logic [SW-1:0]        req_size_i,
  input  logic [TW-1:0]        req_tag_i,
  output logic                 rsp_none_o,  // no port is left: drop
  output logic [TW-1:0]        rsp_tag_o,
  output logic                 pick_valid_o,  // a decision is taken in this clock
  output logic [TW-1:0]        pick_tag_o,    // of the packet whose turn it is
  input  logic                 pinned_i,      // its port is known, and nothing is to be remembered (per-flow DRILL)
  input  logic [PW-1:0]        pinned_port_i,
  output logic                 join_valid_o,  // a decision becomes visible to all
  output logic [PW-1:0]        rsp_port_o, pick_port_o, join_port_o,
  output logic [SW-1:0]        join_size_o,
  input  logic [(QW+1)*NP-1:0] queue_i,
  input  logic [NP-1:0]        up_i,
  input  logic [RW-1:0]        cfg_row_i,
  input  logic [NP-1:0]        cfg_members_i,
  input  logic [WW-1:0]        cfg_weight_i
);
  localparam int C = D + M, NW = $clog2(C + 1), CELLS = (M > 0) ? M : 1;    // candidates
  localparam int CW = (NC > 1) ? $clog2(NC) : 1, KW = $clog2(NP + 1);
  localparam bit DRAW = TIE == 0 && M <= 1;                                 // else candidates have ranks
  localparam int LOTS = DRAW ? 16 : (TIE == 3) ? 0 : 8 * C, LW = (LOTS > 0) ? LOTS : 1;  // random bits for ties
  localparam int NL = (16 * D + LOTS + 47) / 48;                            // shift registers
  localparam int XW = GW + 32 + SW + TW;                                    // a request as it came

  // ---- Control -----------------------------------------------------------------------------------------------------
  logic          advance, rotate, move, purge, rsp_valid_d, rsp_valid_q;
  logic [NP-1:0] up;

  drill_control #(.NP(NP), .STAGES(4), .LIVE(LIVE)) u_control (
    .clk_i, .rst_i, .cfg_we_i, .rsp_valid_i(rsp_valid_q), .rsp_ready_i, .up_i,
    .advance_o(advance), .rotate_o(rotate), .purge_o(purge), .up_o(up)
  );

  assign move = advance || rotate;
  assign req_ready_o = advance;

  // ---- Stage 1: the rows of the group ------------------------------------------------------------------------------
  logic [4:1]       valid_d, valid_q;
  logic [XW-1:0]    x1_d, x1_q, x2_q, x3_q, x4_q;
  logic [NC*NP-1:0] members, members_q, live;
  logic [NC*WW-1:0] weights, weights_q;

  assign x1_d = rotate ? x4_q : {req_group_i, req_hash_i, req_size_i, req_tag_i};

  drill_table #(.NP(NP), .NG(NG), .NC(NC), .WW(WW)) u_table (
    .clk_i, .we_i(cfg_we_i), .row_i(cfg_row_i), .members_i(cfg_members_i), .weight_i(cfg_weight_i),
    .group_i(x1_d[TW+SW+32 +: GW]), .members_o(members), .weights_o(weights)
  );

  // ---- Stage 2: the component, and how many live ports it has ------------------------------------------------------
  logic [CW-1:0] component, component2_q, component3_q;
  logic [NP-1:0] ports, ports2_q, ports3_q;
  logic [KW-1:0] k, k2_q;

  assign live = members_q & {NC{up}};

  drill_component #(.NP(NP), .NC(NC), .WW(WW)) u_component (
    .hash_i(x1_q[TW+SW +: 32]), .live_i(live), .weights_i(weights_q), .component_o(component), .ports_o(ports)
  );

  assign k = KW'($countones(ports));

  // ---- Stage 3: numbers of the samples -----------------------------------------------------------------------------
  logic [48*NL-1:0]  word;
  logic [D-1:0]      sampled, sampled3_q;
  logic [PW*D-1:0]   numbers, numbers3_q;
  logic [LW-1:0]     lots3_q;

  for (genvar n = 0; n < NL; n++) begin : g_lfsr
    drill_lfsr #(.SEED(SEED + 64'(n) * 64'h9e37_79b9_7f4a_7c15)) u_lfsr (
      .clk_i, .rst_i, .leap_i(move && valid_q[2]), .word_o(word[48*n +: 48])
    );
  end

  drill_sample #(.NP(NP), .D(D)) u_sample (
    .k_i(k2_q), .words_i(word[16*D-1:0]), .valid_o(sampled), .numbers_o(numbers)
  );

  // ---- Stage 4: ports of the samples, and the memory ---------------------------------------------------------------
  logic [C-1:0]        valid4_d, valid4_q;
  logic [PW*C-1:0]     ports4_d, ports4_q;
  logic [RW-1:0]       row3, row4_q;
  logic [NW*(C+1)-1:0] pick4_d, pick4_q;
  logic [8*C-1:0]      ranks4_d, ranks4_q;
  logic                decide;
  logic [CELLS-1:0]    best_valid;
  logic [PW*CELLS-1:0] best;

  drill_select #(.NP(NP), .D(D)) u_select (.set_i(ports3_q), .numbers_i(numbers3_q), .ports_o(ports4_d[PW*D-1:0]));

  assign row3 = RW'(32'(x3_q[TW+SW+32 +: GW]) * NC + 32'(component3_q));
  assign valid4_d[D-1:0] = sampled3_q;

  if (M > 0) begin : g_memory
    drill_memory #(.NP(NP), .M(M), .ROWS(NG * NC)) u_memory (
      .clk_i, .purge_i(rst_i || (PURGE && purge)),
      .we_i(decide && !pinned_i), .write_row_i(row4_q), .write_valid_i(best_valid), .write_ports_i(best),
      .read_row_i(row3), .read_valid_o(valid4_d[C-1:D]), .read_ports_o(ports4_d[PW*C-1:PW*D])
    );
  end else begin : g_no_memory
    wire unused = ^{purge, row4_q, best_valid, best};
  end

  // A draw for every number of tied candidates, so that the decision only selects one.
  for (genvar n = 0; n <= C; n++) begin : g_pick
    assign pick4_d[n*NW +: NW] = DRAW ? NW'(((16 + NW)'(16'(lots3_q)) * (16 + NW)'(n)) >> 16) : '0;
  end
  assign ranks4_d = (DRAW || TIE == 3) ? '0 : (8*C)'(lots3_q);

  // ---- Decision ----------------------------------------------------------------------------------------------------
  logic [QW*C-1:0] own, loads;
  logic [PW-1:0]   chosen, port, rsp_port_q;
  logic            rsp_none_q;
  logic [TW-1:0]   rsp_tag_q;

  for (genvar c = 0; c < C; c++) begin : g_load
    logic [QW:0] load;
    assign load = queue_i[32'(ports4_q[c*PW +: PW])*(QW+1) +: QW+1] + (QW+1)'(own[c*QW +: QW]);
    assign loads[c*QW +: QW] = (VIS > 0 && load[QW]) ? '0 : load[QW-1:0];
  end

  drill_choose #(.NP(NP), .QW(QW), .D(D), .M(M), .TIE(TIE)) u_choose (
    .valid_i(valid4_q), .ports_i(ports4_q), .loads_i(loads), .pick_i(pick4_q), .ranks_i(ranks4_q),
    .port_o(chosen), .best_valid_o(best_valid), .best_o(best)
  );

  assign decide = advance && valid_q[4] && valid4_q[0];
  assign port = pinned_i ? pinned_port_i : chosen;
  assign {pick_valid_o, pick_port_o, pick_tag_o} = {decide, port, x4_q[TW-1:0]};

  drill_inflight #(.NP(NP), .QW(QW), .SW(SW), .C(C), .VIS(VIS), .OWN(OWN)) u_inflight (
    .clk_i, .rst_i, .valid_i(decide), .port_i(port), .size_i(x4_q[TW +: SW]), .ports_i(ports4_q), .own_o(own),
    .valid_o(join_valid_o), .port_o(join_port_o), .size_o(join_size_o)
  );

  assign valid_d = !move ? valid_q : {valid_q[3:1], rotate ? valid_q[4] : req_valid_i};
  assign rsp_valid_d = advance ? valid_q[4] : rsp_valid_q && !rsp_ready_i;

  always_ff @(posedge clk_i) begin
    valid_q <= rst_i ? '0 : valid_d;
    rsp_valid_q <= !rst_i && rsp_valid_d;
    if (move) begin
      {x1_q, x2_q, x3_q, x4_q} <= {x1_d, x1_q, x2_q, x3_q};
      {members_q, weights_q} <= {members, weights};
      {component2_q, ports2_q, k2_q} <= {component, ports, k};
      {sampled3_q, numbers3_q, ports3_q, component3_q} <= {sampled, numbers, ports2_q, component2_q};
      lots3_q <= LW'(word >> (16 * D));
      {valid4_q, ports4_q, row4_q, pick4_q, ranks4_q} <= {valid4_d, ports4_d, row3, pick4_d, ranks4_d};
    end
    if (advance) {rsp_none_q, rsp_port_q, rsp_tag_q} <= {!valid4_q[0], port, x4_q[TW-1:0]};
  end
  assign {rsp_valid_o, rsp_none_o, rsp_port_o, rsp_tag_o} = {rsp_valid_q, rsp_none_q, rsp_port_q, rsp_tag_q};
endmodule
