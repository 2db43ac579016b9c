import { expect } from 'vitest';
import { NO_CONTROL, NO_KEY, NOT_ADMIN, nameTaken, refusal } from '../support/refusals.js';
import { called, evaluation, READER_KEY, type Step, steps } from './every-rpc.support.js';

/** What the script before this leaves behind. */
const CONTROL = 3;
const AGENT = 'labelled-bot-01';
const TARGET = { target_type: 'log_stream', target_id: 'billing' };
const OTHER = { ...TARGET, target_id: 'other' };
const KEY = { ...TARGET, control_id: CONTROL };
const NO_BINDING = refusal('CONTROL_BINDING_NOT_FOUND', 404, 'NotFound', []);
const HIT = { ...evaluation(AGENT, '4111111111111111'), ...TARGET };
const ROW = { id: 1, namespace_key: 'default', ...KEY, enabled: true };

/** The part of the script about bindings of controls to targets, and clones for them. */
export const BINDING_STEPS: readonly Step[] = [
  ...steps('ControlBindingService.CreateControlBinding', [
    ['binds a control', { ...KEY }, { reply: { binding_id: 1 } }],
    [
      'refuses to bind it twice',
      { ...KEY },
      refusal('CONTROL_BINDING_CONFLICT', 409, 'AlreadyExists', ['control_id binding_conflict']),
    ],
    ['does not find an unknown control', { ...KEY, control_id: 4_711 }, NO_CONTROL],
    ['is for admins', { ...KEY }, NOT_ADMIN, READER_KEY],
    ['requires a key', { ...KEY }, NO_KEY, null],
  ]),
  called('EvaluationService.Evaluate', 'is denied by a control that is bound to its target', HIT, {
    reply: { is_safe: false, matches: [{ control_id: CONTROL }] },
  }),
  ...steps('ControlBindingService.GetControlBinding', [
    ['returns a binding to a regular key', { binding_id: 1 }, { reply: ROW }, READER_KEY],
    ['does not find an unknown binding', { binding_id: 4_711 }, NO_BINDING],
  ]),
  ...steps('ControlBindingService.ListControlBindings', [
    [
      'filters bindings',
      { ...KEY, limit: 1 },
      { reply: { bindings: [ROW], pagination: { limit: 1, total: 1, next_cursor: null, has_more: false } } },
      READER_KEY,
    ],
    ['has none of another target', { ...OTHER }, { reply: { bindings: [], pagination: { total: 0 } } }],
    [
      'refuses a cursor that is none',
      { cursor: 'x' },
      refusal('VALIDATION_ERROR', 400, 'InvalidArgument', ['cursor invalid_format']),
    ],
  ]),
  called(
    'ControlService.DeleteControl',
    'keeps a control that is bound',
    { control_id: CONTROL },
    refusal('CONTROL_IN_USE', 409, 'FailedPrecondition'),
  ),
  ...steps('ControlBindingService.UpdateControlBinding', [
    ['disables a binding', { binding_id: 1, enabled: false }, { reply: { success: true, enabled: false } }],
    ['does not find an unknown binding', { binding_id: 4_711, enabled: false }, NO_BINDING],
    ['demands to know what', { binding_id: 1 }, 'enabled missing'],
    ['is for admins', { binding_id: 1, enabled: true }, NOT_ADMIN, READER_KEY],
  ]),
  called('EvaluationService.Evaluate', 'is not asked by a disabled binding', HIT, {
    reply: { is_safe: true },
  }),
  ...steps('ControlBindingService.UpdateControlBindingByKey', [
    ['enables a binding', { ...KEY, enabled: true }, { reply: { success: true, enabled: true } }],
    ['never binds', { ...KEY, ...OTHER, enabled: true }, NO_BINDING],
  ]),
  ...steps('ControlBindingService.UpsertControlBinding', [
    ['binds a control', { ...KEY, ...OTHER }, { reply: { binding_id: 2, created: true, enabled: true } }],
    [
      'changes a binding',
      { ...KEY, ...OTHER, enabled: false },
      { reply: { binding_id: 2, created: false, enabled: false } },
    ],
    ['does not find an unknown control', { ...KEY, control_id: 4_711 }, NO_CONTROL],
    [
      'names what is wrong',
      { target_type: 'x'.repeat(256), target_id: 'x', control_id: 0 },
      ['target_type string_too_long', 'control_id greater_than_equal'],
    ],
  ]),
  called(
    'ControlService.ListControls',
    'tells what controls are attached to',
    { name: 'large-refunds', include_attachments: true, attachment_target_id: 'billing' },
    {
      reply: {
        controls: [
          {
            id: CONTROL,
            cloned_from_control_id: null,
            attachments: {
              targets: [{ binding_id: 1, ...TARGET, enabled: true }],
              targets_total: 1,
              targets_truncated: false,
            },
          },
        ],
      },
    },
  ),
  called(
    'ControlService.ListControls',
    'refuses filters of attachments that are not asked for',
    { attachment_target_type: 'x' },
    'attachment_target_type value_error',
  ),
  ...steps('ControlService.CloneAndBindControl', [
    [
      'clones a control for a target',
      { control_id: CONTROL, name: 'cloned-refunds', target_binding: OTHER, idempotency_key: 'one' },
      { reply: { name: 'cloned-refunds', cloned_from_control_id: CONTROL, binding_id: 3 } },
    ],
    [
      'makes no second clone',
      { control_id: CONTROL, name: 'cloned-refunds', target_binding: OTHER, idempotency_key: 'one' },
      { reply: { name: 'cloned-refunds', binding_id: 3 } },
    ],
    [
      'refuses the key of another call',
      { control_id: CONTROL, name: 'others', target_binding: OTHER, idempotency_key: 'one' },
      refusal('IDEMPOTENCY_CONFLICT', 409, 'FailedPrecondition', ['idempotency_key idempotency_conflict']),
    ],
    [
      'refuses a name that is taken',
      { control_id: CONTROL, name: 'cloned-refunds', target_binding: OTHER },
      nameTaken('CONTROL'),
    ],
    ['does not find an unknown control', { control_id: 4_711, target_binding: TARGET }, NO_CONTROL],
    ['demands a target', { control_id: CONTROL }, 'target_binding missing'],
    ['is for admins', { control_id: CONTROL, target_binding: TARGET }, NOT_ADMIN, READER_KEY],
  ]),
  called(
    'ControlService.ListControls',
    'lists the clones',
    { cloned: true },
    {
      reply: {
        controls: [{ id: expect.any(Number), name: 'cloned-refunds', cloned_from_control_id: CONTROL }],
        pagination: { total: 1 },
      },
    },
  ),
  ...steps('ControlBindingService.DeleteControlBinding', [
    ['removes a binding', { binding_id: 1 }, { reply: { success: true } }],
    ['does not find it again', { binding_id: 1 }, NO_BINDING],
    ['is for admins', { binding_id: 2 }, NOT_ADMIN, READER_KEY],
  ]),
  ...steps('ControlBindingService.DeleteControlBindingByKey', [
    ['removes a binding', { ...KEY, ...OTHER }, { reply: { deleted: true } }],
    ['has nothing left to remove', { ...KEY, ...OTHER }, { reply: { deleted: false } }],
    [
      'names what is wrong',
      { target_type: 'x'.repeat(256), target_id: 'x'.repeat(256), control_id: CONTROL },
      ['target_type string_too_long', 'target_id string_too_long'],
    ],
  ]),
];
