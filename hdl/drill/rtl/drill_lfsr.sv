// Pseudo-random words: the sum of two Fibonacci shift registers, x^64 + x^63 + x^61 + x^60 + 1 and x^63 + x^62 + 1, that leap 48
// places per word, so that no bit is used twice. The words of one register alone are related by sums of four bits, which shows
// where a memory keeps a port; one register forwards and the other backwards have no such relation. Words repeat after
// (2^64 - 1) / 3 times 2^63 - 1 leaps. A seed of zero counts as one: no register ever holds zero.
module drill_lfsr #(
  parameter logic [63:0] SEED = 64'd1
) (
  input  logic        clk_i, rst_i, leap_i,
  output logic [47:0] word_o
);
  logic [63:0] long_d, long_q;
  logic [62:0] short_d, short_q;

  assign long_d = {long_q[15:0], long_q[63:16] ^ long_q[62:15] ^ long_q[60:13] ^ long_q[59:12]};
  assign short_d = {short_q[14:0], short_q[62:15] ^ short_q[61:14]};

  always_ff @(posedge clk_i) begin
    if (rst_i) {long_q, short_q} <= {SEED | 64'(SEED == '0), SEED[63:1] | 63'(SEED[63:1] == '0)};
    else if (leap_i) {long_q, short_q} <= {long_d, short_d};
  end

  // Fields of 16 bits have the even places of the sum on top.
  for (genvar b = 0; b < 24; b++) begin : g_sum
    assign word_o[16 * (b / 8) + 8 + b % 8] = long_q[2*b] ^ short_q[62 - 2*b];
    assign word_o[16 * (b / 8) + b % 8] = long_q[2*b + 1] ^ short_q[61 - 2*b];
  end
endmodule
