import { describe, expect, it } from 'vitest';
import { namespaceNamed } from '../../../src/contract/call/namespace.js';
import { type KnownNamespace, NamespaceRegistry } from '../../../src/manage/namespaces/namespace-registry.js';
import { anyChange, recordedChange } from '../../../src/storage/database/change-log.js';

const named = (...names: string[]): KnownNamespace[] =>
  names.map((name) => ({ name, displayName: `The ${name}` }));
const ACCESS = [recordedChange(1, { access: true })];

interface Reading {
  resolve(found: readonly KnownNamespace[]): void;
  reject(error: Error): void;
}

/** A registry over a reading that the test answers. */
function registry() {
  const readings: Reading[] = [];
  const failures: unknown[] = [];
  const known = new NamespaceRegistry({
    read: () => new Promise((resolve, reject) => readings.push({ resolve, reject })),
    onFailure: (error) => failures.push(error),
  });
  return { known, readings, failures };
}

describe('the known namespaces', () => {
  it('are only the default one until they are read', async () => {
    const { known, readings } = registry();
    expect(known.names()).toEqual(['default']);
    const loaded = known.load();
    expect(known.known('team-a')).toBe(false);
    readings[0]?.resolve(named('team-b', 'team-a', 'zeta'));
    await loaded;
    expect(known.names()).toEqual(['default', 'team-a', 'team-b', 'zeta']);
    expect(known.displayName('team-a')).toBe('The team-a');
    expect(known.displayName('default')).toBe('default');
    expect(known.displayName('missing')).toBe('missing');
    expect(known.known('missing')).toBe(false);
  });

  it('are those that were kept, until the database answers', async () => {
    const { known, readings } = registry();
    known.restore(named('team-a'));
    expect(known.known('team-a')).toBe(true);
    const copy = registry().known;
    copy.restore(known.state());
    expect(copy.names()).toEqual(['default', 'team-a']);
    known.changed([anyChange(7)]);
    readings[0]?.resolve([]);
    await expect.poll(() => known.names()).toEqual(['default']);
  });

  it('are read again after a change of access, and after no other', () => {
    const { known, readings } = registry();
    known.changed([
      recordedChange(1, { agents: [namespaceNamed('team-a').agentKey('the-agent-1')] }),
      recordedChange(2, { controls: [1] }),
    ]);
    expect(readings).toHaveLength(0);
    known.changed(ACCESS);
    expect(readings).toHaveLength(1);
  });

  it('are read once more when they change while they are read', async () => {
    const { known, readings } = registry();
    const first = known.load();
    known.changed(ACCESS);
    const second = known.load();
    expect(readings).toHaveLength(1);
    readings[0]?.resolve(named('team-a'));
    await expect.poll(() => readings.length).toBe(2);
    readings[1]?.resolve(named('team-b'));
    await Promise.all([first, second]);
    expect(known.names()).toEqual(['default', 'team-b']);
    expect(readings).toHaveLength(2);
  });

  it('stay while they cannot be read, and are read when the database answers', async () => {
    const { known, readings, failures } = registry();
    known.restore(named('team-a'));
    known.changed(ACCESS);
    readings[0]?.reject(new Error('no answer'));
    await expect.poll(() => failures.length).toBe(1);
    expect(known.known('team-a')).toBe(true);
    known.catchUp();
    readings[1]?.resolve([]);
    await expect.poll(() => known.known('team-a')).toBe(false);
    known.catchUp();
    expect(readings).toHaveLength(2);
  });

  it('tell what listens of every reading', async () => {
    const { known, readings } = registry();
    const seen: boolean[] = [];
    known.onChange(() => seen.push(known.known('team-a')));
    known.restore(named('team-a'));
    known.startOver();
    readings[0]?.resolve([]);
    await expect.poll(() => seen).toEqual([true, false]);
  });
});
