import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { beforeAll, expect, it } from 'vitest';
import { SampleService } from '../../gen/proto/enforcement/v1/sample_service_pb.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { denyWord } from '../support/seed.js';
import { describeService } from '../support/service-suite.js';
import { executeSql } from '../support/sql.js';
import { until } from '../support/until.js';
import { replayed } from './replay.support.js';

const AGENTS = ['replayed-bot-1', 'replayed-bot-2'];
const WORDS = ['fine', 'bad', 'worse', 'good'];

const control = (name: string, word: string, more: object = {}) => ({
  kind: 'Control',
  name,
  data: denyWord(word, more),
});

describeService('ReplaySamples', ({ call, seed, service }) => {
  const replay = (body: object) => replayed(service.url, body);
  const listed = async (count: number) => {
    const { body } = await until(
      () => call('GET', '/api/v1/samples?limit=100'),
      (reply) => reply.body.pagination.total >= count,
    );
    return body.samples as { decision_id: string }[];
  };

  beforeAll(async () => {
    const id = await seed.control('no-bad', denyWord('bad'));
    for (const agent of AGENTS) {
      await seed.agent(agent);
      await seed.link(agent, id);
    }
    expect((await call('POST', '/api/v1/sampling-rules', { share: 1 })).status).toBe(200);
    for (const agent_name of AGENTS) {
      for (const text of WORDS) {
        const step = { type: 'tool', name: 'send', input: { text } };
        await call('POST', '/api/v1/evaluation', { agent_name, stage: 'pre', step });
      }
    }
    await listed(8);
  });

  it('changes nothing without a proposal', async () => {
    const { changes, progress, summary } = await replay({});
    expect(changes).toEqual([]);
    expect(progress[0]).toEqual({ done: 0, total: 8 });
    expect(progress.at(-1)).toEqual({ done: 8, total: 8 });
    expect(summary).toMatchObject({
      samples: 8,
      skipped: 0,
      changed: 0,
      newly_denied: 0,
      newly_allowed: 0,
      controls: [{ control_name: 'no-bad', live_matches: 2, proposed_matches: 2 }],
      without_memory: [],
    });
    expect(summary.live_p50_us).toBeGreaterThan(0);
    expect(summary.live_p99_us).toBeGreaterThanOrEqual(summary.live_p50_us);
    expect((await listed(8)).length).toBe(8);
  });

  it('tells each verdict that differs, and why', async () => {
    const { changes, summary } = await replay({ documents: [control('no-bad', 'worse')] });
    expect(changes).toHaveLength(4);
    expect(changes.filter(({ live }) => live === 'allow')).toMatchObject(
      AGENTS.map(() => ({
        sample: { outcome: 'allow' },
        proposed: 'deny',
        proposed_reason: expect.stringContaining('no-bad'),
        added_controls: ['no-bad'],
        removed_controls: [],
      })),
    );
    expect(summary).toMatchObject({
      changed: 4,
      newly_denied: 2,
      newly_allowed: 2,
      agents: AGENTS.map((agent_name) => ({ agent_name, samples: 4, newly_denied: 1, newly_allowed: 1 })),
    });
    // Nothing was recorded or changed.
    expect((await replay({ without_controls: ['no-bad'] })).summary).toMatchObject({ newly_allowed: 2 });
  });

  it('takes policies and links, and those of some agents', async () => {
    const more = [
      control('no-good', 'good'),
      { kind: 'Policy', name: 'for-all', every_agent: true, controls: ['no-good'] },
    ];
    expect((await replay({ documents: more })).summary).toMatchObject({ newly_denied: 2, newly_allowed: 0 });
    const linked = [more[0], { kind: 'AgentLinks', name: AGENTS[1], controls: ['no-good'], policies: [] }];
    const { summary } = await replay({ documents: linked });
    expect(summary).toMatchObject({
      changed: 2,
      agents: [{ agent_name: AGENTS[1], newly_denied: 1, newly_allowed: 1 }, { agent_name: AGENTS[0] }],
    });
    const one = await replay({ documents: linked, agent_name: AGENTS[0] });
    expect(one.summary).toMatchObject({ samples: 4, changed: 0 });
  });

  it('takes the latest samples, of a time, and tells as many changes as asked for', async () => {
    const documents = [control('no-bad', '.')];
    const few = await replay({ documents, max_samples: 3, max_changes: 1 });
    expect(few.summary).toMatchObject({ samples: 3, changed: 2 });
    expect(few.changes).toHaveLength(1);
    const since = new Date(Date.now() + 60_000).toISOString();
    expect((await replay({ documents, since })).summary).toMatchObject({ samples: 0, live_p50_us: 0 });
  });

  it('names controls whose memory is not there', async () => {
    const rate = {
      kind: 'Limit',
      name: 'few-steps',
      data: {
        execution: 'server',
        condition: {
          selector: { path: '*' },
          evaluator: { name: 'rate', config: { limit: 1, period: '1h', key: ['agent'] } },
        },
        action: { decision: 'deny' },
      },
    };
    const links = { kind: 'AgentLinks', name: AGENTS[0], controls: ['few-steps'], policies: [] };
    const { summary } = await replay({ documents: [rate, links] });
    expect(summary).toMatchObject({ newly_denied: 0, newly_allowed: 1, without_memory: ['few-steps'] });
  });

  it.each(RPC_PROTOCOLS)('sends the same over %s', async (protocol) => {
    const client = createClient(SampleService, rpcTransport(protocol, service.url));
    const kinds: string[] = [];
    for await (const { news } of client.replaySamples({ withoutControls: ['no-bad'] })) {
      kinds.push(news.case ?? 'nothing');
      if (news.case === 'summary') expect(news.value).toMatchObject({ samples: 8n, newlyAllowed: 2n });
    }
    expect(kinds).toEqual(['progress', 'change', 'change', 'progress', 'summary']);
    const first = client.replaySamples({ maxSamples: 0 })[Symbol.asyncIterator]().next();
    const refused = await first.then(
      () => null,
      (error: unknown) => Code[ConnectError.from(error).code],
    );
    expect(refused).toBe('InvalidArgument');
  });

  it('names all problems of a proposal', async () => {
    const problems = async (body: object) => {
      const reply = await call('POST', '/api/v1/samples/replay', body);
      expect(reply.status).toBe(422);
      return reply.body.errors.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`);
    };
    const broken = { ...denyWord('('), action: { decision: 'never' } };
    expect(
      await problems({
        documents: [
          { kind: 'Control', name: 'a', data: broken },
          { kind: 'Nothing', name: 'b' },
        ],
      }),
    ).toEqual([
      'documents[0].data.condition.evaluator.pattern value_error',
      'documents[0].data.action.decision value_error',
      'documents[1].kind literal_error',
    ]);
    expect(
      await problems({
        documents: [
          { kind: 'Policy', name: 'p', controls: ['none-such'] },
          { ...control('a', 'x'), namespace: 'b' },
        ],
      }),
    ).toEqual(['documents[1].namespace other_namespace']);
    expect(
      await problems({
        documents: [{ kind: 'Policy', name: 'p', controls: ['none-such'] }],
        without_controls: ['no-bat'],
      }),
    ).toEqual(['without_controls[0] unknown_control', 'documents[0].controls unknown_control']);
    expect(await problems({ since: 'yesterday', max_samples: 1_000_001, max_changes: -1 })).toEqual([
      'since datetime_parsing',
      'max_samples less_than_equal',
      'max_changes greater_than_equal',
    ]);
  });

  it('leaves out samples that cannot be read, and those of agents that do not exist any more', async () => {
    const [first] = await listed(8);
    const damaged = `UPDATE step_samples SET content = 'aes256gcm:AAAA' WHERE decision_id = '${first?.decision_id}'`;
    await executeSql(service.databaseUrl, damaged);
    expect((await replay({})).summary).toMatchObject({ samples: 7, skipped: 1 });
    const { status, body } = await call('GET', `/api/v1/samples/${first?.decision_id}`);
    expect([status, body.error_code]).toEqual([422, 'CORRUPTED_DATA']);
    expect((await call('DELETE', `/api/v1/agents/${AGENTS[0]}`)).status).toBe(200);
    expect((await replay({})).summary).toMatchObject({ samples: 3, skipped: 5 });
  });
});
