import type { MessageInitShape } from '@bufbuild/protobuf';
import { Decision, Stage } from '@gen/enforcement/v1/control_pb.js';
import { AppliesTo, type QueryEventsRequestSchema } from '@gen/enforcement/v1/observability_service_pb.js';
import { onlyValueOf, type QueryTerm, valuesOf } from '../ui/query-bar/query-member.js';
import { listRange, type Range } from '../ui/range/range.js';

type Request = MessageInitShape<typeof QueryEventsRequestSchema>;
/** What events are searched for, without the place in their list. */
export type EventFilter = Omit<
  Request,
  '$typeName' | 'limit' | 'offset' | 'cursor' | 'includeBuffered' | 'total'
>;

const DECISIONS: Readonly<Record<string, Decision>> = {
  deny: Decision.DENY,
  steer: Decision.STEER,
  observe: Decision.OBSERVE,
};
/** Outcomes that are matches, with the decision of the control. */
const MATCHES: Readonly<Record<string, Decision>> = {
  denied: Decision.DENY,
  steered: Decision.STEER,
  observed: Decision.OBSERVE,
};
const STAGES: Readonly<Record<string, Stage>> = { pre: Stage.PRE, post: Stage.POST };
const KINDS: Readonly<Record<string, AppliesTo>> = {
  tool_call: AppliesTo.TOOL_CALL,
  llm_call: AppliesTo.LLM_CALL,
};
/** Members that are texts, with the member of the request. */
const TEXTS = {
  agent: 'agentName',
  trace: 'traceId',
  span: 'spanId',
  session: 'sessionId',
  type: 'stepType',
  step: 'stepName',
  step_id: 'stepId',
  decision_id: 'decisionId',
  check: 'controlExecutionId',
} as const satisfies Record<string, keyof EventFilter>;
const REVISIONS = { min_revision: 'minRevision', max_revision: 'maxRevision' } as const;

/** The request for the terms of a query, all of which can be used together (see `eventProblem`), and a range. */
export function eventFilter(terms: readonly QueryTerm[], range: Range, nowMs = Date.now()): EventFilter {
  const filter: EventFilter = {};
  for (const [name, member] of Object.entries(TEXTS)) {
    const text = onlyValueOf(terms, name);
    if (text !== undefined) filter[member as (typeof TEXTS)[keyof typeof TEXTS]] = text;
  }
  for (const [name, member] of Object.entries(REVISIONS)) {
    const text = onlyValueOf(terms, name);
    if (text !== undefined) filter[member as 'minRevision' | 'maxRevision'] = BigInt(text);
  }
  const controlIds = valuesOf(terms, 'control').map(Number);
  const actions = valuesOf(terms, 'decision').flatMap((word) => DECISIONS[word] ?? []);
  const stage = STAGES[onlyValueOf(terms, 'stage') ?? ''];
  const kind = KINDS[onlyValueOf(terms, 'kind') ?? ''];
  const matched = onlyValueOf(terms, 'matched');
  const error = onlyValueOf(terms, 'error');
  if (controlIds.length > 0) filter.controlIds = controlIds;
  if (matched !== undefined) filter.matched = matched === 'true';
  if (error !== undefined) filter.hasError = error === 'true';
  if (actions.length > 0) filter.actions = actions;
  if (stage !== undefined) filter.checkStages = [stage];
  if (kind !== undefined) filter.appliesTo = [kind];
  return { ...filter, ...outcomeFilter(valuesOf(terms, 'outcome')), ...listRange(range, nowMs) };
}

/** Why the terms cannot be used together; undefined if they can. */
export function eventProblem(terms: readonly QueryTerm[]): string | undefined {
  const outcomes = valuesOf(terms, 'outcome');
  const alone = outcomes.find((outcome) => MATCHES[outcome] === undefined);
  if (alone !== undefined && outcomes.length > 1) {
    return `The outcome ${alone === 'error' ? 'error' : 'no match'} cannot be combined with others. Possible together are: denied, steered, observed.`;
  }
  const other = ['decision', 'matched', 'error'].find((name) => valuesOf(terms, name).length > 0);
  return outcomes.length > 0 && other !== undefined
    ? `An outcome and ${other} cannot be combined: an outcome says ${other} already.`
    : undefined;
}

/** Denied is what matched a control that denies, not every check of such a control. */
function outcomeFilter(outcomes: readonly string[]): EventFilter {
  const [first] = outcomes;
  if (first === undefined) return {};
  if (first === 'error') return { hasError: true };
  if (first === 'no-match') return { matched: false, hasError: false };
  return { matched: true, actions: outcomes.flatMap((outcome) => MATCHES[outcome] ?? []) };
}
