import { defineCommand } from '../command.js';
import { LISTINGS, listed, printItems } from '../listing.js';

export const command = defineCommand({
  examples: [{ line: 'control-enforcement keys list', does: 'List the keys of the namespace' }],
  options: { ended: { type: 'boolean', default: false, describe: 'Also expired and revoked ones' } },
  async run(context, { ended }) {
    const { rest } = await context.connect();
    const keys = await listed(rest, LISTINGS.keys, { include_ended: ended }, 10_000);
    await printItems(context, keys, LISTINGS.keys.columns);
    return 0;
  },
});
