import type { AdapterService } from '../../../../gen/proto/enforcement/v1/adapter_service_pb.js';
import type { HandlersOf } from '../../../../src/contract/call/handler.js';
import type { RevisedVerdict } from '../../../../src/decide/decisions/revised-verdict.js';
import type { JsonObject } from '../../../exact-json/src/index.js';
import type { AdapterEvaluations } from '../steps/adapter-evaluations.js';
import { membersOf } from '../steps/members.js';
import { AGENT_HOOKS_NAMES } from '../steps/protocol-names.js';
import { type Denial, messageSchema, type Settled, webhook } from '../steps/webhook.js';
import { stepOfContext } from './agent-context.js';

/** Most warnings of a verdict. */
const MAX_WARNINGS = 100;

const EXAMPLE = {
  body: {
    spec: 'agent-hooks/0.1',
    interception_point: 'pre_tool_call',
    timestamp: '2026-06-19T14:03:11.123Z',
    sequence: 4,
    agent: { id: 'billing-bot-01', framework: 'langchain' },
    session: { id: 'session-1' },
    tool_call: { id: 'call-1', name: 'read_invoice', args: { number: 7 } },
    target: { number: 7 },
  },
};

/**
 * An interceptor of agent-hooks 0.1 (https://github.com/responsibleai/agent-hooks, spec/AGENT-HOOKS-0.1.md), which says what
 * contexts and verdicts are, but not how they are sent. A context that cannot be evaluated has a verdict that denies.
 */
export function createAgentHooks(
  evaluations: AdapterEvaluations,
): Pick<HandlersOf<typeof AdapterService>, 'evaluateAgentHook'> {
  return {
    evaluateAgentHook: webhook(evaluations, 'agent-hooks', {
      input: messageSchema(EXAMPLE),
      names: AGENT_HOOKS_NAMES,
      step: ({ body }) => stepOfContext(membersOf(body)),
      reply: verdictOf,
      failed: (message, { status }) => denial(status >= 500 ? REASONS.error : REASONS.refused, message),
    }),
  };
}

/** Machine identifiers of denials. None begins with `host_error:`, which is the host's. */
const REASONS = {
  deny: 'denied',
  steer: 'steered',
  ask: 'approval_required',
  error: 'not_evaluated',
  refused: 'refused',
} as const satisfies { readonly [Kind in Denial['kind']]: string };

function verdictOf(outcome: Settled): JsonObject {
  switch (outcome.kind) {
    case 'allow':
      if (outcome.unchecked)
        return allowed([{ reason: 'unchecked', message: 'The step was not evaluated.' }]);
      return allowed(warningsOf(outcome.verdict));
    case 'modify': {
      const { step, verdict } = outcome;
      const value = step.output ?? step.input;
      const transform = { path: '$target', value };
      return { decision: 'transform', reason: 'modified', transform, ...evidenceOf(verdict) };
    }
    case 'ask': {
      const { id, expiresAtMs, stepSha256 } = outcome.approval;
      const approval = {
        id: String(id),
        expires_at: new Date(expiresAtMs).toISOString(),
        step_sha256: stepSha256,
      };
      return { ...denial(REASONS.ask, outcome.message), approval, ...evidenceOf(outcome.verdict) };
    }
    case 'deny': {
      const reason = outcome.retryAfterSeconds === null ? REASONS.deny : 'limit_reached';
      return { ...denial(reason, outcome.message), ...evidenceOf(outcome.verdict) };
    }
    case 'steer':
      return { ...denial(REASONS.steer, outcome.message), ...evidenceOf(outcome.verdict) };
    default:
      return denial(REASONS[outcome.kind], outcome.message);
  }
}

function allowed(warnings: readonly JsonObject[]): JsonObject {
  return { decision: 'allow', ...(warnings.length === 0 ? {} : { warnings: [...warnings] }) };
}

function denial(reason: string, message: string): JsonObject {
  return { decision: 'deny', reason, message };
}

/** What controls that only observe have found. */
function warningsOf(verdict: RevisedVerdict | null): JsonObject[] {
  const observed = (verdict?.matches ?? []).filter(({ action }) => action === 'observe');
  return observed.slice(0, MAX_WARNINGS).map(({ control_name }) => ({
    reason: 'observed',
    message: `The control "${control_name}" matches.`,
  }));
}

/** The decision, which the audit of the service has. Far below the 10,240 bytes that hosts take. */
function evidenceOf({ decision_id }: RevisedVerdict): JsonObject {
  return { evidence: { artefact: `decision:${String(decision_id)}` } };
}
