import { setTimeout as sleep } from 'node:timers/promises';
import type { FactsLog } from '../../contract/runtime/repeat-log.js';
import { originOfService } from '../../storage/database/audit-log.js';
import type { Database } from '../../storage/database/database.js';
import type { LateDatabase } from '../../storage/database/late-database.js';
import type { Attempt, DatabaseProblem } from './opening.js';

/** Pauses between attempts to open the database, in milliseconds: the first and the longest. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 4_000;

/** Opens a database that could not be used at the start. */
export interface DatabaseWait {
  /** Why it is not in use; null once it is. */
  readonly problem: DatabaseProblem | null;
  /**
   * Retries until it succeeds. Then calls `onOpened` with whether the database is another one than expected,
   * or was restored to an earlier state; from then on queries are answered.
   */
  start(onOpened: (hasOtherState: boolean) => void): void;
  /** Resolves when retrying has stopped. */
  stop(): Promise<void>;
}

export interface DatabaseWaitOptions {
  readonly attempt: () => Promise<Attempt>;
  readonly late: LateDatabase;
  /** Why the first attempt failed. */
  readonly problem: DatabaseProblem;
  /** The expected database, with the revision that callers may have been told; null if unknown. */
  readonly expected: { readonly instanceId: string; readonly revision: number } | null;
  readonly log: FactsLog<'info' | 'error'>;
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

  /** Makes one attempt; returns false if another one is needed. */
  async function opened(onOpened: (hasOtherState: boolean) => void): Promise<boolean> {
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
    let hasOtherState: boolean;
    try {
      hasOtherState = expected !== null && (await outrunOther(database, expected));
    } catch (error) {
      await database.close();
      throw error;
    }
    problem = null;
    late.attach(database);
    onOpened(hasOtherState);
    return true;
  }

  async function run(onOpened: (hasOtherState: boolean) => void): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      // Randomised, so that the processes of a fleet do not all connect at the same moment.
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

/**
 * Returns whether a database is not the expected one, or was restored to an earlier state. Its revision is then
 * moved past the one that callers were told, before anything can be stored in it: no revision may have two
 * meanings.
 */
async function outrunOther(
  database: Pick<Database, 'instanceId' | 'revision' | 'outrun'>,
  expected: NonNullable<DatabaseWaitOptions['expected']>,
): Promise<boolean> {
  const isAnother = database.instanceId !== expected.instanceId;
  if (!isAnother && (await database.revision()) >= expected.revision) return false;
  await database.outrun(expected.revision, originOfService(Date.now()));
  return true;
}
