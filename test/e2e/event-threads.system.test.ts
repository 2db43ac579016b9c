import { readdirSync, readFileSync } from 'node:fs';
import { Code, ConnectError } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { describeOnSqlite } from '../support/databases.js';
import { BIDI_PROTOCOLS, RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { suiteService } from '../support/service-suite.js';
import { messagesOf } from './event-messages.support.js';
import { observability } from './event-streams.support.js';
import { event, eventRoutes } from './events.support.js';

/** A thread that reads a message with this text ends. */
const DEADLY = 'the thread ends here';
const MORTAL = new URL('../serve/event-reading/mortal-reader.mjs', import.meta.url);
/** Events of a message that a thread reads. */
const MANY = 100;

const sent = messagesOf('threaded-bot-1');
type Message = { events: ReturnType<typeof sent>[] };

/** A message whose events have ids of `name` and this span. */
function message(name: string, spanId: string, controlName = 'one'): Message {
  return {
    events: Array.from({ length: MANY }, (_, index) => sent(`${name}-${index}`, { spanId, controlName })),
  };
}

async function* stream(messages: readonly Message[]): AsyncGenerator<Message> {
  yield* messages;
}

describeOnSqlite('a service whose threads end while they read events', (freshDatabaseUrl) => {
  const service = suiteService(async () => ({ DATABASE_URL: await freshDatabaseUrl() }), {
    eventReaderEntry: MORTAL,
  });
  const routes = eventRoutes(service.call);

  const client = (protocol: (typeof RPC_PROTOCOLS)[number]) =>
    observability(rpcTransport(protocol, service.url));
  const totalOf = async (spanId: string) => (await routes.query({ span_id: spanId })).body.total;

  it('answers 503 with a time to come back, stores nothing, and stores all when it is sent again', async () => {
    const body = (name: string) => ({
      events: Array.from({ length: MANY }, (_, index) =>
        event({ control_execution_id: `rest-${index}`, span_id: 'rest', control_name: name }),
      ),
    });
    const send = (name: string) =>
      fetch(`${service.url}/api/v1/observability/events`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body(name)),
      });
    const refused = await send(DEADLY);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await totalOf('rest')).toBe(0);
    for (let time = 0; time < 2; time += 1) {
      const taken = await send('one');
      expect([taken.status, await taken.json()]).toEqual([202, expect.objectContaining({ enqueued: MANY })]);
    }
    expect(await totalOf('rest')).toBe(MANY);
  });

  it.each(RPC_PROTOCOLS)(
    'ends a call with UNAVAILABLE over %s, and serves the next one',
    async (protocol) => {
      const spanId = `unary ${protocol}`;
      const name = `u${RPC_PROTOCOLS.indexOf(protocol)}`;
      const { createEvents, ingestEvents } = client(protocol);
      for (const call of [
        () => createEvents(message(name, spanId, DEADLY)),
        () => ingestEvents(stream([message(name, spanId, DEADLY)])),
      ]) {
        const error = await call().then(
          () => expect.fail('it was stored'),
          (reason: unknown) => ConnectError.from(reason),
        );
        expect(error.code).toBe(Code.Unavailable);
      }
      expect(await totalOf(spanId)).toBe(0);
      expect(await createEvents(message(name, spanId))).toMatchObject({ enqueued: MANY });
      expect(await totalOf(spanId)).toBe(MANY);
    },
  );

  it.each(BIDI_PROTOCOLS)(
    'loses and doubles nothing of a stream that is sent again, over %s',
    async (protocol) => {
      const spanId = `stream ${protocol}`;
      const name = `s${BIDI_PROTOCOLS.indexOf(protocol)}`;
      const all = Array.from({ length: 12 }, (_, index) => message(`${name}-${index}`, spanId));
      let left = all.map((one, index) => (index === 5 ? message(`${name}-5`, spanId, DEADLY) : one));
      const told: bigint[] = [];
      let failures = 0;
      while (left.length > 0) {
        let acknowledged = 0n;
        try {
          for await (const reply of client(protocol).publishEvents(stream(left))) {
            expect(reply.acknowledgedMessages).toBeGreaterThan(acknowledged);
            acknowledged = reply.acknowledgedMessages;
            told.push(acknowledged);
          }
        } catch (error) {
          failures += 1;
          expect(ConnectError.from(error).code).toBe(Code.Unavailable);
          // All before the one that failed are acknowledged, and nothing behind it.
          expect(acknowledged).toBe(5n);
        }
        left = all.slice(all.length - left.length + Number(acknowledged));
      }
      expect(failures).toBe(1);
      expect(told.at(-1)).toBe(7n);
      expect(await totalOf(spanId)).toBe(12 * MANY);
    },
  );

  it.runIf(process.platform === 'linux')('gives its threads for events less of a busy processor', () => {
    const niceOf = (task: string) => {
      const facts = readFileSync(`/proc/self/task/${task}/stat`, 'utf8');
      return Number(facts.slice(facts.lastIndexOf(')') + 2).split(' ')[16]);
    };
    const own = niceOf(String(process.pid));
    const background = readdirSync('/proc/self/task').filter((task) => niceOf(task) > own);
    expect(background.length).toBeGreaterThan(0);
  });
});
