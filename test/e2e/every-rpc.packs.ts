import { expect } from 'vitest';
import { NO_AGENT, NO_KEY, NO_POLICY, NOT_ADMIN, nameTaken, refusal } from '../support/refusals.js';
import { called, evaluation, READER_KEY, type Step, steps } from './every-rpc.support.js';

/** A pack of test/fixtures/packs. */
const PACK = 'samples';
const NO_PACK = refusal('PACK_NOT_FOUND', 404, 'NotFound', []);
const NO_INSTALLATION = refusal('PACK_INSTALLATION_NOT_FOUND', 404, 'NotFound', []);
const OTHER_VERSION = refusal('PACK_VERSION_CHANGED', 409, 'Aborted', ['version version_changed']);
/** What the script before this leaves behind. */
const FIRST_CONTROL = 6;
const SUMMARY = {
  name: PACK,
  version: '1.0.0',
  title: 'Samples',
  control_count: 2,
  case_count: 7,
  tags: ['test'],
  built_in: false,
  evaluators: ['regex'],
  missing_evaluators: [],
};
const INSTALLATION = {
  installation_id: 1,
  pack_name: PACK,
  version: '1.0.0',
  current_version: '1.0.0',
  update_available: false,
  policy_name: 'sampled',
  controls: [
    { key: 'secret-words', control_id: FIRST_CONTROL, control_name: 'samples-secret-words', changed: false },
    {
      key: 'shell-removal',
      control_id: FIRST_CONTROL + 1,
      control_name: 'samples-shell-removal',
      changed: false,
    },
  ],
};
const INSTALL = { pack_name: PACK, policy_name: 'sampled', idempotency_key: 'install-one' };
const STEP = { ...evaluation('x', '').step, type: 'tool', name: 'bash', input: { command: 'rm -rf /' } };

/** The part of the script about packs, with those of test/fixtures/packs. */
export const PACK_STEPS: readonly Step[] = [
  ...steps('PackService.ListPacks', [
    [
      'lists packs',
      {},
      { reply: { packs: expect.arrayContaining([expect.objectContaining(SUMMARY)]), installations: [] } },
      READER_KEY,
    ],
    ['requires a key', {}, NO_KEY, null],
  ]),
  ...steps('PackService.GetPack', [
    [
      'returns a pack with its controls and some cases',
      { pack_name: PACK },
      {
        reply: {
          pack: SUMMARY,
          controls: [
            {
              key: 'secret-words',
              references: ['OWASP LLM02:2025 Sensitive Information Disclosure'],
              data: { execution: 'server', action: { decision: 'observe' } },
              matching_cases: 2,
              other_cases: 2,
              examples: [
                {
                  name: 'the SECRET is out',
                  stage: 'pre',
                  matches: true,
                  step: { type: 'tool', name: 'send_email' },
                },
                { matches: true },
                { matches: false },
                { name: 'after the step', stage: 'post', matches: false },
              ],
            },
            { key: 'shell-removal' },
          ],
          installations: [],
        },
      },
      READER_KEY,
    ],
    ['does not find an unknown pack', { pack_name: 'nothing' }, NO_PACK],
  ]),
  ...steps('PackService.PreviewPack', [
    [
      'tells what the controls would check, and what they say about steps',
      { pack_name: PACK, steps: [{ step: STEP, stage: 'pre' }] },
      {
        reply: {
          controls: [
            { key: 'secret-words', results: [{ applies: true, matched: false, failed: false }] },
            { key: 'shell-removal', results: [{ applies: true, matched: true, failed: false }] },
          ],
        },
      },
      READER_KEY,
    ],
    ['does not find an unknown pack', { pack_name: 'nothing' }, NO_PACK],
    ['does not find an unknown agent', { pack_name: PACK, agent_name: 'nobody-at-all' }, NO_AGENT],
    [
      'names what is wrong',
      { pack_name: PACK, days: 31, steps: [{ step: STEP }] },
      ['days less_than_equal', 'steps[0].stage missing'],
    ],
  ]),
  ...steps('PackService.InstallPack', [
    ['installs a pack in a new policy', INSTALL, { reply: { installation: INSTALLATION, warnings: [] } }],
    ['does so once for one idempotency key', INSTALL, { reply: { installation: INSTALLATION } }],
    ['refuses the name of another policy', { pack_name: PACK, policy_name: 'sampled' }, nameTaken('POLICY')],
    [
      'refuses names of other controls',
      { pack_name: PACK, policy_name: 'sampled-again' },
      refusal('CONTROL_NAME_CONFLICT', 409, 'AlreadyExists', ['name name_conflict', 'name name_conflict']),
    ],
    [
      'refuses another version',
      { pack_name: PACK, policy_name: 'sampled-again', version: '1.0.1' },
      OTHER_VERSION,
    ],
    ['does not find an unknown pack', { pack_name: 'nothing', policy_name: 'x' }, NO_PACK],
    ['does not find an unknown policy', { pack_name: PACK, policy_id: 4_711 }, NO_POLICY],
    ['demands a policy', { pack_name: PACK }, 'policy_id missing'],
    [
      'names unknown keys',
      { pack_name: PACK, policy_name: 'x', keys: ['secret-words', 'secret-word'] },
      'keys[1] unknown_key',
    ],
    ['is for admins', INSTALL, NOT_ADMIN, READER_KEY],
  ]),
  ...steps('PackService.ListPackInstallations', [
    [
      'lists installations of a pack',
      { pack_name: PACK },
      { reply: { installations: [INSTALLATION] } },
      READER_KEY,
    ],
    ['has none of another pack', { pack_name: 'nothing' }, { reply: { installations: [] } }],
    ['requires a key', {}, NO_KEY, null],
  ]),
  called(
    'ControlService.UpdateControl',
    'switches a control of a pack off',
    { control_id: FIRST_CONTROL, enabled: false },
    { reply: { enabled: false } },
  ),
  called(
    'ControlService.DeleteControl',
    'deletes a control of a pack',
    { control_id: FIRST_CONTROL + 1, force: true },
    { reply: { success: true } },
  ),
  ...steps('PackService.ComparePackInstallation', [
    [
      'tells what was changed, and what is deleted',
      { installation_id: 1 },
      {
        reply: {
          installation: {
            installation_id: 1,
            controls: [
              { changed: true },
              { key: 'shell-removal', control_id: null, control_name: null, changed: false },
            ],
          },
          controls: [
            {
              key: 'secret-words',
              change: 'none',
              control_id: FIRST_CONTROL,
              changed_here: ['enabled'],
              changed_in_pack: [],
              updated_members: [],
              current: { enabled: false },
              in_pack: { enabled: true },
              after_update: { enabled: false },
            },
            { key: 'shell-removal', change: 'absent', control_id: null, current: null, after_update: null },
          ],
        },
      },
      READER_KEY,
    ],
    ['does not find an unknown installation', { installation_id: 4_711 }, NO_INSTALLATION],
  ]),
  ...steps('PackService.UpdatePackInstallation', [
    [
      'keeps what was changed, and what was deleted',
      { installation_id: 1, version: '1.0.0' },
      { reply: { updated: [], kept: ['secret-words'], warnings: [] } },
    ],
    [
      'creates a deleted control that the request names',
      { installation_id: 1, version: '1.0.0', overwrite: ['shell-removal'] },
      {
        reply: {
          updated: ['shell-removal'],
          kept: ['secret-words'],
          installation: {
            controls: [
              { changed: true },
              { control_id: FIRST_CONTROL + 2, control_name: 'samples-shell-removal' },
            ],
          },
        },
      },
    ],
    ['refuses another version', { installation_id: 1, version: '0.9.0' }, OTHER_VERSION],
    [
      'names unknown keys',
      { installation_id: 1, version: '1.0.0', overwrite: ['x'] },
      'overwrite[0] unknown_key',
    ],
    ['does not find an unknown installation', { installation_id: 4_711, version: '1.0.0' }, NO_INSTALLATION],
    ['is for admins', { installation_id: 1, version: '1.0.0' }, NOT_ADMIN, READER_KEY],
  ]),
  ...steps('PackService.UninstallPack', [
    ['is for admins', { installation_id: 1 }, NOT_ADMIN, READER_KEY],
    [
      'removes a pack, and keeps what was changed',
      { installation_id: 1 },
      { reply: { removed: true, deleted_controls: [FIRST_CONTROL + 2], kept_controls: [FIRST_CONTROL] } },
    ],
    [
      'has nothing left to remove',
      { installation_id: 1 },
      { reply: { removed: false, deleted_controls: [], kept_controls: [] } },
    ],
  ]),
];
