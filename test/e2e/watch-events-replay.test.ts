import fc from 'fast-check';
import { expect, it } from 'vitest';
import { generatedCases } from '../support/generated-cases.js';
import { restClient } from '../support/http.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { describeService, suiteService } from '../support/service-suite.js';
import { until } from '../support/until.js';
import { type EventWatcher, watchEvents } from './event-streams.support.js';
import { event, eventRoutes } from './events.support.js';

const AGENTS = ['replayed-bot-1', 'replayed-bot-2'] as const;

/** Events that one call sends; `id` is one of few, so that some are sent again. */
interface Sent {
  readonly service: number;
  readonly events: readonly { readonly id: number; readonly agent: string; readonly matched: boolean }[];
}

const sentArbitrary: fc.Arbitrary<Sent> = fc.record({
  service: fc.nat({ max: 1 }),
  events: fc.array(
    fc.record({ id: fc.nat({ max: 60 }), agent: fc.constantFrom(...AGENTS), matched: fc.boolean() }),
    { minLength: 1, maxLength: 8 },
  ),
});

/** A client that loses its connection now and then, and goes on at any replica where it stopped. */
interface Client {
  readonly protocol: (typeof RPC_PROTOCOLS)[number];
  readonly services: readonly number[];
  /** How many messages it takes from each connection before it breaks; the last one lasts. */
  readonly breaks: readonly number[];
  readonly filter: { agentName?: string; matched?: boolean };
}

const clientArbitrary: fc.Arbitrary<Client> = fc.record({
  protocol: fc.constantFrom(...RPC_PROTOCOLS),
  services: fc.array(fc.nat({ max: 1 }), { minLength: 1, maxLength: 4 }),
  breaks: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 4 }),
  filter: fc.record({ agentName: fc.constantFrom(...AGENTS), matched: fc.boolean() }, { requiredKeys: [] }),
});

describeService('clients of WatchEvents that reconnect', ({ service: first }) => {
  const second = suiteService(() => ({ DATABASE_URL: first.databaseUrl }));
  let worlds = 0;
  const serviceOf = (index: number) => (index === 0 ? first : second);

  /** The end of the log now. */
  async function end(): Promise<bigint> {
    const watcher = watchEvents(rpcTransport('gRPC', serviceOf(0).url));
    await until(watcher.kinds, (kinds) => kinds.length > 0);
    await watcher.stop();
    return watcher.position();
  }

  /** Reads from `from` until `isDone`, over as many connections as the client has; what each of them told. */
  async function follow(client: Client, from: bigint, isDone: (watcher: EventWatcher) => boolean) {
    const told: { ids: string[]; positions: bigint[] } = { ids: [], positions: [] };
    let position = from;
    for (let connection = 0; ; connection += 1) {
      const service = serviceOf(client.services[connection % client.services.length] as number);
      const watcher = watchEvents(rpcTransport(client.protocol, service.url), {
        ...client.filter,
        afterPosition: position,
      });
      const limit = client.breaks[connection];
      await until(
        () => watcher.messages.length,
        (count) => isDone(watcher) || (limit !== undefined && count >= limit),
      );
      // What comes until it has ended counts too: a client that took a message does not know that it is the last one.
      const finished = isDone(watcher);
      await watcher.stop();
      told.ids.push(...watcher.ids());
      told.positions.push(...watcher.positions());
      position = watcher.position() === 0n ? position : watcher.position();
      if (finished) return told;
    }
  }

  it('receive exactly the events that pass, each once and in the order of their positions', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(sentArbitrary, { minLength: 1, maxLength: 12 }),
        fc.array(clientArbitrary, { minLength: 1, maxLength: 3 }),
        async (calls, clients) => {
          worlds += 1;
          const world = worlds;
          const from = await end();
          let last: bigint | undefined;
          const isDone = (watcher: EventWatcher) => last !== undefined && watcher.position() >= last;
          const following = clients.map((client) => follow(client, from, isDone));
          /** The first event of each id counts. */
          const stored = new Map<string, { agent: string; matched: boolean }>();
          for (const { service, events } of calls) {
            const sent = events.map(({ id, agent, matched }) => {
              const name = `w${world}-${id}`;
              if (!stored.has(name)) stored.set(name, { agent, matched });
              return event({ control_execution_id: name, agent_name: agent, matched });
            });
            await eventRoutes(restClient(serviceOf(service).url)).send(...sent);
          }
          // One that passes every filter tells a client that it has been told everything.
          for (const agent of AGENTS) {
            for (const matched of [true, false]) {
              const name = `w${world}-end-${agent}-${matched}`;
              stored.set(name, { agent, matched });
              await eventRoutes(restClient(serviceOf(0).url)).send(
                event({ control_execution_id: name, agent_name: agent, matched }),
              );
            }
          }
          last = (await end()) - 3n;
          for (const [index, client] of clients.entries()) {
            const told = (await following[index]) ?? { ids: [], positions: [] };
            const { agentName, matched } = client.filter;
            const wanted = [...stored]
              .filter(([, one]) => agentName === undefined || one.agent === agentName)
              .filter(([, one]) => matched === undefined || one.matched === matched)
              .map(([id]) => id)
              // The four that mark the end need not all have been told yet.
              .filter((id) => !id.includes('-end-'));
            const ids = told.ids.filter((id) => !id.includes('-end-'));
            if (ids.join() !== wanted.join()) {
              throw new Error(`told ${ids.join(' ')}\ninstead of ${wanted.join(' ')}`);
            }
            if (told.positions.some((position, at) => at > 0 && position <= (told.positions[at - 1] ?? 0n))) {
              throw new Error(`not in order: ${told.positions.join(' ')}`);
            }
          }
        },
      ),
      { numRuns: generatedCases(15) },
    ));

  it('receive the same in the same order while both replicas store at once', async () => {
    const from = await end();
    const ids = Array.from({ length: 300 }, (_, index) => `at-once-${index}`);
    let last: bigint | undefined;
    const isDone = (watcher: EventWatcher) => last !== undefined && watcher.position() >= last;
    const clients = RPC_PROTOCOLS.map((protocol, index) =>
      follow({ protocol, services: [index % 2, 1], breaks: [1 + index, 3, 5, 7], filter: {} }, from, isDone),
    );
    const send = (id: string, index: number) =>
      eventRoutes(restClient(serviceOf(index % 2).url)).send(event({ control_execution_id: id }));
    // In waves, so that group commits of different sizes of both processes alternate.
    for (let at = 0; at < ids.length; at += 50) {
      await Promise.all(ids.slice(at, at + 50).map((id, index) => send(id, at + index)));
    }
    last = await end();
    const [first, ...others] = await Promise.all(clients);
    expect(first?.ids.toSorted()).toEqual(ids.toSorted());
    expect(first?.positions).toEqual(first?.positions.toSorted((left, right) => Number(left - right)));
    for (const other of others) expect(other).toEqual(first);
  });
});
