import type { MessageInitShape } from '@bufbuild/protobuf';
import { Decision, Stage } from '../../../../gen/proto/enforcement/v1/control_pb.js';
import type { QueryEventsRequestSchema } from '../../../../gen/proto/enforcement/v1/observability_service_pb.js';

type Options = readonly (readonly [string, string])[];

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
export const STAGE_OPTIONS: Options = [
  ['', 'any'],
  ['pre', 'pre'],
  ['post', 'post'],
];
export const SINCE_OPTIONS: Options = [
  ['', 'any time'],
  ['5', '5 minutes ago'],
  ['60', '1 hour ago'],
  ['1440', '1 day ago'],
  ['10080', '7 days ago'],
];

const ACTIONS: Readonly<Record<string, Decision>> = {
  deny: Decision.DENY,
  steer: Decision.STEER,
  observe: Decision.OBSERVE,
};
const STAGES: Readonly<Record<string, Stage>> = { pre: Stage.PRE, post: Stage.POST };
const MINUTE_MS = 60_000;

/** The request for the filters of an address. Filters that cannot be read are ignored. */
export function eventFilter(parameters: URLSearchParams): MessageInitShape<typeof QueryEventsRequestSchema> {
  const text = (name: string) => parameters.get(name)?.trim() ?? '';
  const action = ACTIONS[text('action')];
  const stage = STAGES[text('stage')];
  const control = Number(text('control'));
  const minutes = Number(text('since'));
  return {
    ...(text('agent') === '' ? {} : { agentName: text('agent') }),
    ...(text('trace') === '' ? {} : { traceId: text('trace') }),
    ...(text('session') === '' ? {} : { sessionId: text('session') }),
    ...(text('step') === '' ? {} : { stepName: text('step') }),
    ...(text('decision_id') === '' ? {} : { decisionId: text('decision_id') }),
    ...(text('control') === '' || !Number.isInteger(control) ? {} : { controlIds: [control] }),
    ...(text('matched') === '' ? {} : { matched: text('matched') === 'true' }),
    ...(action === undefined ? {} : { actions: [action] }),
    ...(stage === undefined ? {} : { checkStages: [stage] }),
    ...(minutes > 0 ? { startTime: startOf(minutes) } : {}),
  };
}

/** A time in whole minutes, so that the same request is made while a page is drawn again. */
function startOf(minutes: number): string {
  const now = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
  return new Date(now - minutes * MINUTE_MS).toISOString();
}
