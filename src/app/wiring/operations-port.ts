import type { AddressInfo, Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { trustedProxies } from '../../contract/config/trusted-proxies.js';
import { Admission } from '../../serve/admission/admission.js';
import { createFrontGate } from '../../serve/admission/front-gate.js';
import { createListener, type Listener } from '../../serve/listener/listener.js';
import { createRefusedCalls } from '../../serve/rest/refused-calls.js';
import { createPathClasses, isRpcPath } from '../../serve/routing/path-classes.js';
import { addressText } from './address.js';
import { createOperationsServer, type ServerOptions } from './server.js';

/** A separate port for health, readiness, metrics and, optionally, reflection. */
export interface OperationsPort {
  readonly server: FastifyInstance;
  readonly listener: Listener;
  /** Starts to listen. Returns the address, for example `http://127.0.0.1:9000`. */
  listen(): Promise<string>;
  /** Used instead of `listen`: prepares for connections that another process accepts, for `accept`. */
  ready(): Promise<void>;
  accept(socket: Socket): void;
  close(): Promise<void>;
}

/**
 * Plaintext, for probes and collectors inside a network. It has separate limits, so that load on the public
 * port does not affect it; nothing is refused under load, because that is when it is needed.
 */
export async function createOperationsPort(
  options: Omit<ServerOptions, 'listener' | 'gate'>,
): Promise<OperationsPort> {
  const { config, log, state, now, methods } = options;
  const { operations } = config;
  if (operations === null) throw new Error('no operations port is configured');
  const admission = new Admission({
    limits: config.limits.admission,
    load: { refuses: () => false },
    meter: options.metrics,
    proxies: trustedProxies([]),
    hasKeys: false,
    now: () => performance.now(),
  });
  const { apiBase, apiPrefix } = config;
  const gate = createFrontGate({
    admission,
    classOf: createPathClasses({ methods: methods.values(), apiBase, apiPrefix }),
    refuse: createRefusedCalls({ version: state.version, log, now, isRpc: isRpcPath }),
  });
  const listener = createListener({ limits: { drainGraceMs: config.limits.drainMs }, admission, gate });
  const server = await createOperationsServer({ ...options, listener, gate });
  return {
    server,
    listener,
    async listen() {
      await server.listen({
        host: operations.host,
        port: operations.port,
        listenTextResolver: (address) => `operations at ${address}`,
      });
      const { port } = server.server.address() as AddressInfo;
      return addressText({ host: operations.host, tls: null }, port);
    },
    async ready() {
      await server.ready();
      listener.expectConnections();
    },
    accept: (socket) => listener.accept(socket),
    async close() {
      await listener.drain();
      await server.close();
    },
  };
}
