import type { Found } from './findings.js';
import { WHOLE_TEXT } from './places.js';
import type { Rules } from './rules.js';
import { ShellText } from './shell-text.js';
import type { Spend } from './text-scope.js';

/** Finds what the rules forbid in the commands of a text. Never throws on account of the text. */
export function checkShell(text: string, rules: Rules, found: Found, spend: Spend): void {
  new ShellText(text, { rules, found, spend, place: WHOLE_TEXT, depth: 0, certainty: 1 }).read();
}
