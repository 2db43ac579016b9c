import { z } from 'zod';
import type { AuthzenService } from '../../../gen/proto/enforcement/v1/authzen_service_pb.js';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { type ErrorForm, type HandlerCall, type HandlersOf, handler } from '../../contract/call/handler.js';
import { callerError, httpStatusOf, ServiceError } from '../../contract/errors/service-error.js';
import { freeObject, list, nullable, oneOf, text, withExample } from '../../contract/input/fields.js';
import { invalidRequest } from '../../contract/input/parse-input.js';
import { MAX_EVALUATIONS } from '../../decisions/evaluate-request.js';
import type { AdapterEvaluations } from '../adapter-evaluations.js';
import { given, textOf } from '../members.js';
import { type AdapterOutcome, controlNames } from '../outcome.js';

const MAX_ID_LENGTH = 1024;
const SEMANTICS = ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'] as const;

const entity = () =>
  z.object({
    type: text({ min: 1, max: MAX_ID_LENGTH }),
    id: text({ min: 1, max: MAX_ID_LENGTH }),
    properties: nullable(freeObject()),
  });
const action = () =>
  z.object({ name: text({ min: 1, max: MAX_ID_LENGTH }), properties: nullable(freeObject()) });
const optionalAccess = () => ({
  subject: nullable(entity()),
  action: nullable(action()),
  resource: nullable(entity()),
  context: nullable(freeObject()),
});

const EXAMPLE = {
  subject: { type: 'agent', id: 'billing-bot-01' },
  action: { name: 'tools/call' },
  resource: { type: 'tool', id: 'read_invoice' },
  context: { arguments: { number: 7 } },
};

/** Input schemas of AuthzenService. Members are in the order of the messages. */
const schemas = {
  evaluateAccess: withExample(
    z.object({ subject: entity(), action: action(), resource: entity(), context: nullable(freeObject()) }),
    EXAMPLE,
  ),
  evaluateAccesses: withExample(
    z.object({
      ...optionalAccess(),
      evaluations: nullable(list(z.object(optionalAccess()), { max: MAX_EVALUATIONS })),
      options: nullable(z.object({ evaluations_semantic: nullable(oneOf(SEMANTICS)) })),
    }),
    { ...EXAMPLE, evaluations: [{ action: { name: 'tools/list' } }, {}] },
  ),
  getAuthzenConfiguration: z.object({}),
};

type Access = z.output<typeof schemas.evaluateAccess>;
type Accesses = z.output<typeof schemas.evaluateAccesses>;

export interface AuthzenOptions {
  readonly evaluations: AdapterEvaluations;
  /** Base URL at which callers reach the service; null if it is not configured: then there are no metadata. */
  readonly publicUrl: string | null;
}

/**
 * AuthZEN Authorization API 1.0 (https://openid.net/specs/authorization-api-1_0.html). An access is a step at the stage pre
 * of the type and the name of its resource, whose input is the access.
 */
export function createAuthzen({ evaluations, publicUrl }: AuthzenOptions): HandlersOf<typeof AuthzenService> {
  async function decide(access: Access, call: HandlerCall): Promise<Decision> {
    const { subject, resource, context } = access;
    const message = given(access as unknown as JsonObject);
    const outcome = await evaluations.submit(
      'authzen',
      {
        stage: 'pre',
        type: resource.type,
        name: resource.id,
        input: message,
        message,
        protocol: {
          agent: subject.type === 'agent' ? subject.id : textOf(context?.agent),
          session: textOf(context?.session_id),
          step_id: textOf(context?.step_id),
          traceparent: textOf(context?.traceparent),
        },
        accepts: ['steer', 'ask'],
      },
      call,
    );
    return decisionOf(outcome);
  }

  async function decideAll(accesses: Accesses, call: HandlerCall): Promise<object> {
    const { evaluations: items, options, ...defaults } = accesses;
    if (items === undefined || items.length === 0) return decide(wholeAccess(defaults, ''), call);
    const wholes = items.map((item, index) =>
      wholeAccess(
        { ...defaults, ...given(item as unknown as JsonObject) } as typeof defaults,
        `evaluations[${index}].`,
      ),
    );
    call.spend(wholes.length - 1);
    const last = LAST[options?.evaluations_semantic ?? 'execute_all'];
    const decisions: Decision[] = [];
    for (const access of wholes) {
      const made = await decide(access, call).catch((error: unknown) => failed(error, call));
      decisions.push(made);
      if (made.decision === last) break;
    }
    return { evaluations: decisions };
  }

  const form = <Of extends object>(one: Of) => ({ ...one, errorForm: textForm });
  return {
    evaluateAccess: form(handler(schemas.evaluateAccess, decide)),
    evaluateAccesses: form(handler(schemas.evaluateAccesses, decideAll)),
    getAuthzenConfiguration: form(
      handler(schemas.getAuthzenConfiguration, () => {
        evaluations.demand('authzen');
        if (publicUrl === null) throw noPublicUrl();
        const base = publicUrl;
        return {
          policy_decision_point: base,
          access_evaluation_endpoint: `${base}/access/v1/evaluation`,
          access_evaluations_endpoint: `${base}/access/v1/evaluations`,
          capabilities: [],
        };
      }),
    ),
  };
}

/** A URL that is taken from the request could be that of its sender. */
function noPublicUrl(): ServiceError {
  return callerError('RESOURCE_NOT_FOUND', {
    detail: 'The decision point does not know its URL.',
    hint: 'Set SERVICE_PUBLIC_URL to the URL at which callers reach the service.',
  });
}

interface Decision {
  readonly decision: boolean;
  readonly context?: JsonObject;
}

/** The decision that ends a semantic. */
const LAST = { execute_all: null, deny_on_first_deny: false, permit_on_first_permit: true } as const;

/** Throws a VALIDATION_ERROR that names the members that neither the access nor its defaults have. */
function wholeAccess(
  { subject, action, resource, context }: Omit<Accesses, 'evaluations' | 'options'>,
  place: string,
) {
  if (subject !== undefined && action !== undefined && resource !== undefined)
    return { subject, action, resource, context };
  const missing = Object.entries({ subject, action, resource }).filter(([, value]) => value === undefined);
  throw invalidRequest(
    missing.map(([name]) => ({
      resource: 'Request',
      field: `${place}${name}`,
      code: 'missing',
      message: 'Field required',
    })),
  );
}

/** An access of several that is refused does not affect the others. */
function failed(error: unknown, call: HandlerCall): Decision {
  if (!(error instanceof ServiceError) || call.signal.aborted) throw error;
  return { decision: false, context: { outcome: 'error', error: shown(error) } };
}

function shown(error: ServiceError): JsonObject {
  return { status: httpStatusOf(error), code: error.code, message: error.options.detail };
}

/** The context of a decision tells why, and what would change it; a decision that needs no reason has none. */
function decisionOf(outcome: AdapterOutcome): Decision {
  switch (outcome.kind) {
    case 'allow':
      return outcome.unchecked
        ? { decision: true, context: { outcome: 'unchecked' } }
        : { decision: true, context: { outcome: 'allow', ...idOf(outcome.verdict) } };
    case 'error':
      return {
        decision: false,
        context: { outcome: 'error', error: shown(outcome.error), ...reason(outcome.message) },
      };
    case 'steer':
      return {
        decision: false,
        context: {
          ...explained(outcome),
          // By the draft of obligations, a point that does not know one denies.
          obligations: [
            {
              type: 'urn:control-enforcement:obligation:steer',
              properties: { message: outcome.guidance, required_actions: [...outcome.requiredActions] },
            },
          ],
        },
      };
    case 'ask':
      return {
        decision: false,
        context: {
          ...explained(outcome),
          reason: 'approval_required',
          evaluation_id: String(outcome.approval.id),
          access_request: {
            expires_at: new Date(outcome.approval.expiresAtMs).toISOString(),
            step_sha256: outcome.approval.stepSha256,
          },
        },
      };
    default:
      return { decision: false, context: outcome.kind === 'deny' ? explained(outcome) : { outcome: 'deny' } };
  }
}

function explained(outcome: Extract<AdapterOutcome, { kind: 'deny' | 'steer' | 'ask' }>): JsonObject {
  const { kind, verdict, message } = outcome;
  return { outcome: kind, ...idOf(verdict), ...reason(message), controls: controlNames(verdict) };
}

function idOf(verdict: { readonly decision_id: unknown } | null): JsonObject {
  return verdict === null ? {} : { decision_id: String(verdict.decision_id) };
}

/** As in the examples of the standard: a text by its language. */
function reason(message: string): JsonObject {
  return { reason_user: { en: message } };
}

/** Errors are plain texts; the standard has 400 for what is invalid. */
const textForm: ErrorForm = ({ status, message }) => ({
  status: status === 422 ? 400 : status,
  type: 'text/plain; charset=utf-8',
  body: message,
});
