-- SPDX-License-Identifier: Apache-2.0
-- What Wireshark's own dissectors do not say about captures of weft, added below what they do say:
--   BTH    FECN and BECN; in frames of which only the headers were kept, an info column that says what they are
--   CNP    opcode 0x81: queue pair, and whether its 16 reserved octets are zero
--   SFCM   weft's own source flow control message, UDP port 49802
-- All but the last on any RoCEv2 capture. Sources: IBTA volume 1, 9.2 (BTH) and annex A17.9.3 (CNP).
-- Use: wireshark -X lua_script:weft.lua, or a copy in the folder of personal plugins.

local weft = Proto("weft", "weft: what RoCEv2 says besides")

local f = {
   fecn = ProtoField.bool("weft.bth.fecn", "Forward congestion (FECN)", 8, nil, 0x80),
   becn = ProtoField.bool("weft.bth.becn", "Backward congestion (BECN)", 8, nil, 0x40),
   name = ProtoField.string("weft.roce.name", "Packet"),
   cnp = ProtoField.bytes("weft.cnp", "Congestion notification packet"),
   cnp_qp = ProtoField.uint24("weft.cnp.dest_qp", "Queue pair to slow down", base.HEX),
   cnp_reserved = ProtoField.bytes("weft.cnp.reserved", "Reserved"),
}
weft.fields = f

local e = {
   no_bit = ProtoExpert.new("weft.cnp.no_bit", "CNP with neither BECN nor FECN", expert.group.PROTOCOL,
                            expert.severity.WARN),
   not_zero = ProtoExpert.new("weft.cnp.not_zero", "Reserved octets of a CNP are not zero", expert.group.MALFORMED,
                              expert.severity.WARN),
}
weft.experts = e

-- The fields of Wireshark's infiniband dissector, by which we know where the BTH is.
local opcode_field = Field.new("infiniband.bth.opcode")
local qp_field = Field.new("infiniband.bth.destqp")
local psn_field = Field.new("infiniband.bth.psn")

local CNP = 0x81
local BTH_BYTES, CNP_RESERVED_BYTES = 12, 16

local names = {
   [0x00] = "SEND First", [0x01] = "SEND Middle", [0x02] = "SEND Last", [0x04] = "SEND Only",
   [0x06] = "RDMA WRITE First", [0x07] = "RDMA WRITE Middle", [0x08] = "RDMA WRITE Last", [0x0a] = "RDMA WRITE Only",
   [0x0c] = "RDMA READ Request", [0x0d] = "RDMA READ Response First", [0x0e] = "RDMA READ Response Middle",
   [0x0f] = "RDMA READ Response Last", [0x10] = "RDMA READ Response Only", [0x11] = "Acknowledge", [CNP] = "CNP",
}

-- Replaces what the infiniband dissector has put, and fenced off, in the info column.
local function set_info(pinfo, text)
   pinfo.cols.info:clear_fence()
   pinfo.cols.info:set(text)
end

local function dissect_cnp(bth, pinfo, tree)
   local cnp = tree:add(f.cnp, bth(0, bth:len()))
   cnp:add(f.cnp_qp, bth(5, 3))
   local flags = bth(4, 1):uint()
   if flags < 0x40 then cnp:add_proto_expert_info(e.no_bit) end
   if bth:len() >= BTH_BYTES + CNP_RESERVED_BYTES then
      local reserved = bth(BTH_BYTES, CNP_RESERVED_BYTES)
      local item = cnp:add(f.cnp_reserved, reserved)
      if reserved:bytes():tohex():find("[^0]") then item:add_proto_expert_info(e.not_zero) end
   end
   local marks = (flags >= 0x80 and " FECN" or "") .. (flags % 0x80 >= 0x40 and " BECN" or "")
   set_info(pinfo, string.format("CNP%s QP=0x%06x", marks, bth(5, 3):uint()))
end

function weft.dissector(buffer, pinfo, root)
   local opcode = opcode_field()
   if not opcode or not opcode.range then return end
   local at = opcode.range:offset()
   if buffer:len() < at + BTH_BYTES then return end
   local bth = buffer(at)
   local tree = root:add(weft, bth(0, BTH_BYTES))
   local name = names[opcode.value]
   if name then tree:add(f.name, bth(0, 1), name) end
   tree:add(f.fecn, bth(4, 1))
   tree:add(f.becn, bth(4, 1))
   if opcode.value == CNP then
      dissect_cnp(bth, pinfo, tree)
   elseif name and buffer:len() < buffer:reported_len() then
      set_info(pinfo, string.format("RC %s QP=0x%06x PSN=%d (headers only)", name, qp_field().value, psn_field().value))
   end
end

register_postdissector(weft)

-- Source flow control message: include/weft/wire_sfcm.h. The format is weft's own.
local sfcm = Proto("weft_sfcm", "weft source flow control message")

local s = {
   version = ProtoField.uint8("weft.sfcm.version", "Version", base.DEC, nil, 0xf0),
   flags = ProtoField.uint8("weft.sfcm.flags", "Flags", base.HEX, nil, 0x0f),
   priority = ProtoField.uint8("weft.sfcm.priority", "Priority", base.DEC, nil, 0xe0),
   src_port = ProtoField.uint16("weft.sfcm.src_port", "UDP source port of the flow"),
   dest_qp = ProtoField.uint24("weft.sfcm.dest_qp", "Queue pair of the flow", base.HEX),
   pause = ProtoField.uint32("weft.sfcm.pause_ns", "Time to pause (ns)"),
   point = ProtoField.uint32("weft.sfcm.congestion_point", "Congestion point (switch number)"),
}
sfcm.fields = s

local SFCM_PORT, SFCM_VERSION, SFCM_BYTES = 49802, 1, 18

function sfcm.dissector(buffer, pinfo, root)
   if buffer:len() < SFCM_BYTES or buffer(0, 1):bitfield(0, 4) ~= SFCM_VERSION then return 0 end
   pinfo.cols.protocol:set("SFCM")
   local priority, pause, qp = buffer(1, 1):bitfield(0, 3), buffer(8, 4):uint(), buffer(5, 3):uint()
   pinfo.cols.info:set(string.format("pause priority %d of QP=0x%06x for %d ns, says switch %d", priority, qp, pause,
                                     buffer(12, 4):uint()))
   local tree = root:add(sfcm, buffer(0, SFCM_BYTES))
   tree:add(s.version, buffer(0, 1))
   tree:add(s.flags, buffer(0, 1))
   tree:add(s.priority, buffer(1, 1))
   tree:add(s.src_port, buffer(2, 2))
   tree:add(s.dest_qp, buffer(5, 3))
   tree:add(s.pause, buffer(8, 4))
   tree:add(s.point, buffer(12, 4))
   return SFCM_BYTES
end

DissectorTable.get("udp.port"):add(SFCM_PORT, sfcm)

-- Cells of GNet: include/weft/wire_gnet.h. The layout is weft's own. Captures of GNet links have LINKTYPE_USER0.
local gnet = Proto("gnet", "GNet cell")

local types = {"RTS", "CTS", "CTD", "data", "Req", "Resp"}
local operations = {[0] = "read", "write", "fetch and add", "compare and swap"}
local DATA = 4 -- of types: names a slot and a cell in place of its source
local ATOMICS = 2 -- and those after it
local g = {
   src = ProtoField.string("gnet.src", "Source (pod.TiN)"),
   dst = ProtoField.string("gnet.dst", "Destination (pod.TiN)"),
   length = ProtoField.uint8("gnet.length", "Length"),
   type = ProtoField.uint8("gnet.type", "Type", base.DEC, types, 0xf0),
   hops = ProtoField.uint8("gnet.hops", "Hops left", base.DEC, nil, 0x0f),
   vc = ProtoField.uint8("gnet.vc", "Virtual channel", base.DEC, nil, 0xf8),
   trace = ProtoField.bool("gnet.trace", "Traced", 8, nil, 0x04),
   crc = ProtoField.uint8("gnet.crc", "CRC-8", base.HEX),
   packet_bytes = ProtoField.uint16("gnet.packet_bytes", "Packet length"),
   ingress = ProtoField.uint32("gnet.ingress", "Place in the ingress buffer"),
   egress = ProtoField.uint32("gnet.egress", "Place in the egress buffer"),
   slot = ProtoField.uint16("gnet.slot", "Slot of the egress buffer", base.DEC, nil, 0xffc0),
   operation = ProtoField.uint8("gnet.operation", "Operation", base.DEC, operations),
   bytes = ProtoField.uint16("gnet.bytes", "Bytes asked for"),
   number = ProtoField.uint32("gnet.number", "Number of the operation"),
   operand = ProtoField.uint64("gnet.operand", "Operand"),
   compare = ProtoField.uint64("gnet.compare", "Compared with"),
   data = ProtoField.bytes("gnet.data", "Data"),
}
gnet.fields = g

local bad_crc = ProtoExpert.new("gnet.bad_crc", "Wrong CRC-8", expert.group.CHECKSUM, expert.severity.ERROR)
gnet.experts = {bad_crc}

local function address(octets)
   return string.format("%d.%d", octets:bitfield(0, 7), octets:bitfield(7, 4))
end

-- x^8 + x^2 + x + 1, preset to ones. Sums instead of bit operations, which Lua's versions have by different names.
local function xor8(a, b)
   local sum, bit = 0, 1
   while bit < 256 do
      if math.floor(a / bit) % 2 ~= math.floor(b / bit) % 2 then sum = sum + bit end
      bit = bit * 2
   end
   return sum
end
local function crc8(octets)
   local crc = 0xff
   for i = 0, octets:len() - 1 do
      crc = xor8(crc, octets(i, 1):uint())
      for _ = 1, 8 do
         local carry = crc >= 0x80
         crc = crc * 2 % 256
         if carry then crc = xor8(crc, 0x07) end
      end
   end
   return crc
end

local bodies = {
   function(tree, body)
      tree:add(g.packet_bytes, body(0, 2))
      tree:add(g.ingress, body(4, 4))
   end,
   function(tree, body)
      tree:add(g.ingress, body(0, 4))
      tree:add(g.egress, body(4, 4))
   end,
   function(tree, body) tree:add(g.ingress, body(0, 4)) end,
   function(tree, body) tree:add(g.data, body) end,
   function(tree, body)
      tree:add(g.operation, body(0, 1))
      if body(0, 1):uint() >= ATOMICS then
         tree:add(g.number, body(1, 3))
         tree:add(g.operand, body(16, 8))
         tree:add(g.compare, body(24, 8))
         return
      end
      tree:add(g.bytes, body(2, 2))
      tree:add(g.number, body(4, 4))
   end,
   function(tree, body)
      tree:add(g.number, body(0, 4))
      if body:len() > 8 then tree:add(g.data, body(8, body:len() - 8)) end
   end,
}

function gnet.dissector(buffer, pinfo, root)
   if buffer:len() < 16 then return 0 end
   local type, vc = buffer(5, 1):bitfield(0, 4), buffer(6, 1):bitfield(0, 5)
   local src, dst = type ~= DATA and address(buffer(0, 2)) or nil, address(buffer(2, 2))
   pinfo.cols.protocol:set("GNet")
   pinfo.cols.src:set(src or "")
   pinfo.cols.dst:set(dst)
   pinfo.cols.info:set(string.format("%s VC %d, %d octets", types[type] or "?", vc, buffer(4, 1):uint()))
   local tree = root:add(gnet, buffer())
   if src then
      tree:add(g.src, buffer(0, 2), src)
   else
      tree:add(g.slot, buffer(0, 2))
   end
   tree:add(g.dst, buffer(2, 2), dst)
   tree:add(g.length, buffer(4, 1))
   tree:add(g.type, buffer(5, 1))
   tree:add(g.hops, buffer(5, 1))
   tree:add(g.vc, buffer(6, 1))
   tree:add(g.trace, buffer(6, 1))
   local crc = tree:add(g.crc, buffer(7, 1))
   if crc8(buffer(0, 7)) ~= buffer(7, 1):uint() then crc:add_proto_expert_info(bad_crc) end
   if bodies[type] then bodies[type](tree, buffer(8, buffer:len() - 8)) end
   return buffer:len()
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, gnet)
