import { defineCommand } from '../command.js';
import { DECISION_ARGS, decideApproval } from '../decide-approval.js';

export const command = defineCommand({
  examples: [
    {
      line: 'control-enforcement approvals approve 1 --comment "checked with the customer"',
      does: 'Approve a step',
    },
  ],
  ...DECISION_ARGS,
  run: (context, { id, comment }) => decideApproval(context, id, 'approve', comment),
});
