-- SPDX-License-Identifier: Apache-2.0
-- Wireshark dissector of what Corral records: profile packets (UDP 51080; docs/man/corral-profile-packets.5), batches of
-- the firmware log (link type USER0; docs/man/tlog-format.5), Corral's own events (USER1, JSON), and profile packets that
-- came through a debug link (USER2).
--
--   tshark -X lua_script:tools/wireshark/corral.lua -r capture.pcapng
--
-- Or put the file into Wireshark's folder for personal Lua plugins. Field names are those of `corral decode --json`.
-- It refuses what `corral decode prof` refuses, in the same order and with the same words; a bad packet gets an expert
-- info. It must not read outside the packet, whatever the packet says of itself. Headers of versions 5 to 16 are read with
--
--   tshark -o corralprof.legacy_headers:TRUE ...

local u8, u16, u32, str, bool = ftypes.UINT8, ftypes.UINT16, ftypes.UINT32, ftypes.STRING, ftypes.BOOLEAN

-- Fields of a protocol from rows of {name, type, title, base}; returns them by name.
local function make_fields(proto, prefix, rows)
    local byname, list = {}, {}
    for _, row in ipairs(rows) do
        local field = ProtoField.new(row[3], prefix .. "." .. row[1], row[2], nil, row[4])
        byname[row[1]] = field
        list[#list + 1] = field
    end
    proto.fields = list
    return byname
end

local HEX, DEC = base.HEX, base.DEC

---- the profile ------------------------------------------------------------------------------------------------------

local prof = Proto("corralprof", "Statistical profile")
local F = make_fields(prof, "corralprof", {
    { "kind", str, "Kind" }, -- profile counters maps reject
    { "version", u8, "Version", DEC }, { "layout", str, "Layout" }, { "magic", u16, "Magic", HEX },
    { "header_size", u8, "Header size", DEC }, { "sample_count", u8, "Samples announced", DEC },
    { "bad_samples", u32, "Samples refused", DEC }, { "trailing", u32, "Bytes behind the last sample", DEC },
    { "seq", u32, "Sequence", DEC }, { "clocks", u32, "Clocks", DEC }, { "clock_hz", u32, "Core clock (Hz)", DEC },
    { "ddr_hz", u32, "DDR clock (Hz)", DEC }, { "instruction_count", u32, "Instructions", DEC },
    { "profile_instructions", u32, "Profiler's instructions", DEC }, { "enabled", u16, "Enabled threads", HEX },
    { "hrt", u16, "HRT threads", HEX }, { "high", u16, "High-priority threads", HEX },
    { "profiler_thread", u16, "Profiler's thread", DEC }, { "cpu_id", u32, "Chip", HEX },
    { "heap_free", u32, "Heap free", DEC }, { "heap_low_water", u32, "Heap low water", DEC },
    { "netpage_free", u32, "Netpages free", DEC }, { "netpage_low_water", u32, "Netpages low water", DEC },
    { "min_sp", u32, "Lowest stack pointer", HEX }, { "timing_sequence", u32, "Timing interval number", DEC },
    { "timing_interval", u32, "Timing interval (s)", DEC }, { "timing_worst_time", u32, "Longest call (clocks)", DEC },
    { "timing_function", u32, "Longest call", HEX }, { "timing_average", u32, "Average call (clocks)", DEC },
    { "timing_count", u32, "Calls", DEC }, { "extheap_free", u32, "DRAM heap free", DEC },
    { "extheap_low_water", u32, "DRAM heap low water", DEC }, { "perf_counters", u32, "Hardware counter", DEC },
    { "perf_config", u8, "Hardware counter's selector", DEC }, { "extnetpage_free", u32, "DRAM netpages free", DEC },
    { "extnetpage_low_water", u32, "DRAM netpages low water", DEC },
    { "dsr_max_latency", u32, "DSR longest (clocks)", DEC }, { "dsr_ave_latency", u32, "DSR average (clocks)", DEC },
    { "dsr_count", u32, "DSRs", DEC }, { "sample_stack_words", u32, "Stack words a sample", DEC },
    { "stat_select", u8, "Statistics thread", DEC }, { "d_blocked", u16, "Threads blocked on data", HEX },
    { "i_blocked", u16, "Threads blocked on instructions", HEX }, { "sample_sets", u8, "Sample sets", DEC },
    { "sets_map", u32, "Samples in each set", HEX }, { "stats", u32, "Statistic", DEC },
    { "sample", ftypes.NONE, "Sample" }, { "sample.pc", u32, "pc", HEX }, { "sample.a5", u32, "a5", HEX },
    { "sample.parent", u32, "Parent", HEX }, { "sample.latency", u32, "Latency (clocks)", DEC },
    { "sample.pid", u32, "pid", DEC }, { "sample.a_reg", u32, "a register", HEX },
    { "sample.parents", u32, "Stack word", HEX }, { "sample.active", u16, "Active threads", HEX },
    { "sample.d_blocked", u16, "Blocked on data", HEX }, { "sample.i_blocked", u16, "Blocked on instructions", HEX },
    { "sample.cond_codes", u8, "Condition codes", HEX }, { "sample.thread", u8, "Thread", DEC },
    { "sample.self_d_blocked", bool, "This thread blocked on data" },
    { "sample.self_i_blocked", bool, "This thread blocked on instructions" },
    { "count", u32, "Entries", DEC }, { "truncated", u32, "Entries cut off", DEC },
    { "ultra_sample_time", u32, "Ultra counters at (clocks)", DEC },
    { "linux_sample_time", u32, "Linux counters at (clocks)", DEC },
    { "counter", ftypes.NONE, "Counter" }, { "counter.name", str, "Name" }, { "counter.value", u32, "Value", DEC },
    { "counter.side", str, "Side" }, { "encoding", str, "Encoding" }, { "page_shift", u32, "Page shift", DEC },
    { "bad_entries", u32, "Entries refused", DEC }, { "last", bool, "Last packet of the dump" },
    { "map", ftypes.NONE, "Map" }, { "map.start", u16, "First page", DEC }, { "map.type", str, "Type" },
    { "map.pages", u32, "Pages", DEC }, { "reason", str, "Refused for" }, { "value", u32, "Seen", DEC },
})
local E = {
    reject = ProtoExpert.new("corralprof.expert.reject", "Packet refused", expert.group.MALFORMED, expert.severity.ERROR),
    sample = ProtoExpert.new("corralprof.expert.sample", "No such thread", expert.group.PROTOCOL, expert.severity.WARN),
    trailing = ProtoExpert.new("corralprof.expert.trailing", "Bytes behind the last sample", expert.group.PROTOCOL,
        expert.severity.WARN),
    truncated = ProtoExpert.new("corralprof.expert.truncated", "Entries cut off", expert.group.MALFORMED,
        expert.severity.WARN),
    entry = ProtoExpert.new("corralprof.expert.entry", "Entry that cannot be", expert.group.PROTOCOL,
        expert.severity.WARN),
    gap = ProtoExpert.new("corralprof.expert.gap", "Packets missing before this one", expert.group.SEQUENCE,
        expert.severity.WARN),
}
prof.experts = { E.reject, E.sample, E.trailing, E.truncated, E.entry, E.gap }

prof.prefs.legacy_headers = Pref.bool("Read the headers of versions 5 to 16", false,
    "Their samples are never read: their layout is not known")

local MAX_DATAGRAM, V17_HEADER, V21_HEADER, NSS_HEADER = 2048, 252, 128, 132
local KIND = { [0x3ea0] = "data", [0x9ea0] = "counters", [0xaea0] = "maps" }
local V17_TYPES = { [0] = "unknown", "free", "small", "fs", [16] = "text", [17] = "stack", [18] = "app-data",
    [19] = "cache" }
local V21_TYPES = { [0] = "free", "small", "fs", [4] = "unknown", [5] = "text", [6] = "stack", [7] = "app-data",
    [8] = "ashmem", [9] = "read-shared", [10] = "cache", [11] = "vma-waste", [15] = "reserved" }

local function kind_of(magic)
    return KIND[bit.band(magic, 0xffe0)]
end

-- What is known of a sender before each frame: the version of its last good data packet, and its sequence number. Frames
-- are first seen in order; later looks, in any order, take what was noted then.
local senders, noted = {}, {}
function prof.init()
    senders, noted = {}, {}
end

local function refuse(tree, range, reason, version, value)
    local item = tree:add(F.reason, range, reason)
    item:add_proto_expert_info(E.reject, "Packet refused: " .. reason)
    if version then tree:add(F.version, range, version):set_generated() end
    if value then tree:add(F.value, range, value):set_generated() end
    tree:add(F.kind, range, "reject"):set_generated()
    return "refused: " .. reason
end

-- Words of the header as fields: rows of {name, offset, bytes, how many}.
local V17_WORDS = {
    { "clocks", 4, 4 }, { "instruction_count", 8, 4, 16 }, { "profile_instructions", 72, 4 }, { "enabled", 76, 2 },
    { "hrt", 78, 2 }, { "high", 80, 2 }, { "profiler_thread", 82, 2 }, { "heap_free", 84, 4 },
    { "heap_low_water", 88, 4 }, { "netpage_free", 92, 4 }, { "netpage_low_water", 96, 4 }, { "min_sp", 100, 4, 16 },
    { "clock_hz", 164, 4 }, { "seq", 168, 4 }, { "timing_sequence", 172, 4 }, { "timing_interval", 176, 4 },
    { "timing_worst_time", 180, 4 }, { "timing_function", 184, 4 }, { "timing_average", 188, 4 },
    { "timing_count", 192, 4 }, { "extheap_free", 196, 4 }, { "extheap_low_water", 200, 4 }, { "cpu_id", 204, 4 },
    { "perf_counters", 208, 4, 4 }, { "perf_config", 224, 1, 4 }, { "ddr_hz", 228, 4 }, { "extnetpage_free", 232, 4 },
    { "extnetpage_low_water", 236, 4 }, { "dsr_max_latency", 240, 4 }, { "dsr_ave_latency", 244, 4 },
    { "dsr_count", 248, 4 },
}
local V21_WORDS = {
    { "clocks", 4, 4 }, { "instruction_count", 8, 4, 12 }, { "profile_instructions", 56, 4 }, { "enabled", 60, 2 },
    { "hrt", 62, 2 }, { "high", 64, 2 }, { "profiler_thread", 66, 2 }, { "clock_hz", 68, 4 }, { "seq", 72, 4 },
    { "cpu_id", 76, 4 }, { "ddr_hz", 80, 4 }, { "perf_counters", 84, 4, 8 }, { "perf_config", 116, 1, 8 },
    { "sample_stack_words", 124, 4 },
}
local NSS_WORDS = {
    { "stat_select", 4, 1, 2 }, { "sample_stack_words", 7, 1 }, { "seq", 8, 4 }, { "profile_instructions", 12, 4 },
    { "cpu_id", 20, 4 }, { "clock_hz", 24, 4 }, { "ddr_hz", 28, 4 }, { "d_blocked", 32, 2 }, { "i_blocked", 34, 2 },
    { "high", 36, 2 }, { "enabled", 38, 2 }, { "hrt", 40, 2 }, { "profiler_thread", 42, 1 }, { "sample_sets", 43, 1 },
    { "sets_map", 44, 4 }, { "clocks", 48, 4 }, { "instruction_count", 52, 4, 12 }, { "stats", 100, 4, 8 },
}

-- Bytes of a legacy header without the eight a thread, and the fields behind the threads' words in their order: name,
-- bytes, how many (0 = one a thread), version that added it.
local LEGACY_FIXED = { [5] = 36, [6] = 40, [7] = 44, [8] = 68, [9] = 76, [10] = 76, [11] = 100, [12] = 112, [13] = 112,
    [14] = 112, [15] = 124, [16] = 124 }
local LEGACY_WORDS = {
    { "clocks", 4, 1, 5 }, { "instruction_count", 4, 0, 5 }, { "profile_instructions", 4, 1, 5 }, { "enabled", 2, 1, 5 },
    { "hrt", 2, 1, 5 }, { "high", 2, 1, 5 }, { "profiler_thread", 2, 1, 5 }, { "heap_free", 4, 1, 5 },
    { "heap_low_water", 4, 1, 5 }, { "netpage_free", 4, 1, 5 }, { "netpage_low_water", 4, 1, 5 }, { "min_sp", 4, 0, 5 },
    { "clock_hz", 4, 1, 6 }, { "seq", 4, 1, 7 }, { "timing_sequence", 4, 1, 8 }, { "timing_interval", 4, 1, 8 },
    { "timing_worst_time", 4, 1, 8 }, { "timing_function", 4, 1, 8 }, { "timing_average", 4, 1, 8 },
    { "timing_count", 4, 1, 8 }, { "extheap_free", 4, 1, 9 }, { "extheap_low_water", 4, 1, 9 }, { "cpu_id", 4, 1, 11 },
    { "perf_counters", 4, 4, 11 }, { "perf_config", 1, 4, 11 }, { "ddr_hz", 4, 1, 12 }, { "extnetpage_free", 4, 1, 12 },
    { "extnetpage_low_water", 4, 1, 12 }, { "dsr_max_latency", 4, 1, 15 }, { "dsr_ave_latency", 4, 1, 15 },
    { "dsr_count", 4, 1, 15 },
}

local function add_header(tree, buf, words)
    for _, w in ipairs(words) do
        for i = 0, (w[4] or 1) - 1 do
            tree:add(F[w[1]], buf(w[2] + i * w[3], w[3]))
        end
    end
end

local function add_flags(item, buf, at)
    local thread = buf(at, 1):uint()
    item:add(F["sample.thread"], buf(at, 1), bit.band(thread, 15))
    item:add(F["sample.self_d_blocked"], buf(at, 1), bit.band(thread, 16) ~= 0)
    item:add(F["sample.self_i_blocked"], buf(at, 1), bit.band(thread, 32) ~= 0)
end

local function add_v17_sample(tree, buf, at)
    local item = tree:add(F.sample, buf(at, 24))
    item:append_text(string.format(": thread %d at 0x%08x", bit.band(buf(at + 23, 1):uint(), 15), buf(at, 4):uint()))
    for i, name in ipairs({ "pc", "a5", "parent", "latency" }) do
        item:add(F["sample." .. name], buf(at + 4 * (i - 1), 4))
    end
    for i, name in ipairs({ "active", "d_blocked", "i_blocked" }) do
        item:add(F["sample." .. name], buf(at + 14 + 2 * i, 2))
    end
    item:add(F["sample.cond_codes"], buf(at + 22, 1))
    add_flags(item, buf, at + 23)
    return true
end

local function add_v21_sample(tree, buf, at, words)
    local thread = bit.band(buf(at + 15, 1):uint(), 15)
    if thread >= 12 then
        tree:add(F.sample, buf(at, 20 + 4 * words)):add_proto_expert_info(E.sample, "There is no thread " .. thread)
        return false
    end
    local item = tree:add(F.sample, buf(at, 20 + 4 * words))
    item:append_text(string.format(": thread %d at 0x%08x", thread, buf(at, 4):uint()))
    item:add(F["sample.pc"], buf(at, 4))
    item:add(F["sample.pid"], buf(at + 4, 4))
    for i, name in ipairs({ "active", "d_blocked", "i_blocked" }) do
        item:add(F["sample." .. name], buf(at + 6 + 2 * i, 2))
    end
    item:add(F["sample.cond_codes"], buf(at + 14, 1))
    add_flags(item, buf, at + 15)
    item:add(F["sample.a_reg"], buf(at + 16, 4))
    for i = 0, words - 1 do
        item:add(F["sample.parents"], buf(at + 20 + 4 * i, 4))
    end
    return true
end

local function add_kind(tree, buf, version, layout)
    tree:add(F.kind, buf(0, 2), "profile"):set_generated()
    tree:add(F.magic, buf(0, 2))
    tree:add(F.version, buf(0, 2), version):set_generated()
    tree:add(F.layout, buf(0, 3), layout):set_generated()
    tree:add(F.header_size, buf(2, 1))
    tree:add(F.sample_count, buf(3, 1))
end

-- The header alone; the number of threads comes out of its size.
local function dissect_legacy(buf, tree, version)
    local header_size, fixed = buf(2, 1):uint(), LEGACY_FIXED[version]
    local threads = (header_size - fixed) / 8
    if threads < 1 or threads > 16 or threads ~= math.floor(threads) or version == 16 and threads ~= 16 then
        return refuse(tree, buf(2, 1), "header-size", version, header_size)
    end
    if header_size > buf:len() then return refuse(tree, buf(2, 1), "truncated", version, header_size) end
    add_kind(tree, buf, version, "legacy")
    local at, seq = 4, nil
    for _, w in ipairs(LEGACY_WORDS) do
        if version < w[4] then break end
        if w[1] == "seq" then seq = buf(at, 4):uint() end
        for _ = 1, w[3] == 0 and threads or w[3] do
            tree:add(F[w[1]], buf(at, w[2]))
            at = at + w[2]
        end
    end
    tree:add(F.bad_samples, buf(3, 1), 0):set_generated()
    tree:add(F.trailing, buf(3, 1), 0):set_generated()
    return string.format("legacy packet, version %d, %d samples not read", version, buf(3, 1):uint()), seq, version
end

-- Returns what to show in the list of packets, and of a good packet its sequence number (nil where it has none) and its
-- version.
local function dissect_data(buf, tree, magic)
    local version, size = bit.band(magic, 31), buf:len()
    if size < 4 then return refuse(tree, buf(), "short", version) end
    if LEGACY_FIXED[version] and prof.prefs.legacy_headers then return dissect_legacy(buf, tree, version) end
    if version ~= 17 and version ~= 21 then return refuse(tree, buf(0, 2), "version", version, version) end
    local header_size, count = buf(2, 1):uint(), buf(3, 1):uint()
    local nss = version == 21 and header_size == NSS_HEADER
    if version == 17 and header_size < V17_HEADER or version == 21 and header_size ~= V21_HEADER and not nss then
        return refuse(tree, buf(2, 1), "header-size", version, header_size)
    end
    if header_size > size then return refuse(tree, buf(2, 1), "truncated", version, header_size) end
    local words, sample_size = 0, 24
    if version == 21 then
        words = nss and buf(7, 1):uint() or buf(124, 4):uint()
        if nss and words == 0 then words = 4 end
        if words > 16 then return refuse(tree, buf(nss and 7 or 124, nss and 1 or 4), "sample-size", version, words) end
        sample_size = 20 + 4 * words
    end
    local need = header_size + count * sample_size
    if need > size then return refuse(tree, buf(3, 1), "sample-count", version, count) end

    local layout = version == 17 and "v17" or nss and "nss" or "v21"
    add_kind(tree, buf, version, layout)
    add_header(tree, buf, version == 17 and V17_WORDS or nss and NSS_WORDS or V21_WORDS)
    local bad = 0
    for i = 0, count - 1 do
        local at = header_size + i * sample_size
        local good = version == 17 and add_v17_sample(tree, buf, at) or version == 21 and add_v21_sample(tree, buf, at, words)
        if not good then bad = bad + 1 end
    end
    tree:add(F.bad_samples, buf(3, 1), bad):set_generated()
    local trailing = tree:add(F.trailing, need < size and buf(need) or buf(3, 1), size - need)
    trailing:set_generated()
    if need < size then trailing:add_proto_expert_info(E.trailing, (size - need) .. " bytes behind the last sample") end
    local seq = buf(version == 17 and 168 or nss and 8 or 72, 4):uint()
    return string.format("%s packet %d, %d samples", layout, seq, count), seq, version
end

-- 20 bytes up to the first NUL; what is no printable ASCII as \xNN.
local function counter_name(range)
    local text = {}
    for i = 0, range:len() - 1 do
        local b = range(i, 1):uint()
        if b == 0 then break end
        text[#text + 1] = b >= 0x20 and b < 0x7f and string.char(b) or string.format("\\x%02x", b)
    end
    return table.concat(text)
end

-- Also returns how many bytes it used: another packet may be glued behind.
local function dissect_counters(buf, tree)
    local size = buf:len()
    if size < 16 then return refuse(tree, buf(), "short"), size end
    local ultra = buf(2, 2):uint()
    local announced = ultra + buf(8, 4):uint()
    if announced > 59 then return refuse(tree, buf(2, 2), "counter-count", nil, math.min(announced, 0xffffffff)), size end
    local count = math.min(announced, math.floor((size - 16) / 24))
    tree:add(F.kind, buf(0, 2), "counters"):set_generated()
    tree:add(F.magic, buf(0, 2))
    tree:add(F.count, buf(2, 2), count):set_generated()
    tree:add(F.ultra_sample_time, buf(4, 4))
    tree:add(F.linux_sample_time, buf(12, 4))
    local truncated = tree:add(F.truncated, buf(8, 4), announced - count)
    truncated:set_generated()
    if count < announced then
        truncated:add_proto_expert_info(E.truncated, (announced - count) .. " counters cut off")
    end
    for i = 0, count - 1 do
        local range = buf(16 + 24 * i, 24)
        local name = counter_name(range(0, 20))
        local item = tree:add(F.counter, range)
        item:append_text(": " .. name .. " = " .. range(20, 4):uint())
        item:add(F["counter.name"], range(0, 20), name)
        item:add(F["counter.value"], range(20, 4))
        item:add(F["counter.side"], range(0, 20), i >= ultra and "linux" or "ultra"):set_generated()
    end
    local stop = 16 + 24 * count
    local more = count == announced and size - stop >= 2 and kind_of(buf(stop, 2):uint())
    return count .. " counters", more and stop or size
end

local function dissect_maps(buf, tree, version)
    local size = buf:len()
    if size < 8 then return refuse(tree, buf(), "short") end
    local announced, page_shift = buf(2, 2):uint(), buf(4, 4):uint()
    if 8 + announced * 4 > size then return refuse(tree, buf(2, 2), "map-count", nil, announced) end
    if page_shift < 10 or page_shift > 20 then return refuse(tree, buf(4, 4), "page-shift", nil, page_shift) end
    local v21, bad = version >= 18, 0
    tree:add(F.kind, buf(0, 2), "maps"):set_generated()
    tree:add(F.magic, buf(0, 2))
    tree:add(F.encoding, buf(0, 2), v21 and "v21" or "v17"):set_generated()
    tree:add(F.page_shift, buf(4, 4))
    if v21 then tree:add(F.last, buf(0, 2), bit.band(buf(1, 1):uint(), 1) ~= 0):set_generated() end
    for i = 0, announced - 1 do
        local range = buf(8 + 4 * i, 4)
        local word = range(2, 2):uint()
        local kind, pages, name
        if v21 then
            kind, pages = bit.rshift(word, 12), bit.band(word, 0xfff)
            if pages == 0 then pages = 4096 end
            name = V21_TYPES[kind]
        else
            kind, pages = bit.rshift(word, 11), bit.band(word, 0x7ff)
            name = kind >= 24 and "reserved" or V17_TYPES[kind]
            if kind < 16 then pages = pages <= 16 and 2 ^ pages or nil end
        end
        local item = tree:add(F.map, range)
        if pages then
            name = name or "type " .. kind
            item:append_text(string.format(": %d pages of %s from %d", pages, name, range(0, 2):uint()))
            item:add(F["map.start"], range(0, 2))
            item:add(F["map.type"], range(2, 2), name)
            item:add(F["map.pages"], range(2, 2), pages)
        else
            bad = bad + 1
            item:add_proto_expert_info(E.entry, "An order that no memory has")
        end
    end
    tree:add(F.count, buf(2, 2), announced - bad):set_generated()
    tree:add(F.bad_entries, buf(2, 2), bad):set_generated()
    return (announced - bad) .. " maps"
end

-- A hole in the sequence that is no restart; exactly one missing is how version 17 drivers count an empty read.
local function note_gap(tree, sender, seq, version)
    local last = sender.seq
    sender.seq, sender.version = seq, version
    if not last then return nil end
    local step = (seq - last) % 2 ^ 32
    if step > 1 and step <= 65537 and not (version == 17 and step == 2) then return step - 1 end
    return nil
end

local function dissect_packet(buf, tree, sender, note)
    local size = buf:len()
    if size < 2 then return refuse(tree, buf(), "short"), size end
    local magic = buf(0, 2):uint()
    local kind = kind_of(magic)
    if not kind then
        return refuse(tree, buf(0, 2), kind_of(buf(0, 2):le_uint()) and "byte-order" or "magic", nil, magic), size
    end
    if size > MAX_DATAGRAM then
        return refuse(tree, buf(0, 2), "truncated", kind == "data" and bit.band(magic, 31) or nil, size), size
    end
    if kind == "counters" then return dissect_counters(buf, tree) end
    if kind == "maps" then return dissect_maps(buf, tree, note.version or sender.version or 0), size end
    local text, seq, version = dissect_data(buf, tree, magic)
    if seq and not note.done then note.gap = note_gap(tree, sender, seq, version) end
    if version and not note.done then sender.version = version end
    if note.gap then
        tree:add_proto_expert_info(E.gap, string.format("%d packets missing before this one", note.gap))
    end
    return text, size
end

local interface_id = Field.new("frame.interface_id")

function prof.dissector(buf, pinfo, tree)
    local key = tostring(pinfo.src) .. ":" .. pinfo.src_port
    if pinfo.src_port == 0 then key = "interface " .. tostring(interface_id()) end -- no datagram: a sender each
    local sender = senders[key] or {}
    senders[key] = sender
    local note = noted[pinfo.number] or { version = sender.version }
    noted[pinfo.number] = note
    pinfo.cols.protocol = "PROF"
    local texts, at = {}, 0
    if buf:len() == 0 then
        local item = tree:add(prof, buf())
        item:add(F.reason, "short"):add_proto_expert_info(E.reject, "Packet refused: short")
        item:add(F.kind, "reject"):set_generated()
        pinfo.cols.info = "refused: short"
        return
    end
    repeat
        local rest = buf(at):tvb()
        local text, used = dissect_packet(rest, tree:add(prof, buf(at)), sender, note)
        texts[#texts + 1] = text
        at = at + used
    until at >= buf:len()
    note.done = true
    pinfo.cols.info = table.concat(texts, "; ")
end

DissectorTable.get("udp.port"):add(51080, prof)

---- the firmware log -------------------------------------------------------------------------------------------------

local tlog = Proto("corraltlog", "Firmware log batch")
local T = make_fields(tlog, "corraltlog", {
    { "write_offset", u32, "Write offset", DEC }, { "buffer_size", u32, "Buffer size", DEC }, { "magic", u32, "Magic", HEX },
    { "owner", u8, "Owner", DEC }, { "version", u8, "Version", DEC }, { "record", ftypes.NONE, "Record" },
    { "msg_size", u16, "Record size", DEC }, { "level", u8, "Level", DEC }, { "source", u8, "Source", DEC },
    { "timestamp", u32, "Timestamp (ms)", DEC }, { "sequence", u32, "Sequence", DEC }, { "text", str, "Text" },
    { "torn", bool, "Torn" },
})
local X = {
    magic = ProtoExpert.new("corraltlog.expert.magic", "Not a log buffer", expert.group.MALFORMED, expert.severity.ERROR),
    record = ProtoExpert.new("corraltlog.expert.record", "Corrupt record", expert.group.MALFORMED, expert.severity.ERROR),
    torn = ProtoExpert.new("corraltlog.expert.torn", "Torn record", expert.group.PROTOCOL, expert.severity.WARN),
    offset = ProtoExpert.new("corraltlog.expert.offset", "Write offset outside the buffer", expert.group.PROTOCOL,
        expert.severity.WARN),
}
tlog.experts = { X.magic, X.record, X.torn, X.offset }
local TLOG_MAGIC, STAGING = 0x544c4f47, 4096
local LEVELS = { [0] = "raw", "err", "wrn", "inf", "dbg" }

local function add_record(buf, tree, at, stop)
    local size = buf(at, 2):le_uint()
    if size < 12 or at + size > stop and size > STAGING then
        tree:add_le(T.msg_size, buf(at, 2)):add_proto_expert_info(X.record, "The batch ends here: a size that cannot be")
        return stop
    end
    local whole = math.min(size, stop - at)
    local item = tree:add(T.record, buf(at, whole))
    item:add_le(T.msg_size, buf(at, 2))
    item:add(T.level, buf(at + 2, 1))
    item:add(T.source, buf(at + 3, 1))
    item:add_le(T.timestamp, buf(at + 4, 4))
    item:add_le(T.sequence, buf(at + 8, 4))
    local text = whole > 12 and buf(at + 12, whole - 12):stringz() or ""
    if whole > 12 then item:add(T.text, buf(at + 12, whole - 12), text) end
    local level = LEVELS[buf(at + 2, 1):uint()] or "lvl" .. buf(at + 2, 1):uint()
    item:append_text(string.format(" %d, %s: %s", buf(at + 8, 4):le_uint(), level, text))
    local torn = item:add(T.torn, buf(at, 2), whole < size)
    torn:set_generated()
    if whole < size then torn:add_proto_expert_info(X.torn, "Its end is missing") end
    return at + whole
end

function tlog.dissector(buf, pinfo, tree)
    pinfo.cols.protocol = "TLOG"
    local item, size = tree:add(tlog, buf()), buf:len()
    if size < 16 then
        item:add_proto_expert_info(X.magic, "Shorter than a buffer's header")
        pinfo.cols.info = "not a log buffer"
        return
    end
    item:add_le(T.write_offset, buf(0, 4))
    item:add_le(T.buffer_size, buf(4, 4))
    item:add_le(T.magic, buf(8, 4))
    item:add(T.owner, buf(12, 1))
    item:add(T.version, buf(13, 1))
    if buf(8, 4):le_uint() ~= TLOG_MAGIC then
        item:add_proto_expert_info(X.magic, "Not a log buffer")
        pinfo.cols.info = "not a log buffer"
        return
    end
    local stop, at, records = buf(0, 4):le_uint(), 16, 0
    if stop < 16 or stop > size then
        item:add_proto_expert_info(X.offset, "Write offset " .. stop .. " outside the " .. size .. " bytes there are")
        stop = stop < 16 and 16 or size
    end
    while stop - at >= 12 do
        at = add_record(buf, item, at, stop)
        records = records + 1
    end
    pinfo.cols.info = records .. " records"
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, tlog)
-- Profile packets that came through a debug link: no datagrams, so there is nothing around them.
DissectorTable.get("wtap_encap"):add(wtap.USER2, prof)

---- Corral's own events ----------------------------------------------------------------------------------------------

local event = Proto("corralevent", "Corral event")
local V = make_fields(event, "corralevent", { { "kind", str, "Kind" }, { "json", str, "JSON" } })

function event.dissector(buf, pinfo, tree)
    pinfo.cols.protocol = "CORRAL"
    local text = buf():string()
    local kind = string.match(text, '"kind"%s*:%s*"([%w_-]+)"') or "?"
    local item = tree:add(event, buf())
    item:add(V.kind, buf(), kind):set_generated()
    item:add(V.json, buf(), text)
    pinfo.cols.info = kind
    local json = Dissector.get("json")
    if json then json:call(buf, pinfo, tree) end
    pinfo.cols.protocol = "CORRAL"
end

DissectorTable.get("wtap_encap"):add(wtap.USER1, event)
