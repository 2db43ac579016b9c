import { invalid, NO_KEY, NOT_ADMIN, READER_KEY, type Step } from './every-rpc.support.js';

/** The first 12 hex digits of the SHA-256 of `admin-key`. */
const ACTOR = { kind: 'admin', name: null, key_fingerprint: '69a5265506c9' };
const FIRST = '0'.repeat(64);

/** The part of the script that is about the audit log of all parts before. */
export const AUDIT_STEPS: readonly Step[] = [
  {
    rpc: 'AuditService.ListAuditEntries',
    what: 'returns the newest entry of an action with what it made',
    input: { action: 'policy.create', resource_id: '1', limit: 1 },
    expected: {
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
  },
  {
    rpc: 'AuditService.ListAuditEntries',
    what: 'returns the first entry by its cursor, of a regular key',
    input: {
      cursor: '2',
      start_time: '2020-01-01',
      actor: 'key',
      min_revision: 1,
      max_revision: 1,
    },
    expected: { reply: { entries: [{ position: 1, revision: 1, previous_hash: FIRST }] } },
  },
  {
    rpc: 'AuditService.ListAuditEntries',
    what: 'returns nothing for an actor who changed nothing',
    input: { actor: 'command' },
    expected: { reply: { entries: [], pagination: { total: 0 } } },
  },
  {
    rpc: 'AuditService.ListAuditEntries',
    what: 'refuses filters that it cannot read',
    input: { start_time: 'yesterday', min_revision: -1, limit: 101 },
    expected: invalid(
      'start_time datetime_from_date_parsing',
      'min_revision greater_than_equal',
      'limit less_than_equal',
    ),
  },
  {
    rpc: 'AuditService.ListAuditEntries',
    what: 'is for administrators',
    input: {},
    key: READER_KEY,
    expected: NOT_ADMIN,
  },
  {
    rpc: 'AuditService.VerifyAudit',
    what: 'finds the log intact',
    input: {},
    expected: {
      reply: {
        intact: true,
        problem: null,
        anchor: { position: 0, hash: FIRST },
        next_after_position: null,
        unrecorded_revisions: 0,
      },
    },
  },
  {
    rpc: 'AuditService.VerifyAudit',
    what: 'verifies what follows an entry',
    input: { after_position: 3 },
    expected: { reply: { intact: true } },
  },
  {
    rpc: 'AuditService.VerifyAudit',
    what: 'refuses a place beyond the end',
    input: { after_position: 1_000_000 },
    expected: invalid('after_position less_than_equal'),
  },
  { rpc: 'AuditService.VerifyAudit', what: 'requires a key', input: {}, key: null, expected: NO_KEY },
];
