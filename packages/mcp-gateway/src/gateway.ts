import { randomUUID } from 'node:crypto';
import type { ServerCapabilities } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Client } from '../../client/src/index.js';
import { createCallStates } from './approval-states.js';
import { createAuthentication } from './auth.js';
import { createCatalog } from './catalog.js';
import { createChecks, STEP_TYPES } from './checks.js';
import type { GatewayConfig } from './config.js';
import { createDecidedCalls } from './decided-calls.js';
import { createDeniedTools } from './denied-tools.js';
import type { Log } from './errors.js';
import { clientOverStdio } from './exact-transport.js';
import { createForward } from './forward.js';
import { createFrontServers } from './front-server.js';
import { startHttpFront } from './http-front.js';
import { createGatewayMetrics, serveMetrics } from './metrics.js';
import { createPins } from './pins.js';
import type { UpstreamState } from './reconnecting.js';
import { createRelay } from './relay.js';
import { createUpstream } from './upstream.js';
import type { ListKind } from './upstream-client.js';

/** A gateway that runs. */
export interface Gateway {
  /** Address of its endpoint; undefined over stdio. */
  readonly url: string | undefined;
  /** Address of its metrics; undefined if they are not served. */
  readonly metricsUrl: string | undefined;
  /** How its servers are, by their names. */
  upstreams(): Readonly<Record<string, UpstreamState>>;
  /** How many sessions of versions before 2026-07-28 are open; 0 over stdio. */
  sessions(): number;
  /** Resolves when its client over stdio has gone, and when it is closed. */
  readonly ended: Promise<void>;
  /** Ends all calls and the processes of upstreams. The client of the service is not closed. */
  close(): Promise<void>;
}

export interface GatewayOptions {
  readonly config: GatewayConfig;
  /** The client of the service. */
  readonly client: Pick<Client, 'evaluate' | 'watchControls' | 'approvals'>;
  readonly version: string;
  readonly log: Log;
  /** The secret of states of calls, 32 characters or more; random when absent. */
  readonly stateKey?: string | undefined;
}

/** Starts a gateway. Upstreams that cannot be reached are asked again when they are needed. */
export async function startGateway({
  config,
  client,
  version,
  log,
  stateKey,
}: GatewayOptions): Promise<Gateway> {
  const { listen, mapping, service, approvals, pins } = config;
  if (service.on_unavailable === 'allow')
    log('warn', 'service.on_unavailable is allow: calls pass unchecked while the service does not answer');
  let sessions = (): number => 0;
  const metrics = createGatewayMetrics(() => sessions());
  let capabilities: ServerCapabilities = { tools: { listChanged: true } };
  let tellFront = (_kind: ListKind): void => {};
  const upstreams = config.upstreams.map((one) =>
    createUpstream(one, version, {
      log,
      metrics,
      onListChanged(kind) {
        catalog.forget(one.name, kind);
        void catalog.capabilities().then((found) => {
          capabilities = found;
        });
        tellFront(kind);
      },
    }),
  );
  const catalog = createCatalog({
    upstreams,
    isPrefixed: mapping.tool_names === 'prefixed',
    hidden: config.hidden,
    pins: createPins(pins),
    maxAgeMs: pins.refresh_seconds * 1_000,
    ...{ log, metrics },
    onLate: (kind) => tellFront(kind),
  });
  const denied = config.hide_denied ? createDeniedTools(client, STEP_TYPES.tools, log) : undefined;
  const checks = createChecks({
    client,
    onUnavailable: service.on_unavailable,
    timeoutMs: service.timeout_seconds * 1_000,
    ...{ log, metrics },
  });
  const decided = createDecidedCalls({
    ...{ config, checks },
    states: createCallStates(stateKey, approvals.state_seconds),
    forward: createForward(checks, config.checks.messages),
    approvals: client.approvals,
  });
  const relay = createRelay({ config, catalog, checks, denied, decided });
  const servers = createFrontServers({
    ...{ mapping, relay },
    info: { name: 'control-enforcement-mcp-gateway', version },
    capabilities: () => capabilities,
    instructions() {
      const texts = catalog.instructions();
      return texts.length === 0 ? undefined : texts.join('\n\n');
    },
    onError: (error) => log('info', error.message),
  });
  // A tool is remembered before its first use. Callers wait for it no longer than `answer_seconds`.
  const ready = catalog.capabilities().then(async (found) => {
    capabilities = found;
    await catalog.tools();
  });

  const states = (): Record<string, UpstreamState> =>
    Object.fromEntries(upstreams.map((one) => [one.name, one.state()]));
  const metricsFront =
    config.metrics === undefined ? undefined : await serveMetrics(config.metrics, metrics, states);
  let ended = (): void => {};
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const shared = { metricsUrl: metricsFront?.url, upstreams: states, ended: end };
  const close = async (closeFront: () => Promise<void>): Promise<void> => {
    await closeFront();
    denied?.close();
    metricsFront?.close();
    await Promise.all(upstreams.map((one) => one.close()));
    ended();
  };
  if (listen.transport === 'stdio') {
    await ready;
    const sessionId = randomUUID();
    const handle = serveStdio(
      ({ era }) => {
        const server = servers({ isModern: era === 'modern', sessionId });
        tellFront = (kind) =>
          void server.notification({ method: `notifications/${kind}/list_changed` }).catch(() => {});
        return server;
      },
      {
        transport: clientOverStdio(listen.max_body_bytes, ended),
        onerror: (error) => log('info', error.message),
      },
    );
    return { ...shared, url: undefined, sessions, close: () => close(() => handle.close()) };
  }
  const authentication =
    config.auth === undefined || config.auth === 'none' ? undefined : createAuthentication(config.auth);
  const front = await startHttpFront({ listen, mapping, servers, authentication, log, ready });
  tellFront = front.listChanged;
  sessions = front.sessions;
  return { ...shared, url: front.url, sessions, close: () => close(front.close) };
}
