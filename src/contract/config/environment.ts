import { editDistance } from '../warnings/suggestion.js';
import { DATABASE_VARIABLES, type Environment } from './config-database.js';
import { fileVariableOf, secretNames } from './secret-files.js';
import { SETTINGS } from './settings.js';

/** Variables that are read elsewhere or deliberately refused. */
export const REFUSED = new Map([
  [
    'SERVICE_UI_DIST_DIR',
    'this service serves its own dashboard only (SERVICE_UI_ENABLED); remove the variable and serve another UI elsewhere',
  ],
]);

/** Whether a variable has a blank value with a meaning. */
export function isBlank(name: string, value: string | undefined): boolean {
  if (value === undefined || value.trim() !== '') return false;
  return SETTINGS.some(({ names, reader }) => reader.readsBlank === true && names.includes(name));
}

/** Whether a variable has a value. */
export function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== '';
}

/** The variables that are not of this service: custom evaluators may read them. */
export function foreignVariables(environment: Environment): Record<string, string> {
  const own = ownVariables();
  const foreign = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !own.has(entry[0]),
  );
  return Object.fromEntries(foreign);
}

/** The names of all variables of this service, those of files with secrets included. */
function ownVariables(): ReadonlySet<string> {
  const inTables = SETTINGS.flatMap(({ names }) => names);
  return new Set([...inTables, ...DATABASE_VARIABLES, ...secretNames().map(fileVariableOf)]);
}

/** Names that look like those of this service but are not. */
export function unknownVariables(environment: Environment): string[] {
  const own = ownVariables();
  return Object.keys(environment)
    .filter((name) => name.startsWith('SERVICE_') && !own.has(name) && !REFUSED.has(name))
    .sort();
}

/** Most letters that differ between a misspelled name and the one that is meant. */
const MAX_DIFFERENCE = 2;
/** The address of the database is as telling as the prefix of the service; shorter names belong to other programs. */
const OWN_NAME = /^(?:SERVICE_|DATABASE_URL$)/;

/**
 * A problem for each variable whose name differs in one or two letters from one of this service: what it was meant to
 * set, for example whether keys are required, would have its default.
 */
export function misspelledVariables(environment: Environment): string[] {
  const own = ownVariables();
  const candidates = [...own].filter((name) => OWN_NAME.test(name));
  return Object.keys(environment)
    .filter((name) => !own.has(name) && !REFUSED.has(name) && isSet(environment[name]))
    .sort()
    .flatMap((name) => {
      const meant = nearest(name, candidates);
      return meant === null ? [] : `${name}: no such variable; did you mean ${meant}? Rename or remove it`;
    });
}

function nearest(name: string, candidates: readonly string[]): string | null {
  let found: string | null = null;
  let least = MAX_DIFFERENCE + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const distance = editDistance(name.toUpperCase(), candidate);
    if (distance >= least) continue;
    least = distance;
    found = candidate;
  }
  return found;
}
