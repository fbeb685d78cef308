// Self-checking bench of the schemes in compare/: one request after the other, each with its own links and loads. An answer must
// name a port that the simulator's balancer may choose. `weft vectors compare` writes `requests.mem`, `rows.mem` and
// `parameters.svh`, which defines ECMP, FLOW_DRILL or CONGA.
`include "parameters.svh"

module tb_compare;
  localparam int PW = $clog2(`NP), GW = $clog2(`NG), RW = $clog2(`NG * `NC);
  localparam int LINE = 2 * `NP + 16 + 64 + `NP * (`QW + `MW) + 10, ROW = 8 + `NP + `WW;

  logic [LINE-1:0]     requests [`REQUESTS];
  logic [ROW-1:0]      rows [`ROWS];
  logic                clk = 1'b0, rst = 1'b1, cfg_we = 1'b0, req_valid = 1'b0, rsp_ready = 1'b0;
  logic                req_ready, rsp_valid, rsp_none, taken;
  logic [PW-1:0]       rsp_port;
  logic [7:0]          rsp_tag;
  logic [ROW-1:0]      row = '0;
  logic [`NP-1:0]      up = '1, allowed = '0;
  logic [15:0]         group = '0;
  logic [31:0]         hash = '0, spread = '0;
  logic [`NP*`QW-1:0]  loads = '0;
  logic [`NP*`MW-1:0]  told = '0;
  logic                known = 1'b0, alive = 1'b0;
  logic [7:0]          last = '0;
  integer              n, failures = 0, choices = 0;

  always #5 clk = ~clk;

`ifdef ECMP
  ecmp_engine #(.NP(`NP), .NG(`NG), .NC(`NC), .WW(`WW)) dut (
    .clk_i(clk), .rst_i(rst), .cfg_we_i(cfg_we), .req_valid_i(req_valid), .rsp_ready_i(rsp_ready),
    .req_ready_o(req_ready), .rsp_valid_o(rsp_valid), .req_group_i(group[GW-1:0]), .req_hash_i(hash),
    .req_spread_i(spread), .req_tag_i(hash[7:0]), .rsp_none_o(rsp_none), .rsp_port_o(rsp_port), .rsp_tag_o(rsp_tag),
    .up_i(up), .cfg_row_i(row[`NP+`WW +: RW]), .cfg_members_i(row[`WW +: `NP]), .cfg_weight_i(row[0 +: `WW])
  );
`endif
`ifdef FLOW_DRILL
  logic [PW:0]           flows [1 << 16];   // a port, and whether there is one
  logic [15:0]           index;
  logic [PW:0]           flow;
  logic                  flow_we;
  logic [PW-1:0]         flow_port;
  logic [(`QW+1)*`NP-1:0] queue;

  initial for (n = 0; n < 1 << 16; n = n + 1) flows[n] = '0;
  assign flow = flows[index];
  always @(posedge clk) if (flow_we) flows[index] <= {1'b1, flow_port};
  for (genvar p = 0; p < `NP; p++) begin : g_queue
    assign queue[p*(`QW+1) +: `QW+1] = {1'b0, loads[p*`QW +: `QW]};
  end
  flow_drill_engine #(.NP(`NP), .QW(`QW), .NG(`NG), .NC(`NC), .WW(`WW), .SEED(`SEED)) dut (
    .clk_i(clk), .rst_i(rst), .cfg_we_i(cfg_we), .req_valid_i(req_valid), .rsp_ready_i(rsp_ready),
    .req_ready_o(req_ready), .rsp_valid_o(rsp_valid), .rsp_none_o(rsp_none), .join_valid_o(), .req_group_i(group[GW-1:0]),
    .req_hash_i(hash), .req_size_i(8'd1), .req_tag_i(hash[7:0]), .rsp_port_o(rsp_port), .join_port_o(),
    .rsp_tag_o(rsp_tag), .join_size_o(), .flow_index_o(index), .flow_we_o(flow_we), .flow_port_o(flow_port),
    .flow_valid_i(flow[PW]), .flow_port_i(flow[PW-1:0]), .queue_i(queue), .up_i(up),
    .cfg_members_i(row[`WW +: `NP]), .cfg_row_i(row[`NP+`WW +: RW]), .cfg_weight_i(row[0 +: `WW])
  );
`endif
`ifdef CONGA
  logic [`MW*`NP-1:0] own;
  for (genvar p = 0; p < `NP; p++) begin : g_own
    assign own[p*`MW +: `MW] = loads[p*`QW +: `MW];
  end
  conga_engine #(.NP(`NP), .NG(`NG), .NC(`NC), .WW(`WW), .MW(`MW), .SEED(`SEED)) dut (
    .clk_i(clk), .rst_i(rst), .cfg_we_i(cfg_we), .req_valid_i(req_valid), .rsp_ready_i(rsp_ready),
    .req_ready_o(req_ready), .rsp_valid_o(rsp_valid), .rsp_none_o(rsp_none), .req_group_i(group[GW-1:0]),
    .req_hash_i(hash), .req_tag_i(hash[7:0]), .rsp_tag_o(rsp_tag), .rsp_port_o(rsp_port), .own_i(own),
    .metric_group_o(), .told_i(told), .flow_index_o(), .flow_known_i(known), .flow_alive_i(alive),
    .flow_port_i(last[PW-1:0]), .up_i(up), .cfg_members_i(row[`WW +: `NP]), .cfg_row_i(row[`NP+`WW +: RW]),
    .cfg_weight_i(row[0 +: `WW])
  );
`endif

  // The bench drives at the falling edge; the answer of each request is taken before the next one is offered.
  initial begin
    $readmemh("requests.mem", requests);
    $readmemh("rows.mem", rows);
    repeat (2) @(negedge clk);
    rst = 1'b0;
    for (n = 0; n < `ROWS; n = n + 1) begin
      {row, cfg_we} = {rows[n], 1'b1};
      @(negedge clk);
    end
    cfg_we = 1'b0;
    for (n = 0; n < `REQUESTS; n = n + 1) begin
      {up, group, hash, spread, loads, told, known, alive, last, allowed} = requests[n];
      req_valid = 1'b1;
      taken = 1'b0;
      while (!taken) begin
        @(posedge clk) taken = req_ready;
      end
      @(negedge clk) req_valid = 1'b0;
      rsp_ready = 1'b1;
      taken = 1'b0;
      while (!taken) begin
        @(posedge clk) taken = rsp_valid;
      end
      check;
      @(negedge clk) rsp_ready = 1'b0;
    end
    if (failures == 0) $display("PASS: %0d decisions, %0d with one port that is allowed", `REQUESTS, choices);
    else $fatal(1, "%0d answers differ from the simulator's", failures);
    $finish;
  end

  task automatic check;
    if ($countones(allowed) == 1) choices = choices + 1;
    if (rsp_none != (allowed == '0) || (!rsp_none && !allowed[rsp_port]) || rsp_tag != hash[7:0]) begin
      failures = failures + 1;
      if (failures < 10) $display("request %0d: none %b port %0d, allowed %b", n, rsp_none, rsp_port, allowed);
    end
  endtask
endmodule
