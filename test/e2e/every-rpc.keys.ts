import { expect } from 'vitest';
import { NO_KEY, NOT_ADMIN, refusal } from '../support/refusals.js';
import { ADMIN_KEY, OPERATOR_KEY, READER_KEY, type Step, steps } from './every-rpc.support.js';

const NO_SUCH_KEY = refusal('KEY_NOT_FOUND', 404, 'NotFound', []);
const BILLING = { id: 1, name: 'billing', role: 'agent', namespace: 'default', agents: ['billing-*'] };
const OWN_SCOPES = { id: 2, name: 'own scopes', scopes: ['agents.self', 'evaluate'], owner: 'team-b' };
const SECRET = expect.stringMatching(/^cek_[0-9A-Za-z]{46}$/);
const ONCE = {
  name: 'own scopes',
  scopes: ['evaluate', 'agents.self'],
  owner: 'team-b',
  idempotency_key: 'one',
};

/** The part of the script that is about keys. */
export const KEY_STEPS: readonly Step[] = [
  ...steps('KeyService.CreateKey', [
    [
      'creates a key with a role',
      { name: ' billing ', role: 'agent', agents: ['Billing-*'] },
      { reply: { key: BILLING, secret: SECRET, created: true } },
    ],
    ['creates a key with scopes', ONCE, { reply: { key: OWN_SCOPES, created: true } }],
    ['creates it once', ONCE, { reply: { key: OWN_SCOPES, created: false } }],
    [
      'refuses the idempotency key of another request',
      { ...ONCE, name: 'other' },
      refusal('IDEMPOTENCY_CONFLICT', 409, 'FailedPrecondition', ['idempotency_key idempotency_conflict']),
    ],
    ['demands a name', { name: ' ', role: 'agent' }, 'name string_too_short'],
    ['demands a role or scopes', { name: 'x' }, 'role missing'],
    ['takes one of them', { name: 'x', role: 'agent', scopes: ['evaluate'] }, 'scopes value_error'],
    ['refuses an unknown role', { name: 'x', role: 'boss' }, 'role enum'],
    ['refuses an unknown scope', { name: 'x', scopes: ['all'] }, 'scopes[0] enum'],
    ['refuses what is no pattern', { name: 'x', role: 'agent', agents: ['*a*'] }, 'agents[0] value_error'],
    [
      'refuses a time in the past',
      { name: 'x', role: 'agent', expires_at: '2001-01-01T00:00:00Z' },
      'expires_at datetime_future',
    ],
    ['gives no scopes that its caller lacks', { name: 'x', role: 'operator' }, NOT_ADMIN],
    ['gives no keys of other namespaces', { name: 'x', role: 'agent', namespace: 'elsewhere' }, NOT_ADMIN],
    [
      'finds no unknown namespace',
      { name: 'x', role: 'agent', namespace: 'elsewhere' },
      refusal('NAMESPACE_NOT_FOUND', 404, 'NotFound', []),
      OPERATOR_KEY,
    ],
    ['is for administrators', { name: 'mine', role: 'agent' }, NOT_ADMIN, READER_KEY],
    ['requires a key', { name: 'mine', role: 'agent' }, NO_KEY, null],
  ]),
  ...steps('KeyService.GetKey', [
    ['returns a key', { key_id: 2 }, { reply: { key: OWN_SCOPES } }],
    ['does not find an unknown key', { key_id: 99 }, NO_SUCH_KEY],
    ['is for administrators', { key_id: 2 }, NOT_ADMIN, READER_KEY],
  ]),
  ...steps('KeyService.RotateKey', [
    [
      'gives a key a new secret',
      { key_id: 1, overlap_seconds: 0 },
      { reply: { key: BILLING, secret: SECRET } },
    ],
    ['lets the secret before overlap', { key_id: 1 }, { reply: { key: BILLING, secret: SECRET } }],
    [
      'refuses an overlap without end',
      { key_id: 1, overlap_seconds: 2_592_001 },
      'overlap_seconds less_than_equal',
    ],
    ['does not find an unknown key', { key_id: 99 }, NO_SUCH_KEY],
    ['is for administrators', { key_id: 1 }, NOT_ADMIN, READER_KEY],
  ]),
  ...steps('KeyService.RevokeKey', [
    ['ends a key', { key_id: 1 }, { reply: { key: { ...BILLING, revoked_at: expect.any(String) } } }],
    ['ends it once', { key_id: 1 }, { reply: { key: BILLING } }],
    ['does not find an unknown key', { key_id: 99 }, NO_SUCH_KEY],
    ['is for administrators', { key_id: 1 }, NOT_ADMIN, READER_KEY],
  ]),
  ...steps('KeyService.RotateKey', [['gives an ended key no secret', { key_id: 1 }, 'key_id key_ended']]),
  ...steps('KeyService.ListKeys', [
    ['lists those that are valid', {}, { reply: { keys: [OWN_SCOPES], pagination: { total: 1 } } }],
    ['finds owners', { name: 'TEAM' }, { reply: { keys: [OWN_SCOPES] } }],
    [
      'lists ended ones, page by page',
      { include_ended: true, limit: 1 },
      { reply: { keys: [OWN_SCOPES], pagination: { total: 2, next_cursor: '2', has_more: true } } },
    ],
    ['refuses a page of nothing', { limit: 0 }, 'limit greater_than_equal'],
    ['is for administrators', {}, NOT_ADMIN, READER_KEY],
  ]),
  ...steps('KeyService.ListRoles', [
    [
      'lists roles and scopes',
      {},
      { reply: { roles: expect.arrayContaining([expect.objectContaining({ name: 'viewer' })]) } },
      READER_KEY,
    ],
    [
      'lists them for administrators',
      {},
      { reply: { scopes: expect.arrayContaining(['evaluate']) } },
      ADMIN_KEY,
    ],
    ['requires a key', {}, NO_KEY, null],
  ]),
];
