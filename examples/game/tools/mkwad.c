/* SPDX-License-Identifier: MIT */
/*
 * mkwad.c - writes tiny.wad, for machines without a real one: three maps of square rooms, with textures,
 * flats and sounds made of integer arithmetic. The same bytes on every machine.
 *
 * 1. A room is one sector and one subsector of four segs; rooms meet in two-sided lines along a grid.
 * 2. Nodes halve the grid, children before parents.
 * usage: mkwad FILE
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROOM = 256,
    MAX_SIDE = 16,
    MAX_LUMPS = 128,
    MAX_BYTES = 4 << 20,
    NUM_PATCHES = 8,
    NUM_FLATS = 6,
    NUM_SOUNDS = 6,
    NODE_LEAF = 0x8000,
    NO_NUMBER = -1
};

static uint8_t bytes[MAX_BYTES];
static uint32_t at = 12; /* behind the header */
static struct {
    char name[9];
    uint32_t offset, size;
} lumps[MAX_LUMPS];
static int num_lumps;

static void put8(unsigned v)
{
    if (at >= MAX_BYTES)
        abort();
    bytes[at++] = (uint8_t)v;
}

static void put16(int v)
{
    put8((unsigned)v & 255);
    put8((unsigned)v >> 8 & 255);
}

static void put32(uint32_t v)
{
    put16((int)(v & 0xFFFF));
    put16((int)(v >> 16));
}

static void put_text(const char *name)
{
    for (int i = 0; i < 8; i++)
        put8(*name ? (unsigned char)*name++ : 0);
}

/* name with number as its last character, or as it is when number is NO_NUMBER. */
static void name_make(char to[9], const char *name, int number)
{
    size_t n = strlen(name);
    memset(to, 0, 9);
    memcpy(to, name, n);
    if (number != NO_NUMBER)
        to[n] = (char)('0' + number);
}

static void put_name(const char *name, int number)
{
    char text[9];
    name_make(text, name, number);
    put_text(text);
}

/* What is written until lump_end is the lump. */
static void lump_begin(const char *name, int number)
{
    if (num_lumps == MAX_LUMPS)
        abort();
    name_make(lumps[num_lumps].name, name, number);
    lumps[num_lumps].offset = at;
    num_lumps++;
}

static void lump_end(void)
{
    lumps[num_lumps - 1].size = at - lumps[num_lumps - 1].offset;
}

static void lump_empty(const char *name, int number)
{
    lump_begin(name, number);
    lump_end();
}

/* --- one map: a grid of side x side rooms ------------------------------------------------------ */

static int side;                                   /* rooms along one edge */
static int line_of[2][MAX_SIDE + 1][MAX_SIDE + 1]; /* [0 upward, 1 rightward][x][y] */
static int num_map_lines;

/* Rooms are numbered row by row, and so are the corners of the grid. */
static int room_there(int x, int y)
{
    return x >= 0 && y >= 0 && x < side && y < side;
}

static int vertex(int x, int y)
{
    return y * (side + 1) + x;
}

/* Rooms on the right and on the left of the edge that starts at (x, y). */
static void edge_rooms(int rightward, int x, int y, int rooms[2])
{
    int left_x = rightward ? x : x - 1, right_y = rightward ? y - 1 : y;
    rooms[0] = room_there(x, right_y) ? right_y * side + x : -1;
    rooms[1] = room_there(left_x, y) ? y * side + left_x : -1;
}

/* Three in each room: something that walks, something to pick up, something that walks. */
static void write_things(int map)
{
    lump_begin("THINGS", NO_NUMBER);
    for (int i = 0; i < side * side * 3; i++) {
        int room = i / 3, kind = i % 3;
        put16(room % side * ROOM + 48 + 70 * kind);
        put16(room / side * ROOM + 60 + (i * 37 + map * 11) % 130);
        put16(i * 45 % 360);
        put16(i == 0 ? 1 : kind == 1 ? 2001 + i % 18 : 3001 + i % 6);
        put16(7);
    }
    lump_end();
}

static void write_line(int rightward, int x, int y, int *sides)
{
    int rooms[2], from = vertex(x, y), to = rightward ? vertex(x + 1, y) : vertex(x, y + 1);
    edge_rooms(rightward, x, y, rooms);
    /* The front of a line is always a room: one at the rim may have to run the other way. */
    int turned = rooms[0] < 0;
    int two = rooms[0] >= 0 && rooms[1] >= 0;
    put16(turned ? to : from);
    put16(turned ? from : to);
    put16(two ? 4 : 1);
    put16(0);
    put16(0);
    put16((*sides)++);
    put16(two ? (*sides)++ : -1);
    line_of[rightward][x][y] = num_map_lines++;
}

/* Upper and lower walls show only where rooms differ in height; a middle one closes the rim. */
static void write_side(int room, int middle, int map)
{
    put16(0);
    put16(0);
    put_name("WALL", (room + map) % NUM_PATCHES);
    put_name("WALL", (room * 3 + map) % NUM_PATCHES);
    put_name(middle ? "WALL" : "-", middle ? (room * 5 + map) % NUM_PATCHES : NO_NUMBER);
    put16(room);
}

/* Calls for each edge of the grid, in the one order that lines and sides share. */
static void write_edges(int map, int want_sides)
{
    int sides = 0;
    num_map_lines = 0;
    for (int rightward = 0; rightward < 2; rightward++)
        for (int y = 0; y < side + rightward; y++)
            for (int x = 0; x < side + !rightward; x++) {
                int rooms[2];
                edge_rooms(rightward, x, y, rooms);
                if (!want_sides)
                    write_line(rightward, x, y, &sides);
                for (int k = 0; want_sides && k < 2; k++)
                    if (rooms[k] >= 0)
                        write_side(rooms[k], rooms[!k] < 0, map);
            }
}

/* back: the room lies on the left of the edge. A line at the rim was turned, and has a front only. */
static void write_seg(int rightward, int x, int y, int back, int from, int to)
{
    int rooms[2];
    edge_rooms(rightward, x, y, rooms);
    put16(from);
    put16(to);
    put16(0);
    put16(line_of[rightward][x][y]);
    put16(back && rooms[0] >= 0);
    put16(0);
}

/* A room's segs run clockwise, so that the room is on the right of each. */
static void write_segs(void)
{
    lump_begin("SEGS", NO_NUMBER);
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            int a = vertex(x, y), b = vertex(x, y + 1), c = vertex(x + 1, y + 1), d = vertex(x + 1, y);
            write_seg(0, x, y, 0, a, b);
            write_seg(1, x, y + 1, 0, b, c);
            write_seg(0, x + 1, y, 1, c, d);
            write_seg(1, x, y, 1, d, a);
        }
    lump_end();
    lump_begin("SSECTORS", NO_NUMBER);
    for (int i = 0; i < side * side; i++) {
        put16(4);
        put16(4 * i);
    }
    lump_end();
}

static int num_nodes;

/* Rooms x0..x1-1, y0..y1-1. Returns what a parent names it by. */
static int write_node(int x0, int y0, int x1, int y1)
{
    if (x1 - x0 == 1 && y1 - y0 == 1)
        return NODE_LEAF | (y0 * side + x0);
    int upright = x1 - x0 >= y1 - y0, mx = (x0 + x1) / 2, my = (y0 + y1) / 2;
    int right = upright ? write_node(mx, y0, x1, y1) : write_node(x0, y0, x1, my);
    int left = upright ? write_node(x0, y0, mx, y1) : write_node(x0, my, x1, y1);
    put16((upright ? mx : x0) * ROOM);
    put16((upright ? y0 : my) * ROOM);
    put16(upright ? 0 : ROOM);
    put16(upright ? ROOM : 0);
    for (int k = 0; k < 2; k++) {
        put16(y1 * ROOM);
        put16(y0 * ROOM);
        put16(x0 * ROOM);
        put16(x1 * ROOM);
    }
    put16(right);
    put16(left);
    return num_nodes++;
}

/* Floors differ by steps that can be walked. */
static void write_sectors(int map)
{
    lump_begin("SECTORS", NO_NUMBER);
    for (int i = 0; i < side * side; i++) {
        put16((i * 5 + map) % 4 * 8);
        put16(128 + i * 3 % 5 * 16);
        put_name("FLAT", (i + map) % NUM_FLATS);
        put_name("FLAT", (i * 7 + map + 1) % NUM_FLATS);
        put16(96 + i * 13 % 160);
        put16(0);
        put16(0);
    }
    lump_end();
}

static void write_map(int map, int rooms)
{
    side = rooms;
    num_nodes = 0;
    lump_empty("E1M", map);
    write_things(map);
    lump_begin("LINEDEFS", NO_NUMBER);
    write_edges(map, 0);
    lump_end();
    lump_begin("SIDEDEFS", NO_NUMBER);
    write_edges(map, 1);
    lump_end();
    lump_begin("VERTEXES", NO_NUMBER);
    for (int y = 0; y <= side; y++)
        for (int x = 0; x <= side; x++) {
            put16(x * ROOM);
            put16(y * ROOM);
        }
    lump_end();
    write_segs();
    lump_begin("NODES", NO_NUMBER);
    write_node(0, 0, side, side);
    lump_end();
    write_sectors(map);
}

/* --- pictures and sounds ----------------------------------------------------------------------- */

/* One post a column: 64 columns of 128 pixels, each 5 bytes longer for the post's frame. */
static void write_patch(int number)
{
    enum { WIDTH = 64, HEIGHT = 128 };
    lump_begin("PATCH", number);
    put16(WIDTH);
    put16(HEIGHT);
    put16(0);
    put16(0);
    for (int x = 0; x < WIDTH; x++)
        put32(8 + 4 * WIDTH + (uint32_t)x * (HEIGHT + 5));
    for (int x = 0; x < WIDTH; x++) {
        put8(0);
        put8(HEIGHT);
        put8(0);
        for (int y = 0; y < HEIGHT; y++)
            put8((unsigned)(number * 32 + ((x >> 3) ^ (y >> 4)) * 5 + (x & y & 3)));
        put8(0);
        put8(255);
    }
    lump_end();
}

/* Each texture is two patches side by side. */
static void write_textures(void)
{
    lump_begin("PNAMES", NO_NUMBER);
    put32(NUM_PATCHES);
    for (int i = 0; i < NUM_PATCHES; i++)
        put_name("PATCH", i);
    lump_end();
    lump_begin("TEXTURE1", NO_NUMBER);
    put32(NUM_PATCHES);
    for (int i = 0; i < NUM_PATCHES; i++)
        put32(4 + 4 * NUM_PATCHES + 42 * (uint32_t)i);
    for (int i = 0; i < NUM_PATCHES; i++) {
        put_name("WALL", i);
        put32(0);
        put16(128);
        put16(128);
        put32(0);
        put16(2);
        for (int k = 0; k < 2; k++) {
            put16(64 * k);
            put16(0);
            put16((i + 3 * k) % NUM_PATCHES);
            put16(1);
            put16(0);
        }
    }
    lump_end();
}

static void write_pictures(void)
{
    lump_begin("PLAYPAL", NO_NUMBER);
    for (int i = 0; i < 256; i++) {
        put8((unsigned)(i & 0xE0));
        put8((unsigned)(i << 3 & 0xE0));
        put8((unsigned)(i << 6 & 0xC0));
    }
    lump_end();
    for (int i = 0; i < NUM_PATCHES; i++)
        write_patch(i);
    write_textures();
    lump_empty("F_START", NO_NUMBER);
    for (int i = 0; i < NUM_FLATS; i++) {
        lump_begin("FLAT", i);
        for (int k = 0; k < 64 * 64; k++)
            put8((unsigned)(i * 40 + ((k >> 3 & 7) ^ (k >> 9)) * 4));
        lump_end();
    }
    lump_empty("F_END", NO_NUMBER);
}

/* Triangle waves that rise. */
static void write_sounds(void)
{
    for (int i = 0; i < NUM_SOUNDS; i++) {
        uint32_t samples = 3000 + 1500 * (uint32_t)i, phase = 0;
        lump_begin("DSTONE", i);
        put16(3);
        put16(11025);
        put32(samples);
        for (uint32_t k = 0; k < samples; k++) {
            phase += 20 + (uint32_t)i * 9 + k / 200;
            int up = (int)(phase & 255) - 128;
            put8((unsigned)(128 + (up < 0 ? -up : up) - 64));
        }
        lump_end();
    }
}

static void write_directory(void)
{
    uint32_t directory = at;
    for (int i = 0; i < num_lumps; i++) {
        put32(lumps[i].offset);
        put32(lumps[i].size);
        put_text(lumps[i].name);
    }
    uint32_t end = at;
    at = 0;
    memcpy(bytes, "IWAD", 4);
    at = 4;
    put32((uint32_t)num_lumps);
    put32(directory);
    at = end;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: mkwad FILE\n", stderr);
        return 2;
    }
    write_map(1, 8);
    write_map(2, 12);
    write_map(3, 10);
    write_pictures();
    write_sounds();
    write_directory();
    FILE *f = fopen(argv[1], "wb");
    int fine = f && fwrite(bytes, 1, at, f) == at;
    if ((f && fclose(f)) || !fine) {
        perror(argv[1]);
        return 1;
    }
    return 0;
}
