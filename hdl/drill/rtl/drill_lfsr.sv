// Pseudo-random words: a 64-bit Fibonacci shift register, x^64 + x^63 + x^61 + x^60 + 1, that leaps 48 places per word,
// so that no bit is used twice. Each new bit is one four-input XOR of old ones. The period is 2^64 - 1; 48 divides it
// in part, so words repeat after (2^64 - 1) / 3 leaps. A seed of zero counts as one: the register never holds zero.
module drill_lfsr #(
  parameter logic [63:0] SEED = 64'd1
) (
  input  logic        clk_i, rst_i, leap_i,
  output logic [47:0] word_o
);
  logic [63:0] state_d, state_q;

  always_comb begin
    state_d = {state_q[15:0],
               state_q[63:16] ^ state_q[62:15] ^ state_q[60:13] ^ state_q[59:12]};
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) state_q <= (SEED == 64'd0) ? 64'd1 : SEED;
    else if (leap_i) state_q <= state_d;
  end

  // A new bit is the XOR of two bits at even and two at odd places. Fields of 16 bits have the even places on top, so that no
  // sample follows from those before it.
  for (genvar b = 0; b < 24; b++) begin : g_bit
    assign word_o[16 * (b / 8) + 8 + b % 8] = state_q[2*b];
    assign word_o[16 * (b / 8) + b % 8] = state_q[2*b + 1];
  end
endmodule
