import { describe, expect, it } from 'vitest';
import { describeService } from '../../support/service-suite.js';
import { applier, changesOf, control, denying, exported } from './documents.support.js';

const policy = (name: string, controls: readonly string[], more: object = {}) => ({
  kind: 'Policy',
  name,
  controls,
  ...more,
});
const links = (name: string, controls: readonly string[], policies: readonly string[] = []) => ({
  kind: 'AgentLinks',
  name,
  controls,
  policies,
});
type Named = { readonly name: string };
const items = ({ body }: { body: { errors: { field: string; code: string }[] } }) =>
  body.errors.map(({ field, code }) => `${field} ${code}`);

describeService('An applied configuration', ({ call, seed }) => {
  const apply = applier(call);
  const idOf = async (name: string): Promise<number> =>
    (await call('GET', `/api/v1/controls?name=${name}`)).body.controls[0].id;

  describe('of one owner', () => {
    const owner = 'one';
    it('creates, changes and deletes what its documents say, in one revision each', async () => {
      const first = await apply(
        [control('one-a'), policy('one-p', ['one-a']), links('agent-of-one-1', [], ['one-p'])],
        {
          owner,
          note: 'the first',
        },
      );
      expect(first.body).toMatchObject({ applied: true, conflicts: [], warnings: [] });
      expect(changesOf(first)).toEqual([
        'Control/one-a create',
        'Policy/one-p create',
        'AgentLinks/agent-of-one-1 create',
      ]);
      const evaluated = await call('POST', '/api/v1/evaluation', {
        agent_name: 'agent-of-one-1',
        stage: 'pre',
        step: { type: 'llm', name: 'x', input: 'one-a' },
      });
      expect(evaluated.body.is_safe).toBe(false);

      const second = await apply([control('one-a', 'other'), control('one-b'), policy('one-p', ['one-b'])], {
        owner,
        prune: true,
      });
      expect(changesOf(second)).toEqual([
        'Control/one-a update',
        'Control/one-b create',
        'Policy/one-p update',
        'AgentLinks/agent-of-one-1 delete',
      ]);
      expect(second.body.revision).toBe(first.body.revision + 1);
      expect(second.body.changes[0].differences).toEqual([
        {
          path: 'data.condition.evaluator.config.pattern',
          before_json: '"one-a"',
          after_json: '"other"',
        },
      ]);
      const id = await idOf('one-a');
      const versions = await call('GET', `/api/v1/controls/${id}/versions`);
      expect(versions.body.versions.map(({ note }: { note: string }) => note)).toEqual([
        'Applied by one',
        'the first',
      ]);

      const third = await apply([], { owner, prune: true });
      expect(changesOf(third)).toEqual([
        'Control/one-a delete',
        'Control/one-b delete',
        'Policy/one-p delete',
      ]);
      expect(await exported(call, { owner })).toBe('');
      expect((await call('GET', `/api/v1/controls/${id}`)).status).toBe(404);
      const { entries } = (await call('GET', '/api/v1/audit?action=configuration.apply')).body;
      expect(entries[2]).toMatchObject({
        resource_id: 'one',
        after: expect.stringContaining('"owner":"one","note":"the first","create":3'),
      });
    });

    it('makes no revision when nothing changes, also for another order of members', async () => {
      const data = denying('json', { json_schema: { type: 'object', required: ['a'] } });
      const first = await apply([{ kind: 'Control', name: 'ordered', data }], { owner });
      const { execution, ...others } = data as Record<string, unknown>;
      const same = await apply([{ kind: 'Control', name: 'ordered', data: { ...others, execution } }], {
        owner,
      });
      expect(same.body).toMatchObject({ applied: false, revision: first.body.revision });
      const reordered = denying('json', { json_schema: { required: ['a'], type: 'object' } });
      const again = await apply([{ kind: 'Control', name: 'ordered', data: reordered }], { owner });
      expect(again.body).toMatchObject({ applied: false, revision: first.body.revision });
      expect(changesOf(again)).toEqual(['Control/ordered unchanged']);
    });

    it('keeps what no document has, unless prune asks for it', async () => {
      await apply([control('kept-a'), control('kept-b')], { owner: 'keeper' });
      expect(changesOf(await apply([control('kept-a')], { owner: 'keeper' }))).toEqual([
        'Control/kept-a unchanged',
      ]);
      expect(await exported(call, { owner: 'keeper' })).toContain('kept-b');
    });

    it('stores nothing with dry_run, and tells everything', async () => {
      const before = await exported(call);
      const dry = await apply([control('dry'), control('kept-a', 'changed')], {
        owner: 'dry',
        dry_run: true,
      });
      expect(dry.body).toMatchObject({
        applied: false,
        conflicts: [{ name: 'kept-a', reason: 'other_owner', owner: 'keeper' }],
      });
      expect(changesOf(dry)).toEqual(['Control/dry create']);
      expect(await exported(call)).toBe(before);
    });

    it('is refused once the revision is another one', async () => {
      const { body } = await apply([control('revised')], { owner });
      expect((await apply([control('revised', 'x')], { owner, revision: body.revision })).status).toBe(200);
      const late = await apply([control('revised', 'y')], { owner, revision: body.revision });
      expect([late.status, late.body.error_code]).toEqual([409, 'CONFIGURATION_REVISION_CHANGED']);
      expect(late.body.hint).toContain('repeat the call with the new revision');
    });

    it('lets one of two concurrent applies with the same revision win', async () => {
      const { revision } = (await apply([], { owner, dry_run: true })).body;
      const replies = await Promise.all(
        ['x', 'y', 'z'].map((pattern) => apply([control('raced', pattern)], { owner, revision })),
      );
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    });

    it('lets one of two owners have an object', async () => {
      const replies = await Promise.all(
        ['left', 'right'].map((one) => apply([control('contested', one)], { owner: one })),
      );
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
      const lost = replies.find(({ status }) => status === 409);
      expect(lost?.body.errors).toMatchObject([{ field: 'Control/contested', code: 'other_owner' }]);
    });
  });

  describe('beside changes of people', () => {
    it('conflicts with what they changed, deleted or made, and says what to do', async () => {
      const owner = 'people';
      const mine = [control('p-changed'), control('p-deleted'), policy('p-policy', ['p-changed'])];
      expect((await apply(mine, { owner })).status).toBe(200);
      await call('PUT', `/api/v1/controls/${await idOf('p-changed')}/data`, {
        data: denying('regex', { pattern: 'by hand' }),
      });
      await call('DELETE', `/api/v1/controls/${await idOf('p-deleted')}`);
      await seed.control('p-exists');
      const wanted = [
        control('p-changed', 'new'),
        control('p-deleted'),
        control('p-exists'),
        control('p-new'),
      ];
      const refused = await apply(wanted, { owner });
      expect([refused.status, refused.body.error_code]).toEqual([409, 'CONFIGURATION_CONFLICT']);
      expect(
        refused.body.errors.map(({ field, code }: Record<string, string>) => `${field} ${code}`),
      ).toEqual([
        'Control/p-changed changed_elsewhere',
        'Control/p-deleted deleted_elsewhere',
        'Control/p-exists exists',
      ]);
      expect(refused.body.errors[0].message).toContain('by anonymous');
      expect(refused.body.errors[0].message).toContain('name it in overwrite');
      expect(await exported(call)).not.toContain('p-new');

      const dry = await apply(wanted, { owner, dry_run: true });
      expect(dry.body.conflicts).toMatchObject([
        {
          reason: 'changed_elsewhere',
          owner,
          changed_by: 'anonymous',
          hint: expect.stringContaining('overwrite'),
        },
        { reason: 'deleted_elsewhere', owner, changed_by: 'anonymous' },
        { reason: 'exists', changed_by: 'anonymous' },
      ]);
      const some = await apply(wanted, { owner, overwrite: ['Control/p-changed', 'Limit/p-deleted'] });
      expect(some.body.errors).toHaveLength(1);
      expect(changesOf(await apply(wanted, { owner, overwrite: ['*'] }))).toEqual([
        'Control/p-changed update',
        'Control/p-deleted create',
        'Control/p-exists update',
        'Control/p-new create',
      ]);
    });

    it('does not take from others what it deletes', async () => {
      const owner = 'used';
      await apply([control('used-a'), policy('used-p', ['used-a'])], { owner });
      await seed.agent('agent-with-used-1');
      await seed.link('agent-with-used-1', await idOf('used-a'));
      const refused = await apply([], { owner, prune: true });
      expect(refused.body.errors).toMatchObject([{ field: 'Control/used-a', code: 'in_use' }]);
      expect((await apply([], { owner, prune: true, overwrite: ['Control/used-a'] })).status).toBe(200);
    });

    describe('that are merged', () => {
      const owner = 'merger';
      const merge = { owner, merge: true };
      const setData = async (name: string, data: object) =>
        (await call('PUT', `/api/v1/controls/${await idOf(name)}/data`, { data })).status;
      const dataOf = async (name: string) =>
        (await call('GET', `/api/v1/controls/${await idOf(name)}/data`)).body.data;

      it('keeps what they changed, and applies what the documents changed, more than once', async () => {
        expect((await apply([control('m-both', 'one')], { owner })).status).toBe(200);
        const byHand = denying('regex', { pattern: 'one' }, { enabled: false, tags: ['ours'] });
        expect(await setData('m-both', byHand)).toBe(200);
        const two = [control('m-both', 'two')];
        expect(items(await apply(two, { owner }))).toEqual(['Control/m-both changed_elsewhere']);
        const dry = await apply(two, { ...merge, dry_run: true });
        expect(dry.body).toMatchObject({ conflicts: [], changes: [{ change: 'update' }] });
        expect(dry.body.changes[0].differences.map(({ path }: { path: string }) => path)).toEqual([
          'data.condition.evaluator.config.pattern',
        ]);
        const applied = await apply(two, merge);
        expect(applied.body).toMatchObject({ applied: true });
        const kept = { enabled: false, tags: ['ours'] };
        expect(await dataOf('m-both')).toMatchObject({
          ...kept,
          condition: { evaluator: { config: { pattern: 'two' } } },
        });
        // Nothing is left to do, and without the option it is a change of others as before.
        expect((await apply(two, merge)).body).toMatchObject({
          applied: false,
          revision: applied.body.revision,
          changes: [{ change: 'unchanged' }],
        });
        expect(items(await apply(two, { owner }))).toEqual(['Control/m-both changed_elsewhere']);
        // The changes of both are told from the documents that were merged, not from what is stored.
        expect((await apply([control('m-both', 'three')], merge)).status).toBe(200);
        expect(await dataOf('m-both')).toMatchObject({
          ...kept,
          condition: { evaluator: { config: { pattern: 'three' } } },
        });
        expect((await apply([control('m-both', 'four')], { ...merge, overwrite: ['*'] })).status).toBe(200);
        expect(await dataOf('m-both')).toMatchObject({ enabled: true, tags: [] });
        expect((await apply([control('m-both', 'five')], { owner })).status).toBe(200);
      });

      it('conflicts with members that both changed, and names them', async () => {
        const documents = [control('m-same', 'one'), control('m-other', 'one')];
        expect((await apply(documents, { owner })).status).toBe(200);
        expect(await setData('m-same', denying('regex', { pattern: 'by hand' }, { tags: ['ours'] }))).toBe(
          200,
        );
        expect(await setData('m-other', denying('regex', { pattern: 'one' }, { tags: ['ours'] }))).toBe(200);
        const refused = await apply(
          documents.map(({ name }) => control(name, 'two', { description: 'Two.' })),
          merge,
        );
        expect(items(refused)).toEqual(['Control/m-same changed_elsewhere']);
        expect(refused.body.errors[0].message).toContain('Both changed condition. Export it');
        expect(await dataOf('m-other')).not.toHaveProperty('description');
        const agreed = await apply([control('m-same', 'by hand', { description: 'Two.' })], merge);
        expect(agreed.body).toMatchObject({ applied: true });
        expect(await dataOf('m-same')).toMatchObject({ description: 'Two.', tags: ['ours'] });
      });

      it('does not merge what was made from a template', async () => {
        const parameters = { word: { type: 'string', label: 'Word' } };
        const made = (word: string) => ({
          template: { parameters, definition_template: denying('regex', { pattern: { $param: 'word' } }) },
          template_values: { word },
        });
        const document = (word: string) => ({ kind: 'Template', name: 'm-template', data: made(word) });
        expect((await apply([document('one')], { owner })).status).toBe(200);
        expect(
          (await call('PATCH', `/api/v1/controls/${await idOf('m-template')}`, { enabled: false })).status,
        ).toBe(200);
        const refused = await apply([document('two')], merge);
        expect(items(refused)).toEqual(['Template/m-template changed_elsewhere']);
        expect(refused.body.errors[0].message).toContain('template_values');
      });
    });

    it('takes over what is the same', async () => {
      await seed.control('adopted', denying('regex', { pattern: 'adopted' }));
      const { body } = await apply([control('adopted')], { owner: 'adopter' });
      expect(body).toMatchObject({ applied: true, changes: [{ change: 'unchanged', adopted: true }] });
      expect((await apply([control('adopted', 'x')], { owner: 'other' })).body.errors).toMatchObject([
        { code: 'other_owner' },
      ]);
    });
  });

  describe('with mistakes', () => {
    it('is refused with all of them at once', async () => {
      const refused = await apply([
        { kind: 'Contol', name: 'x' },
        { kind: 'Policy', name: 'wrong-p', control: ['x'] },
        { kind: 'Control', name: 'wrong', data: denying('regex', { pattern: '(' }) },
        { kind: 'Limit', name: 'wrong-limit', data: denying('regex', { pattern: 'x' }) },
        { kind: 'Control', name: 'elsewhere', namespace: 'other', data: denying('regex', { pattern: 'x' }) },
      ]);
      expect(refused.status).toBe(422);
      expect(items(refused)).toEqual([
        'documents[0].kind literal_error',
        'documents[1].control extra_forbidden',
        'documents[2].data.condition.evaluator.pattern value_error',
        'documents[3].kind value_error',
        'documents[4].namespace other_namespace',
      ]);
      expect(refused.body.errors[0].message).toContain('did you mean Control');
    });

    it('is refused with more values than JSON may have, and says what to do', async () => {
      const refused = await apply([], { overwrite: Array.from({ length: 250_001 }, () => '*') });
      expect(refused.status).toBe(422);
      expect(refused.body.errors).toMatchObject([{ code: 'too_long' }]);
      expect(refused.body.errors[0].message).toContain('more than 250000 values and names: send fewer');
      const more = await apply(Array.from({ length: 10_001 }, () => ({ kind: 'Control', name: 'a' })));
      expect(items(more)).toEqual(['documents too_long']);
    });

    it('is refused with names that nothing has, and objects that occur twice', async () => {
      const refused = await apply([
        control('twice'),
        control('twice'),
        policy('wrong-names', ['twise']),
        links('agent-of-wrong-1', [], ['no-policy']),
        { kind: 'Pack', name: 'no-pack', policy: 'wrong-names', version: '1.0.0', installed: { a: 'twice' } },
        { kind: 'Pack', name: 'shell-safety', policy: 'wrong-names', version: '99.0.0', installed: {} },
        { kind: 'Control', name: 'scoped', data: denying('nobody-01:own', {}) },
      ]);
      expect(items(refused)).toEqual([
        'documents[1].name duplicate',
        'documents[2].controls unknown_control',
        'documents[3].policies unknown_policy',
        'documents[4].name unknown_pack',
        'documents[5].version version_changed',
        'documents[6].data.condition.evaluator.name agent_not_found',
      ]);
      expect(refused.body.errors[1].message).toContain('did you mean twice');
    });

    it('is refused with names of what it deletes', async () => {
      await apply([control('gone'), control('stays')], { owner: 'pruner' });
      const refused = await apply([control('stays'), policy('names-gone', ['gone'])], {
        owner: 'pruner',
        prune: true,
      });
      expect(items(refused)).toEqual(['documents[1].controls deleted']);
    });

    it('is refused with controls that an agent cannot run', async () => {
      await call('POST', '/api/v1/agents/initAgent', {
        agent: { agent_name: 'agent-with-own-1' },
        evaluators: [{ name: 'own', config_schema: { type: 'object' } }],
      });
      const own = {
        kind: 'Control',
        name: 'own-only',
        data: { ...denying('agent-with-own-1:own', {}), execution: 'sdk' },
      };
      const documents = [
        own,
        links('agent-with-none-1', ['own-only']),
        policy('for-all', ['own-only'], { every_agent: true }),
      ];
      expect(items(await apply(documents))).toEqual([
        'documents[1] incompatible',
        'documents[2].controls incompatible',
      ]);
      expect((await apply([own, links('agent-with-own-1', ['own-only'])])).status).toBe(200);
    });

    it('warns, or refuses what strict mode refuses', async () => {
      const never = { ...control('never', 'a^b'), data: denying('regex', { pattern: 'a^b' }) };
      const { body } = await apply([control('fine'), never], { owner: 'warned', dry_run: true });
      expect(body.warnings).toMatchObject([
        { code: 'never_matches', field: 'documents[1].data.condition.evaluator.config.pattern' },
      ]);
      const refused = await apply([control('fine'), never], { owner: 'warned', strict: true });
      expect(items(refused)).toEqual(['documents[1].data.condition.evaluator.config.pattern never_matches']);
    });
  });

  it('shows owners, and warns about changes of what they apply otherwise', async () => {
    const owner = 'labels/main';
    await seed.control('free-control');
    const documents = [
      control('labelled-c'),
      policy('labelled-p', ['labelled-c']),
      links('agent-with-label-1', [], ['labelled-p']),
    ];
    await apply(documents, { owner });
    const id = await idOf('labelled-c');
    const listed = (await call('GET', '/api/v1/controls?limit=100')).body.controls as Named[];
    expect(listed.find(({ name }) => name === 'labelled-c')).toMatchObject({ owner });
    expect(listed.find(({ name }) => name === 'free-control')).not.toHaveProperty('owner');
    expect((await call('GET', `/api/v1/controls/${id}`)).body.owner).toBe(owner);
    expect((await call('GET', `/api/v1/controls/${await idOf('free-control')}`)).body).not.toHaveProperty(
      'owner',
    );
    const policies = (await call('GET', '/api/v1/policies?limit=100&name=labelled-p')).body.policies;
    expect(policies).toMatchObject([{ name: 'labelled-p', owner }]);
    const policyId = policies[0].id;

    const warnedOf = (reply: Awaited<ReturnType<typeof call>>): string[] => [
      ...(reply.body.warnings ?? []).map(
        (one: { code: string; field: string }) => `${one.code} ${one.field}`,
      ),
      ...[reply.headers.get('x-service-warning')].filter((text) => text !== null),
    ];
    const inBody = [
      await call('PUT', `/api/v1/controls/${id}/data`, { data: denying('regex', { pattern: 'by hand' }) }),
      await call('POST', `/api/v1/controls/${id}/versions/1/restore`),
      await call('PATCH', `/api/v1/controls/${id}`, { enabled: false }),
    ];
    expect(inBody.map(warnedOf)).toEqual(inBody.map(() => ['applied_by_configuration control_id']));
    expect(warnedOf(await call('PATCH', `/api/v1/controls/${id}`, { enabled: false }))).toEqual([]);
    const link = `/api/v1/agents/agent-with-label-1/controls/${id}`;
    expect(warnedOf(await call('POST', link))).toContain('applied_by_configuration agent_name');
    const inHeader = [
      await call('DELETE', link),
      await call('DELETE', `/api/v1/agents/agent-with-label-1/policies/${policyId}`),
      await call('DELETE', `/api/v1/policies/${policyId}/controls/${id}`),
      await call('PATCH', `/api/v1/policies/${policyId}`, { every_agent: true }),
    ];
    expect(inHeader.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    for (const reply of inHeader) expect(warnedOf(reply)).toEqual([expect.stringContaining(owner)]);

    const refused = await apply(documents, { owner });
    expect(items(refused)).toEqual([
      'Control/labelled-c changed_elsewhere',
      'Policy/labelled-p changed_elsewhere',
      // Nothing is linked to the agent itself any more.
      'AgentLinks/agent-with-label-1 deleted_elsewhere',
    ]);
    const deleted = await call('DELETE', `/api/v1/controls/${id}?force=true`);
    expect(warnedOf(deleted)).toEqual([expect.stringContaining('the control "labelled-c" is applied')]);
    const agentDeleted = await call('DELETE', '/api/v1/agents/agent-with-label-1');
    expect(warnedOf(agentDeleted)).toEqual([expect.stringContaining('what is linked to the agent')]);
    expect((await apply([], { owner, prune: true, overwrite: ['*'] })).status).toBe(200);
  });

  it('gives policies to every agent, by labels and by links, and takes them again', async () => {
    const owner = 'giver';
    await seed.agent('labelled-agent-1');
    await call('POST', '/api/v1/agents/initAgent', {
      agent: { agent_name: 'labelled-agent-1', agent_metadata: { team: 'gold' } },
      conflict_mode: 'overwrite',
    });
    const policiesOf = async (): Promise<string[]> => {
      const { body } = await call('GET', '/api/v1/agents/labelled-agent-1/policies');
      const { policies } = (await call('GET', '/api/v1/policies?limit=100')).body;
      const named = policies.filter(({ id }: { id: number }) => body.policy_ids.includes(id));
      return named.map(({ name }: { name: string }) => name).sort();
    };
    await apply(
      [policy('g-any', [], { every_agent: true }), policy('g-label', [], { agent_labels: ['team=gold'] })],
      { owner },
    );
    expect(await policiesOf()).toEqual(['g-any', 'g-label']);
    const documents = [policy('g-any', []), policy('g-label', []), links('labelled-agent-1', [], ['g-any'])];
    await apply(documents, { owner });
    expect(await policiesOf()).toEqual(['g-any']);
    await apply([policy('g-any', [], { every_agent: true }), policy('g-label', [])], {
      owner,
      prune: true,
      overwrite: ['*'],
    });
    expect(await policiesOf()).toEqual(['g-any']);
    expect((await apply([], { owner, prune: true, overwrite: ['*'] })).status).toBe(200);
    expect(await policiesOf()).toEqual([]);
  });
});
