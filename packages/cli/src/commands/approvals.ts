import { type Command, defineCommand } from '../command.js';
import { LISTINGS, listed, objectIn, printItems } from '../listing.js';

export const listApprovals = defineCommand({
  examples: [{ line: 'control-enforcement approvals list', does: 'List what waits for a decision' }],
  options: {
    state: { type: 'string', default: 'pending', describe: 'pending, approved, denied, …, or all' },
    agent: { type: 'string', describe: 'Only those of this agent' },
    mine: { type: 'boolean', describe: 'Only those that the caller may decide' },
    limit: { type: 'number', default: 100, describe: 'Most that are listed' },
  },
  async run(context, { state, agent, mine, limit }) {
    const { rest } = await context.connect();
    const query = { state: state === 'all' ? undefined : state, agent_name: agent, mine };
    await printItems(
      context,
      await listed(rest, LISTINGS.approvals, query, limit),
      LISTINGS.approvals.columns,
    );
    return 0;
  },
});

export const approveStep = decisionCommand('approve', 'Approve a step');
export const denyStep = decisionCommand('deny', 'Deny a step');

/** Decides what the server shows under the id: the digest of its step is sent back. */
function decisionCommand(decision: 'approve' | 'deny', does: string): Command {
  return defineCommand({
    examples: [
      { line: `control-enforcement approvals ${decision} 1 --comment "checked with the customer"`, does },
    ],
    positionals: { id: { type: 'number', demandOption: true, describe: 'Id of the approval' } },
    options: { comment: { type: 'string', describe: 'Why' } },
    async run(context, { id, comment }) {
      const { rest } = await context.connect();
      const shown = objectIn(await rest.get(`/api/v1/approvals/${id}`), 'approval');
      const reply = await rest.send('POST', `/api/v1/approvals/${id}/decide`, {
        decision,
        step_sha256: shown.step_sha256 ?? null,
        ...(comment === undefined ? {} : { comment }),
      });
      await printItems(context, [objectIn(reply, 'approval')], LISTINGS.approvals.columns);
      return 0;
    },
  });
}
