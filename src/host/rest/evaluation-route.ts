import type { FastifyRequest } from 'fastify';
import type { ControlResult, Verdict } from '../../evaluation/types.js';
import {
  type EvaluateRequest,
  evaluateRequestSchema,
  readEvaluateRequest,
} from '../../evaluation-api/evaluate-request.js';
import type { EvaluationService, RevisedVerdict } from '../../evaluation-api/evaluation-service.js';
import { stringifyJson } from '../../json/stringify-json.js';
import type { CallContext } from '../../rpc/handler.js';
import { invalidRequest } from '../../validation/parse-input.js';
import type { RpcMethod } from '../descriptors/rpc-methods.js';
import { readBody } from './rest-body.js';
import { type RestReply, type RestRoute, restTemplate } from './rest-routes.js';

/** The JSON route of Evaluate: it calls the evaluation directly and returns everything. */
export function evaluationRoutes(
  evaluation: EvaluationService,
  method: RpcMethod,
  apiBase: string,
): RestRoute[] {
  return method.bindings.map((binding) => ({
    method,
    binding,
    template: restTemplate(binding, apiBase),
    input: evaluateRequestSchema,
    run: (request, context) => evaluate(evaluation, request, context),
  }));
}

function evaluate(
  evaluation: EvaluationService,
  request: FastifyRequest,
  context: CallContext,
): RestReply | Promise<RestReply> {
  const body = readBody(request);
  if ('problem' in body) throw body.problem;
  const caller = { protocol: 'rest', header: context.header };
  const asked = withDemandedRevision(readEvaluateRequest(body.value), context);
  const reply = (verdict: RevisedVerdict): RestReply => {
    context.reportRevision(verdict.revision);
    return printVerdict(verdict);
  };
  const verdict = evaluation.evaluate(asked, 'full', caller);
  return verdict instanceof Promise ? verdict.then(reply) : reply(verdict);
}

/** Header by which a caller demands a revision. */
const MIN_REVISION_HEADER = 'X-Service-Min-Revision';
const MIN_REVISION_KEY = MIN_REVISION_HEADER.toLowerCase();

/** Takes the revision of the header into account. Throws a VALIDATION_ERROR when it is none. */
function withDemandedRevision(asked: EvaluateRequest, context: CallContext): EvaluateRequest {
  const text = context.header(MIN_REVISION_KEY);
  if (text === undefined) return asked;
  const revision = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(revision)) {
    const message = 'must be a revision: a whole number from 0 to 2^53 - 1';
    const field = `header.${MIN_REVISION_HEADER}`;
    throw invalidRequest([{ resource: 'Request', field, code: 'int_parsing', message, value: text }]);
  }
  return { ...asked, minRevision: Math.max(revision, asked.minRevision) };
}

/** A verdict as JSON text, with every declared member. */
function printVerdict(verdict: Verdict): RestReply {
  const { is_safe, confidence, reason } = verdict;
  return (
    `{"is_safe":${is_safe},"confidence":${confidence},"reason":${JSON.stringify(reason)},` +
    `"matches":${printResults(verdict.matches)},"errors":${printResults(verdict.errors)},` +
    `"non_matches":${printResults(verdict.non_matches)}}`
  );
}

function printResults(results: readonly ControlResult[]): string {
  if (results.length === 0) return '[]';
  return `[${results.map(printResult).join(',')}]`;
}

function printResult(item: ControlResult): string {
  const { result, steering_context: steering } = item;
  const metadata = result.metadata === null ? 'null' : stringifyJson(result.metadata);
  const guidance =
    steering === null
      ? 'null'
      : JSON.stringify({ message: steering.message, required_actions: steering.required_actions ?? [] });
  return (
    `{"control_execution_id":"${item.control_execution_id}","control_id":${item.control_id},` +
    `"control_name":${JSON.stringify(item.control_name)},"action":"${item.action}",` +
    `"result":{"matched":${result.matched},"confidence":${result.confidence},` +
    `"message":${JSON.stringify(result.message)},"metadata":${metadata},` +
    `"error":${JSON.stringify(result.error)}},"steering_context":${guidance}}`
  );
}
