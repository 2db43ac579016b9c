import { stringifyJson } from '../../../exact-json/src/index.js';
import { gapOf } from './coverage.js';
import { explanationLines, type TextOptions } from './explanation-text.js';
import { type CaseResult, countsOf, type SuiteRun } from './run-suites.js';
import type { Suite } from './suite.js';

/** Formats of a report. */
export const REPORTERS = ['pretty', 'tap', 'junit'] as const;
export type Reporter = (typeof REPORTERS)[number];

export interface ReportOptions extends TextOptions {
  readonly coverage: boolean;
  /** Whether cases that passed are listed, too. */
  readonly verbose: boolean;
}

/** The report of a run as text, with a line break at its end. */
export function reportOf(run: SuiteRun, reporter: Reporter, options: ReportOptions): string {
  const lines = { pretty, tap, junit }[reporter](run, options);
  return `${lines.join('\n')}\n`;
}

const PLAIN: TextOptions = { paint: (_, text) => text, width: 120 };
/** Most explanations below a failed case. */
const MAX_EXPLANATIONS = 10;
const DESCRIBED = { passed: '✓', failed: '✗', skipped: '-' } as const;

function pretty(run: SuiteRun, options: ReportOptions): string[] {
  const { paint, verbose, coverage } = options;
  const { results, durationMs } = run;
  const lines: string[] = [];
  const colours = { passed: 'green', failed: 'red', skipped: 'yellow' } as const;
  for (const [suite, own] of bySuite(results)) {
    const { passed, failed, skipped } = countsOf(own);
    const status = failed > 0 ? 'failed' : passed > 0 ? 'passed' : 'skipped';
    const counts = [
      `${passed} passed`,
      ...(failed > 0 ? [`${failed} failed`] : []),
      ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ];
    const file = suite.name === suite.file ? '' : paint('dim', ` ${suite.file}`);
    lines.push(`${paint(colours[status], DESCRIBED[status])} ${suite.name}${file}: ${counts.join(', ')}`);
    for (const { of, status, reasons } of own) {
      if (status === 'skipped') lines.push(`  ${paint('yellow', '-')} ${of.name}: ${reasons.join('; ')}`);
      else if (verbose && status === 'passed') lines.push(`  ${paint('green', '✓')} ${of.name}`);
    }
  }
  for (const result of results.filter(({ status }) => status === 'failed')) {
    lines.push('', `${paint('red', '✗')} ${placeOf(result)} ${paint('bold', result.of.name)}`);
    lines.push(...failureLines(result, { paint, width: options.width - 4 }).map((line) => `    ${line}`));
  }
  if (coverage) lines.push('', ...coverageLines(run, options));
  const { passed, failed, skipped } = countsOf(results);
  const seconds = (durationMs / 1_000).toFixed(2);
  lines.push(
    '',
    `${results.length} cases: ${passed} passed, ${failed} failed, ${skipped} skipped, ${seconds} s`,
  );
  return lines;
}

/** What of nodes was never seen, and the share that was. */
function coverageLines({ coverage }: Pick<SuiteRun, 'coverage'>, { paint }: TextOptions): string[] {
  const { nodes, percent } = coverage.report();
  const gaps = nodes.flatMap((node) => {
    const gap = gapOf(node);
    const { file, line, column, control, path, kind } = node;
    return gap === null
      ? []
      : [`  ${file}:${line}:${column}: ${control}: ${path} (${kind}) was ${paint('yellow', gap)}`];
  });
  const share = `${percent.toFixed(1)} % of the results of ${nodes.length} nodes were seen`;
  return gaps.length === 0 ? [`coverage: ${share}`] : [`coverage: ${share}; the others:`, ...gaps];
}

function failureLines(result: CaseResult, options: TextOptions): string[] {
  const { reasons, judged, explanations, of } = result;
  const reason = judged?.reason ?? null;
  const named = new Set([
    ...(judged?.matches ?? []).map(({ name }) => name),
    ...(judged?.errors ?? []).map(({ name }) => name),
    ...(Array.isArray(of.expect.controls) ? of.expect.controls : (of.expect.controls?.contains ?? [])),
  ]);
  const concerned = explanations.filter((one) =>
    named.size === 0 ? one.applies : named.has(one.control_name),
  );
  const shown = concerned.slice(0, MAX_EXPLANATIONS).flatMap((one) => explanationLines(one, options));
  const more = concerned.length - MAX_EXPLANATIONS;
  return [
    ...reasons,
    ...(reason === null ? [] : [`reason: ${reason}`]),
    ...shown,
    ...(more > 0 ? [`… and ${more} more controls`] : []),
  ];
}

/** TAP 14 (https://testanything.org/tap-version-14-specification.html). */
function tap({ results, coverage }: SuiteRun, options: ReportOptions): string[] {
  const lines = ['TAP version 14', `1..${results.length}`];
  for (const [index, result] of results.entries()) {
    const { suite, of, status, reasons } = result;
    const name = tapText(`${suite.name} > ${of.name}`);
    const skipped = status === 'skipped' ? ` # SKIP ${tapText(reasons.join('; '))}` : '';
    lines.push(`${status === 'failed' ? 'not ok' : 'ok'} ${index + 1} - ${name}${skipped}`);
    if (status !== 'failed') continue;
    // Texts of JSON are texts of YAML.
    lines.push('  ---', `  at: ${stringifyJson(placeOf(result))}`, '  message:');
    lines.push(...failureLines(result, PLAIN).map((line) => `    - ${stringifyJson(line)}`), '  ...');
  }
  if (options.coverage) lines.push(...coverageLines({ coverage }, PLAIN).map((line) => `# ${line}`));
  return lines;
}

function tapText(text: string): string {
  return text.replaceAll(/[\r\n\v\f\u0085\u2028\u2029]+/g, ' ').replaceAll(/[\\#]/g, '\\$&');
}

function junit({ results, durationMs }: SuiteRun): string[] {
  const { failed, skipped } = countsOf(results);
  const total = `tests="${results.length}" failures="${failed}" errors="0" skipped="${skipped}"`;
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="control-enforcement test" ${total} time="${secondsOf(durationMs)}">`,
  ];
  for (const [suite, own] of bySuite(results)) {
    const counts = countsOf(own);
    const time = secondsOf(own.reduce((sum, one) => sum + one.durationMs, 0));
    lines.push(
      `  <testsuite name="${xml(suite.name)}" file="${xml(suite.file)}" tests="${own.length}" failures="${counts.failed}" errors="0" skipped="${counts.skipped}" time="${time}">`,
    );
    for (const result of own) {
      const { of, status, reasons, durationMs: took } = result;
      const attributes = `name="${xml(of.name)}" classname="${xml(suite.name)}" file="${xml(of.place.file)}" line="${of.place.line}" time="${secondsOf(took)}"`;
      if (status === 'passed') lines.push(`    <testcase ${attributes}/>`);
      else {
        const inner =
          status === 'skipped'
            ? `<skipped message="${xml(reasons.join('; '))}"/>`
            : `<failure message="${xml(reasons[0] ?? '')}">${xml([placeOf(result), ...failureLines(result, PLAIN)].join('\n'))}</failure>`;
        lines.push(`    <testcase ${attributes}>`, `      ${inner}`, '    </testcase>');
      }
    }
    lines.push('  </testsuite>');
  }
  return [...lines, '</testsuites>'];
}

/** XML 1.0 has no form for most control characters, nor for halves of surrogate pairs. */
function xml(text: string): string {
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced.
      .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      // As they are, readers of attributes take them for blanks.
      .replaceAll(/[\t\n\r]/g, (blank) => `&#${blank.charCodeAt(0)};`)
  );
}

const secondsOf = (ms: number): string => (ms / 1_000).toFixed(6);

function placeOf({ of: { place } }: CaseResult): string {
  return `${place.file}:${place.line}:${place.column}`;
}

function bySuite(results: readonly CaseResult[]): Map<Suite, CaseResult[]> {
  const suites = new Map<Suite, CaseResult[]>();
  for (const result of results) {
    const own = suites.get(result.suite);
    if (own === undefined) suites.set(result.suite, [result]);
    else own.push(result);
  }
  return suites;
}
