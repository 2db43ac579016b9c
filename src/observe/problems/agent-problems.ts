import { isoOfSeconds } from '../../contract/call/printed.js';
import { counted, durationText, ofSubjects, type Problem, type ProblemSubject } from './problem.js';
import type { AgentCounts, OverdueAgent } from './problem-store.js';

/** Fewest evaluations of which all are denied, and fewest denials of a spike: less can be chance. */
const MIN_EVALUATIONS = 20;
/** Share of evaluations denied by errors from which on an agent cannot work. */
const CRITICAL_SHARE = 0.5;
/** How many times the share of the day before the share of a spike is. */
const SPIKE_FACTOR = 3;
/** Fewest evaluations of the day before: a share of less is not known. */
const MIN_BEFORE = 100;

/** What is known of agents. */
export interface AgentFacts {
  /** Those with a denial in the last 15 minutes, those with the most evaluations first. */
  readonly denied: readonly AgentCounts[];
  readonly uncontrolled: { readonly names: readonly string[]; readonly count: number };
  /** Whether steps of agents without controls are denied, as the service is set. */
  readonly emptyDenies: boolean;
  /** Those that are not heard as expected of them, those that are so for the longest time first. */
  readonly overdue: readonly OverdueAgent[];
  readonly silent: readonly { readonly agentName: string; readonly lastEvaluatedS: number }[];
  /** Seconds since 1970. */
  readonly nowS: number;
}

/** The problems of agents; of one whose steps are denied, only the first one that applies. */
export function agentProblems(facts: AgentFacts): Problem[] {
  const groups = { broken: [], failing: [], full: [], spiking: [] } as Record<DenialGroup, AgentCounts[]>;
  for (const counts of facts.denied) {
    const group = groupOf(counts);
    if (group !== null) groups[group].push(counts);
  }
  return [
    ...ofSubjects('agent_denied_by_error', 'critical', groups.broken.map(byError), BY_ERROR, BY_ERROR_ADVICE),
    ...ofSubjects('agent_denied_by_error', 'warning', groups.failing.map(byError), BY_ERROR, BY_ERROR_ADVICE),
    ...ofSubjects('agent_denied_fully', 'warning', groups.full.map(fully), FULLY, FULLY_ADVICE),
    ...ofSubjects('denial_spike', 'warning', groups.spiking.map(spike), SPIKE, SPIKE_ADVICE),
    ...uncontrolledProblems(facts),
    ...ofSubjects('agents_overdue', 'warning', facts.overdue.map(overdue), OVERDUE, OVERDUE_ADVICE),
    ...ofSubjects(
      'agents_silent',
      'notice',
      facts.silent.map(({ agentName, lastEvaluatedS }) => ({
        ...agent(agentName),
        detail: `last evaluated ${durationText(facts.nowS - lastEvaluatedS)} ago`,
      })),
      SILENT,
      'It was evaluated on at least 3 days of its last week, and not for more than 24 hours. If it still runs, its steps pass by the service.',
    ),
  ];
}

type DenialGroup = 'broken' | 'failing' | 'full' | 'spiking';

/** What is wrong with the denials of an agent; null for nothing. */
export function groupOf(counts: AgentCounts): DenialGroup | null {
  const { evaluated, denied, deniedByError, evaluatedBefore, deniedBefore } = counts;
  if (deniedByError >= CRITICAL_SHARE * evaluated && deniedByError > 0) return 'broken';
  if (denied === evaluated && evaluated >= MIN_EVALUATIONS) return 'full';
  if (deniedByError > 0) return 'failing';
  const isKnown = evaluatedBefore >= MIN_BEFORE && denied >= MIN_EVALUATIONS;
  return isKnown && denied * evaluatedBefore >= SPIKE_FACTOR * deniedBefore * evaluated ? 'spiking' : null;
}

const agent = (name: string): ProblemSubject => ({ type: 'agent', id: name, name });
const number = (count: number): string => count.toLocaleString('en');
const ofAll = ({ denied, evaluated }: AgentCounts): string =>
  `${number(denied)} of ${number(evaluated)} denied`;

function byError(counts: AgentCounts): ProblemSubject {
  const { denied, deniedByError } = counts;
  const errors = denied === deniedByError ? 'all' : number(deniedByError);
  return { ...agent(counts.agentName), detail: `${ofAll(counts)}, ${errors} by error` };
}

function fully(counts: AgentCounts): ProblemSubject {
  const { deniedByError } = counts;
  const errors = deniedByError === 0 ? '' : `, ${number(deniedByError)} by error`;
  return { ...agent(counts.agentName), detail: `${ofAll(counts)}${errors}` };
}

function spike(counts: AgentCounts): ProblemSubject {
  const share = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`;
  const { agentName, denied, evaluated, deniedBefore, evaluatedBefore } = counts;
  const before = share(deniedBefore, evaluatedBefore);
  return {
    ...agent(agentName),
    detail: `${ofAll(counts)}: ${share(denied, evaluated)}, and ${before} in the 24 hours before`,
  };
}

function overdue({ agentName, point, intervalS, lastSeenS }: OverdueAgent): ProblemSubject {
  const at = point === '' ? '' : ` at ${point}`;
  const last = lastSeenS === null ? 'never heard' : `last heard at ${isoOfSeconds(lastSeenS)}`;
  return { ...agent(agentName), detail: `expected every ${durationText(intervalS)}${at}, ${last}` };
}

function uncontrolledProblems({ uncontrolled: { names, count }, emptyDenies }: AgentFacts): Problem[] {
  return ofSubjects(
    'agents_without_controls',
    'warning',
    names.map(agent),
    {
      one: (name) => `Agent "${name}" has no enabled control`,
      many: (several) => `${counted(several, 'agent')} have no enabled control`,
    },
    emptyDenies
      ? 'The service runs with SERVICE_AGENTS_WITHOUT_CONTROLS=deny, so that each of its steps is denied. Link a control or a policy.'
      : 'Each of its steps is allowed. Link a control or a policy, or set SERVICE_AGENTS_WITHOUT_CONTROLS=deny.',
    count,
  );
}

const BY_ERROR = {
  one: (name: string) => `Steps of agent "${name}" are denied by errors`,
  many: (count: number) => `Steps of ${counted(count, 'agent')} are denied by errors`,
};
const BY_ERROR_ADVICE =
  'No control matched: a control that denies could not be evaluated, and fails closed. See which control fails, and configure its evaluator, take it back to its version before, or switch it off.';
const FULLY = {
  one: (name: string) => `Every step of agent "${name}" is denied`,
  many: (count: number) => `Every step of ${counted(count, 'agent')} is denied`,
};
const FULLY_ADVICE =
  'All evaluations of the last 15 minutes, at least 20, were denied. If the agent does nothing wrong, a control that was changed or linked lately matches too much.';
const SPIKE = {
  one: (name: string) => `Steps of agent "${name}" are denied much more often than before`,
  many: (count: number) => `Steps of ${counted(count, 'agent')} are denied much more often than before`,
};
const SPIKE_ADVICE =
  'The denied share of the last 15 minutes is at least 3 times that of the 24 hours before, with at least 20 denials. Look at the latest denials, and at what changed: a control, or the agent.';
const OVERDUE = {
  one: (name: string) => `Agent "${name}" is not heard as expected`,
  many: (count: number) => `${counted(count, 'agent')} are not heard as expected`,
};
const OVERDUE_ADVICE =
  'None of its steps was evaluated for longer than is expected of it. If it still runs, its steps pass by the service: look at its hook or adapter. Otherwise change what is expected of it.';
const SILENT = {
  one: (name: string) => `Agent "${name}" has gone silent`,
  many: (count: number) => `${counted(count, 'agent')} have gone silent`,
};
