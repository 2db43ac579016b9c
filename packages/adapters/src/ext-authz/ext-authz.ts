import type { Authorization } from '../../../../gen/proto/envoy/service/auth/v3/external_auth_pb.js';
import { bulkHandler, type HandlersOf } from '../../../../src/contract/call/handler.js';
import { GrpcCode } from '../../../../src/contract/errors/grpc-code.js';
import { freeObject } from '../../../../src/contract/input/fields.js';
import { type JsonObject, stringifyJson } from '../../../exact-json/src/index.js';
import type { AdapterEvaluations } from '../steps/adapter-evaluations.js';
import { type AdapterOutcome, decisionFacts, wayOut } from '../steps/outcome.js';
import { type Refusal, refusalOf } from '../steps/refusal.js';
import { httpStep } from './http-step.js';

/** The external authorization of Envoy, version 3: a request that a proxy received is a step before it runs. */
export function createExtAuthz(evaluations: AdapterEvaluations): HandlersOf<typeof Authorization> {
  return {
    check: bulkHandler(freeObject(), async (message, call) => {
      evaluations.demand('ext-authz');
      try {
        return replyOf(await evaluations.submit('ext-authz', httpStep(message), call));
      } catch (error) {
        const refusal = refusalOf(error, call);
        evaluations.refused('ext-authz', refusal.status);
        return refused(refusal);
      }
    }),
  };
}

/** The code of gRPC that lets a request pass. */
const OK = 0;

/** Headers that the server of a request gets. */
const OUTCOME_HEADER = 'x-control-enforcement-outcome';
const ID_HEADER = 'x-control-enforcement-decision-id';

/** Statuses of HTTP, as the proto has them. */
const STATUSES = {
  badrequest: { status: 400, title: 'Bad Request' },
  forbidden: { status: 403, title: 'Forbidden' },
  toomanyrequests: { status: 429, title: 'Too Many Requests' },
  serviceunavailable: { status: 503, title: 'Service Unavailable' },
} as const;
type Status = keyof typeof STATUSES;

const OF_REFUSALS = {
  invalid: 'badrequest',
  denied: 'forbidden',
  limited: 'toomanyrequests',
  unavailable: 'serviceunavailable',
} as const satisfies Record<Refusal['cause'], Status>;

function replyOf(outcome: AdapterOutcome): object {
  const { kind } = outcome;
  switch (kind) {
    case 'allow': {
      const facts = decisionFacts(outcome.unchecked ? 'unchecked' : kind, outcome.verdict);
      const { decision_id: id } = facts;
      return {
        status: { code: OK },
        ok_response: {
          // They replace those that the client of the proxy may have sent.
          headers: [
            header(OUTCOME_HEADER, String(facts.outcome)),
            ...(id === undefined ? [] : [header(ID_HEADER, String(id))]),
          ],
          headers_to_remove: id === undefined ? [ID_HEADER] : [],
        },
        dynamic_metadata: facts,
      };
    }
    case 'deny': {
      const { retryAfterSeconds, message, verdict } = outcome;
      const status = retryAfterSeconds === null ? 'forbidden' : 'toomanyrequests';
      return denied(status, message, decisionFacts(kind, verdict), {}, retryAfterSeconds);
    }
    case 'steer':
    case 'ask': {
      const { facts, members } = wayOut(outcome);
      return denied('forbidden', outcome.message, facts, members);
    }
    case 'error':
      return denied(
        'serviceunavailable',
        outcome.message,
        { outcome: kind },
        { error_code: outcome.error.code },
      );
    case 'modify':
      // Not accepted, so it does not occur; a proxy could not let the changed request pass.
      return denied('forbidden', UNCHANGEABLE, decisionFacts('deny', outcome.verdict));
  }
}

const UNCHANGEABLE = 'The request may only pass changed, and a proxy cannot change it.';

function refused({ cause, code, message, retryAfterSeconds }: Refusal): object {
  return denied(OF_REFUSALS[cause], message, { outcome: 'error' }, { error_code: code }, retryAfterSeconds);
}

/** A denial: the client gets a problem body of RFC 9457, other filters the facts. */
function denied(
  status: Status,
  detail: string,
  facts: JsonObject,
  members: JsonObject = {},
  retryAfterSeconds: number | null = null,
): object {
  const problem = { type: 'about:blank', ...STATUSES[status], detail, ...facts, ...members };
  return {
    status: { code: GrpcCode.PermissionDenied, message: detail },
    denied_response: {
      status: { code: status },
      headers: [
        header('content-type', 'application/problem+json'),
        ...(retryAfterSeconds === null ? [] : [header('retry-after', String(retryAfterSeconds))]),
      ],
      body: stringifyJson(problem),
    },
    dynamic_metadata: facts,
  };
}

/** It replaces the headers of the same name, which newer versions of Envoy would keep otherwise. */
function header(key: string, value: string): object {
  return { header: { key, value }, append_action: 'overwrite_if_exists_or_add' };
}
