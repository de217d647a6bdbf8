# SPDX-License-Identifier: Apache-2.0
# bash completion for corral(1). Made by tools/completion/update; do not edit.
_corral() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command= words i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --target|--link|--clock|--protocol|--connect|--wire-log|--timeout) ((i++)) ;;
        -*) ;;
        *) command=${COMP_WORDS[i]}; break ;;
        esac
    done
    case $prev in
    --link) words='sim dry shm: jtag: cmsis-dap cmsis-dap:tcp: openocd: openocd:spawn: gdb: replay:' ;;
    --protocol) words='swd jtag' ;;
    --connect) words='attach under-reset pre-reset' ;;
    --size) words='1 2 4' ;;
    --pace) words='wire real max' ;;
    --level) words='err wrn inf dbg' ;;
    --on-detach) words='as-found resume keep' ;;
    *)
        case $command in
        '') words='--clock --connect --help --json --link --protocol --quiet --target --timeout --version --wire-log demo probes scan status halt run step reset read write watch regs load cti sync-check sequence log profile top decode serve sim' ;;
        demo) words='--ctm-latency --listen --out --rounds --seconds --seed --json --quiet --help' ;;
        probes) words='--json --quiet --help' ;;
        scan) words='--json --quiet --help' ;;
        status) words='--cbuild-run --core --device --pack --json --quiet --help' ;;
        halt) words='--cbuild-run --core --device --leave-halted --no-sync --pack --sync --json --quiet --help' ;;
        run) words='--cbuild-run --core --device --leave-halted --no-sync --pack --sync --json --quiet --help' ;;
        step) words='--cbuild-run --core --device --leave-halted --no-sync --pack --sync --json --quiet --help' ;;
        reset) words='--cbuild-run --core --device --halt --leave-halted --no-sync --pack --sync --json --quiet --help' ;;
        read) words='--ap --core --out --size --json --quiet --help' ;;
        write) words='--ap --core --size --verify --json --quiet --help' ;;
        watch) words='--ap --core --count --interval --seconds --size --json --quiet --help' ;;
        regs) words='--core --halt --json --quiet --help' ;;
        load) words='--ap --core --ram --run --json --quiet --help' ;;
        cti) words='--address --ap --core --force --json --quiet --help show connect disconnect pulse' ;;
        sync-check) words='--cbuild-run --device --pack --rounds --json --quiet --help' ;;
        sequence) words='--core --dbgconf --device --sync --trace --var --json --quiet --help check list run' ;;
        log) words='--buffer --core --device --fail-on-loss --follow --level --seconds --source --status --symbol --json --quiet --help' ;;
        profile) words='--connect --diff --elf --export --fail-on-loss --legacy-headers --listen --pcap --pcsr --port --seconds --thread --top --json --quiet --help' ;;
        top) words='--connect --elf --legacy-headers --listen --pcap --pcsr --port --seconds --thread --json --quiet --help' ;;
        decode) words='--elf --legacy-headers --level --port --staging --json --quiet --help tlog prof' ;;
        serve) words='--capture --cbuild-run --core --device --gdb-all --gdb-port --listen --no-log --no-sync --on-detach --pack --print-launch --profile --run --sync --json --quiet --help' ;;
        sim) words='--adiv6 --cmsis-dap --control --core-hz --count --cti-base --ctm-latency --elf --held-in-reset --identity --jtag --level-halted --misbehave --no-cti --no-debug --pace --profile-control --profile-port --ram --rate --seconds --seed --separate-ctm --shm --sleep-stops-clock --stlink --tlog-device --unpowered --json --quiet --help' ;;
        esac ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    [[ $cur != -* && ( -n $command || $prev == --target || $prev == --wire-log ) ]] && COMPREPLY+=($(compgen -f -- "$cur"))
}
complete -o filenames -F _corral corral
