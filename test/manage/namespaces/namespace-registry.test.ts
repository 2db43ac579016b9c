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
  const known = new NamespaceRegistry({
    read: () => new Promise((resolve, reject) => readings.push({ resolve, reject })),
    onFailure: () => {},
    now: () => 0,
  });
  return { known, readings };
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
});
