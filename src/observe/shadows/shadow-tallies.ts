import { createBatchWriter } from '../../contract/runtime/batch-writer.js';
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
  const writer = createBatchWriter({
    *take() {
      if (tallies.size === 0) return;
      const taken = tallies;
      tallies = new Map();
      yield [...taken].map(([shadowId, tally]) => ({ shadowId, ...tally }));
    },
    store: (news: readonly ShadowNews[]) => write(news).catch(unlessUnknown),
    failed,
    wakeMs: WRITE_EVERY_MS,
  });

  function failed(error: unknown): void {
    failures.failed('shadows', 'the comparisons of shadows cannot be stored now', error);
    writer.wake();
  }

  /** They may be stored: a step that is not counted says less of a shadow than one that is counted twice. */
  function unlessUnknown(error: unknown): void {
    if (!(error instanceof OutcomeUnknownError)) throw error;
    failed(error);
  }

  function tallyOf(shadowId: number): Tally {
    const known = tallies.get(shadowId);
    if (known !== undefined) return known;
    const begun = {
      counts: Object.fromEntries(SHADOW_COUNTS.map((name) => [name, 0])) as ShadowCounts,
      differences: [],
    };
    tallies.set(shadowId, begun);
    writer.wake();
    return begun;
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
    close: writer.close,
  };
}
