import { applySet, changesText, countsOf, SET_OPTIONS } from '../apply-set.js';
import { defineCommand, FILES } from '../command.js';
import { EXPAND_ENV, readFiles } from '../files/read-documents.js';
import { objects } from '../listing.js';

export const command = defineCommand({
  examples: [
    {
      line: 'control-enforcement diff controls --owner payments/main',
      does: 'Compare files with the server',
      code: 2,
    },
  ],
  positionals: FILES,
  options: { ...SET_OPTIONS, ...EXPAND_ENV },
  async run(context, { files, owner, prune, overwrite, merge, expandEnv }) {
    const sources = await readFiles(context, files, { expandEnv });
    const request = { owner, prune, overwrite, merge, dry_run: true, strict: false };
    const reply = await applySet(context, await context.connect(), sources, request);
    await context.output(reply, changesText(context, reply));
    const { create, update, delete: deleted } = countsOf(reply);
    return create + update + deleted + objects(reply.conflicts).length > 0 ? 2 : 0;
  },
});
