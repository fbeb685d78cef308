// The ports behind numbers: number i is the port of the i-th bit that is set in a set of ports. Members are counted by
// eights, so that no chain of adders is longer than that.
module drill_select #(
  parameter int NP = 48, D = 2,
  parameter int PW = (NP > 1) ? $clog2(NP) : 1, KW = $clog2(NP + 1)
) (
  input  logic [NP-1:0]   set_i,
  input  logic [PW*D-1:0] numbers_i,
  output logic [PW*D-1:0] ports_o
);
  always_comb begin : p_select
    integer        p, n;
    logic [KW-1:0] below;   // members below port p
    n = 0;
    below = '0;
    ports_o = '0;
    for (p = 0; p < NP; p = p + 1) begin
      if (p % 8 == 0) below = KW'($countones(set_i & ((NP'(1) << p) - NP'(1))));
      if (set_i[p]) begin
        for (n = 0; n < D; n = n + 1) begin
          if (below == KW'(numbers_i[n*PW +: PW])) ports_o[n*PW +: PW] = ports_o[n*PW +: PW] | PW'(p);
        end
      end
      below = below + KW'(set_i[p]);
    end
  end
endmodule
