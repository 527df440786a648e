"""Evaluator `speedup`: which protocol a nomination asks for, and the evaluator of it."""

from evaluators.errors import EvaluatorError, OptionError
from evaluators.model import Evaluator, EvaluatorSpec
from evaluators.paired_v1 import PairedV1, check_v1
from evaluators.paired_v2 import PairedV2
from evaluators.private_files import read_folder_files
from evaluators.self_reported import build_self_reported
from evaluators.speed_options import Protocol, protocol_of, read_speed
from evaluators.speed_stand import read_programs


def build_speedup(spec: EvaluatorSpec, frozen: object = None) -> Evaluator:
    """Read the options of kind `speedup`.

    Raises:
        EvaluatorError: options or files are not what they must be.
    """
    protocol = protocol_of(spec)
    if protocol is Protocol.SELF_REPORTED:
        return build_self_reported(spec, frozen)
    if frozen is not None:
        raise EvaluatorError(f"evaluator {spec.id}: a calibration, which {spec.kind} has none of")
    options, files = read_speed(spec, protocol), read_folder_files(spec.folder)
    if options.plan not in files:
        raise OptionError(evaluator=spec.id, field="plan", found=options.plan, expected="a file of private/")
    if protocol is Protocol.PAIRED_V1:
        check_v1(spec, options)
        return PairedV1(spec=spec, options=options, files=files, programs=read_programs())
    return PairedV2(spec=spec, options=options, files=files, programs=read_programs())
