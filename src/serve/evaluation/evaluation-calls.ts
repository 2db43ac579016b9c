import type { DuplicateMembers } from '../../../packages/exact-json/src/index.js';
import type { ServiceError } from '../../contract/errors/service-error.js';
import { invalidRequest } from '../../contract/input/parse-input.js';
import type { Warning } from '../../contract/warnings/warning.js';
import { evaluationCountProblem } from '../../decide/decisions/evaluate-request.js';
import type { EvaluationService } from '../../decide/decisions/evaluation-service.js';
import type { RevisedVerdict } from '../../decide/decisions/revised-verdict.js';
import { mismatchWarning } from '../../kernel/core/step-schemas.js';
import type { Call } from '../call/call.js';
import type { RpcCaller } from '../call/call-host.js';
import type {
  EvaluationFields,
  EvaluationOutcome,
  StreamFields,
  StreamReply,
} from '../wire/evaluation-codec.js';
import { RpcStatus } from '../wire/rpc-status.js';
import { detailOf, evaluationRequestOf } from './evaluation-input.js';
import { inSlices } from './in-slices.js';

/** Messages of one stream that may be pending. Local evaluators never wait; this limits the others. */
export const STREAM_WINDOW = 64;
/** Longest id of a stream message, in UTF-16 code units. */
const MAX_STREAM_ID_LENGTH = 128;

const CANCEL_RULE = 'must not be combined with evaluations';

/** The RPCs of the evaluation, independent of lane and codec. */
export interface EvaluationCalls {
  /** Throws or rejects on errors. */
  evaluate(fields: EvaluationFields, caller: RpcCaller): RevisedVerdict | Promise<RevisedVerdict>;
  /** Throws a ServiceError for a batch without evaluations or with too many. */
  batch(
    evaluations: readonly EvaluationFields[],
    caller: RpcCaller,
  ): EvaluationOutcome[] | Promise<EvaluationOutcome[]>;
  /** Answers one message of a stream, not one that only cancels. Rejects only with the reason of the signal. */
  message(message: StreamFields, caller: RpcCaller): StreamReply | Promise<StreamReply>;
}

/** A call, as far as its reply says more than its message. */
export type ReportedCall = Pick<Call, 'reportRevision' | 'reportStaleness' | 'warn'>;

/** `duplicates` is what happens to members that occur twice in an object of a step that is JSON text. */
export function createEvaluationCalls(
  service: EvaluationService,
  duplicates: DuplicateMembers,
): EvaluationCalls {
  const evaluate: EvaluationCalls['evaluate'] = (fields, caller) => {
    const request = evaluationRequestOf(fields, duplicates);
    return service.evaluate(request, detailOf(fields), caller);
  };

  /** Converts an error of an evaluation to its status. */
  function outcomeOf(
    fields: EvaluationFields,
    caller: RpcCaller,
  ): EvaluationOutcome | Promise<EvaluationOutcome> {
    try {
      const verdict = evaluate(fields, caller);
      if (!(verdict instanceof Promise)) return verdict;
      return (caller.awaited?.(verdict) ?? verdict).catch((error) => caller.itemFailed(error));
    } catch (error) {
      return caller.itemFailed(error);
    }
  }

  const all = (evaluations: readonly EvaluationFields[], caller: RpcCaller) =>
    inSlices(
      evaluations,
      (fields) => outcomeOf(fields, caller),
      () => caller.signal,
    );

  return {
    evaluate,
    batch(evaluations, caller) {
      const problem = countProblem(evaluations);
      if (problem !== undefined) throw problem;
      caller.spend(evaluations.length - 1);
      return all(evaluations, caller);
    },
    message({ id, evaluations, cancel }, caller) {
      const problem = idProblem(id) ?? countProblem(evaluations);
      if (problem !== undefined) {
        return { id: id.slice(0, MAX_STREAM_ID_LENGTH), outcomes: [caller.itemFailed(problem)] };
      }
      if (cancel) {
        const refused = caller.itemFailed(invalid('cancel', 'value_error', CANCEL_RULE));
        return { id, outcomes: evaluations.map(() => refused) };
      }
      const refused = refusalOf(evaluations.length, caller);
      if (refused !== undefined) return { id, outcomes: evaluations.map(() => refused) };
      const outcomes = all(evaluations, caller);
      if (!(outcomes instanceof Promise)) return { id, outcomes };
      return outcomes.then((late) => ({ id, outcomes: late }));
    },
  };
}

/** The status of every evaluation of a message if there are too many; the stream continues. */
function refusalOf(evaluations: number, caller: RpcCaller): RpcStatus | undefined {
  try {
    caller.spend(evaluations);
    return undefined;
  } catch (error) {
    return caller.itemFailed(error);
  }
}

/** What a reply says besides its verdict: headers over HTTP, trailers over RPCs. */
export function reportVerdict(verdict: RevisedVerdict, call: ReportedCall): void {
  call.reportRevision(verdict.revision);
  if (verdict.staleness_seconds !== null) call.reportStaleness(verdict.staleness_seconds);
  if (verdict.schema_mismatch !== null) call.warn([mismatchWarning(verdict.schema_mismatch)]);
}

/** The same for a batch: the greatest staleness, and warnings about the steps that differ from their schemas. */
export function reportOutcomes(outcomes: readonly EvaluationOutcome[], call: ReportedCall): void {
  let stalest = -1;
  const warnings: Warning[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome instanceof RpcStatus) continue;
    stalest = Math.max(stalest, outcome.staleness_seconds ?? -1);
    if (outcome.schema_mismatch !== null)
      warnings.push(mismatchWarning(outcome.schema_mismatch, `evaluations[${index}].`));
  }
  if (stalest >= 0) call.reportStaleness(stalest);
  call.warn(warnings);
}

function idProblem(id: string): ServiceError | undefined {
  if (id.length <= MAX_STREAM_ID_LENGTH) return undefined;
  return invalid('id', 'string_too_long', `must have at most ${MAX_STREAM_ID_LENGTH} characters`);
}

function countProblem(evaluations: readonly unknown[]): ServiceError | undefined {
  const problem = evaluationCountProblem(evaluations.length);
  return problem && invalid('evaluations', problem.code, problem.message);
}

function invalid(field: string, code: string, message: string): ServiceError {
  return invalidRequest([{ resource: 'Request', field, code, message }]);
}
