import { COMMANDS, GROUPS, groupOf, HEADINGS, NAME } from './command-table.js';
import { GLOBAL_OPTIONS } from './context.js';

/** The text of `--help` without a command. It needs no parser, so that it is printed at once. */
export function helpText(): string {
  const lines: (readonly [left: string, right: string])[] = [];
  for (const entry of COMMANDS) {
    const group = groupOf(entry);
    const left = group === undefined ? entry.usage : `${group} <command>`;
    if (lines.some(([known]) => known === left)) continue;
    lines.push([left, group === undefined ? entry.summary : (GROUPS[group] ?? '')]);
  }
  const commands = lines.map(([left, right]) => {
    const heading = HEADINGS[left.replace(/ .*$/, '')];
    return `${heading === undefined ? '' : `\n${heading}:\n`}${row(left, right)}`;
  });
  const options = Object.entries(GLOBAL_OPTIONS).map(([name, option]) => {
    const choices = 'choices' in option ? `: ${option.choices.join(', ')}` : '';
    return row(`--${name}`, option.describe + choices);
  });
  return `Controls as code for the Control Enforcement Service.

Usage: ${NAME} <command> [options]
${commands.join('')}
Options of every command:
${options.join('')}
Options:
${row('--version', 'Print the version')}${row('-h, --help', 'Print this, or what a command does: its options and examples')}`;
}

const WIDTH = 29;

function row(left: string, right: string): string {
  return `  ${left.padEnd(WIDTH)}  ${right}\n`;
}
