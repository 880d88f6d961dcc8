# SPDX-License-Identifier: Apache-2.0
"""Unpacks ClickHouse's native compression (compress=1) from standard input: frames of LZ4, each with a checksum, which
test_frames and clickhouse-jdbc hold."""
import struct
import sys

import lz4.block

data = sys.stdin.buffer.read()
while data:
    method, size, plain = struct.unpack_from("<BII", data, 16)
    assert method == 0x82 and 9 < size <= len(data) - 16
    sys.stdout.buffer.write(lz4.block.decompress(data[25:16 + size], uncompressed_size=plain))
    data = data[16 + size:]
