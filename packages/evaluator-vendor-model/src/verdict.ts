import type { VendorConfig } from './config.js';
import { EndpointError } from './errors.js';
import type { Reply } from './reply.js';
import type { EvaluatorResult, JsonObject } from './types.js';

/** What the model is sent. Members that are not configured are left out. */
export function requestBody(config: VendorConfig, text: string): JsonObject {
  const { metric, stage_type, stage_name, stage_version, vendor_project, metadata } = config;
  const side = config.payload_field ?? (metric?.includes('output') === true ? 'output' : 'input');
  return {
    ...(metric === null ? {} : { metric }),
    [side]: text,
    ...(stage_type === 'central'
      ? { stage: { name: stage_name, ...(stage_version === null ? {} : { version: stage_version }) } }
      : {}),
    ...(vendor_project === null ? {} : { project: vendor_project }),
    ...(metadata === null ? {} : { metadata: metadata as JsonObject }),
  };
}

/** What the model's reply means. Throws an EndpointError when it cannot be compared as configured. */
export function resultOf(config: VendorConfig, reply: Reply, elapsedMs: number): EvaluatorResult {
  if (reply === null) {
    return {
      matched: false,
      confidence: 0,
      message: null,
      metadata: { error: 'empty_response' },
      error: null,
    };
  }
  const judged =
    typeof reply.status === 'string'
      ? { status: reply.status, message: null }
      : scoreJudged(config, reply.score ?? Number.NaN);
  const matched = judged.status === 'triggered';
  return {
    matched,
    confidence: matched ? 1 : 0,
    message: reply.message ?? judged.message,
    metadata: {
      status: judged.status,
      metric: config.metric,
      trace_id: reply.trace_id ?? null,
      execution_time_ms: reply.execution_time_ms ?? Math.round(elapsedMs),
      received_at: reply.received_at ?? null,
      response_at: reply.response_at ?? null,
    },
    error: null,
  };
}

const COMPARISONS = {
  gt: (score: number, target: number) => score > target,
  lt: (score: number, target: number) => score < target,
  gte: (score: number, target: number) => score >= target,
  lte: (score: number, target: number) => score <= target,
  eq: (score: number, target: number) => score === target,
};

function scoreJudged(config: VendorConfig, score: number): { status: string; message: string } {
  const { operator, target_value } = config;
  if (operator === null || operator === 'contains' || operator === 'any') {
    const problem = `operator ${operator ?? 'none'} cannot be applied to a score; it needs a reply with a status`;
    throw new EndpointError('InvalidReply', problem);
  }
  const target = numberOf(target_value);
  if (target === null) {
    throw new EndpointError('InvalidReply', 'target_value is no number, so no score can be compared with it');
  }
  const status = COMPARISONS[operator](score, target) ? 'triggered' : 'not_triggered';
  return { status, message: `Score ${score} (triggered when ${operator} ${target})` };
}

function numberOf(target: VendorConfig['target_value']): number | null {
  if (typeof target === 'number') return target;
  if (target === null || target.trim() === '') return null;
  const read = Number(target);
  return Number.isFinite(read) ? read : null;
}

/** What `on_error` makes of a failure. No `error`: the configuration has decided what it means. */
export function fallbackResult(config: VendorConfig, error: EndpointError): EvaluatorResult {
  const { on_error, metric } = config;
  return {
    matched: on_error === 'deny',
    confidence: 0,
    message: on_error === 'deny' ? 'The model could not be asked, and on_error is deny' : null,
    metadata: { error: error.message, error_type: error.type, metric, fallback_action: on_error },
    error: null,
  };
}
