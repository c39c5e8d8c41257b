# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Proofs: verdicts about a measured configuration that a measurement alone does not give.

A feature makes one with `prove`, and stores it with `ProfileState.record_proof`; then it is on
disk, and replaces an older one about the same. `Ranking.proofs` has those about its trials,
`Answer.proofs` those about the recommendation: page, terminal, `results.json` and
`checkpoint show` take them from there, and show nothing if there are none. A configuration whose
outputs are proven wrong counts as failed, so it is never recommended; any other failed proof about
the recommendation makes the answer unsure. The core does not know which feature made a proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import freeze
from model_analyzer.domain.trials import Failure, FailureReason, Trial

# The kind, and the fingerprints of what it is about.
ProofSubject = tuple["ProofKind", str, str, str]


class ProofKind(Enum):
    """What is proven: outputs of a configuration under any load, the others under one load."""

    OUTPUTS = "outputs"  # it gives the answers of the default configuration
    ENDURANCE = "endurance"  # it keeps its performance over minutes
    DEPLOYED = "deployed"  # a plain server with the written files performs as measured


class Verdict(Enum):
    """The result of a proof; UNKNOWN means that it could not be checked."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A verdict about the variants with the fingerprints `content` (see `Trial.content`) on a
    server with the identity `setup`. `trial` is the key of the trial's first measurement, "" if the
    load does not matter. `variant` and `load` say the same in words.

    `sentence` is a clause without a full stop that can follow "Proven:", "Failed:" or, as a reason,
    "Not checked:". `numbers` are behind it, with units in their names. `at` is in seconds since the
    epoch.
    """

    kind: ProofKind
    verdict: Verdict
    sentence: str
    numbers: Mapping[str, float]
    at: float
    variant: str
    load: str
    content: str
    setup: str
    trial: str

    @property
    def subject(self) -> ProofSubject:
        """What it is about: a newer proof with the same subject replaces it."""
        return self.kind, self.content, self.setup, self.trial

    @property
    def excludes(self) -> bool:
        """Whether the configuration must not be deployed, whatever its performance."""
        return self.kind is ProofKind.OUTPUTS and self.verdict is Verdict.FAILED

    def is_about(self, trial: Trial) -> bool:
        is_of_variants = (trial.content, trial.setup.identity) == (self.content, self.setup)
        # computing a key takes time
        return is_of_variants and (not self.trial or trial.first.key == self.trial)

    def failure_of(self, measurement: Measurement) -> Failure:
        """What counts instead of a measurement of a configuration that the proof excludes."""
        return Failure(
            reason=FailureReason.WRONG_OUTPUTS,
            message=self.sentence,
            started=measurement.started,
            duration_s=measurement.duration_s,
            machine=measurement.machine,
        )


def prove(
    kind: ProofKind,
    trial: Trial,
    verdict: Verdict,
    sentence: str,
    numbers: Mapping[str, float],
    *,
    at: float,
) -> Proof:
    """A proof about a trial, or with the kind OUTPUTS about its variants under any load."""
    is_of_load = kind is not ProofKind.OUTPUTS
    return Proof(
        kind=kind,
        verdict=verdict,
        sentence=sentence,
        numbers=freeze(numbers),
        at=at,
        variant=trial.variants,
        load=trial.loads if is_of_load else "",
        content=trial.content,
        setup=trial.setup.identity,
        trial=trial.first.key if is_of_load else "",
    )
