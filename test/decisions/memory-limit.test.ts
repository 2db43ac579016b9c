import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ControlProgram, SizedPart } from '../../src/core/types.js';
import { MemoryLedger } from '../../src/decisions/memory-ledger.js';
import { Snapshot } from '../../src/decisions/snapshot.js';

function aProgram(sizeBytes: number, sharedParts: readonly SizedPart[] = []): ControlProgram {
  return {
    controlIds: [],
    sizeBytes,
    sharedParts,
    evaluate: () => {
      throw new Error('not evaluated here');
    },
  };
}

/** A snapshot of 1,000 bytes over agents that have the programs of `sizes`. */
function aSnapshot(programs: Map<string, ControlProgram>) {
  const loads: string[] = [];
  let latest = 0;
  const revision = () => latest;
  const changed = (agentName: string): void => {
    latest += 1;
    snapshot.changedHere({ revision: latest, agents: [agentName], controls: [] });
  };
  const snapshot = new Snapshot({
    load: async (agentName) => {
      loads.push(agentName);
      return { revision: revision(), program: programs.get(agentName) ?? null };
    },
    maxAgents: 100,
    maxBytes: 1_000,
    now: () => 0,
  });
  return { snapshot, loads, changed };
}

const isLoaded = (snapshot: Snapshot, agentName: string) =>
  !(snapshot.programOf(agentName) instanceof Promise);

describe('the memory of loaded agents', () => {
  it('is made free by agents not asked for lately, which are loaded again on demand', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const { snapshot, loads } = aSnapshot(new Map(names.map((name) => [name, aProgram(300)])));
    for (const name of names) await snapshot.programOf(name);
    expect(snapshot.size).toBe(3);
    expect(isLoaded(snapshot, 'd')).toBe(true);
    expect(loads).toEqual(names);
    await snapshot.programOf('a');
    expect(loads).toEqual([...names, 'a']);
  });

  it('counts a part that agents share once', async () => {
    const shared = { sizeBytes: 900 };
    const names = ['a', 'b', 'c', 'd'];
    const { snapshot } = aSnapshot(new Map(names.map((name) => [name, aProgram(20, [shared])])));
    for (const name of names) await snapshot.programOf(name);
    expect(snapshot.size).toBe(4);
  });

  it('never keeps out the agent asked for, however large it is', async () => {
    const { snapshot, loads } = aSnapshot(
      new Map([
        ['small', aProgram(10)],
        ['large', aProgram(5_000)],
      ]),
    );
    await snapshot.programOf('small');
    await snapshot.programOf('large');
    expect(snapshot.size).toBe(1);
    expect(isLoaded(snapshot, 'large')).toBe(true);
    expect(loads).toEqual(['small', 'large']);
  });

  it('is made free when a loaded agent grows', async () => {
    const programs = new Map([
      ['a', aProgram(300)],
      ['b', aProgram(300)],
    ]);
    const { snapshot, changed } = aSnapshot(programs);
    await snapshot.programOf('a');
    await snapshot.programOf('b');
    programs.set('b', aProgram(900));
    changed('b');
    await snapshot.programOf('b');
    expect(snapshot.size).toBe(1);
    expect(isLoaded(snapshot, 'b')).toBe(true);
  });

  it('is free again when an agent is gone', async () => {
    const programs = new Map([
      ['a', aProgram(800)],
      ['b', aProgram(900)],
    ]);
    const { snapshot, changed } = aSnapshot(programs);
    await snapshot.programOf('a');
    programs.delete('a');
    changed('a');
    await expect(Promise.resolve(snapshot.programOf('a'))).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
    await snapshot.programOf('b');
    expect(isLoaded(snapshot, 'b')).toBe(true);
    expect(snapshot.size).toBe(1);
  });
});

describe('a memory ledger', () => {
  it('says what the programs take that are in it, whatever came and went before', () => {
    const parts = Array.from({ length: 6 }, (_, index): SizedPart => ({ sizeBytes: 10 ** index }));
    const program = fc
      .record({ size: fc.nat(100), parts: fc.subarray(parts) })
      .map(({ size, parts: some }) => aProgram(size, some));
    fc.assert(
      fc.property(fc.array(fc.tuple(program, fc.boolean())), (programs) => {
        const ledger = new MemoryLedger();
        for (const [one] of programs) ledger.add(one);
        for (const [one, stays] of programs) if (!stays) ledger.remove(one);
        const left = programs.flatMap(([one, stays]) => (stays ? [one] : []));
        const shared = new Set(left.flatMap(({ sharedParts }) => sharedParts));
        const own = left.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
        expect(ledger.bytes).toBe([...shared].reduce((sum, { sizeBytes }) => sum + sizeBytes, own));
      }),
    );
  });
});
