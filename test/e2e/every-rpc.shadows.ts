import { expect } from 'vitest';
import { NO_CONTROL, NO_KEY, NOT_ADMIN, refusal } from '../support/refusals.js';
import { called, READER_KEY, type Step, steps } from './every-rpc.support.js';

/** A control that the script before this leaves behind. */
const CONTROL = 3;
const NO_SHADOW = refusal('SHADOW_NOT_FOUND', 404, 'NotFound', []);
const CHANGED = refusal('SHADOW_CHANGED', 409, 'Aborted', []);
const DATA = {
  execution: 'server',
  condition: { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern: '\\d{15}' } } },
  action: { decision: 'deny' },
};
const BROKEN = { name: 'regex', config: { pattern: '[' } };
const OF_CONTROL = { control_id: CONTROL, data: DATA };
const SHADOW = {
  control_id: CONTROL,
  control_name: 'large-refunds',
  data: { enabled: true, action: { decision: 'deny' } },
  set_by: 'admin',
  differences: [],
};

/** The part of the script that is about shadows. */
export const SHADOW_STEPS: readonly Step[] = [
  ...steps('ShadowService.SetShadow', [
    [
      'sets the shadow of a control, for all',
      OF_CONTROL,
      { reply: { shadow: { ...SHADOW, shadow_version: 1, share: 1, share_by: 'agent' }, warnings: [] } },
    ],
    [
      'sets another one in its place, for a share of the sessions',
      { ...OF_CONTROL, share: 0.25, share_by: 'session' },
      { reply: { shadow: { ...SHADOW, shadow_version: 2, share: 0.25, share_by: 'session' } } },
    ],
    ['demands a definition', { control_id: CONTROL }, 'data missing'],
    [
      'reviews it',
      { ...OF_CONTROL, data: { ...DATA, condition: { ...DATA.condition, evaluator: BROKEN } } },
      'data.condition.evaluator.pattern value_error',
    ],
    ['takes no share of none', { ...OF_CONTROL, share: 0 }, 'share greater_than'],
    ['takes no share of more than all', { ...OF_CONTROL, share: 1.5 }, 'share less_than_equal'],
    ['does not find an unknown control', { ...OF_CONTROL, control_id: 9_999 }, NO_CONTROL],
    ['is for those who write controls', OF_CONTROL, NOT_ADMIN, READER_KEY],
    ['requires a key', OF_CONTROL, NO_KEY, null],
  ]),
  ...steps('ShadowService.GetShadow', [
    [
      'returns a shadow',
      { control_id: CONTROL },
      { reply: { shadow: { ...SHADOW, shadow_version: 2, set_at: expect.any(String) } } },
      READER_KEY,
    ],
    ['finds none of a control without one', { control_id: 9_999 }, NO_SHADOW],
  ]),
  ...steps('ShadowService.ListShadows', [
    ['lists shadows', {}, { reply: { shadows: [{ ...SHADOW, shadow_version: 2 }] } }, READER_KEY],
    ['requires a key', {}, NO_KEY, null],
  ]),
  ...steps('ShadowService.PromoteShadow', [
    ['promotes only the one that was seen', { control_id: CONTROL, shadow_version: 1 }, CHANGED],
    ['promotes none that is not named', { control_id: CONTROL, shadow_version: 0 }, CHANGED],
    ['is for those who write controls', { control_id: CONTROL, shadow_version: 2 }, NOT_ADMIN, READER_KEY],
    [
      'gives the control its definition',
      { control_id: CONTROL, shadow_version: 2 },
      { reply: { version: expect.any(Number) } },
    ],
    ['promotes it once', { control_id: CONTROL, shadow_version: 2 }, NO_SHADOW],
  ]),
  called('ControlService.GetControlData', 'reads it', { control_id: CONTROL }, { reply: { data: DATA } }),
  called('ShadowService.SetShadow', 'sets one to be dropped', OF_CONTROL, { reply: {} }),
  ...steps('ShadowService.DropShadow', [
    ['is for those who write controls', { control_id: CONTROL }, NOT_ADMIN, READER_KEY],
    ['drops a shadow', { control_id: CONTROL }, { reply: {} }],
    ['does not find one that was dropped', { control_id: CONTROL }, NO_SHADOW],
  ]),
];
