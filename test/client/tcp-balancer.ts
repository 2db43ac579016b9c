import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Spreads connections over servers, in turns; one that takes no connections is passed over. */
export interface TcpBalancer {
  readonly url: string;
  /** Where new connections go. */
  setTargets(urls: readonly string[]): void;
  /** How many connections went to each target so far. */
  readonly taken: ReadonlyMap<string, number>;
  /** From now on nothing passes over open connections, without a notice; new ones work. */
  freeze(): void;
  close(): void;
}

export async function startTcpBalancer(): Promise<TcpBalancer> {
  const sockets = new Set<Socket>();
  const taken = new Map<string, number>();
  let targets: readonly string[] = [];
  let turn = 0;

  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  };

  /** Tries each of these in turn. */
  function join(client: Socket, candidates: readonly string[]): void {
    const [target, ...others] = candidates;
    if (target === undefined) {
      client.destroy();
      return;
    }
    const { hostname, port } = new URL(target);
    const server = connect({ host: hostname, port: Number(port), noDelay: true });
    keep(server);
    const refused = (): void => join(client, others);
    server.once('error', refused);
    server.once('connect', () => {
      server.off('error', refused);
      taken.set(target, (taken.get(target) ?? 0) + 1);
      client.on('close', () => server.destroy());
      server.on('close', () => client.destroy());
      client.pipe(server).pipe(client);
    });
  }

  const balancer = createServer({ noDelay: true, pauseOnConnect: false }, (client) => {
    keep(client);
    turn += 1;
    const first = turn % Math.max(1, targets.length);
    join(client, [...targets.slice(first), ...targets.slice(0, first)]);
  });
  await once(balancer.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`,
    setTargets(urls) {
      targets = urls;
    },
    taken,
    freeze() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    close() {
      balancer.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
