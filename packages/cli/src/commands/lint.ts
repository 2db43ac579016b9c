import type { JsonObject } from '../../../exact-json/src/index.js';
import { defineCommand, FILES } from '../command.js';
import type { SourceDocument } from '../files/documents-of.js';
import { problemLine, SEVERITY_NAMES } from '../files/problems.js';
import { EXPAND_ENV, readFiles } from '../files/read-documents.js';

export const command = defineCommand({
  examples: [
    { line: 'control-enforcement lint controls', does: 'Look at all files of a folder' },
    {
      line: 'control-enforcement lint --max-severity note controls',
      does: 'Fail for warnings, too',
    },
  ],
  positionals: FILES,
  options: {
    ...EXPAND_ENV,
    'max-severity': {
      type: 'string',
      choices: ['none', ...SEVERITY_NAMES],
      default: 'warning',
      describe: 'The worst that may be found; beyond it the exit code is 1',
    },
    'memory-window-hours': {
      type: 'number',
      default: 24,
      describe: 'SERVICE_MEMORY_WINDOW_HOURS of the server, where no server is asked',
    },
  },
  async run(context, { files, expandEnv, maxSeverity, memoryWindowHours }) {
    const sources = await readFiles(context, files, { expandEnv });
    const { lintOffline, lintOnline, shownFindings, isBeyond } = await import('../offline/lint-files.js');
    const findings = context.isOnline
      ? await lintOnline((await context.connect()).rest, sources)
      : await lintOffline(sources, context.namespace, memoryWindowHours);
    const shown = shownFindings(findings, sources);
    const lines = shown.map((one) =>
      problemLine({ ...one, message: `${one.severity}: ${one.rule}: ${one.message}` }),
    );
    await context.output(
      shown.map((one): JsonObject => ({ ...one })),
      lines.length === 0 ? `${documents(sources)}, nothing found.\n` : `${lines.join('\n')}\n`,
    );
    return shown.some(({ severity }) => isBeyond(severity, maxSeverity)) ? 1 : 0;
  },
});

function documents({ length }: readonly SourceDocument[]): string {
  return `${length} ${length === 1 ? 'document' : 'documents'}`;
}
