import { withTimeout } from '../../storage/database/in-time.js';
import { inOrder, type Problem } from './problem.js';

/** How long a list counts, in milliseconds: as often as a page asks for it. */
const FRESH_MS = 2_000;
/** How long a caller waits for the database, in milliseconds. */
const LIMIT_MS = 3_000;
/** How long the last answer of the database counts when the next one is late, in milliseconds. */
const KEPT_MS = 60_000;

/** The problems, and when they were determined, in milliseconds since 1970. */
export interface ListedProblems {
  readonly problems: readonly Problem[];
  readonly checkedAtMs: number;
}

export interface ProblemListOptions {
  /** What the process knows; `isMissed` if `stored` was not answered. Must not throw. */
  readonly known: (isMissed: boolean) => Problem[];
  /** What the database tells. */
  readonly stored: () => Promise<readonly Problem[]>;
  readonly onFailure: (error: unknown) => void;
  readonly now: () => number;
  readonly monotonic: () => number;
  readonly limitMs?: number;
}

/** A list that is determined at most every few seconds, once at a time, however many ask for it. */
export interface ProblemList {
  /** The list, at most some seconds old. Never rejects. */
  current(): Promise<ListedProblems>;
  /** The list as it was determined last, however old; undefined before the first one. */
  readonly last: ListedProblems | undefined;
}

export function createProblemList(options: ProblemListOptions): ProblemList {
  const { known, stored, onFailure, now, monotonic, limitMs = LIMIT_MS } = options;
  let last: ListedProblems | undefined;
  let determinedAtMs = Number.NEGATIVE_INFINITY;
  let determining: Promise<ListedProblems> | undefined;
  /** A question that the database did not answer in time is not asked again before it is. */
  let asked: Promise<readonly Problem[]> | undefined;
  let answer: { readonly problems: readonly Problem[]; readonly atMs: number } | undefined;

  function ask(): Promise<readonly Problem[]> {
    asked ??= stored()
      .then((problems) => {
        answer = { problems, atMs: monotonic() };
        return problems;
      })
      .finally(() => {
        asked = undefined;
      });
    return asked;
  }

  async function determine(): Promise<ListedProblems> {
    let isMissed = false;
    try {
      await withTimeout(ask(), limitMs);
    } catch (error) {
      isMissed = true;
      onFailure(error);
    }
    const isKept = answer !== undefined && monotonic() - answer.atMs < KEPT_MS;
    last = {
      problems: inOrder([...known(isMissed), ...(isKept ? (answer?.problems ?? []) : [])]),
      checkedAtMs: now(),
    };
    determinedAtMs = monotonic();
    return last;
  }

  return {
    current() {
      if (last !== undefined && monotonic() - determinedAtMs < FRESH_MS) return Promise.resolve(last);
      determining ??= determine().finally(() => {
        determining = undefined;
      });
      return determining;
    },
    get last() {
      return last;
    },
  };
}
