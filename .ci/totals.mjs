// Prints what failed in the test runs of .ci/run, whole and last, since a log is often kept by its end only; then the
// totals. Arguments: the folder with the JSON reports, and the exit status of the runs.
import { readdirSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const [folder, status] = process.argv.slice(2);
/** Lines of a failure that are printed: the message and the first frames. */
const FAILURE_LINES = 40;

/** Files whose times are printed. */
const SLOWEST = 20;

// A run that died has no report, which is a failure. Those of parts of the system lane are there if they were triggered.
const parts = readdirSync(folder).flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? []);
const runs = [...new Set(['fast', 'system', ...parts])].map((name) => {
  try {
    return { name, ...JSON.parse(readFileSync(`${folder}/${name}.json`, 'utf8')) };
  } catch (error) {
    console.log(`\n--- no report of ${name}: ${error.message}`);
    return {
      numPassedTests: 0,
      numFailedTests: 1,
      numPendingTests: 0,
      numTodoTests: 0,
      success: false,
      testResults: [],
    };
  }
});

for (const { name, status: outcome, message, assertionResults } of runs.flatMap(
  ({ testResults }) => testResults,
)) {
  const failed = assertionResults.filter((test) => test.status === 'failed');
  const file = relative(process.cwd(), name);
  for (const { fullName, failureMessages } of failed) {
    console.log(`\n--- failed: ${file}: ${fullName}`);
    console.log(failureMessages.join('\n').split('\n').slice(0, FAILURE_LINES).join('\n'));
  }
  if (outcome === 'failed' && failed.length === 0 && message !== '') {
    console.log(`\n--- failed: ${file}\n${message}`);
  }
}

/** The lines of a file of JSON, none without the file. */
function linesOf(name) {
  try {
    return readFileSync(`${folder}/${name}.jsonl`, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  } catch {
    return [];
  }
}

for (const { file, suite, error } of linesOf('hooks')) {
  console.log(`\n--- failed before or after the tests of ${file}: ${suite}\n${error}`);
}

const times = linesOf('times').sort((a, b) => b.cpu - a.cpu);
console.log(`\n--- the slowest ${SLOWEST} of ${times.length} runs of files (seconds of CPU, of wall time)`);
for (const { file, cpu, wall } of times.slice(0, SLOWEST)) {
  console.log(`${cpu.toFixed(1).padStart(8)} ${wall.toFixed(1).padStart(8)}  ${file}`);
}

const sum = (member) => runs.reduce((all, run) => all + run[member], 0);
// A test process that died is no failed test, but a failure.
const failed = Math.max(sum('numFailedTests'), status === '0' ? 0 : 1);
if (failed > 0 && sum('numFailedTests') === 0) {
  console.log('\n--- no test failed, but a run ended with an error: see "Unhandled Errors" above');
}
// The suites above the stores that are run once more leave out all that is not about the other database.
const isWhole = ({ name }) => name !== 'above-stores';
const skipped = runs.filter(isWhole).reduce((all, run) => all + run.numPendingTests + run.numTodoTests, 0);
console.log(`${sum('numPassedTests')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed === 0 && runs.every(({ success }) => success) ? 0 : 1;
