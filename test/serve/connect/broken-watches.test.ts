import http2 from 'node:http2';
import net from 'node:net';
import { expect, it } from 'vitest';
import { restClient } from '../../support/http.js';
import { seeder } from '../../support/seed.js';
import { testService } from '../../support/service-suite.js';
import { until } from '../../support/until.js';

const AGENT = 'watched-bot-01';
const WATCHES = [
  ['ObservabilityService/WatchEvents', '{}'],
  ['AgentService/WatchControls', JSON.stringify({ agentName: AGENT })],
  ['ApprovalService/WatchApprovals', '{}'],
] as const;
/** Connections over HTTP/1.1, and streams over HTTP/2. */
const EACH = 100;

function framed(json: string): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(json.length, 1);
  return Buffer.concat([head, Buffer.from(json)]);
}

it('watches whose connections break write no stacks, and no line each', async () => {
  const service = await testService({
    SERVICE_LOG_LEVEL: 'info',
    SERVICE_PROMETHEUS_METRICS_PREFIX: 'acme',
  });
  await seeder(restClient(service.url)).agent(AGENT);
  const { hostname, port } = new URL(service.url);
  const running = async () =>
    [
      ...(await (await fetch(`${service.url}/metrics`)).text()).matchAll(
        /^acme_streams_open\{.*?\} (\d+)$/gm,
      ),
    ].reduce((sum, [, count]) => sum + Number(count), 0);
  const open = (count: number) => {
    const sockets = Array.from({ length: count }, (_, index) => {
      const [path, json] = WATCHES[index % WATCHES.length] ?? WATCHES[0];
      const socket = net.connect(Number(port), hostname).on('error', () => {});
      const body = framed(json);
      socket.write(
        `POST /enforcement.v1.${path} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/connect+json\r\n` +
          `Content-Length: ${body.length}\r\n\r\n`,
      );
      socket.write(body);
      return socket;
    });
    const sessions = [http2.connect(service.url), http2.connect(service.url)];
    for (const [index, session] of sessions.entries()) {
      session.on('error', () => {});
      for (let turn = index; turn < count; turn += sessions.length) {
        const [path, json] = WATCHES[turn % WATCHES.length] ?? WATCHES[0];
        const headers = { ':method': 'POST', ':path': `/enforcement.v1.${path}`, te: 'trailers' };
        const stream = session.request({ ...headers, 'content-type': 'application/grpc+json' });
        stream.on('error', () => {}).on('data', () => {});
        stream.end(framed(json));
      }
    }
    return { sockets, sessions };
  };
  const lines = () => service.logLines.filter((line) => /"level":(?:40|50|60)|\bat .*\.[jt]s:\d+/.test(line));

  const before = lines().length;
  const { sockets, sessions } = open(EACH);
  await until(running, (count) => count === 2 * EACH);
  for (const socket of sockets) socket.resetAndDestroy();
  for (const session of sessions) session.destroy();
  await until(running, (count) => count === 0);
  expect(lines().slice(before)).toEqual([]);

  // Those that the service ends have a line for each RPC, and one with their number.
  const all = service.logLines.length;
  open(EACH);
  await until(running, (count) => count === 2 * EACH);
  await service.stop();
  const told = lines().slice(before);
  expect(told).toHaveLength(2 * WATCHES.length);
  for (const line of told) expect(JSON.parse(line)).not.toHaveProperty('err');
  expect(told.filter((line) => /\.[jt]s:\d+/.test(line))).toEqual([]);
  expect(service.logLines.length - all).toBeLessThan(20);
});
