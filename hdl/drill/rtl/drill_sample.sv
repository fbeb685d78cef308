// min(D, k) distinct numbers below k, uniform up to k / 2^16: the first steps of a Fisher-Yates shuffle of an ordered deck,
// of which only the cards that moved are kept. Two samples take the short form: the second number skips the first.
module drill_sample #(
  parameter int NP = 48, D = 2,
  parameter int PW = (NP > 1) ? $clog2(NP) : 1, KW = $clog2(NP + 1)
) (
  input  logic [KW-1:0]   k_i,
  input  logic [16*D-1:0] words_i,
  output logic [D-1:0]    valid_o,
  output logic [PW*D-1:0] numbers_o
);
  logic [KW*D-1:0] drawn;  // the nth is uniform below k - n

  for (genvar n = 0; n < D; n++) begin : g_draw
    logic [KW-1:0] left;
    assign left = k_i - KW'(n);
    assign valid_o[n] = 32'(k_i) > n;
    assign drawn[n*KW +: KW] = KW'(((16 + KW)'(words_i[n*16 +: 16]) * (16 + KW)'(left)) >> 16);
  end

  if (D <= 2) begin : g_skip
    assign numbers_o[0 +: PW] = PW'(drawn[0 +: KW]);
    if (D == 2) begin : g_second
      assign numbers_o[PW +: PW] = PW'(drawn[KW +: KW]) + PW'(drawn[KW +: KW] >= drawn[0 +: KW]);
    end
  end else begin : g_shuffle
    logic [PW*D-1:0] moved_to, moved;  // the nth swap puts card `moved` to the place `moved_to`
    always_comb begin : p_comb
      integer n, prior;
      for (n = 0; n < D; n = n + 1) begin
        moved_to[n*PW +: PW] = PW'(drawn[n*KW +: KW] + KW'(n));
        numbers_o[n*PW +: PW] = moved_to[n*PW +: PW];
        moved[n*PW +: PW] = PW'(n);
        for (prior = 0; prior < n; prior = prior + 1) begin
          if (moved_to[prior*PW +: PW] == moved_to[n*PW +: PW]) numbers_o[n*PW +: PW] = moved[prior*PW +: PW];
          if (moved_to[prior*PW +: PW] == PW'(n)) moved[n*PW +: PW] = moved[prior*PW +: PW];
        end
      end
    end
  end
endmodule
