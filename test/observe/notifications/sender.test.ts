import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createAddressPolicy } from '../../../src/observe/notifications/address-policy.js';
import { createAttempt } from '../../../src/observe/notifications/attempt.js';
import { createDeliveryStore } from '../../../src/observe/notifications/delivery-store.js';
import { createDestinationStore } from '../../../src/observe/notifications/destination-store.js';
import { createOutbox } from '../../../src/observe/notifications/outbox.js';
import { UNSEALED } from '../../../src/observe/notifications/sealer.js';
import { createSender } from '../../../src/observe/notifications/sender.js';
import { newWebhookSecret } from '../../../src/observe/notifications/signing.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { createLease } from '../../../src/storage/database/lease.js';
import { createNotify, type NotificationFact } from '../../../src/storage/database/notifications.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { scoped } from '../../support/scoped.js';
import { until } from '../../support/until.js';
import { type Answer, ok, openReceiver, type Received, verified } from './support.js';

const ATTEMPT_LIMIT_MS = 1_000;
const HOUR_MS = 3_600_000;
const FAILURES = { failed: () => {}, told: () => {} };

/** What a receiver does to a request, by name. Those of `ACCEPTING` say that they have it. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  accepts: ok,
  fails: (_received, reply) => reply.writeHead(500).end('broken'),
  asksToWait: (_received, reply) => reply.writeHead(429, { 'retry-after': '7' }).end(),
  hangs: () => {},
  redirects: (_received, reply) => reply.writeHead(307, { location: '/elsewhere' }).end(),
  closesEarly: (_received, reply) => reply.socket?.destroy(),
  isNoHttp: (_received, reply) => reply.socket?.end('220 mail.example ESMTP\r\n\r\n'),
  liesAboutLength: (_received, reply) => {
    reply.writeHead(200, { 'content-length': '1000000' });
    reply.write('short');
    setImmediate(() => reply.socket?.destroy());
  },
  neverEnds: (_received, reply) => {
    reply.writeHead(200);
    const timer = setInterval(() => reply.write('x'.repeat(65_536)), 1);
    reply.on('close', () => clearInterval(timer));
  },
};
const ACCEPTING = ['accepts', 'liesAboutLength', 'neverEnds'];

describeOnEachDatabase('the sender', (freshDatabaseUrl) => {
  let database: Database;
  beforeAll(async () => {
    database = await openDatabase({ url: await freshDatabaseUrl() });
  });
  afterAll(() => database.close());
  const notify = createNotify({ maxWaiting: 1_000, publicUrl: 'https://controls.example' });

  function tell(...facts: Partial<NotificationFact>[]): Promise<unknown> {
    return database.mutate(async (tx) => {
      for (const fact of facts) {
        await notify(tx, {
          namespace: 'default',
          kind: 'halt.set',
          object: 'halt:1',
          summary: 'a halt',
          data: {},
          timeMs: Date.now(),
          ...fact,
        });
      }
      return { value: null, changed: true };
    });
  }

  type Destinations = ReturnType<typeof createDestinationStore>;
  /** Changes destinations in a transaction. */
  async function changing<T>(work: (store: Destinations) => Promise<T>): Promise<T> {
    const { value } = await database.mutate(async (tx) => {
      return { value: await work(createDestinationStore(scoped(tx), UNSEALED)), changed: true };
    });
    return value;
  }
  const found = (id: number) => createDestinationStore(scoped(database.client), UNSEALED).find(id);
  const listed = async (destinationId: number) => {
    const filters = { cursor: null, limit: 100, destinationId, state: null };
    return (await createDeliveryStore(scoped(database.client)).list(filters)).rows;
  };

  /** A destination that is removed when the test ends. */
  async function destination(url: string, more: object = {}) {
    const row = await changing((store) =>
      store.insert({
        name: 'x',
        type: 'webhook',
        url,
        recipients: [],
        kinds: ['halt.set'],
        enabled: true,
        createdAtMs: 1,
        createdBy: 'me',
        secret: newWebhookSecret(),
        ...more,
      }),
    );
    onTestFinished(() => changing((store) => store.remove(row.id)));
    return row;
  }

  async function receiver(answer: Answer = ok) {
    const opened = await openReceiver(answer);
    onTestFinished(() => opened.close());
    return opened;
  }

  /** A running sender; its clock is `skewMs` ahead. */
  function running(leaseMs = 30_000, limitMs = ATTEMPT_LIMIT_MS) {
    const clock = { skewMs: 0 };
    const now = () => Date.now() + clock.skewMs;
    const sender = createSender({
      outbox: createOutbox(database, UNSEALED),
      lease: createLease({ bulk: database.bulk, name: 'notifications', now: Date.now, leaseMs }),
      attempt: createAttempt({
        policy: createAddressPolicy(['loopback']),
        mailer: null,
        now,
        limitMs,
      }),
      subscriptions: { any: true },
      failures: FAILURES,
      now,
      monotonic: () => performance.now(),
      intervalMs: 10,
      attemptLimitMs: limitMs,
    });
    sender.start();
    onTestFinished(() => sender.close());
    /** Lets time pass until a check holds, so that nothing has to be waited for. */
    const passing = <T>(ask: () => Promise<T> | T, check: (answer: T) => boolean) =>
      until(async () => {
        clock.skewMs += 10_000;
        return ask();
      }, check);
    return { sender, clock, passing };
  }

  it('delivers everything at least once, in order for each object, whatever the destination does', async () => {
    const accepted = new Map<string, string[]>();
    const attempts = new Map<string, string[]>();
    const names = Object.keys(ANSWERS);
    let turn = 0;
    const target = await receiver((received, reply) => {
      const name = names[turn % names.length] ?? '';
      turn += 1;
      const { object, at } = JSON.parse(received.body).data as { object: string; at: string };
      attempts.set(object, [...(attempts.get(object) ?? []), at]);
      if (ACCEPTING.includes(name)) accepted.set(object, [...(accepted.get(object) ?? []), at]);
      ANSWERS[name]?.(received, reply);
    });
    const { id, secret } = await destination(`${target.url}/hook?token=x`);
    const objects = ['halt:1', 'halt:2', 'halt:3', 'halt:4', 'halt:5'];
    const places = ['0', '1', '2', '3'];
    await tell(...places.flatMap((at) => objects.map((object) => ({ object, data: { object, at } }))));
    const { passing } = running();
    await passing(
      () => listed(id),
      (rows) => rows.every(({ state }) => state === 'delivered'),
    );
    for (const object of objects) {
      expect([...new Set(accepted.get(object))]).toEqual(places);
      // None is sent before those before it were accepted.
      expect(attempts.get(object)).toEqual([...(attempts.get(object) ?? [])].sort());
    }
    expect(target.received.filter(({ path }) => path !== '/hook?token=x')).toEqual([]);
    const bodies = new Map<string, string>();
    for (const one of target.received) {
      expect(verified(one, secret ?? '')).toHaveLength(1);
      expect(bodies.get(one.id) ?? one.body).toBe(one.body);
      bodies.set(one.id, one.body);
    }
    // The id is the same in each attempt, and another one for each notification.
    expect(bodies.size).toBe(20);
  });

  it('does not let a destination that hangs hold up another one', async () => {
    const stuck = await receiver(ANSWERS.hangs);
    const target = await receiver();
    await destination(stuck.url);
    const { id } = await destination(target.url);
    await tell(...Array.from({ length: 30 }, (_, at) => ({ object: `halt:${at}` })));
    // No attempt is given up before the other destination has everything.
    running(1_200_000, 600_000);
    await until(
      () => listed(id),
      (rows) => rows.length === 30 && rows.every(({ state }) => state === 'delivered'),
    );
    expect(stuck.received.length).toBeLessThan(30);
  });

  it('signs with both secrets until the overlap is over', async () => {
    const target = await receiver();
    const { id, secret: old } = await destination(target.url);
    const secret = newWebhookSecret();
    const { clock } = running();
    const previousUntilMs = Date.now() + HOUR_MS;
    await changing((store) => store.update(id, { secret, previousSecret: old, previousUntilMs }));
    await tell({});
    await until(
      () => target.received.length,
      (count) => count === 1,
    );
    clock.skewMs = 2 * HOUR_MS;
    await tell({});
    await until(
      () => target.received.length,
      (count) => count === 2,
    );
    const [both, one] = target.received as [Received, Received];
    expect([verified(both, old ?? ''), verified(both, secret)].map((some) => some.length)).toEqual([1, 1]);
    expect([verified(one, old ?? ''), verified(one, secret)].map((some) => some.length)).toEqual([0, 1]);
    expect(JSON.parse(one.body)).toEqual({
      type: 'halt.set',
      timestamp: expect.stringMatching(/Z$/),
      data: { namespace: 'default' },
    });
  });

  it('waits as long as it is asked to', async () => {
    const target = await receiver((_received, reply) => {
      reply.writeHead(503, { 'retry-after': '7200' }).end();
    });
    const { id } = await destination(target.url);
    await tell({});
    running();
    const rows = await until(
      () => listed(id),
      (some) => some[0]?.attempts === 1,
    );
    const [row] = rows;
    expect((row?.nextAtMs ?? 0) - (row?.lastAtMs ?? 0)).toBe(7_200_000);
    expect(row).toMatchObject({
      state: 'waiting',
      lastStatus: 503,
      lastError: 'it answered with the status 503',
    });
  });

  it('tries for 24 hours, then lists a dead letter, and sends it again by hand', async () => {
    const target = await receiver(ANSWERS.fails);
    const { id } = await destination(target.url);
    await tell({}, { data: { second: true } });
    const { clock } = running();
    await until(
      () => {
        clock.skewMs += HOUR_MS;
        return listed(id);
      },
      (rows) => rows.every(({ state }) => state === 'dead'),
    );
    expect(clock.skewMs).toBeGreaterThanOrEqual(24 * HOUR_MS);
    target.answer = ok;
    const before = target.received.length;
    const [last] = await listed(id);
    await database.mutate(async (tx) => ({
      value: await createDeliveryStore(scoped(tx)).resend(last?.id ?? 0, Date.now()),
      changed: true,
    }));
    await until(
      () => listed(id),
      (rows) => rows[0]?.state === 'delivered',
    );
    expect(target.received).toHaveLength(before + 1);
    expect(target.received.at(-1)?.id).toBe(last?.messageId);
  });

  it('sends nothing more to a destination that is gone', async () => {
    const target = await receiver((_received, reply) => {
      reply.writeHead(410).end();
    });
    const { id } = await destination(target.url);
    await tell({}, { object: 'halt:2' }, {});
    running();
    await until(
      () => found(id),
      (row) => row?.enabled === false,
    );
    expect(await found(id)).toMatchObject({ disabledReason: 'it answered 410 Gone' });
    await tell({});
    const states = (await listed(id)).map(({ state }) => state);
    expect(states).toHaveLength(3);
    expect(states).not.toContain('delivered');
    expect(states).toContain('dead');
  });

  it('drops what is too much, and counts it', async () => {
    const { id } = await destination('https://hooks.invalid/');
    const small = createNotify({ maxWaiting: 2, publicUrl: null });
    await database.mutate(async (tx) => {
      for (let at = 0; at < 5; at += 1) {
        const fact = {
          namespace: 'default',
          kind: 'halt.set',
          object: 'halt:1',
          summary: 's',
          data: {},
          timeMs: 1,
        };
        await small(tx, fact as NotificationFact);
      }
      return { value: null, changed: true };
    });
    expect(await listed(id)).toHaveLength(2);
    expect(await found(id)).toMatchObject({ dropped: 3 });
  });

  it('keeps nothing of a transaction that fails', async () => {
    const { id } = await destination('https://hooks.invalid/');
    const failing = database.mutate(async (tx) => {
      const fact = { namespace: null, kind: 'halt.set', object: 'halt:1', summary: 's', data: {}, timeMs: 1 };
      await notify(tx, fact as NotificationFact);
      throw new Error('undone');
    });
    await expect(failing).rejects.toThrow();
    expect(await listed(id)).toEqual([]);
  });

  it('is one of several: another one takes over when it ends, or when its lease does', async () => {
    let parallel = 0;
    let most = 0;
    const target = await receiver((received, reply) => {
      parallel += 1;
      most = Math.max(most, parallel);
      setTimeout(() => {
        parallel -= 1;
        ok(received, reply);
      }, 5);
    });
    const { id } = await destination(target.url);
    const senders = [running(600_000), running(600_000), running(600_000)];
    // One object: with one sender there is one request at a time.
    for (let round = 0; round < 3; round += 1) {
      await tell(...Array.from({ length: 5 }, () => ({})));
      await until(
        () => listed(id),
        (rows) => rows.every(({ state }) => state === 'delivered'),
      );
      await senders[round]?.sender.close();
      if (round === 2) break;
    }
    expect(target.received).toHaveLength(15);
    expect(most).toBe(1);
  });
});

describe('the list of answers', () => {
  it('has those that accept', () => {
    expect(Object.keys(ANSWERS)).toEqual(expect.arrayContaining(ACCEPTING));
  });
});
