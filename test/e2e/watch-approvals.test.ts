import { type MessageInitShape, toJson } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import {
  ApprovalService,
  type WatchApprovalsRequestSchema,
  WatchApprovalsResponseSchema,
} from '../../gen/proto/enforcement/v1/approval_service_pb.js';
import { ErrorInfoSchema } from '../../gen/proto/google/rpc/error_details_pb.js';
import { ApprovalFeed, ApprovalWatcher } from '../../src/decide/approvals/approval-feed.js';
import { describeAboveStores } from '../support/databases.js';
import { type RestClient, restClient } from '../support/http.js';
import { createKeysFile } from '../support/keys-file.js';
import { openedInSuite } from '../support/opened.js';
import { methodNamed, PROTOCOLS } from '../support/protocol-clients.js';
import { RPC_PROTOCOLS, type RpcProtocol, rpcTransport } from '../support/rpc-transports.js';
import { seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { suiteService } from '../support/service-suite.js';
import { until } from '../support/until.js';
import { comparable } from '../support/wire-shape.js';

const KEYS = [
  { name: 'boss', key: 'admin-key', role: 'admin' },
  { name: 'ann', key: 'ann-key', role: 'approver' },
  { name: 'bob', key: 'bob-key', role: 'approver' },
  { name: 'bot', key: 'bot-key', scopes: ['evaluate'] },
  {
    name: 'limited',
    key: 'limited-key',
    scopes: ['evaluate', 'approvals.read'],
    agents: ['watched-bot-*'],
  },
];
const AWAIT = methodNamed('ApprovalService.AwaitApproval');

type Request = MessageInitShape<typeof WatchApprovalsRequestSchema>;
type Told = Record<string, unknown> & { id: number; state: string };

/** A reader of WatchApprovals that keeps what it is told. */
function watchApprovals(transport: Transport, request: Request, key: string) {
  const abort = new AbortController();
  const told: (Told | 'heartbeat')[] = [];
  const read = async (): Promise<ConnectError | 'ended'> => {
    const options = { signal: abort.signal, headers: { 'x-api-key': key } };
    try {
      for await (const message of createClient(ApprovalService, transport).watchApprovals(request, options)) {
        const json = toJson(WatchApprovalsResponseSchema, message, {
          useProtoFieldName: true,
          alwaysEmitImplicit: true,
        });
        const { approval } = comparable(WatchApprovalsResponseSchema, json) as { approval?: Told };
        told.push(approval ?? 'heartbeat');
      }
      return 'ended';
    } catch (error) {
      return ConnectError.from(error);
    }
  };
  const ended = read();
  const approvals = () => told.flatMap((one) => (one === 'heartbeat' ? [] : [one]));
  return {
    told,
    /** Ids that it was told, each once, in the order of their first message. */
    ids: () => [...new Set(approvals().map(({ id }) => id))],
    /** Waits until it was told that an approval is in a state. */
    async reached(id: number, state: string): Promise<Told> {
      const found = () => approvals().find((one) => one.id === id && one.state === state);
      return (await until(found, (one) => one !== undefined)) as Told;
    },
    /** Waits for the first heartbeat, after the approvals that the stream begins with. */
    atNews: () =>
      until(
        () => told,
        (all) => all.includes('heartbeat'),
      ),
    ended,
    async refusal() {
      const end = await ended;
      if (end === 'ended') throw new Error('the stream ended without a status');
      return { code: end.code, reason: end.findDetails(ErrorInfoSchema)[0]?.reason };
    },
    async stop(): Promise<void> {
      abort.abort();
      await ended;
    },
  };
}

/** Readings of changes so far, which are made only while someone waits. */
const readings = ({ queries }: TestService) => queries.filter((sql) => sql.includes('"change_no" >')).length;

type Watcher = ReturnType<typeof watchApprovals>;

/** A control that asks one person about steps with this name. */
function asking(stepName: string, approver: string, more: object = {}): object {
  return {
    execution: 'server',
    scope: { step_names: [stepName], stages: ['pre'] },
    condition: { selector: { path: 'name' }, evaluator: { name: 'regex', config: { pattern: '.' } } },
    action: {
      decision: 'deny',
      approval: { approvers: [`name:${approver}`], question: 'Pay {input.amount}?', ...more },
    },
  };
}

describeAboveStores('waiting for approvals', (freshDatabaseUrl) => {
  const keys = openedInSuite<ReturnType<typeof createKeysFile>>((one) => one.remove());
  const environment = () => {
    const file = createKeysFile(KEYS);
    keys.push(file);
    // The same people are asked more often than they should be.
    return { ...file.environment, SERVICE_APPROVALS_FATIGUE_LIMIT: '1000' };
  };
  const writer = suiteService(async () => ({ ...environment(), DATABASE_URL: await freshDatabaseUrl() }));
  const replica = suiteService(() => ({ ...environment(), DATABASE_URL: writer.databaseUrl }));
  const watchers = openedInSuite<Watcher>((one) => one.stop());

  const as = (key: string, service: TestService = writer): RestClient =>
    restClient(service.url, { 'x-api-key': key });

  function watch(
    request: Request,
    { protocol = 'gRPC' as RpcProtocol, service = writer as TestService, key = 'bot-key' as string } = {},
  ): Watcher {
    const watcher = watchApprovals(rpcTransport(protocol, service.url), request, key);
    watchers.push(watcher);
    return watcher;
  }

  let controls: number[] = [];
  let made = 0;

  /** An agent with a control that asks ann about "pay", and one that asks bob about "wire", for a second. */
  async function newAgent(): Promise<string> {
    const seed = seeder(as('admin-key'));
    if (controls.length === 0) {
      const timed = asking('wire', 'bob', { reuse: { seconds: 1 } });
      controls = [await seed.control('pay', asking('pay', 'ann')), await seed.control('wire', timed)];
    }
    made += 1;
    const agent = `watched-bot-${made}`;
    await seed.agent(agent);
    for (const control of controls) await seed.link(agent, control);
    return agent;
  }

  async function evaluated(agent: string, name: string, amount: number, service?: TestService) {
    const step = { type: 'tool', name, input: { amount } };
    const sent = { agent_name: agent, stage: 'pre', step, accepts: ['ask'] };
    return (await as('bot-key', service)('POST', '/api/v1/evaluation', sent)).body;
  }

  /** The id of an approval for a step that was not seen before. */
  async function asked(agent: string, name = 'pay', service?: TestService): Promise<number> {
    made += 1;
    const { outcome, approval } = await evaluated(agent, name, made, service);
    expect(outcome).toBe('ask');
    return approval.id;
  }

  async function decided(id: number, decision: string, who = 'ann', service?: TestService): Promise<void> {
    const reply = await as(`${who}-key`, service)('POST', `/api/v1/approvals/${id}/decide`, { decision });
    expect(reply).toMatchObject({ status: 200 });
  }

  async function cancelled(agent: string, id: number, service?: TestService): Promise<void> {
    const path = `/api/v1/approvals/${id}/cancel`;
    expect(await as('bot-key', service)('POST', path, { agent_name: agent })).toMatchObject({ status: 200 });
  }

  describe.each(RPC_PROTOCOLS)('WatchApprovals over %s', (protocol) => {
    it('tells what is pending, then a heartbeat, then every change of both services', async () => {
      const agent = await newAgent();
      const [first, second, ended] = [await asked(agent), await asked(agent), await asked(agent)];
      await cancelled(agent, ended);
      const near = watch({ agentName: agent }, { protocol });
      const far = watch({ agentName: agent }, { protocol, service: replica });
      for (const watcher of [near, far]) {
        const told = await watcher.atNews();
        expect(told.map((one) => (one === 'heartbeat' ? one : [one.id, one.state]))).toEqual([
          [second, 'pending'],
          [first, 'pending'],
          'heartbeat',
        ]);
        expect(told[0]).toMatchObject({ agent_name: agent, question: expect.stringMatching(/^Pay \d+\?$/) });
      }
      const both = async (id: number, state: string) =>
        Promise.all([near, far].map((watcher) => watcher.reached(id, state)));
      const third = await asked(agent, 'pay', replica);
      await both(third, 'pending');
      await decided(first, 'deny');
      expect(await both(first, 'denied')).toMatchObject([
        { votes: [{ by: 'ann', decision: 'deny' }] },
        { votes: [{ by: 'ann', decision: 'deny' }] },
      ]);
      await decided(third, 'approve', 'ann', replica);
      await both(third, 'approved');
      expect(await evaluated(agent, 'pay', made)).toMatchObject({ outcome: 'allow' });
      expect(await both(third, 'used')).toMatchObject([{ uses: 1 }, { uses: 1 }]);
      await cancelled(agent, second, replica);
      await both(second, 'cancelled');
      const timed = await asked(agent, 'wire');
      await decided(timed, 'approve', 'bob');
      // For a second after it was approved.
      expect(await both(timed, 'expired')).toMatchObject([{ uses: 0 }, { uses: 0 }]);
      for (const watcher of [near, far]) {
        expect(watcher.ids()).toEqual([second, first, third, timed]);
        await watcher.stop();
      }
    });

    it('tells an approver of what is theirs', async () => {
      const agent = await newAgent();
      const before = await asked(agent, 'wire');
      const mine = watch({ agentName: agent, mine: true }, { protocol, key: 'ann-key' });
      await mine.atNews();
      const [other, own] = [await asked(agent, 'wire'), await asked(agent)];
      await mine.reached(own, 'pending');
      expect(mine.ids()).toEqual([own]);
      const theirs = watch({ mine: true }, { protocol, key: 'bob-key' });
      await theirs.atNews();
      expect(theirs.ids()).toEqual(expect.arrayContaining([other, before]));
      expect(theirs.ids()).not.toContain(own);
      for (const watcher of [mine, theirs]) await watcher.stop();
      for (const id of [before, other, own]) await cancelled(agent, id);
    });

    it('tells of named approvals, whatever their state, and of no others', async () => {
      const agent = await newAgent();
      const other = await newAgent();
      const [ended, own, foreign] = [await asked(agent), await asked(agent), await asked(other)];
      await cancelled(agent, ended);
      const approvalIds = [own, ended, foreign, own, 2 ** 31 - 1, -1];
      const watcher = watch({ agentName: agent, approvalIds }, { protocol });
      await watcher.atNews();
      expect(watcher.told).toMatchObject([
        { id: own, state: 'pending' },
        { id: ended, state: 'cancelled' },
        'heartbeat',
      ]);
      await asked(agent);
      await decided(foreign, 'deny');
      await decided(own, 'deny');
      await watcher.reached(own, 'denied');
      expect(watcher.ids()).toEqual([own, ended]);
      await watcher.stop();
    });

    it('refuses who does not name an agent but must, and what is no filter', async () => {
      const refused = (request: Request, key: string) => watch(request, { protocol, key }).refusal();
      const invalid = { code: Code.InvalidArgument, reason: 'VALIDATION_ERROR' };
      const forbidden = { code: Code.PermissionDenied, reason: 'AUTH_INSUFFICIENT_PRIVILEGES' };
      expect(await refused({}, 'bot-key')).toEqual(invalid);
      expect(await refused({ agentName: 'x' }, 'ann-key')).toEqual(invalid);
      const approvalIds = Array.from({ length: 1_001 }, (_, id) => id);
      expect(await refused({ approvalIds }, 'ann-key')).toEqual(invalid);
      expect(await refused({}, 'limited-key')).toEqual(forbidden);
      expect(await refused({ agentName: 'another-bot-01' }, 'limited-key')).toEqual(forbidden);
      expect(await refused({}, 'wrong-key')).toMatchObject({ code: Code.Unauthenticated });
      const agent = await newAgent();
      const watcher = watch({ agentName: agent }, { protocol, key: 'limited-key' });
      await watcher.atNews();
      const id = await asked(agent);
      await watcher.reached(id, 'pending');
      await watcher.stop();
    });
  });

  it('ends at once with UNAVAILABLE when the server shuts down', async () => {
    const agent = await newAgent();
    const stopping = await startService({
      ...environment(),
      DATABASE_URL: writer.databaseUrl,
      SERVICE_DRAIN_SECONDS: '60',
    });
    const open = RPC_PROTOCOLS.map((protocol) =>
      watch({ agentName: agent }, { protocol, service: stopping }),
    );
    for (const watcher of open) await watcher.atNews();
    await stopping.stop();
    for (const watcher of open) {
      expect(await watcher.refusal()).toEqual({ code: Code.Unavailable, reason: 'DRAINING' });
    }
  });

  it('answers a call that waits with what is known when the server shuts down', async () => {
    const agent = await newAgent();
    const id = await asked(agent);
    const stopping = await startService({
      ...environment(),
      DATABASE_URL: writer.databaseUrl,
      SERVICE_DRAIN_SECONDS: '60',
    });
    const path = `/api/v1/approvals/${id}/await?agent_name=${agent}&wait=60s`;
    const waiting = as('bot-key', stopping)('GET', path);
    await until(
      () => readings(stopping),
      (count) => count > 0,
    );
    await stopping.stop();
    expect(await waiting).toMatchObject({ status: 200, body: { approval: { id, state: 'pending' } } });
  });

  describe.each(['REST over h1', 'gRPC (grpc-js)', 'Connect over h2'] as const)(
    'AwaitApproval over %s',
    (protocol) => {
      /** Waits on the first service. */
      async function awaited(agent: string, id: number, wait: string) {
        const client = PROTOCOLS[protocol](writer.url);
        const outcome = await client.call(AWAIT, { agent_name: agent, approval_id: id, wait }, 'bot-key');
        client.close();
        return outcome;
      }

      it('returns a decided one at once, and a pending one when the time is over', async () => {
        const agent = await newAgent();
        const id = await asked(agent);
        expect(await awaited(agent, id, '0.3s')).toMatchObject({
          reply: { approval: { id, state: 'pending' } },
        });
        await decided(id, 'deny', 'ann', replica);
        expect(await awaited(agent, id, '60s')).toMatchObject({
          reply: { approval: { id, state: 'denied' } },
        });
      });

      it('is answered by a change of another process', async () => {
        const agent = await newAgent();
        for (const [state, end] of [
          ['denied', (id: number) => decided(id, 'deny', 'ann', replica)],
          ['approved', (id: number) => decided(id, 'approve', 'ann', replica)],
          ['cancelled', (id: number) => cancelled(agent, id, replica)],
        ] as const) {
          const id = await asked(agent);
          const before = readings(writer);
          const waiting = awaited(agent, id, '60s');
          await until(
            () => readings(writer),
            (count) => count > before,
          );
          await end(id);
          expect(await waiting).toMatchObject({ ok: true, reply: { approval: { id, state } } });
        }
      });
    },
  );
});

describe('the feed of approvals', () => {
  it('refuses more watchers than it may have, and takes others when one has left', async () => {
    const place = { changeNo: 1, id: 1 };
    const feed = new ApprovalFeed({
      latest: async () => place,
      after: async () => ({ rows: [], upTo: place, isReplaced: false }),
      maxWatchers: 2,
    });
    const [one, two, three] = [1, 2, 3].map(() => new ApprovalWatcher(() => true)) as [
      ApprovalWatcher,
      ApprovalWatcher,
      ApprovalWatcher,
    ];
    await feed.join(one);
    await feed.join(two);
    await expect(feed.join(three)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    feed.leave(one);
    await feed.join(three);
    expect(feed.watchers).toBe(2);
    feed.close();
    expect(three.failure).toMatchObject({ code: 'DRAINING' });
    await expect(feed.join(one)).rejects.toMatchObject({ code: 'DRAINING' });
  });
});
