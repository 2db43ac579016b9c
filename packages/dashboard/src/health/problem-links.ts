import { agentAddress } from '../references/agent-address.js';
import type { ShownProblem, Subject } from './verdict.js';

/** Problems of controls whose remedy is in their definition. */
const IN_THE_DEFINITION: ReadonlySet<string> = new Set(['evaluator_not_configured', 'control_unreadable']);

/** Address of the page with the cause; undefined if no page shows it. */
export function subjectAddress(kind: string, { type, id, name }: Subject): string | undefined {
  if (type === 'agent') return agentAddress(id);
  if (type === 'key') return `/keys?name=${encodeURIComponent(name)}`;
  if (type === 'halt') return '/halts';
  if (type !== 'control') return undefined;
  return IN_THE_DEFINITION.has(kind) ? `/controls/${id}` : `/controls/${id}?tab=activity`;
}

/** Address of a list with all subjects of a problem; undefined if there is none. */
export function listAddress({ kind }: Pick<ShownProblem, 'kind'>): string | undefined {
  return LISTS[kind];
}

/** Those that were evaluated longest ago are first. */
const SILENT = '/agents?sort=-last_evaluated';

const LISTS: Readonly<Record<string, string>> = {
  agents_without_controls: '/agents?controls=none',
  agents_overdue: '/coverage?state=overdue',
  agents_silent: SILENT,
  agent_silent: SILENT,
  halted: '/halts',
};
