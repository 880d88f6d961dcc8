# SPDX-License-Identifier: Apache-2.0
# The audit as a workflow that keeps every stage's output in $(OUT): make -f audit.mk OUT=… KIND=bundle|declared [PROGRAM=yes]
# Each stage's arguments stand in $(OUT)/<stage>.args. A stage that exits 0 to 3 has written a whole stream: it is kept and
# the workflow goes on; the answer's status is in $(OUT)/status. To run one stage again, remove its output.

SHELL = /bin/bash
arguments = $$(cat $(OUT)/$1.args 2>/dev/null)
# Where its output could not be written, it exits 3 and its end is missing.
keep = $1 >$@.tmp; s=$$?; [ $$s -le 3 ] && tail -n 1 $@.tmp | grep -q '^{"type":"end"' && mv $@.tmp $@
# A scope that there is not has no reference; the stream of the scope says why.
scoped = if [ -e $(OUT)/scope.json ]; then $(call keep,$1); else : >$@; fi

cut = $(OUT)/2-$(if $(filter bundle,$(KIND)),scope-cut,scope-declare).ndjson
# The records of a run are as many as the rows, so what is not wanted of the three is easily removed when all is done.
sealed = $(if $(PROGRAM),$(OUT)/5-ref-seal.ndjson)

all: $(OUT)/report.txt

$(OUT)/1-bundle-check.ndjson:
	@$(call keep,eval "bundle-check $(call arguments,bundle-check)")

$(OUT)/2-scope-cut.ndjson: $(OUT)/1-bundle-check.ndjson
	@rm -f $(OUT)/scope.json; $(call keep,eval "scope-cut $(call arguments,scope-cut)" <$<)

$(OUT)/1-log-look.ndjson:
	@$(call keep,eval "log-look $(call arguments,log-look)")

$(OUT)/1-table-look.ndjson: $(OUT)/1-log-look.ndjson
	@$(call keep,eval "table-look $(call arguments,table-look)" <$<)

$(OUT)/2-scope-declare.ndjson: $(OUT)/1-table-look.ndjson
	@rm -f $(OUT)/scope.json; $(call keep,eval "scope-declare $(call arguments,scope-declare)" <$<)

$(OUT)/3-kafka-read.ndjson: $(cut)
	@$(call scoped,eval "kafka-read $(call arguments,kafka-read)")

$(OUT)/4-ref-run.ndjson: $(OUT)/3-kafka-read.ndjson
	@$(call scoped,eval "ref-run $(call arguments,ref-run)" <$<)

$(OUT)/5-ref-seal.ndjson: $(OUT)/4-ref-run.ndjson
	@rm -f $(OUT)/reference.ndjson; $(call scoped,eval "ref-seal $(call arguments,ref-seal)" <$<)

$(OUT)/6-ref-bind.ndjson: $(cut) $(sealed)
	@$(call keep,eval "ref-bind $(call arguments,ref-bind)" <$<)

$(OUT)/7-ch-read.ndjson: $(OUT)/6-ref-bind.ndjson
	@$(call keep,eval "ch-read $(call arguments,ch-read)" <$<)

$(OUT)/8-rows-diff.ndjson: $(OUT)/7-ch-read.ndjson
	@$(call keep,eval "rows-diff $(call arguments,rows-diff)" <$<)

$(OUT)/report.txt: $(OUT)/8-rows-diff.ndjson
	@eval "verdict $(call arguments,verdict)" <$< >$@.tmp; s=$$?; [ $$s -le 3 ] && echo $$s >$(OUT)/status && mv $@.tmp $@

.PHONY: all
