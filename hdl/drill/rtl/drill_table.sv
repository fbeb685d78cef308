// The group table of one engine: NC rows per group, each a component: the set of its ports, and its weight. All rows of
// a group are read at once. A row that is written is used from the next clock on.
module drill_table #(
  parameter int NP = 48, NG = 16, NC = 4, WW = 4,
  parameter int GW = (NG > 1) ? $clog2(NG) : 1, RW = (NG * NC > 1) ? $clog2(NG * NC) : 1
) (
  input  logic             clk_i, we_i,
  input  logic [RW-1:0]    row_i,
  input  logic [NP-1:0]    members_i,
  input  logic [WW-1:0]    weight_i,
  input  logic [GW-1:0]    group_i,
  output logic [NC*NP-1:0] members_o,
  output logic [NC*WW-1:0] weights_o
);
  logic [NP+WW-1:0] rows_q [NG*NC];

  always_ff @(posedge clk_i) begin
    if (we_i) rows_q[row_i] <= {members_i, weight_i};
  end

  for (genvar c = 0; c < NC; c++) begin : g_component
    logic [NP+WW-1:0] row;
    assign row = rows_q[RW'(32'(group_i) * NC + c)];
    assign members_o[c*NP +: NP] = row[WW +: NP];
    assign weights_o[c*WW +: WW] = row[0 +: WW];
  end
endmodule
