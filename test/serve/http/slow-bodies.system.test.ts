import http2 from 'node:http2';
import net from 'node:net';
import { describe, expect, it } from 'vitest';
import { restClient } from '../../support/http.js';
import { metric, parseMetrics } from '../../support/prometheus.js';
import { suiteService } from '../../support/service-suite.js';
import { until } from '../../support/until.js';
import { receivedUntilClose } from '../listener/support/events.js';

const RPC = '/enforcement.v1.EvaluationService/Evaluate';
const STREAM = '/enforcement.v1.EvaluationService/EvaluateStream';
const LIST = '/enforcement.v1.AgentService/ListAgents';
/** A message that never becomes complete. */
const PREFIX = Buffer.from([0, 0, 0, 0, 9, 1]);
const JSON_START = Buffer.from('{"a');

/** The beginning of a message of a stream that takes memory. */
const LARGE_START = Buffer.alloc(40_000);
LARGE_START.writeUInt32BE(50_000, 1);

/** Who waits for the end of a body, and what a client gets to see in the end; a reset where there is no word for it. */
const SLOW: readonly (readonly [string, string, string, Buffer, RegExp | 'reset'])[] = [
  ['REST', '/api/v1/evaluation', 'application/json', JSON_START, 'reset'],
  ['Connect', RPC, 'application/json', JSON_START, /"code":"deadline_exceeded"/],
  ['gRPC-Web', RPC, 'application/grpc-web+proto', PREFIX, /grpc-status: 4\r\n/],
  ['gRPC beside the lane', LIST, 'application/grpc', PREFIX, /grpc-status: 4\r\n/],
  ['the lane', RPC, 'application/grpc', PREFIX, /grpc-status: 4\r\n/],
  [
    'a large message of a Connect stream',
    STREAM,
    'application/connect+proto',
    LARGE_START,
    /deadline_exceeded/,
  ],
  [
    'a large message of a stream beside the lane',
    STREAM,
    'application/GRPC',
    LARGE_START,
    /grpc-status: 4\r\n/,
  ],
  ['a large message of a stream of the lane', STREAM, 'application/grpc', LARGE_START, /grpc-status: 4\r\n/],
];

const service = suiteService({ SERVICE_REQUEST_TIMEOUT_SECONDS: '0.3', SERVICE_DRAIN_SECONDS: '0' });

/** Requests and calls that run, but for the one that asks. */
async function running(): Promise<number> {
  const { status, body } = await restClient(service.url)('GET', '/metrics');
  // On a busy machine it has too little time as well.
  if (status !== 200) return Number.NaN;
  const samples = parseMetrics(body);
  const sum = (name: string) => metric(samples, `control_enforcement_server_${name}`);
  return sum('requests_in_progress') + sum('rpcs_in_progress');
}

describe('a body that does not end within the time of a request', () => {
  it.each(SLOW)('ends its request over HTTP/2: %s', async (_name, path, type, start, expected) => {
    const session = http2.connect(service.url);
    session.on('error', () => {});
    const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': type });
    stream.on('error', () => {});
    let seen = '';
    // A failed gRPC call has its status in the headers.
    for (const event of ['response', 'trailers'] as const) {
      stream.on(event, (found: http2.IncomingHttpHeaders) => {
        const status = found['grpc-status'];
        if (status !== undefined) seen += `grpc-status: ${status}\r\n`;
      });
    }
    stream.on('data', (chunk: Buffer) => {
      seen += chunk.toString('latin1');
    });
    const closed = new Promise((resolve) => stream.once('close', resolve));
    // Slowly, but it does go on.
    const dribble = setInterval(() => stream.write(Buffer.from(' ')), 50);
    stream.write(start);
    await closed;
    clearInterval(dribble);
    if (expected === 'reset') expect([stream.rstCode, seen]).toEqual([http2.constants.NGHTTP2_CANCEL, '']);
    else expect(seen).toMatch(expected);
    expect(session.closed).toBe(false);
    session.destroy();
    await until(running, (count) => count === 0);
  });

  it.each(SLOW.slice(0, 3))(
    'ends its request over HTTP/1.1: %s',
    async (_name, path, type, start, expected) => {
      const socket = net.connect(service.port, service.host);
      const received = receivedUntilClose(socket);
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: 9999\r\n\r\n`,
      );
      socket.write(start);
      const dribble = setInterval(() => socket.write(' '), 50);
      const reply = (await received).toString();
      clearInterval(dribble);
      expect(reply).toMatch(expected === 'reset' ? /^HTTP\/1\.1 408 / : expected);
      await until(running, (count) => count === 0);
    },
  );
});
