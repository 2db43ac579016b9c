import { error, invalid, NO_CONTROL, NO_KEY, NOT_ADMIN, READER_KEY, type Step } from './every-rpc.support.js';

const NO_VERSION = error('CONTROL_VERSION_NOT_FOUND', 404, 'NotFound', []);
/** What the script before this leaves behind: a control with a history that ends with its deletion, and a living one. */
const DELETED = 1;
const LIVING = 3;
/** The first 12 hex digits of the SHA-256 of `admin-key`. */
const FINGERPRINT = '69a5265506c9';
const CHANGED = ['data.enabled', 'data.action', 'data.tags'];

/** The part of the script that is about versions of controls. It leaves the living control as it was. */
export const VERSION_STEPS: readonly Step[] = [
  {
    rpc: 'ControlService.ListControlVersions',
    what: 'returns the history of a deleted control',
    input: { control_id: DELETED, limit: 3 },
    key: READER_KEY,
    expected: {
      reply: {
        versions: [
          { version_num: 4, event_type: 'deleted', note: 'Deleted', changed_members: [] },
          { version_num: 3, event_type: 'updated', note: 'Definition replaced', changed_members: CHANGED },
          {
            version_num: 2,
            event_type: 'updated',
            note: 'Renamed and disabled',
            changed_members: ['name', 'data.enabled'],
            key_fingerprint: FINGERPRINT,
          },
        ],
        pagination: { limit: 3, total: 4, next_cursor: '2', has_more: true },
      },
    },
  },
  {
    rpc: 'ControlService.ListControlVersions',
    what: 'shows what follows the cursor',
    input: { control_id: DELETED, cursor: '2' },
    expected: {
      reply: {
        versions: [{ version_num: 1, event_type: 'created', note: 'Created', changed_members: [] }],
        pagination: { limit: 20, total: 4, next_cursor: null, has_more: false },
      },
    },
  },
  {
    rpc: 'ControlService.ListControlVersions',
    what: 'does not find a control that never was',
    input: { control_id: 99 },
    expected: NO_CONTROL,
  },
  {
    rpc: 'ControlService.ListControlVersions',
    what: 'refuses a page that is too large',
    input: { control_id: DELETED, limit: 101 },
    expected: invalid('limit less_than_equal'),
  },
  {
    rpc: 'ControlService.GetControlVersion',
    what: 'reads what was stored',
    input: { control_id: DELETED, version_num: 2 },
    key: READER_KEY,
    expected: {
      reply: {
        version_num: 2,
        event_type: 'updated',
        key_fingerprint: FINGERPRINT,
        snapshot: {
          name: 'cards',
          data: { enabled: false, execution: 'server', action: { decision: 'deny' } },
          deleted_at: null,
          cloned_control_id: null,
          cloned_from_control_id: null,
        },
      },
    },
  },
  {
    rpc: 'ControlService.GetControlVersion',
    what: 'returns when a control was deleted',
    input: { control_id: DELETED, version_num: 4 },
    expected: {
      reply: {
        event_type: 'deleted',
        snapshot: { name: 'cards', data: { action: { decision: 'observe' }, tags: ['cards'] } },
      },
    },
  },
  {
    rpc: 'ControlService.GetControlVersion',
    what: 'does not find an unknown version',
    input: { control_id: DELETED, version_num: 5 },
    expected: NO_VERSION,
  },
  {
    rpc: 'ControlService.GetControlVersion',
    what: 'requires a key',
    input: { control_id: DELETED, version_num: 1 },
    key: null,
    expected: NO_KEY,
  },
  {
    rpc: 'ControlService.RestoreControlVersion',
    what: 'makes an older version the newest one',
    input: { control_id: LIVING, version_num: 1 },
    expected: { reply: { success: true, version_num: 2, warnings: [] } },
  },
  {
    rpc: 'ControlService.ListControlVersions',
    what: 'returns what was restored',
    input: { control_id: LIVING, limit: 1 },
    expected: {
      reply: { versions: [{ version_num: 2, event_type: 'updated', note: 'Restored from version 1' }] },
    },
  },
  {
    rpc: 'ControlService.RestoreControlVersion',
    what: 'does not bring a deleted control back',
    input: { control_id: DELETED, version_num: 1 },
    expected: NO_CONTROL,
  },
  {
    rpc: 'ControlService.RestoreControlVersion',
    what: 'does not find an unknown version',
    input: { control_id: LIVING, version_num: 3 },
    expected: NO_VERSION,
  },
  {
    rpc: 'ControlService.RestoreControlVersion',
    what: 'is for administrators',
    input: { control_id: LIVING, version_num: 1 },
    key: READER_KEY,
    expected: NOT_ADMIN,
  },
];
