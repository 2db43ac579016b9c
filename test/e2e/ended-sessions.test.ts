import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { beforeAll, expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { cookieSetBy, logIn, sendJson } from '../support/browser.js';
import { describeAboveStores } from '../support/databases.js';
import { rpcTransport } from '../support/rpc-transports.js';
import type { TestService } from '../support/service.js';
import { suiteService, testService } from '../support/service-suite.js';

const KEY = 'a-key-of-the-dashboard-1';
const CLOSED = {
  SERVICE_API_KEY_ENABLED: 'true',
  SERVICE_ADMIN_API_KEYS: KEY,
  SERVICE_SESSION_SECRET: 'a secret of the tests, long enough to sign with',
};

async function listStatus(service: TestService, cookie: string): Promise<number> {
  return (await sendJson(service.url, 'GET', '/api/v1/agents', undefined, { cookie })).status;
}

async function webStatus(service: TestService, cookie: string): Promise<Code | 'ok'> {
  const client = createClient(AgentService, rpcTransport('gRPC-Web over HTTP/1.1', service.url));
  try {
    await client.listAgents({}, { headers: { cookie } });
    return 'ok';
  } catch (error) {
    return ConnectError.from(error).code;
  }
}

async function logOut(service: TestService, cookie: string): Promise<number> {
  const reply = await sendJson(service.url, 'POST', '/api/logout', undefined, { cookie });
  expect(cookieSetBy(reply)?.attributes['max-age']).toBe('0');
  return reply.status;
}

/** Another text of the same signature: the last two bits of its last character count for nothing. */
function otherText(cookie: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = alphabet.indexOf(cookie.at(-1) ?? '');
  return `${cookie.slice(0, -1)}${alphabet[last ^ 1]}`;
}

describeAboveStores('a session after its logout', (freshDatabaseUrl) => {
  const here = suiteService(async () => ({ ...CLOSED, DATABASE_URL: await freshDatabaseUrl() }));
  const there = suiteService(() => ({ ...CLOSED, DATABASE_URL: here.databaseUrl }));
  beforeAll(async () => {
    await sendJson(
      here.url,
      'POST',
      '/api/v1/agents/initAgent',
      { agent: { agent_name: 'some-agent' }, steps: [] },
      { 'x-api-key': KEY },
    );
  });

  it('is refused by every instance, while other sessions of its key go on', async () => {
    const [ended, other] = [await logIn(here.url, KEY), await logIn(here.url, KEY)];
    expect(ended).not.toBe(other);
    expect(await listStatus(there, ended)).toBe(200);
    expect(await logOut(here, ended)).toBe(204);
    expect([await listStatus(here, ended), await webStatus(here, ended)]).toEqual([
      401,
      Code.Unauthenticated,
    ]);
    await expect.poll(() => listStatus(there, ended)).toBe(401);
    expect(await webStatus(there, ended)).toBe(Code.Unauthenticated);
    const config = await sendJson(here.url, 'GET', '/api/config', undefined, { cookie: ended });
    expect(config.json.has_active_session).toBe(false);
    expect([await listStatus(here, other), await listStatus(there, other)]).toEqual([200, 200]);
  });

  it('is refused when the text of its signature is changed to an equal one', async () => {
    const cookie = await logIn(here.url, KEY);
    expect(await listStatus(here, otherText(cookie))).toBe(200);
    expect(await logOut(here, cookie)).toBe(204);
    expect(await listStatus(here, otherText(cookie))).toBe(401);
  });

  it('is refused after a restart', async () => {
    const cookie = await logIn(here.url, KEY);
    expect(await logOut(here, cookie)).toBe(204);
    const later = await testService({ ...CLOSED, DATABASE_URL: here.databaseUrl });
    expect(await listStatus(later, cookie)).toBe(401);
  });

  it('has no open streams left, in any instance', async () => {
    const cookie = await logIn(here.url, KEY);
    const streams = await Promise.all(
      [here, there].map(async (service) => {
        const client = createClient(AgentService, rpcTransport('gRPC-Web over HTTP/1.1', service.url));
        const stream = client.watchControls({ agentName: 'some-agent' }, { headers: { cookie } });
        const messages = stream[Symbol.asyncIterator]();
        await messages.next();
        return messages;
      }),
    );
    expect(await logOut(here, cookie)).toBe(204);
    for (const messages of streams) {
      const readAll = async () => {
        while ((await messages.next()).done !== true);
      };
      await expect(readAll()).rejects.toMatchObject({
        code: Code.Unauthenticated,
        rawMessage: expect.stringContaining('session'),
      });
    }
  });

  it('costs others nothing: a logout without a session, or with a forged one, changes nothing', async () => {
    const cookie = await logIn(here.url, KEY);
    expect((await sendJson(here.url, 'POST', '/api/logout')).status).toBe(204);
    expect(await logOut(here, `${cookie.slice(0, -6)}AAAAAA`)).toBe(204);
    expect(await listStatus(here, cookie)).toBe(200);
  });

  it('lasts as long as the setting says', async () => {
    const service = await testService({
      ...CLOSED,
      DATABASE_URL: here.databaseUrl,
      SERVICE_SESSION_HOURS: '8',
    });
    const reply = await sendJson(service.url, 'POST', '/api/login', { api_key: KEY });
    expect(cookieSetBy(reply)?.attributes['max-age']).toBe('28800');
  });
});
