// Occupancy of every output queue, as all engines see it. A packet counts once its enqueue is complete, until its last bit
// has left; one that leaves before it counts makes the counter negative, which reads as empty. A switch has such counters
// without DRILL.
module drill_queues #(
  parameter int NP = 48, NE = 1, QW = 16, SW = 8,
  parameter int PW = (NP > 1) ? $clog2(NP) : 1
) (
  input  logic                 clk_i, rst_i,
  input  logic [NE-1:0]        join_valid_i,
  input  logic [PW*NE-1:0]     join_port_i,
  input  logic [SW*NE-1:0]     join_size_i,
  input  logic [NP-1:0]        leave_valid_i,
  input  logic [SW*NP-1:0]     leave_size_i,
  output logic [(QW+1)*NP-1:0] queue_o
);
  for (genvar p = 0; p < NP; p++) begin : g_port
    logic [NE-1:0] joins;
    logic [QW:0]   queue_q;

    for (genvar e = 0; e < NE; e++) begin : g_engine
      assign joins[e] = join_valid_i[e] && join_port_i[e*PW +: PW] == PW'(p);
    end

    always_ff @(posedge clk_i) begin : p_count
      integer      e;
      logic [QW:0] sum;
      if (rst_i) queue_q <= '0;
      else if (leave_valid_i[p] || |joins) begin
        sum = leave_valid_i[p] ? queue_q - (QW+1)'(leave_size_i[p*SW +: SW]) : queue_q;
        for (e = 0; e < NE; e = e + 1) begin
          if (joins[e]) sum = sum + (QW+1)'(join_size_i[e*SW +: SW]);
        end
        queue_q <= sum;
      end
    end
    assign queue_o[p*(QW+1) +: QW+1] = queue_q;
  end
endmodule
