#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
#
# Measures, compares with a baseline if there is one, and tells the runner: action.yml sets the
# variables. Its exit status is that of `profile`, or else of `compare`.
set -euo pipefail

report=$OUTPUT/report.md junit= status=0
mkdir -p "$OUTPUT"

model-analyzer profile --config-file="$CONFIG" --progress=plain --output-formats=md,json \
    --checkpoint-directory="$CHECKPOINTS" --export-path="$OUTPUT" || status=$?

# pages without their charts, which a summary cannot show
find "$OUTPUT/reports/summaries" -name result_summary.md \
    -exec awk '/^##? /{is_chart = $0 == "## Charts"} !is_chart && !/^!\[/' {} + \
    > "$report" 2> /dev/null || true

if [ "$status" -eq 0 ] && [ -n "$BASELINE" ]; then
    if compgen -G "$BASELINE/*.ckpt" > /dev/null; then
        junit=$OUTPUT/compare.xml rules=()
        while IFS= read -r rule; do
            [ -z "$rule" ] || rules+=("--fail-on=$rule")
        done <<< "$FAIL_ON"
        for form in md junit; do
            status=0
            model-analyzer compare "${rules[@]}" --format="$form" \
                --output="$OUTPUT/compare.${form/junit/xml}" -- "$BASELINE" "$CHECKPOINTS" \
                || status=$?
        done
        [ -f "$junit" ] || junit=
        [ ! -f "$OUTPUT/compare.md" ] || cat "$OUTPUT/compare.md" >> "$report"
    else
        printf '\nNo baseline yet: %s has no checkpoint.\n' "$BASELINE" >> "$report"
    fi
fi

cat "$report" >> "$GITHUB_STEP_SUMMARY"
printf '%s\n' "status=$status" "report=$report" "junit=$junit" >> "$GITHUB_OUTPUT"
exit "$status"
