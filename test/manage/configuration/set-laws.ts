import fc from 'fast-check';
import { expect } from 'vitest';
import type { RestClient } from '../../support/http.js';
import { applier, control, type Document, denying, documentsOf, exported } from './documents.support.js';

const OWNER = 'laws/main';
const NAMES = ['a', 'b', 'c', 'd', 'e'];
const POLICIES = ['p', 'q', 'r'];
const AGENTS = ['agent-of-laws-1', 'agent-of-laws-2'];
/** Of another owner, which no application of the set may change. */
const OTHERS = [
  control('other-control'),
  { kind: 'Policy', name: 'other-policy', controls: ['other-control'] },
];

const controls: Readonly<Record<string, (name: string) => Document>> = {
  one: (name) => control(name),
  two: (name) => control(name, 'two', { tags: ['two'], enabled: false }),
  limit: (name) => ({
    kind: 'Limit',
    name,
    data: denying('rate', { limit: 3, period: '1h', key: ['agent'] }),
  }),
  template: (name) => template(name, { word: 'written' }),
  draft: (name) => ({ ...template(name, {}), enabled: false }),
};

function template(name: string, values: object): Document {
  const definition = denying('regex', { pattern: { $param: 'word' } });
  const parameters = { word: { type: 'string', label: 'Word' } };
  const data = { template: { parameters, definition_template: definition }, template_values: values };
  return { kind: 'Template', name, data };
}

const someOf = (names: readonly string[]) => fc.subarray([...names]);
const stateOf = (variants: readonly string[]) => fc.option(fc.constantFrom(...variants), { freq: 3 });

/** Documents of any controls, of policies of some of them, and of links to some of both. */
const sets = fc
  .tuple(...NAMES.map(() => stateOf(Object.keys(controls))))
  .chain((chosen) => {
    const all = NAMES.flatMap((name, at) => {
      const make = controls[chosen[at] ?? ''];
      return make === undefined ? [] : [make(`laws-${name}`)];
    });
    const names = all.map(({ name }) => name);
    const given = fc.constantFrom({}, { every_agent: true }, { agent_labels: ['team=laws'] });
    const policy = fc.option(fc.tuple(someOf(names), given), { freq: 3 });
    return fc.tuple(fc.constant(all), fc.tuple(...POLICIES.map(() => policy)));
  })
  .chain(([all, given]) => {
    const policies = POLICIES.flatMap((name, at): Document[] => {
      const one = given[at];
      return one == null ? [] : [{ kind: 'Policy', name: `laws-${name}`, controls: one[0], ...one[1] }];
    });
    const linkable = policies.filter((one) => !('every_agent' in one)).map(({ name }) => name);
    const linked = fc.tuple(someOf(all.map(({ name }) => name)), someOf(linkable));
    return fc.tuple(fc.constant([...all, ...policies]), fc.tuple(...AGENTS.map(() => fc.option(linked))));
  })
  .map(([documents, linked]) => [
    ...documents,
    ...AGENTS.flatMap((name, at): Document[] => {
      const [own = [], policies = []] = linked[at] ?? [];
      if (own.length + policies.length === 0) return [];
      return [{ kind: 'AgentLinks', name, controls: own, policies }];
    }),
  ]);

const keysOf = (documents: readonly Document[]) =>
  documents.map(({ kind, name }) => `${kind}/${name}`).sort();

/**
 * Applying any set after any other leaves exactly that set, byte for byte what applying it to an empty namespace leaves, and
 * nothing of the other; a second time, it changes nothing, and makes neither a revision nor an entry of the audit log.
 */
export async function checkSetLaws(call: RestClient, cases: number): Promise<void> {
  const send = applier(call);
  expect((await send(OTHERS, { owner: 'laws/other' })).status).toBe(200);
  await call('POST', '/api/v1/agents/initAgent', {
    agent: { agent_name: 'agent-with-labels-1', agent_metadata: { team: 'laws' } },
  });
  const others = await exported(call, { owner: 'laws/other' });
  const apply = async (documents: readonly Document[]) => {
    const { status, body } = await send(documents, { owner: OWNER, prune: true });
    expect({ status, body }).toMatchObject({ status: 200 });
    return body;
  };
  const newestEntry = async () => (await call('GET', '/api/v1/audit?limit=1')).body.entries[0];

  await fc.assert(
    fc.asyncProperty(sets, sets, async (before, set) => {
      await apply(set);
      const alone = await exported(call, { owner: OWNER });
      expect(keysOf(documentsOf(alone))).toEqual(keysOf(set));
      await apply(before);
      const { revision } = await apply(set);
      expect(await exported(call, { owner: OWNER })).toBe(alone);
      const entry = await newestEntry();
      expect(await apply(set)).toMatchObject({ applied: false, revision });
      expect(await newestEntry()).toEqual(entry);
      await apply([]);
      expect(await exported(call)).toBe(others);
    }),
    // Each case is many calls: the first one that fails is shown, and not made smaller.
    { numRuns: cases, endOnFailure: true },
  );
}
