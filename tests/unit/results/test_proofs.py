# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What was proven about a configuration: on disk, in rankings, and in everything that is shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.app.checkpoints.show import content_tables
from model_analyzer.domain.profiles import Profile, Proof, ProofKind, TrialRecord, Verdict, prove
from model_analyzer.domain.trials import FailureReason, Trial
from model_analyzer.reports.build import Standing, state_answer
from model_analyzer.reports.document import results_document
from model_analyzer.results.answer import Answer, answer_of
from model_analyzer.state.checkpoint import load
from model_analyzer.state.format.codec import encode_proof
from model_analyzer.state.format.decoder import decode_proof
from model_analyzer.state.merge import merge
from model_analyzer.state.profile_state import ProfileState
from tests.unit.builders import goal, measurement, origin, rank_one, record, trial, variant

DEFAULT = variant("m_config_default", instance_group=[{"kind": "KIND_CPU", "count": 1}])
FAST = variant("m_config_0", max_batch_size=8)
RECORDS = [
    record(DEFAULT, measurement(100)),
    record(FAST, measurement(300)),
    record(FAST, measurement(400), concurrency=4),
]


def proof(
    kind: ProofKind = ProofKind.OUTPUTS,
    verdict: Verdict = Verdict.PASSED,
    of: Trial = RECORDS[2].trial,
    sentence: str = "same outputs as the default",
) -> Proof:
    return prove(kind, of, verdict, sentence, {"inputs": 12.0}, at=1_800_000_000.0)


def answer(*proofs: Proof, records: list[TrialRecord] = RECORDS) -> Answer:
    return answer_of(rank_one(Profile(records=records, proofs=proofs), "m", goal()))


def test_proofs_are_stored_and_replace_those_about_the_same(tmp_path: Path) -> None:
    first, load_one = proof(), proof(ProofKind.ENDURANCE, of=trial(FAST, concurrency=1))
    with ProfileState(tmp_path) as state:
        state.record(RECORDS[1].trial, RECORDS[1].outcome)
        state.record_proof(first)
        state.record_proof(load_one)
        state.record_proof(proof(ProofKind.ENDURANCE))
        assert load(tmp_path).profile.proofs == (first, load_one, proof(ProofKind.ENDURANCE))
        state.save()
        newer = proof(verdict=Verdict.UNKNOWN, of=RECORDS[1].trial)
        state.record_proof(newer)
        state.save()

    loaded = load(tmp_path)
    assert loaded.damage == ()
    assert loaded.profile.proofs == (newer, load_one, proof(ProofKind.ENDURANCE))
    assert merge([loaded, loaded]).checkpoint.proofs == loaded.proofs


@pytest.mark.parametrize(
    "change",
    [{"kind": "LATER"}, {"verdict": "maybe"}, {"numbers": {"a": "b"}}, {"at": -1}, {"trial": 1}],
    ids=str,
)
def test_a_malformed_proof_is_refused(change: dict[str, Any]) -> None:
    assert decode_proof(encode_proof(proof())) == proof()

    with pytest.raises(ValueError, match="unusable proof entry"):
        decode_proof({**encode_proof(proof()), **change})


def test_outputs_are_proven_under_any_load_and_the_rest_under_one() -> None:
    assert proof().is_about(RECORDS[1].trial)
    assert not proof().is_about(RECORDS[0].trial)
    assert not proof(ProofKind.DEPLOYED).is_about(RECORDS[1].trial)
    assert proof(ProofKind.DEPLOYED).is_about(replace(RECORDS[2].trial, repetition=3))


def test_a_configuration_with_wrong_outputs_has_failed_and_the_next_is_recommended() -> None:
    wrong = proof(verdict=Verdict.FAILED, sentence="OUT differs by 3")
    found = answer(wrong)

    assert found.best is not None
    assert found.best.variants == (DEFAULT,)
    failures = [(item.failure.reason, item.failure.message) for item in found.ranking.failed]
    assert failures == [(FailureReason.WRONG_OUTPUTS, "OUT differs by 3")] * 2
    assert found.ranking.proofs == (wrong,)
    assert not found.proofs


def test_any_other_failed_proof_makes_the_answer_unsure() -> None:
    held = answer(proof(), proof(ProofKind.ENDURANCE, sentence="held for 15 min"))
    lost = answer(proof(), proof(ProofKind.ENDURANCE, Verdict.FAILED, sentence="loses 1 %/min"))

    assert not held.is_unsure
    assert lost.is_unsure
    assert lost.best is not None
    assert lost.best.variants == (FAST,)
    assert state_answer(lost, complete=True).standing is Standing.UNSURE


def test_the_answer_says_what_is_proven_and_nothing_without_a_proof() -> None:
    shown = state_answer(
        answer(
            proof(),
            proof(ProofKind.ENDURANCE, Verdict.FAILED, sentence="loses 1 %/min"),
            proof(ProofKind.DEPLOYED, Verdict.UNKNOWN, sentence="the server is remote"),
        ),
        complete=True,
    )
    lines = [
        "Proven: same outputs as the default.",
        "Failed: loses 1 %/min.",
        "Not checked: the server is remote.",
    ]
    assert list(shown.lines)[-3:] == lines
    without = state_answer(answer(), complete=True).lines
    assert not any(line.startswith(("Proven", "Failed", "Not checked")) for line in without)


def test_the_results_have_every_proof() -> None:
    document = results_document(
        [answer(proof(), proof(ProofKind.DEPLOYED))], origin(), complete=True
    )

    outputs, deployed = document["models"][0]["proofs"]
    assert outputs == {
        "kind": "outputs",
        "verdict": "passed",
        "variant": "m_config_0",
        "load": None,
        "sentence": "same outputs as the default",
        "numbers": {"inputs": 12.0},
        "at": "2027-01-15T08:00:00.000+00:00",
    }
    assert (deployed["kind"], deployed["load"]) == ("deployed", "concurrency=4")


def test_a_checkpoint_shows_its_proofs(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(RECORDS[2].trial, RECORDS[2].outcome)
        state.record_proof(proof())

    table = dict(content_tables(load(tmp_path)))["Proofs"]

    assert table.rows == (
        (
            "m_config_0",
            "any",
            "outputs",
            "passed",
            "same outputs as the default",
            "2027-01-15 08:00 UTC",
        ),
    )
