import { expect, it } from 'vitest';
import { describeAboveStores } from '../support/databases.js';
import { type RestClient, restClient } from '../support/http.js';
import { metric, parseMetrics } from '../support/prometheus.js';
import {
  methodNamed,
  PROTOCOLS,
  type ProtocolClient,
  type ProtocolName,
} from '../support/protocol-clients.js';
import { denyWord, evaluate, seeder } from '../support/seed.js';
import { startService } from '../support/service.js';
import { testService } from '../support/service-suite.js';
import { problems } from './events.support.js';

const AGENT = 'counted-bot-1';
const FAILING = 'failing-bot-1';
const PREFIX = 'control_enforcement_server';
const BROKEN = { selector: {}, evaluator: { name: 'missing-one', config: {} } };

/** What a word in a step comes to. */
const WORDS = {
  fine: {},
  bad: { denied: 1 },
  guided: { steered: 1 },
  watched: { observed: 1 },
} as const;
const NONE = { evaluated: 0, allowed: 0, denied: 0, steered: 0, denied_by_error: 0, observed: 0, failed: 0 };
const words = Object.keys(WORDS) as (keyof typeof WORDS)[];

/** The log of what was sent. */
class Tally {
  evaluated = 0;
  denied = 0;
  steered = 0;
  denied_by_error = 0;
  observed = 0;
  failed = 0;

  note(agent: string, word: keyof typeof WORDS): void {
    const more: Partial<Record<keyof Tally, number>> =
      agent === AGENT ? WORDS[word] : { denied: 1, denied_by_error: 1, failed: 1 };
    this.evaluated += 1;
    for (const [sum, number] of Object.entries(more)) this[sum as 'evaluated'] += number;
  }

  get counts() {
    const { evaluated, denied, steered, denied_by_error, observed, failed } = this;
    const allowed = evaluated - denied - steered;
    return { evaluated, allowed, denied, steered, denied_by_error, observed, failed };
  }
}

async function seed(call: RestClient) {
  const { agent, control, link, linked } = seeder(call);
  await agent(AGENT);
  const guidance = { decision: 'steer', steering_context: { message: 'rather not' } };
  const controls = [];
  for (const [name, data] of [
    ['denies', denyWord('bad')],
    ['steers', denyWord('guided', { action: guidance })],
    ['observes', denyWord('watched', { action: { decision: 'observe' } })],
  ] as const) {
    controls.push(await control(name, data));
    await link(AGENT, controls.at(-1) as number);
  }
  await linked(FAILING, 'fails', denyWord('x', { condition: BROKEN }));
}

const evaluation = (agent: string, word: string) => ({
  agent_name: agent,
  stage: 'pre',
  step: { type: 'llm', name: 'answer', input: { text: word } },
});

const evaluateMethod = methodNamed('EvaluationService.Evaluate');
const batchMethod = methodNamed('EvaluationService.EvaluateBatch');
const streamMethod = methodNamed('EvaluationService.EvaluateStream');
const statsMethod = methodNamed('ObservabilityService.GetEvaluationStats');

/** Sends everything one by one and as a batch, and over a stream where the protocol has one. */
async function send(client: ProtocolClient, canStream: boolean, tally: Tally): Promise<void> {
  const all = [AGENT, FAILING].flatMap((agent) => words.map((word) => [agent, word] as const));
  const evaluations = all.map(([agent, word]) => evaluation(agent, word));
  const noteAll = () => {
    for (const [agent, word] of all) tally.note(agent, word);
  };
  for (const one of evaluations) {
    const reply = await client.call(evaluateMethod, one);
    expect(reply).toMatchObject({ ok: true });
  }
  noteAll();
  // Refusals are not counted: of agents that do not exist, and of steps that are none.
  await expect(client.call(evaluateMethod, evaluation('unknown-bot-1', 'bad'))).resolves.toMatchObject({
    ok: false,
  });
  const refused = [evaluation('unknown-bot-1', 'bad'), { agent_name: AGENT, stage: 'pre' }];
  await expect(
    client.call(batchMethod, { evaluations: [...evaluations, ...refused] }),
  ).resolves.toMatchObject({ ok: true });
  noteAll();
  if (!canStream) return;
  await client.stream(streamMethod, [
    { id: 'one', evaluations },
    { id: 'two', evaluations },
  ]);
  noteAll();
  noteAll();
}

describeAboveStores('counts of evaluations', (freshDatabaseUrl) => {
  it.each(['none', 'matches', 'all'])(
    'are the same in the reply, in the metrics and in the log of who sent them; recorded: %s',
    async (record) => {
      const service = await testService({
        DATABASE_URL: await freshDatabaseUrl(),
        SERVICE_OBSERVABILITY_RECORD: record,
      });
      const call = restClient(service.url);
      await seed(call);
      const tally = new Tally();
      const protocols: readonly ProtocolName[] = [
        'REST over h1',
        'gRPC (grpc-js)',
        'gRPC-Web over h1',
        'Connect over h1',
        'Connect with JSON over h1',
      ];
      for (const name of protocols) {
        const client = PROTOCOLS[name](service.url);
        try {
          await send(client, name === 'gRPC (grpc-js)', tally);
          await expect(call('POST', '/api/v1/observability/flush')).resolves.toMatchObject({
            status: 200,
          });
          const reply = await client.call(statsMethod, { time_range: '1h', include_timeseries: true });
          expect(reply).toMatchObject({ ok: true, reply: { time_range: '1h', bucket_seconds: 300 } });
          if (!reply.ok) return;
          expect(reply.reply.counts).toEqual(tally.counts);
          expect(reply.reply.agents).toMatchObject([{ agent_name: FAILING }, { agent_name: AGENT }]);
          expect(reply.reply.timeseries).toHaveLength(12);
        } finally {
          client.close();
        }
      }
      const samples = parseMetrics(String((await call('GET', '/metrics')).body));
      const outcome = (label: string) =>
        metric(samples, `${PREFIX}_evaluation_outcomes_total`, { outcome: label });
      const { counts } = tally;
      expect({
        evaluated: metric(samples, `${PREFIX}_evaluation_outcomes_total`),
        allowed: outcome('allow'),
        denied: outcome('deny') + outcome('deny_by_error'),
        steered: outcome('steer'),
        denied_by_error: outcome('deny_by_error'),
        observed: metric(samples, `${PREFIX}_evaluations_observed_total`),
        failed: metric(samples, `${PREFIX}_evaluations_failed_total`),
      }).toEqual(counts);
      expect(metric(samples, `${PREFIX}_evaluations_total`)).toBe(counts.evaluated);
      expect(metric(samples, `${PREFIX}_evaluation_counts_waiting`)).toBe(0);
      expect(metric(samples, `${PREFIX}_evaluation_counts_lost_total`)).toBe(0);
    },
  );

  it('are stored at shutdown, and go on after it', async () => {
    const environment = { DATABASE_URL: await freshDatabaseUrl(), SERVICE_OBSERVABILITY_RECORD: 'none' };
    const first = await startService(environment);
    const call = restClient(first.url);
    try {
      await seed(call);
      for (const word of words) await evaluate(call, AGENT, word);
    } finally {
      await first.stop();
    }
    const second = await testService(environment);
    const again = restClient(second.url);
    const counted = async (query = '') =>
      (await again('GET', `/api/v1/observability/evaluations?time_range=1h${query}`)).body;
    expect((await counted()).counts.evaluated).toBe(4);
    for (const word of words) await evaluate(again, AGENT, word);
    expect((await again('POST', '/api/v1/observability/flush')).status).toBe(200);
    const { counts, previous, counted_since: since } = await counted('&include_previous=true');
    expect(counts).toEqual({ ...NONE, evaluated: 8, allowed: 4, denied: 2, steered: 2, observed: 2 });
    expect(previous).toBeNull();
    expect(Date.parse(since)).toBeLessThanOrEqual(Date.now());
    const { counts: others } = await counted(`&agent_name=${FAILING}`);
    expect(others).toEqual(NONE);
  });

  it('list the agents that are named, whatever others have', async () => {
    const { url } = await testService({
      DATABASE_URL: await freshDatabaseUrl(),
      SERVICE_OBSERVABILITY_RECORD: 'none',
    });
    const call = restClient(url);
    await seed(call);
    for (const word of ['bad', 'bad', 'fine']) await evaluate(call, AGENT, word);
    for (const word of words) await evaluate(call, FAILING, word);
    const path = '/api/v1/observability/evaluations';
    const listed = async (query: string) => {
      const { status, body } = await call('GET', `${path}?time_range=1h&include_timeseries=false${query}`);
      expect([status, body.counts?.evaluated]).toEqual([200, 7]);
      return body.agents.map((one: { agent_name: string }) => one.agent_name);
    };
    const ofAgent = { ...NONE, evaluated: 3, allowed: 1, denied: 2 };
    const one = (await call('GET', `${path}?listed_agents=${AGENT}`)).body;
    expect(one.agents).toEqual([{ agent_name: AGENT, counts: ofAgent }]);
    expect(await listed('&limit=1')).toEqual([FAILING]);
    expect(await listed(`&limit=1&listed_agents=${AGENT.toUpperCase()}`)).toEqual([AGENT]);
    // Those with the most denials first, beyond the limit as well; without those that have no evaluations.
    const both = [AGENT, 'unknown-bot-1', FAILING, AGENT].map((name) => `&listed_agents=${name}`).join('');
    expect(await listed(`&limit=1${both}`)).toEqual([FAILING, AGENT]);
    expect(await listed('&listed_agents=unknown-bot-1')).toEqual([]);

    const refused = async (query: string) => {
      const reply = await call('GET', `${path}?${query}`);
      return [reply.status, problems(reply)];
    };
    const many = (count: number) =>
      Array.from({ length: count }, (_, number) => `listed_agents=many-bots-${number}`).join('&');
    expect(await refused(many(100))).toEqual([200, []]);
    expect(await refused(many(101))).toEqual([422, ['query.listed_agents too_long']]);
    expect(await refused(`agent_name=${AGENT}&listed_agents=${AGENT}`)).toEqual([
      422,
      ['query.listed_agents value_error'],
    ]);
    expect(await refused(`listed_agents=${AGENT}&listed_agents=short`)).toEqual([
      422,
      ['query.listed_agents[1] value_error'],
    ]);
  });

  it('are switched off with the event store', async () => {
    const { url } = await testService({
      DATABASE_URL: await freshDatabaseUrl(),
      SERVICE_OBSERVABILITY_ENABLED: 'false',
    });
    const call = restClient(url);
    await seed(call);
    await evaluate(call, AGENT, 'bad');
    expect((await call('GET', '/api/v1/observability/evaluations')).status).toBe(503);
    const samples = parseMetrics(String((await call('GET', '/metrics')).body));
    expect(metric(samples, `${PREFIX}_evaluation_outcomes_total`)).toBe(0);
  });
});
