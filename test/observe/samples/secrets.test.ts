import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { replayed } from '../../e2e/replay.support.js';
import { describeAboveStores } from '../../support/databases.js';
import { restClient } from '../../support/http.js';
import { denyWord, seeder } from '../../support/seed.js';
import { testService } from '../../support/service-suite.js';
import { queryRow } from '../../support/sql.js';
import { until } from '../../support/until.js';

const AGENT = 'careful-bot-01';
/** What must not be found anywhere, as it is or in a part. */
const SECRETS = {
  card: '4111111111111111',
  spaced: '5500 0000 0000 0004',
  aws: 'AKIA3XJ5L7QWERTYZ2MN',
  github: 'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
  password: 'hunter2-is-not-safe',
  bearer: 'mF_9.B5f-4.1JqM-secret',
  mail: 'ann.lee@customers.example',
  iban: 'DE89370400440532013000',
  account: 'ACC-778812',
  path: 'what only the path hides',
};
const PLAIN = 'an ordinary word of the step';
const { card, spaced, aws, github, password, bearer, mail, iban, account } = SECRETS;

/** They are everywhere in it: in values, names of members, lists, numbers, and JSON inside of texts. */
const step = {
  type: 'tool',
  name: 'send',
  input: {
    plain: PLAIN,
    card,
    number: Number(card),
    [card]: 'in a name',
    [mail]: { [github]: 1 },
    list: [`pay with ${spaced} now`, { deep: [[aws]] }],
    password,
    auth: { user: 'ann', token: bearer },
    text: `password=${password} and Authorization: Bearer ${bearer}`,
    json: JSON.stringify({ inner: JSON.stringify({ password, card, of: [mail] }), number: Number(card) }),
    pem: `-----BEGIN PRIVATE KEY-----\n${'MIIEvQ'.repeat(20)}\n-----END PRIVATE KEY-----`,
    note: `see ${account}`,
    hidden: { of: SECRETS.path },
    iban,
  },
  output: { reply: `sent to ${mail}`, echo: [iban, github], number: Number(card) },
  context: { user: mail, headers: { cookie: `sid=${bearer}` }, [aws]: account },
};
const FORBIDDEN = [...Object.values(SECRETS), 'MIIEvQMIIEvQ', spaced.replaceAll(' ', '')];

/** The contents of all files of a folder. */
function bytesIn(folder: string): Buffer[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name)));
}

describeAboveStores('what is planted in steps', (freshDatabaseUrl, kind) => {
  /** Everything that the service wrote: the database, files beside it, those of events, and its log. */
  async function written(url: string, events: string, lines: readonly string[]): Promise<Buffer> {
    const log = [...lines, ...bytesIn(events).map((bytes) => bytes.toString('latin1'))];
    if (kind === 'sqlite') {
      const file = url.slice('file:'.length);
      const folder = path.dirname(file);
      const files = readdirSync(folder).filter((name) => name.startsWith(path.basename(file)));
      return Buffer.concat([
        ...files.map((name) => readFileSync(path.join(folder, name))),
        Buffer.from(log.join('\n')),
      ]);
    }
    const [tables] = await queryRow(
      url,
      `SELECT string_agg(table_name, ' ') FROM information_schema.tables WHERE table_schema = current_schema()`,
    );
    const texts = [...log];
    for (const table of String(tables).split(' ')) {
      texts.push(String((await queryRow(url, `SELECT string_agg(t::text, ' ') FROM "${table}" t`))[0]));
    }
    return Buffer.from(texts.join('\n'));
  }

  async function sampled(variables: Record<string, string>) {
    const url = await freshDatabaseUrl();
    const events = await mkdtemp(path.join(tmpdir(), 'sampled-events-'));
    onTestFinished(() => rm(events, { recursive: true, force: true }));
    const service = await testService(
      {
        DATABASE_URL: url,
        SERVICE_LOG_LEVEL: 'debug',
        SERVICE_EVENT_SPOOL_DIR: path.join(events, 'spool'),
        SERVICE_EVENT_PARQUET: path.join(events, 'parquet'),
        ...variables,
      },
      { keepsLines: true },
    );
    const call = restClient(service.url);
    const controlId = await seeder(call).linked(AGENT, 'has-words', denyWord('ordinary'));
    // Only the live control matches: each step is a difference.
    await call('PUT', `/api/v1/controls/${controlId}/shadow`, { data: denyWord('never') });
    const rule = { share: 1, masked_paths: ['input.hidden.of'], masked_patterns: ['ACC-[0-9]{6}'] };
    expect((await call('POST', '/api/v1/sampling-rules', rule)).status).toBe(200);
    for (const stage of ['pre', 'post']) {
      await call('POST', '/api/v1/evaluation', {
        agent_name: AGENT,
        stage,
        step,
        // Events have names and sessions as they are given.
        session_id: 'chat 7',
      });
    }
    const { body } = await until(
      () => call('GET', '/api/v1/samples'),
      (reply) => reply.body.pagination.total === 2,
    );
    const shown = await call('GET', `/api/v1/samples/${body.samples[0].decision_id}`);
    const { shadow } = await until(
      async () => (await call('GET', `/api/v1/controls/${controlId}/shadow`)).body,
      ({ shadow }) => shadow.only_live_matched === 2,
    );
    const documents = [{ kind: 'Control', name: 'has-words', data: denyWord('never') }];
    const { changes } = await replayed(service.url, { documents });
    expect(changes).toHaveLength(2);
    const live = await written(url, events, service.logLines);
    await service.stop();
    const all = Buffer.concat([live, await written(url, events, service.logLines)]);
    // The sink has the events of both steps.
    expect(bytesIn(path.join(events, 'parquet')).length).toBeGreaterThan(0);
    return { shown, all, lines: service.logLines, told: JSON.stringify([shadow, changes]) };
  }

  it('is in no byte of the database, the log, the spool or a sink, and what is not secret is', async () => {
    const { shown, all, lines, told } = await sampled({});
    const text = JSON.stringify(shown.body) + told;
    for (const secret of FORBIDDEN)
      expect([secret, all.includes(secret), text.includes(secret)]).toEqual([secret, false, false]);
    expect(all.includes(PLAIN)).toBe(true);
    expect(shown.body.session_id).toBe('chat 7');
    expect(shown.body.sample.masked_values).toBeGreaterThan(20);
    expect(lines.filter((line) => line.includes('SERVICE_SAMPLE_KEY_FILE'))).toHaveLength(1);
  });

  it('is not there with a key either, and neither is anything else of the step', async () => {
    const { shown, all, lines } = await sampled({ SERVICE_SAMPLE_KEY: '11'.repeat(32) });
    for (const text of [...FORBIDDEN, PLAIN, 'in a name'])
      expect([text, all.includes(text)]).toEqual([text, false]);
    expect(JSON.parse(shown.body.step_json).input.plain).toBe(PLAIN);
    expect(lines.filter((line) => line.includes('SERVICE_SAMPLE_KEY_FILE'))).toEqual([]);
  });
});
