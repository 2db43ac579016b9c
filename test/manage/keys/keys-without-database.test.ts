import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RemovableDatabase, removableDatabase } from '../../e2e/last-known-good.support.js';
import { sendJson } from '../../support/browser.js';
import { DATABASE_KINDS } from '../../support/databases.js';
import { startService, type TestService } from '../../support/service.js';
import { until } from '../../support/until.js';

const OPERATOR = 'operator-key-of-the-variables';
const AGENT = 'support-bot-01';

const call = (service: TestService, method: string, route: string, key: string, body?: unknown) =>
  sendJson(service.url, method, `/api/v1${route}`, body, { 'x-api-key': key });
const evaluate = (service: TestService, key: string) =>
  call(service, 'POST', '/evaluation', key, {
    agent_name: AGENT,
    stage: 'pre',
    step: { type: 'llm', name: 'answer', input: 'x' },
  });

describe.each(DATABASE_KINDS)('keys of a service that starts without its database, %s', (kind) => {
  let database: RemovableDatabase;
  let environment: Record<string, string>;
  beforeEach(async () => {
    database = await removableDatabase(kind);
    environment = {
      ...database.environment,
      SERVICE_API_KEY_ENABLED: 'true',
      SERVICE_OPERATOR_API_KEYS: OPERATOR,
    };
  });
  afterEach(() => database.drop());

  it('are those that it has saved, by their hashes; all others are refused', async () => {
    const before = await startService(environment);
    expect((await call(before, 'POST', '/namespaces', OPERATOR, { name: 'payments' })).status).toBe(200);
    const created = async (body: object) =>
      (await call(before, 'POST', '/keys', OPERATOR, { name: 'a key', role: 'agent', ...body })).json;
    const kept = await created({});
    const inNamespace = await created({ namespace: 'payments' });
    const revoked = await created({});
    const rotated = await created({});
    for (const key of [kept.secret, inNamespace.secret])
      expect(
        (await call(before, 'POST', '/agents/initAgent', key, { agent: { agent_name: AGENT } })).status,
      ).toBe(200);
    const { secret: newer } = (
      await call(before, 'POST', `/keys/${rotated.key.id}/rotate`, OPERATOR, { overlap_seconds: 3_600 })
    ).json;
    const last = await call(before, 'DELETE', `/keys/${revoked.key.id}`, OPERATOR);
    const revision = Number(last.headers['x-control-revision'] ?? 0);
    const header = await until(
      () => database.file.header(),
      (found) => found !== null && found.keys === 3 && found.revision >= revision,
    );
    expect(header?.keys).toBe(3);
    await before.stop();

    await database.takeAway();
    const blind = await startService(environment);
    for (const key of [kept.secret, inNamespace.secret, rotated.secret, newer])
      expect((await evaluate(blind, key)).status).toBe(200);
    expect((await evaluate(blind, revoked.secret)).status).toBe(401);
    // Keys are neither made nor shown meanwhile.
    expect((await call(blind, 'GET', '/keys', OPERATOR)).status).toBe(503);
    expect((await call(blind, 'POST', '/keys', OPERATOR, { name: 'x', role: 'agent' })).status).toBe(503);

    // When the database is back, it decides.
    await database.bringBack();
    await until(
      () => call(blind, 'DELETE', `/keys/${kept.key.id}`, OPERATOR),
      ({ status }) => status === 200,
    );
    expect((await evaluate(blind, kept.secret)).status).toBe(401);
    expect((await evaluate(blind, inNamespace.secret)).status).toBe(200);
    await blind.stop();
  });
});
