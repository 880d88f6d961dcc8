# SPDX-License-Identifier: Apache-2.0
# The audit as a workflow from file to file in $(OUT): make -f audit.mk OUT=… STAGES="…", where STAGES are those of this audit.
# A stage reads what the first file behind its bar holds, with the arguments that stand in $(OUT)/<stage>.args, and what is there
# already stays. One that exits 0 to 3 has written a whole stream: it is kept and the workflow goes on; the answer's status is in
# $(OUT)/status.

SHELL = /bin/bash
cut     = $(OUT)/2-$(filter scope-%,$(STAGES)).ndjson
if_runs = $(if $(filter $1,$(STAGES)),$2,$3)

$(OUT)/report.txt:             | $(OUT)/8-rows-diff.ndjson
$(OUT)/8-rows-diff.ndjson:     | $(OUT)/$(call if_runs,log-again,7-log-again,7-ch-read).ndjson
$(OUT)/7-log-again.ndjson:     | $(OUT)/7-ch-read.ndjson
$(OUT)/7-ch-read.ndjson:       | $(call if_runs,ref-bind,$(OUT)/6-ref-bind.ndjson,$(cut))
$(OUT)/6-ref-bind.ndjson:      | $(cut) $(call if_runs,ref-seal,$(OUT)/5-ref-seal.ndjson)
$(OUT)/5-ref-seal.ndjson:      | $(OUT)/4-$(filter ref-run ref-jq,$(STAGES)).ndjson
$(OUT)/4-ref-run.ndjson:       | $(OUT)/3-kafka-read.ndjson
$(OUT)/4-ref-jq.ndjson:        | $(OUT)/3-kafka-read.ndjson
$(OUT)/3-kafka-read.ndjson:    | $(cut)
$(OUT)/2-scope-cut.ndjson:     | $(OUT)/1-bundle-check.ndjson
$(OUT)/2-scope-declare.ndjson: | $(OUT)/1-table-look.ndjson
$(OUT)/1-table-look.ndjson:    | $(OUT)/1-log-look.ndjson

# Where its output could not be written, it exits 3 and its end is missing.
keep = stage=$*; [ $* != 4-ref-run ] || mask="umask $(USERS);"; run=$${stage\#?-}; eval "( $$mask $${run/log-again/log-look --again} $$(cat $(OUT)/$${stage\#?-}.args) )" <$(or $(firstword $|),/dev/null) >$@.tmp; \
    [ $$? -le 3 ] && tail -n 1 $@.tmp | grep -q '^{"type":"end"' && mv $@.tmp $@

$(OUT)/%.ndjson:
	@$(keep)

# A scope that there is not has no reference; the stream of the scope says why.
$(patsubst %,$(OUT)/%.ndjson,3-kafka-read 4-ref-run 4-ref-jq 5-ref-seal): $(OUT)/%.ndjson:
	@if grep -q '^{"type":"scope"' $(cut); then $(keep); else : >$@; fi

$(OUT)/report.txt:
	@eval "verdict $$(cat $(OUT)/verdict.args)" <$(firstword $|) >$@.tmp; s=$$?; [ $$s -le 3 ] && echo $$s >$(OUT)/status && mv $@.tmp $@
