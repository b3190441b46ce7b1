gameid = minetest
backend = dummy
player_backend = dummy
auth_backend = sqlite3
mod_storage_backend = dummy
