// The ports behind numbers: number i is the port of the i-th bit that is set in a set of ports. Ports are taken by eights: which
// eight has the member, then which of the eight it is.
module drill_select #(
  parameter int NP = 48, D = 2,
  parameter int PW = (NP > 1) ? $clog2(NP) : 1, KW = $clog2(NP + 1)
) (
  input  logic [NP-1:0]   set_i,
  input  logic [PW*D-1:0] numbers_i,
  output logic [PW*D-1:0] ports_o
);
  localparam int EIGHTS = (NP + 7) / 8;

  always_comb begin : p_select
    integer        e, p, n;
    logic [7:0]    eight;
    logic [KW-1:0] below, place;  // members below these eight; the number among them
    {p, n, place, ports_o} = '0;
    for (e = 0; e < EIGHTS; e = e + 1) begin
      eight = 8'((NP + 8)'(set_i) >> (8 * e));
      below = KW'($countones(set_i & ((NP'(1) << (8 * e)) - NP'(1))));
      for (n = 0; n < D; n = n + 1) begin
        place = KW'(numbers_i[n*PW +: PW]) - below;
        if (32'(place) < $countones(eight)) begin
          for (p = 0; p < 8; p = p + 1) begin
            if (eight[p] && 32'(place[(KW < 3 ? KW : 3)-1:0]) == $countones(eight & ((8'd1 << p) - 8'd1))) begin
              ports_o[n*PW +: PW] = ports_o[n*PW +: PW] | PW'(8 * e + p);
            end
          end
        end
      end
    end
  end
endmodule
