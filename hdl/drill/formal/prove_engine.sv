// drill_properties for a whole switch of two engines, small in every parameter. Requests, back pressure, departures, failures
// and rewritten rows are free, except that a request waits until it is taken.
module prove_engine #(
  parameter int M = 1, TIE = 0,
  parameter bit PURGE = 1'b1
) (
  input logic        clk_i,
  input logic        rst_i,
  input logic [1:0]  req_valid_i,
  input logic [1:0]  req_group_i,
  input logic [63:0] req_hash_i,
  input logic [3:0]  req_size_i,
  input logic [3:0]  req_tag_i,
  input logic [1:0]  rsp_ready_i,
  input logic [2:0]  leave_valid_i,
  input logic [5:0]  leave_size_i,
  input logic [2:0]  up_i,
  input logic        cfg_we_i,
  input logic [1:0]  cfg_row_i,
  input logic [2:0]  cfg_members_i,
  input logic [1:0]  cfg_weight_i
);
  logic [1:0] req_ready, rsp_valid, rsp_none, pick_valid;
  logic [3:0] rsp_port, rsp_tag, pick_port;

  drill #(.NP(3), .NE(2), .QW(4), .SW(2), .D(2), .M(M), .NG(2), .NC(2), .WW(2), .TW(2), .TIE(TIE), .VIS(1), .PURGE(PURGE)) dut (
    .clk_i, .rst_i, .req_valid_i, .req_ready_o(req_ready), .req_group_i, .req_hash_i, .req_size_i, .req_tag_i,
    .rsp_valid_o(rsp_valid), .rsp_ready_i, .rsp_none_o(rsp_none), .rsp_port_o(rsp_port), .rsp_tag_o(rsp_tag),
    .pick_valid_o(pick_valid), .pick_port_o(pick_port), .leave_valid_i, .leave_size_i, .up_i,
    .cfg_we_i, .cfg_row_i, .cfg_members_i, .cfg_weight_i
  );

  logic started_q;
  initial started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  always @(posedge clk_i) assume (rst_i == !started_q);

  for (genvar e = 0; e < 2; e++) begin : g_properties
    drill_properties #(.NP(3), .NG(2), .NC(2), .TW(2)) u_properties (
      .clk_i, .rst_i, .up_i, .cfg_we_i, .cfg_row_i, .cfg_members_i,
      .req_valid_i(req_valid_i[e]), .req_ready_i(req_ready[e]), .req_group_i(req_group_i[e]), .req_tag_i(req_tag_i[e*2 +: 2]),
      .rsp_valid_i(rsp_valid[e]), .rsp_ready_i(rsp_ready_i[e]), .rsp_none_i(rsp_none[e]),
      .rsp_port_i(rsp_port[e*2 +: 2]), .rsp_tag_i(rsp_tag[e*2 +: 2]),
      .pick_valid_i(pick_valid[e]), .pick_port_i(pick_port[e*2 +: 2])
    );
  end
endmodule
