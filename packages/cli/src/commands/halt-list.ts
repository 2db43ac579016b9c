import { defineCommand } from '../command.js';
import { LISTINGS, listed, printItems } from '../listing.js';

export const command = defineCommand({
  examples: [{ line: 'control-enforcement halt list', does: 'List the halts in force' }],
  options: {
    state: { type: 'string', default: 'active', describe: 'active, lifted, expired, or all' },
    limit: { type: 'number', default: 100, describe: 'Most that are listed' },
  },
  async run(context, { state, limit }) {
    const { rest } = await context.connect();
    const query = { state: state === 'all' ? undefined : state };
    await printItems(context, await listed(rest, LISTINGS.halts, query, limit), LISTINGS.halts.columns);
    return 0;
  },
});
