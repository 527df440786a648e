"""The certificate that lies with a nomination: read, held against what it speaks of, asked for, kept with evidence."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from evaluators.options import read_texts
from evaluators.pytest_suite import EXPECTATIONS
from runner.artifacts import keep_folder, make_private
from runner.canonical import canonical, parse, sha256
from runner.documents.certificate import Certificate
from runner.errors import ControlError, DocumentError, DocumentErrors
from runner.nomination import PROBES, Nomination, nomination_digest
from runner.release import PreparedNomination, PreparedRelease
from runner.validating.cheats import cheats
from runner.validating.judging import problems
from runner.validating.target import evaluator_digests, target_of
from runner.validating.telling import told_away

CERTIFICATE = "records/certificate.json"
"""Its place in the nomination's folder."""

CERTIFICATES = "certificates"
"""Folder of a release's evidence; one folder a certificate, named by its digest."""

KEPT_AS = "certificate.json"

_MEND = "run: runner validate --nomination {}, or freeze with --unproven, which every later document says"


def read_certificate(nomination: Nomination) -> Certificate | None:
    """Read a nomination's certificate; None where there is none.

    Raises:
        DocumentError, DocumentErrors: the file is none.
    """
    stored = nomination.find(CERTIFICATE)
    return None if stored is None else parse(Certificate, stored.read(), str(stored.place))


def certificate_digest(certificate: Certificate) -> str:
    """Give what a manifest calls a certificate by."""
    return sha256(canonical(certificate))


def doubts(prepared: PreparedNomination, certificate: Certificate | None) -> Iterator[str]:
    """Say in a sentence each why a certificate does not prove a nomination."""
    if certificate is None:
        yield "no certificate"
        return
    found: dict[str, tuple[object, object]] = {
        "nomination": (certificate.nomination_sha256, nomination_digest(prepared.nomination)),
        "fixture": (certificate.fixture_sha256, prepared.fixture.digest),
        "solution": (certificate.solution_sha256, prepared.solution.digest),
        "evaluator": (dict(certificate.evaluators), evaluator_digests(prepared)),
    }
    for what, (proven, present) in found.items():
        if proven != present:
            yield f"a certificate of another {what}"
    yield from untried(prepared.nomination, certificate)
    yield from unexpected(prepared.nomination, certificate)
    yield from problems(certificate)
    # What needs no clean room is looked at again, and not believed.
    told = told_away(prepared.nomination, prepared.fixture, prepared.solution)
    yield from (each for each in told if each not in certificate.leaks)
    tried = {each.name for each in certificate.exploits}
    yield from (
        f"the cheat '{each.name}' was never tried" for each in cheats(target_of(prepared)) if each.name not in tried
    )


def known(nomination: Nomination) -> tuple[Certificate | None, str | None]:
    """Give a nomination's certificate, or why what lies there is none of this runner's."""
    try:
        return read_certificate(nomination), None
    except (DocumentError, DocumentErrors) as error:
        return None, f"a certificate that says nothing to this runner ({error})"


def untried(nomination: Nomination, certificate: Certificate) -> Iterator[str]:
    """Say which patches came, went or were edited since; they are in no digest of the nomination."""
    tried = {each.name: each.patch_sha256 for each in certificate.controls if each.kind in PROBES}
    there = {file.path: file.sha256 for folder in PROBES for file in nomination.below(folder)}
    yield from (f"{name} was never tried" for name in sorted(there.keys() - tried.keys()))
    yield from (f"{name}, which was tried, is not there" for name in sorted(tried.keys() - there.keys()))
    yield from (
        f"{name} is not what was tried" for name in sorted(tried.keys() & there.keys()) if tried[name] != there[name]
    )


def unexpected(nomination: Nomination, certificate: Certificate) -> Iterator[str]:
    """Say which cases did not end on the base as the nomination's `fail_to_pass` and `pass_to_pass` say."""
    failed = {
        verdict.evaluator: set(verdict.failed_cases)
        for control in certificate.controls
        if control.kind == "base"
        for verdict in control.verdicts
    }
    for spec in nomination.evaluators:
        to_pass, to_keep = (read_texts(spec, field) for field in EXPECTATIONS)
        known = failed.get(spec.id, set())
        yield from (f"fail_to_pass: {name} passes the base" for name in to_pass if name not in known)
        yield from (f"pass_to_pass: {name} fails the base" for name in to_keep if name in known)


def unproven(prepared: PreparedNomination) -> ControlError | None:
    """Give the error that names why a nomination is not proven; None where it is."""
    if prepared.nomination.spec.is_free_text:
        return None  # a certificate is about evaluators
    certificate, unread = known(prepared.nomination)
    why = (unread,) if unread is not None else tuple(doubts(prepared, certificate))
    if not why:
        return None
    return ControlError(
        file=prepared.nomination.file,
        field=CERTIFICATE,
        found="; ".join(why[:5]),
        expected="a certificate that proves this nomination",
        mend=_MEND.format(prepared.nomination.id),
    )


def with_certificates(prepared: PreparedRelease, *, unproven_too: bool) -> PreparedRelease:
    """Give the release with the digest of each certificate that proves its nomination.

    Raises:
        DocumentErrors: nominations that are not proven, all of them together; none with `unproven_too`.
    """
    problems = [error for each in prepared.nominations if (error := unproven(each)) is not None]
    if problems and not unproven_too:
        raise DocumentErrors(errors=tuple(problems))
    return replace(prepared, nominations=tuple(_certified(each, problems) for each in prepared.nominations))


def _certified(nomination: PreparedNomination, problems: list[ControlError]) -> PreparedNomination:
    certificate, _ = known(nomination.nomination)
    if certificate is None or nomination.nomination.file in {each.file for each in problems}:
        return nomination
    return replace(nomination, certificate=certificate_digest(certificate))


def keep_certificates(store: Path, prepared: PreparedRelease) -> None:
    """Put the certificates that a manifest names into the private store.

    Raises:
        StorageError: the disk failed.
    """
    for nomination in prepared.nominations:
        certificate = None if nomination.certificate is None else read_certificate(nomination.nomination)
        if certificate is not None:
            make_private(store)
            data = canonical(certificate)
            keep_folder(store / prepared.config.release / CERTIFICATES, sha256(data), {KEPT_AS: data})
