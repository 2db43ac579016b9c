import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { describeOnEachDatabase } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { seeder } from '../support/seed.js';
import { testService } from '../support/service-suite.js';
import { queryRow } from '../support/sql.js';
import { until } from '../support/until.js';

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

describeOnEachDatabase('what is planted in steps', (freshDatabaseUrl, kind) => {
  /** Everything that the service wrote: the database, files beside it, and its log. */
  async function written(url: string, log: readonly string[]): Promise<Buffer> {
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
    const service = await testService(
      { DATABASE_URL: url, SERVICE_LOG_LEVEL: 'debug', ...variables },
      { keepsLines: true },
    );
    const call = restClient(service.url);
    await seeder(call).agent(AGENT);
    const rule = { share: 1, masked_paths: ['input.hidden.of'], masked_patterns: ['ACC-[0-9]{6}'] };
    expect((await call('POST', '/api/v1/sampling-rules', rule)).status).toBe(200);
    for (const stage of ['pre', 'post']) {
      await call('POST', '/api/v1/evaluation', {
        agent_name: AGENT,
        stage,
        step,
        session_id: `chat of ${mail}`,
      });
    }
    const { body } = await until(
      () => call('GET', '/api/v1/samples'),
      (reply) => reply.body.pagination.total === 2,
    );
    const shown = await call('GET', `/api/v1/samples/${body.samples[0].decision_id}`);
    return { shown, all: await written(url, service.logLines), lines: service.logLines };
  }

  it('is in no byte of the database or the log, and what is not secret is', async () => {
    const { shown, all, lines } = await sampled({});
    const text = JSON.stringify(shown.body);
    for (const secret of FORBIDDEN)
      expect([secret, all.includes(secret), text.includes(secret)]).toEqual([secret, false, false]);
    expect(all.includes(PLAIN)).toBe(true);
    expect(shown.body.session_id).toBe('chat of ***');
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
