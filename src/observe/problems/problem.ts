/** How bad a problem is, as in the proto. */
export type ProblemSeverity = 'notice' | 'warning' | 'critical';

/** What a problem is about, as in the proto. */
export interface ProblemSubject {
  readonly type: 'agent' | 'control' | 'sink' | 'certificate' | 'key' | 'halt';
  readonly id: string;
  readonly name: string;
  readonly detail?: string;
}

/**
 * All kinds with the severities that each can have. A kind never changes its meaning once released: alerts are made of
 * them. Each has a row in docs/runbook.md.
 */
export const PROBLEM_KINDS = {
  cannot_evaluate: ['critical'],
  database_down: ['critical'],
  storage: ['critical'],
  last_known_good: ['warning'],
  controls_stale: ['warning'],
  unchecked: ['warning'],
  events_lost: ['warning'],
  events_waiting: ['warning'],
  events_off: ['notice'],
  evaluator_not_configured: ['critical', 'warning'],
  control_unreadable: ['critical', 'warning'],
  control_failing: ['warning'],
  agent_denied_by_error: ['critical', 'warning'],
  agent_denied_fully: ['warning'],
  denial_spike: ['warning'],
  agents_without_controls: ['warning'],
  agents_overdue: ['warning'],
  agents_silent: ['notice'],
  memory_down: ['critical'],
  memory_damaged: ['warning'],
  memory_full: ['warning'],
  memory_volatile: ['warning'],
  sink_failing: ['warning'],
  sink_behind: ['warning'],
  certificate_expiring: ['critical', 'warning'],
  key_expiring: ['warning'],
  issuer_unreachable: ['warning'],
  halted: ['notice'],
} as const satisfies Record<string, readonly ProblemSeverity[]>;

export type ProblemKind = keyof typeof PROBLEM_KINDS;

/** Something that needs attention. */
export interface Problem {
  readonly kind: ProblemKind;
  readonly severity: ProblemSeverity;
  /** One sentence without a full stop. */
  readonly title: string;
  readonly detail: string;
  /** Number of subjects; 0 if the problem is one of the service itself. */
  readonly count: number;
  /** The first of them. */
  readonly subjects: readonly ProblemSubject[];
}

/** Most subjects of a problem that are listed. */
export const MAX_SUBJECTS = 20;

/** A problem of the service itself. */
export function ofService(
  kind: ProblemKind,
  severity: ProblemSeverity,
  title: string,
  detail: string,
): Problem {
  return { kind, severity, title, detail, count: 0, subjects: [] };
}

/** What is said of the subjects of a problem: of the only one by its name, of several by their number. */
export interface SubjectTitles {
  one(name: string): string;
  many(count: number): string;
}

/** A problem of subjects, in their order; none if there are none. `count` is given if there are more than these. */
export function ofSubjects(
  kind: ProblemKind,
  severity: ProblemSeverity,
  subjects: readonly ProblemSubject[],
  titles: SubjectTitles,
  detail: string,
  count = subjects.length,
): Problem[] {
  const [first] = subjects;
  if (first === undefined) return [];
  const title = count === 1 ? titles.one(first.name) : titles.many(count);
  return [{ kind, severity, title, detail, count, subjects: subjects.slice(0, MAX_SUBJECTS) }];
}

const RANKS: Record<ProblemSeverity, number> = { critical: 0, warning: 1, notice: 2 };
const KINDS = Object.keys(PROBLEM_KINDS);

/** The worst first, then by kind, in the order of the list of kinds: causes before what follows from them. */
export function inOrder(problems: readonly Problem[]): Problem[] {
  const rank = ({ severity, kind }: Problem) => RANKS[severity] * KINDS.length + KINDS.indexOf(kind);
  return [...problems].sort((left, right) => rank(left) - rank(right));
}

/** A number of things in words, such as `1 agent` and `1,200 agents`. */
export function counted(count: number, thing: string): string {
  return `${count.toLocaleString('en')} ${thing}${count === 1 ? '' : 's'}`;
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** A length of time in its largest unit, for example `3 minutes`. */
export function durationText(seconds: number): string {
  if (seconds < 1) return 'less than a second';
  const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? ['second', 1];
  return counted(Math.floor(seconds / size), unit);
}
