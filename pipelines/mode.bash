# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What a workflow writes holds records: 0600, and directories 0700, unless --mode=OCTAL says otherwise. Its stages are told the same.
users=$(umask)

files_mode() { # MODE
    [[ $1 =~ ^0?6[0-6]{2}$ ]] || die "--mode: octal permissions without execution are needed that let the owner read and write, such as 0640"
    umask "$(printf '%04o' $((0777 & ~(8#$1 | (8#$1 & 0444) >> 2))))"
}
