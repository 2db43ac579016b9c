import { expect } from 'vitest';
import { NO_AGENT, NO_KEY, refusal } from '../support/refusals.js';
import { called, READER_KEY, type Step, steps } from './every-rpc.support.js';

const AGENT = 'adapted-bot-01';
const ACCESS = {
  subject: { type: 'agent', id: AGENT },
  action: { name: 'call' },
  resource: { type: 'tool', id: 'search' },
};
const UNKNOWN = { ...ACCESS, subject: { type: 'agent', id: 'unknown-bot-01' } };
/** By the form of its errors, 400 over HTTP. */
const INVALID = refusal('VALIDATION_ERROR', 400, 'InvalidArgument');
const ALLOWED = { decision: true, context: { outcome: 'allow' } };

/** The part of the script about adapters. */
export const ADAPTER_STEPS: readonly Step[] = [
  called(
    'AgentService.InitAgent',
    'registers the agent of adapters',
    { agent: { agent_name: AGENT } },
    {
      reply: {},
    },
  ),
  ...steps('AuthzenService.EvaluateAccess', [
    ['decides about an access', ACCESS, { reply: ALLOWED }, READER_KEY],
    ['refuses an unknown agent', UNKNOWN, NO_AGENT, READER_KEY],
    ['demands a resource', { subject: ACCESS.subject, action: ACCESS.action }, INVALID, READER_KEY],
    ['demands a key', ACCESS, NO_KEY, null],
  ]),
  ...steps('AuthzenService.EvaluateAccesses', [
    [
      'decides about several',
      { ...ACCESS, evaluations: [{}] },
      { reply: { evaluations: [ALLOWED] } },
      READER_KEY,
    ],
    ['decides about one', ACCESS, { reply: ALLOWED }, READER_KEY],
    ['demands their members', { evaluations: [{}] }, INVALID, READER_KEY],
  ]),
  ...steps('AuthzenService.GetAuthzenConfiguration', [
    [
      'tells where it is',
      {},
      { reply: { access_evaluation_endpoint: expect.stringMatching(/evaluation$/) } },
      null,
    ],
  ]),
];
