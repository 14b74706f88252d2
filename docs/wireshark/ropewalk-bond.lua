-- Dissects what the gateways of a bond exchange, for Wireshark and tshark (4.0 or newer). Copy it into Wireshark's folder of plugins, or:
--
--   tshark -X lua_script:docs/wireshark/ropewalk-bond.lua -r link-dsl.pcapng
--
-- The first bond of a scenario has the UDP port 5600 at both gateways, the next one 5601, and so on. The layout is that of
-- crates/bonding/src/wire.

local bond = Proto("ropewalk_bond", "Ropewalk bond")

local KINDS = {
  [0] = "data", [1] = "report", [2] = "keepalive", [3] = "keepalive reply", [4] = "packet train", [5] = "missing packets",
}
local SENT = { [0] = "once", [1] = "first time, kept for repair", [2] = "repair" }
local CLASSES = { [0] = "in order", [1] = "on arrival", [2] = "copies, in order", [3] = "copies, on arrival" }

local f = bond.fields
f.version = ProtoField.uint8("ropewalk_bond.version", "Version", base.DEC, nil, 0xf0)
f.kind = ProtoField.uint8("ropewalk_bond.kind", "Kind", base.DEC, KINDS, 0x0f)
f.sent = ProtoField.uint8("ropewalk_bond.transmission", "Transmission", base.DEC, SENT, 0xc0)
f.class = ProtoField.uint8("ropewalk_bond.class", "Class", base.DEC, CLASSES, 0x30)
f.path = ProtoField.uint8("ropewalk_bond.path", "Path", base.DEC)
f.solo = ProtoField.uint16("ropewalk_bond.solo", "Alone on its path (log2)", base.DEC, nil, 0xf000)
f.bucket = ProtoField.uint16("ropewalk_bond.bucket", "Flow bucket", base.DEC, nil, 0x0fff)
f.flow_seq = ProtoField.uint32("ropewalk_bond.flow_seq", "Number in the flow", base.DEC)
f.global_seq = ProtoField.uint32("ropewalk_bond.global_seq", "Number in the bond", base.DEC)
f.path_seq = ProtoField.uint32("ropewalk_bond.path_seq", "Number on the path", base.DEC)
f.timestamp = ProtoField.uint32("ropewalk_bond.timestamp", "Sender's clock [us]", base.DEC)
f.number = ProtoField.uint32("ropewalk_bond.number", "Number", base.DEC)
f.made = ProtoField.uint32("ropewalk_bond.made", "Reporter's clock [us]", base.DEC)
f.gaps = ProtoField.uint8("ropewalk_bond.gaps", "Times that this clock stood still", base.DEC)
f.count = ProtoField.uint8("ropewalk_bond.count", "Paths or ranges", base.DEC)
f.rest = ProtoField.uint16("ropewalk_bond.rest", "Rests for [ms]", base.DEC)
f.echoed = ProtoField.uint32("ropewalk_bond.echoed", "Clock that is answered [us]", base.DEC)
f.received_packets = ProtoField.uint32("ropewalk_bond.received_packets", "Received packets", base.DEC)
f.received_bytes = ProtoField.uint32("ropewalk_bond.received_bytes", "Received octets", base.DEC)
f.lost_packets = ProtoField.uint32("ropewalk_bond.lost_packets", "Lost packets", base.DEC)
f.excess = ProtoField.uint16("ropewalk_bond.excess", "Longer than the quickest [8 us]", base.DEC)
f.reordering = ProtoField.uint16("ropewalk_bond.reordering", "Reordering [8 us]", base.DEC)
f.train = ProtoField.uint32("ropewalk_bond.train_rate", "Rate of the last train [kbit/s]", base.DEC)
f.held = ProtoField.uint32("ropewalk_bond.held", "Waited to be reported [us]", base.DEC)
f.packets = ProtoField.uint32("ropewalk_bond.packets", "Packets", base.DEC)

-- Fields of four octets, one after the other.
local function words(tree, buffer, at, fields)
  for _, field in ipairs(fields) do
    tree:add(field, buffer(at, 4))
    at = at + 4
  end
  return at
end

local function data(buffer, pinfo, tree, root)
  tree:add(f.sent, buffer(1, 1))
  tree:add(f.class, buffer(1, 1))
  tree:add(f.path, buffer(1, 1), bit.band(buffer(1, 1):uint(), 0x0f))
  tree:add(f.solo, buffer(2, 2))
  tree:add(f.bucket, buffer(2, 2))
  words(tree, buffer, 4, { f.flow_seq, f.global_seq, f.path_seq, f.timestamp })
  if buffer:len() > 20 then
    local inner = bit.rshift(buffer(20, 1):uint(), 4) == 6 and "ipv6" or "ip"
    Dissector.get(inner):call(buffer(20):tvb(), pinfo, root)
  end
end

local function report(buffer, tree)
  tree:add(f.count, buffer(1, 1))
  tree:add(f.gaps, buffer(2, 1))
  local at = words(tree, buffer, 4, { f.number, f.made })
  for place = 0, buffer(1, 1):uint() - 1 do
    if at + 32 > buffer:len() then return end
    local path = tree:add(bond, buffer(at, 32), "Path " .. place)
    at = words(path, buffer, at, { f.path_seq, f.received_packets, f.received_bytes, f.lost_packets, f.timestamp })
    path:add(f.excess, buffer(at, 2))
    path:add(f.reordering, buffer(at + 2, 2))
    at = words(path, buffer, at + 4, { f.train, f.held })
  end
end

local function missing(buffer, tree)
  tree:add(f.path, buffer(1, 1))
  tree:add(f.count, buffer(2, 1))
  local at = 4
  for _ = 1, buffer(2, 1):uint() do
    if at + 8 > buffer:len() then return end
    at = words(tree, buffer, at, { f.path_seq, f.packets })
  end
end

-- Octets that a kind has at least.
local LEAST = { [0] = 20, [1] = 8, [2] = 20, [3] = 12, [4] = 12, [5] = 4 }

function bond.dissector(buffer, pinfo, root)
  if buffer:len() < 4 or bit.rshift(buffer(0, 1):uint(), 4) ~= 1 then return 0 end
  local kind = bit.band(buffer(0, 1):uint(), 0x0f)
  if LEAST[kind] == nil or buffer:len() < LEAST[kind] then return 0 end
  pinfo.cols.protocol = "BOND"
  pinfo.cols.info = KINDS[kind]
  local tree = root:add(bond, buffer(0, kind == 0 and 20 or buffer:len()), "Ropewalk bond, " .. KINDS[kind])
  tree:add(f.version, buffer(0, 1))
  tree:add(f.kind, buffer(0, 1))
  if kind == 0 then
    data(buffer, pinfo, tree, root)
  elseif kind == 1 then
    report(buffer, tree)
  elseif kind == 5 then
    missing(buffer, tree)
  else
    tree:add(f.path, buffer(1, 1))
    if kind == 2 then
      tree:add(f.rest, buffer(2, 2))
      words(tree, buffer, 4, { f.number, f.timestamp, f.path_seq, f.global_seq })
    else
      words(tree, buffer, 4, { f.number, kind == 3 and f.echoed or f.timestamp })
    end
  end
  return buffer:len()
end

local ports = DissectorTable.get("udp.port")
for port = 5600, 5631 do ports:add(port, bond) end
