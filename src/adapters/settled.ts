import { z } from 'zod';
import { type JsonObject, stringifyJson } from '../../packages/exact-json/src/index.js';
import type { ErrorForm, HandlerCall, ShownError } from '../contract/call/handler.js';
import { problemText } from '../contract/errors/item-message.js';
import { httpStatusOf, ServiceError } from '../contract/errors/service-error.js';
import { freeObject, nullable, text, withExample } from '../contract/input/fields.js';
import { type AdapterOutcome, trailOf } from './outcome.js';

/** A step that was refused before it was evaluated: it counts as denied. */
export interface Refusal {
  readonly kind: 'refused';
  /** As the JSON routes would answer it. */
  readonly status: number;
  readonly message: string;
}

/** What an adapter answers: what came of a step, or why there is no step. */
export type Settled = AdapterOutcome | Refusal;

/** What does not let a step run. */
export type Denial = Exclude<Settled, { kind: 'allow' | 'modify' }>;

/**
 * What comes of a step, where the peer would let a step run that is answered with an error: a request that is refused is a
 * denial too. Rejects with failures of the service, whose error form denies, and when the call is over.
 */
export async function settled(
  call: HandlerCall,
  submit: () => Promise<AdapterOutcome> | AdapterOutcome,
): Promise<Settled> {
  try {
    return await submit();
  } catch (error) {
    if (call.signal.aborted || !(error instanceof ServiceError)) throw error;
    const status = httpStatusOf(error);
    if (status >= 500) throw error;
    return { kind: 'refused', status, message: refusalText(error) };
  }
}

/** What is wrong, where, and what to do. */
function refusalText({ options, code }: ServiceError): string {
  const { detail, items = [], hint } = options;
  const problems = items.map(problemText);
  const advice = hint === undefined || code === 'VALIDATION_ERROR' ? [] : [hint];
  return ['This was not checked, so it counts as denied.', detail, ...problems, ...advice].join(' ');
}

/** Errors of JSON routes that deny in the shape of a protocol. A caller that is rejected keeps its status, all others have 200. */
export function denyingForm(reply: (message: string, error: ShownError) => JsonObject): ErrorForm {
  return (error) => ({
    status: isRejectedCaller(error.status) ? error.status : 200,
    type: 'application/json; charset=utf-8',
    body: stringifyJson(reply(`This was not checked, so it counts as denied. ${error.message}`, error)),
  });
}

/** Whether the caller is not known, or may not evaluate at all. */
export function isRejectedCaller(status: number): boolean {
  return status === 401 || status === 403;
}

/** The HTTP status for a denial, where a protocol takes one. */
export function statusOf(denial: Denial): number {
  switch (denial.kind) {
    case 'refused':
      return denial.status === 422 ? 400 : denial.status;
    case 'error':
      return 503;
    case 'deny':
      return denial.retryAfterSeconds === null ? 403 : 429;
    default:
      return 403;
  }
}

/** The decision behind an outcome; nothing for a step that was not evaluated. */
export function trailOfSettled(outcome: Settled): JsonObject {
  if (outcome.kind === 'refused' || outcome.kind === 'error' || outcome.verdict === null) return {};
  return trailOf(outcome.verdict);
}

/** Name of an agent in a query; read as every name of an agent once it is clear that it is the one. */
const MAX_AGENT_LENGTH = 1024;

/** The input of an RPC whose body is a message of another protocol. */
export const messageSchema = (example: JsonObject) =>
  withExample(z.object({ body: freeObject(), agent: nullable(text({ max: MAX_AGENT_LENGTH })) }), example);
