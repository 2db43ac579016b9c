import { NO_KEY, NOT_ADMIN } from '../support/refusals.js';
import { READER_KEY, type Step, steps } from './every-rpc.support.js';

/** The first 12 hex digits of the SHA-256 of `admin-key`. */
const ACTOR = { kind: 'admin', name: null, key_fingerprint: '69a5265506c9' };
const FIRST = '0'.repeat(64);

/** The part of the script that is about the audit log of all parts before. */
export const AUDIT_STEPS: readonly Step[] = [
  ...steps('AuditService.ListAuditEntries', [
    [
      'returns the newest entry of an action with what it made',
      { action: 'policy.create', resource_id: '1', limit: 1 },
      {
        reply: {
          entries: [
            {
              action: 'policy.create',
              resource: 'policy',
              resource_id: '1',
              resource_name: 'payments',
              actor: ACTOR,
              address: '127.0.0.1',
              before: null,
              after: '{"version":1,"name":"payments"}',
            },
          ],
          pagination: { limit: 1, total: 1, next_cursor: null, has_more: false },
        },
      },
    ],
    [
      'returns the first entry by its cursor, of a regular key',
      {
        cursor: '2',
        start_time: '2020-01-01',
        actor: 'key',
        min_revision: 1,
        max_revision: 1,
      },
      { reply: { entries: [{ position: 1, revision: 1, previous_hash: FIRST }] } },
    ],
    [
      'returns nothing for an actor who changed nothing',
      { actor: 'command' },
      { reply: { entries: [], pagination: { total: 0 } } },
    ],
    [
      'refuses filters that it cannot read',
      { start_time: 'yesterday', min_revision: -1, limit: 101 },
      ['start_time datetime_from_date_parsing', 'min_revision greater_than_equal', 'limit less_than_equal'],
    ],
    ['is for administrators', {}, NOT_ADMIN, READER_KEY],
  ]),
  ...steps('AuditService.VerifyAudit', [
    [
      'finds the log intact',
      {},
      {
        reply: {
          intact: true,
          problem: null,
          anchor: { position: 0, hash: FIRST },
          next_after_position: null,
          unrecorded_revisions: 0,
        },
      },
    ],
    ['verifies what follows an entry', { after_position: 3 }, { reply: { intact: true } }],
    ['refuses a place beyond the end', { after_position: 1_000_000 }, 'after_position less_than_equal'],
    ['requires a key', {}, NO_KEY, null],
  ]),
];
