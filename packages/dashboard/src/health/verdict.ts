import type { Problem } from '@gen/enforcement/v1/server_service_pb.js';
import { ProblemSeverity } from '@gen/enforcement/v1/server_service_pb.js';
import { type KnownServer, type ServerProblem, serverProblems } from './server-problems.js';

/** How all of it works, in one word. */
export type VerdictWord = 'checking' | 'working' | 'attention' | 'unreachable';

export const VERDICT_TEXTS: Readonly<Record<VerdictWord, string>> = {
  checking: 'Checking',
  working: 'Working',
  attention: 'Needs attention',
  unreachable: 'Unreachable',
};

/** What a problem is about. */
export interface Subject {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  readonly detail?: string | undefined;
}

/** Something that needs attention, as it is shown. */
export interface ShownProblem extends ServerProblem {
  /** Number of subjects. */
  readonly count: number;
  readonly subjects: readonly Subject[];
}

export interface Verdict {
  readonly word: VerdictWord;
  /** The worst first. */
  readonly problems: readonly ShownProblem[];
}

/** The reply of ListProblems: undefined before it is there, null if the caller may not ask for it. */
export type ListedProblems = readonly ListedProblem[] | undefined | null;
export type ListedProblem = Pick<Problem, 'kind' | 'severity' | 'title' | 'detail' | 'count' | 'subjects'>;

const RANKS: Readonly<Record<ShownProblem['severity'], number>> = {
  unreachable: 0,
  critical: 1,
  warning: 2,
  notice: 3,
};

/**
 * The verdict on the service. What the state of the process tells comes first, because it is asked for every few seconds
 * and known without the database; all else is listed by the server.
 */
export function verdictOf(known: KnownServer, listed: ListedProblems): Verdict {
  const own = serverProblems(known).map((problem) => ({ ...problem, count: 0, subjects: [] }));
  if (known.isUnreachable) return { word: 'unreachable', problems: own };
  const kinds = new Set(own.map(({ kind }) => kind));
  const others = (listed ?? []).filter(({ kind }) => !kinds.has(kind)).map(shown);
  const problems = [...own, ...others].sort((a, b) => RANKS[a.severity] - RANKS[b.severity]);
  if (problems.some(({ severity }) => severity !== 'notice')) return { word: 'attention', problems };
  const isKnown = known.isServing !== undefined && known.state !== undefined && listed !== undefined;
  return { word: isKnown ? 'working' : 'checking', problems };
}

function shown({ kind, severity, title, detail, count, subjects }: ListedProblem): ShownProblem {
  return { kind, severity: SEVERITIES[severity], title: title.replace(/\.$/, ''), detail, count, subjects };
}

const SEVERITIES: Readonly<Record<ProblemSeverity, ShownProblem['severity']>> = {
  // A severity of a later version is one that this page cannot play down.
  [ProblemSeverity.UNSPECIFIED]: 'warning',
  [ProblemSeverity.NOTICE]: 'notice',
  [ProblemSeverity.WARNING]: 'warning',
  [ProblemSeverity.CRITICAL]: 'critical',
};
