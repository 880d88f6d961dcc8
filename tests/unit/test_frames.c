/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of the test front's native compression. The checksums were computed by another implementation of
 * CityHash 1.0.2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../services/clickhouse-front/city.h"
#include "../services/clickhouse-front/frames.h"

#include <endian.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>

/* Bytes with no pattern that a hash could miss. */
static void fill(unsigned char *at, size_t n)
{
    uint32_t x = 1;
    for (size_t i = 0; i < n; i++) {
        x = x * UINT32_C(1103515245) + 12345;
        at[i] = (unsigned char)(x >> 16);
    }
}

/* Every branch: by length, and at its ends. */
static void test_checksums(void **state)
{
    (void)state;
    static const struct {
        size_t len;
        uint64_t low, high;
    } want[] = {
        {0, 0x3df09dfc64c09a2b, 0x3cb540c392e51e29},    {1, 0x743ff56b215e9271, 0xccffd8cd5564d436},
        {3, 0x48f7af77d2e656ed, 0xfbef4cc0f7fd6ed5},    {4, 0xaeeb37af12089ed4, 0x9ed8d11aa5d9d4f4},
        {7, 0xe2e34b9a80a219d9, 0x24c0e5285b8c16f3},    {8, 0xaefff437ebf17d38, 0x5302e12f82ff3e49},
        {9, 0x26c5ce7041c29b08, 0xfd6edc7fff0705c2},    {15, 0x2730766101fc5530, 0x32d265256809916c},
        {16, 0xc65262a7956a43b2, 0x467d14a940305e4c},   {17, 0xfd5d46b77ab8fc4d, 0xe7c81470f90c91ec},
        {19, 0xc99774a0e81e395f, 0x56b1b9cfe5fa605f},   {23, 0xdb09e45f6d3c7566, 0xd9ee8f3d04bc1492},
        {24, 0x34e33fd651867710, 0x5655259b68308425},   {25, 0x6f33494ff7b89436, 0xd0019414d4b65716},
        {31, 0xa4498c5364fbfeb7, 0x640c90674a9a2e5f},   {32, 0x0b3c7224967df1cf, 0x4e6e6a97adac1852},
        {33, 0x1c38ff78142b3b6d, 0xb87b5f8c36ed2253},   {48, 0xaa50878d352b839e, 0xba771f396b5e8ed2},
        {64, 0xf2c90c1876e67a53, 0x8e1f2231a12a9923},   {100, 0x6238a5013458e46c, 0xf85de3fa5b087055},
        {143, 0xcfc5cd015e6ff573, 0x05fa33d599d53e9c},  {144, 0xd3a21d3da817e952, 0x3504154bf2cf3b5f},
        {145, 0x3a1b1949fbf070bd, 0xc250c9af043387a6},  {160, 0x5125e00a05e27c7d, 0x4215750344c64514},
        {175, 0xed3a9e0b5c1bed54, 0x265dda7a1603e683},  {176, 0xb236ae04fb950057, 0xb2f470e2fe0a089c},
        {177, 0x9c53879e828cda3e, 0x68acb87c8cd9fe34},  {271, 0x32bc1c8fbadf3818, 0xc5bfa44f0a1d7c8b},
        {272, 0x34623e7b2f4623c5, 0x970969abad61a9b9},  {273, 0xc7a74e4bebd3de40, 0x4af064ec8171f006},
        {1000, 0xefdc8bd965bff7a9, 0x3eb21af085f9b88d}, {4096, 0x77aa6b4b4afc1a76, 0xc3698a0bbb78391d},
        {5000, 0x5e6715e497814292, 0xb1bc7bed7a9151b0},
    };
    unsigned char data[5000];
    fill(data, sizeof data);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct city got = city_hash128(data, want[i].len);
        assert_int_equal(got.low, want[i].low);
        assert_int_equal(got.high, want[i].high);
    }
}

static uint32_t u32(const char *at)
{
    uint32_t n;
    memcpy(&n, at, sizeof n);
    return le32toh(n);
}

/* What the frames hold, as a client reads them; every sum is held. Allocated. */
static char *unpack(const char *frames, size_t size, size_t *len)
{
    char *out = NULL;
    *len = 0;
    for (size_t at = 0; at < size;) {
        assert_true(size - at > 25);
        uint32_t whole = u32(frames + at + 17), plain = u32(frames + at + 21);
        struct city sum = city_hash128(frames + at + 16, whole);
        unsigned char bytes[16];
        for (size_t i = 0; i < 8; i++) {
            bytes[i] = (unsigned char)(sum.low >> 8 * i);
            bytes[8 + i] = (unsigned char)(sum.high >> 8 * i);
        }
        assert_memory_equal(frames + at, bytes, 16);
        assert_int_equal((unsigned char)frames[at + 16], 0x82);
        assert_true(whole >= 9 && whole <= size - at - 16 && plain <= FRAME_HOLDS);
        out = realloc(out, *len + plain + 1);
        assert_non_null(out);
        assert_int_equal(LZ4_decompress_safe(frames + at + 25, out + *len, (int)whole - 9, (int)plain), plain);
        *len += plain;
        at += 16 + whole;
    }
    return out;
}

static void round_trip(const unsigned char *data, size_t n)
{
    size_t size, len;
    char *frames = frames_of((const char *)data, n, &size);
    assert_non_null(frames);
    char *out = unpack(frames, size, &len);
    assert_int_equal(len, n);
    assert_true(n == 0 || memcmp(out, data, n) == 0);
    free(frames);
    free(out);
}

static void test_frames(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 15, 200, FRAME_HOLDS - 1, FRAME_HOLDS, FRAME_HOLDS + 1, 3 * FRAME_HOLDS};
    unsigned char *data = malloc(3 * FRAME_HOLDS);
    assert_non_null(data);
    fill(data, 3 * FRAME_HOLDS);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        round_trip(data, sizes[i]);
    memset(data, 'x', 3 * FRAME_HOLDS);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        round_trip(data, sizes[i]);
    free(data);
}

/* A frame of four bytes, whole: what is on the wire does not move. */
static void test_wire(void **state)
{
    (void)state;
    char out[64];
    assert_true(frame_bound(4) <= sizeof out);
    static const unsigned char want[] = {0x52, 0x2d, 0xe5, 0x5e, 0x9e, 0x5d, 0xda, 0x78, 0x16, 0xfa,
                                         0x20, 0x1c, 0x4f, 0x03, 0x99, 0x2b, 0x82, 0x0e, 0x00, 0x00,
                                         0x00, 0x04, 0x00, 0x00, 0x00, 0x40, 0x31, 0x09, 0x32, 0x0a};
    assert_int_equal(frame_write("1\t2\n", 4, out), sizeof want);
    assert_memory_equal(out, want, sizeof want);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checksums),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_wire),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
