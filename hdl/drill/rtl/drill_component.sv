// Which component takes a flow: the place of its hash among the weights of the components that have a live port.
module drill_component #(
  parameter int NP = 48, NC = 4, WW = 4,
  parameter int CW = (NC > 1) ? $clog2(NC) : 1
) (
  input  logic [31:0]      hash_i,
  input  logic [NC*NP-1:0] live_i,  // live ports of each component
  input  logic [NC*WW-1:0] weights_i,
  output logic [CW-1:0]    component_o,
  output logic [NP-1:0]    ports_o  // empty if no component has a live port
);
  localparam int SW = WW + CW;  // bits of a sum of weights

  logic [SW-1:0]    whole, place;
  logic [NC*SW-1:0] upto;       // weight of this component and those before it

  always_comb begin : p_comb
    integer c;
    whole = '0;
    for (c = 0; c < NC; c = c + 1) begin
      if (|live_i[c*NP +: NP]) whole = whole + SW'(weights_i[c*WW +: WW]);
      upto[c*SW +: SW] = whole;
    end
    place = SW'(((32 + SW)'(hash_i) * (32 + SW)'(whole)) >> 32);
    component_o = '0;
    ports_o = '0;
    for (c = NC - 1; c >= 0; c = c - 1) begin
      if (place < upto[c*SW +: SW]) begin
        component_o = CW'(c);
        ports_o = live_i[c*NP +: NP];
      end
    end
  end
endmodule
