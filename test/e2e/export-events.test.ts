import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import { setTimeout as pause } from 'node:timers/promises';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Prisma } from '../../gen/prisma/sqlite/client.js';
import { Decision } from '../../gen/proto/enforcement/v1/control_pb.js';
import { encodeEvent } from '../../src/observe/events/sql/event-row.js';
import { createEventWriter } from '../../src/observe/events/sql/event-writer.js';
import { createView, dropView } from '../../src/observe/events/sql/segment-tables.js';
import { segmentsIn } from '../../src/observe/events/sql/segments.js';
import { utcTimeOfMs } from '../../src/observe/events/store/event-time.js';
import type { BulkTransaction } from '../../src/storage/database/bulk.js';
import { type Database, openDatabase } from '../../src/storage/database/database.js';
import { storedEvent } from '../observe/events/events.support.js';
import { describeAboveStores } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { problem } from '../support/refusals.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { startService } from '../support/service.js';
import { suiteService, testService } from '../support/service-suite.js';
import { observability } from './event-streams.support.js';
import { event, eventRoutes } from './events.support.js';

const PATH = '/api/v1/observability/events/export';
const COUNT = 50_000;
const START_MS = 1_700_000_000_000;

/** The body of an export, whatever its length. */
async function exported(
  url: string,
  filter: object,
): Promise<{ status: number; type: string; lines: string[] }> {
  const reply = await fetch(url + PATH, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(filter),
  });
  const text = await reply.text();
  return {
    status: reply.status,
    type: reply.headers.get('content-type') ?? '',
    lines: text.split('\n').slice(0, -1),
  };
}

describeAboveStores('ExportEvents', (freshDatabaseUrl) => {
  let database: Database;
  const service = suiteService(async () => ({
    DATABASE_URL: await freshDatabaseUrl(),
    SERVICE_DRAIN_SECONDS: '1',
  }));
  beforeAll(async () => {
    database = await openDatabase({ url: service.databaseUrl, migrate: false });
    const write = createEventWriter({ database, now: () => START_MS });
    for (let from = 0; from < COUNT; from += 5_000) {
      const events = Array.from({ length: 5_000 }, (_, index) => from + index).map((index) =>
        storedEvent({
          control_execution_id: `exported-${index}`,
          agent_name: index % 100 === 0 ? 'rare-bot-01' : 'frequent-bot-1',
          // Some at the same time, and not in the order in which they are stored.
          timestamp: utcTimeOfMs(START_MS + ((index * 7_919) % 20_000) * 1_000),
          metadata: { index },
        }),
      );
      await write(events.map(encodeEvent));
    }
  });
  afterAll(() => database.close());

  it('gives every event as a line, latest first, each once', async () => {
    const { status, type, lines } = await exported(service.url, {});
    expect(status).toBe(200);
    expect(type).toMatch(/^application\/x-ndjson/);
    const events = lines.map((line) => JSON.parse(line));
    expect(events).toHaveLength(COUNT);
    expect(new Set(events.map(({ control_execution_id: id }) => id)).size).toBe(COUNT);
    const times = events.map(({ timestamp }) => timestamp as string);
    expect(times).toEqual(times.toSorted().reverse());
    expect(events[0]).toMatchObject({
      agent_name: 'frequent-bot-1',
      check_stage: 'pre',
      error_message: null,
    });
    const again = await exported(service.url, {});
    expect(again.lines).toEqual(lines);
  });

  it('gives what QueryEvents finds', async () => {
    const filter = {
      agent_name: ' Rare-Bot-01',
      control_ids: [1, 2],
      actions: ['deny'],
      matched: true,
      check_stages: ['pre'],
      start_time: new Date(START_MS + 5_000_000).toISOString(),
      end_time: new Date(START_MS + 15_000_000).toISOString(),
    };
    const { lines } = await exported(service.url, filter);
    const { body } = await eventRoutes(restClient(service.url)).query({ ...filter, limit: 1_000 });
    expect(lines.length).toBeGreaterThan(100);
    expect(lines.map((line) => JSON.parse(line))).toEqual(body.events);
    expect((await exported(service.url, { ...filter, trace_id: 'unknown' })).lines).toEqual([]);
  });

  it.each(RPC_PROTOCOLS)('gives the same over %s', async (protocol) => {
    const request = { agentName: 'rare-bot-01', actions: [Decision.DENY] };
    const ids: string[] = [];
    for await (const { event: one } of observability(rpcTransport(protocol, service.url)).exportEvents(
      request,
    )) {
      ids.push(one?.controlExecutionId ?? '');
    }
    const { lines } = await exported(service.url, { agent_name: 'rare-bot-01', actions: ['deny'] });
    expect(ids).toEqual(lines.map((line) => JSON.parse(line).control_execution_id));
    expect(ids).toHaveLength(COUNT / 100);
    const refused = async () => {
      for await (const _ of observability(rpcTransport(protocol, service.url)).exportEvents({
        startTime: 'x',
      }));
    };
    expect(ConnectError.from(await refused().catch((error: unknown) => error)).code).toBe(
      Code.InvalidArgument,
    );
  });

  it('answers a wrong filter as every other request', async () => {
    const reply = await restClient(service.url)('POST', PATH, { matched: 'perhaps', limit: 'any' });
    expect(reply).toMatchObject(problem(422, 'VALIDATION_ERROR'));
    expect(reply.body.errors.map(({ field }: { field: string }) => field)).toEqual(['matched']);
  });

  /** Begins an export whose reply is not read; `body` of it goes on with `resume`. */
  async function slowExport(): Promise<http.IncomingMessage> {
    const { hostname, port } = new URL(service.url);
    const request = http.request({ hostname, port, path: PATH, method: 'POST', agent: false });
    request.setHeader('content-type', 'application/json');
    request.end('{}');
    const [reply] = (await once(request, 'response')) as [http.IncomingMessage];
    return reply;
  }

  it('reads no further than its reader, and everything else continues meanwhile', async () => {
    const reply = await slowExport();
    const lines: string[] = [];
    let text = '';
    reply.setEncoding('utf8');
    // Small pieces with pauses: everything else must be answered between them.
    let pieces = 0;
    for await (const piece of reply) {
      text += piece;
      pieces += 1;
      if (pieces % 40 === 0) {
        const call = restClient(service.url);
        expect((await call('GET', '/health')).status).toBe(200);
        await pause(5);
      }
      const complete = text.split('\n');
      text = complete.pop() ?? '';
      lines.push(...complete);
    }
    expect(lines).toHaveLength(COUNT);
    expect(new Set(lines).size).toBe(COUNT);
  });

  describe('when the database fails in the middle', () => {
    const changeView = (work: (tx: BulkTransaction) => Prisma.Sql[] | Promise<Prisma.Sql[]>) =>
      database.bulk.transaction(async (tx) => tx.run(...(await work(tx))));
    const breakDatabase = () => changeView(() => dropView(database.kind));
    afterEach(async () => {
      await changeView(async (tx) => {
        return [...dropView(database.kind), createView(database.kind, await segmentsIn(tx))];
      });
      expect((await exported(service.url, { agent_name: 'rare-bot-01' })).lines).toHaveLength(COUNT / 100);
    });

    it('breaks off visibly over HTTP/1.1', async () => {
      const reply = await slowExport();
      const broken = new Promise<Error>((resolve) => reply.once('error', resolve));
      await once(reply, 'readable');
      await breakDatabase();
      reply.resume();
      expect(await broken).toMatchObject({ code: 'ECONNRESET' });
      expect(reply.complete).toBe(false);
    });

    it('breaks off visibly over HTTP/2', async () => {
      const session = http2.connect(service.url);
      const stream = session.request({
        ':method': 'POST',
        ':path': PATH,
        'content-type': 'application/json',
      });
      stream.end('{}');
      await once(stream, 'response');
      await breakDatabase();
      const broken = new Promise<Error>((resolve) => stream.once('error', resolve));
      stream.resume();
      await broken;
      expect(stream.rstCode).toBe(http2.constants.NGHTTP2_INTERNAL_ERROR);
      session.close();
    });

    it.each(RPC_PROTOCOLS)('ends with an error after what was read over %s', async (protocol) => {
      const read = async () => {
        let count = 0;
        for await (const _ of observability(rpcTransport(protocol, service.url)).exportEvents({})) {
          count += 1;
          if (count === 1) await breakDatabase();
        }
      };
      await expect(read()).rejects.toMatchObject({ code: Code.Internal });
    });
  });

  it('continues while events are stored', async () => {
    const routes = eventRoutes(restClient(service.url));
    const reply = await slowExport();
    await once(reply, 'readable');
    expect((await routes.send(event({ control_execution_id: 'meanwhile' }))).status).toBe(202);
    let text = '';
    for await (const piece of reply) text += piece;
    const ids = text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line).control_execution_id as string)
      .filter((id) => id.startsWith('exported-'));
    expect(ids).toHaveLength(COUNT);
    expect(new Set(ids).size).toBe(COUNT);
  });
});

describe('ExportEvents', () => {
  it('is off with the event store, and requires a key', async () => {
    const off = await startService({ SERVICE_OBSERVABILITY_ENABLED: 'false' });
    expect((await restClient(off.url)('POST', PATH, {})).status).toBe(503);
    await off.stop();
    const locked = await testService({ SERVICE_API_KEY_ENABLED: 'true', SERVICE_API_KEYS: 'key' });
    const call = restClient(locked.url);
    expect((await call('POST', PATH, {})).status).toBe(401);
    expect((await call('POST', PATH, {}, { 'x-api-key': 'key' })).status).toBe(200);
  });
});
