import { createClient } from '@connectrpc/connect';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import {
  type ControlExecutionEvent,
  ObservabilityService,
  TotalKind,
} from '@gen/enforcement/v1/observability_service_pb.js';
import { transport } from '../data/transport.js';
import { AGENT_MEMBER, CONTROL_MEMBER } from '../references/query-members.js';
import {
  onlyValueOf,
  type QueryMember,
  type QueryTerm,
  type QueryValue,
} from '../ui/query-bar/query-member.js';

const events = createClient(ObservabilityService, transport);
const agents = createClient(AgentService, transport);
/** Events of which types and names of steps are suggested. */
const LATEST = 200;
const MAX_REVISION_DIGITS = 15;

/** What happened at a check. The first three can be combined, the others stand alone. */
export const OUTCOMES: readonly QueryValue[] = [
  { value: 'denied', hint: 'matches of controls that deny' },
  { value: 'steered', hint: 'matches of controls that steer' },
  { value: 'observed', hint: 'matches of controls that observe' },
  { value: 'error', hint: 'checks that could not be completed' },
  { value: 'no-match', text: 'no match', hint: 'recorded only with SERVICE_OBSERVABILITY_RECORD=all' },
];
const YES_NO: readonly QueryValue[] = [
  { value: 'true', text: 'yes' },
  { value: 'false', text: 'no' },
];

const text = (name: string, hint: string): QueryMember => ({ name, hint });
const revision = (name: string, hint: string): QueryMember => ({
  name,
  hint,
  read: (typed) =>
    /^\d+$/.test(typed) && typed.length <= MAX_REVISION_DIGITS
      ? { value: typed }
      : { problem: `“${typed}” is no revision: it is a number, 0 or more.` },
});

/** Everything that events can be filtered by, the most usual first. */
export const EVENT_MEMBERS: readonly QueryMember[] = [
  { ...AGENT_MEMBER, hint: 'name of the agent' },
  CONTROL_MEMBER,
  {
    name: 'outcome',
    hint: 'what happened: denied, steered, observed, error, no match',
    isMultiple: true,
    values: OUTCOMES,
  },
  { name: 'step', hint: 'name of the step, for example of the tool', suggest: suggestSteps('name') },
  { name: 'type', hint: 'type of the step, for example tool or llm', suggest: suggestSteps('type') },
  {
    name: 'stage',
    hint: 'before or after the step',
    values: [
      { value: 'pre', hint: 'before the step' },
      { value: 'post', hint: 'after the step' },
    ],
  },
  text('trace', 'id of the trace'),
  text('session', 'id of the session'),
  {
    name: 'kind',
    hint: 'calls of tools or of models',
    values: [
      { value: 'tool_call', text: 'tool call' },
      { value: 'llm_call', text: 'model call' },
    ],
  },
  {
    name: 'decision',
    aliases: ['action'],
    hint: 'decision of the control, whether it matched or not',
    isMultiple: true,
    values: [{ value: 'deny' }, { value: 'steer' }, { value: 'observe' }],
  },
  { name: 'matched', hint: 'whether the control matched', values: YES_NO },
  { name: 'error', hint: 'whether the check ended in an error', values: YES_NO },
  text('span', 'id of the span'),
  text('step_id', 'id of the step'),
  text('decision_id', 'id of the verdict'),
  text('check', 'id of the event'),
  revision('min_revision', 'controls of this revision or a later one'),
  revision('max_revision', 'controls of this revision or an earlier one'),
];

/** Steps of the agent of the query; without one, those of the latest events. */
function suggestSteps(member: 'name' | 'type'): NonNullable<QueryMember['suggest']> {
  return async (part, terms, signal) => {
    const steps = await knownSteps(terms, signal);
    const typed = part.toLowerCase();
    const values = new Set(steps.map((step) => step[member] ?? ''));
    return [...values]
      .filter((value) => value !== '' && value.toLowerCase().includes(typed))
      .sort()
      .map((value) => ({ value }));
  };
}

interface KnownStep {
  readonly type?: string | undefined;
  readonly name?: string | undefined;
}

async function knownSteps(terms: readonly QueryTerm[], signal: AbortSignal): Promise<readonly KnownStep[]> {
  const agentName = onlyValueOf(terms, 'agent');
  if (agentName !== undefined) {
    const agent = await agents.getAgent({ agentName }, { signal }).catch(() => undefined);
    if (agent !== undefined && agent.steps.length > 0) return agent.steps;
  }
  const reply = await events.queryEvents(
    { limit: LATEST, total: TotalKind.NONE, ...(agentName === undefined ? {} : { agentName }) },
    { signal },
  );
  return reply.events.map(({ stepType, stepName }: ControlExecutionEvent) => ({
    type: stepType,
    name: stepName,
  }));
}
