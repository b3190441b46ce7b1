# SPDX-License-Identifier: MIT
# The game's second build, over poolmem.h (examples/game/pools); read after game.mk.
#   make test-game-engine    its checksum beside the plain game's, and every kind of pool at work in its report
GAME_ENGINE_WRAP := LevelWad_Open LevelWad_Close LevelWad_Load Level_FreeData Level_Load Level_Free LevelBuildParts
comma := ,
$(eval $(call game_flavour,obj-engine,-DGAME_POOLS=1 -DPOOLMEM_LINKED -Iinclude))

$(GB)/game-engine: $(call game_obj,obj-engine) $(GB)/obj-engine/pools/pools.c.o $(B)/libpoolmem.so
	$(CXX) -o $@ $(filter %.o,$^) $(patsubst %,-Wl$(comma)--wrap=%,$(GAME_ENGINE_WRAP)) -L$(B) -lpoolmem \
	  -Wl,-rpath,$(abspath $(B)) $(LUA_LIB) $(GAME_LIBS)

.PHONY: test-game-engine
test-game-engine: game $(GB)/game-engine ## the bundled game over poolmem.h
	tests/game/engine.sh $(GB)
