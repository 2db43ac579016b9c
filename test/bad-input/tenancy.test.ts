import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { BadRequestSchema } from '../../gen/proto/google/rpc/error_details_pb.js';
import { describeAboveStores } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { createKeysFile } from '../support/keys-file.js';
import { methodNamed, PROTOCOLS, type ProtocolName, SERVICES } from '../support/protocol-clients.js';
import { denyWord, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';

const ADMIN = 'admin-key-of-bad-tenancy';
const OTHER_TEAM = 'admin-key-of-another-team';
const OPERATOR = 'operator-key-of-bad-tenancy';
const AGENT = 'bad-input-agent-1';
const CONTROL = 1;
const TRIED: readonly ProtocolName[] = ['REST over h1', 'gRPC (Connect transport)', 'gRPC-Web over h2'];
const STREAMED = 'gRPC (Connect transport)';
const asked = { agent_name: AGENT, stage: 'pre', step: { type: 'llm', name: 'answer', input: 'bad' } };

/** How half a pair is refused: HTTP status, and `field code` of the items by the half that is given. */
interface Place {
  readonly input: object;
  readonly status: number;
  readonly items: (missing: string, isRest: boolean) => string[];
}

const inBody = { status: 422, items: () => ['value_error'] };
const ofPath = { status: 400, items: (missing: string) => [`${missing} missing_target_pair`] };
const required = {
  status: 422,
  // A text of a message that is not set is empty.
  items: (missing: string, isRest: boolean) => [`${missing} ${isRest ? 'missing' : 'string_too_short'}`],
};

/** Every RPC that takes a target, by what takes half of one. */
const PLACES: Readonly<Record<string, Place>> = {
  'AgentService.InitAgent': { input: { agent: { agent_name: 'never-registered-1' } }, ...inBody },
  'AgentService.ListAgentControls': { input: { agent_name: AGENT }, ...ofPath },
  'AuthService.ExchangeRuntimeToken': { input: {}, ...required },
  'ControlBindingService.CreateControlBinding': { input: { control_id: CONTROL }, ...required },
  'ControlBindingService.UpsertControlBinding': { input: { control_id: CONTROL }, ...required },
  'ControlBindingService.UpdateControlBindingByKey': {
    input: { control_id: CONTROL, enabled: true },
    ...required,
  },
  'ControlBindingService.DeleteControlBindingByKey': { input: { control_id: CONTROL }, ...required },
  'EvaluationService.Evaluate': { input: asked, ...inBody },
  'EvaluationService.Explain': { input: asked, ...inBody },
};
/** Those that are tried in tests of their own, and one that filters by either half. */
const OTHERS = ['AgentService.WatchControls', 'ControlBindingService.ListControlBindings'];
const HALVES = [
  ['target_type', 'target_id'],
  ['target_id', 'target_type'],
] as const;

describeAboveStores('bad input about namespaces, keys and targets', (freshDatabaseUrl) => {
  const keys = createKeysFile([
    { name: 'operator', key: OPERATOR, role: 'operator' },
    { name: 'admin', key: ADMIN, role: 'admin' },
    { name: 'other', key: OTHER_TEAM, role: 'admin', namespace: 'another-team' },
  ]);
  const services: TestService[] = [];
  const call = (key = ADMIN, at = 0) => restClient(services[at]?.url ?? '', { 'x-api-key': key });
  const url = (at = 0) => services[at]?.url ?? '';

  beforeAll(async () => {
    const DATABASE_URL = await freshDatabaseUrl();
    const environment = {
      ...keys.environment,
      DATABASE_URL,
      SERVICE_RUNTIME_TOKEN_SECRETS: 'a-secret-of-at-least-32-bytes-000',
      SERVICE_RUNTIME_AUTH_MODE: 'both',
      SERVICE_OBSERVABILITY_RECORD: 'all',
    };
    for (let count = 0; count < 2; count += 1) services.push(await startService(environment));
    await seeder(call()).linked(AGENT, 'bad-input', denyWord('bad'));
    const made = await call(OPERATOR)('POST', '/api/v1/namespaces', { name: 'another-team' });
    expect(made.status).toBe(200);
  });
  afterAll(async () => {
    for (const service of services) await service.stop();
    keys.remove();
  });

  /** What a refused call must not have added to. */
  async function stored() {
    const count = async (path: string) => (await call()('GET', path)).body.pagination.total as number;
    return {
      agents: await count('/api/v1/agents'),
      controls: await count('/api/v1/controls'),
      bindings: await count('/api/v1/control-bindings'),
      audit: await count('/api/v1/audit'),
    };
  }

  describe('half a pair', () => {
    it('is tried wherever a target can be named', () => {
      const taking = SERVICES.flatMap(({ methods }) => methods)
        .filter(({ input }) => ['targetType', 'targetId'].every((name) => input.field[name] !== undefined))
        .map(({ parent, name }) => `${parent.name}.${name}`);
      expect(taking.sort()).toEqual([...Object.keys(PLACES), ...OTHERS].sort());
    });

    it.each(TRIED)('is refused over %s, and nothing is stored', async (protocol) => {
      const client = PROTOCOLS[protocol](url());
      const isRest = protocol.startsWith('REST');
      const before = await stored();
      for (const [rpc, { input, status, items }] of Object.entries(PLACES)) {
        for (const [given, missing] of HALVES) {
          const outcome = await client.call(methodNamed(rpc), { ...input, [given]: 'x' }, ADMIN);
          expect([rpc, outcome]).toMatchObject([
            rpc,
            {
              ok: false,
              reason: 'VALIDATION_ERROR',
              status: isRest ? status : 'InvalidArgument',
              fields: items(missing, isRest),
            },
          ]);
        }
      }
      expect(await stored()).toEqual(before);
      client.close();
    });

    it('is refused in a batch and in a stream, one evaluation and no more', async () => {
      const client = PROTOCOLS[STREAMED](url());
      for (const [given] of HALVES) {
        const evaluations = [{ ...asked, [given]: 'x' }, asked];
        const expected = [
          { error: expect.objectContaining({ code: Code.InvalidArgument }) },
          { verdict: expect.objectContaining({ is_safe: false }) },
        ];
        const batch = methodNamed('EvaluationService.EvaluateBatch');
        expect(await client.call(batch, { evaluations }, ADMIN)).toMatchObject({
          reply: { results: expected },
        });
        const stream = methodNamed('EvaluationService.EvaluateStream');
        expect(await client.stream(stream, [{ id: '1', evaluations }], ADMIN)).toMatchObject([
          { id: '1', results: expected },
        ]);
      }
      client.close();
    });

    it('is refused by a watch of controls before anything is sent', async () => {
      const agents = createClient(AgentService, createGrpcTransport({ baseUrl: url() }));
      for (const [given, missing] of [
        ['targetType', 'target_id'],
        ['targetId', 'target_type'],
      ] as const) {
        const replies: unknown[] = [];
        const watched = agents.watchControls(
          { agentName: AGENT, [given]: 'x' },
          { headers: { 'x-api-key': ADMIN } },
        );
        const error = await (async () => {
          for await (const reply of watched) replies.push(reply);
        })().then(
          () => undefined,
          (reason: unknown) => ConnectError.from(reason),
        );
        expect(replies).toEqual([]);
        expect(error?.code).toBe(Code.InvalidArgument);
        const told = error?.findDetails(BadRequestSchema)[0]?.fieldViolations ?? [];
        expect(`${error?.rawMessage} ${told.map(({ description }) => description)}`).toContain(missing);
      }
    });
  });

  describe('a token for another target', () => {
    const PAIR = { target_type: 'log_stream', target_id: 'of-the-token' };

    it.each([...TRIED, 'batch', 'stream'] as const)(
      'evaluates nothing over %s, and its event is not there',
      async (protocol) => {
        const reply = await call()('POST', '/api/v1/auth/runtime-token-exchange', PAIR);
        const { token } = reply.body;
        const client = PROTOCOLS[protocol === 'batch' || protocol === 'stream' ? STREAMED : protocol](url());
        const others = [
          { ...PAIR, target_id: 'another' },
          { ...PAIR, target_type: 'another' },
          { target_type: PAIR.target_id, target_id: PAIR.target_type },
          {},
        ];
        const query = { agent_name: AGENT };
        const events = async () => {
          await call()('POST', '/api/v1/observability/flush', {});
          return (await call()('POST', '/api/v1/observability/events/query', query)).body.total;
        };
        const before = await events();
        for (const other of others) {
          const evaluation = { ...asked, ...other };
          const told = JSON.stringify(await evaluateOver(client, protocol, evaluation, token));
          expect(told).toMatch(/AUTH_INSUFFICIENT_PRIVILEGES|"code":7/);
          // Neither what the control looks for nor the target of the token.
          expect(told).not.toMatch(/is_safe|of-the-token|bad-input"/);
        }
        expect(await events()).toBe(before);
        // With its own target it does evaluate, and has its event.
        const own = JSON.stringify(await evaluateOver(client, protocol, { ...asked, ...PAIR }, token));
        expect(own).toContain('"is_safe":false');
        expect(await events()).toBe(before + 1);
        client.close();
      },
    );

    async function evaluateOver(
      client: ReturnType<(typeof PROTOCOLS)[ProtocolName]>,
      protocol: string,
      evaluation: object,
      token: string,
    ): Promise<unknown> {
      const evaluations = [evaluation];
      if (protocol === 'batch')
        return client.call(methodNamed('EvaluationService.EvaluateBatch'), { evaluations }, token);
      if (protocol === 'stream') {
        const messages = [{ id: '1', evaluations }];
        return client.stream(methodNamed('EvaluationService.EvaluateStream'), messages, token);
      }
      return client.call(methodNamed('EvaluationService.Evaluate'), evaluation, token);
    }
  });

  describe('a key that is created twice with one idempotency key', () => {
    const create = methodNamed('KeyService.CreateKey');
    const found = async (name: string, key = ADMIN) =>
      (await call(key)('GET', `/api/v1/keys?name=${name}`)).body.keys as { id: number }[];
    const audited = async () =>
      (await call()('GET', '/api/v1/audit?action=key.create')).body.pagination.total as number;

    it('at the same time, over every protocol and by two processes, is one key with one secret', async () => {
      const clients = services.flatMap((service) =>
        TRIED.map((protocol) => PROTOCOLS[protocol](service.url)),
      );
      const before = await audited();
      const input = { name: 'at-once', role: 'viewer', idempotency_key: 'at once' };
      const outcomes = await Promise.all(clients.map((client) => client.call(create, input, ADMIN)));
      const replies = outcomes.map((outcome) => {
        if (!outcome.ok) throw new Error(JSON.stringify(outcome));
        return outcome.reply as { key: { id: number }; secret?: string | null; created?: boolean };
      });
      const secrets = replies.flatMap(({ secret }) => (secret ? [secret] : []));
      expect(secrets).toHaveLength(1);
      expect(replies.filter(({ created }) => created === true)).toHaveLength(1);
      expect(new Set(replies.map(({ key }) => key.id)).size).toBe(1);
      expect((await found('at-once')).map(({ id }) => id)).toEqual([replies[0]?.key.id]);
      expect(await audited()).toBe(before + 1);
      for (let at = 0; at < services.length; at += 1) {
        const status = async () => (await call(secrets[0], at)('GET', '/api/v1/controls')).status;
        await expect.poll(status).toBe(200);
      }
      for (const client of clients) client.close();
    });

    it.each(TRIED)(
      'with another request is refused over %s, and tells nothing of the first',
      async (protocol) => {
        const client = PROTOCOLS[protocol](url());
        const idempotency_key = `changed over ${protocol}`;
        const name = `first-${TRIED.indexOf(protocol)}`;
        const first = await client.call(create, { name, role: 'agent', idempotency_key }, ADMIN);
        expect(first).toMatchObject({ ok: true, reply: { secret: expect.stringMatching(/^cek_/) } });
        const before = await stored();
        const second = await client.call(create, { name: 'second', role: 'admin', idempotency_key }, ADMIN);
        expect(second).toMatchObject({
          ok: false,
          reason: 'IDEMPOTENCY_CONFLICT',
          status: protocol.startsWith('REST') ? 409 : 'FailedPrecondition',
        });
        expect(JSON.stringify(second)).not.toMatch(/cek_|first-/);
        expect(await found('second')).toEqual([]);
        expect(await stored()).toEqual(before);
        client.close();
      },
    );

    it('is another key in another namespace, which learns nothing of it', async () => {
      const input = { name: 'of-both', role: 'viewer', idempotency_key: 'of both' };
      const client = PROTOCOLS[STREAMED](url());
      const [own, other] = [
        await client.call(create, input, ADMIN),
        await client.call(create, input, OTHER_TEAM),
      ];
      expect(own).toMatchObject({ ok: true, reply: { created: true } });
      expect(other).toMatchObject({ ok: true, reply: { created: true, key: { namespace: 'another-team' } } });
      expect(await found('of-both')).toHaveLength(1);
      expect(await found('of-both', OTHER_TEAM)).toHaveLength(1);
      client.close();
    });
  });
});
