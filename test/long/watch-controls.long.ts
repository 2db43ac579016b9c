import { readFileSync } from 'node:fs';
import http2 from 'node:http2';
import { setTimeout as pause } from 'node:timers/promises';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import {
  WatchControlsRequestSchema,
  WatchControlsResponseSchema,
} from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { watchControls } from '../e2e/watch-controls.support.js';
import { envelope } from '../support/bad-input-rpc.js';
import { createTestDatabase, DATABASE_KINDS } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { rpcTransport } from '../support/rpc-transports.js';
import { denyWord, evaluate, seeder } from '../support/seed.js';
import { compiled, type ServiceProcess, spawnService } from '../support/service-process.js';
import { until } from '../support/until.js';

const AGENT = 'watched-agent-1';
const WATCHERS = 10_000;
const STREAMS_PER_CONNECTION = 250;
const CONTROLS = 10;
/** Longer than any pause after which the listener or a load balancer would close a connection. */
const IDLE_MS = 80_000;

/** What a stream was told: the kinds of its messages. */
type Told = string[];

/** Opens streams over one connection. A client without any library, so that ten thousand of them fit in here. */
function openStreams(url: string, count: number, onInformed: () => void, onEnd: (status: unknown) => void) {
  const session = http2.connect(url);
  const body = envelope(
    toBinary(WatchControlsRequestSchema, create(WatchControlsRequestSchema, { agentName: AGENT })),
  );
  const told = Array.from({ length: count }, (): Told => []);
  for (const messages of told) {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/enforcement.v1.AgentService/WatchControls',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    let rest = Buffer.alloc(0);
    stream.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
        const end = 5 + rest.readUInt32BE(1);
        const { news } = fromBinary(WatchControlsResponseSchema, rest.subarray(5, end));
        messages.push(String(news.case));
        if (news.case === 'changed' && news.value.upserted[0]?.name === 'renamed') onInformed();
        rest = rest.subarray(end);
      }
    });
    stream.on('trailers', (trailers) => onEnd(trailers['grpc-status']));
    stream.on('error', onEnd);
    stream.end(body);
  }
  return { told, close: () => session.destroy() };
}

/** Resident memory of a process in kilobytes. */
function residentKilobytes({ process: { pid } }: ServiceProcess): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

describe('WatchControls', () => {
  describe.each(DATABASE_KINDS)('on %s', (kind) => {
    it(`sends a change to ${WATCHERS} streams`, { timeout: 300_000 }, async () => {
      const database = await createTestDatabase(kind);
      const running = await spawnService(compiled, {
        environment: { DATABASE_URL: database.url, SERVICE_LOG_JSON: 'true' },
      });
      const ends: unknown[] = [];
      const informed = { count: 0 };
      const onInformed = () => {
        informed.count += 1;
      };
      const connections: ReturnType<typeof openStreams>[] = [];
      try {
        const url = await running.listening();
        const call = restClient(url);
        const seed = seeder(call);
        await seed.agent(AGENT);
        let last = 0;
        for (let index = 0; index < CONTROLS; index += 1) {
          last = await seed.control(`control-${index}`, denyWord(`word-${index}`));
          await seed.link(AGENT, last);
        }
        await evaluate(call, AGENT, 'warm');
        const before = residentKilobytes(running);
        /** Looked at while streams open, and not while it matters how busy this process is. */
        const told = () => connections.flatMap((connection) => connection.told);
        for (let index = 0; index < WATCHERS / STREAMS_PER_CONNECTION; index += 1) {
          connections.push(
            openStreams(url, STREAMS_PER_CONNECTION, onInformed, (status) => ends.push(status)),
          );
          // As many clients as come by and by: the listener takes only so many streams at a time.
          await until(() => told().every((messages) => messages.length > 0), Boolean);
        }
        expect(told()).toHaveLength(WATCHERS);
        expect(told().every(([first]) => first === 'full')).toBe(true);
        await pause(2_000);
        const open = residentKilobytes(running);
        const started = performance.now();
        await call('PATCH', `/api/v1/controls/${last}`, { name: 'renamed' });
        const acknowledged = performance.now();
        let slowest = 0;
        const evaluating = (async () => {
          while (informed.count < WATCHERS) {
            const asked = performance.now();
            await evaluate(call, AGENT, 'none');
            slowest = Math.max(slowest, performance.now() - asked);
          }
        })();
        await until(
          () => informed.count,
          (count) => count === WATCHERS,
        );
        const all = performance.now() - acknowledged;
        await evaluating;
        const after = residentKilobytes(running);
        console.log(
          `WatchControls on ${kind}: ${WATCHERS} streams over ${connections.length} connections, ` +
            `${((open - before) / WATCHERS).toFixed(1)} KB each, ${((after - before) / WATCHERS).toFixed(1)} KB after a ` +
            `change; all told ${all.toFixed(0)} ms after the change was acknowledged (${(acknowledged - started).toFixed(0)} ms), ` +
            `slowest evaluation meanwhile ${slowest.toFixed(0)} ms`,
        );
        expect(ends).toEqual([]);
      } finally {
        for (const connection of connections) connection.close();
        await running.dispose();
        await database.drop();
      }
    });
  });

  it('survives idling over every protocol', { timeout: IDLE_MS + 60_000 }, async () => {
    const database = await createTestDatabase('sqlite');
    const running = await spawnService(compiled, { environment: { DATABASE_URL: database.url } });
    try {
      const url = await running.listening();
      const seed = seeder(restClient(url));
      await seed.agent(AGENT);
      const protocols = [
        'gRPC',
        'gRPC-Web over HTTP/1.1',
        'Connect over HTTP/1.1',
        'gRPC-Web over HTTP/2',
      ] as const;
      const watchers = protocols.map((protocol) => watchControls(rpcTransport(protocol, url), AGENT));
      await pause(IDLE_MS);
      await seed.link(AGENT, await seed.control('late'));
      for (const watcher of watchers) {
        await until(watcher.names, (names) => names.length === 1);
        const kinds = watcher.kinds;
        expect([kinds[0], kinds.at(-1)]).toEqual(['full', 'changed']);
        expect(kinds.filter((one) => one === 'current').length).toBeGreaterThanOrEqual(4);
        watcher.stop();
      }
    } finally {
      await running.dispose();
      await database.drop();
    }
  });
});
