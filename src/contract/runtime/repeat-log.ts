import { explanation } from './start-error.js';

/** How long repeated failures are counted before one line reports their number, in milliseconds. */
const INTERVAL_MS = 60_000;
/** Kinds of failures counted separately. Others are counted together, so that memory stays bounded. */
const MAX_KINDS = 500;
const OTHERS = 'others';
/** Longest reason, in UTF-16 code units. Driver messages may contain whole statements. */
const MAX_REASON_LENGTH = 400;

/** Logs events that may occur thousands of times a minute, such as failures in an outage, without repeats. */
export interface RepeatLog {
  /**
   * Logs a line: the first of its kind immediately, the number of later ones once per interval. `kind`
   * separates the counts, for example by route.
   */
  told(level: RepeatLevel, kind: string, message: string, facts: object): void;
  /** Logs a failure at level warn in the same way. The stack is logged at level debug, each time. */
  failed(kind: string, message: string, error: unknown, facts?: object): void;
  /** Logs the pending numbers and stops the timers. */
  close(): void;
}

export type RepeatLevel = 'info' | 'warn' | 'error';

/** The methods of a pino logger for some levels, called with facts and a message. */
export type FactsLog<Level extends 'debug' | RepeatLevel = 'debug' | RepeatLevel> = Record<
  Level,
  (facts: object, message: string) => void
>;

export interface RepeatLogOptions {
  readonly log: FactsLog;
  readonly intervalMs?: number;
}

interface Repetitions {
  count: number;
  /** Facts of the latest one. */
  facts: object;
  readonly level: RepeatLevel;
  readonly message: string;
  readonly timer: NodeJS.Timeout;
}

export function createRepeatLog({ log, intervalMs = INTERVAL_MS }: RepeatLogOptions): RepeatLog {
  const kinds = new Map<string, Repetitions>();

  function tell(kind: string): void {
    const known = kinds.get(kind);
    if (known === undefined) return;
    if (known.count === 0) {
      clearInterval(known.timer);
      kinds.delete(kind);
      return;
    }
    log[known.level]({ ...known.facts, repeated: known.count }, `${known.message} (repeated)`);
    known.count = 0;
  }

  function told(level: RepeatLevel, toldKind: string, message: string, facts: object): void {
    const kind = kinds.has(toldKind) || kinds.size < MAX_KINDS ? toldKind : OTHERS;
    const known = kinds.get(kind);
    if (known !== undefined) {
      known.count += 1;
      known.facts = facts;
      return;
    }
    log[level](facts, message);
    const timer = setInterval(() => tell(kind), intervalMs);
    timer.unref();
    kinds.set(kind, { count: 0, facts, level, message, timer });
  }

  return {
    told,
    failed(kind, message, error, facts = {}) {
      log.debug({ ...facts, err: error }, message);
      told('warn', kind, message, { ...facts, reason: reasonOf(error) });
    },
    close() {
      for (const [kind, { count, timer }] of kinds) {
        clearInterval(timer);
        if (count > 0) tell(kind);
      }
      kinds.clear();
    },
  };
}

/** The messages of an error and its causes in one line of bounded length. */
export function reasonOf(error: unknown): string {
  const text = explanation(error).replace(/\s+/g, ' ').trim();
  return text.length > MAX_REASON_LENGTH ? `${text.slice(0, MAX_REASON_LENGTH)}…` : text;
}
