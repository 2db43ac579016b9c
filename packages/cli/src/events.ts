import type { JsonObject } from '../../exact-json/src/index.js';
import { cellOf, durationMs } from './listing.js';

/** Options that say which events are meant. */
export const EVENT_OPTIONS = {
  agent: { type: 'string', describe: 'Only events of this agent' },
  session: { type: 'string', describe: 'Only events of this session' },
  decision: {
    type: 'string',
    array: true,
    choices: ['deny', 'steer', 'observe'],
    describe: 'Only with these decisions',
  },
  matched: { type: 'boolean', describe: 'Only where the control matched' },
} as const;

export const SINCE = {
  since: { type: 'string', default: '24h', describe: 'How far back, for example 90m or 7d' },
} as const;

interface EventArgs {
  readonly agent?: string | undefined;
  readonly session?: string | undefined;
  readonly decision?: readonly ('deny' | 'steer' | 'observe')[] | undefined;
  readonly matched?: boolean | undefined;
}

/** The members of a query for events. */
export function eventQuery({ agent, session, decision, matched }: EventArgs, since?: string): JsonObject {
  return {
    ...(agent === undefined ? {} : { agent_name: agent }),
    ...(session === undefined ? {} : { session_id: session }),
    ...(decision === undefined ? {} : { actions: [...decision] }),
    ...(matched === undefined ? {} : { matched }),
    ...(since === undefined
      ? {}
      : { start_time: new Date(Date.now() - durationMs(since, 'since')).toISOString() }),
  };
}

export const EVENT_COLUMNS = [
  'timestamp',
  'agent_name',
  'step_name',
  'control_name',
  'action',
  'matched',
  'error_message',
];

/** An event as one line for people. */
export function eventLine(event: JsonObject): string {
  const [at, agent, step, control, action] = EVENT_COLUMNS.map((name) => cellOf(event[name]));
  const result =
    event.error_message == null
      ? event.matched === true
        ? action
        : 'no match'
      : `error: ${cellOf(event.error_message)}`;
  return `${at}  ${agent}  ${step}  ${control}  ${result}\n`;
}
