import type { ExtMcp } from '../../../../gen/proto/agentgateway/dev/ext_mcp/ext_mcp_pb.js';
import { bulkHandler, type HandlerCall, type HandlersOf } from '../../../../src/contract/call/handler.js';
import { freeObject } from '../../../../src/contract/input/fields.js';
import { isObject, type JsonObject, type JsonValue, stringifyJson } from '../../../exact-json/src/index.js';
import type { AdapterEvaluations, ForeignStep } from '../steps/adapter-evaluations.js';
import { checkedHeaders } from '../steps/checked-headers.js';
import {
  isStepMethod,
  type McpMethod,
  mcpParams,
  mcpStep,
  mcpStepName,
  mcpStepType,
  peerJson,
  refuseAlikeMethod,
  refused,
} from '../steps/mcp-step.js';
import { type AdapterOutcome, decisionFacts, wayOut } from '../steps/outcome.js';
import { MCP_RESULT_NAMES, ROUTE_NAMES, refuseFolded } from '../steps/protocol-names.js';
import { refusalOf } from '../steps/refusal.js';

/** Longest error of a step that a result tells, in UTF-16 code units. */
const MAX_ERROR_LENGTH = 4_096;

/**
 * The MCP guardrails of agentgateway. A tool that is called, a resource that is read and a prompt that is got are steps, before as
 * requests and after as results; other methods pass.
 */
export function createExtMcp(evaluations: AdapterEvaluations): HandlersOf<typeof ExtMcp> {
  /** `remade` makes what takes the place of the message, of a step that may run, or be used, changed. */
  async function check(
    message: JsonObject,
    call: HandlerCall,
    stepOf: (method: McpMethod) => Checked,
  ): Promise<Result> {
    evaluations.demand('ext-mcp');
    const { method } = message;
    try {
      refuseAlikeMethod(method, 'method');
      if (!isStepMethod(method)) return { pass: {} };
      refuseFolded(contextOf(message), ROUTE_NAMES, 'metadata_context');
      const { step, remade } = stepOf(method);
      return resultOf(await evaluations.submit('ext-mcp', step, call), remade);
    } catch (error) {
      const { cause, status, message, code } = refusalOf(error, call);
      evaluations.refused('ext-mcp', status);
      return denied(cause, message, { outcome: 'error', error_code: code });
    }
  }

  return {
    checkRequest: bulkHandler(freeObject(), (message, call) =>
      check(message, call, (method) => {
        const { mcp_request: text } = message;
        const params = typeof text === 'string' && text !== '' ? peerJson(text, 'mcp_request') : {};
        const { type, name, input } = mcpStep(method, params);
        return {
          step: { ...commonOf(message), stage: 'pre', type, name, input },
          remade: (changed) => mcpParams(method, params as JsonObject, changed.input),
        };
      }),
    ),
    checkResponse: bulkHandler(freeObject(), async (message, call) => {
      const { metadata: _, ...result } = await check(message, call, (method) => {
        const output = peerJson(String(message.mcp_response ?? ''), 'mcp_response');
        refuseFolded(output, MCP_RESULT_NAMES, 'mcp_response');
        const context = contextOf(message);
        const step: ForeignStep = {
          ...commonOf(message),
          stage: 'post',
          type: mcpStepType(method),
          // The protocol does not repeat the request: only the configuration of the gateway can tell.
          name: mcpStepName(method) ?? textIn(context, 'step') ?? '',
          input: isObject(context.input) ? context.input : {},
          output,
          error: errorOf(output),
        };
        return { step, remade: (changed) => changed.output };
      });
      return result;
    }),
  };
}

/** A message as a step, and what takes its place if the step is changed. */
interface Checked {
  readonly step: ForeignStep;
  remade(changed: { readonly input: JsonValue; readonly output: JsonValue }): JsonValue;
}

type Result = { readonly metadata?: JsonObject } & (
  | { readonly pass: object }
  | { readonly mutated: string }
  | { readonly error: { readonly code: string; readonly reason: string; readonly mcp_error?: string } }
);

const CODES = {
  invalid: 'invalid',
  denied: 'permission_denied',
  limited: 'resource_exhausted',
  unavailable: 'unknown',
} as const;

function commonOf(message: JsonObject): Pick<ForeignStep, 'context' | 'protocol' | 'message' | 'accepts'> {
  const context = contextOf(message);
  const headers = checkedHeaders(headerEntries(message.headers));
  const servers = Array.isArray(message.service_names) ? message.service_names : [];
  return {
    context: { mcp: { upstream: servers.join(',') } },
    protocol: {
      // Never a header of the client: it could choose the controls that it is checked by.
      agent: textIn(context, 'agent'),
      session: textIn(context, 'session') ?? headers.get('x-session-id') ?? headers.get('mcp-session-id'),
      step_id: textIn(context, 'step_id') ?? headers.get('x-step-id'),
      traceparent: textIn(context, 'traceparent') ?? headers.get('traceparent'),
    },
    message: {
      service_names: servers,
      method: message.method ?? '',
      metadata_context: context,
      headers: Object.fromEntries(headers),
    },
    accepts: ['steer', 'ask', 'modify'],
  };
}

function contextOf({ metadata_context: context }: JsonObject): JsonObject {
  return isObject(context) ? context : {};
}

function headerEntries(headers: JsonValue | undefined): [string, string][] {
  if (!Array.isArray(headers)) return [];
  return headers.flatMap((one) => (isObject(one) ? [[String(one.key), String(one.value)]] : []));
}

function textIn(object: JsonObject, name: string): string | undefined {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The error of a tool that failed: its texts. */
function errorOf(result: JsonValue): string | undefined {
  if (!isObject(result) || result.isError !== true) return undefined;
  const content = Array.isArray(result.content) ? result.content : [];
  const texts = content.flatMap((one) => (isObject(one) && typeof one.text === 'string' ? [one.text] : []));
  return texts.join('\n').slice(0, MAX_ERROR_LENGTH);
}

function resultOf(outcome: AdapterOutcome, remade: Checked['remade']): Result {
  const { kind } = outcome;
  switch (kind) {
    case 'allow':
      return { pass: {}, metadata: decisionFacts(outcome.unchecked ? 'unchecked' : kind, outcome.verdict) };
    case 'modify': {
      const { step } = outcome;
      const changed = remade({ input: step.input, output: step.output ?? null });
      if (!isObject(changed))
        throw refused('mcp_response', 'cannot be replaced by what is no object', changed);
      return { mutated: stringifyJson(changed), metadata: decisionFacts(kind, outcome.verdict) };
    }
    case 'error':
      return denied('unavailable', outcome.message, { outcome: kind });
    case 'deny': {
      const { retryAfterSeconds: seconds, message, verdict } = outcome;
      if (seconds === null) return denied('denied', message, decisionFacts(kind, verdict));
      return denied('limited', message, decisionFacts(kind, verdict), { retry_after_seconds: seconds });
    }
    case 'steer':
    case 'ask': {
      const { facts, members } = wayOut(outcome);
      return denied('denied', outcome.message, facts, members);
    }
  }
}

/** The gateway makes an error of JSON-RPC of it: the code by `cause`, the message, and facts and members as its data. */
function denied(
  cause: keyof typeof CODES,
  reason: string,
  facts: JsonObject,
  members: JsonObject = {},
): Result {
  const mcp_error = stringifyJson({ ...facts, ...members });
  return { error: { code: CODES[cause], reason, mcp_error }, metadata: facts };
}
