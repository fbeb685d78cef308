// What holds for an engine whatever its traffic. The same file is checked in simulation and proven by a model checker.
module drill_properties #(
  parameter int NP = 48,
  parameter int NG = 1,
  parameter int NC = 1,
  parameter int TW = 8,
  parameter int PW = (NP > 1) ? $clog2(NP) : 1,
  parameter int GW = (NG > 1) ? $clog2(NG) : 1,
  parameter int RW = (NG * NC > 1) ? $clog2(NG * NC) : 1
) (
  input logic          clk_i,
  input logic          rst_i,
  input logic [NP-1:0] up_i,
  input logic          cfg_we_i,
  input logic [RW-1:0] cfg_row_i,
  input logic [NP-1:0] cfg_members_i,
  input logic          req_valid_i,
  input logic          req_ready_i,
  input logic [GW-1:0] req_group_i,
  input logic [TW-1:0] req_tag_i,
  input logic          rsp_valid_i,
  input logic          rsp_ready_i,
  input logic          rsp_none_i,
  input logic [PW-1:0] rsp_port_i,
  input logic [TW-1:0] rsp_tag_i,
  input logic          pick_valid_i,
  input logic [PW-1:0] pick_port_i
);
  localparam int DEPTH = 5;      // requests that an engine holds: four stages and a response
  localparam int PATIENCE = 14;  // clocks to an answer after the last change: the stages go round twice at most, then on

  // Requests that are not answered yet, oldest first.
  logic [TW*DEPTH-1:0] tags_d, tags_q;
  logic [GW*DEPTH-1:0] groups_d, groups_q;
  logic [2:0]          open_d, open_q;
  logic [4:0]          quiet_q;   // clocks in which nothing stood in the way of an answer
  logic                past_q, stuck_q, none_q;
  logic [PW-1:0]       port_q;
  logic [TW-1:0]       tag_q;
  logic [NP-1:0]       up_q;
  logic                took, gave;

  // Rows as they were written, and the group of the request whose turn it is: the oldest without an answer.
  logic [NP-1:0]       rows_q [NG*NC];
  logic [GW-1:0]       group;
  logic [NC-1:0]       has;       // components of that group which have the port that is decided

  assign took = req_valid_i && req_ready_i;
  assign gave = rsp_valid_i && rsp_ready_i;

  assign group = rsp_valid_i ? groups_q[GW +: GW] : groups_q[0 +: GW];
  for (genvar c = 0; c < NC; c++) begin : g_has
    logic [NP-1:0] row;
    assign row = rows_q[RW'(32'(group) * NC + c)];
    assign has[c] = row[pick_port_i];
  end

  always_comb begin
    tags_d = tags_q;
    groups_d = groups_q;
    open_d = open_q;
    if (gave) begin
      tags_d = tags_d >> TW;
      groups_d = groups_d >> GW;
      open_d = open_d - 3'd1;
    end
    if (took) begin
      tags_d[32'(open_d)*TW +: TW] = req_tag_i;
      groups_d[32'(open_d)*GW +: GW] = req_group_i;
      open_d = open_d + 3'd1;
    end
  end

  initial past_q = 1'b0;
  always_ff @(posedge clk_i) begin
    past_q <= rst_i || past_q;
    tags_q <= tags_d;
    groups_q <= groups_d;
    if (cfg_we_i) rows_q[cfg_row_i] <= cfg_members_i;
    open_q <= rst_i ? '0 : open_d;
    up_q <= up_i;
    quiet_q <= (rst_i || gave || open_q == '0 || !rsp_ready_i || cfg_we_i || up_i != up_q) ? '0 : quiet_q + 5'd1;
    stuck_q <= !rst_i && rsp_valid_i && !rsp_ready_i;
    {none_q, port_q, tag_q} <= {rsp_none_i, rsp_port_i, rsp_tag_i};
  end

  always @(posedge clk_i) begin
    if (past_q && !rst_i) begin
      // A decision never names a port that is down in its clock, nor one that its group does not have.
      if (pick_valid_i) assert (up_i[pick_port_i]);
      if (pick_valid_i) assert (|has);
      // Nothing is decided while an answer waits.
      if (pick_valid_i) assert (!rsp_valid_i || rsp_ready_i);
      // No answer without a request; never more requests than the stages hold; answers in order.
      if (rsp_valid_i) assert (open_q != '0);
      assert (32'(open_q) <= DEPTH);
      if (rsp_valid_i) assert (rsp_tag_i == tags_q[TW-1:0]);
      // An answer that waits does not change.
      if (stuck_q) assert (rsp_valid_i && {rsp_none_i, rsp_port_i, rsp_tag_i} == {none_q, port_q, tag_q});
      // Every request is answered.
      assert (32'(quiet_q) <= PATIENCE);
    end
  end
endmodule
