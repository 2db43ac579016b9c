import type { AuthzenService } from '../../../../gen/proto/enforcement/v1/authzen_service_pb.js';
import {
  type ErrorForm,
  type HandlerCall,
  type HandlersOf,
  handler,
} from '../../../../src/contract/call/handler.js';
import {
  callerError,
  httpStatusOf,
  type ServiceError,
} from '../../../../src/contract/errors/service-error.js';
import type { JsonObject } from '../../../exact-json/src/index.js';
import type { AdapterEvaluations } from '../steps/adapter-evaluations.js';
import { refuseCharset } from '../steps/checked-headers.js';
import { given, textOf } from '../steps/members.js';
import { type AdapterOutcome, controlNames } from '../steps/outcome.js';
import { refusalOf } from '../steps/refusal.js';
import { type Access, type Accesses, schemas, wholeAccess } from './access.js';

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
    refuseCharset(call.header('content-type'), 'content-type');
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

  /** An access of several that is refused does not affect the others. */
  async function decideOneOf(access: () => Access, call: HandlerCall): Promise<Decision> {
    try {
      return await decide(access(), call);
    } catch (error) {
      const { status, code, message } = refusalOf(error, call);
      evaluations.refused('authzen', status);
      return notEvaluated({ status, code, message });
    }
  }

  async function decideAll(accesses: Accesses, call: HandlerCall): Promise<object> {
    evaluations.demand('authzen');
    const { evaluations: items, options, ...defaults } = accesses;
    if (items === undefined || items.length === 0) return decide(wholeAccess(defaults, {}), call);
    call.spend(items.length - 1);
    const last = LAST[options?.evaluations_semantic ?? 'execute_all'];
    const decisions: Decision[] = [];
    for (const item of items) {
      const made = await decideOneOf(() => wholeAccess(item, defaults), call);
      decisions.push(made);
      if (made.decision === last) break;
    }
    return { evaluations: decisions };
  }

  const errorForm: ErrorForm = {
    ...textForm,
    show(error) {
      evaluations.refused('authzen', error.status);
      return textForm.show(error);
    },
  };
  return {
    evaluateAccess: { ...handler(schemas.evaluateAccess, decide), errorForm },
    evaluateAccesses: { ...handler(schemas.evaluateAccesses, decideAll), errorForm },
    getAuthzenConfiguration: {
      ...handler(schemas.getAuthzenConfiguration, () => {
        evaluations.demand('authzen');
        if (publicUrl === null) throw noPublicUrl();
        return {
          policy_decision_point: publicUrl,
          access_evaluation_endpoint: `${publicUrl}/access/v1/evaluation`,
          access_evaluations_endpoint: `${publicUrl}/access/v1/evaluations`,
          capabilities: [],
        };
      }),
      errorForm: textForm,
    },
  };
}

/** Errors are plain texts; the standard has 400 for what is invalid. */
const textForm: ErrorForm = {
  type: 'text/plain; charset=utf-8',
  show: ({ status, message }) => ({ status: status === 422 ? 400 : status, body: message }),
};

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

function notEvaluated(error: JsonObject, more: JsonObject = {}): Decision {
  return { decision: false, context: { outcome: 'error', error, ...more } };
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
      return notEvaluated(shown(outcome.error), reason(outcome.message));
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
