import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KnownChanges } from '../../../src/app/last-known-good/known-changes.js';
import type { AgentKey } from '../../../src/contract/call/namespace.js';
import { key, target } from './support.js';

const NAMES = ['agent-a', 'agent-b', 'agent-c'].map(key);
const TARGETS = ['one', 'other'].map(target);
const name: fc.Arbitrary<AgentKey> = fc.constantFrom(...NAMES);
const id = fc.integer({ min: 1, max: 4 });
const ids = fc.uniqueArray(id);
const targets = fc.uniqueArray(fc.constantFrom(...TARGETS));
const step = fc.oneof(
  fc.record({
    kind: fc.constant('changed' as const),
    agents: fc.oneof({ weight: 8, arbitrary: fc.uniqueArray(name) }, fc.constant('any' as const)),
    controls: ids,
    policies: ids,
    targets,
  }),
  fc.record({
    kind: fc.constant('used' as const),
    agents: fc.uniqueArray(name),
    controls: ids,
    policies: ids,
    targets,
    ahead: fc.nat({ max: 3 }),
  }),
);

/** The minimum revision for an agent without links. */
const neededFor = (changes: KnownChanges, agentName: string, controlIds: readonly number[] = []) =>
  Math.max(
    changes.neededForLinks(key(agentName), null),
    changes.neededForControls({ policyIds: [], controlIds }, controlIds),
  );

describe('what is known of changes', () => {
  it('requires of a state just what came last for the agent, and for the controls and policies it has', () => {
    fc.assert(
      fc.property(fc.nat({ max: 50 }), fc.array(step), ids, ids, (start, steps, controlIds, policyIds) => {
        const changes = new KnownChanges();
        changes.startedAt(start);
        let revision = start;
        let forControls = start;
        const forLinks = new Map<AgentKey, number>(NAMES.map((one) => [one, start]));
        const forTargets = new Map(TARGETS.map((one) => [one, start]));
        for (const { kind, ...one } of steps) {
          if (kind === 'changed') revision += 1;
          const at = 'ahead' in one ? revision + one.ahead : revision;
          if ('ahead' in one) changes.used(one, at);
          else changes.changed([{ revision, access: false, ...one }]);
          const isAny = one.agents === 'any';
          const has =
            one.controls.some((each) => controlIds.includes(each)) ||
            one.policies.some((each) => policyIds.includes(each));
          if (isAny || has) forControls = Math.max(forControls, at);
          for (const [agent, needed] of forLinks) {
            if (isAny || one.agents.includes(agent)) forLinks.set(agent, Math.max(needed, at));
          }
          for (const [of, needed] of forTargets) {
            if (isAny || one.targets.includes(of)) forTargets.set(of, Math.max(needed, at));
          }
        }
        for (const [agent, needed] of forLinks) {
          expect(changes.neededForLinks(agent, null)).toBe(needed);
          for (const [of, neededFor] of forTargets) {
            expect(changes.neededForLinks(agent, of)).toBe(Math.max(needed, neededFor));
          }
        }
        expect(changes.neededForControls({ policyIds, controlIds: [] }, controlIds)).toBe(forControls);
      }),
    );
  });

  it('lets no state be used before it is known where the process began', () => {
    const changes = new KnownChanges();
    changes.changed([
      { revision: 3, agents: [key('agent-a')], controls: [], policies: [], targets: [], access: false },
    ]);
    expect(neededFor(changes, 'agent-a')).toBe(Number.POSITIVE_INFINITY);
    changes.startedAt(7);
    expect(neededFor(changes, 'agent-a')).toBe(7);
  });

  it('takes no state from before the database was restored', () => {
    const changes = new KnownChanges();
    changes.startedAt(7);
    changes.startOver(9);
    expect(neededFor(changes, 'agent-a')).toBe(10);
  });

  it('keeps a bounded number of names, and loses none of what they require', () => {
    const changes = new KnownChanges();
    changes.startedAt(0);
    for (let revision = 1; revision <= 25_000; revision += 1) {
      changes.changed([
        {
          revision,
          agents: [key(`agent-${revision}`)],
          controls: [revision],
          policies: [],
          targets: [],
          access: false,
        },
      ]);
    }
    for (const revision of [1, 9_999, 20_001, 25_000]) {
      expect(neededFor(changes, `agent-${revision}`)).toBeGreaterThanOrEqual(revision);
      expect(neededFor(changes, 'another', [revision])).toBeGreaterThanOrEqual(revision);
    }
    expect(neededFor(changes, 'another')).toBeLessThan(25_000);
  });
});
