import type { AddressInfo } from 'node:net';
import type { DescService } from '@bufbuild/protobuf';
import type { ServiceImpl } from '@connectrpc/connect';
import { pino } from 'pino';
import { openApiDocument } from '../../scripts/openapi/document.js';
import { createHealthState } from '../../src/app/operations/health.js';
import { createServer } from '../../src/app/wiring/server.js';
import type { AnyHandler } from '../../src/contract/call/handler.js';
import { readConfig } from '../../src/contract/config/config.js';
import { createAuthenticator } from '../../src/serve/auth/authenticator.js';
import { createKeyReader } from '../../src/serve/auth/key-reader.js';
import { handlerRpc } from '../../src/serve/connect/handler-rpc.js';
import { rpcMethods } from '../../src/serve/descriptors/rpc-methods.js';
import { createListener } from '../../src/serve/listener/listener.js';
import { handlerRoutes } from '../../src/serve/rest/rest-routes.js';
import { createStreamNames } from '../../src/serve/routing/open-streams.js';
import { maxReplyBytes } from '../../src/serve/wire/reply.js';
import { endedHere } from './ended-sessions.js';
import { NO_FAILURES } from './failures.js';
import { agelessStreams, NO_WITHDRAWALS } from './long-streams.js';
import { createQuietMetrics } from './metrics.js';
import { openAdmission } from './open-admission.js';
import { PATIENT_SETTINGS } from './patient-settings.js';

/** The host without the service behind it: every protocol, over handlers of a test. */
export interface TestHost {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly logLines: string[];
  stop(): Promise<void>;
}

/** Serves the RPCs of one service, given by its descriptor, with handlers by local method name. */
export async function startHost(
  service: DescService,
  handlers: Readonly<Record<string, AnyHandler>>,
  environment: Record<string, string> = {},
): Promise<TestHost> {
  const config = readConfig({
    SERVICE_HOST: '127.0.0.1',
    SERVICE_PORT: '0',
    ...PATIENT_SETTINGS,
    ...environment,
  });
  const logLines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => logLines.push(line) });
  const methods = rpcMethods(service).filter(({ desc }) => desc.localName in handlers);
  const handlerOf = (localName: string): AnyHandler => handlers[localName] as AnyHandler;
  const listener = createListener({ limits: { drainGraceMs: 0 } });
  const health = createHealthState([service.typeName]);
  const authenticator = createAuthenticator({ ...config.auth, endedSessions: endedHere() });
  const opened = openAdmission({ authenticator });
  const metrics = createQuietMetrics(config.metricsPrefix, createStreamNames([service], config.apiBase));
  const host = {
    ...opened,
    policies: [],
    withdrawals: NO_WITHDRAWALS,
    metrics,
    log,
    logsCalls: true,
    failures: NO_FAILURES,
    requestTimeoutMs: config.limits.requestTimeoutMs,
  };
  const server = await createServer({
    config,
    log,
    listener,
    authenticator,
    keyReader: createKeyReader(config.auth),
    ...opened,
    host,
    metrics,
    health,
    state: {
      version: '0.0.0',
      instanceId: () => '',
      databaseUp: () => true,
      storage: () => 'OK',
      revision: () => 0,
      cannotEvaluateBecause: () => null,
      controlsFrom: () => ({ source: 'database' }),
      notReadyBecause: () => null,
    },
    services: [service],
    methods: new Map(methods.map((method) => [method.name, method])),
    restRoutes: methods.flatMap((method) =>
      handlerRoutes(method, handlerOf(method.desc.localName), {
        apiBase: config.apiBase,
        strict: config.strictDefinitions,
        duplicates: config.duplicateMembers,
      }),
    ),
    registerRpcs(router) {
      const implementation = methods.map((method) => [
        method.desc.localName,
        handlerRpc(method, handlerOf(method.desc.localName), maxReplyBytes(config.limits.bodyBytes)),
      ]);
      router.service(service, Object.fromEntries(implementation) as Partial<ServiceImpl<DescService>>);
    },
    shutdownSignal: new AbortController().signal,
    longStreams: agelessStreams(),
    failures: NO_FAILURES,
    now: () => new Date(),
    describe: openApiDocument,
  });
  health.setServing(true);
  await server.listen({ host: config.host, port: config.port });
  const { port } = server.server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, host: '127.0.0.1', port, logLines, stop: () => server.close() };
}
