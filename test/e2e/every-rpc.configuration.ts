import { expect } from 'vitest';
import { NO_KEY, NOT_ADMIN, refusal } from '../support/refusals.js';
import { READER_KEY, type Step, steps } from './every-rpc.support.js';

const CONFLICT = refusal('CONFIGURATION_CONFLICT', 409, 'Aborted', ['Policy/set-policy other_owner']);
const CHANGED = refusal('CONFIGURATION_REVISION_CHANGED', 409, 'Aborted', []);
const DATA = {
  execution: 'server',
  condition: { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern: 'never-set' } } },
  action: { decision: 'deny' },
};
const CONTROL = { kind: 'Control', name: 'set-control', data: DATA };
const POLICY = { kind: 'Policy', name: 'set-policy', controls: ['set-control'] };
const LINKS = { kind: 'AgentLinks', name: 'set-agent-01', policies: ['set-policy'] };
const OWNER = 'team/set';

/** The part of the script that is about configurations. It leaves nothing behind that an evaluation could find. */
export const CONFIGURATION_STEPS: readonly Step[] = [
  ...steps('ConfigurationService.LintConfiguration', [
    ['finds nothing in no documents', { documents: [] }, { reply: { findings: [] } }, READER_KEY],
  ]),
  ...steps('ConfigurationService.ApplyConfiguration', [
    [
      'tells what it would do',
      { owner: OWNER, documents: [CONTROL], dry_run: true },
      {
        reply: {
          changes: [{ kind: 'Control', name: 'set-control', change: 'create', adopted: false }],
          applied: false,
        },
      },
    ],
    [
      'creates what documents have',
      { owner: OWNER, documents: [LINKS, CONTROL, POLICY] },
      {
        reply: {
          changes: [
            { kind: 'Control', name: 'set-control', change: 'create' },
            { kind: 'Policy', name: 'set-policy', change: 'create' },
            { kind: 'AgentLinks', name: 'set-agent-01', change: 'create' },
          ],
          applied: true,
          revision: expect.anything(),
        },
      },
    ],
    [
      'refuses what belongs to another owner',
      { owner: 'team/other', documents: [{ ...POLICY, controls: [] }] },
      CONFLICT,
    ],
    ['refuses another revision', { owner: OWNER, documents: [], revision: 1 }, CHANGED],
    [
      'refuses an unknown kind',
      { owner: OWNER, documents: [{ kind: 'Contol', name: 'x' }] },
      'documents[0].kind literal_error',
    ],
    ['demands the owner', { owner: '', documents: [] }, 'owner string_too_short'],
    ['takes no owner with blanks', { owner: 'a b' }, 'owner string_pattern_mismatch'],
    ['is for administrators', { owner: OWNER, documents: [] }, NOT_ADMIN, READER_KEY],
    ['requires a key', { owner: OWNER, documents: [] }, NO_KEY, null],
  ]),
  ...steps('ConfigurationService.LintConfiguration', [
    [
      'refuses an unknown kind',
      { documents: [{ kind: 'Contol', name: 'x' }] },
      'documents[0].kind literal_error',
    ],
    ['requires a key', { documents: [] }, NO_KEY, null],
  ]),
  ...steps('ConfigurationService.ApplyConfiguration', [
    [
      'deletes what no document has any more',
      { owner: OWNER, documents: [], prune: true },
      {
        reply: {
          changes: [
            { kind: 'Control', name: 'set-control', change: 'delete' },
            { kind: 'Policy', name: 'set-policy', change: 'delete' },
            { kind: 'AgentLinks', name: 'set-agent-01', change: 'delete' },
          ],
          applied: true,
        },
      },
    ],
  ]),
];
