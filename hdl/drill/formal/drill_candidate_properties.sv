// What holds for a decision and its candidates: D samples, then M remembered ports. Checked in simulation, for candidates as the
// stages before make them; prove_choose proves it of the decision for all candidates.
module drill_candidate_properties #(
  parameter int NP = 48, QW = 16, D = 2, M = 1,
  parameter int PW = (NP > 1) ? $clog2(NP) : 1, C = D + M
) (
  input logic            clk_i, pick_valid_i,
  input logic [PW-1:0]   pick_port_i,
  input logic [C-1:0]    valid_i,
  input logic [PW*C-1:0] ports_i,
  input logic [QW*C-1:0] loads_i
);
  always @(posedge clk_i) begin : p_check
    integer        c;
    logic          candidate, once;
    logic [QW-1:0] least, chosen;
    logic [NP-1:0] sampled, remembered;
    if (pick_valid_i) begin
      {candidate, once, least, chosen, sampled, remembered} = {1'b0, 1'b1, {QW{1'b1}}, {QW{1'b0}}, {2*NP{1'b0}}};
      for (c = 0; c < C; c = c + 1) begin
        if (valid_i[c]) begin
          if (loads_i[c*QW +: QW] < least) least = loads_i[c*QW +: QW];
          if (ports_i[c*PW +: PW] == pick_port_i) {candidate, chosen} = {1'b1, loads_i[c*QW +: QW]};
          if (c < D ? sampled[ports_i[c*PW +: PW]] : remembered[ports_i[c*PW +: PW]]) once = 1'b0;
          if (c < D) sampled[ports_i[c*PW +: PW]] = 1'b1;
          else remembered[ports_i[c*PW +: PW]] = 1'b1;
        end
      end
      assert (candidate);
      assert (chosen == least);  // no candidate has a shorter queue
      assert (once);             // no port is sampled twice, none remembered twice
    end
  end
endmodule
