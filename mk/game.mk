# SPDX-License-Identifier: MIT
# The bundled game. Knows nothing of the library and links nothing of it.
#   make game            all variants into build/examples/game/
#   make test-game       the game by itself: tests/game/run.sh
#   make test-game-pools the game under the library: tests/game/pools.sh
# game            liblua5.4 as a shared library, symbols kept
# game-stripped   the same, stripped
# game-static-lua liblua5.4.a inside, symbols kept
# game-count      counts its own calls, --counts FILE; -static-lua and -stripped as above
G  := examples/game
GB := $(B)/examples/game

GAME_C   := $(wildcard $(G)/core/*.c $(G)/level/*.c $(G)/render/*.c $(G)/stream/*.c $(G)/world/*.c $(G)/audio/*.c)
GAME_CXX := $(wildcard $(G)/*.cpp $(G)/scene/*.cpp $(G)/script/*.cpp)
GAME_HDR := $(wildcard $(G)/*.h $(G)/*/*.h)
GAME_LUA := $(wildcard $(G)/scripts/*.lua)

LUA_CFLAGS ?= -I/usr/include/lua5.4
LUA_LIB    ?= -llua5.4
LUA_STATIC ?= -Wl,-Bstatic -llua5.4 -Wl,-Bdynamic -ldl

# Like a shipped game: optimised, no frame pointers, symbols kept until game-stripped.
GAME_FLAGS := -O2 -g -fomit-frame-pointer -Wall -Wextra -Werror -I$(G) $(LUA_CFLAGS) $(GAME_EXTRA)
GAME_LIBS  := -lpthread -lm

# gnu++20 also makes std::string the game's own code: before it, libstdc++ keeps that inside.

# The operators of the game's own objects, for the counting build; see core/count.c.
GAME_WRAP := -Wl,--wrap=_Znwm,--wrap=_ZdlPv,--wrap=_ZdlPvm

game_obj = $(patsubst $(G)/%,$(GB)/$(1)/%.o,$(GAME_C) $(GAME_CXX))

define game_flavour
$(GB)/$(1)/%.c.o: $(G)/%.c $(GAME_HDR) mk/game.mk
	@mkdir -p $$(@D)
	$(CC) -std=gnu11 $(GAME_FLAGS) $(2) -c $$< -o $$@
$(GB)/$(1)/%.cpp.o: $(G)/%.cpp $(GAME_HDR) mk/game.mk
	@mkdir -p $$(@D)
	$(CXX) -std=gnu++20 $(GAME_FLAGS) $(2) $$(if $$(filter %scene_store.cpp,$$<),-fno-inline) -c $$< -o $$@
endef
$(eval $(call game_flavour,obj,))
$(eval $(call game_flavour,obj-count,-DGAME_COUNT=1))

$(GB)/game: $(call game_obj,obj)
	$(CXX) -o $@ $^ $(LUA_LIB) $(GAME_LIBS) $(GAME_EXTRA)

$(GB)/game-static-lua: $(call game_obj,obj)
	$(CXX) -o $@ $^ $(LUA_STATIC) $(GAME_LIBS) $(GAME_EXTRA)

$(GB)/game-count: $(call game_obj,obj-count)
	$(CXX) -o $@ $^ $(GAME_WRAP) $(LUA_LIB) $(GAME_LIBS) $(GAME_EXTRA)

$(GB)/game-count-static-lua: $(call game_obj,obj-count)
	$(CXX) -o $@ $^ $(GAME_WRAP) $(LUA_STATIC) $(GAME_LIBS) $(GAME_EXTRA)

%-stripped: %
	strip -o $@ $<

# What someone knows who has analysed the stripped program.
%.symbols: %
	nm -S --defined-only $< >$@

$(GB)/mkwad: $(G)/tools/mkwad.c mk/game.mk
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(GAME_FLAGS) -o $@ $<

$(GB)/tiny.wad: $(GB)/mkwad
	$(GB)/mkwad $@

$(GB)/scripts/%.lua: $(G)/scripts/%.lua
	@mkdir -p $(@D)
	cp $< $@

.PHONY: game test-game test-game-pools
game: $(addprefix $(GB)/,game game-stripped game-static-lua game-count game-count-stripped \
        game-count-static-lua game-count.symbols tiny.wad) \
      $(patsubst $(G)/%,$(GB)/%,$(GAME_LUA)) ## all variants of the bundled game

test-game: game ## the bundled game by itself
	tests/game/run.sh $(GB)

# The same game under the library: its counts beside the pools.
test-game-pools: game all ## the bundled game under the library: its counts beside the pools
	tests/game/pools.sh $(GB) $(B)/libpoolmem.so
