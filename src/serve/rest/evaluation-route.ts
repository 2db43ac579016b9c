import {
  type DuplicateMembers,
  type JsonObject,
  type JsonValue,
  stringifyJson,
} from '../../../packages/exact-json/src/index.js';
import { invalidRequest, parseInput } from '../../contract/input/parse-input.js';
import type { Warning } from '../../contract/warnings/warning.js';
import {
  type EvaluateRequest,
  evaluateBatchSchema,
  evaluateRequestSchema,
  readEvaluateRequest,
} from '../../decide/decisions/evaluate-request.js';
import type { EvaluationService } from '../../decide/decisions/evaluation-service.js';
import type { RevisedVerdict } from '../../decide/decisions/revised-verdict.js';
import { mismatchWarning } from '../../kernel/core/step-schemas.js';
import type { Call } from '../call/call.js';
import { type RpcMethod, restTemplate } from '../descriptors/rpc-methods.js';
import { reportVerdict } from '../evaluation/evaluation-calls.js';
import { requestRead } from '../evaluation/evaluation-input.js';
import {
  type EvaluationMessage,
  type HeavySteps,
  onlyEvaluation,
  withHeldMessage,
} from '../evaluation/heavy-steps.js';
import { inSlices } from '../evaluation/in-slices.js';
import type { EvaluationFields } from '../wire/evaluation-codec.js';
import { jsonBytes, readBody } from './rest-body.js';
import { type ErrorContext, problemOf } from './rest-errors.js';
import type { RestReply, RestRequest, RestRoute } from './rest-route.js';
import { tellLimits } from './told-headers.js';
import { printVerdict } from './verdict-json.js';

/** The JSON routes of Evaluate and EvaluateBatch: call the evaluation directly and return full results. */
export function evaluationRoutes(
  evaluation: EvaluationService,
  steps: HeavySteps,
  methods: Iterable<RpcMethod>,
  apiBase: string,
  { duplicates, ...errors }: ErrorContext & { readonly duplicates: DuplicateMembers },
): RestRoute[] {
  const routes = {
    Evaluate: {
      input: evaluateRequestSchema,
      run(request, call) {
        const heavy = heavyMessage(steps, 'evaluate', request);
        if (heavy === undefined) {
          return evaluate(evaluation, readEvaluateRequest(bodyOf(request, duplicates)), call);
        }
        return withHeldMessage(steps, heavy, (held) =>
          evaluate(evaluation, requestRead(onlyEvaluation(held)), call),
        );
      },
    },
    EvaluateBatch: {
      input: evaluateBatchSchema,
      run(request, call) {
        const failed = (error: unknown) => printFailure(problemOf(error, request, errors));
        const heavy = heavyMessage(steps, 'evaluateBatch', request);
        if (heavy === undefined) {
          const { evaluations } = parseInput(evaluateBatchSchema, bodyOf(request, duplicates));
          return evaluateBatch(evaluation, evaluations.map(unreadItem), call, failed);
        }
        return withHeldMessage(steps, heavy, ({ evaluations }) =>
          evaluateBatch(evaluation, evaluations.map(readItem), call, failed),
        );
      },
    },
  } as const satisfies Record<string, Pick<RestRoute, 'input' | 'run'>>;
  return [...methods].flatMap((method) =>
    method.bindings.map((binding) => {
      const route = routes[method.desc.name as keyof typeof routes];
      if (route === undefined) throw new Error(`${method.name} has no JSON route`);
      return { method, binding, template: restTemplate(binding, apiBase), ...route };
    }),
  );
}

/** The body of a request, if it is read and evaluated elsewhere. */
function heavyMessage(
  steps: HeavySteps,
  rpc: 'evaluate' | 'evaluateBatch',
  request: RestRequest,
): EvaluationMessage | undefined {
  const { body } = request;
  // The size first: nearly all are small, and their headers are looked at where they are read.
  if (!Buffer.isBuffer(body) || !steps.takes(rpc, body.length)) return undefined;
  const bytes = jsonBytes(request);
  return bytes && { rpc, form: 'rest', bytes };
}

/** Reads one evaluation of a batch when it is its turn. Throws for one that is none. */
type BatchItem = () => EvaluateRequest;

const unreadItem =
  (item: JsonValue): BatchItem =>
  () =>
    readEvaluateRequest(item);
const readItem =
  (fields: EvaluationFields): BatchItem =>
  () =>
    requestRead(fields);

function evaluate(
  evaluation: EvaluationService,
  request: EvaluateRequest,
  call: Call,
): RestReply | Promise<RestReply> {
  const asked = demanding(request, demandedRevision(call));
  const reply = (verdict: RevisedVerdict): RestReply => {
    reportVerdict(verdict, call);
    if (verdict.limits !== undefined) tellLimits(verdict, verdict.limits, call);
    return printVerdict(verdict, acceptsOutcomes(asked));
  };
  const verdict = evaluation.evaluate(asked, 'full', call);
  return verdict instanceof Promise ? verdict.then(reply) : reply(verdict);
}

/** Header with the minimum revision that a caller requires. */
const MIN_REVISION_HEADER = 'X-Service-Min-Revision';
const MIN_REVISION_KEY = MIN_REVISION_HEADER.toLowerCase();

/** The revision in the header, 0 without one. Throws a VALIDATION_ERROR for an invalid revision. */
function demandedRevision(call: Call): number {
  const text = call.header(MIN_REVISION_KEY);
  if (text === undefined) return 0;
  const revision = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(revision)) {
    const message = 'must be a revision: a whole number from 0 to 2^53 - 1';
    const field = `header.${MIN_REVISION_HEADER}`;
    throw invalidRequest([{ resource: 'Request', field, code: 'int_parsing', message, value: text }]);
  }
  return revision;
}

function demanding(asked: EvaluateRequest, revision: number): EvaluateRequest {
  return revision <= asked.minRevision ? asked : { ...asked, minRevision: revision };
}

function evaluateBatch(
  evaluation: EvaluationService,
  evaluations: readonly BatchItem[],
  call: Call,
  failed: (error: unknown) => Buffer,
): RestReply | Promise<RestReply> {
  const demanded = demandedRevision(call);
  call.spend(evaluations.length - 1);
  let oldest = Number.POSITIVE_INFINITY;
  let stalest: number | null = null;
  const mismatches: (Warning | undefined)[] = [];
  const succeeded = (verdict: RevisedVerdict, index: number, withOutcome: boolean): Buffer => {
    if (verdict.schema_mismatch !== null) {
      mismatches[index] = mismatchWarning(verdict.schema_mismatch, `evaluations[${index}].`);
    }
    oldest = Math.min(oldest, verdict.revision);
    if (verdict.staleness_seconds !== null) stalest = Math.max(stalest ?? 0, verdict.staleness_seconds);
    return printVerdict(verdict, withOutcome, '{"verdict":', '}');
  };
  let begun = 0;
  const judge = (item: BatchItem): Buffer | Promise<Buffer> => {
    const index = begun;
    begun += 1;
    const asked = demanding(item(), demanded);
    const verdict = evaluation.evaluate(asked, 'full', call);
    const isAsked = acceptsOutcomes(asked);
    return verdict instanceof Promise
      ? verdict.then((late) => succeeded(late, index, isAsked))
      : succeeded(verdict, index, isAsked);
  };
  const reply = (results: readonly Buffer[]): RestReply => {
    if (oldest !== Number.POSITIVE_INFINITY) call.reportRevision(oldest);
    if (stalest !== null) call.reportStaleness(stalest);
    call.warn(mismatches.flatMap((one) => one ?? []));
    return Buffer.concat([BATCH_START, ...results.flatMap(withComma), BATCH_END]);
  };
  const results = inSlices(
    evaluations,
    (item) => orFailed(() => judge(item), failed),
    () => call.signal,
  );
  return results instanceof Promise ? results.then(reply) : reply(results);
}

/** Whether a caller knows outcomes: it states which ones it accepts. */
function acceptsOutcomes({ options }: EvaluateRequest): boolean {
  return options?.accepts !== undefined;
}

/** One result as JSON text; an error of an evaluation is returned as its result. */
function orFailed(
  judge: () => Buffer | Promise<Buffer>,
  failed: (error: unknown) => Buffer,
): Buffer | Promise<Buffer> {
  try {
    const result = judge();
    return result instanceof Promise ? result.catch(failed) : result;
  } catch (error) {
    return failed(error);
  }
}

function bodyOf(request: RestRequest, duplicates: DuplicateMembers): JsonValue {
  const body = readBody(request, duplicates);
  if ('problem' in body) throw body.problem;
  return body.value;
}

const printFailure = (problem: JsonObject): Buffer => Buffer.from(`{"error":${stringifyJson(problem)}}`);

const BATCH_START = Buffer.from('{"results":[');
const BATCH_END = Buffer.from(']}');
const COMMA = Buffer.from(',');
const withComma = (result: Buffer, index: number): Buffer[] => (index === 0 ? [result] : [COMMA, result]);
