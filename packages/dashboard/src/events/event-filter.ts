import type { MessageInitShape } from '@bufbuild/protobuf';
import { Decision, Stage } from '@gen/enforcement/v1/control_pb.js';
import { AppliesTo, type QueryEventsRequestSchema } from '@gen/enforcement/v1/observability_service_pb.js';
import { rangeMs, TIME_RANGES } from '../ui/time-range.js';

type Options = readonly (readonly [string, string])[];
type Request = MessageInitShape<typeof QueryEventsRequestSchema>;
/** What events are searched for, without the place in their list. */
export type EventFilter = Omit<
  Request,
  '$typeName' | 'limit' | 'offset' | 'cursor' | 'includeBuffered' | 'total'
>;

export const ACTION_OPTIONS: Options = [
  ['', 'any'],
  ['deny', 'deny'],
  ['steer', 'steer'],
  ['observe', 'observe'],
];
export const MATCH_OPTIONS: Options = [
  ['', 'any'],
  ['true', 'matches'],
  ['false', 'no matches'],
];
export const ERROR_OPTIONS: Options = [
  ['', 'any'],
  ['true', 'with an error'],
  ['false', 'without an error'],
];
export const STAGE_OPTIONS: Options = [
  ['', 'any'],
  ['pre', 'pre'],
  ['post', 'post'],
];
export const KIND_OPTIONS: Options = [
  ['', 'any'],
  ['tool_call', 'tool call'],
  ['llm_call', 'model call'],
];
/** Value of the range that is given by `from` and `to`. */
export const CUSTOM_RANGE = 'custom';
export const RANGE_OPTIONS: Options = [
  ['', 'any time'],
  ...TIME_RANGES.map(([range, text]) => [range, `last ${text}`] as const),
  [CUSTOM_RANGE, 'from … to …'],
];

const ACTIONS: Readonly<Record<string, Decision>> = {
  deny: Decision.DENY,
  steer: Decision.STEER,
  observe: Decision.OBSERVE,
};
const STAGES: Readonly<Record<string, Stage>> = { pre: Stage.PRE, post: Stage.POST };
const KINDS: Readonly<Record<string, AppliesTo>> = {
  tool_call: AppliesTo.TOOL_CALL,
  llm_call: AppliesTo.LLM_CALL,
};
/** Parameters of the address that are texts, with the member of the request. */
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
const MINUTE_MS = 60_000;
const LONGEST_CONTROL_ID = 10;

/** The request for the filters of an address. Filters that cannot be read are ignored. */
export function eventFilter(parameters: URLSearchParams, nowMs = Date.now()): EventFilter {
  const text = (name: string) => parameters.get(name)?.trim() ?? '';
  const filter: EventFilter = {};
  for (const [name, member] of Object.entries(TEXTS)) {
    if (text(name) !== '') filter[member as (typeof TEXTS)[keyof typeof TEXTS]] = text(name);
  }
  for (const [name, member] of Object.entries(REVISIONS)) {
    if (/^\d{1,15}$/.test(text(name))) filter[member as 'minRevision' | 'maxRevision'] = BigInt(text(name));
  }
  const action = ACTIONS[text('action')];
  const stage = STAGES[text('stage')];
  const kind = KINDS[text('kind')];
  const controlIds = text('control')
    .split(',')
    .map(readControlId)
    .filter((id) => id !== undefined);
  if (controlIds.length > 0) filter.controlIds = controlIds;
  if (text('matched') !== '') filter.matched = text('matched') === 'true';
  if (text('error') !== '') filter.hasError = text('error') === 'true';
  if (action !== undefined) filter.actions = [action];
  if (stage !== undefined) filter.checkStages = [stage];
  if (kind !== undefined) filter.appliesTo = [kind];
  return { ...filter, ...timeFilter(text, nowMs) };
}

function readControlId(text: string): number | undefined {
  const trimmed = text.trim();
  return /^-?\d+$/.test(trimmed) && trimmed.length <= LONGEST_CONTROL_ID ? Number(trimmed) : undefined;
}

function timeFilter(text: (name: string) => string, nowMs: number): EventFilter {
  if (text('range') === CUSTOM_RANGE) {
    return {
      ...(isTime(text('from')) ? { startTime: text('from') } : {}),
      ...(isTime(text('to')) ? { endTime: text('to') } : {}),
    };
  }
  // `since`, in minutes, is in addresses of earlier versions.
  const length = rangeMs(text('range')) ?? Number(text('since')) * MINUTE_MS;
  if (!(length > 0)) return {};
  // A time in whole minutes, so that the same request is made while a page is drawn again.
  const end = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  return { startTime: new Date(end - length).toISOString() };
}

function isTime(text: string): boolean {
  return !Number.isNaN(Date.parse(text));
}
