import { defineCommand } from '../command.js';
import { LISTINGS, objectIn, printItems } from '../listing.js';

export const command = defineCommand({
  examples: [{ line: 'control-enforcement halt lift 1 --reason mended', does: 'End a halt' }],
  positionals: { id: { type: 'number', demandOption: true, describe: 'Id of the halt' } },
  options: { reason: { type: 'string', describe: 'Why' } },
  async run(context, { id, reason }) {
    const { rest } = await context.connect();
    const body = reason === undefined ? {} : { reason };
    const reply = await rest.send('POST', `/api/v1/halts/${id}/lift`, body);
    await printItems(context, [objectIn(reply, 'halt')], LISTINGS.halts.columns);
    return 0;
  },
});
