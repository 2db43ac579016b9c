import { denyWord } from '../../support/seed.js';
import {
  BINDINGS,
  BY_KEY,
  MISSING,
  PAIR,
  SHAPES,
  type TenancyCase,
  type TenancyWorld,
} from './tenancy-case.js';

const REQUIRED = ['target_type missing', 'target_id missing', 'control_id missing'];
const KEY = { ...PAIR, control_id: 1 };

/** Binds the free control to a target of its own. */
async function bound(world: TenancyWorld, more: object = {}) {
  const key = { ...world.target(), control_id: world.free };
  const { binding_id } = await world.served('admin', 'PUT', BINDINGS, { ...key, ...more });
  return { key, path: `${BINDINGS}/${binding_id}` };
}

const unknownBinding = { status: 404, code: 'CONTROL_BINDING_NOT_FOUND' } as const;
const forbidden = { by: 'reader', status: 403, code: 'AUTH_INSUFFICIENT_PRIVILEGES' } as const;

/** Both calls that create. */
const CREATING = [BINDINGS, BY_KEY].flatMap((path): TenancyCase[] => [
  {
    title: `PUT ${path} without members`,
    call: ['PUT', path, {}],
    status: 422,
    code: 'VALIDATION_ERROR',
    items: REQUIRED,
  },
  {
    title: `PUT ${path} with members that are too short, too long and too small`,
    call: ['PUT', path, { target_type: '', target_id: 'x'.repeat(256), control_id: 0 }],
    status: 422,
    code: 'VALIDATION_ERROR',
    items: ['target_type string_too_short', 'target_id string_too_long', 'control_id greater_than_equal'],
  },
  {
    title: `PUT ${path} with members of other types`,
    call: ['PUT', path, { target_type: 1, target_id: [], control_id: 'x', enabled: 'perhaps' }],
    status: 422,
    code: 'VALIDATION_ERROR',
    items: [
      'target_type string_type',
      'target_id string_type',
      'control_id int_parsing',
      'enabled bool_parsing',
    ],
  },
  {
    title: `PUT ${path} with names of 1 and of 255 characters`,
    call: ({ free }) => ['PUT', path, { target_type: 'x', target_id: 'y'.repeat(255), control_id: free }],
    status: 200,
  },
  {
    title: `PUT ${path} of no control`,
    call: (world) => ['PUT', path, { ...world.target(), control_id: MISSING }],
    status: 404,
    code: 'CONTROL_NOT_FOUND',
  },
  {
    title: `PUT ${path} of a control with an evaluator of one agent`,
    call: (world) => ['PUT', path, { ...world.target(), control_id: world.agentScoped }],
    status: 400,
    code: 'CONTROL_BINDING_INCOMPATIBLE',
    items: ['control_id incompatible'],
  },
  { title: `PUT ${path} with a key that is no admin key`, call: ['PUT', path, KEY], ...forbidden },
]);

/** "control-bindings" of the page, call by call. */
export const BINDING_CASES: readonly TenancyCase[] = [
  ...CREATING,
  {
    title: 'PUT /control-bindings, enabled unless it says otherwise',
    call: (world) => ['PUT', BINDINGS, { ...world.target(), control_id: world.free }],
    status: 200,
    reply: SHAPES.bindingId,
  },
  {
    title: 'PUT /control-bindings of what is bound already',
    call: async (world) => ['PUT', BINDINGS, (await bound(world)).key],
    status: 409,
    code: 'CONTROL_BINDING_CONFLICT',
    items: ['control_id binding_conflict'],
  },
  {
    title: 'GET /control-bindings, newest first, 20 of them',
    by: 'reader',
    call: ['GET', BINDINGS],
    status: 200,
    reply: SHAPES.bindings,
    equal: () => ({ pagination: { limit: 20 } }),
  },
  {
    title: 'GET /control-bindings of a target and a control',
    by: 'reader',
    call: ({ bound: control }) => [
      'GET',
      `${BINDINGS}?${new URLSearchParams({ ...PAIR, control_id: String(control), limit: '100' })}`,
    ],
    status: 200,
    reply: SHAPES.bindings,
    equal: ({ binding, bound: control }) => ({
      bindings: [{ id: binding, ...PAIR, control_id: control, enabled: true }],
      pagination: { limit: 100, total: 1, next_cursor: null, has_more: false },
    }),
  },
  ...['0', '101', 'x'].map(
    (limit): TenancyCase => ({
      title: `GET /control-bindings?limit=${limit}`,
      call: ['GET', `${BINDINGS}?limit=${limit}`],
      status: 422,
      code: 'VALIDATION_ERROR',
      items: [
        `query.limit ${{ '0': 'greater_than_equal', '101': 'less_than_equal', x: 'int_parsing' }[limit]}`,
      ],
    }),
  ),
  {
    title: 'GET /control-bindings with a bad cursor',
    call: ['GET', `${BINDINGS}?cursor=bad`],
    status: 400,
    code: 'VALIDATION_ERROR',
    items: ['cursor invalid_format'],
  },
  {
    title: 'GET /control-bindings/{id}',
    by: 'reader',
    call: ({ binding }) => ['GET', `${BINDINGS}/${binding}`],
    status: 200,
    reply: SHAPES.binding,
    equal: ({ binding, bound: control }) => ({ id: binding, ...PAIR, control_id: control, enabled: true }),
  },
  { title: 'GET /control-bindings/{id} of none', call: ['GET', `${BINDINGS}/${MISSING}`], ...unknownBinding },
  {
    title: 'PATCH /control-bindings/{id}',
    call: async (world) => ['PATCH', (await bound(world)).path, { enabled: false }],
    status: 200,
    reply: SHAPES.enabled,
    equal: () => ({ enabled: false }),
  },
  {
    title: 'PATCH /control-bindings/{id} without enabled',
    call: ({ binding }) => ['PATCH', `${BINDINGS}/${binding}`, {}],
    status: 422,
    code: 'VALIDATION_ERROR',
    items: ['enabled missing'],
  },
  {
    title: 'PATCH /control-bindings/{id} of none',
    call: ['PATCH', `${BINDINGS}/${MISSING}`, { enabled: true }],
    ...unknownBinding,
  },
  {
    title: 'PATCH /control-bindings/{id} with a key that is no admin key',
    call: ({ binding }) => ['PATCH', `${BINDINGS}/${binding}`, { enabled: true }],
    ...forbidden,
  },
  {
    title: 'DELETE /control-bindings/{id}',
    call: async (world) => ['DELETE', (await bound(world)).path],
    status: 200,
    reply: SHAPES.success,
  },
  {
    title: 'DELETE /control-bindings/{id} of none',
    call: ['DELETE', `${BINDINGS}/${MISSING}`],
    ...unknownBinding,
  },
  {
    title: 'DELETE /control-bindings/{id} with a key that is no admin key',
    call: ({ binding }) => ['DELETE', `${BINDINGS}/${binding}`],
    ...forbidden,
  },
  {
    title: 'PUT /control-bindings/by-key of what is not bound',
    call: (world) => ['PUT', BY_KEY, { ...world.target(), control_id: world.free }],
    status: 200,
    reply: SHAPES.upserted,
    equal: () => ({ created: true, enabled: true }),
  },
  {
    title: 'PUT /control-bindings/by-key of what is bound',
    call: async (world) => ['PUT', BY_KEY, { ...(await bound(world)).key, enabled: false }],
    status: 200,
    reply: SHAPES.upserted,
    equal: () => ({ created: false, enabled: false }),
  },
  {
    title: 'PATCH /control-bindings/by-key',
    call: async (world) => ['PATCH', BY_KEY, { ...(await bound(world)).key, enabled: false }],
    status: 200,
    reply: SHAPES.enabled,
    equal: () => ({ enabled: false }),
  },
  {
    title: 'PATCH /control-bindings/by-key, which never creates',
    call: (world) => ['PATCH', BY_KEY, { ...world.target(), control_id: world.free, enabled: true }],
    ...unknownBinding,
  },
  {
    title: 'PATCH /control-bindings/by-key without members',
    call: ['PATCH', BY_KEY, {}],
    status: 422,
    code: 'VALIDATION_ERROR',
    items: [...REQUIRED, 'enabled missing'],
  },
  {
    title: 'PATCH /control-bindings/by-key with a key that is no admin key',
    call: ['PATCH', BY_KEY, { ...KEY, enabled: true }],
    ...forbidden,
  },
  {
    title: 'POST /control-bindings/by-key:delete of what is bound',
    call: async (world) => ['POST', `${BY_KEY}:delete`, (await bound(world)).key],
    status: 200,
    reply: SHAPES.deleted,
    equal: () => ({ deleted: true }),
  },
  {
    title: 'POST /control-bindings/by-key:delete of what is not bound',
    call: (world) => ['POST', `${BY_KEY}:delete`, { ...world.target(), control_id: MISSING }],
    status: 200,
    reply: SHAPES.deleted,
    equal: () => ({ deleted: false }),
  },
  {
    title: 'POST /control-bindings/by-key:delete without members',
    call: ['POST', `${BY_KEY}:delete`, {}],
    status: 422,
    code: 'VALIDATION_ERROR',
    items: REQUIRED,
  },
  {
    title: 'POST /control-bindings/by-key:delete with a key that is no admin key',
    call: ['POST', `${BY_KEY}:delete`, KEY],
    ...forbidden,
  },
  {
    title: 'DELETE /controls/{id} of a control that is bound',
    call: ({ bound: control }) => ['DELETE', `/api/v1/controls/${control}`],
    status: 409,
    code: 'CONTROL_IN_USE',
    items: ['control_id control_in_use'],
  },
  {
    title: 'DELETE /controls/{id}?force=true of a control that is bound',
    call: async (world) => {
      const body = { name: world.name(), data: denyWord('x') };
      const { control_id } = await world.served('admin', 'PUT', '/api/v1/controls', body);
      await world.served('admin', 'PUT', BINDINGS, { ...world.target(), control_id });
      return ['DELETE', `/api/v1/controls/${control_id}?force=true`];
    },
    status: 200,
    reply: SHAPES.deletedControl,
    equal: () => ({ detached_target_bindings: { length: 1 }, dissociated_from_agents: [] }),
  },
];
