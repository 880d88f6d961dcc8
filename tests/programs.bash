# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What a test runs by name: the programs of this tree, whatever else is installed; and for its own calls of jq one that starts in
# a fifth of the time of Debian's, where `deps.sh jq` was run. The shell remembers that one's place and hands it to nothing that it
# starts: what a user runs with the jq of the system (pipelines/) is tested with that. An assignment to PATH makes it forget.

PATH=${OWED_BIN:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/bin}:$PATH
quick_jq=${OWED_DEPS:-$HOME/.cache/owed}/jq/bin/jq
[ ! -x "$quick_jq" ] || hash -p "$quick_jq" jq
