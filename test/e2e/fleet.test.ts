import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  EvaluateRequestSchema,
  EvaluationService,
} from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { createTestDatabase, describeAboveStores, type TestDatabase } from '../support/databases.js';
import { type RestClient, restClient, untilServed } from '../support/http.js';
import { problem } from '../support/refusals.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { denyWord, evaluate, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

/** The two statements by which the links of agents, and the controls of links, are loaded. */
const LINKS = /^\s*WITH "wanted"/;
const CONTROLS = /UNION ALL SELECT NULL, NULL, "id", "name", "data" FROM "controls"/;
const BYSTANDER = 'bystander-agent';
/** Far beyond anything these tests commit. */
const FUTURE = 1_000_000;

describeAboveStores('two replicas', (freshDatabaseUrl) => {
  let writer: TestService;
  let reader: TestService;
  let write: RestClient;
  let read: RestClient;
  let seed: ReturnType<typeof seeder>;
  beforeAll(async () => {
    const environment = { DATABASE_URL: await freshDatabaseUrl(), SERVICE_MIN_REVISION_WAIT_SECONDS: '0.3' };
    writer = await startService(environment);
    reader = await startService(environment);
    write = restClient(writer.url);
    read = restClient(reader.url);
    seed = seeder(write);
    await seed.linked(BYSTANDER, 'of-bystander');
    expect((await evaluate(read, BYSTANDER, 'bad')).body.is_safe).toBe(false);
  });
  afterAll(async () => {
    await writer.stop();
    await reader.stop();
  });

  const evaluateAt = (call: RestClient, agentName: string, input: string, minRevision: number | string) =>
    call(
      'POST',
      '/api/v1/evaluation',
      { agent_name: agentName, stage: 'pre', step: { type: 'llm', name: 'answer', input } },
      { 'x-service-min-revision': String(minRevision) },
    );
  /** The same for a revision that there is: however long it takes to arrive on a busy machine. */
  const evaluateInTime = (...request: Parameters<typeof evaluateAt>) =>
    untilServed(() => evaluateAt(...request));
  const revisionOf = (reply: { headers: Headers }) => Number(reply.headers.get('x-service-revision'));
  const loads = () => ({
    links: reader.queries.filter((sql) => LINKS.test(sql)).length,
    controls: reader.queries.filter((sql) => CONTROLS.test(sql)).length,
  });

  /** Makes a change and returns its revision. */
  async function changed(...request: Parameters<RestClient>): Promise<number> {
    const reply = await write(...request);
    expect(reply).toMatchObject({ status: 200 });
    expect(revisionOf(reply)).toBeGreaterThan(0);
    return revisionOf(reply);
  }

  describe('agree on the next evaluation that requires the revision, and load one agent only, after', () => {
    const AGENT = 'followed-agent';
    const agentPath = `/api/v1/agents/${AGENT}`;
    let linked: number;
    let inPolicy: number;
    let policy: number;
    let other: number;
    beforeAll(async () => {
      linked = await seed.control('linked');
      inPolicy = await seed.control('in-policy', denyWord('bad'));
      policy = (await write('PUT', '/api/v1/policies', { name: 'first' })).body.policy_id;
      other = (await write('PUT', '/api/v1/policies', { name: 'second' })).body.policy_id;
      expect((await evaluate(read, AGENT, 'bad')).status).toBe(404);
    });

    const register = { agent: { agent_name: AGENT } };
    const steps: [name: string, request: () => Parameters<RestClient>, matches: string[]][] = [
      ['the registration of an agent', () => ['POST', '/api/v1/agents/initAgent', register], []],
      ['a link', () => ['POST', `${agentPath}/controls/${linked}`], ['linked']],
      ['a new name', () => ['PATCH', `/api/v1/controls/${linked}`, { name: 'renamed' }], ['renamed']],
      ['switching off', () => ['PATCH', `/api/v1/controls/${linked}`, { enabled: false }], []],
      ['switching on', () => ['PATCH', `/api/v1/controls/${linked}`, { enabled: true }], ['renamed']],
      ['a new definition', () => ['PUT', `/api/v1/controls/${linked}/data`, { data: denyWord('other') }], []],
      [
        'the restoration of a version',
        () => ['POST', `/api/v1/controls/${linked}/versions/1/restore`],
        ['linked'],
      ],
      ['the end of a link', () => ['DELETE', `${agentPath}/controls/${linked}`], []],
      ['a policy', () => ['POST', `${agentPath}/policies/${policy}`], []],
      [
        'a control of a policy',
        () => ['POST', `/api/v1/policies/${policy}/controls/${inPolicy}`],
        ['in-policy'],
      ],
      ['the end of a policy', () => ['DELETE', `${agentPath}/policies/${policy}`], []],
      ['a policy that has controls', () => ['POST', `${agentPath}/policies/${policy}`], ['in-policy']],
      ['the end of all policies', () => ['DELETE', `${agentPath}/policies`], []],
      ['the only policy', () => ['POST', `${agentPath}/policy/${policy}`], ['in-policy']],
      ['another policy in its place', () => ['POST', `${agentPath}/policy/${other}`], []],
      ['the first one again', () => ['POST', `${agentPath}/policy/${policy}`], ['in-policy']],
      [
        'a change of a control that only a policy brings',
        () => ['PUT', `/api/v1/controls/${inPolicy}/data`, { data: denyWord('other') }],
        [],
      ],
      [
        'another one',
        () => ['PUT', `/api/v1/controls/${inPolicy}/data`, { data: denyWord('b.d') }],
        ['in-policy'],
      ],
      [
        'the end of a control in a policy',
        () => ['DELETE', `/api/v1/policies/${policy}/controls/${inPolicy}`],
        [],
      ],
      ['its return', () => ['POST', `/api/v1/policies/${policy}/controls/${inPolicy}`], ['in-policy']],
      [
        'the deletion of a control that only a policy brings',
        () => ['DELETE', `/api/v1/controls/${inPolicy}?force=true`],
        [],
      ],
      ['a link once more', () => ['POST', `${agentPath}/controls/${linked}`], ['linked']],
      ['the end of the policy', () => ['DELETE', `${agentPath}/policy`], ['linked']],
      ['the deletion of a linked control', () => ['DELETE', `/api/v1/controls/${linked}?force=true`], []],
    ];
    it.each(steps)('%s', async (_name, request, matches) => {
      const before = loads();
      const revision = await changed(...request());
      const reply = await evaluateInTime(read, AGENT, 'bad', revision);
      expect(reply.status).toBe(200);
      expect(reply.body.matches.map((match: { control_name: string }) => match.control_name)).toEqual(
        matches,
      );
      expect(revisionOf(reply)).toBeGreaterThanOrEqual(revision);
      const bystander = await evaluateInTime(read, BYSTANDER, 'bad', revision);
      expect(bystander.body.is_safe).toBe(false);
      expect(revisionOf(bystander)).toBeGreaterThanOrEqual(revision);
      const after = loads();
      expect(after.links - before.links).toBeLessThanOrEqual(1);
      expect(after.controls - before.controls).toBeLessThanOrEqual(1);
      expect(after).not.toEqual(before);
    });
  });

  it('reload no agent for what changes no verdict', async () => {
    const before = loads();
    await write('PUT', '/api/v1/policies', { name: 'unused' });
    await seed.control('unused');
    const revision = await changed('POST', '/api/v1/agents/initAgent', {
      agent: { agent_name: BYSTANDER },
      steps: [{ type: 'tool', name: 'another' }],
    });
    expect(revisionOf(await evaluateInTime(read, BYSTANDER, 'bad', revision))).toBe(revision);
    expect(loads()).toEqual(before);
  });

  it('agree by themselves, without a demanded revision', async () => {
    const agent = 'patient-agent';
    await seed.agent(agent);
    const id = await seed.control('patient');
    expect((await evaluate(read, agent, 'bad')).body.is_safe).toBe(true);
    await seed.link(agent, id);
    await until(
      () => evaluate(read, agent, 'bad'),
      ({ body }) => body.is_safe === false,
    );
  });

  describe('report the revision that a verdict was made by', () => {
    const message = (minRevision = 0n) =>
      create(EvaluateRequestSchema, {
        agentName: BYSTANDER,
        stage: Stage.PRE,
        stepForm: {
          case: 'stepJson',
          value: new TextEncoder().encode('{"type":"llm","name":"answer","input":"bad"}'),
        },
        minRevision,
      });

    it.each(RPC_PROTOCOLS)('over %s, in the reply and in its trailer', async (protocol) => {
      const client = createClient(EvaluationService, rpcTransport(protocol, reader.url));
      const { revision: health } = (await read('GET', '/health')).body;
      let trailer = '';
      const reply = await client.evaluate(message(BigInt(health)), {
        onTrailer: (metadata) => {
          trailer = metadata.get('x-service-revision') ?? '';
        },
      });
      expect(reply.revision).toBeGreaterThanOrEqual(health);
      expect(trailer).toBe(String(reply.revision));
      const late = await client
        .evaluate(message(BigInt(FUTURE)))
        .catch((error: unknown) => ConnectError.from(error));
      expect(late).toMatchObject({
        code: Code.Unavailable,
        message: expect.stringContaining(String(FUTURE)),
      });
      for (const minRevision of [-1n, 2n ** 53n, 2n ** 63n - 1n]) {
        const refused = await client
          .evaluate(message(minRevision))
          .catch((error: unknown) => ConnectError.from(error));
        expect(refused).toMatchObject({
          code: Code.InvalidArgument,
          message: expect.stringContaining('min_revision'),
        });
      }
    });

    it('on a stream, where one that has to wait delays no other', async () => {
      const client = createClient(EvaluationService, rpcTransport('gRPC', reader.url));
      async function* messages() {
        yield { id: 'late', evaluations: [message(BigInt(FUTURE)), message()] };
        yield { id: 'early', evaluations: [message(1n)] };
      }
      const replies = [];
      for await (const reply of client.evaluateStream(messages())) replies.push(reply);
      expect(replies.map(({ id }) => id)).toEqual(['early', 'late']);
      expect(replies[0]?.results[0]?.outcome).toMatchObject({ case: 'verdict', value: { isSafe: false } });
      expect(replies[1]?.results.map(({ outcome }) => outcome.case)).toEqual(['error', 'verdict']);
      expect(replies[1]?.results[0]?.outcome.value).toMatchObject({ code: Code.Unavailable });
    });

    it('over REST, in a header and not in the body', async () => {
      const reply = await evaluate(read, BYSTANDER, 'bad');
      expect(revisionOf(reply)).toBeGreaterThan(0);
      expect(Object.keys(reply.body)).toEqual([
        'is_safe',
        'confidence',
        'reason',
        'matches',
        'errors',
        'non_matches',
      ]);
    });
  });

  it('refuse a revision that never comes after the wait, naming it and the one they have', async () => {
    const known = (await read('GET', '/health')).body.revision;
    const reply = await evaluateAt(read, BYSTANDER, 'bad', FUTURE);
    expect(reply).toMatchObject(problem(503, 'SERVICE_UNAVAILABLE'));
    expect(reply.body.detail).toContain(String(FUTURE));
    expect(reply.body.detail).toContain(String(known));
    expect(reply.headers.get('retry-after')).toBe('1');
  });

  it.each(['', ' ', '-1', '1.5', 'latest', '9007199254740992', '1, 2', '0x10'])(
    'refuse the header %j, and name it',
    async (value) => {
      const reply = await evaluateAt(read, BYSTANDER, 'bad', value);
      expect(reply).toMatchObject(problem(422, 'VALIDATION_ERROR'));
      expect(reply.body.errors[0].field).toBe('header.X-Service-Min-Revision');
    },
  );
});

describe.each([
  ['lost', 0],
  ['repeated', 3],
])('a replica whose notifications are %s', (_name, copies) => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let writer: TestService;
  let reader: TestService;
  beforeAll(async () => {
    database = await createTestDatabase('postgresql');
    proxy = await startTcpProxy(database.url);
    proxy.notifications(copies);
    writer = await startService({ DATABASE_URL: database.url });
    reader = await startService({ DATABASE_URL: proxy.url });
  });
  afterAll(async () => {
    await reader.stop();
    await writer.stop();
    await proxy.close();
    await database.drop();
  });

  it('follows all the same, and has at once what is demanded', async () => {
    const [write, read] = [restClient(writer.url), restClient(reader.url)];
    const seed = seeder(write);
    await seed.agent(BYSTANDER);
    const id = await seed.control('followed', denyWord('none'));
    await seed.link(BYSTANDER, id);
    const setWord = (word: string) => write('PUT', `/api/v1/controls/${id}/data`, { data: denyWord(word) });
    for (const word of ['one', 'two', 'three']) {
      await setWord(word);
      await until(
        () => evaluate(read, BYSTANDER, word),
        ({ body }) => body.is_safe === false,
      );
    }
    for (let count = 0; count < 20; count += 1) {
      const revision = (await setWord(`word-${count}.`)).headers.get('x-service-revision') ?? '';
      const reply = await read(
        'POST',
        '/api/v1/evaluation',
        {
          agent_name: BYSTANDER,
          stage: 'pre',
          step: { type: 'llm', name: 'answer', input: `word-${count}.` },
        },
        { 'x-service-min-revision': revision },
      );
      expect(reply).toMatchObject({ status: 200, body: { is_safe: false } });
    }
  });
});
