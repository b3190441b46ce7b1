# SPDX-License-Identifier: MIT
# A game with a zone allocator of its own: crispy-doom plays a demo of freedoom as fast as it can, on a virtual screen.
packages='crispy-doom freedoom xvfb' programs='/usr/games/crispy-doom Xvfb' reports='report.crispy-doom*.json'
that=('counted.allocs > 100' 'counted.live_bytes > 16 << 20' 'pool["RenderWare"].allocs > 0')
wad=/usr/share/games/doom/freedoom1.wad
normalise() { sed -n 's/.*timed \([0-9]*\) gametics.*/\1 gametics/p'; }
host_run() {
    exec 3>display
    Xvfb -displayfd 3 -screen 0 800x600x24 >/dev/null 2>&1 &
    local screen=$! try status
    for try in $(seq 100); do [ -s display ] && break; sleep 0.1; done
    HOME=$PWD DISPLAY=:$(cat display) LIBGL_ALWAYS_SOFTWARE=1 SDL_AUDIODRIVER=dummy \
        under /usr/games/crispy-doom -iwad $wad -nosound -nogui -nograbmouse -timedemo demo1 2>&1
    status=$?
    kill $screen
    return $status
}
