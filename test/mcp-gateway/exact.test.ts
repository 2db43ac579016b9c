import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../packages/client/src/node.js';
import { type JsonValue, jsonEqual, parseJson } from '../../packages/exact-json/src/index.js';
import {
  exactOf,
  markedText,
  printMessage,
  rawOf,
  readMessage,
  revived,
} from '../../packages/mcp-gateway/src/exact-message.js';
import { caseSeed } from '../serve/wire/random.js';
import { suiteService } from '../support/service-suite.js';
import { startTestGateway, type TestGateway, VERSIONS } from './gateway.support.js';
import { rawClient } from './raw-client.js';
import { type Scripted, startScripted } from './scripted-upstream.js';

const AGENT = 'exact-agent-01';
const deny = (path: string, pattern: string, stage: string) => ({
  execution: 'server',
  scope: { stages: [stage] },
  condition: { selector: { path }, evaluator: { name: 'regex', config: { pattern } } },
  action: { decision: 'deny' },
});

/** Numbers that JavaScript changes, and others. */
const NUMBERS = [
  ...[
    '9007199254740993',
    '-9007199254740993',
    '1.0',
    '-0',
    '-0.0',
    '1e2',
    '1E+2',
    '0.10',
    '1',
    '-1.5',
    '5e-324',
  ],
  ...[
    '123456789012345678901234567890',
    '0.1234567890123456789',
    '1e21',
    '0.0000001',
    '1e-7',
    '1.5e300',
    '100',
  ],
];
const numberText = fc.oneof(
  fc.constantFrom(...NUMBERS),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => JSON.stringify(one)),
  fc
    .tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.nat(20), fc.integer({ min: -99, max: 99 }))
    .map(([digits, fraction, exponent]) => `${digits}.${fraction}e${exponent}`),
);
/** No index: JavaScript moves these to the front. */
const memberName = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toJSON', 'a', 'ſ', '\ud800', 'with "quotes" and \\'),
  fc.string({ unit: 'grapheme', maxLength: 8 }).map((name) => `m${name}`),
);
const text = fc.oneof(fc.string({ maxLength: 20 }), fc.constantFrom('\udfff', '1.0', '"1.0"', '\\', ': 1.0'));
/** JSON texts as `JSON.stringify` lays them out, with numbers in any form. */
const { json } = fc.letrec<{ json: string; object: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    numberText,
    text.map((one) => JSON.stringify(one)),
    fc.constantFrom('null', 'true', 'false'),
    fc.array(tie('json'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    tie('object'),
  ),
  object: fc
    .uniqueArray(fc.tuple(memberName, tie('json')), { maxLength: 4, selector: ([name]) => name })
    .map((members) => `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`),
}));
const object = json.map((one) => `{"value":${one}}`);
const numRuns = Number(process.env.VERIFY_RUNS ?? 300);

it('a message is printed as it was read, and its view has the same values', () => {
  fc.assert(
    fc.property(object, (written) => {
      const message = readMessage(written);
      expect(printMessage(message)).toBe(written);
      expect(printMessage(revived(JSON.parse(markedText(written))))).toBe(written);
      const view = exactOf(message) as JsonValue;
      expect(jsonEqual(view, parseJson(written))).toBe(true);
      // What is changed at one place keeps the form of all other numbers.
      expect(printMessage(rawOf(view, message))).toBe(written);
    }),
    { seed: caseSeed(), numRuns },
  );
});

it('a text that readers could differ in is no message', () => {
  const deep = `${'['.repeat(250)}${']'.repeat(250)}`;
  const others = [
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":2}',
    '{"a":{"b":[{"c":1,"c":2}]}}',
    '1e400',
    '[NaN]',
    '-Infinity',
  ];
  for (const written of [...others, '{"a":1} x', '\ufeff{}', '{"a":01}', '', deep, '9'.repeat(5_000)])
    expect(() => readMessage(written), written.slice(0, 40)).toThrow();
});

const service = suiteService();
let client: ReturnType<typeof createClient>;
let seen: JsonValue[] = [];
beforeAll(async () => {
  await service.seed.agent(AGENT);
  await service.seed.link(
    AGENT,
    await service.seed.control('no-993', deny('input.id', '^9007199254740993$', 'pre')),
  );
  await service.seed.link(
    AGENT,
    await service.seed.control('no-997', deny('output.structuredContent.id', '^9007199254740997$', 'post')),
  );
  await service.seed.link(
    AGENT,
    await service.seed.control('no-999', deny('output.error.data.id', '^9007199254740999$', 'post')),
  );
  const real = createClient({ baseUrl: service.url, timeoutMs: 300_000 });
  client = Object.assign(Object.create(real), real, {
    evaluate: (...given: Parameters<typeof real.evaluate>) => {
      seen.push(given[0].step as unknown as JsonValue);
      return real.evaluate(...given);
    },
  });
});
afterAll(() => client?.close());

describe.each(['json', 'sse'] as const)('a gateway before a server that answers with %s', (framing) => {
  let upstream: Scripted;
  let gateway: TestGateway;
  let answer: string | undefined;
  let events: string[] | undefined;
  const ends: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    upstream = await startScripted(
      ({ method, text: asked }, response) => {
        if (method === 'tools/call' && events !== undefined) {
          const { id, params } = JSON.parse(asked);
          const token = params._meta.progressToken;
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          for (const one of events)
            response.write(`data: ${one.replace('TOKEN', token).replace('"id":ID', `"id":${id}`)}\n\n`);
          response.end();
          return null;
        }
        return method === 'tools/call' || method === 'prompts/get' ? answer : undefined;
      },
      framing,
      (end) => ends.push(end),
    );
    gateway = await startTestGateway(client, {
      upstreams: [{ name: 'own', url: upstream.url, timeout_seconds: 300 }],
      mapping: { agent: { fixed: AGENT }, tool_names: 'plain' },
    });
  });
  afterAll(async () => {
    await gateway?.close();
    for (const end of ends) await end();
  });

  describe.each(VERSIONS)('for a client of version %s', (version) => {
    it('passes arguments, results and ids on as they were written, and controls see them', async () => {
      const mcp = await rawClient(gateway.url, version);
      const given = '{"id":9007199254740992,"f":1.0,"deep":[{"__proto__":-0,"e":1e2}],"s":"\\ud800"}';
      const result = `{"content":[{"type":"text","text":"x","n":1.0}],"structuredContent":${given},"_meta":{"a":1E5}}`;
      answer = `"result":${result}`;
      seen = [];
      const { text: reply } = await mcp.ask(
        'tools/call',
        `{"name":"run","arguments":${given}}`,
        '9007199254740995',
      );
      expect(reply).toContain(`"structuredContent":${given}`);
      expect(reply).toContain('"n":1.0');
      expect(reply).toContain('"a":1E5');
      expect(reply).toContain('"id":9007199254740995');
      expect(upstream.asked.at(-1)?.text).toContain(`"arguments":${given}`);
      expect(seen.some((step) => jsonEqual((step as { input: JsonValue }).input, parseJson(given)))).toBe(
        true,
      );
      answer = `"result":{"messages":[],"n":1.0}`;
      expect((await mcp.ask('prompts/get', '{"name":"ask","arguments":{"f":1.50}}')).text).toContain(
        '"n":1.0',
      );
      expect(upstream.asked.at(-1)?.text).toContain('"f":1.50');
    });

    it('denies numbers that doubles cannot tell apart, in arguments, results and errors', async () => {
      const mcp = await rawClient(gateway.url, version);
      answer = undefined;
      const call = async (id: string) =>
        (await mcp.ask('tools/call', `{"name":"run","arguments":{"id":${id}}}`)).text;
      const before = upstream.count('tools/call');
      expect(await call('9007199254740993')).toContain('no-993');
      expect(upstream.count('tools/call')).toBe(before);
      expect(await call('9007199254740992')).toContain('ran');
      answer = '"result":{"content":[],"structuredContent":{"id":9007199254740997}}';
      expect(await call('1')).toContain('no-997');
      answer = '"error":{"code":-32001,"message":"no","data":{"id":9007199254740999}}';
      expect(await call('1')).toContain('no-999');
      answer = '"error":{"code":-32001,"message":"no","data":{"id":9007199254740998,"f":2.0}}';
      expect(await call('1')).toContain('"data":{"id":9007199254740998,"f":2.0}');
    });

    it('refuses what readers could differ in, from clients and from servers', async () => {
      const mcp = await rawClient(gateway.url, version);
      const before = upstream.count('tools/call');
      for (const given of ['{"id":1,"id":2}', '{"id":1e400}', '{"a":{"b":1,"b":1}}', '{"id":1}} {', '\ufeff'])
        expect((await mcp.ask('tools/call', `{"name":"run","arguments":${given}}`)).status).toBe(400);
      const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
      expect((await mcp.post(`\ufeff${body}`)).status).toBe(400);
      expect((await mcp.post(Buffer.from(body.replace('ping', 'p\xff'), 'latin1'))).status).toBe(400);
      for (const charset of ['utf-16', 'iso-8859-1', 'utf-8, x'])
        expect(
          (await mcp.post(body, { 'content-type': `application/json; charset=${charset}` })).status,
        ).toBe(415);
      expect(upstream.count('tools/call')).toBe(before);
      for (const members of [
        '"result":{"content":[],"content":[]}',
        '"result":{"n":1e400}',
        '"result":{"n":NaN}',
      ]) {
        answer = members;
        expect((await mcp.ask('tools/call', '{"name":"run","arguments":{}}')).text).toMatch(/-32013/);
      }
    });

    it('refuses names of the protocol in another case, and passes any names in arguments', async () => {
      const mcp = await rawClient(gateway.url, version);
      answer = undefined;
      const before = upstream.count('tools/call');
      const call = (params: string, more = '') =>
        mcp.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}${more}}`);
      for (const [params, more, name] of [
        ['{"name":"ok","Name":"run"}', '', 'params.name'],
        ['{"name":"run","argumentſ":{"id":1}}', '', 'params.arguments'],
        ['{"name":"run","_meta":{"progressToKen":1}}', '', 'params._meta.progressToken'],
        ['{"name":"run","_META":{}}', '', 'params._meta'],
        ['{"name":"ok"}', ',"Params":{"name":"run"}', 'params'],
        ['{"name":"ok"}', ',"METHOD":"tools/list"', 'method'],
        ['{"ref":{"type":"ref/prompt","Name":"x"}}', '', 'params.ref.name'],
        ['{"argument":{"VALUE":1}}', '', 'params.argument.value'],
        ['{"context":{"Arguments":{}}}', '', 'params.context.arguments'],
      ] as const) {
        const { status, text: reply } = await call(params, more);
        expect([status, reply], params).toEqual([400, expect.stringContaining(`${name} is written`)]);
      }
      expect(upstream.count('tools/call')).toBe(before);
      const given = '{"Name":1,"name":2,"NAME":3,"Arguments":{}}';
      expect((await mcp.ask('tools/call', `{"name":"run","arguments":${given}}`)).text).toContain('ran');
      expect(upstream.asked.at(-1)?.text).toContain(given);
      answer = '"result":{"content":[],"Content":[{"type":"text","text":"hidden"}]}';
      expect((await mcp.ask('tools/call', '{"name":"run","arguments":{}}')).text).toContain(
        'content is written',
      );
    });

    it('passes numbers of progress and log messages on as they were written', async () => {
      const mcp = await rawClient(gateway.url, version);
      events = [
        '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":TOKEN,"progress":1.0,"total":9007199254740993,"message":"m"}}',
        '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"id":9007199254740993,"f":1.0}}}',
        `{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"n":1.0}}}`,
      ];
      const reply = await mcp.ask('tools/call', '{"name":"run","arguments":{}}');
      events = undefined;
      const all = reply.texts.join('\n');
      expect(all).toContain('"progress":1.0,"total":9007199254740993');
      expect(all).toContain('"data":{"id":9007199254740993,"f":1.0}');
      expect(all).toContain('"structuredContent":{"n":1.0}');
    });

    it('any arguments and results reach the other side as they were written', async () => {
      const mcp = await rawClient(gateway.url, version);
      await fc.assert(
        fc.asyncProperty(object, object, async (given, result) => {
          answer = `"result":{"content":[],"structuredContent":${result}}`;
          seen = [];
          const { text: reply } = await mcp.ask('tools/call', `{"name":"run","arguments":${given}}`);
          expect(upstream.asked.at(-1)?.text).toContain(`"arguments":${given}`);
          expect(reply).toContain(`"structuredContent":${result}`);
          const views = seen as unknown as { input: JsonValue; output?: { structuredContent: JsonValue } }[];
          expect(jsonEqual(views[0]?.input ?? null, parseJson(given))).toBe(true);
          expect(jsonEqual(views[1]?.output?.structuredContent ?? null, parseJson(result))).toBe(true);
        }),
        { seed: caseSeed(), numRuns: numRuns / 20 },
      );
    });
  });
});
