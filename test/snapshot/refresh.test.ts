import { describe, expect, it } from 'vitest';
import type { ControlProgram, Verdict } from '../../src/evaluation/types.js';
import { RevisionWatch } from '../../src/snapshot/revision-watch.js';
import { Snapshot } from '../../src/snapshot/snapshot.js';
import { until } from '../support/until.js';

/** A program that can be told from others by its confidence. */
function aProgram(confidence: number): ControlProgram {
  const verdict: Verdict = {
    is_safe: true,
    confidence,
    reason: null,
    matches: [],
    errors: [],
    non_matches: [],
  };
  return { controlIds: [], sizeBytes: 0, sharedParts: [], evaluate: () => verdict };
}

describe('a change made elsewhere', () => {
  it('is loaded once the database can be read again, even if loading failed when it was noticed', async () => {
    let revision = 1;
    let broken = false;
    let loads = 0;
    const snapshot = new Snapshot({
      load: async () => {
        loads += 1;
        if (broken) throw new Error('the database went away');
        return aProgram(revision);
      },
      maxAgents: 10,
      maxBytes: 1_000_000,
      now: () => performance.now(),
    });
    const watch = new RevisionWatch({
      snapshot,
      readRevision: async () => revision,
      onDatabaseState: () => {},
    });
    await watch.start();
    watch.stop();
    const before = await snapshot.programOf('agent');

    revision = 2;
    broken = true;
    await watch.poll();
    await until(
      () => loads,
      (count) => count === 2,
    );
    // Until the change can be loaded the older program decides.
    expect(await snapshot.programOf('agent')).toBe(before);

    broken = false;
    await watch.poll();
    const after = await until(
      () => snapshot.programOf('agent'),
      (program) => program !== before,
      2_000,
    );
    expect(await after.evaluate({} as never, 'pre', 'full')).toMatchObject({ confidence: 2 });
    // Nothing is behind any more, so nothing is loaded without need.
    await watch.poll();
    expect(loads).toBe(3);
  });
});
