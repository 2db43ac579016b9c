import { defineCommand, FILES } from '../command.js';
import { FilesError, problemLine } from '../files/problems.js';
import { EXPAND_ENV, readFiles } from '../files/read-documents.js';

export const command = defineCommand({
  examples: [
    { line: 'control-enforcement validate controls', does: 'Check all files of a folder' },
    { line: 'control-enforcement validate --strict controls/*.yaml', does: 'Take warnings for errors' },
  ],
  positionals: FILES,
  options: {
    ...EXPAND_ENV,
    strict: { type: 'boolean', default: false, describe: 'Take warnings for errors' },
  },
  async run(context, { files, strict, expandEnv }) {
    const sources = await readFiles(context, files, { expandEnv });
    const [{ readObjects, warningsOf }, { offlineEvaluators }] = await Promise.all([
      import('../offline/check-documents.js'),
      import('../offline/evaluators.js'),
    ]);
    const registry = offlineEvaluators;
    const reading = readObjects(sources, registry, context.namespace);
    const warnings = warningsOf(reading, registry);
    const { problems } = reading;
    const all = strict ? [...problems, ...warnings] : problems;
    if (!strict) {
      for (const warning of warnings) {
        await context.warn(problemLine({ ...warning, message: `warning: ${warning.message}` }));
      }
    }
    if (all.length > 0) throw new FilesError(all);
    await context.output(
      { documents: sources.length, warnings: warnings.length },
      `${sources.length} ${sources.length === 1 ? 'document is' : 'documents are'} valid.\n`,
    );
    return 0;
  },
});
