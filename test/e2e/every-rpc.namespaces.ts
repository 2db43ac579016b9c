import { expect } from 'vitest';
import { NO_KEY, NOT_ADMIN, refusal } from '../support/refusals.js';
import { ADMIN_KEY, type Call, OPERATOR_KEY, READER_KEY, type Step, steps } from './every-rpc.support.js';

const NO_NAMESPACE = refusal('NAMESPACE_NOT_FOUND', 404, 'NotFound', []);
const TAKEN = refusal('NAMESPACE_CONFLICT', 409, 'AlreadyExists', ['name name_conflict']);
const IN_USE = refusal('NAMESPACE_IN_USE', 409, 'FailedPrecondition', []);
const EMPTY = { agent_count: 0, control_count: 0, key_count: 0 };

/** Calls of an operator, unless they name another key. */
const byOperator = (rpc: string, calls: readonly Call[]): Step[] =>
  steps(
    rpc,
    calls.map(([what, input, expected, key = OPERATOR_KEY]): Call => [what, input, expected, key]),
  );

/** The part of the script that is about namespaces. */
export const NAMESPACE_STEPS: readonly Step[] = [
  ...byOperator('NamespaceService.CreateNamespace', [
    [
      'creates a namespace',
      { name: 'team-b', display_name: ' The B team ' },
      { reply: { namespace: { name: 'team-b', display_name: 'The B team', ...EMPTY } } },
    ],
    [
      'shows the name of one without a display name',
      { name: 'a' },
      { reply: { namespace: { name: 'a', display_name: 'a', created_at: expect.any(String) } } },
    ],
    ['refuses a name that is taken', { name: 'team-b' }, TAKEN],
    ['refuses the name that always exists', { name: 'default' }, TAKEN],
    ['demands a name', {}, 'name missing'],
    ['refuses capitals', { name: 'Team' }, 'name string_pattern_mismatch'],
    ['refuses the separator of keys', { name: 'a/b' }, 'name string_pattern_mismatch'],
    ['refuses a hyphen at the end', { name: 'team-' }, 'name string_pattern_mismatch'],
    ['refuses 64 characters', { name: 'x'.repeat(64) }, 'name string_pattern_mismatch'],
    ['refuses an empty display name', { name: 'team-c', display_name: ' ' }, 'display_name string_too_short'],
    ['is for operators', { name: 'mine' }, NOT_ADMIN, ADMIN_KEY],
    ['is not for regular keys', { name: 'mine' }, NOT_ADMIN, READER_KEY],
    ['requires a key', { name: 'mine' }, NO_KEY, null],
  ]),
  ...byOperator('NamespaceService.ListNamespaces', [
    [
      'lists them by name, with what they contain',
      {},
      {
        reply: {
          namespaces: [
            { name: 'a', ...EMPTY },
            { name: 'default', display_name: 'default', created_at: null },
            { name: 'team-b' },
          ],
          pagination: { limit: 20, total: 3, has_more: false },
        },
      },
    ],
    [
      'lists a page after a name, which need not exist',
      { cursor: 'b', limit: 1 },
      {
        reply: { namespaces: [{ name: 'default' }], pagination: { next_cursor: 'default', has_more: true } },
      },
    ],
    ['refuses a page without rows', { limit: 0 }, 'limit greater_than_equal'],
    ['is for operators', {}, NOT_ADMIN, ADMIN_KEY],
  ]),
  ...byOperator('NamespaceService.GetNamespace', [
    ['returns one', { namespace: 'a' }, { reply: { namespace: { name: 'a', ...EMPTY } } }],
    ['returns the default one', { namespace: 'default' }, { reply: { namespace: { name: 'default' } } }],
    ['does not find an unknown one', { namespace: 'missing' }, NO_NAMESPACE],
    ['does not find what is no name', { namespace: 'Not A Name' }, NO_NAMESPACE],
    ['is for operators', { namespace: 'a' }, NOT_ADMIN, ADMIN_KEY],
  ]),
  ...byOperator('NamespaceService.UpdateNamespace', [
    [
      'changes the display name',
      { namespace: 'a', display_name: 'The A team' },
      { reply: { namespace: { name: 'a', display_name: 'The A team' } } },
    ],
    ['does not find an unknown one', { namespace: 'missing', display_name: 'x' }, NO_NAMESPACE],
    ['demands a display name', { namespace: 'a' }, 'display_name missing'],
    ['leaves the default one', { namespace: 'default', display_name: 'x' }, IN_USE],
    ['is for operators', { namespace: 'a', display_name: 'x' }, NOT_ADMIN, ADMIN_KEY],
  ]),
  ...byOperator('NamespaceService.DeleteNamespace', [
    [
      'deletes an empty one',
      { namespace: 'a' },
      {
        reply: {
          success: true,
          removed_agents_count: 0,
          removed_controls_count: 0,
          removed_policies_count: 0,
          revoked_keys_count: 0,
        },
      },
    ],
    ['does not find it again', { namespace: 'a', force: true }, NO_NAMESPACE],
    ['never deletes the default one', { namespace: 'default', force: true }, IN_USE],
    ['is for operators', { namespace: 'team-b' }, NOT_ADMIN, ADMIN_KEY],
  ]),
  ...byOperator('NamespaceService.CreateNamespace', [
    ['never uses the name of a deleted one again', { name: 'a' }, TAKEN],
  ]),
];
