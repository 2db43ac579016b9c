import { setTimeout as sleep } from 'node:timers/promises';
import type { LateDatabase } from '../database/late-database.js';
import type { Attempt, DatabaseProblem } from './opening.js';

/** Pauses between attempts to open the database, in milliseconds: the first one, and the longest. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 4_000;

/** Opens a database that could not be used at the start. */
export interface DatabaseWait {
  /** Why it is not used at present; null once it is. */
  readonly problem: DatabaseProblem | null;
  /**
   * Tries until it succeeds. `onOpened` is told then whether the database is another one than the one that was
   * expected; what is asked of it from now on is answered.
   */
  start(onOpened: (isAnother: boolean) => void): void;
  /** Resolves when nothing is tried any more. */
  stop(): Promise<void>;
}

export interface DatabaseWaitOptions {
  readonly attempt: () => Promise<Attempt>;
  readonly late: LateDatabase;
  /** Why the first attempt failed. */
  readonly problem: DatabaseProblem;
  /** The id of the database that is expected, if one is. */
  readonly expected: string | null;
  readonly log: Record<'info' | 'error', (facts: object, message: string) => void>;
}

export function waitForDatabase(options: DatabaseWaitOptions): DatabaseWait {
  const { attempt, late, expected, log } = options;
  const stopping = new AbortController();
  let problem: DatabaseProblem | null = options.problem;
  let said = '';
  let running: Promise<void> | undefined;

  function say(text: string, facts: object): void {
    if (text === said) return;
    said = text;
    log.error(facts, text);
  }

  /** One attempt; false when there has to be another one. */
  async function opened(onOpened: (isAnother: boolean) => void): Promise<boolean> {
    const outcome = await attempt();
    if (outcome.problem !== null) {
      const isNews = outcome.problem.state !== problem?.state;
      problem = outcome.problem;
      if (isNews) say(problem.explanation, { database: problem.state });
      return false;
    }
    const { database } = outcome;
    if (stopping.signal.aborted) {
      await database.close();
      return true;
    }
    problem = null;
    late.attach(database);
    onOpened(expected !== null && database.instanceId !== expected);
    return true;
  }

  async function run(onOpened: (isAnother: boolean) => void): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      // Random, so that the processes of a fleet do not all come at the same moment.
      await sleep(pauseMs * (0.5 + Math.random() / 2), undefined, { ref: false, signal: stopping.signal });
      try {
        if (await opened(onOpened)) return;
      } catch (error) {
        say(`the database cannot be used: ${(error as Error).message}`, { err: error });
      }
    }
  }

  return {
    get problem() {
      return problem;
    },
    start(onOpened) {
      // Stopping ends a pause with an error.
      running ??= run(onOpened).catch(() => {});
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
