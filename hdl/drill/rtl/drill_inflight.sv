// Decisions of one engine that the others do not see yet: they stay here for VIS clocks. The engine itself sees them at
// once (OWN = 1) or not (OWN = 0).
module drill_inflight #(
  parameter int NP = 48, QW = 16, SW = 8, C = 3, VIS = 1,
  parameter bit OWN = 1'b1,
  parameter int PW = (NP > 1) ? $clog2(NP) : 1
) (
  input  logic            clk_i, rst_i, valid_i,
  input  logic [PW-1:0]   port_i,
  input  logic [SW-1:0]   size_i,
  input  logic [PW*C-1:0] ports_i,
  output logic [QW*C-1:0] own_o,  // in flight to each of these ports
  output logic            valid_o,  // a decision becomes visible
  output logic [PW-1:0]   port_o,
  output logic [SW-1:0]   size_o
);
  if (VIS == 0) begin : g_none
    wire unused = ^{clk_i, rst_i, ports_i};
    assign own_o = '0;
    assign {valid_o, port_o, size_o} = {valid_i, port_i, size_i};
  end else begin : g_some
    logic [VIS-1:0]    valid_q;
    logic [PW*VIS-1:0] port_q;
    logic [SW*VIS-1:0] size_q;

    always_ff @(posedge clk_i) begin
      valid_q <= rst_i ? '0 : VIS'({valid_q, valid_i});
      {port_q, size_q} <= {(PW*VIS)'({port_q, port_i}), (SW*VIS)'({size_q, size_i})};
    end
    assign {valid_o, port_o, size_o} = {valid_q[VIS-1], port_q[(VIS-1)*PW +: PW], size_q[(VIS-1)*SW +: SW]};

    always_comb begin : p_comb
      integer c, n;
      own_o = '0;
      for (c = 0; c < C; c = c + 1) begin
        for (n = 0; n < VIS; n = n + 1) begin
          if (OWN && valid_q[n] && port_q[n*PW +: PW] == ports_i[c*PW +: PW])
            own_o[c*QW +: QW] = own_o[c*QW +: QW] + QW'(size_q[n*SW +: SW]);
        end
      end
    end
  end
endmodule
