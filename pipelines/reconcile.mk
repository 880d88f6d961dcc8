# SPDX-License-Identifier: Apache-2.0
# The reconciliation as a workflow that keeps every stage's output in $(OUT): make -f reconcile.mk OUT=…
# Each stage's arguments stand in $(OUT)/<stage>.args. A stage that exits 0 to 3 has written a whole stream: it is kept and
# the workflow goes on; the answer's status is in $(OUT)/status. To run one stage again, remove its output.

SHELL = /bin/bash
arguments = $$(cat $(OUT)/$1.args 2>/dev/null)
# Where its output could not be written, it exits 3 and its end is missing.
keep = $1 >$@.tmp; s=$$?; [ $$s -le 3 ] && tail -n 1 $@.tmp | grep -q '^{"type":"end"' && mv $@.tmp $@

all: $(OUT)/report.txt

$(OUT)/1-bundle-check.ndjson:
	@$(call keep,eval "bundle-check $(call arguments,bundle-check)")

$(OUT)/2-scope-cut.ndjson: $(OUT)/1-bundle-check.ndjson
	@$(call keep,eval "scope-cut $(call arguments,scope-cut)" <$<)

$(OUT)/3-ch-read.ndjson: $(OUT)/2-scope-cut.ndjson
	@$(call keep,eval "ch-read $(call arguments,ch-read)" <$<)

$(OUT)/4-rows-diff.ndjson: $(OUT)/3-ch-read.ndjson
	@$(call keep,eval "rows-diff $(call arguments,rows-diff)" <$<)

$(OUT)/report.txt: $(OUT)/4-rows-diff.ndjson
	@eval "verdict $(call arguments,verdict)" <$< >$@.tmp; s=$$?; [ $$s -le 3 ] && echo $$s >$(OUT)/status && mv $@.tmp $@

.PHONY: all
