#!/bin/sh
# SPDX-License-Identifier: MIT
# The command: usage errors, exit statuses, what it refuses to run and why, and its view of a running process.
# usage: tests/command/run.sh [POOLMEM]     (its library is looked for as the command itself does)
poolmem=$(realpath "${1:-build/poolmem}") || exit 1
readme=$(realpath "$(dirname "$0")/../../README.md") || exit 1
here=$(mktemp -d) || exit 1
started=
trap 'for p in $started; do kill "$p" 2>/dev/null; done; rm -rf "$here"' EXIT
cd "$here" || exit 1
unset LD_PRELOAD
count=0 failed=0

# expect NAME STATUS WORDS COMMAND...: the command ends with STATUS and WORDS (an extended regular expression)
# stand in what it prints; what it says on stderr is at most one line unless it ends with usage
expect() {
    name=$1 status=$2 words=$3
    shift 3
    "$@" >out 2>err </dev/null
    got=$?
    count=$((count + 1))
    if [ $got -ne "$status" ] || { [ "$words" ] && ! cat out err | grep -Eq -e "$words"; }; then
        echo "FAILED $name: status $got, expected $status; output lacks /$words/:"
        cat out err
        failed=1
    elif [ "$status" -eq 1 ] && [ "$(grep -c . err)" -gt 1 ]; then
        echo "FAILED $name: more than one line:"
        cat err
        failed=1
    fi
}

# holds NAME COMMAND...: the command succeeds
holds() {
    name=$1
    shift
    count=$((count + 1))
    "$@" >out 2>err </dev/null && return
    echo "FAILED $name: $*"
    cat out err
    failed=1
}

compile() { # compile FILE FLAGS...
    out=$1
    shift
    echo 'int main(void) { return 3; }' | cc -x c - -o "$out" "$@" 2>/dev/null
}

# --- usage ------------------------------------------------------------------------------------------
expect "no command" 2 "^usage: poolmem" "$poolmem"
expect "unknown command" 2 "nonesuch: no such command" "$poolmem" nonesuch
expect "help" 0 "^usage: poolmem" "$poolmem" --help
expect "version" 0 "^poolmem [0-9]+[.][0-9]+" "$poolmem" --version
expect "run: nothing" 2 "no command given" "$poolmem" run
expect "run: only options" 2 "no command given" "$poolmem" run --exit --
expect "run: unknown option" 2 "nonesuch: no such option" "$poolmem" run --nonesuch true
expect "run: unknown short option" 2 "x: no such option" "$poolmem" run -x true
expect "run: value missing" 2 "conf needs a value" "$poolmem" run --conf
expect "run: help" 0 "track" "$poolmem" run --help
expect "run: help of the command it runs" 0 "^Usage: ls" "$poolmem" run ls --help
for command in run stat dump check list model sim; do
    expect "$command: help" 0 "^usage: poolmem $command" sh -c '"$0" $1 --help 2>&-' "$poolmem" $command
done
expect "stat: nothing" 2 "no process given" "$poolmem" stat
expect "stat: no number" 2 "abc: not a process id" "$poolmem" stat abc
expect "stat: zero" 2 "0: not a process id" "$poolmem" stat 0
expect "stat: negative" 2 "no such option" "$poolmem" stat -5
expect "stat: two" 2 "one process at a time" "$poolmem" stat 1 2
expect "stat: unknown option" 2 "no such option" "$poolmem" stat --yaml 1
expect "stat: top" 2 "top needs a number" "$poolmem" stat --top many 1
expect "dump: nothing" 2 "^usage: poolmem dump" "$poolmem" dump
expect "dump: no number" 2 "one process id expected" "$poolmem" dump abc
expect "list: argument" 2 "takes no arguments" "$poolmem" list all
expect "check: nothing" 2 "^usage: poolmem check" "$poolmem" check

for command in check model sim; do
    expect "$command: no file" 1 "nofile.*: No such file" "$poolmem" $command nofile
done

# --- what cannot be run -----------------------------------------------------------------------------
expect "not found" 127 "nonesuch: command not found" "$poolmem" run nonesuch
expect "not found by path" 127 "./nonesuch: command not found" "$poolmem" run ./nonesuch
touch plain && expect "not executable" 126 "plain: may not be executed" "$poolmem" run ./plain
expect "directory" 126 "may not be executed" "$poolmem" run /tmp
(PATH=$here && export PATH && "$poolmem" run plain) 2>err
[ $? -eq 126 ] || { echo "FAILED not executable along PATH"; failed=1; }

compile static -static && expect "static" 1 "static: is statically linked" "$poolmem" run ./static
compile static-pie -static-pie && expect "static-pie" 1 "is statically linked" "$poolmem" run ./static-pie
compile musl -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1 && expect "musl" 1 "musl: is built for musl" "$poolmem" run ./musl
compile setuid && cp setuid setgid && chmod 4755 setuid && chmod 2755 setgid
expect "set-user-ID" 1 "setuid: is set-user-ID" "$poolmem" run ./setuid
expect "set-group-ID" 1 "setgid: is set-group-ID" "$poolmem" run ./setgid
if compile capable && setcap cap_net_raw+ep capable 2>/dev/null; then
    expect "file capabilities" 1 "capable: has file capabilities" "$poolmem" run ./capable
fi
# an i386 program, only its header: class 32, machine 3; and one for ARM64: class 64, machine 183
{ printf '\177ELF\001\001\001\000\000\000\000\000\000\000\000\000\002\000\003\000'; head -c 100 /dev/zero; } >i386
{ printf '\177ELF\002\001\001\000\000\000\000\000\000\000\000\000\002\000\267\000'; head -c 100 /dev/zero; } >arm64
chmod +x i386 arm64
expect "i386" 1 "i386: is built for another architecture" "$poolmem" run ./i386
expect "arm64" 1 "arm64: is built for another architecture" "$poolmem" run ./arm64
printf '#! %s/static --flag\n' "$here" >script && chmod +x script
[ -x static ] && expect "script of a static interpreter" 1 "static: is statically linked" "$poolmem" run ./script
expect "library missing" 1 "/nowhere.so: no such library" "$poolmem" run --library "$here/nowhere.so" true

# --- what is run ------------------------------------------------------------------------------------
library=$("$poolmem" run -- printenv LD_PRELOAD) || { echo "no library beside the command"; exit 1; }
expect "status" 7 "" "$poolmem" run -- sh -c 'exit 7'
expect "signal" 143 "" sh -c '"$0" run -- sh -c "kill -TERM \$\$"; exit $?' "$poolmem"
expect "without --" 0 "^hello -x$" "$poolmem" run echo hello -x
echo 'echo shell $1' >headless && chmod +x headless
expect "no first line" 0 "^shell there$" "$poolmem" run ./headless there
printf '#!/bin/sh\nexit 5\n' >script5 && chmod +x script5
expect "script" 5 "" "$poolmem" run ./script5
mkdir "with space" && cp "$library" "with space/libpoolmem.so"
expect "library with a space" 1 "space or colon" "$poolmem" run --library "with space/libpoolmem.so" true
expect "other preloads stay" 0 "^$library:libdl.so.2$" env LD_PRELOAD=libdl.so.2 "$poolmem" run printenv LD_PRELOAD
expect "not preloaded twice" 0 "^$library$" env LD_PRELOAD="$library" "$poolmem" run printenv LD_PRELOAD
for pair in conf=a stats=b signal=USR2 exit=1 depth=4 track=0 children=1 abort=0 verbose=0 verify=0; do
    variable=POOLMEM_$(echo "${pair%=*}" | tr a-z A-Z)
    expect "--$pair" 0 "^${pair#*=}$" "$poolmem" run --$pair printenv "$variable"
done
expect "--depth N" 0 "^9$" "$poolmem" run --depth 9 printenv POOLMEM_DEPTH
expect "--stats with an unknown letter" 0 "^poolmem: environment: POOLMEM_STATS=a%q: %q is unknown, expected %p, " \
    "$poolmem" run --exit --stats=a%q true
expect "--stats with an unknown letter: stderr" 0 "^poolmem [0-9].*: true " "$poolmem" run --exit --stats=a%q true
expect "a program that closes stderr before it ends" 0 "^poolmem [0-9].*: ls " "$poolmem" run --exit ls /
printf '#!/bin/sh\nls / >/dev/null\nsleep 0\n' >starts && chmod +x starts
mkdir each alone
expect "a script's programs, each in its file" 0 "" sh -c 'cd each && "$0" run --exit --stats=%e-%p.txt ../starts' "$poolmem"
expect "three files" 0 "^ls-[0-9]+.txt sleep-[0-9]+.txt starts-[0-9]+.txt $" sh -c 'cd each && ls | tr "\n" " "'
expect "a script alone" 0 "" sh -c 'cd alone && "$0" run --exit --children 0 --stats=%e-%p.txt ../starts' "$poolmem"
expect "one file" 0 "^1$" sh -c 'ls alone | wc -l'
# a subshell is a fork, which ends too: its report is one of its own, or none
printf '#!/bin/sh\nfor i in 1 2 3 4; do x=$(:; echo $i); done\n' >forks && chmod +x forks
mkdir forked single
holds "a script that forks" "$poolmem" run --exit --stats=forked/%p.txt ./forks
expect "a file a fork" 0 "^5$" sh -c 'ls forked | wc -l'
holds "a script that forks, alone" "$poolmem" run --exit --children 0 --stats=single/%p.txt ./forks
expect "one file, of the script" 0 "^1 [0-9]+.txt$" sh -c 'echo $(ls single | wc -l) $(ls single)'
for children in 0 1; do
    expect "no folder for reports: said once, children $children" 0 "^1$" sh -c \
        '"$0" run --exit --children $1 --stats=none/%e-%p.txt ./forks 2>&1 | grep -c "none/.*: No such file"' "$poolmem" $children
done
expect "no folder for reports: by each fork with --verbose 1" 0 "^5$" sh -c \
    '"$0" run --exit --verbose 1 --stats=none/%e-%p.txt ./forks 2>&1 | grep -c "none/.*: No such file"' "$poolmem"

# the name in reports is the one that was called, of a link or a script; a name of the kernel's is none
ln -s "$(command -v sleep)" snooze
expect "called by a link" 0 "" "$poolmem" run --exit --stats=link-%e.json ./snooze 0
expect "exe is the program's file" 0 "\"exe\": \"/[^\"]*/(sleep|coreutils|busybox)\"" cat link-snooze.json
expect "called by a script" 0 "starts \(pid" "$poolmem" run --exit --children 0 ./starts
expect "called by /proc/self/exe" 0 "(dash|bash|sh|busybox) \(pid" \
    "$poolmem" run --exit sh -c 'exec /proc/self/exe -c :'
expect "--track" 0 "^1$" "$poolmem" run --track printenv POOLMEM_TRACK

# --- a running process ------------------------------------------------------------------------------
"$poolmem" run --stats "$here/dump-%n.json" -- sleep 60 &
pid=$!
started="$started $pid"
sh -c 'exec sleep 60' &
other=$!
started="$started $other"
for try in 1 2 3 4 5 6 7 8 9; do
    "$poolmem" stat $pid >/dev/null 2>&1 && break
    sleep 0.2
done
expect "stat" 0 "sleep \(pid $pid\)" "$poolmem" stat $pid
expect "stat: tree" 0 "^Global  +[0-9]" "$poolmem" stat --text $pid
expect "stat: json" 0 "\"reason\": \"request\"" "$poolmem" stat --json $pid
holds "stat: json parses" sh -c '"$0" stat --json $1 | python3 -m json.tool' "$poolmem" $pid
expect "stat: folded" 0 "^Global.* [0-9]+$" "$poolmem" stat --folded $pid
expect "stat: heap" 0 "^heap profile: .* @ heapprofile$" "$poolmem" stat --heap $pid
expect "list" 0 "^ *$pid +[0-9.]+ [KM]iB +[0-9.]+ [KM]iB +[0-9.]+ [KM]iB  /.*/[a-z]+( \(sleep\))?$" "$poolmem" list
expect "list: columns" 0 "^0$" sh -c '"$0" list | grep -Evc "^.{8} .{9} .{9} .{9}  (/|PROGRAM)"; true' "$poolmem"
"$poolmem" run -- ./snooze 60 &
linked=$!
started="$started $linked"
sleep 0.5
expect "list: called by a link" 0 "^ *$linked .*/[a-z]+ \(snooze\)$" "$poolmem" list
expect "stat: called by a link" 0 "snooze \(pid $linked\)" "$poolmem" stat $linked
kill $linked
expect "list: others are not there" 1 "" sh -c '"$0" list | grep -q "^ *$1 "' "$poolmem" $other
expect "stat: not under the library" 1 "process $other does not run under libpoolmem.so;" "$poolmem" stat $other
expect "dump: not under the library" 1 "does not run under" "$poolmem" dump $other
holds "the other one lives" kill -0 $other
expect "stat: no process" 1 "^poolmem: no process 999999999$" "$poolmem" stat 999999999
expect "dump: no process" 1 "^poolmem: no process 999999999$" "$poolmem" dump 999999999
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then # another user, who may reach a copy of the command
    chmod 755 "$here" && cp "$poolmem" reader
    expect "stat: of another user" 1 "^poolmem: process $pid may not be read by this user$" \
        setpriv --reuid 65534 --clear-groups ./reader stat $pid
fi
expect "dump" 0 "report 1 of process $pid: $here/dump-1.json" "$poolmem" dump $pid
holds "dump: whole" python3 -m json.tool dump-1.json
expect "dump again" 0 "dump-2.json" "$poolmem" dump $pid
"$poolmem" stat --heap $pid >alone.heap
"$poolmem" run --exit --stats "$here/with.heap" -- ls / >/dev/null
for pprof in google-pprof jeprof; do
    command -v $pprof >/dev/null || continue
    expect "$pprof: alone" 0 "pool:Global" $pprof --text alone.heap
    expect "$pprof: with the program" 0 "pool:Global" $pprof --text "$(command -v ls)" with.heap
done
kill $pid

mkdir later
"$poolmem" run --stats "$here/later/%n.json" -- sleep 60 2>said &
pid=$!
started="$started $pid"
sleep 0.5
rmdir later
expect "dump: no folder" 1 "could not write its report; its stderr says why" "$poolmem" dump $pid
mkdir later
expect "dump: what was not written has no number" 0 "report 1 of process $pid: $here/later/1.json" "$poolmem" dump $pid
kill $pid

"$poolmem" run --signal none -- sleep 60 2>said &
deaf=$!
started="$started $deaf"
sleep 0.5
expect "dump: no signal" 1 "takes no signal" "$poolmem" dump $deaf
holds "it lives" kill -0 $deaf
"$poolmem" run -- sh -c 'trap "" USR1; exec sleep 60' 2>said &
sleep 0.5
started="$started $!"
expect "dump: ignored by the program" 0 "stderr" "$poolmem" dump $!

# a process that has closed every descriptor is still read
cat >closed.c <<'EOF'
#include <unistd.h>
int main(void) { for (int i = 3; i < 1024; i++) close(i); pause(); }
EOF
cc -o closed closed.c && { "$poolmem" run ./closed & }
closed=$!
started="$started $closed"
sleep 0.5
expect "stat: descriptors closed" 0 "closed \(pid $closed\)" "$poolmem" stat $closed

# --- configuration ----------------------------------------------------------------------------------
printf '[pool Good]\nlimit = 1M\n[rules]\nGood = symbol:x\n' >good.conf
printf '[pool Audio]\n[rules]\nAduio = symbol:x\n' >typo.conf
printf '[pool Bad]\nlimit = many\n' >bad.conf
expect "check: good" 0 "good.conf: no errors" "$poolmem" check good.conf
expect "check: says nothing more of it" 0 "^0$" sh -c '"$0" check good.conf 2>&1 >/dev/null | wc -l' "$poolmem"
expect "check: rule without a pool" 0 "typo.conf:3: note: rule sends to pool 'Aduio', which has no \[pool Aduio\] section$" \
    "$poolmem" check typo.conf
expect "check: pool without a rule" 0 "typo.conf:1: note: no rule leads to pool 'Audio'$" "$poolmem" check typo.conf
expect "check: bad" 1 "^poolmem: .*bad.conf:2: " "$poolmem" check bad.conf
printf '[rules]\nLevel = module:x\nLevel = symbol:[abc\n' >open.conf
printf '[rules]\nLevel = symbol:std::vector<int, std::allocator<int> >::reserve\n' >blanks.conf
printf '[rules]\nLevel = symbol:"std::vector<int, std::allocator<int> >::reserve"\n' >quotes.conf
printf '[rules]\nLevel = symbol:_ZN5LevelC1Ev\n' >mangled.conf
expect "check: set not closed" 1 "open.conf:3: symbol: set not closed in '\[abc'" "$poolmem" check open.conf
expect "check: blanks" 1 "blanks.conf:2: unknown condition 'std', .*quotes: symbol:\"a b\"" "$poolmem" check blanks.conf
expect "check: blanks in quotes" 0 "no errors" "$poolmem" check quotes.conf
expect "check: mangled" 0 "mangled.conf:2: note: symbol:_ZN5LevelC1Ev .*demangled" "$poolmem" check mangled.conf
sed -n '/^    include builtin/,/^[^ ]/s/^    //p' "$readme" >readme.conf
expect "check: README's file, as copied" 0 "readme.conf: no errors" "$poolmem" check readme.conf
expect "check: README's file is whole" 0 "^; symbols game = " cat readme.conf
expect "check: missing" 1 "nowhere.conf" "$poolmem" check nowhere.conf

[ $failed -eq 0 ] && echo "$count tests of the command as expected"
exit $failed
