import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import { OutcomeUnknownError } from '../../storage/database/errors.js';
import { KEPT_DIFFERENCES, SHADOW_COUNTS, type ShadowCounts, type ShadowDifference } from './shadow.js';
import type { ShadowNews } from './shadow-store.js';

/** How long counts wait to be written with others, in milliseconds. */
const WRITE_EVERY_MS = 1_000;

export interface ShadowTalliesOptions {
  /** Adds to what is stored. */
  readonly write: (news: readonly ShadowNews[]) => Promise<void>;
  readonly failures: Pick<RepeatLog, 'failed'>;
}

/** Counts what comes of shadows, and writes it at most once a second. Without anything to write, it does nothing. */
export interface ShadowTallies {
  count(shadowId: number, ...counts: readonly (keyof ShadowCounts)[]): void;
  differs(shadowId: number, difference: ShadowDifference): void;
  /** Writes what waits. Never rejects. */
  close(): Promise<void>;
}

interface Tally {
  readonly counts: ShadowCounts;
  differences: ShadowDifference[];
}

export function createShadowTallies({ write, failures }: ShadowTalliesOptions): ShadowTallies {
  let tallies = new Map<number, Tally>();
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();
  let isClosed = false;

  function tallyOf(shadowId: number): Tally {
    const known = tallies.get(shadowId);
    if (known !== undefined) return known;
    const begun = {
      counts: Object.fromEntries(SHADOW_COUNTS.map((name) => [name, 0])) as ShadowCounts,
      differences: [],
    };
    tallies.set(shadowId, begun);
    if (!isClosed) timer ??= setTimeout(() => void flush(), WRITE_EVERY_MS).unref();
    return begun;
  }

  function flush(): Promise<void> {
    timer = null;
    writing = writing.then(writeAll);
    return writing;
  }

  async function writeAll(): Promise<void> {
    if (tallies.size === 0) return;
    const taken = tallies;
    tallies = new Map();
    try {
      await write([...taken].map(([shadowId, tally]) => ({ shadowId, ...tally })));
    } catch (error) {
      failures.failed('shadows', 'the comparisons of shadows cannot be stored now', error);
      // They may be stored: a step that is not counted says less of a shadow than one that is counted twice.
      if (!(error instanceof OutcomeUnknownError)) giveBack(taken);
    }
  }

  function giveBack(taken: ReadonlyMap<number, Tally>): void {
    for (const [shadowId, { counts, differences }] of taken) {
      const tally = tallyOf(shadowId);
      for (const name of SHADOW_COUNTS) tally.counts[name] += counts[name];
      tally.differences = [...differences, ...tally.differences].slice(-KEPT_DIFFERENCES);
    }
  }

  return {
    count(shadowId, ...names) {
      const { counts } = tallyOf(shadowId);
      for (const name of names) counts[name] += 1;
    },
    differs(shadowId, difference) {
      const { differences } = tallyOf(shadowId);
      differences.push(difference);
      if (differences.length > KEPT_DIFFERENCES) differences.shift();
    },
    async close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      await flush();
    },
  };
}
