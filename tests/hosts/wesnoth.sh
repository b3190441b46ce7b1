# SPDX-License-Identifier: MIT
# A whole match, computer against computer, without a screen; Lua is inside the stripped program, so that only
# addresses find it: examples/conf/wesnoth.conf.
packages=wesnoth-1.16 programs=/usr/games/wesnoth-1.16
conf=$root/examples/conf/wesnoth.conf reports='report.wesnoth*.json' busy=--busy
that=('pool["Lua"].allocs > 100000' 'pool["STL"].allocs > 100000')
# the players' fortunes differ from run to run anyhow: what must be there is every turn of every player, and the end
normalise() { sed -n 's/.*info ai.testing: *//p' | sed 's/: [0-9]* Villages//'; }
host_run() {
    local sides='' i
    for i in 1 2 3 4 5 6 7 8; do sides="$sides --controller $i:ai"; done
    # shellcheck disable=SC2086
    HOME=$PWD SDL_VIDEODRIVER=dummy SDL_AUDIODRIVER=dummy under /usr/games/wesnoth-1.16 --nogui --multiplayer --rng-seed 42 \
        --userdata-dir "$PWD/user" --userconfig-dir "$PWD/user" $sides --exit-at-end \
        --scenario multiplayer_8p_Morituri --turns ${HOST_TURNS:-3} --nosound --log-error=audio --log-info=ai/testing 2>&1
}
