// Samples are below the number of ports, all different, and as many as wanted or possible, for every random word.
module prove_sample #(
  parameter int NP = 11,
  parameter int D  = 4
) (
  input logic [$clog2(NP+1)-1:0]   k_i,
  input logic [16*D-1:0]           words_i
);
  localparam int PW = $clog2(NP);

  logic [D-1:0]    valid;
  logic [PW*D-1:0] numbers;

  drill_sample #(.NP(NP), .D(D)) u_sample (.k_i, .words_i, .valid_o(valid), .numbers_o(numbers));

  always_comb begin : p_prove
    integer a, b;
    {a, b} = 0;
    if (32'(k_i) <= NP) begin
      for (a = 0; a < D; a = a + 1) begin
        assert (valid[a] == (32'(k_i) > a));
        if (valid[a]) assert (numbers[a*PW +: PW] < k_i);
        for (b = 0; b < a; b = b + 1) begin
          if (valid[a] && valid[b]) assert (numbers[a*PW +: PW] != numbers[b*PW +: PW]);
        end
      end
    end
  end
endmodule
