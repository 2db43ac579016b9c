import { defineCommand } from '../command.js';
import { LISTINGS, listed, printItems } from '../listing.js';

const KINDS = ['controls', 'policies', 'agents', 'packs', 'approvals', 'halts', 'keys'] as const;

export const command = defineCommand({
  examples: [
    { line: 'control-enforcement list controls', does: 'List the controls' },
    { line: 'control-enforcement list policies --output json', does: 'List the policies as JSON' },
  ],
  positionals: { what: { choices: KINDS, demandOption: true, describe: 'What to list' } },
  options: {
    name: {
      type: 'string',
      describe: 'Only those with this in their names (controls, policies, agents, keys)',
    },
    limit: { type: 'number', default: 1_000, describe: 'Most that are listed' },
  },
  async run(context, { what, name, limit }) {
    const { rest } = await context.connect();
    await printItems(context, await listed(rest, LISTINGS[what], { name }, limit), LISTINGS[what].columns);
    return 0;
  },
});
