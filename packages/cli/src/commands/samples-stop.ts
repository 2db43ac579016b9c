import { defineCommand } from '../command.js';

export const command = defineCommand({
  examples: [
    // There is no such rule.
    { line: 'control-enforcement samples stop 99 --delete', does: 'Delete a rule and its samples', code: 1 },
  ],
  positionals: { rule: { type: 'number', demandOption: true, describe: 'Id of the rule' } },
  options: {
    delete: {
      type: 'boolean',
      default: false,
      describe: 'Delete its samples as well, rather than after their time',
    },
  },
  async run(context, { rule, delete: withSamples }) {
    const { rest } = await context.connect();
    const path = `/api/v1/sampling-rules/${rule}?delete_samples=${withSamples}`;
    const reply = await rest.send('DELETE', path);
    const count = reply.deleted_samples ?? 0;
    await context.output(reply, `Rule ${rule} is deleted${withSamples ? `, and ${count} samples` : ''}.\n`);
    return 0;
  },
});
