import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

/**
 * One measured figure. `yardstick` is the same figure of what it is compared with, `ratio` the median over rounds.
 * @typedef {{ name: string, value: number, unit: string, yardstick?: number, ratio?: number }} Row
 */

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [below = Number.NaN, above = Number.NaN] = sorted.slice(middle - 1 + (sorted.length % 2));
  return sorted.length % 2 === 1 ? below : (below + above) / 2;
}

/**
 * The value below which `share` of the values are.
 * @param {readonly number[]} values
 * @param {number} share
 */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/**
 * A row without rounds: the ratio is that of the two figures.
 * @param {string} name
 * @param {number} value
 * @param {string} unit
 * @param {number} [yardstick]
 * @returns {Row}
 */
export function singleRow(name, value, unit, yardstick) {
  if (yardstick === undefined) return { name, value, unit };
  return { name, value, unit, yardstick, ratio: value / yardstick };
}

/**
 * Prints a benchmark as a table and writes it to `NAME.json` in `bench/results`, or in the folder BENCH_RESULTS.
 * @param {string} name
 * @param {Row[]} rows
 */
export function report(name, rows) {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`;
  const width = Math.max(...rows.map((row) => row.name.length));
  console.log(`\n${name}  (${machine})`);
  console.log(`${'row'.padEnd(width)}  ${'value'.padStart(12)}  ${'yardstick'.padStart(12)}  ratio  unit`);
  for (const row of rows) {
    const ratio = row.ratio === undefined ? '' : row.ratio.toFixed(2);
    console.log(
      `${row.name.padEnd(width)}  ${shown(row.value)}  ${shown(row.yardstick)}  ${ratio.padStart(5)}  ${row.unit}`,
    );
  }
  const folder = process.env.BENCH_RESULTS ?? join(import.meta.dirname, '..', 'results');
  mkdirSync(folder, { recursive: true });
  const date = new Date().toISOString();
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify({ name, date, machine, rows }, null, 2)}\n`);
}

/** @param {number | undefined} value */
function shown(value) {
  const text = value === undefined ? '' : value.toLocaleString('en', { maximumFractionDigits: 3 });
  return text.padStart(12);
}
