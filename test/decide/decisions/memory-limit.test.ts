import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MemoryLedger } from '../../../src/decide/decisions/memory-ledger.js';
import { Snapshot } from '../../../src/decide/decisions/snapshot.js';
import { createStepSchemaLibrary } from '../../../src/decide/decisions/step-schema-library.js';
import type { ControlProgram, SizedPart } from '../../../src/kernel/core/types.js';
import { key } from './support.js';

function aProgram(sizeBytes: number, sharedParts: readonly SizedPart[] = []): ControlProgram {
  return {
    isEmpty: false,
    readsAgent: 'nothing',
    remembers: false,
    lifts: null,
    controlIds: [],
    sizeBytes,
    sharedParts,
    evaluate: () => {
      throw new Error('not evaluated here');
    },
  };
}

/** About what agents and their sets take besides programs, in bytes, is less than this. */
const OVERHEAD = 10_000;

/**
 * A snapshot of 1,000,000 bytes, and some for agents and sets, over agents that have these programs. Equal programs
 * are those of one set.
 */
function aSnapshot(programs: Map<string, ControlProgram>) {
  const loads: string[] = [];
  const distinct: ControlProgram[] = [];
  let latest = 0;
  const revision = () => latest;
  /** One control stands for a program. */
  const idOf = (program: ControlProgram): number => {
    if (!distinct.includes(program)) distinct.push(program);
    return distinct.indexOf(program);
  };
  const changed = (agentName: string): void => {
    latest += 1;
    snapshot.changedHere({
      revision: latest,
      agents: [key(agentName)],
      controls: [],
      policies: [],
      targets: [],
      access: false,
    });
  };
  const snapshot = new Snapshot({
    reader: {
      linksOf(agents) {
        loads.push(...agents.map(({ agent }) => agent));
        return agents.map(async ({ agent }) => {
          const program = programs.get(agent);
          const links = program === undefined ? null : { policyIds: [], controlIds: [idOf(program)] };
          return { revision: revision(), links, isBound: false, steps: { mode: null, schemas: null } };
        });
      },
      controlsOf: (sets) =>
        sets.map(async ({ links }) => ({
          revision: revision(),
          controls: links.controlIds.map((id) => ({ id, name: '', data: '' })),
        })),
      definitionsOf: async () => ({ revision: revision(), controls: [] }),
    },
    stepSchemas: createStepSchemaLibrary('warn'),
    builder: {
      build: async ([control]) => distinct[control?.id ?? -1] as ControlProgram,
      replace: async () => null,
    },
    maxAgents: 100,
    maxBytes: 1_000_000 + OVERHEAD,
    now: () => 0,
  });
  return { snapshot, loads, changed };
}

const isLoaded = (snapshot: Snapshot, agentName: string) =>
  !(snapshot.programOf(key(agentName)) instanceof Promise);

describe('the memory of loaded agents', () => {
  it('is made free by agents not requested lately, which are loaded again on demand', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const { snapshot, loads } = aSnapshot(new Map(names.map((name) => [name, aProgram(300_000)])));
    for (const name of names) await snapshot.programOf(key(name));
    expect(snapshot.size).toBe(3);
    expect(isLoaded(snapshot, 'd')).toBe(true);
    expect(loads).toEqual(names);
    await snapshot.programOf(key('a'));
    expect(loads).toEqual([...names, 'a']);
  });

  it('counts a part that agents share once', async () => {
    const shared = { sizeBytes: 900_000 };
    const names = ['a', 'b', 'c', 'd'];
    const { snapshot } = aSnapshot(new Map(names.map((name) => [name, aProgram(20_000, [shared])])));
    for (const name of names) await snapshot.programOf(key(name));
    expect(snapshot.size).toBe(4);
  });

  it('counts a program that agents share once, however many those are', async () => {
    const shared = aProgram(990_000);
    const names = Array.from({ length: 25 }, (_, index) => `agent-${index}`);
    const { snapshot } = aSnapshot(new Map(names.map((name) => [name, shared])));
    for (const name of names) await snapshot.programOf(key(name));
    expect(snapshot.size).toBe(25);
    expect(snapshot.sets).toBe(1);
  });

  it('never keeps out the agent requested, however large it is', async () => {
    const { snapshot, loads } = aSnapshot(
      new Map([
        ['small', aProgram(10_000)],
        ['large', aProgram(5_000_000)],
      ]),
    );
    await snapshot.programOf(key('small'));
    await snapshot.programOf(key('large'));
    expect(snapshot.size).toBe(1);
    expect(isLoaded(snapshot, 'large')).toBe(true);
    expect(loads).toEqual(['small', 'large']);
  });

  it('is made free when a loaded agent grows', async () => {
    const programs = new Map([
      ['a', aProgram(300_000)],
      ['b', aProgram(300_000)],
    ]);
    const { snapshot, changed } = aSnapshot(programs);
    await snapshot.programOf(key('a'));
    await snapshot.programOf(key('b'));
    programs.set('b', aProgram(900_000));
    changed('b');
    await snapshot.programOf(key('b'));
    expect(snapshot.size).toBe(1);
    expect(isLoaded(snapshot, 'b')).toBe(true);
  });

  it('is free again when an agent is gone', async () => {
    const programs = new Map([
      ['a', aProgram(800_000)],
      ['b', aProgram(900_000)],
    ]);
    const { snapshot, changed } = aSnapshot(programs);
    await snapshot.programOf(key('a'));
    programs.delete('a');
    changed('a');
    await expect(Promise.resolve(snapshot.programOf(key('a')))).rejects.toMatchObject({
      code: 'AGENT_NOT_FOUND',
    });
    await snapshot.programOf(key('b'));
    expect(isLoaded(snapshot, 'b')).toBe(true);
    expect(snapshot.size).toBe(1);
  });
});

describe('a memory ledger', () => {
  it('reports the size of the programs in it, whatever was added and removed before', () => {
    const parts = Array.from({ length: 6 }, (_, index): SizedPart => ({ sizeBytes: 10 ** index }));
    const known = Array.from({ length: 8 }, (_, index) =>
      aProgram(
        index * 7,
        parts.filter((_part, at) => ((index * 11) >> at) % 2 === 1),
      ),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...known), fc.boolean())), (programs) => {
        const ledger = new MemoryLedger();
        for (const [one] of programs) ledger.add(one);
        for (const [one, stays] of programs) if (!stays) ledger.remove(one);
        const left = new Set(programs.flatMap(([one, stays]) => (stays ? [one] : [])));
        const shared = new Set([...left].flatMap(({ sharedParts }) => sharedParts));
        const own = [...left].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
        expect(ledger.bytes).toBe([...shared].reduce((sum, { sizeBytes }) => sum + sizeBytes, own));
      }),
    );
  });
});
