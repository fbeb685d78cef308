// The chosen port is a candidate, and no candidate is less loaded; the memory gets distinct candidates, the winner first,
// and no candidate left out is less loaded than one taken in.
module prove_choose #(
  parameter int D   = 2,
  parameter int M   = 1,
  parameter int TIE = 0
) (
  input logic [D+M-1:0]                     valid_i,
  input logic [3*(D+M)-1:0]                 ports_i,
  input logic [4*8-1:0]                     queues_i,   // queue lengths by port
  input logic [15:0]                        lots_i,
  input logic [8*(D+M)-1:0]                 ranks_i
);
  localparam int C = D + M, NW = $clog2(C + 1), CELLS = (M > 0) ? M : 1;

  logic [4*C-1:0]      loads;
  logic [NW*(C+1)-1:0] pick;
  logic [2:0]          chosen;
  logic [CELLS-1:0]    best_valid;
  logic [3*CELLS-1:0]  best;
  logic                legal;     // as the stages before make them: the first sample is there, and all samples differ

  for (genvar n = 0; n <= C; n++) begin : g_pick
    assign pick[n*NW +: NW] = NW'(((16 + NW)'(lots_i) * (16 + NW)'(n)) >> 16);
  end
  for (genvar c = 0; c < C; c++) begin : g_load
    assign loads[c*4 +: 4] = queues_i[32'(ports_i[c*3 +: 3])*4 +: 4];
  end

  drill_choose #(.NP(8), .QW(4), .D(D), .M(M), .TIE(TIE)) u_choose (
    .valid_i, .ports_i, .loads_i(loads), .pick_i(pick), .ranks_i, .port_o(chosen), .best_valid_o(best_valid), .best_o(best)
  );

  always_comb begin : p_legal
    integer a, b;
    {a, b} = 0;
    legal = valid_i[0];
    for (a = 0; a < C; a = a + 1) begin
      for (b = 0; b < a; b = b + 1) begin
        if (valid_i[a] && valid_i[b] && (a < D || b >= D) && ports_i[a*3 +: 3] == ports_i[b*3 +: 3]) legal = 1'b0;
      end
    end
  end

  logic [CELLS*C-1:0] is_cell;    // candidate c is what cell n remembers
  logic [C-1:0]       is_chosen, kept;
  for (genvar c = 0; c < C; c++) begin : g_is
    assign is_chosen[c] = valid_i[c] && ports_i[c*3 +: 3] == chosen;
    for (genvar n = 0; n < CELLS; n++) begin : g_cell
      assign is_cell[c*CELLS + n] = valid_i[c] && best_valid[n] && ports_i[c*3 +: 3] == best[n*3 +: 3];
    end
    assign kept[c] = |is_cell[c*CELLS +: CELLS];
  end

  always_comb begin : p_prove
    integer a, b;
    {a, b} = 0;
    if (legal) begin
      assert (|is_chosen);
      for (a = 0; a < C; a = a + 1) begin
        if (valid_i[a]) assert (queues_i[32'(chosen)*4 +: 4] <= loads[a*4 +: 4]);
        for (b = 0; b < C; b = b + 1) begin
          if (M > 0 && valid_i[a] && !kept[a] && kept[b]) assert (loads[b*4 +: 4] <= loads[a*4 +: 4]);
        end
      end
      if (M > 0) assert (best_valid[0] && best[2:0] == chosen);
      for (a = 0; a < CELLS; a = a + 1) begin
        for (b = 0; b < a; b = b + 1) begin
          if (best_valid[a] && best_valid[b]) assert (best[a*3 +: 3] != best[b*3 +: 3]);
        end
      end
    end
  end
endmodule
