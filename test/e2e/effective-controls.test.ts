import fc from 'fast-check';
import { expect, it } from 'vitest';
import { generatedCases } from '../support/generated-cases.js';
import { denyWord, evaluate } from '../support/seed.js';
import { describeService } from '../support/service-suite.js';

const AGENTS = ['model-agent-a', 'model-agent-b'];
const CONTROLS = 3;
const POLICIES = 3;
const RUNS = generatedCases(80);

type Change =
  | { readonly kind: 'link' | 'unlink'; readonly agent: string; readonly control: number }
  | { readonly kind: 'put' | 'take out'; readonly policy: number; readonly control: number }
  | { readonly kind: 'give' | 'take' | 'replace'; readonly agent: string; readonly policy: number }
  | { readonly kind: 'take all' | 'take all as older clients do'; readonly agent: string }
  | { readonly kind: 'delete'; readonly control: number };

const agent = fc.constantFrom(...AGENTS);
const control = fc.nat(CONTROLS - 1);
const policy = fc.nat(POLICIES - 1);
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('link', 'unlink'), agent, control }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom('put', 'put', 'take out'), policy, control }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constantFrom('give', 'give', 'take', 'replace'), agent, policy }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('take all', 'take all as older clients do'), agent }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete'), control }) },
);

/** The members of a set in `sets` by its key, which may be new. */
function at<Key, Member>(sets: Map<Key, Set<Member>>, key: Key): Set<Member> {
  const known = sets.get(key) ?? new Set();
  sets.set(key, known);
  return known;
}

describeService('the effective controls of an agent', ({ call, seed }) => {
  it(`are those of a simple set model after each of ${RUNS} random sequences, evaluated after every change`, async () => {
    for (const name of AGENTS) await seed.agent(name);
    /** Slots: a deleted control is created anew, with another id. */
    const controlIds: number[] = [];
    for (let slot = 0; slot < CONTROLS; slot += 1) controlIds[slot] = await createControl(slot);
    const policyIds: number[] = [];
    for (let slot = 0; slot < POLICIES; slot += 1) {
      policyIds.push((await call('PUT', '/api/v1/policies', { name: `policy-${slot}` })).body.policy_id);
    }
    const links = new Map<string, Set<number>>();
    const given = new Map<string, Set<number>>();
    const contents = new Map<number, Set<number>>();

    function createControl(slot: number): Promise<number> {
      return seed.control(`control-${slot}`, denyWord('bad'));
    }
    async function demand(method: string, path: string, status = 200): Promise<unknown> {
      const reply = await call(method, `/api/v1${path}`);
      expect([method, path, reply.status]).toEqual([method, path, status]);
      return reply.body;
    }
    const lowestId = (slots: ReadonlySet<number>): number | null =>
      slots.size === 0 ? null : Math.min(...[...slots].map((slot) => policyIds[slot] ?? 0));

    async function apply(next: Change): Promise<void> {
      switch (next.kind) {
        case 'link':
          at(links, next.agent).add(next.control);
          await demand('POST', `/agents/${next.agent}/controls/${controlIds[next.control]}`);
          break;
        case 'unlink': {
          const removed = at(links, next.agent).delete(next.control);
          const stillActive = effective(next.agent).has(next.control);
          expect(
            await demand('DELETE', `/agents/${next.agent}/controls/${controlIds[next.control]}`),
          ).toEqual({
            success: true,
            removed_direct_association: removed,
            control_still_active: stillActive,
          });
          break;
        }
        case 'put':
          at(contents, next.policy).add(next.control);
          await demand('POST', `/policies/${policyIds[next.policy]}/controls/${controlIds[next.control]}`);
          break;
        case 'take out':
          at(contents, next.policy).delete(next.control);
          await demand('DELETE', `/policies/${policyIds[next.policy]}/controls/${controlIds[next.control]}`);
          break;
        case 'give':
          at(given, next.agent).add(next.policy);
          await demand('POST', `/agents/${next.agent}/policies/${policyIds[next.policy]}`);
          break;
        case 'take':
          at(given, next.agent).delete(next.policy);
          await demand('DELETE', `/agents/${next.agent}/policies/${policyIds[next.policy]}`);
          break;
        case 'replace': {
          const old = lowestId(at(given, next.agent));
          given.set(next.agent, new Set([next.policy]));
          const reply = await demand('POST', `/agents/${next.agent}/policy/${policyIds[next.policy]}`);
          expect(reply).toEqual({ success: true, old_policy_id: old });
          break;
        }
        case 'take all':
          given.delete(next.agent);
          await demand('DELETE', `/agents/${next.agent}/policies`);
          break;
        case 'take all as older clients do': {
          const had = at(given, next.agent).size > 0;
          given.delete(next.agent);
          await demand('DELETE', `/agents/${next.agent}/policy`, had ? 200 : 404);
          break;
        }
        case 'delete':
          for (const slots of [...links.values(), ...contents.values()]) slots.delete(next.control);
          await demand('DELETE', `/controls/${controlIds[next.control]}?force=true`);
          break;
      }
    }

    function effective(name: string): Set<number> {
      const brought = [...at(given, name)].flatMap((slot) => [...at(contents, slot)]);
      return new Set([...at(links, name), ...brought]);
    }
    const idsDescending = (slots: ReadonlySet<number>): number[] =>
      [...slots].map((slot) => controlIds[slot] ?? 0).sort((left, right) => right - left);

    async function matched(name: string): Promise<number[]> {
      const { status, body } = await evaluate(call, name, 'bad');
      expect([status, body.errors]).toEqual([200, []]);
      return (body.matches as { control_id: number }[]).map(({ control_id }) => control_id);
    }
    async function check(): Promise<void> {
      for (const name of AGENTS)
        expect([name, await matched(name)]).toEqual([name, idsDescending(effective(name))]);
    }
    /** What lists tell, which need the database and so are not asked after every change. */
    async function checkLists(): Promise<void> {
      for (const name of AGENTS) {
        const { controls } = (await demand('GET', `/agents/${name}/controls`)) as {
          controls: { id: number }[];
        };
        expect(controls.map(({ id }) => id)).toEqual(idsDescending(effective(name)));
      }
      const { agents } = (await demand('GET', '/agents?name=model-agent')) as {
        agents: Record<string, unknown>[];
      };
      for (const { agent_name: name, policy_ids, active_controls_count } of agents) {
        expect({ name, policy_ids, active_controls_count }).toEqual({
          name,
          policy_ids: [...at(given, String(name))].map((slot) => policyIds[slot] ?? 0).sort((a, b) => a - b),
          active_controls_count: effective(String(name)).size,
        });
      }
      const { controls } = (await demand('GET', '/controls')) as { controls: Record<string, unknown>[] };
      for (const { id, used_by_agent, used_by_agents_count } of controls) {
        const users = AGENTS.filter((name) => effective(name).has(controlIds.indexOf(Number(id))));
        expect({ id, used_by_agent, used_by_agents_count }).toEqual({
          id,
          used_by_agent: users.length === 0 ? null : { agent_name: users[0] },
          used_by_agents_count: users.length,
        });
      }
    }

    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
        for (const next of changes) {
          await apply(next);
          await check();
          if (next.kind === 'delete') controlIds[next.control] = await createControl(next.control);
        }
        await checkLists();
      }),
      // The model follows the service across runs, so a failing sequence cannot be replayed alone.
      { numRuns: RUNS, endOnFailure: true },
    );
  });
});
