// The decision: the least loaded of C candidates (D samples, then M cells of the memory), and the M best for the memory.
// TIE: 0 random, 1 a remembered port first, 2 a sample first, 3 the lowest port. With M <= 1 and TIE = 0 one of the tied
// candidates is drawn (pick_i: which, by how many there are); otherwise every candidate has a rank.
module drill_choose #(
  parameter int NP = 48, QW = 16, D = 2, M = 1, TIE = 0,
  parameter int PW = (NP > 1) ? $clog2(NP) : 1, C = D + M, NW = $clog2(C + 1), CELLS = (M > 0) ? M : 1
) (
  input  logic [C-1:0]        valid_i,
  input  logic [PW*C-1:0]     ports_i,
  input  logic [QW*C-1:0]     loads_i,
  input  logic [NW*(C+1)-1:0] pick_i,
  input  logic [8*C-1:0]      ranks_i,
  output logic [PW-1:0]       port_o,
  output logic [CELLS-1:0]    best_valid_o,
  output logic [PW*CELLS-1:0] best_o
);
  logic [C-1:0] valid;  // a port that is both sampled and remembered counts once: as remembered if those come first

  always_comb begin : p_once
    integer i, j;
    valid = valid_i;
    for (i = 0; i < D; i = i + 1) begin
      for (j = D; j < C; j = j + 1) begin
        if (valid_i[i] && valid_i[j] && ports_i[i*PW +: PW] == ports_i[j*PW +: PW]) valid[TIE == 1 ? i : j] = 1'b0;
      end
    end
  end

  if (TIE == 0 && M <= 1) begin : g_draw
    logic [C-1:0]  least;
    logic [NW-1:0] tied, left;
    wire unused = ^ranks_i;

    always_comb begin : p_draw
      integer i, j;
      {tied, port_o} = '0;
      for (i = 0; i < C; i = i + 1) begin
        least[i] = valid[i];
        for (j = 0; j < C; j = j + 1) begin
          if (valid[j] && loads_i[j*QW +: QW] < loads_i[i*QW +: QW]) least[i] = 1'b0;
        end
        tied = tied + NW'(least[i]);
      end
      left = pick_i[32'(tied)*NW +: NW];
      for (i = 0; i < C; i = i + 1) begin
        if (least[i] && left == '0) port_o = port_o | ports_i[i*PW +: PW];
        left = left - NW'(least[i]);
      end
    end
    assign {best_valid_o, best_o} = {1'b1, port_o};
  end else begin : g_rank
    localparam int RW = 1 + ((PW > 8) ? PW : 8), KW = 1 + QW + RW;
    logic [RW-1:0]   rank;
    logic [KW*C-1:0] keys;   // by which candidates are sorted
    logic [NW*C-1:0] order;  // how many come before each candidate
    logic [NW-1:0]   place;
    wire unused = ^{pick_i, ranks_i};

    always_comb begin : p_rank
      integer i, j, n;
      {order, port_o, best_valid_o, best_o} = '0;
      for (i = 0; i < C; i = i + 1) begin
        unique case (TIE)
          0: rank = RW'(ranks_i[i*8 +: 8]);
          1: rank = (i < D) ? {1'b1, (RW-1)'(ranks_i[i*8 +: 8])} : RW'(i - D);
          2: rank = {(i >= D), (RW-1)'(ranks_i[i*8 +: 8])};
          default: rank = RW'(ports_i[i*PW +: PW]);
        endcase
        keys[i*KW +: KW] = {~valid[i], loads_i[i*QW +: QW], rank};
      end
      for (i = 0; i < C; i = i + 1) begin
        place = order[i*NW +: NW];
        for (j = i + 1; j < C; j = j + 1) begin
          if (keys[j*KW +: KW] < keys[i*KW +: KW]) place = place + NW'(1);
          else order[j*NW +: NW] = order[j*NW +: NW] + NW'(1);
        end
        if (place == '0) port_o = port_o | ports_i[i*PW +: PW];
        for (n = 0; n < M; n = n + 1) begin
          if (place == NW'(n)) begin
            best_valid_o[n] = best_valid_o[n] | valid[i];
            best_o[n*PW +: PW] = best_o[n*PW +: PW] | ports_i[i*PW +: PW];
          end
        end
      end
    end
  end
endmodule
