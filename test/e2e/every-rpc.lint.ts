import { NO_KEY } from '../support/refusals.js';
import { type Step, steps } from './every-rpc.support.js';

const NEVER = {
  kind: 'Control',
  name: 'finds-nothing',
  data: {
    execution: 'server',
    condition: { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern: 'a^b' } } },
    action: { decision: 'deny' },
  },
};
const FOUND = {
  rule: 'never-true',
  severity: 'error',
  document: 1,
  field: 'data.condition.evaluator.config.pattern',
  message: 'the pattern is found in no text',
};
const UNLINKED = {
  rule: 'unlinked-control',
  severity: 'warning',
  document: 1,
  field: 'name',
  message:
    'neither the documents nor the namespace have a policy or an agent with the control "finds-nothing", so it is never evaluated',
};
const POLICY = { kind: 'Policy', name: 'for-every-agent', every_agent: true };

/** The part of the script that is about lint. */
export const LINT_STEPS: readonly Step[] = [
  ...steps('ConfigurationService.LintConfiguration', [
    ['finds what is not meant', { documents: [POLICY, NEVER] }, { reply: { findings: [FOUND, UNLINKED] } }],
    [
      'looks at each document alone',
      { documents: [POLICY, NEVER], each_alone: true },
      { reply: { findings: [FOUND] } },
    ],
    ['finds nothing in nothing', {}, { reply: { findings: [] } }],
    [
      'refuses unknown kinds',
      { documents: [{ ...POLICY, kind: 'Polcy' }] },
      'documents[0].kind literal_error',
    ],
    ['requires a key', { documents: [] }, NO_KEY, null],
  ]),
];
