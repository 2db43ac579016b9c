import { describe, expect, it } from 'vitest';
import { DEFAULT_NAMESPACE, namespaceNamed } from '../../../src/contract/call/namespace.js';
import { type ActiveHalt, type HaltableStep, haltSentence } from '../../../src/decide/halts/halt.js';
import { HaltRegistry } from '../../../src/decide/halts/halt-registry.js';
import { recordedChange } from '../../../src/storage/database/change-log.js';

const halt = (id: number, more: Partial<ActiveHalt>): ActiveHalt => ({
  id,
  namespace: 'default',
  scope: 'namespace',
  agentName: null,
  sessionId: null,
  stepName: null,
  reason: 'why',
  expiresAtMs: null,
  ...more,
});
const step: HaltableStep = {
  namespace: DEFAULT_NAMESPACE,
  agentName: 'the-agent-1',
  sessionId: 'session-1',
  stepName: 'send_mail',
};
const ACCESS = [recordedChange(1, { access: true })];

interface Reading {
  resolve(found: readonly ActiveHalt[]): void;
  reject(error: Error): void;
}

/** A registry over readings that the test answers, with the clock of the test. */
function registry() {
  const readings: Reading[] = [];
  const failures: unknown[] = [];
  const clock = { ms: 1_000 };
  const halts = new HaltRegistry({
    read: () => new Promise((resolve, reject) => readings.push({ resolve, reject })),
    onFailure: (error) => failures.push(error),
    now: () => clock.ms,
  });
  return { halts, readings, failures, clock };
}

const SCOPES: readonly [Partial<ActiveHalt>, Partial<HaltableStep>, string][] = [
  [{ scope: 'agent', agentName: 'the-agent-1' }, { agentName: 'the-agent-2' }, 'agent "the-agent-1"'],
  [{ scope: 'namespace' }, { namespace: namespaceNamed('team-a') }, 'the namespace'],
  [
    { scope: 'session', agentName: 'the-agent-1', sessionId: 'session-1' },
    { sessionId: undefined },
    'session "session-1" of agent "the-agent-1"',
  ],
  [
    { scope: 'session', agentName: 'the-agent-1', sessionId: 'session-1' },
    { agentName: 'the-agent-2' },
    'session "session-1" of agent "the-agent-1"',
  ],
  [{ scope: 'step_name', stepName: 'send_mail' }, { stepName: 'Send_mail' }, 'step name "send_mail"'],
  [
    { scope: 'step_name', stepName: 'send_mail', agentName: 'the-agent-1' },
    { agentName: 'the-agent-2' },
    'step name "send_mail" of agent "the-agent-1"',
  ],
];

describe('the halts in force', () => {
  it.each(SCOPES)('deny what they are of, and nothing else: %o', (of, other, said) => {
    const { halts } = registry();
    expect([halts.isEmpty, halts.of(step)]).toEqual([true, null]);
    const only = halt(7, of);
    halts.restore([only]);
    expect(halts.isEmpty).toBe(false);
    expect(halts.of(step)).toEqual(only);
    expect(halts.of({ ...step, ...other })).toBeNull();
    expect(haltSentence(only)).toBe(`halt 7 of ${said}: why`);
  });

  it('of the installation deny the steps of all namespaces, and are named before others', () => {
    const { halts } = registry();
    const all = halt(9, { scope: 'installation', namespace: '' });
    halts.restore([halt(8, {}), halt(3, { scope: 'agent', agentName: 'the-agent-1' }), all]);
    expect(halts.of(step)).toEqual(all);
    expect(halts.of({ ...step, namespace: namespaceNamed('team-a') })).toEqual(all);
    halts.restore([halt(8, {}), halt(5, {})]);
    expect(halts.of(step)?.id).toBe(5);
  });

  it('tell parts with the same letters at other places apart', () => {
    const { halts } = registry();
    halts.restore([halt(1, { scope: 'session', agentName: 'a","b', sessionId: 'c' })]);
    expect(halts.of({ ...step, agentName: 'a', sessionId: 'b","c' })).toBeNull();
  });

  it('end at their time, and not before', () => {
    const { halts, clock } = registry();
    halts.restore([
      halt(1, { expiresAtMs: 2_000 }),
      halt(2, { expiresAtMs: 3_000 }),
      halt(3, { expiresAtMs: 900 }),
    ]);
    clock.ms = 1_999;
    expect(halts.active().map(({ id }) => id)).toEqual([1, 2]);
    clock.ms = 2_000;
    expect(halts.of(step)?.id).toBe(2);
    clock.ms = 3_000;
    expect([halts.of(step), halts.isEmpty]).toEqual([null, true]);
  });

  it('are read again after a change of access, and after no other', async () => {
    const { halts, readings } = registry();
    halts.changed([recordedChange(1, { controls: [1] })]);
    expect([readings.length, halts.reading]).toEqual([0, null]);
    halts.changed(ACCESS);
    const { reading } = halts;
    expect(reading).not.toBeNull();
    // Changed once more while it is read: what is read may be too old.
    halts.changed(ACCESS);
    readings[0]?.resolve([]);
    await expect.poll(() => readings.length).toBe(2);
    readings[1]?.resolve([halt(1, {})]);
    await reading;
    expect([halts.of(step)?.id, halts.reading]).toEqual([1, null]);
  });

  it('stay while they cannot be read, and are read when the database answers', async () => {
    const { halts, readings, failures, clock } = registry();
    halts.restore([halt(1, {})]);
    halts.changed(ACCESS);
    readings[0]?.reject(new Error('no answer'));
    await expect.poll(() => failures.length).toBe(1);
    expect(halts.of(step)?.id).toBe(1);
    halts.catchUp();
    expect(readings).toHaveLength(1);
    clock.ms += 500;
    halts.catchUp();
    readings[1]?.resolve([]);
    await expect.poll(() => halts.isEmpty).toBe(true);
    halts.catchUp();
    expect(readings).toHaveLength(2);
  });

  it('have a change of this process when it is applied, even if they cannot be read', async () => {
    const { halts, readings } = registry();
    const created = halts.apply(halt(1, {}), true);
    readings[0]?.reject(new Error('no answer'));
    await created;
    expect(halts.of(step)?.id).toBe(1);
    const lifted = halts.apply(halt(1, {}), false);
    readings[1]?.reject(new Error('no answer'));
    await lifted;
    expect(halts.of(step)).toBeNull();
  });

  it('must be readable at the start', async () => {
    const { halts, readings } = registry();
    const started = halts.load();
    readings[0]?.reject(new Error('no answer'));
    await expect(started).rejects.toThrow('no answer');
  });
});
