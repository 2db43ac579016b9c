import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { it } from 'vitest';
import { ListAgentControlsResponseSchema } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { generatedCases } from '../support/generated-cases.js';
import { type RestClient, restClient } from '../support/http.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { denyWord, seeder } from '../support/seed.js';
import { describeService, suiteService } from '../support/service-suite.js';
import { until } from '../support/until.js';
import { comparable } from '../support/wire-shape.js';
import { type Watcher, watchControls } from './watch-controls.support.js';

/** Controls and policies that changes choose from. */
const CONTROLS = 4;
const POLICIES = 2;

type Change = (world: World) => Parameters<RestClient>;

interface World {
  readonly agent: string;
  readonly controls: readonly number[];
  readonly policies: readonly number[];
  readonly tag: string;
}

const control = fc.nat({ max: CONTROLS - 1 });
const policy = fc.nat({ max: POLICIES - 1 });
const either = <T>(...values: T[]) => fc.constantFrom(...values);
const agentPath = ({ agent }: World) => `/api/v1/agents/${agent}`;

const changeArbitrary: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(either('POST', 'DELETE'), control).map(
    ([verb, index]): Change =>
      (world) => [verb, `${agentPath(world)}/controls/${world.controls[index]}`],
  ),
  fc.tuple(either('POST', 'DELETE'), policy).map(
    ([verb, index]): Change =>
      (world) => [verb, `${agentPath(world)}/policies/${world.policies[index]}`],
  ),
  fc.tuple(either('POST', 'DELETE'), policy, control).map(
    ([verb, index, of]): Change =>
      (world) => [verb, `/api/v1/policies/${world.policies[index]}/controls/${world.controls[of]}`],
  ),
  fc.tuple(control, either('one', 'two')).map(
    ([index, name]): Change =>
      (world) => [
        'PATCH',
        `/api/v1/controls/${world.controls[index]}`,
        { name: `${name}-${index}-${world.tag}` },
      ],
  ),
  fc.tuple(control, fc.boolean()).map(
    ([index, enabled]): Change =>
      (world) => ['PATCH', `/api/v1/controls/${world.controls[index]}`, { enabled }],
  ),
  fc.tuple(control, either('x', 'y')).map(
    ([index, word]): Change =>
      (world) => ['PUT', `/api/v1/controls/${world.controls[index]}/data`, { data: denyWord(word) }],
  ),
  control.map(
    (index): Change =>
      (world) => ['DELETE', `/api/v1/controls/${world.controls[index]}?force=true`],
  ),
);

interface Client {
  readonly service: number;
  readonly protocol: (typeof RPC_PROTOCOLS)[number];
  /** After how many changes it begins to watch, and after how many it loses its connection and resumes. */
  readonly from: number;
  readonly breaks: number;
}

const clientArbitrary: fc.Arbitrary<Client> = fc.record({
  service: fc.nat({ max: 1 }),
  protocol: either(...RPC_PROTOCOLS),
  from: fc.nat({ max: 12 }),
  breaks: fc.nat({ max: 12 }),
});

describeService('a client of WatchControls that takes every message', ({ service: first }) => {
  const second = suiteService(() => ({ DATABASE_URL: first.databaseUrl }));
  let worlds = 0;
  const serviceOf = (index: number) => (index === 0 ? first : second);

  it('has what the agent has in the end, through whichever replica and after a break', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat({ max: 1 }), changeArbitrary), { minLength: 1, maxLength: 15 }),
        fc.array(clientArbitrary, { minLength: 1, maxLength: 4 }),
        async (changes, clients) => {
          worlds += 1;
          const call = restClient(serviceOf(0).url);
          const world = await newWorld(call, String(worlds));
          const watchers = clients.map((): Watcher | undefined => undefined);
          const open = (index: number, before?: Watcher): Watcher => {
            const { protocol, service } = clients[index] as Client;
            return watchControls(rpcTransport(protocol, serviceOf(service).url), world.agent, {
              after: before,
            });
          };
          for (const [count, [service, change]] of changes.entries()) {
            for (const [index, client] of clients.entries()) {
              if (client.from === count) watchers[index] ??= open(index);
              const before = watchers[index];
              if (client.breaks !== count || before === undefined) continue;
              before.stop();
              await before.ended;
              watchers[index] = open(index, before);
            }
            // Deleted ones are changed too; that is refused and changes nothing.
            await restClient(serviceOf(service).url)(...change(world));
          }
          const list = await call('GET', `/api/v1/agents/${world.agent}/controls`);
          const wanted = comparable(ListAgentControlsResponseSchema, list.body);
          const arrives = (watcher: Watcher) =>
            until(
              () => watcher.list(),
              (told) => isDeepStrictEqual(told, wanted),
            );
          for (const index of clients.keys()) {
            const watcher = watchers[index] ?? open(index);
            await arrives(watcher);
            watcher.stop();
            await watcher.ended;
            const resumed = open(index, watcher);
            await until(resumed.revision, (revision) => revision > 0);
            await arrives(resumed);
            resumed.stop();
            await resumed.ended;
          }
        },
      ),
      { numRuns: generatedCases(12) },
    ));

  async function newWorld(call: RestClient, tag: string): Promise<World> {
    const seed = seeder(call);
    const agent = `replayed-agent-${tag}`;
    await seed.agent(agent);
    const controls: number[] = [];
    for (let index = 0; index < CONTROLS; index += 1)
      controls.push(await seed.control(`start-${index}-${tag}`));
    const policies: number[] = [];
    for (let index = 0; index < POLICIES; index += 1) {
      policies.push(
        (await call('PUT', '/api/v1/policies', { name: `policy-${index}-${tag}` })).body.policy_id,
      );
    }
    return { agent, controls, policies, tag };
  }
});
