import { z } from 'zod';
import {
  type ErrorForm,
  type Handler,
  type HandlerCall,
  handler,
  type ShownError,
} from '../../../../src/contract/call/handler.js';
import type { AdapterName } from '../../../../src/contract/config/adapter-names.js';
import { freeObject, nullable, text, withExample } from '../../../../src/contract/input/fields.js';
import { type JsonObject, type ProtocolNames, stringifyJson } from '../../../exact-json/src/index.js';
import type { AdapterEvaluations, ForeignStep } from './adapter-evaluations.js';
import { refuseCharset } from './checked-headers.js';
import { type AdapterOutcome, trailOf } from './outcome.js';
import { refuseFolded } from './protocol-names.js';
import { type Refusal, refusalOf } from './refusal.js';

/** What an adapter answers: what came of a step, or why there is no step. */
export type Settled = AdapterOutcome | Refusal;

/** What does not let a step run. */
export type Denial = Exclude<Settled, { kind: 'allow' | 'modify' }>;

/** A call of a peer that lets a step run when it is answered with an error. */
export interface Webhook<Input extends WebhookInput> {
  readonly input: z.ZodType<Input>;
  /** Of a message; one with another case of a name is refused. */
  readonly names: ProtocolNames;
  /** The step of a message; null for a message that needs no check. Throws the error of a message that is invalid. */
  step(input: Input, call: HandlerCall): WebhookStep | null;
  reply(outcome: Settled, input: Input): JsonObject;
  /** What a request gets that did not become a step, or whose evaluation failed. It must deny. */
  failed(message: string, error: ShownError): JsonObject;
  /** What a caller that is not known, or may not evaluate, gets with its status; absent for the same. */
  rejected?(error: ShownError): JsonObject;
}

export type WebhookStep = Omit<ForeignStep, 'message' | 'query'>;

interface WebhookInput {
  readonly body: JsonObject;
  readonly agent?: string | undefined;
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * The handler of a webhook. A request that is refused is answered as a denial, with 200; so are failures of the service. A caller
 * that is rejected keeps its status, so that a wrong key is noticed.
 */
export function webhook<Input extends WebhookInput>(
  evaluations: AdapterEvaluations,
  adapter: AdapterName,
  { input: schema, names, step: stepOf, reply, failed, rejected }: Webhook<Input>,
): Handler {
  async function settled(input: Input, call: HandlerCall): Promise<Settled> {
    try {
      evaluations.demand(adapter);
      const { body: message, agent } = input;
      refuseCharset(call.header('content-type'), 'content-type');
      refuseFolded(message, names);
      const step = stepOf(input, call);
      if (step === null) return { kind: 'allow', verdict: null, unchecked: false };
      return await evaluations.submit(adapter, { ...step, message, query: { agent } }, call);
    } catch (error) {
      const refusal = refusalOf(error, call);
      evaluations.refused(adapter, refusal.status);
      return { ...refusal, message: `${NOT_CHECKED} ${refusal.message}` };
    }
  }
  const errorForm: ErrorForm = {
    type: JSON_TYPE,
    show(error) {
      evaluations.refused(adapter, error.status);
      const isRejected = error.status === 401 || error.status === 403;
      const body =
        isRejected && rejected !== undefined
          ? rejected(error)
          : failed(`${NOT_CHECKED} ${error.message}`, error);
      return { status: isRejected ? error.status : 200, body: stringifyJson(body) };
    },
  };
  const handle = async (input: Input, call: HandlerCall) => ({
    reply: reply(await settled(input, call), input),
  });
  return { ...handler(schema, handle), errorForm };
}

const NOT_CHECKED = 'This was not checked, so it counts as denied.';

/** The HTTP status for a denial, where a protocol takes one. */
export function statusOf(denial: Denial): number {
  if (denial.kind === 'refused') return denial.status;
  if (denial.kind === 'error') return 503;
  return denial.kind === 'deny' && denial.retryAfterSeconds !== null ? 429 : 403;
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
