import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { GatewayConfig } from './config.js';
import { UPSTREAM_STATES, type UpstreamState } from './reconnecting.js';

/** What came of a step. */
export type StepResult =
  /** It passed as it was. */
  | 'allowed'
  /** It passed with another input or output. */
  | 'modified'
  /** It passed without a decision, as the settings say. */
  | 'unchecked'
  | 'denied'
  | 'steered'
  /** It needs an approval. */
  | 'asked'
  /** It counts as denied, because the service did not decide. */
  | 'unavailable'
  /** The server or the gateway failed. */
  | 'error';

/** Counts what a gateway does; none of it tells the content of a call. */
export interface GatewayMetrics {
  /** A step of a type was decided, and ran if it may, in so many seconds. */
  step(type: string, result: StepResult, seconds: number): void;
  /** A request to an upstream failed, for a reason of `ERROR_CODES`, or `answered` for an error that it sent itself. */
  upstreamError(upstream: string, reason: string): void;
  upstreamState(upstream: string, state: UpstreamState): void;
  /** How many tools of an upstream wait for an approval, new and changed ones. */
  waitingTools(upstream: string, count: number): void;
  /** All of it in the text format of Prometheus. */
  text(): Promise<string>;
}

const PREFIX = 'control_enforcement_mcp';
/** In seconds: from a call without its server to one that waits for a person. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** `sessions` tells how many are open. */
export function createGatewayMetrics(sessions: () => number): GatewayMetrics {
  const registry = new Registry();
  const registers = [registry];
  const steps = new Counter({
    name: `${PREFIX}_steps_total`,
    help: 'Steps by type and result.',
    labelNames: ['type', 'result'],
    registers,
  });
  const seconds = new Histogram({
    name: `${PREFIX}_step_duration_seconds`,
    help: 'Time of a step with its decisions, its server and its approval.',
    labelNames: ['type'],
    buckets: BUCKETS,
    registers,
  });
  const errors = new Counter({
    name: `${PREFIX}_upstream_errors_total`,
    help: 'Requests to servers that failed, by server and reason.',
    labelNames: ['upstream', 'reason'],
    registers,
  });
  const up = new Gauge({
    name: `${PREFIX}_upstream_up`,
    help: 'Whether a server is connected (1), or does not answer or cannot be reached (0).',
    labelNames: ['upstream', 'state'],
    registers,
  });
  const waiting = new Gauge({
    name: `${PREFIX}_waiting_tools`,
    help: 'Tools that are not used before they are approved, by server.',
    labelNames: ['upstream'],
    registers,
  });
  new Gauge({
    name: `${PREFIX}_sessions`,
    help: 'Open sessions of versions before 2026-07-28.',
    registers,
    collect() {
      this.set(sessions());
    },
  });
  return {
    step(type, result, took) {
      steps.inc({ type, result });
      seconds.observe({ type }, took);
    },
    upstreamError: (upstream, reason) => errors.inc({ upstream, reason }),
    upstreamState(upstream, state) {
      for (const one of UPSTREAM_STATES) up.remove({ upstream, state: one });
      up.set({ upstream, state }, state === 'connected' ? 1 : 0);
    },
    waitingTools: (upstream, count) => waiting.set({ upstream }, count),
    text: () => registry.metrics(),
  };
}

/** Metrics on a port. */
export interface MetricsFront {
  readonly url: string;
  close(): void;
}

/** Serves metrics on a port of their own, so that callers of the gateway do not reach them. */
export async function serveMetrics(
  { host, port }: NonNullable<GatewayConfig['metrics']>,
  metrics: Pick<GatewayMetrics, 'text'>,
  upstreams: () => Readonly<Record<string, UpstreamState>>,
): Promise<MetricsFront> {
  const http = createServer(async (request, response) => {
    if (request.method === 'GET' && request.url === '/status') {
      const status = JSON.stringify({ upstreams: upstreams() });
      response.writeHead(200, { 'content-type': 'application/json' }).end(`${status}\n`);
      return;
    }
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end('metrics are at /metrics, the state of servers at /status\n');
      return;
    }
    response.writeHead(200, { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE }).end(await metrics.text());
  });
  http.listen(port, host);
  await once(http, 'listening');
  const { address, port: bound, family } = http.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}/metrics`,
    close() {
      http.close();
      http.closeAllConnections();
    },
  };
}
