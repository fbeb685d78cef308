// Self-checking bench: plays one line of `stimulus.mem` per clock and compares all that the engines answer with the line of
// `expected.mem`. `weft vectors drill` writes both, and `parameters.svh`; the layout of a line is in hdl/drill/README.md.
`include "parameters.svh"

module tb_drill;
  localparam int PW = (`NP > 1) ? $clog2(`NP) : 1;
  localparam int GW = (`NG > 1) ? $clog2(`NG) : 1;
  localparam int RW = (`NG * `NC > 1) ? $clog2(`NG * `NC) : 1;
  localparam int TW = 8;
  localparam int LEAVES = `NE + 1;           // packets that may leave in one clock
  localparam int LEAVE = 9 + `SW;            // valid, port, size
  localparam int REQUEST = 18 + 32 + `SW;    // valid, ready for the response, group, hash, size
  localparam int STIMULUS = 11 + LEAVES * LEAVE + `NE * REQUEST;
  localparam int ANSWER = 3 + 8 + TW;        // ready, valid, none, port, tag
  localparam int EXPECTED = `NE * ANSWER;
  localparam int ROW = RW + `NP + `WW;

  logic                clk = 1'b0;
  logic                rst, cfg_we;
  logic [STIMULUS-1:0] stimulus [`CLOCKS];
  logic [EXPECTED-1:0] expected [`CLOCKS];
  logic [ROW-1:0]      rows [`ROWS];
  logic [STIMULUS-1:0] line;
  logic [EXPECTED-1:0] want;
  logic [ROW-1:0]      row;
  logic [`NP-1:0]      leave_valid, up;
  logic [`SW*`NP-1:0]  leave_size;
  logic [`NE-1:0]      req_valid, req_ready, rsp_valid, rsp_ready, rsp_none, pick_valid;
  logic [GW*`NE-1:0]   req_group;
  logic [32*`NE-1:0]   req_hash;
  logic [`SW*`NE-1:0]  req_size;
  logic [TW*`NE-1:0]   req_tag, rsp_tag;
  logic [PW*`NE-1:0]   rsp_port, pick_port;
  integer              now = 0, next_row = 0, decisions = 0, failures = 0, e;
  logic                playing = 1'b0;

  always #5 clk = ~clk;

  drill #(
    .NP(`NP), .NE(`NE), .QW(`QW), .SW(`SW), .D(`D), .M(`M), .NG(`NG), .NC(`NC), .WW(`WW), .TW(TW), .TIE(`TIE),
    .VIS(`VIS), .OWN(`OWN), .LIVE(1'b1), .SEED(`SEED)
  ) dut (
    .clk_i(clk), .rst_i(rst),
    .req_valid_i(req_valid), .req_ready_o(req_ready), .req_group_i(req_group), .req_hash_i(req_hash),
    .req_size_i(req_size), .req_tag_i(req_tag),
    .rsp_valid_o(rsp_valid), .rsp_ready_i(rsp_ready), .rsp_none_o(rsp_none), .rsp_port_o(rsp_port), .rsp_tag_o(rsp_tag),
    .pick_valid_o(pick_valid), .pick_port_o(pick_port),
    .leave_valid_i(leave_valid), .leave_size_i(leave_size), .up_i(up),
    .cfg_we_i(cfg_we), .cfg_row_i(row[`NP+`WW +: RW]), .cfg_members_i(row[`WW +: `NP]), .cfg_weight_i(row[0 +: `WW])
  );

  for (genvar g = 0; g < `NE; g++) begin : g_properties
    drill_properties #(.NP(`NP), .NG(`NG), .NC(`NC), .TW(TW)) u_properties (
      .clk_i(clk), .rst_i(rst), .up_i(up), .cfg_we_i(cfg_we), .cfg_row_i(row[`NP+`WW +: RW]),
      .cfg_members_i(row[`WW +: `NP]), .req_valid_i(req_valid[g]), .req_ready_i(req_ready[g]),
      .req_group_i(req_group[g*GW +: GW]), .req_tag_i(req_tag[g*TW +: TW]),
      .rsp_valid_i(rsp_valid[g]), .rsp_ready_i(rsp_ready[g]), .rsp_none_i(rsp_none[g]),
      .rsp_port_i(rsp_port[g*PW +: PW]), .rsp_tag_i(rsp_tag[g*TW +: TW]),
      .pick_valid_i(pick_valid[g]), .pick_port_i(pick_port[g*PW +: PW])
    );
    drill_candidate_properties #(.NP(`NP), .QW(`QW), .D(`D), .M(`M)) u_candidates (
      .clk_i(clk), .pick_valid_i(pick_valid[g]), .pick_port_i(pick_port[g*PW +: PW]),
      .valid_i(dut.g_engine[g].u_engine.valid4_q), .ports_i(dut.g_engine[g].u_engine.ports4_q),
      .loads_i(dut.g_engine[g].u_engine.loads)
    );
  end

  initial begin
    $readmemh("stimulus.mem", stimulus);
    $readmemh("expected.mem", expected);
    $readmemh("rows.mem", rows);
`ifdef WAVES
    $dumpfile("drill.vcd");
    $dumpvars(1, tb_drill);
`endif
  end

  // The line of a clock as signals.
  assign {rst, cfg_we} = line[STIMULUS-1 -: 2];
  assign row = rows[next_row];
  for (genvar g = 0; g < `NE; g++) begin : g_request
    assign {req_valid[g], rsp_ready[g]} = line[g*REQUEST + 48 + `SW +: 2];
    assign req_group[g*GW +: GW] = line[g*REQUEST + 32 + `SW +: GW];
    assign req_hash[g*32 +: 32] = line[g*REQUEST + `SW +: 32];
    assign req_size[g*`SW +: `SW] = line[g*REQUEST +: `SW];
    assign req_tag[g*TW +: TW] = req_hash[g*32 +: TW];
  end
  always_comb begin : p_leaves
    integer n;
    leave_valid = '0;
    leave_size = '0;
    for (n = 0; n < LEAVES; n = n + 1) begin
      if (line[`NE*REQUEST + n*LEAVE + 8 + `SW]) begin
        leave_valid[line[`NE*REQUEST + n*LEAVE + `SW +: PW]] = 1'b1;
        leave_size[line[`NE*REQUEST + n*LEAVE + `SW +: 8]*`SW +: `SW] = line[`NE*REQUEST + n*LEAVE +: `SW];
      end
    end
  end

  always @(posedge clk) begin
    if (playing && !rst) begin
      for (e = 0; e < `NE; e = e + 1) begin
        check(e, want[e*ANSWER +: ANSWER], req_ready[e], rsp_valid[e], rsp_none[e], 8'(rsp_port[e*PW +: PW]),
              rsp_tag[e*TW +: TW]);
        if (pick_valid[e]) decisions = decisions + 1;
      end
    end
    if (now == `CLOCKS || failures > 10) finish;
    else begin
      line <= stimulus[now];
      want <= expected[now];
      next_row <= (playing && cfg_we) ? next_row + 1 : next_row;
      if (now == 0) up <= '1;
      else if (stimulus[now][STIMULUS-3]) begin
        up[stimulus[now][STIMULUS-11 +: PW]] <= ~up[stimulus[now][STIMULUS-11 +: PW]];
      end
      playing <= 1'b1;
      now <= now + 1;
    end
  end

  task automatic check(input integer engine, input logic [ANSWER-1:0] w, input logic ready, input logic valid,
                       input logic none, input logic [7:0] chosen, input logic [TW-1:0] tag);
    if (ready !== w[ANSWER-1] || valid !== w[ANSWER-2] ||
        (valid && (none !== w[ANSWER-3] || tag !== w[TW-1:0] || (!none && chosen !== w[TW +: 8])))) begin
      failures = failures + 1;
      $display("clock %0d, engine %0d: ready %b valid %b none %b port %0d tag %h, expected %b %b %b %0d %h", now - 1,
               engine, ready, valid, none, chosen, tag, w[ANSWER-1], w[ANSWER-2], w[ANSWER-3], w[TW +: 8], w[TW-1:0]);
    end
  endtask

  task automatic finish;
    if (failures == 0 && decisions == `DECISIONS) begin
      $display("PASS: %0d decisions in %0d clocks", decisions, `CLOCKS);
      $finish;
    end else begin
      $display("FAIL: %0d mismatches, %0d of %0d decisions", failures, decisions, `DECISIONS);
      $fatal(1, "the engine does not decide as the simulator does");
    end
  endtask
endmodule
