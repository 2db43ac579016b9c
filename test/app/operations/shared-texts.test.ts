import { gunzipSync } from 'node:zlib';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { sharedText } from '../../../src/app/operations/operations-routes.js';
import { registerOpenApi } from '../../../src/serve/openapi/openapi-routes.js';

describe('a text that many readers share', () => {
  function texts(length: number) {
    let time = 0;
    let made = 0;
    const text = sharedText(
      async () => {
        made += 1;
        return String(made).padEnd(length);
      },
      () => time,
    );
    return {
      text,
      made: () => made,
      pass(ms: number) {
        time += ms;
      },
    };
  }

  it('is made once for those who ask at the same time, and anew for later ones', async () => {
    const { text, made } = texts(10);
    const answers = await Promise.all(Array.from({ length: 50 }, () => text()));
    expect(made()).toBe(1);
    expect(new Set(answers).size).toBe(1);
    await text();
    expect(made()).toBe(2);
  });

  it('is made the more rarely the longer it is', async () => {
    const { text, made, pass } = texts(1_500_000);
    for (let ask = 0; ask < 50; ask += 1) await text();
    expect(made()).toBe(7);
    pass(1_000);
    await text();
    expect(made()).toBe(7);
    pass(2_000);
    await text();
    expect(made()).toBe(8);
  });

  it('does not keep a failure', async () => {
    let fails = true;
    const text = sharedText(
      async () => {
        if (fails) throw new Error('not now');
        return 'text';
      },
      () => 0,
    );
    await expect(text()).rejects.toThrow('not now');
    fails = false;
    expect(String(await text())).toBe('text');
  });
});

describe('the OpenAPI document', () => {
  let app: FastifyInstance;
  afterEach(() => app.close());

  it('is made once for all readers, compressed for those who accept that, and counted for their addresses', async () => {
    let made = 0;
    const counted: number[] = [];
    app = fastify();
    app.decorateRequest('ticket', {
      getter: () => ({ sendsPublic: (bytes: number) => void counted.push(bytes) }) as never,
    });
    registerOpenApi(app, async () => {
      made += 1;
      return { openapi: '3.1.0', paths: {}, info: { description: 'text '.repeat(1_000) } };
    });
    const ask = (encoding: string) =>
      app.inject({ url: '/openapi.json', headers: { 'accept-encoding': encoding } });
    const [plain, ...compressed] = await Promise.all([ask('identity'), ask('gzip'), ask('gzip')]);
    expect(made).toBe(1);
    for (const reply of compressed) {
      expect(reply.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
      expect(String(gunzipSync(reply.rawPayload))).toBe(plain?.body);
    }
    expect(counted.sort((one, other) => one - other)).toEqual(
      [...compressed, plain].map((reply) => reply?.rawPayload.length),
    );
  });

  it('is tried again after it could not be made', async () => {
    let fails = true;
    app = fastify();
    app.decorateRequest('ticket', { getter: () => ({ sendsPublic: () => {} }) as never });
    registerOpenApi(app, async () => {
      if (fails) throw new Error('not now');
      return { openapi: '3.1.0' };
    });
    expect((await app.inject('/openapi.json')).statusCode).toBe(500);
    fails = false;
    expect((await app.inject('/openapi.json')).json()).toEqual({ openapi: '3.1.0' });
  });
});
