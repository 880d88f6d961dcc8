# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The one place where tests make streams: a function for each line that they write by hand, and what makes a stream of lines.

# ended: the lines of standard input and the end that counts them. The type is a line's first member.
ended() {
    awk -F'"' '{ print; if (!lines[$4]++) type[++n] = $4 } END {
        printf "{\"type\":\"end\",\"lines\":{"
        for (i = 1; i <= n; i++) printf "%s\"%s\":%d", (i > 1 ? "," : ""), type[i], lines[type[i]]
        print "}}"
    }'
}
