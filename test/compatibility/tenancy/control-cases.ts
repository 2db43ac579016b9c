import { denyWord } from '../../support/seed.js';
import { BINDINGS, MISSING, PAIR, SHAPES, type TenancyCase, type TenancyWorld } from './tenancy-case.js';

const CONTROLS = '/api/v1/controls';
const clone = (id: number) => `${CONTROLS}/${id}/clone-and-bind`;
const list = (query: object) => ['GET', `${CONTROLS}?${new URLSearchParams({ ...query })}`] as const;
const attached = (query: object = {}) => list({ include_attachments: 'true', ...query });

/** Clones the free control. */
async function cloned(world: TenancyWorld) {
  const name = world.name();
  const body = { name, target_binding: world.target() };
  return { name, ...(await world.served('admin', 'POST', clone(world.free), body)) };
}

const CLONE_CASES: readonly TenancyCase[] = [
  {
    title: 'POST /controls/{id}/clone-and-bind with a name',
    call: (world) => ['POST', clone(world.free), { name: 'a-clone', target_binding: world.target() }],
    status: 200,
    reply: SHAPES.cloned,
    equal: ({ free }) => ({ name: 'a-clone', cloned_from_control_id: free }),
  },
  {
    title: 'POST /controls/{id}/clone-and-bind without a name: <source>-clone-<hex>',
    call: (world) => ['POST', clone(world.free), { target_binding: { ...world.target(), enabled: false } }],
    status: 200,
    reply: SHAPES.cloned,
    equal: () => ({ name: /^free-clone-[0-9a-f]+$/ }),
  },
  {
    title: 'POST /controls/{id}/clone-and-bind with a name that is taken',
    call: (world) => ['POST', clone(world.free), { name: 'linked', target_binding: world.target() }],
    status: 409,
    code: 'CONTROL_NAME_CONFLICT',
    items: ['name name_conflict'],
  },
  {
    title: 'POST /controls/{id}/clone-and-bind of no control',
    call: (world) => ['POST', clone(MISSING), { target_binding: world.target() }],
    status: 404,
    code: 'CONTROL_NOT_FOUND',
  },
  {
    title: 'POST /controls/{id}/clone-and-bind without a target',
    call: ({ free }) => ['POST', clone(free), {}],
    status: 422,
    code: 'VALIDATION_ERROR',
    items: ['target_binding missing'],
  },
  {
    title: 'POST /controls/{id}/clone-and-bind with half a target',
    call: ({ free }) => ['POST', clone(free), { target_binding: { target_type: 'x' } }],
    status: 422,
    code: 'VALIDATION_ERROR',
    items: ['target_binding.target_id missing'],
  },
  {
    title: 'POST /controls/{id}/clone-and-bind with further members, which are forbidden',
    call: ({ free }) => ['POST', clone(free), { target_binding: { ...PAIR, more: 1 }, further: 1 }],
    status: 422,
    code: 'VALIDATION_ERROR',
    items: ['target_binding.more extra_forbidden', 'further extra_forbidden'],
  },
  {
    title: 'POST /controls/{id}/clone-and-bind with a key that is no admin key',
    by: 'reader',
    call: ({ free }) => ['POST', clone(free), { target_binding: PAIR }],
    status: 403,
    code: 'AUTH_INSUFFICIENT_PRIVILEGES',
  },
  {
    title: 'the binding of a clone: GET /control-bindings/{id}',
    call: async (world) => ['GET', `${BINDINGS}/${(await cloned(world)).binding_id}`],
    status: 200,
    reply: SHAPES.binding,
    equal: () => ({ enabled: true }),
  },
  {
    title: 'GET /controls/{id} of a clone',
    by: 'reader',
    call: async (world) => ['GET', `${CONTROLS}/${(await cloned(world)).id}`],
    status: 200,
    reply: SHAPES.control,
    equal: ({ free }) => ({ cloned_from_control_id: free, data: denyWord('free') }),
  },
  {
    title: 'GET /controls/{id}/versions/{n} of a clone',
    by: 'reader',
    call: async (world) => ['GET', `${CONTROLS}/${(await cloned(world)).id}/versions/1`],
    status: 200,
    reply: SHAPES.version,
    equal: ({ free }) => ({ version_num: 1, snapshot: { cloned_from_control_id: free } }),
  },
];

const LIST_CASES: readonly TenancyCase[] = [
  {
    title: 'GET /controls has cloned_from_control_id, and no attachments unless they are asked for',
    by: 'reader',
    call: list({ limit: 100, name: 'linked' }),
    status: 200,
    reply: SHAPES.controls,
    equal: ({ linked }) => ({ controls: [{ id: linked, cloned_from_control_id: null, attachments: null }] }),
  },
  {
    title: 'GET /controls?cloned=true',
    call: async (world) => list({ cloned: true, name: (await cloned(world)).name }),
    status: 200,
    reply: SHAPES.controls,
    equal: ({ free }) => ({ controls: [{ cloned_from_control_id: free }], pagination: { total: 1 } }),
  },
  {
    title: 'GET /controls?cloned=false',
    call: async (world) => list({ cloned: false, name: (await cloned(world)).name }),
    status: 200,
    reply: SHAPES.controls,
    equal: () => ({ controls: { length: 0 }, pagination: { total: 0 } }),
  },
  {
    title: 'GET /controls?include_attachments=true of a control that is linked',
    by: 'reader',
    call: attached({ name: 'linked' }),
    status: 200,
    reply: SHAPES.attached,
    equal: ({ agent }) => ({
      controls: [
        { attachments: { agents: [{ agent_name: agent }], policies: { length: 0 }, targets_total: 0 } },
      ],
    }),
  },
  {
    title: 'GET /controls?include_attachments=true of a control that is bound',
    by: 'reader',
    call: attached({ name: 'bound' }),
    status: 200,
    reply: SHAPES.attached,
    equal: ({ binding }) => ({
      controls: [
        {
          attachments: {
            agents: { length: 0 },
            targets: [{ binding_id: binding, ...PAIR, enabled: true }],
            targets_total: 1,
            targets_truncated: false,
          },
        },
      ],
    }),
  },
  {
    title: 'GET /controls with filters of attachments, which leave out targets and no controls',
    by: 'reader',
    call: attached({
      name: 'bound',
      attachment_target_type: PAIR.target_type,
      attachment_target_id: 'other',
    }),
    status: 200,
    reply: SHAPES.attached,
    equal: ({ bound }) => ({
      controls: [{ id: bound, attachments: { targets: { length: 0 }, targets_total: 0 } }],
    }),
  },
  ...['attachment_target_type', 'attachment_target_id'].map(
    (member): TenancyCase => ({
      title: `GET /controls?${member}=x without include_attachments`,
      by: 'reader',
      call: list({ [member]: 'x' }),
      status: 422,
      code: 'VALIDATION_ERROR',
      items: [`query.${member} value_error`],
    }),
  ),
];

const TEMPLATE = {
  template: { parameters: {}, definition_template: denyWord('x') },
  template_values: {},
};

const PUBLIC_CASES: readonly TenancyCase[] = [
  {
    title: 'GET /controls/schema without credentials',
    by: 'nobody',
    call: ['GET', `${CONTROLS}/schema`],
    status: 200,
  },
  {
    title:
      'POST /controls/validate with a key that is no admin key: 200 as in 7.x (8.x: 403), because SERVICE_VALIDATION_ACCESS is key unless it is set',
    by: 'reader',
    call: ['POST', `${CONTROLS}/validate`, { data: denyWord('x') }],
    status: 200,
    reply: SHAPES.validated,
  },
  {
    title:
      'POST /control-templates/render with a key that is no admin key: 200 as in 7.x (8.x: 403), because SERVICE_VALIDATION_ACCESS is key unless it is set',
    by: 'reader',
    call: ['POST', '/api/v1/control-templates/render', TEMPLATE],
    status: 200,
  },
];

/** "controls" of the page, as far as targets and clones are concerned, and the rows of "Measured" about controls. */
export const CONTROL_CASES = [...CLONE_CASES, ...LIST_CASES, ...PUBLIC_CASES];
