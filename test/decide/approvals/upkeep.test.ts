import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSealing } from '../../../src/contract/secrets/sealing.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { until } from '../../support/until.js';
import { AGENT, type ApprovalProcess, aStepOf, BOT, type Clock, changes, openProcess } from './support.js';

const ONE = [[1, {}]] as const;
const SECRET = 'text-that-only-approvers-see';

describeOnEachDatabase('what is kept of approvals', (freshDatabaseUrl, kind) => {
  const clock: Clock = { ms: 1_000_000 };
  let url: string;
  let process: ApprovalProcess;
  beforeAll(async () => {
    url = await freshDatabaseUrl();
    process = await openProcess(url, clock);
    await changes.agent(process.database);
    await changes.control(process.database, 1);
  });
  afterAll(() => process.close());

  const stored = (id: number) => process.database.client.approval.findUniqueOrThrow({ where: { id } });
  const entries = (action: string) => process.database.client.auditEntry.findMany({ where: { action } });
  async function asked(amount: number): Promise<number> {
    const { notice } = await process.ask(aStepOf(amount, { note: SECRET }), ONE);
    return notice?.id ?? 0;
  }

  it('is sealed: the row has no text of the step', async () => {
    const id = await asked(1);
    const step = { narrowed_input_json: JSON.stringify({ amount: 1, note: `${SECRET}, shortened` }) };
    await process.decide(id, 'ann', 'approve', step);
    const row = await stored(id);
    expect(row.step).toMatch(/^aes256gcm:[A-Za-z0-9+/]+=*$/);
    expect(row.narrowedStep).toMatch(/^aes256gcm:[A-Za-z0-9+/]+=*$/);
    const text = JSON.stringify(row, (_name, value) => (typeof value === 'bigint' ? String(value) : value));
    expect(text).not.toContain(SECRET);
    expect((await process.get(id)).step_json).toContain(SECRET);
    for (const action of ['approval.ask', 'approval.approve']) {
      const [entry] = await entries(action);
      expect(entry?.after).toContain('step_sha256');
      expect(entry?.after).not.toContain(SECRET);
    }
    if (kind === 'sqlite') {
      const file = url.slice('file:'.length);
      for (const part of [file, `${file}-wal`]) expect(readFileSync(part).includes(SECRET)).toBe(false);
    }
  });

  it('is opened with its key, for its approval, and only as it was sealed', () => {
    const sealing = createSealing(Buffer.alloc(32, 1));
    const sealed = sealing.seal(SECRET, 'here');
    expect(sealing.seal(SECRET, 'here')).not.toBe(sealed);
    expect(sealing.open(sealed, 'here')).toBe(SECRET);
    expect(sealing.open(sealed, 'there')).toBeNull();
    expect(createSealing(Buffer.alloc(32, 2)).open(sealed, 'here')).toBeNull();
    expect(createSealing(null).open(sealed, 'here')).toBeNull();
    const bytes = Buffer.from(sealed.slice('aes256gcm:'.length), 'base64');
    for (const at of [0, 12, bytes.length - 1]) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      expect(sealing.open(`aes256gcm:${damaged.toString('base64')}`, 'here')).toBeNull();
    }
    for (const text of ['', 'aes256gcm:', 'aes256gcm:AAAA', SECRET])
      expect(sealing.open(text, 'here')).toBeNull();
    expect(sealing.open(createSealing(null).seal(SECRET, 'here'), 'here')).toBe(SECRET);
  });

  it('stores that the time is over, tells who waits, and then removes the step', async () => {
    const [pending, approved, denied] = [await asked(2), await asked(3), await asked(4)];
    await process.decide(approved, 'ann');
    await process.decide(denied, 'ann', 'deny');
    const waiting = process.call(
      'awaitApproval',
      { approval_id: pending, agent_name: AGENT, wait: '60s' },
      BOT,
    );
    process.approvals.keep();
    // That of a step that was denied goes when it has been over for a second, which the others have not.
    clock.ms += 1_001;
    await until(
      () => stored(denied),
      ({ step }) => step === null,
    );
    for (const id of [pending, approved]) expect((await stored(id)).step).not.toBeNull();
    expect((await process.get(denied)).step_json).toBeNull();
    expect(await process.ask(aStepOf(4, { note: SECRET }), ONE)).toMatchObject({
      kind: 'refused',
      notice: { id: denied },
    });
    clock.ms += 3_600_000;
    const endedAtMs = BigInt(clock.ms);
    for (const id of [pending, approved]) {
      const row = await until(
        () => stored(id),
        ({ state }) => state === 'expired',
      );
      expect(row).toMatchObject({ endedAtMs, liveKey: null, endReason: 'its time is over', uses: 0 });
      expect(row.step).not.toBeNull();
    }
    expect(await waiting).toMatchObject({ approval: { id: pending, state: 'expired' } });
    expect((await stored(denied)).state).toBe('denied');
    const expired = (await entries('approval.expire')).map(({ after }) => JSON.parse(after ?? '{}'));
    const named = expired.flatMap(({ approvals }) => approvals);
    expect(named).toEqual(expect.arrayContaining([pending, approved]));
    expect(named).not.toContain(denied);
    clock.ms += 1_001;
    for (const id of [pending, approved]) {
      const row = await until(
        () => stored(id),
        ({ step }) => step === null,
      );
      expect(row).toMatchObject({ narrowedStep: null, explanations: null, state: 'expired' });
    }
    const removed = (await entries('approval.remove_steps')).flatMap(
      ({ before }) => JSON.parse(before ?? '{}').approvals,
    );
    expect(removed).toEqual(expect.arrayContaining([pending, approved, denied]));
  });
});
