// When the stages of an engine move. They go on together, unless an answer waits to be taken. When a link goes down or comes
// back, or a row is written, nothing is decided until every stage has been computed anew: the requests in the stages go round
// once.
module drill_control #(
  parameter int NP = 48, STAGES = 4,
  parameter bit LIVE = 1'b1  // 0: links and rows never change while packets flow
) (
  input  logic          clk_i, rst_i, cfg_we_i, rsp_valid_i, rsp_ready_i,
  input  logic [NP-1:0] up_i,
  output logic          advance_o,  // stages go on, and a request is taken
  output logic          rotate_o,   // stages go on, and the oldest request begins again
  output logic          purge_o,    // what was remembered is forgotten
  output logic [NP-1:0] up_o        // links as the stages know them
);
  if (LIVE) begin : g_live
    localparam int TW = $clog2(STAGES + 1);

    logic [NP-1:0] up_d, up_q;
    logic [TW-1:0] turn_d, turn_q;    // stages still to go round
    logic          stale_d, stale_q;  // something has changed since the last round began
    logic          change;

    assign change = cfg_we_i || up_i != up_q;
    assign purge_o = stale_q && !change && !rotate_o;
    assign rotate_o = turn_q != '0;
    assign advance_o = !(change || stale_q || rotate_o) && (!rsp_valid_i || rsp_ready_i);
    assign up_o = up_q;

    assign up_d = rotate_o ? up_q : up_i;
    assign stale_d = !purge_o && (stale_q || change);
    assign turn_d = purge_o ? TW'(STAGES) : rotate_o ? turn_q - TW'(1) : '0;

    always_ff @(posedge clk_i) begin
      up_q <= rst_i ? up_i : up_d;
      stale_q <= !rst_i && stale_d;
      turn_q <= rst_i ? '0 : turn_d;
    end
  end else begin : g_fixed
    wire unused = ^{clk_i, rst_i, cfg_we_i, up_i};
    assign {rotate_o, purge_o} = 2'b00;
    assign advance_o = !rsp_valid_i || rsp_ready_i;
    assign up_o = '1;
  end
endmodule
