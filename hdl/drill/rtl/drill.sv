// DRILL for a switch: NE forwarding engines, which share nothing but the queue lengths that all of them see. Signals of
// engine e are the e-th slice of a bus. Everything is synchronous to clk_i; reset is active high.
module drill #(
  parameter int NP = 48,
  parameter int NE = 1,            // engines
  parameter int QW = 16,
  parameter int SW = 8,
  parameter int D  = 2,
  parameter int M  = 1,
  parameter int NG = 16,
  parameter int NC = 4,
  parameter int WW = 4,
  parameter int TW = 8,
  parameter int TIE = 0,
  parameter int VIS = (NE > 1) ? 1 : 0,
  parameter bit OWN = 1'b1,
  parameter bit LIVE = 1'b1,
  parameter bit PURGE = 1'b1,
  parameter logic [63:0] SEED = 64'd1,
  parameter int PW = (NP > 1) ? $clog2(NP) : 1,
  parameter int GW = (NG > 1) ? $clog2(NG) : 1,
  parameter int RW = (NG * NC > 1) ? $clog2(NG * NC) : 1
) (
  input  logic             clk_i,
  input  logic             rst_i,
  // Requests: a packet of a group, with the hash of its flow and its size.
  input  logic [NE-1:0]    req_valid_i,
  output logic [NE-1:0]    req_ready_o,
  input  logic [GW*NE-1:0] req_group_i,
  input  logic [32*NE-1:0] req_hash_i,
  input  logic [SW*NE-1:0] req_size_i,
  input  logic [TW*NE-1:0] req_tag_i,
  // Responses, in the order of the requests.
  output logic [NE-1:0]    rsp_valid_o,
  input  logic [NE-1:0]    rsp_ready_i,
  output logic [NE-1:0]    rsp_none_o,
  output logic [PW*NE-1:0] rsp_port_o,
  output logic [TW*NE-1:0] rsp_tag_o,
  // The clock of each decision.
  output logic [NE-1:0]    pick_valid_o,
  output logic [PW*NE-1:0] pick_port_o,
  // Ports: a packet has left; the link is up.
  input  logic [NP-1:0]    leave_valid_i,
  input  logic [SW*NP-1:0] leave_size_i,
  input  logic [NP-1:0]    up_i,
  // Group tables of all engines: row = group * NC + component.
  input  logic             cfg_we_i,
  input  logic [RW-1:0]    cfg_row_i,
  input  logic [NP-1:0]    cfg_members_i,
  input  logic [WW-1:0]    cfg_weight_i
);
  localparam int LFSRS = (16 * D + ((TIE == 0 && M <= 1) ? 16 : (TIE == 3) ? 0 : 8 * (D + M)) + 47) / 48;

  logic [NE-1:0]        join_valid;
  logic [PW*NE-1:0]     join_port;
  logic [SW*NE-1:0]     join_size;
  logic [(QW+1)*NP-1:0] queue;
  logic [TW*NE-1:0]     tag;
  wire                  unused = ^tag;

  drill_queues #(.NP(NP), .NE(NE), .QW(QW), .SW(SW)) u_queues (
    .clk_i, .rst_i, .join_valid_i(join_valid), .join_port_i(join_port), .join_size_i(join_size),
    .leave_valid_i, .leave_size_i, .queue_o(queue)
  );

  for (genvar e = 0; e < NE; e++) begin : g_engine
    drill_engine #(
      .NP(NP), .QW(QW), .SW(SW), .D(D), .M(M), .NG(NG), .NC(NC), .WW(WW), .TW(TW), .TIE(TIE), .VIS(VIS), .OWN(OWN),
      .LIVE(LIVE), .PURGE(PURGE), .SEED(SEED + 64'(e * LFSRS) * 64'h9e37_79b9_7f4a_7c15)
    ) u_engine (
      .clk_i, .rst_i,
      .req_valid_i(req_valid_i[e]), .req_ready_o(req_ready_o[e]), .req_group_i(req_group_i[e*GW +: GW]),
      .req_hash_i(req_hash_i[e*32 +: 32]), .req_size_i(req_size_i[e*SW +: SW]), .req_tag_i(req_tag_i[e*TW +: TW]),
      .rsp_valid_o(rsp_valid_o[e]), .rsp_ready_i(rsp_ready_i[e]), .rsp_none_o(rsp_none_o[e]),
      .rsp_port_o(rsp_port_o[e*PW +: PW]), .rsp_tag_o(rsp_tag_o[e*TW +: TW]),
      .pick_valid_o(pick_valid_o[e]), .pick_port_o(pick_port_o[e*PW +: PW]), .pick_tag_o(tag[e*TW +: TW]), .pinned_i(1'b0),
      .pinned_port_i(PW'(0)),
      .join_valid_o(join_valid[e]), .join_port_o(join_port[e*PW +: PW]), .join_size_o(join_size[e*SW +: SW]),
      .queue_i(queue), .up_i, .cfg_we_i, .cfg_row_i, .cfg_members_i, .cfg_weight_i
    );
  end
endmodule
