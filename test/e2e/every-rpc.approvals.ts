import { expect } from 'vitest';
import { NO_KEY, NOT_ADMIN, refusal } from '../support/refusals.js';
import { called, READER_KEY, type Step, steps } from './every-rpc.support.js';

const AGENT = 'paying-bot-01';
/** What the script before this leaves behind. */
const CONTROL = 10;
const NO_APPROVAL = refusal('APPROVAL_NOT_FOUND', 404, 'NotFound', []);
const CONFLICT = refusal('APPROVAL_CONFLICT', 409, 'FailedPrecondition', []);
const NO_DENIAL = refusal('ACCESS_REQUEST_INVALID', 422, 'InvalidArgument', []);
const DATA = {
  execution: 'server',
  scope: { stages: ['pre'], step_names: ['pay'] },
  condition: { selector: { path: 'name' }, evaluator: { name: 'regex', config: { pattern: 'pay' } } },
  action: {
    decision: 'deny',
    approval: {
      approvers: ['role:admin'],
      quorum: 1,
      expires_seconds: 600,
      bind: ['input.amount'],
      reuse: 'once',
      question: 'Pay {input.amount}?',
      separate: false,
    },
  },
};
const paying = (amount: number) => ({
  agent_name: AGENT,
  stage: 'pre',
  detail: 'full',
  step: { type: 'tool', name: 'pay', input: { amount } },
  accepts: ['ask', 'modify'],
});
const asked = (id: number) => ({
  reply: { is_safe: false, approval: { id, state: 'pending', controls: [{ control_id: CONTROL }] } },
});
const APPROVAL = {
  id: 1,
  state: 'pending',
  agent_name: AGENT,
  step_type: 'tool',
  step_name: 'pay',
  question: 'Pay 5?',
  step_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  controls: [
    { control_id: CONTROL, version: 1, approvers: ['role:admin'], quorum: 1, approved: 0, separate: false },
  ],
  uses: 0,
  votes: [],
  narrowed: false,
};
const APPROVED = {
  ...APPROVAL,
  state: 'approved',
  controls: [{ approved: 1 }],
  votes: [{ decision: 'approve', comment: 'agreed' }],
};
const TASK = {
  id: '2',
  status: 'pending',
  status_endpoint: `/access/v1/agents/${AGENT}/requests/2`,
  progress: { current_step: 0, total_steps: 1, awaiting: ['role:admin'] },
};
const OF_AGENT = { agent_name: AGENT };

/** The part of the script about approvals. */
export const APPROVAL_STEPS: readonly Step[] = [
  called('AgentService.InitAgent', 'registers the agent that asks', { agent: OF_AGENT }, { reply: {} }),
  ...steps('ControlService.CreateControl', [
    ['makes a control that asks', { name: 'payments', data: DATA }, { reply: { control_id: CONTROL } }],
    [
      'refuses an approval without approvers',
      { name: 'no-approvers', data: { ...DATA, action: { decision: 'deny', approval: {} } } },
      'data.action.approval.approvers missing',
    ],
  ]),
  called('AgentService.AddAgentControl', 'links it', { ...OF_AGENT, control_id: CONTROL }, { reply: {} }),
  called('EvaluationService.Evaluate', 'asks for an approval', paying(5), asked(1), READER_KEY),
  called('EvaluationService.Evaluate', 'asks for another step', paying(6), asked(2), READER_KEY),
  ...steps('ApprovalService.GetApproval', [
    [
      'returns an approval with its step and explanation',
      { approval_id: 1 },
      {
        reply: {
          approval: APPROVAL,
          step_json: expect.stringContaining('"amount":5'),
          step_shortened: false,
          explanations: [{ control_id: CONTROL, condition: { matched: true } }],
          can_decide: true,
        },
      },
    ],
    ['does not find an unknown approval', { approval_id: 99 }, NO_APPROVAL],
    ['requires a key', { approval_id: 1 }, NO_KEY, null],
  ]),
  ...steps('ApprovalService.ListApprovals', [
    [
      'lists approvals, newest first',
      {},
      { reply: { approvals: [{ id: 2 }, { id: 1 }], pagination: { total: 2 } } },
    ],
    ['lists them page by page', { limit: 1, cursor: '2' }, { reply: { approvals: [{ id: 1 }] } }],
    ['lists those of an agent and a state', { ...OF_AGENT, state: 'denied' }, { reply: { approvals: [] } }],
    ['lists those that the caller decides about', { mine: true }, { reply: { pagination: { total: 2 } } }],
    ['refuses a page without rows', { limit: 0 }, 'limit greater_than_equal'],
  ]),
  ...steps('ApprovalService.AwaitApproval', [
    [
      'tells one that is pending',
      { ...OF_AGENT, approval_id: 1, wait: '0s' },
      { reply: { approval: APPROVAL } },
      READER_KEY,
    ],
    ['does not wait for hours', { ...OF_AGENT, approval_id: 1, wait: '3600s' }, 'wait value_error'],
    ['does not find that of another agent', { agent_name: 'billing-bot-01', approval_id: 1 }, NO_APPROVAL],
  ]),
  ...steps('ApprovalService.DecideApproval', [
    ['is for approvers', { approval_id: 1, decision: 'approve' }, NOT_ADMIN, READER_KEY],
    ['demands a decision', { approval_id: 1 }, 'decision missing'],
    [
      'refuses a decision about another step',
      { approval_id: 1, decision: 'approve', step_sha256: '0'.repeat(64) },
      CONFLICT,
    ],
    [
      'approves',
      { approval_id: 1, decision: 'approve', comment: 'agreed' },
      { reply: { approval: APPROVED } },
    ],
    [
      'approves it once',
      { approval_id: 1, decision: 'approve', comment: 'agreed' },
      { reply: { approval: APPROVED } },
    ],
    ['takes no other vote of the same person', { approval_id: 1, decision: 'deny' }, CONFLICT],
    ['does not find an unknown approval', { approval_id: 99, decision: 'deny' }, NO_APPROVAL],
  ]),
  ...steps('EvaluationService.Evaluate', [
    ['uses it', paying(5), { reply: { is_safe: true, approval: { id: 1, state: 'used' } } }, READER_KEY],
    ['asks again', paying(5), asked(3), READER_KEY],
  ]),
  ...steps('ApprovalService.CancelApproval', [
    [
      'cancels an approval',
      { ...OF_AGENT, approval_id: 3, reason: 'not needed' },
      { reply: { approval: { id: 3, state: 'cancelled', end_reason: 'not needed' } } },
      READER_KEY,
    ],
    [
      'cancels it once',
      { ...OF_AGENT, approval_id: 3 },
      { reply: { approval: { end_reason: 'not needed' } } },
    ],
    ['does not find that of another agent', { agent_name: 'billing-bot-01', approval_id: 3 }, NO_APPROVAL],
  ]),
  ...steps('AccessRequestService.CreateAccessRequest', [
    [
      'requests access after a denial',
      { ...OF_AGENT, denial: { evaluation_id: '2' }, subject: { type: 'agent', id: AGENT } },
      { reply: { task: TASK } },
      READER_KEY,
    ],
    ['requests it once', { ...OF_AGENT, denial: { evaluation_id: '2' } }, { reply: { task: TASK } }],
    ['demands a denial', OF_AGENT, 'denial missing'],
    [
      'refuses that of another agent',
      { agent_name: 'billing-bot-01', denial: { evaluation_id: '2' } },
      NO_DENIAL,
    ],
    [
      'refuses that of another step',
      { ...OF_AGENT, denial: { evaluation_id: '2', step_sha256: '0'.repeat(64) } },
      NO_DENIAL,
    ],
    [
      'refuses another resource',
      { ...OF_AGENT, denial: { evaluation_id: '2' }, resource: { type: 'tool', id: 'mail' } },
      NO_DENIAL,
    ],
  ]),
  called(
    'ApprovalService.DecideApproval',
    'approves what was requested',
    { approval_id: 2, decision: 'approve' },
    { reply: { approval: { state: 'approved' } } },
  ),
  ...steps('AccessRequestService.GetAccessRequest', [
    [
      'tells of the approval',
      { ...OF_AGENT, request_id: 2 },
      {
        reply: {
          task: { id: '2', status: 'approved' },
          result: { mode: 'reevaluate', approval: { id: '2' } },
        },
      },
      READER_KEY,
    ],
    ['does not find an unknown request', { ...OF_AGENT, request_id: 99 }, NO_APPROVAL],
  ]),
  ...steps('AccessRequestService.CancelAccessRequest', [
    [
      'cancels a request',
      { ...OF_AGENT, request_id: 2 },
      { reply: { task: { id: '2', status: 'cancelled' } } },
      READER_KEY,
    ],
    ['refuses to cancel what has ended', { ...OF_AGENT, request_id: 2 }, CONFLICT],
  ]),
];
