// M remembered ports per component, best first. What is written is read in the same clock; a purge forgets everything.
module drill_memory #(
  parameter int NP = 48, M = 1, ROWS = 64,
  parameter int PW = (NP > 1) ? $clog2(NP) : 1, RW = (ROWS > 1) ? $clog2(ROWS) : 1
) (
  input  logic            clk_i, purge_i, we_i,
  input  logic [RW-1:0]   write_row_i,
  input  logic [M-1:0]    write_valid_i,
  input  logic [PW*M-1:0] write_ports_i,
  input  logic [RW-1:0]   read_row_i,
  output logic [M-1:0]    read_valid_o,
  output logic [PW*M-1:0] read_ports_o
);
  logic [PW*M-1:0]   ports_q [ROWS];
  logic [M*ROWS-1:0] valid_q;
  logic              forward;

  always_ff @(posedge clk_i) begin
    if (purge_i) valid_q <= '0;
    else if (we_i) valid_q[32'(write_row_i)*M +: M] <= write_valid_i;
    if (we_i) ports_q[write_row_i] <= write_ports_i;
  end

  assign forward = we_i && write_row_i == read_row_i;
  assign read_valid_o = forward ? write_valid_i : valid_q[32'(read_row_i)*M +: M];
  assign read_ports_o = forward ? write_ports_i : ports_q[read_row_i];
endmodule
