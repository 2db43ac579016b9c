import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { defineCommand, FILES } from '../command.js';
import { CliError, messageOf } from '../errors.js';

export const command = defineCommand({
  examples: [
    { line: 'control-enforcement test controls', does: 'Run all suites of a folder, without a server' },
    {
      line: 'control-enforcement test --coverage controls',
      does: 'Tell which conditions were never true or false',
    },
    { line: 'control-enforcement test --reporter tap controls', does: 'Report as TAP 14' },
  ],
  positionals: {
    files: {
      ...FILES.files,
      describe: 'Suites, folders with *.test.yaml, and packs; "-" is the standard input',
    },
  },
  options: {
    judge: {
      type: 'string',
      choices: ['offline', 'server'],
      default: 'offline',
      describe: 'Who evaluates: this process, or the server, where nothing is recorded',
    },
    filter: { type: 'string', describe: 'Only cases with this text in their name' },
    reporter: {
      type: 'string',
      choices: ['pretty', 'tap', 'junit'],
      default: 'pretty',
      describe: 'Form of the report',
    },
    'output-file': { type: 'string', describe: 'Where to write the report, in place of the output' },
    verbose: { type: 'boolean', default: false, describe: 'List cases that passed, too' },
    coverage: { type: 'boolean', default: false, describe: 'Report what of conditions was never seen' },
    'fail-skipped': { type: 'boolean', default: false, describe: 'End with 2 if a case was skipped' },
    'coverage-min': {
      type: 'string',
      describe: 'Least percentage of results of conditions; below it, the code is 2',
    },
  },
  async run(context, { files, judge, filter, reporter, outputFile, verbose, ...args }) {
    const { coverage, coverageMin, failSkipped } = args;
    const least = percentOf(coverageMin);
    const [
      { loadSuites },
      { runSuites, countsOf, suitesNotRun },
      { reportOf },
      { offlineEvaluators },
      judges,
    ] = await Promise.all([
      import('../suite/load-suites.js'),
      import('../suite/run-suites.js'),
      import('../suite/reports.js'),
      import('../offline/evaluators.js'),
      import('../suite/judges.js'),
    ]);
    const registry = offlineEvaluators;
    const suites = await loadSuites(context, files, registry);
    const judgeOf =
      judge === 'offline'
        ? judges.offlineJudges(suites, registry)
        : await judges.serverJudges(context, registry);
    const run = await runSuites(suites, {
      judgeOf,
      filter,
      signal: context.signal,
      onCase: (done, all) => {
        if (done % 20 === 0 || done === all)
          void context.progress(done === all ? '' : `${done} of ${all} cases`);
      },
    });
    if (run.results.length === 0) throw new CliError(`no case has ${JSON.stringify(filter)} in its name`);
    const isToFile = outputFile !== undefined;
    const report = reportOf(run, reporter, {
      paint: isToFile ? (_, text) => text : context.paint,
      width: context.stdout.columns ?? 120,
      coverage: coverage || least !== null,
      verbose,
    });
    const { percent, nodes } = run.coverage.report();
    const counts = countsOf(run.results);
    if (least !== null && nodes.length === 0) {
      throw new CliError('--coverage-min: the suites have no conditions of their own');
    }
    if (isToFile) {
      const place = path.resolve(context.cwd, outputFile);
      await writeFile(place, report).catch((error: unknown) => {
        throw new CliError(`--output-file: ${outputFile} cannot be written: ${messageOf(error)}`);
      });
      await context.say(
        `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped; see ${outputFile}`,
      );
    } else {
      const cases = run.results.map(({ suite, of, status, reasons }) => ({
        suite: suite.name,
        name: of.name,
        file: of.place.file,
        line: of.place.line,
        status,
        reasons: [...reasons],
      }));
      await context.output(
        { ...counts, coverage_percent: percent, condition_nodes: nodes.length, cases },
        report,
      );
    }
    for (const [name, count] of suitesNotRun(run.results)) {
      await context.warn(`${name}: none of its ${count} cases was run: all were skipped`);
    }
    if (least !== null && percent < least) {
      await context.warn(`coverage is ${percent.toFixed(1)} %, below the ${least} % of --coverage-min`);
      return 2;
    }
    return counts.failed > 0 || (failSkipped && counts.skipped > 0) ? 2 : 0;
  },
});

function percentOf(given: string | undefined): number | null {
  if (given === undefined) return null;
  const percent = /^\d{1,3}(?:\.\d+)?%?$/.test(given) ? Number.parseFloat(given) : Number.NaN;
  if (percent >= 0 && percent <= 100) return percent;
  throw new CliError('--coverage-min: must be a percentage from 0 to 100');
}
