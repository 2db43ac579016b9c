import { defineCommand } from '../command.js';
import { CliError } from '../errors.js';
import { LISTINGS, objectIn, printItems } from '../listing.js';

export const command = defineCommand({
  examples: [{ line: 'control-enforcement keys revoke 1 --yes', does: 'Withdraw a key at once' }],
  positionals: { id: { type: 'number', demandOption: true, describe: 'Id of the key' } },
  options: { yes: { type: 'boolean', default: false, describe: 'Revoke without asking' } },
  async run(context, { id, yes }) {
    const { rest } = await context.connect();
    if (!yes && (await context.confirm(`Revoke key ${id}? Its callers are refused at once.`)) !== true) {
      throw new CliError('the key was not revoked', 'Give --yes to revoke it without a question.');
    }
    const reply = await rest.send('DELETE', `/api/v1/keys/${id}`);
    await printItems(context, [objectIn(reply, 'key')], LISTINGS.keys.columns);
    return 0;
  },
});
