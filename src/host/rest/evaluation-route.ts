import type { FastifyRequest } from 'fastify';
import type { Verdict } from '../../evaluation/types.js';
import {
  evaluateBatchSchema,
  evaluateRequestSchema,
  readEvaluateRequest,
} from '../../evaluation-api/evaluate-request.js';
import type { EvaluationCaller, EvaluationService } from '../../evaluation-api/evaluation-service.js';
import type { JsonObject, JsonValue } from '../../json/json-value.js';
import { stringifyJson } from '../../json/stringify-json.js';
import type { CallContext } from '../../rpc/handler.js';
import { parseInput } from '../../validation/parse-input.js';
import type { RpcMethod } from '../descriptors/rpc-methods.js';
import { inSlices } from '../evaluation/in-slices.js';
import { readBody } from './rest-body.js';
import { problemOf } from './rest-errors.js';
import { type RestReply, type RestRoute, restTemplate } from './rest-routes.js';
import { printVerdict } from './verdict-json.js';

/** The JSON routes of Evaluate and EvaluateBatch: they call the evaluation directly and return everything. */
export function evaluationRoutes(
  evaluation: EvaluationService,
  methods: Iterable<RpcMethod>,
  apiBase: string,
  now: () => Date,
): RestRoute[] {
  const routes = {
    Evaluate: {
      input: evaluateRequestSchema,
      run: (request, context) => evaluate(evaluation, request, context),
    },
    EvaluateBatch: {
      input: evaluateBatchSchema,
      run: (request, context) => evaluateBatch(evaluation, request, context, now),
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

function evaluate(
  evaluation: EvaluationService,
  request: FastifyRequest,
  context: CallContext,
): RestReply | Promise<RestReply> {
  const caller = { protocol: 'rest', header: context.header };
  const verdict = evaluation.evaluate(readEvaluateRequest(bodyOf(request)), 'full', caller);
  return verdict instanceof Promise ? verdict.then(printVerdict) : printVerdict(verdict);
}

function evaluateBatch(
  evaluation: EvaluationService,
  request: FastifyRequest,
  context: CallContext,
  now: () => Date,
): RestReply | Promise<RestReply> {
  const { evaluations } = parseInput(evaluateBatchSchema, bodyOf(request));
  const caller = { protocol: 'rest', header: context.header };
  const failed = (error: unknown) => printFailure(problemOf(error, request, now));
  const results = inSlices(
    evaluations,
    (item) => evaluateItem(evaluation, item, caller, failed),
    () => context.signal,
  );
  return results instanceof Promise ? results.then(printResults) : printResults(results);
}

/** One result as JSON text; what goes wrong with an evaluation is its own result. */
function evaluateItem(
  evaluation: EvaluationService,
  item: JsonValue,
  caller: EvaluationCaller,
  failed: (error: unknown) => string,
): string | Promise<string> {
  try {
    const verdict = evaluation.evaluate(readEvaluateRequest(item), 'full', caller);
    return verdict instanceof Promise ? verdict.then(printSuccess).catch(failed) : printSuccess(verdict);
  } catch (error) {
    return failed(error);
  }
}

function bodyOf(request: FastifyRequest): JsonValue {
  const body = readBody(request);
  if ('problem' in body) throw body.problem;
  return body.value;
}

const printResults = (results: readonly string[]): string => `{"results":[${results.join(',')}]}`;
const printSuccess = (verdict: Verdict): string => `{"verdict":${printVerdict(verdict)}}`;
const printFailure = (problem: JsonObject): string => `{"error":${stringifyJson(problem)}}`;
