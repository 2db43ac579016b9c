import { defineCommand } from '../command.js';
import { cellOf, durationMs } from '../listing.js';

export const command = defineCommand({
  examples: [{ line: 'control-enforcement keys rotate 1 --overlap 1h', does: 'Give a key a new secret' }],
  positionals: { id: { type: 'number', demandOption: true, describe: 'Id of the key' } },
  options: { overlap: { type: 'string', describe: 'How long the old secret stays valid, for example 1h' } },
  async run(context, { id, overlap }) {
    const { rest } = await context.connect();
    const seconds = overlap === undefined ? null : durationMs(overlap, 'overlap') / 1_000;
    const reply = await rest.send('POST', `/api/v1/keys/${id}/rotate`, { overlap_seconds: seconds });
    await context.output(reply, `${cellOf(reply.secret)}\n`);
    await context.warn('the secret is shown only now; keep it where secrets are kept');
    return 0;
  },
});
