# SPDX-License-Identifier: Apache-2.0
"""What the driver is asked to survive, one function each. They run in this order, in one boot if all goes well.

No scenario may depend on how fast the machine is. A counter is looked at once everything is settled, for the driver
counts records before it has told of them; a reader is told when to end (stop_reader) or knows how much comes (-n);
sleep() only gives something wrong its time.
"""
import re

from rig import ACTIVE, DEAD, REFUSED, sleep


def equal(got, wanted, what):
    if got != wanted:
        raise AssertionError(f"{what}: {got!r}, not {wanted!r}")


def holds(condition, what):
    if not condition:
        raise AssertionError(what)


def values(counts, **wanted):
    wrong = {name: counts.get(name) for name, value in wanted.items() if counts.get(name) != value}
    if wrong:
        raise AssertionError(f"{wrong} where {wanted} is right; all: {counts}")


# ---- setting up ----

def setup_is_acknowledged(rig):
    rig.fresh()
    status = rig.emulator.status()
    equal((status["active"], status["setups"] >= 1), (True, True), "set up")
    holds(status["size"] >= 4112 and status["size"] % 4 == 0, f"size {status['size']}")
    values(rig.counters(), state=ACTIVE, setup_status=0, setup_failures=0, firmware_version=0, buffer_size=status["size"])
    info = rig.guest("/tlog_reader -i /dev/tlog0")
    holds(info.startswith(f"abi=1 buffer={status['size']} version=0 state=1 "), "GET_INFO: " + info)
    rig.flows()


def iommu_require_refuses(rig):
    rig.calm()
    before = rig.emulator.status()
    rig.load(wait=None, iommu="require")
    rig.guest("insmod /tlog_pci.ko || true")
    sleep(0.3)
    holds(rig.guest.run("ls /dev/tlog0").code != 0, "/dev/tlog0 is there in spite of iommu=require")
    equal(rig.emulator.status()["setups"], before["setups"], "SETUPs")
    log = rig.keep_log()
    equal(len(re.findall("iommu=require", log)), 1, "lines that say why in\n" + log)
    equal(rig.guest.run("insmod /tlog_core.ko iommu=perhaps").code != 0, True, "iommu=perhaps is refused")


def refused_setup_is_reported(rig):
    rig.expected_remarks.add("RELEASE though nothing was set up")
    for code in (0xFF, 0x01, 0x13, 0x16):
        rig.calm()
        rig.emulator(f"refuse {code} 1000")
        rig.load(wait=REFUSED)
        values(rig.counters(), setup_status=code, records=0)
        log = rig.keep_log()
        told = len(re.findall(r"^<[34]>.*tlog.*(refused|not supported)", log, re.M))
        # firmware without the feature is no fault and no news; the others are, once
        equal(told, 0 if code == 0xFF else 1, f"complaints about {code:#x} in\n{log}")


def busy_firmware_is_asked_again(rig):
    rig.calm()
    rig.emulator("refuse 0xf5 2")
    rig.load(poll_ms=50)
    values(rig.counters(), setup_status=0)
    rig.flows()


def patient(rig):
    """Answers may take their time again."""
    rig.set("tlog_pci", answer_ms=20000)


def unanswered_setup_is_repeated(rig):
    rig.expected_remarks.add("SETUP while a buffer was set up")  # on a slow machine the second is given up too
    rig.calm()
    rig.emulator("mute 1")
    rig.load(wait=None, poll_ms=50, answer_ms=1000)
    holds(rig.counter("setup_failures") >= 1, "a SETUP without an answer is no failure")
    patient(rig)
    rig.wait_state(ACTIVE, 30)
    rig.flows()


def late_answer_is_nobody_elses(rig):
    """The first SETUP is answered after the driver gave up; no later exchange may take that for its answer."""
    rig.expected_remarks.add("SETUP while a buffer was set up")
    rig.calm()
    rig.emulator("late 1500 1")
    rig.load(wait=None, poll_ms=50, answer_ms=1000)
    patient(rig)
    rig.wait_state(ACTIVE, 30)
    rig.flows()
    rig.unload()
    equal(rig.emulator.status()["active"], False, "set up after rmmod")


def stale_answers_are_drained(rig):
    rig.calm()
    rig.emulator("stale 3")
    rig.load()
    values(rig.counters(), setup_status=0, setup_failures=0)
    rig.flows()


def impossible_queues_are_refused(rig):
    for lie, right in (("entries 0", "entries"), ("entries 255", "entries"), ("queue-address 0x7fffff00", "queue-address"),
                       ("queue-address 0xfff0", "queue-address"), ("response-pointer 200", "response-pointer"),
                       ("boot-status 0", "boot-status")):
        rig.calm()
        rig.emulator(lie)
        rig.load(wait=None, poll_ms=50)
        rig.wait_counter("setup_failures", 1, 20)
        holds(rig.counter("state") != ACTIVE, lie + ": set up all the same")
        rig.emulator(right)
        rig.wait_state(ACTIVE, 30)
        rig.flows()


# ---- the stream ----

def hundred_thousand_records_in_order(rig):
    count = 100000
    rig.fresh(ring_size=32 << 20, level=1)
    rig.start_reader("order", f"-d -n {count}")
    rig.emulator(f"generate {count}")
    got = rig.end_reader("order", 90)
    values(got, stream=count, first=0, last=count - 1, bad=0, disorder=0, missing=0, lost=0, gaps=0, torn=0, errno=0)
    values(rig.counters(), records=count, gaps=0, lost=0, torn=0, framing_errors=0, anomalies=0, suppressed=0)
    equal(rig.emulator.status()["dropped"], 0, "drops by the firmware")


def levels_map_to_the_kernel_log(rig):
    rig.fresh(level=4, log_rate=0)
    cases = ((1, 0, "<3>", "SMC"), (2, 0, "<4>", "SMC"), (3, 0, "<6>", "SMC"), (4, 0, "<7>", "SMC"), (0, 0, "<6>", "SMC"),
             (5, 0, "<7>", "SMC"), (7, 1, "<7>", "DMC"), (255, 1, "<7>", "DMC"), (3, 1, "<6>", "DMC"))
    for i, (level, source, _, _) in enumerate(cases):
        rig.emulator(f"log {level} {source} case-{i}-end")
    rig.emulator("log 3 9 unknown-source")
    rig.settled()
    log = rig.keep_log()
    for i, (level, _, mark, name) in enumerate(cases):
        line = [text for text in log.splitlines() if f"case-{i}-end" in text]
        equal(len(line), 1, f"lines of level {level}")
        holds(line[0].startswith(mark) and f"tlog tlog0: {name}: case-{i}-end" in line[0], f"level {level}: {line[0]}")
    line = [text for text in log.splitlines() if "unknown-source" in text]
    holds(len(line) == 1 and "SMC" not in line[0] and "DMC" not in line[0], f"unknown source: {line}")


def log_level_and_switch_at_run_time(rig):
    rig.fresh(level=2, log_rate=0)

    def shown(text, level):
        rig.emulator(f"log {level} 0 {text}")
        rig.settled()
        return text in rig.keep_log()

    equal([shown("a1", 1), shown("a2", 2), shown("a3", 3), shown("a4", 4)], [True, True, False, False], "level=2")
    rig.set(level=3)
    equal([shown("b3", 3), shown("b4", 4)], [True, False], "level=3")
    rig.set(kmsg="N")
    equal([shown("c1", 1), shown("c3", 3)], [False, False], "kmsg=N")
    rig.set(kmsg="Y")
    equal(shown("d1", 1), True, "kmsg=Y")


def hostile_text_is_one_line(rig):
    rig.fresh(level=4, log_rate=0)
    texts = (r"first %s%n%p%lx%pV end", r"second\x1b[1;31m red\x1b[0m tail\x1b", r"third\x0d\x0a[9.9] <err> forged end",
             r"fourth \x00 hidden end", r"fifth \x9b31m \xff\xfe end", r"sixth \x1b]0;title\x07 end")
    for text in texts:
        rig.emulator("log 3 0 " + text)
    rig.settled()
    log = rig.keep_log()
    lines = [line for line in log.splitlines() if re.search("first|second|third|fourth|fifth|sixth", line)]
    equal(len(lines), len(texts), "lines for as many records in\n" + log)
    holds("%s%n%p%lx%pV" in lines[0], "a text was taken for a format: " + lines[0])
    holds(not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in "".join(lines)), "control bytes in " + repr(lines))
    holds("hidden" not in lines[3], "text behind the NUL is shown: " + lines[3])
    holds(not re.search(r"^<\d>[^\n]*\n[^<]", log + "\n<"), "a record made a second line")


def uptime(rig):
    return float(rig.guest("cat /proc/uptime").split()[0])


def flood_to_the_kernel_log_is_bounded(rig):
    rig.fresh(level=4, log_rate=50)
    started = uptime(rig)
    rig.emulator("generate 5000 5000")
    rig.settled()
    seconds = uptime(rig) - started
    log = rig.keep_log()
    lines = len(re.findall(r"stream: n=", log))
    # a second begins with the first line after the end of the one before
    holds(50 <= lines <= 50 * (int(seconds) + 2), f"{lines} lines of 5000 at log_rate=50 in {seconds} s")
    equal(rig.counter("suppressed"), 5000 - lines, "suppressed")


def two_readers_each_with_its_own_loss(rig):
    count, step = 12000, 2000  # the ring holds more than 2000 records of about 110 bytes, and less than 6000
    rig.fresh(ring_size=256 << 10, level=1)
    rig.start_reader("slow", "-d -s 150 -b 2048")
    rig.start_reader("fast", f"-d -n {count} -e {step} -B")
    for number in range(step, count + 1, step):
        rig.emulator(f"generate {step}")
        rig.reader_is_at("fast", number)
    values(rig.end_reader("fast"), stream=count, first=0, last=count - 1, bad=0, disorder=0, missing=0, lost=0, errno=0)
    slow = rig.stop_reader("slow")
    values(slow, bad=0, disorder=0, missing=0, last=count - 1, errno=0)
    equal(slow["stream"] + slow["lost"], count, f"read and lost of the slow reader: {slow}")
    # one that begins late gets what is still there, and that is no loss
    rig.start_reader("late")
    late = rig.stop_reader("late")
    values(late, bad=0, disorder=0, missing=0, last=count - 1, lost=0, errno=0)
    holds(late["stream"] >= step, f"the ring holds less than {step} records: {late}")
    # one that stands still for longer than the ring lasts knows exactly what it missed
    rig.start_reader("third", "-d -e 100 -b 4096")
    rig.emulator("generate 100")
    rig.reader_is_at("third", 100)
    rig.signal_reader("third", "STOP", "T")
    rig.emulator("generate 6000")
    rig.settled()
    rig.signal_reader("third", "CONT", "[SR]")
    third = rig.stop_reader("third")
    values(third, bad=0, disorder=0, missing=0, last=count + 6099, errno=0)
    holds(third["lost"] > 0, f"the reader that stood still lost none: {third}")
    equal(third["stream"] + third["lost"], 6100, f"read and lost of the reader that stood still: {third}")


def read_honours_its_manners(rig):
    rig.fresh()
    rig.guest("/tlog_reader -d -t 10 /dev/tlog0 >/dev/null")
    rig.emulator("log 3 0 something")
    rig.settled()
    small = rig.guest.run("/tlog_reader -b 16 -t 10000 /dev/tlog0")
    holds("errno=22" in small, "a buffer smaller than a frame: " + small)
    none = rig.guest.run("/tlog_reader -d -t 50 /dev/tlog0")
    holds("frames=0" in none and "errno=0" in none, "poll with nothing to read: " + none)
    rig.start_reader("blocked", "-d -B -n 1")
    sleep(0.2)
    holds(rig.guest.run("grep frames= /tmp/blocked").code != 0, "a blocking read came back without a record")
    rig.emulator("generate 1")
    values(rig.end_reader("blocked"), stream=1, errno=0)
    equal(rig.guest.run("echo x > /dev/tlog0").code != 0, True, "writing is refused")


def drops_of_the_firmware_are_counted(rig):
    rig.fresh(level=1, ring_size=8 << 20)
    rig.start_reader("flood", "-d")
    rig.emulator("flood on", "generate 60000")
    rig.emulator.wait("generated", lambda s: s["left"] == 0)
    with rig.guest.held():  # a driver that is fast enough for the firmware is not for this
        rig.emulator("generate 5000")
        rig.emulator.wait("generated", lambda s: s["left"] == 0)
    status = rig.settled()
    got = rig.stop_reader("flood")
    holds(status["dropped"] > 0, "nothing was dropped, so nothing is shown")
    rig.emulator("flood off")
    rig.flows()
    counters = rig.counters()
    equal(counters["lost"], status["dropped"], "records the driver calls lost")
    values(got, bad=0, disorder=0, lost=0)


def record(sequence, text=b"x\0", level=3):
    return (12 + len(text)).to_bytes(2, "little") + bytes([level, 0]) + bytes(4) + sequence.to_bytes(4, "little") + text


def sequence_numbers_are_judged(rig):
    cases = (("34 after attaching is a beginning", (34, 35), {}),
             ("a wrap is no gap", (0xFFFFFFFE, 0xFFFFFFFF, 0, 1), {}),
             ("five are missing", (7, 13), {"gaps": 1, "lost": 5}),
             ("five are missing across the wrap", (0xFFFFFFFD, 3), {"gaps": 1, "lost": 5}),
             ("the largest gap", (0, 0x80000000), {"gaps": 1, "lost": 0x7FFFFFFF}),
             ("one further is a restart", (0, 0x80000001), {"restarts": 1}),
             ("back to 0", (500, 0), {"restarts": 1}),
             ("the same again", (9, 9), {"restarts": 1}),
             ("after a restart it goes on", (500, 0, 1, 4), {"restarts": 1, "gaps": 1, "lost": 2}))
    for name, numbers, expect in cases:
        rig.fresh()
        # in two batches: what is known lasts from one to the next
        rig.emulator("batch " + record(numbers[0]).hex())
        rig.settled()
        rig.emulator("batch " + b"".join(map(record, numbers[1:])).hex())
        rig.settled()
        try:
            values(rig.counters(), **{"records": len(numbers), "gaps": 0, "lost": 0, "restarts": 0, **expect})
        except AssertionError as wrong:
            raise AssertionError(f"{name}: {wrong}") from None


def long_text_comes_whole(rig):
    rig.fresh(level=4, log_rate=0)
    rig.start_reader("long", "-d -n 1 -p")
    rig.emulator("length 4068", "generate 1", "length 0")
    values(rig.end_reader("long"), stream=1, bad=0, torn=0)
    rig.settled()
    text = rig.guest("sed -n 's/^3 0 0 //p' /tmp/long")
    holds(len(text) >= 4066, f"{len(text)} characters of 4068 came")
    lines = [line for line in rig.keep_log().splitlines() if "tlog tlog0: SMC" in line]
    holds(len(lines) > 1 and all(len(line) < 1024 for line in lines), f"lines of {[len(line) for line in lines]}")
    shown = "".join(re.sub(r"^.*?tlog0: SMC[:+] ", "", line) for line in lines)
    holds(text[-400:].strip()[:300] in shown and "[cut]" not in shown, "the kernel log lacks the end of the text")


def unknown_version_is_refused(rig):
    rig.calm()
    rig.emulator("version 1", "restart")
    rig.load(wait=None, poll_ms=50)
    rig.wait_counter("setup_failures", 1)
    values(rig.counters(), records=0, firmware_version=1)
    holds(rig.counter("state") != ACTIVE, "set up with a version nobody knows")
    equal(rig.emulator.status()["active"], False, "set up after it was refused")
    rig.emulator("version 0")


def released_firmware_is_followed(rig):
    """What is in the field, drop for drop: every record or its loss is counted."""
    rig.calm()
    rig.emulator("compatible on", "restart", "flood on", "generate 500")  # more than staging holds, before any host
    rig.load(level=1, ring_size=8 << 20)
    rig.emulator("generate 20000")
    rig.emulator.wait("generated", lambda s: s["left"] == 0)
    rig.emulator("generate 3000 10000")
    rig.drained()
    rig.emulator("log 3 0 the last one")
    status = rig.settled()
    holds(status["dropped"] > 0, "nothing was dropped, so nothing is shown")
    values(rig.counters(), records=status["delivered"], lost=status["dropped"], torn=0, framing_errors=0, anomalies=0)
    rig.emulator("compatible off")


# ---- interrupts ----

def poll_finds_what_no_interrupt_tells(rig):
    rig.fresh(poll_ms=100)
    rig.emulator("miss-irq all")
    rig.start_reader("polled", "-d -n 500")
    rig.emulator("generate 500 500")
    values(rig.end_reader("polled"), stream=500, first=0, last=499, lost=0, missing=0, disorder=0, errno=0)
    rig.settled()
    rig.wait_counter("polls", 1)
    values(rig.counters(), interrupts=0, gaps=0, records=500)
    rig.calm()
    rig.load(poll_ms=100, interrupts="N")
    rig.flows(200)
    values(rig.counters(), interrupts=0, gaps=0, records=200)


def one_lost_interrupt_only_delays(rig):
    rig.fresh(poll_ms=500)
    rig.emulator("miss-irq 1", "log 3 0 alone")
    rig.wait_counter("polls", 1)
    values(rig.counters(), records=1, gaps=0, interrupts=0, polls=1)
    rig.flows()


def spurious_interrupts_cost_nothing(rig):
    rig.fresh(poll_ms=10000)
    rig.emulator("spurious-irq")
    rig.wait_counter("spurious", 1)
    rig.emulator("spurious-irq 100000")
    rig.flows()
    values(rig.counters(), gaps=0, anomalies=0, framing_errors=0)


# ---- the buffer ----

def tampered(rig, command, expect, survivors):
    """Of 5, 10 and 20 records, the batch of 10 has something wrong in it: counters, and how many of the 10 come."""
    rig.flows(5)
    rig.emulator("silence", command, "generate 10", "silence off")
    rig.settled()
    if "buffer-size" in command:  # it stays in the header, and would count again
        rig.emulator(f"poke 4 {rig.emulator.status()['size']}")
    rig.flows(20)
    values(rig.counters(), **{"records": 5 + survivors + 20, **expect})


def torn_tail_is_salvaged(rig):
    rig.fresh()
    rig.start_reader("torn", "-d")
    tampered(rig, "torn", {"torn": 1, "framing_errors": 0, "gaps": 0}, 10)
    values(rig.stop_reader("torn"), frames=35, torn=1, bad=0)
    rig.fresh()
    tampered(rig, "torn-header", {"torn_headers": 1, "framing_errors": 0, "gaps": 1, "lost": 1}, 9)


def lying_write_offset(rig):
    for value in (0, 15):
        rig.fresh()
        tampered(rig, f"write-offset {value}", {"anomalies": 1, "framing_errors": 0, "lost": 10}, 0)
    rig.fresh()
    tampered(rig, "write-offset 16", {"anomalies": 0, "framing_errors": 0, "lost": 10}, 0)
    size = rig.emulator.status()["size"]
    for value in (size + 1, 0xFFFFFFF0, 0xFFFFFFFF):
        rig.fresh()
        tampered(rig, f"write-offset {value}", {"anomalies": 1, "gaps": 0}, 10)


def lying_buffer_size(rig):
    for value in (0, 0xFFFFFFFF):
        rig.fresh()
        tampered(rig, f"buffer-size {value}", {"anomalies": 1, "gaps": 0}, 10)


def lying_msg_size(rig):
    for value in (0, 1, 11, 0xFFFF):
        for index in (0, 4):
            rig.fresh()
            tampered(rig, f"msg-size {value} {index}", {"framing_errors": 1, "torn": 0, "lost": 10 - index}, index)
    rig.fresh()
    rig.emulator("batch 0c000300010000000000000000")  # one legal empty record and a byte too many
    rig.settled()
    values(rig.counters(), records=1, framing_errors=0, torn_headers=1)


def bad_magic_is_set_up_again(rig):
    for value in (0x474F4C54, 0):
        rig.fresh(poll_ms=50)
        rig.expected_remarks.add("SETUP while a buffer was set up")
        rig.emulator("silence", f"bad-magic {value}", "generate 10", "silence off")
        rig.wait_counter("magic_errors", 1)
        rig.wait_counter("setups", 2, 20)
        rig.wait_state(ACTIVE, 20)
        rig.settled(uncounted=1)
        rig.flows()
        holds(rig.counter("setups") >= 2, "no second SETUP")
    rig.fresh(poll_ms=50)
    rig.emulator("poke 8 0x12345678")  # between two batches: only the poll can see it
    rig.wait_counter("magic_errors", 1)
    rig.wait_counter("setups", 2, 20)
    rig.wait_state(ACTIVE, 20)
    rig.flows()


def owner_games(rig):
    for value in (2, 0x80, 0xFF):
        rig.fresh(poll_ms=50)
        rig.emulator("silence", f"owner {value}", "spurious-irq")
        rig.wait_counter("owner_errors", 1)
        rig.guest.wait("a report", "dmesg | grep -q 'owner byte stays'")
        sleep(0.3)
        values(rig.counters(), records=0)
        equal(rig.emulator.status()["owner"], value, "an owner byte that is not the host's was changed")
        equal(len(re.findall("owner byte stays", rig.keep_log())), 1, "reports of an owner byte that stays")
        rig.emulator("owner 0", "silence off")
        rig.flows()
    rig.fresh()
    rig.emulator("silence", "generate 10", "flip", "silence off")
    rig.drained()
    rig.flows(settled=False)
    # 10 records came whole, or the driver saw that they were pulled away
    counters = rig.counters()
    holds(counters["records"] >= 20 and counters["framing_errors"] == 0, f"after 'flip': {counters}")


def writes_while_the_host_reads(rig):
    rig.fresh(level=4)
    rig.start_reader("scribbled", "-d")
    for _ in range(20):
        rig.emulator("scribble 5", "generate 40")
        rig.emulator.wait("scribbled", lambda s: s["left"] == 0)
    rig.settled()
    got = rig.stop_reader("scribbled")
    values(got, bad=0, errno=0)
    rig.calm()
    rig.load()
    rig.flows()


def hostile_batches_do_not_harm(rig):
    """Random bytes, and headers that look right with everything in them random; deterministic."""
    rig.fresh(level=4, poll_ms=50)
    rig.start_reader("hostile", "-d")
    state = 12345
    for _ in range(120):
        data = bytearray()
        for _ in range(1 + state % 5):
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
            size = 12 + (state >> 8) % 60
            record = bytearray((state >> (i % 20)) * (i + 7) & 0xFF for i in range(size))
            if state % 7:
                record[0:2] = size.to_bytes(2, "little")
            data += record
        rig.emulator.wait("owner free", lambda s: s["owner"] == 0)
        rig.emulator("batch " + data[:500].hex())
    rig.settled()
    values(rig.stop_reader("hostile"), bad=0, errno=0)
    holds(rig.counter("batches") >= 120, "batches were left out")
    rig.flows()


# ---- comings and goings ----

def silence_is_no_error(rig):
    rig.fresh(poll_ms=50)
    rig.flows()
    rig.emulator("silence")
    rig.keep_log()
    sleep(1.0)
    said = [line for line in rig.keep_log().splitlines() if "tlog" in line]  # the kernel may complain of a slow machine
    equal(said, [], "what the driver says in a silence")
    values(rig.counters(), state=ACTIVE, anomalies=0, setups=1)
    rig.emulator("silence off")
    rig.flows()


def restart_is_followed(rig):
    for traffic in (False, True):
        rig.fresh(poll_ms=5000, level=1, ring_size=8 << 20)
        rig.start_reader("restart", "-d")
        rig.flows()
        if traffic:
            rig.emulator("generate 1000000 2000")
            rig.wait_counter("records", 200)
        rig.emulator("restart")
        if traffic:
            rig.wait_counter("records", 1000)
            rig.emulator("generate 0")
            rig.drained()
        rig.wait_counter("resets", 1)
        rig.wait_state(ACTIVE)
        rig.flows()
        counters = rig.counters()
        values(counters, resets=1, restarts=1, setups=2, state=ACTIVE, setup_failures=0)
        holds(counters["lost"] < 1000, f"a restart was taken for a loss: {counters}")
        got = rig.stop_reader("restart")
        values(got, restarts=1, bad=0, disorder=0, lost=0, errno=0)


def dead_device_is_left_alone(rig):
    rig.fresh(poll_ms=50)
    rig.flows()
    rig.emulator("dead")
    rig.wait_state(DEAD, 20)
    before = rig.emulator.status()
    sleep(0.5)
    after = rig.emulator.status()
    equal((after["requests"], after["doorbells"]), (before["requests"], before["doorbells"]), "messages to a dead device")
    rig.emulator("restart")
    rig.wait_state(ACTIVE, 20)
    rig.flows()
    rig.emulator("dead")
    rig.wait_state(DEAD, 20)
    rig.unload()  # RELEASE cannot be answered; unloading still ends


def unload_releases(rig):
    rig.fresh()
    rig.flows()
    before = rig.emulator.status()
    rig.guest("rmmod tlog_pci")
    after = rig.emulator.status()
    equal(after["releases"] - before["releases"], 1, "RELEASEs by rmmod")
    equal(after["active"], False, "set up after rmmod")
    rig.emulator("log 3 0 for the next host")
    sleep(0.2)  # what it wrote now would be a violation
    holds(rig.guest.run("ls /dev/tlog0").code != 0, "/dev/tlog0 outlives its device")
    rig.guest("insmod /tlog_pci.ko")
    rig.wait_counter("records", 1)


def twenty_loads_under_traffic(rig):
    rig.calm()
    rig.emulator("generate 100000000", "flood on")
    before = rig.emulator.status()
    for i in range(20):
        rig.load(wait=None, level=1)
        if i % 2:
            rig.wait_counter("records", 100)
        rig.guest("rmmod tlog_pci && rmmod tlog_core")
        equal(rig.emulator.status()["active"], False, f"set up after unloading number {i}")
    rig.emulator("generate 0", "flood off")
    after = rig.emulator.status()
    equal(after["releases"] - before["releases"], after["setups"] - before["setups"], "RELEASEs for SETUPs")
    equal(after["setups"] - before["setups"], 20, "SETUPs")


def surprise_removal_with_an_open_file(rig):
    rig.fresh(level=1)
    address = rig.guest("basename $(ls -d /sys/bus/pci/drivers/tlog_pci/0000:*)")
    rig.emulator("generate 100000000", "flood on")
    rig.start_reader("inside", "-B")
    rig.guest("exec 3</dev/tlog0")
    rig.guest("head -c 1 <&3 >/dev/null; true")
    rig.guest(f"echo 1 > /sys/bus/pci/devices/{address}/remove")
    equal(rig.emulator.status()["active"], False, "set up after removal")
    got = rig.end_reader("inside")
    equal(got["errno"], 19, "the reader inside read() gets ENODEV")
    holds(rig.guest.run("ls /dev/tlog0").code != 0, "the node outlives its device")
    answer = rig.guest.run("dd bs=65536 count=1 of=/dev/null <&3")
    holds("No such device" in answer, "read on the old file: " + answer)
    rig.guest("exec 3<&-")
    sleep(0.3)
    rig.emulator("generate 0", "flood off", "restart")
    rig.mark()
    rig.guest("echo 1 > /sys/bus/pci/rescan")
    rig.guest.wait("the device after rescan", "[ -e /dev/tlog0 ]")
    rig.wait_state(ACTIVE)
    rig.flows()


def open_file_holds_the_module(rig):
    rig.fresh()
    rig.guest("exec 3</dev/tlog0")
    rig.guest("rmmod tlog_pci")
    holds(rig.guest.run("rmmod tlog_core").code != 0, "tlog_core was unloaded under an open file")
    rig.guest("exec 3<&-")
    rig.guest("rmmod tlog_core")


def suspend_and_resume(rig):
    if rig.guest.run("grep -qw mem /sys/power/state").code != 0:
        return "this kernel cannot suspend to memory"
    rig.fresh(poll_ms=20000)
    rig.flows()
    before = rig.emulator.status()

    def asleep():
        equal(rig.emulator.status()["active"], False, "set up while the host sleeps")
        rig.emulator("log 3 0 said while the host slept")
        sleep(0.2)  # a store now would be a violation

    rig.guest.suspend(asleep)
    rig.wait_state(ACTIVE, 20)
    after = rig.emulator.status()
    equal((after["releases"] - before["releases"], after["setups"] - before["setups"]), (1, 1), "RELEASE and SETUP")
    rig.wait_counter("records", 21)
    rig.flows()  # by interrupts: the next poll is far away
    values(rig.counters(), records=41, gaps=0, lost=0, restarts=0, resets=0)
    return None


def for_each_kernel():
    """What differs between kernels: interrupts, DMA, modules and devices that come and go, power management."""
    return [setup_is_acknowledged, hundred_thousand_records_in_order, levels_map_to_the_kernel_log,
            read_honours_its_manners, poll_finds_what_no_interrupt_tells, unload_releases, twenty_loads_under_traffic,
            surprise_removal_with_an_open_file, open_file_holds_the_module, suspend_and_resume]


def all_scenarios():
    return [setup_is_acknowledged, hundred_thousand_records_in_order, levels_map_to_the_kernel_log,
            log_level_and_switch_at_run_time, hostile_text_is_one_line, flood_to_the_kernel_log_is_bounded,
            two_readers_each_with_its_own_loss, read_honours_its_manners, sequence_numbers_are_judged,
            long_text_comes_whole, unknown_version_is_refused, released_firmware_is_followed, drops_of_the_firmware_are_counted,
            poll_finds_what_no_interrupt_tells, one_lost_interrupt_only_delays, spurious_interrupts_cost_nothing,
            torn_tail_is_salvaged, lying_write_offset, lying_buffer_size, lying_msg_size, bad_magic_is_set_up_again,
            owner_games, writes_while_the_host_reads, hostile_batches_do_not_harm, silence_is_no_error,
            restart_is_followed, dead_device_is_left_alone, refused_setup_is_reported, busy_firmware_is_asked_again,
            unanswered_setup_is_repeated, late_answer_is_nobody_elses, stale_answers_are_drained,
            impossible_queues_are_refused, unload_releases, twenty_loads_under_traffic,
            surprise_removal_with_an_open_file, open_file_holds_the_module, suspend_and_resume, iommu_require_refuses]
