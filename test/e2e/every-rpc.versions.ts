import { NO_CONTROL, NO_KEY, NOT_ADMIN, refusal } from '../support/refusals.js';
import { called, READER_KEY, type Step, steps } from './every-rpc.support.js';

const NO_VERSION = refusal('CONTROL_VERSION_NOT_FOUND', 404, 'NotFound', []);
/** What the script before this leaves behind: a control with a history that ends with its deletion, and a living one. */
const DELETED = 1;
const LIVING = 3;
/** The first 12 hex digits of the SHA-256 of `admin-key`. */
const FINGERPRINT = '69a5265506c9';
const CHANGED = ['data.enabled', 'data.action', 'data.tags'];

/** The part of the script that is about versions of controls. It leaves the living control as it was. */
export const VERSION_STEPS: readonly Step[] = [
  ...steps('ControlService.ListControlVersions', [
    [
      'returns the history of a deleted control',
      { control_id: DELETED, limit: 3 },
      {
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
      READER_KEY,
    ],
    [
      'shows what follows the cursor',
      { control_id: DELETED, cursor: '2' },
      {
        reply: {
          versions: [{ version_num: 1, event_type: 'created', note: 'Created', changed_members: [] }],
          pagination: { limit: 20, total: 4, next_cursor: null, has_more: false },
        },
      },
    ],
    ['does not find a control that never was', { control_id: 99 }, NO_CONTROL],
    ['refuses a page that is too large', { control_id: DELETED, limit: 101 }, 'limit less_than_equal'],
  ]),
  ...steps('ControlService.GetControlVersion', [
    [
      'reads what was stored',
      { control_id: DELETED, version_num: 2 },
      {
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
      READER_KEY,
    ],
    [
      'returns when a control was deleted',
      { control_id: DELETED, version_num: 4 },
      {
        reply: {
          event_type: 'deleted',
          snapshot: { name: 'cards', data: { action: { decision: 'observe' }, tags: ['cards'] } },
        },
      },
    ],
    ['does not find an unknown version', { control_id: DELETED, version_num: 5 }, NO_VERSION],
    ['requires a key', { control_id: DELETED, version_num: 1 }, NO_KEY, null],
  ]),
  called(
    'ControlService.RestoreControlVersion',
    'makes an older version the newest one',
    { control_id: LIVING, version_num: 1 },
    { reply: { success: true, version_num: 2, warnings: [] } },
  ),
  called(
    'ControlService.ListControlVersions',
    'returns what was restored',
    { control_id: LIVING, limit: 1 },
    {
      reply: { versions: [{ version_num: 2, event_type: 'updated', note: 'Restored from version 1' }] },
    },
  ),
  ...steps('ControlService.RestoreControlVersion', [
    ['does not bring a deleted control back', { control_id: DELETED, version_num: 1 }, NO_CONTROL],
    ['does not find an unknown version', { control_id: LIVING, version_num: 3 }, NO_VERSION],
    ['is for administrators', { control_id: LIVING, version_num: 1 }, NOT_ADMIN, READER_KEY],
  ]),
];
