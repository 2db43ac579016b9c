import { expect, it } from 'vitest';
import { RevisionGate } from '../../../src/decide/decisions/revision-gate.js';

function gateAt(start: number, options: { waitMs?: number; maxWaiting?: number } = {}) {
  const state = { revision: start, asked: 0 };
  const gate = new RevisionGate({
    waitMs: 60_000,
    ...options,
    revision: () => state.revision,
    onWaiting: () => {
      state.asked += 1;
    },
  });
  return { gate, state };
}

it('lets evaluations through whose revision is known, at once or as soon as it is', async () => {
  const { gate, state } = gateAt(5);
  await gate.reach(5);
  expect(state.asked).toBe(0);
  const through: number[] = [];
  const all = [6, 7, 8].map((revision) => gate.reach(revision).then(() => through.push(revision)));
  expect(state.asked).toBe(3);
  state.revision = 7;
  gate.advanced();
  await Promise.all(all.slice(0, 2));
  expect(through).toEqual([6, 7]);
  expect(gate.waiting).toBe(1);
  state.revision = 9;
  gate.advanced();
  await all[2];
  expect(gate.waiting).toBe(0);
});

it('refuses after its wait, naming both revisions', async () => {
  const { gate } = gateAt(41, { waitMs: 5 });
  await expect(gate.reach(57)).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    message: expect.stringMatching(/Revision 57 .* 41 /),
    options: { retryAfterSeconds: 1 },
  });
  expect(gate.waiting).toBe(0);
});

it('does not let those pile up that require what will never come', async () => {
  const { gate, state } = gateAt(1, { maxWaiting: 3 });
  const waiting = [10, 11, 12].map((revision) => gate.reach(revision));
  await expect(gate.reach(13)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(gate.waiting).toBe(3);
  state.revision = 12;
  gate.advanced();
  await Promise.all(waiting);
});

it('drops evaluations that are abandoned, at once and with their reason', async () => {
  const { gate, state } = gateAt(1);
  const [leaving, staying] = [new AbortController(), new AbortController()];
  const left = gate.reach(7, leaving.signal);
  const stayed = gate.reach(7, staying.signal);
  leaving.abort('nobody waits');
  await expect(left).rejects.toBe('nobody waits');
  expect(gate.waiting).toBe(1);
  state.revision = 7;
  gate.advanced();
  await stayed;
  // Too late to matter.
  staying.abort('nobody waits');
  await stayed;
  await expect(gate.reach(9, leaving.signal)).rejects.toBe('nobody waits');
  expect(gate.waiting).toBe(0);
});
