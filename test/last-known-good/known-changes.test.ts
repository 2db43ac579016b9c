import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KnownChanges } from '../../src/last-known-good/known-changes.js';

const name: fc.Arbitrary<string> = fc.constantFrom('agent-a', 'agent-b', 'agent-c');
const id = fc.integer({ min: 1, max: 4 });
const step = fc.oneof(
  fc.record({
    kind: fc.constant('changed' as const),
    agents: fc.oneof({ weight: 8, arbitrary: fc.uniqueArray(name) }, fc.constant('any' as const)),
    controls: fc.uniqueArray(id),
  }),
  fc.record({ kind: fc.constant('used' as const), agent: name, ahead: fc.nat({ max: 3 }) }),
);

describe('what is known of changes', () => {
  it('demands of a state just what came last for the agent and the controls that it has', () => {
    fc.assert(
      fc.property(fc.nat({ max: 50 }), fc.array(step), fc.uniqueArray(id), (start, steps, controls) => {
        const changes = new KnownChanges();
        changes.startedAt(start);
        let revision = start;
        const latest = new Map<string, number>(['agent-a', 'agent-b', 'agent-c'].map((one) => [one, start]));
        const raise = (agent: string, to: number) => latest.set(agent, Math.max(to, latest.get(agent) ?? 0));
        for (const one of steps) {
          if (one.kind === 'used') {
            changes.used(one.agent, revision + one.ahead);
            raise(one.agent, revision + one.ahead);
            continue;
          }
          revision += 1;
          changes.changed([{ revision, agents: one.agents, controls: one.controls }]);
          const isEveryones = one.agents === 'any' || one.controls.some((each) => controls.includes(each));
          for (const agent of latest.keys()) {
            if (isEveryones || one.agents.includes(agent)) raise(agent, revision);
          }
        }
        for (const [agent, needed] of latest) {
          expect(changes.neededFor(agent, controls)).toBe(needed);
        }
      }),
    );
  });

  it('lets no state be used before the process knows where it began', () => {
    const changes = new KnownChanges();
    changes.changed([{ revision: 3, agents: ['agent-a'], controls: [] }]);
    expect(changes.neededFor('agent-a', [])).toBe(Number.POSITIVE_INFINITY);
    changes.startedAt(7);
    expect(changes.neededFor('agent-a', [])).toBe(7);
  });

  it('takes no state from before the database was restored', () => {
    const changes = new KnownChanges();
    changes.startedAt(7);
    changes.startOver(9);
    expect(changes.neededFor('agent-a', [])).toBe(10);
  });

  it('keeps a bounded number of names, and forgets none of what they demand', () => {
    const changes = new KnownChanges();
    changes.startedAt(0);
    for (let revision = 1; revision <= 25_000; revision += 1) {
      changes.changed([{ revision, agents: [`agent-${revision}`], controls: [revision] }]);
    }
    for (const revision of [1, 9_999, 20_001, 25_000]) {
      expect(changes.neededFor(`agent-${revision}`, [])).toBeGreaterThanOrEqual(revision);
      expect(changes.neededFor('another', [revision])).toBeGreaterThanOrEqual(revision);
    }
    expect(changes.neededFor('another', [])).toBeLessThan(25_000);
  });
});
