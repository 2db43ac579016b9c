import { defineCommand } from '../command.js';
import { LISTINGS, listed, printItems } from '../listing.js';

export const command = defineCommand({
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
