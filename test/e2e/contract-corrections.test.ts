import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { expect, it } from 'vitest';
import { Decision } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import type { RestReply } from '../support/http.js';
import { denyWord } from '../support/seed.js';
import { describeServiceOnSqlite } from '../support/service-suite.js';
import { errorOfReply, errorOfRpc } from '../support/told-errors.js';

const CONTROLS = '/api/v1/controls';
const RENDER = '/api/v1/control-templates/render';

const PARAMETERS = {
  words: { type: 'string_list', label: 'Words' },
  evaluator: { type: 'string', label: 'Evaluator', default: 'list' },
};
const DEFINITION = {
  execution: 'server',
  action: { decision: 'steer', steering_context: { message: 'Be kind' } },
  condition: {
    selector: { path: 'input' },
    evaluator: { name: { $param: 'evaluator' }, config: { values: { $param: 'words' } } },
  },
};
const TEMPLATE = { parameters: PARAMETERS, definition_template: DEFINITION };
const UNUSED = {
  ...TEMPLATE,
  parameters: {
    ...PARAMETERS,
    spare: { type: 'string', label: 'Spare' },
    other: { type: 'boolean', label: 'Other' },
  },
};
const ACTION = {
  decision: 'steer',
  steering_context: { message: 'Be kind', required_actions: null },
  metadata: null,
};

describeServiceOnSqlite('what the REST contract was corrected to state', ({ call, seed, service }) => {
  let names = 0;
  const newName = () => {
    names += 1;
    return `corrected-${names}`;
  };
  const controls = () => createClient(ControlService, createGrpcTransport({ baseUrl: service.url }));
  /** The refusals of data by everything that takes data, over REST and over gRPC. */
  const refusals = async (data: object, templates: boolean): Promise<unknown[]> => {
    const id = await seed.control(newName(), { template: TEMPLATE });
    const name = newName();
    const { url } = service;
    const replies: RestReply[] = [
      await call('PUT', CONTROLS, { name, data }),
      await call('PUT', `${CONTROLS}/${id}/data`, { data }),
      await call('POST', `${CONTROLS}/validate`, { data }),
    ];
    if (templates) replies.push(await call('POST', RENDER, data));
    const told = replies.map(errorOfReply);
    told.push(await errorOfRpc(url, 'ControlService.CreateControl', { name, data }));
    told.push(await errorOfRpc(url, 'ControlService.SetControlData', { control_id: id, data }));
    told.push(await errorOfRpc(url, 'ControlService.ValidateControl', { data }));
    return told.map(({ reason, items }) => [reason, ...items.map(({ field, code }) => `${field} ${code}`)]);
  };
  const each = (count: number, refusal: unknown): unknown[] => Array.from({ length: count }, () => refusal);

  it('names unused template parameters by their fields', async () => {
    const expected = [
      'TEMPLATE_RENDER_ERROR',
      'template.parameters.spare unused_template_parameter',
      'template.parameters.other unused_template_parameter',
    ];
    const data = { template: UNUSED, template_values: { words: ['a'] } };
    expect(await refusals(data, true)).toEqual(each(7, expected));
  });

  it('reports that a parameter is invalid that names an evaluator of an agent', async () => {
    const data = { template: TEMPLATE, template_values: { words: ['a'], evaluator: 'some-agent-01:tone' } };
    const expected = ['TEMPLATE_PARAMETER_INVALID', 'template_values.evaluator template_parameter_invalid'];
    expect(await refusals(data, true)).toEqual(each(7, expected));
    expect((await call('POST', RENDER, data)).body.errors).toMatchObject([
      { parameter: 'evaluator', parameter_label: 'Evaluator', rendered_field: 'condition.evaluator.name' },
    ]);
  });

  it.each(['', ' ', '\t\n'])(
    'places a list value without visible characters at or below values: %j',
    async (value) => {
      const condition = { selector: {}, evaluator: { name: 'list', config: { values: ['fine', value] } } };
      const expected = ['VALIDATION_ERROR', 'data.condition.evaluator.values[1] value_error'];
      expect(await refusals(denyWord('x', { condition }), false)).toEqual(each(6, expected));
    },
  );

  it('prints drafts with their three members only', async () => {
    const id = await seed.control(newName(), { template: TEMPLATE });
    const draft = ['enabled', 'template', 'template_values'];
    const membersOf = (data: object) => Object.keys(data).sort();
    const shown = (await call('GET', `${CONTROLS}/${id}`)).body;
    expect(membersOf(shown.data)).toEqual(draft);
    expect(shown.data).toMatchObject({ enabled: false, template_values: {} });
    expect(membersOf((await call('GET', `${CONTROLS}/${id}/data`)).body.data)).toEqual(draft);
    const version = (await call('GET', `${CONTROLS}/${id}/versions/1`)).body;
    expect(membersOf(version.snapshot.data)).toEqual(draft);
    expect(Object.keys(version.snapshot)).toEqual([
      'name',
      'data',
      'deleted_at',
      'cloned_control_id',
      'cloned_from_control_id',
    ]);
    const { data } = await controls().getControl({ controlId: id });
    expect(data).toMatchObject({ enabled: false, tags: [] });
    expect([data?.condition, data?.scope, data?.action]).toEqual([undefined, undefined, undefined]);
  });

  it('prints rendered and written definitions with every member', async () => {
    const members = ['condition', 'description', 'enabled', 'execution', 'scope', 'action', 'tags'];
    const all = [...members, 'template', 'template_values'];
    const rendered = await seed.control(newName(), { template: TEMPLATE, template_values: { words: ['a'] } });
    const written = await seed.control(newName());
    for (const id of [rendered, written]) {
      expect(Object.keys((await call('GET', `${CONTROLS}/${id}`)).body.data)).toEqual(all);
    }
    expect((await call('GET', `${CONTROLS}/${written}`)).body.data).toMatchObject({
      template: null,
      template_values: null,
    });
    expect(Object.keys((await call('GET', `${CONTROLS}/${written}/data`)).body.data)).not.toContain(
      'template',
    );
  });

  it('has the members that newer clients need', async () => {
    const values = { words: ['a'] };
    const rendered = await seed.control(newName(), { template: TEMPLATE, template_values: values });
    const draft = await seed.control(newName(), { template: TEMPLATE });
    const none = { attachments: null, cloned_from_control_id: null };
    const expected: [number, object][] = [
      [rendered, { action: ACTION, ...none }],
      [draft, { action: null, ...none }],
    ];
    /** A list has the metadata of an action only if they are set. */
    const withoutMetadata = (members: object): object =>
      JSON.parse(JSON.stringify(members, (name, value) => (name === 'metadata' ? undefined : value)));
    const listed = (await call('GET', CONTROLS)).body.controls as { id: number }[];
    for (const [id, members] of expected) {
      expect(listed.find((one) => one.id === id)).toMatchObject(withoutMetadata(members));
      expect((await call('GET', `${CONTROLS}/${id}`)).body).toMatchObject({ id, ...members });
    }
    const { controls: summaries } = await controls().listControls({});
    const actions = [rendered, draft].map((id) => summaries.find((one) => one.id === id)?.action?.decision);
    expect(actions).toEqual([Decision.STEER, undefined]);
    const got = await controls().getControl({ controlId: rendered });
    expect(got.action).toMatchObject({ decision: Decision.STEER, steeringContext: { message: 'Be kind' } });
    expect([got.attachments, got.clonedFromControlId]).toEqual([undefined, undefined]);

    const removed = await call('DELETE', `${CONTROLS}/${rendered}`);
    expect(removed.body).toEqual({
      success: true,
      dissociated_from: [],
      dissociated_from_policies: [],
      dissociated_from_agents: [],
      detached_target_bindings: [],
    });
    expect((await controls().deleteControl({ controlId: draft })).detachedTargetBindings).toEqual([]);
  });
});
