import { applySet, changesText, countsOf, SET_OPTIONS } from '../apply-set.js';
import { defineCommand, FILES } from '../command.js';
import { CliError } from '../errors.js';
import { EXPAND_ENV, readFiles } from '../files/read-documents.js';
import { objects } from '../listing.js';

export const command = defineCommand({
  examples: [
    {
      line: 'control-enforcement apply controls --owner payments/main --dry-run',
      does: 'Show what would change',
    },
    {
      line: 'control-enforcement apply controls --owner payments/main',
      does: 'Make the server have the files',
    },
    {
      line: 'control-enforcement apply controls --owner payments/main --prune --yes',
      does: 'And delete what is gone',
    },
  ],
  positionals: FILES,
  options: {
    ...SET_OPTIONS,
    ...EXPAND_ENV,
    'dry-run': { type: 'boolean', default: false, describe: 'Only show what would change' },
    revision: { type: 'number', describe: 'Apply only if the namespace still has this revision' },
    note: { type: 'string', describe: 'Why, for the history of controls' },
    strict: { type: 'boolean', default: false, describe: 'Take warnings for errors' },
    yes: { type: 'boolean', default: false, describe: 'Delete without asking' },
  },
  async run(context, { files, expandEnv, dryRun, yes, ...options }) {
    const sources = await readFiles(context, files, { expandEnv });
    const clients = await context.connect();
    const { owner, prune, overwrite, note, strict, merge } = options;
    const request = { owner, prune, overwrite, note, strict, merge };
    let { revision } = options;
    if (prune && !yes && !dryRun) {
      const expected = await applySet(context, clients, sources, { ...request, revision, dry_run: true });
      const { delete: deleted } = countsOf(expected);
      if (deleted > 0) {
        await context.stderr.write(changesText(context, expected));
        const answer = await context.confirm(`Delete ${deleted} object(s)?`);
        if (answer !== true) {
          const what = answer === undefined ? `${deleted} object(s) would be deleted` : 'nothing was applied';
          throw new CliError(what, answer === undefined ? 'Look at --dry-run, then give --yes.' : undefined);
        }
      }
      // What was asked about is what is applied.
      revision = Number(expected.revision);
    }
    const reply = await applySet(context, clients, sources, { ...request, revision, dry_run: dryRun });
    const counts = countsOf(reply);
    const verb = dryRun ? 'would be' : 'are';
    const summary = `${counts.create} ${verb} created, ${counts.update} changed, ${counts.delete} deleted; revision ${reply.revision}.\n`;
    await context.output(reply, changesText(context, reply) + summary);
    return objects(reply.conflicts).length > 0 ? 1 : 0;
  },
});
