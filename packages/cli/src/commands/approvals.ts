import { defineCommand } from '../command.js';
import type { CommandContext } from '../context.js';
import { LISTINGS, listed, objectIn, printItems } from '../listing.js';

/** The arguments of `approvals approve` and `approvals deny`. */
const DECISION_ARGS = {
  positionals: { id: { type: 'number', demandOption: true, describe: 'Id of the approval' } },
  options: { comment: { type: 'string', describe: 'Why' } },
} as const;

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

export const approveStep = defineCommand({
  examples: [
    {
      line: 'control-enforcement approvals approve 1 --comment "checked with the customer"',
      does: 'Approve a step',
    },
  ],
  ...DECISION_ARGS,
  run: (context, { id, comment }) => decideApproval(context, id, 'approve', comment),
});

export const denyStep = defineCommand({
  examples: [
    {
      line: 'control-enforcement approvals deny 1 --comment "checked with the customer"',
      does: 'Deny a step',
    },
  ],
  ...DECISION_ARGS,
  run: (context, { id, comment }) => decideApproval(context, id, 'deny', comment),
});

/** Decides what the server shows under the id: the digest of its step is sent back. */
async function decideApproval(
  context: CommandContext,
  id: number,
  decision: 'approve' | 'deny',
  comment: string | undefined,
): Promise<0> {
  const { rest } = await context.connect();
  const shown = objectIn(await rest.get(`/api/v1/approvals/${id}`), 'approval');
  const reply = await rest.send('POST', `/api/v1/approvals/${id}/decide`, {
    decision,
    step_sha256: shown.step_sha256 ?? null,
    ...(comment === undefined ? {} : { comment }),
  });
  await printItems(context, [objectIn(reply, 'approval')], LISTINGS.approvals.columns);
  return 0;
}
