import fc from 'fast-check';
import { expect, it } from 'vitest';
import '../../support/property-seed.js';
import { replayed } from '../../e2e/replay.support.js';
import { generatedCases } from '../../support/generated-cases.js';
import { denyWord } from '../../support/seed.js';
import { describeService } from '../../support/service-suite.js';
import { until } from '../../support/until.js';

const AGENTS = ['alpha-bot-0001', 'beta-bot-00001', 'gamma-bot-0001'] as const;
const CONTROLS = ['c0', 'c1', 'c2', 'c3', 'c4', 'c5'] as const;
const POLICIES = ['p0', 'p1', 'p2'] as const;
const LABELS = ['tier=gold', 'tier=iron'] as const;
const WORDS = ['ant', 'bee', 'cat', 'dog', 'elk'] as const;
const ACCEPTS = ['steer', 'ask', 'modify'] as const;

const word = fc.constantFrom(...WORDS);
const leaf = fc.oneof(
  word.map((pattern) => ({
    selector: { path: 'input.text' },
    evaluator: { name: 'regex', config: { pattern } },
  })),
  fc.uniqueArray(word, { minLength: 1, maxLength: 2 }).map((values) => ({
    selector: { path: 'input.kind' },
    evaluator: { name: 'list', config: { values, match_on: 'match' } },
  })),
  word.map((text) => ({
    selector: { path: '*' },
    evaluator: {
      name: 'cel',
      config: { expression: `agent.metadata.team == "${text}" || context.by == "${text}"` },
    },
  })),
);
const condition = fc.oneof(
  leaf,
  fc.array(leaf, { minLength: 2, maxLength: 2 }).map((and) => ({ and })),
  leaf.map((not) => ({ not })),
);
const action = fc.oneof(
  fc.constant({ decision: 'deny' }),
  fc.constant({ decision: 'observe' }),
  fc.constant({ decision: 'steer', steering_context: { message: 'not like this' } }),
  fc.constant({ decision: 'deny', approval: { approvers: ['role:operator'] } }),
  fc.constant({ decision: 'deny', modify: [{ path: 'input.text', replace: 'value', with: 'nothing' }] }),
);
const scope = fc.constantFrom({}, { stages: ['post'] }, { step_names: ['send'] }, { step_types: ['llm'] });
const control = fc
  .record({ condition, action, scope, enabled: fc.constantFrom(true, true, true, false) })
  .map(({ scope, ...data }) => {
    // Only before a step runs can it wait, or be changed.
    const lifts = 'approval' in data.action || 'modify' in data.action;
    return { execution: 'server', ...data, scope: lifts ? { ...scope, stages: ['pre'] } : scope };
  });

const some = <T>(all: readonly T[], most: number) =>
  fc.uniqueArray(fc.constantFrom(...all), { maxLength: most });

/** A set of documents: all of these controls, policies and links. */
const configuration = fc.record({
  controls: fc.tuple(...CONTROLS.map(() => control)),
  policies: fc.tuple(
    ...POLICIES.map(() =>
      fc.record({
        controls: some(CONTROLS, 2),
        every_agent: fc.constantFrom(false, false, true),
        agent_labels: some(LABELS, 1),
      }),
    ),
  ),
  links: fc.tuple(
    ...AGENTS.map(() => fc.record({ controls: some(CONTROLS, 2), policies: some(POLICIES, 2) })),
  ),
});
type Configuration = typeof configuration extends fc.Arbitrary<infer T> ? T : never;

function documentsOf({ controls, policies, links }: Configuration): object[] {
  return [
    ...controls.map((data, at) => ({ kind: 'Control', name: CONTROLS[at], data })),
    ...policies.map((policy, at) => ({ kind: 'Policy', name: POLICIES[at], ...policy })),
    ...links.map((link, at) => ({ kind: 'AgentLinks', name: AGENTS[at], ...link })),
  ];
}

const step = fc.record({
  agent_name: fc.constantFrom(...AGENTS),
  stage: fc.constantFrom('pre', 'post'),
  accepts: fc.subarray([...ACCEPTS], { minLength: 1 }),
  target: fc.boolean(),
  step: fc.record({
    type: fc.constantFrom('tool', 'llm'),
    name: fc.constantFrom('send', 'read'),
    input: fc.record({ text: fc.array(word, { maxLength: 3 }).map((words) => words.join(' ')), kind: word }),
    context: fc.record({ by: word }),
  }),
});

const round = fc.record({
  before: configuration,
  after: configuration,
  /** Documents of the second configuration that are proposed. */
  proposed: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
  without: some(CONTROLS, 1),
  bound: fc.constantFrom(...CONTROLS),
  steps: fc.array(step, { minLength: 25, maxLength: 25 }),
});

describeService('replayed samples', ({ call, seed, service }) => {
  const demand = async (...request: Parameters<typeof call>) => {
    const reply = await call(...request);
    if (reply.status !== 200) throw new Error(`${request[1]}: ${JSON.stringify(reply.body)}`);
    return reply.body;
  };
  const apply = (documents: object[]) =>
    demand('POST', '/api/v1/configuration/apply', {
      owner: 'test',
      documents,
      overwrite: namesOf(documents),
    });
  const namesOf = (documents: object[]) =>
    (documents as { kind: string; name: string }[]).map(({ kind, name }) => `${kind}/${name}`);

  async function evaluated(steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[]) {
    const made: { decision_id: string; outcome: string }[] = [];
    for (const { target, ...request } of steps) {
      const of = target ? { target_type: 'repo', target_id: 'one' } : {};
      made.push(await demand('POST', '/api/v1/evaluation', { ...request, ...of }));
    }
    return made;
  }

  it('have the verdicts of live evaluation, now and after the proposal is applied', async () => {
    for (const [at, name] of AGENTS.entries()) {
      const metadata = { team: WORDS[at], tier: ['gold', 'iron', 'none'][at] };
      await seed.agent(name, { agent: { agent_name: name, agent_metadata: metadata } });
    }
    await fc.assert(
      fc.asyncProperty(round, async ({ before, after, proposed, without, bound, steps }) => {
        await apply(documentsOf(before));
        const { controls } = await demand('GET', `/api/v1/controls?name=${bound}`);
        await demand('PUT', '/api/v1/control-bindings/by-key', {
          enabled: true,
          target_type: 'repo',
          target_id: 'one',
          control_id: controls[0].id,
        });
        const { rule } = await demand('POST', '/api/v1/sampling-rules', { share: 1 });
        const live = await evaluated(steps);
        await until(
          () => call('GET', '/api/v1/samples'),
          ({ body }) => body.pagination.total === steps.length,
        );
        // What is masked may change the verdict.
        expect((await replayed(service.url, {})).summary).toMatchObject({
          samples: steps.length,
          skipped: 0,
          changed: 0,
        });

        const all = await replayed(service.url, { without_controls: CONTROLS });
        const unsafe = live.filter(({ outcome }) => outcome !== 'allow');
        expect(outcomesOf(all.changes, 'live')).toEqual(outcomesOf(unsafe));

        const documents = documentsOf(after).filter((_document, index) => proposed[index]);
        const { changes } = await replayed(service.url, { documents, without_controls: without });
        const expected = new Map(live.map(({ decision_id, outcome }) => [decision_id, outcome]));
        for (const change of changes) {
          expect(change.live).toBe(expected.get(change.sample.decision_id));
          expected.set(change.sample.decision_id, change.proposed);
        }
        await demand('DELETE', `/api/v1/sampling-rules/${rule.rule_id}?delete_samples=true`);
        await apply(documents);
        for (const name of without) {
          const found = await demand('GET', `/api/v1/controls?name=${name}`);
          await demand('DELETE', `/api/v1/controls/${found.controls[0].id}?force=true`);
        }
        const applied = await evaluated(steps);
        expect(applied.map(({ outcome }) => outcome)).toEqual(
          live.map(({ decision_id }) => expected.get(decision_id)),
        );
      }),
      { numRuns: generatedCases(12), endOnFailure: true },
    );
  });

  it('are evaluated as of the time at which they were taken', async () => {
    const agent_name = 'delta-bot-0001';
    await seed.linked(agent_name, 'for-a-moment', denyWord('never'));
    await demand('POST', '/api/v1/sampling-rules', { share: 1, agent_name });
    const request = {
      agent_name,
      stage: 'pre',
      accepts: ['steer'],
      step: { type: 'llm', name: 'a', input: 'b' },
    };
    const kept = async (count: number) => {
      const { body } = await until(
        () => call('GET', `/api/v1/samples?agent_name=${agent_name}`),
        ({ body }) => body.pagination.total === count,
      );
      return body.samples as { decision_id: string; taken_at: string }[];
    };
    await demand('POST', '/api/v1/evaluation', request);
    const [first] = await kept(1);
    await until(
      () => Date.now(),
      (nowMs) => nowMs > Date.parse(first?.taken_at ?? ''),
    );
    await demand('POST', '/api/v1/evaluation', request);
    const [second] = await kept(2);
    const expression = `now < timestamp("${second?.taken_at}")`;
    const data = {
      execution: 'server',
      condition: { selector: { path: '*' }, evaluator: { name: 'cel', config: { expression } } },
      action: { decision: 'deny' },
    };
    const documents = [{ kind: 'Control', name: 'for-a-moment', data }];
    const { changes } = await replayed(service.url, { documents, agent_name });
    expect(outcomesOf(changes, 'proposed')).toEqual([`${first?.decision_id} deny`]);
  });
});

function outcomesOf(all: readonly object[], member = 'outcome'): string[] {
  const texts = (
    all as { sample?: { decision_id: string }; decision_id?: string; [member: string]: unknown }[]
  ).map((one) => `${one.sample?.decision_id ?? one.decision_id} ${one[member]}`);
  return texts.sort();
}
