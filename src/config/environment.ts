import { type Environment, isDatabaseVariable } from './config-database.js';
import { VARIABLES, type Variable } from './config-variables.js';
import { isSecretFileVariable } from './secret-files.js';

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
  return Object.values(VARIABLES).some(
    (definition: Variable) => definition.blank !== undefined && definition.names.includes(name),
  );
}

/** Whether a variable has a value. */
export function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== '';
}

/** The variables that are not of this service: custom evaluators may read them. */
export function foreignVariables(environment: Environment): Record<string, string> {
  const own = knownVariables();
  const foreign = Object.entries(environment).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      !own.has(entry[0]) &&
      !isDatabaseVariable(entry[0]) &&
      !isSecretFileVariable(entry[0]),
  );
  return Object.fromEntries(foreign);
}

function knownVariables(): ReadonlySet<string> {
  return new Set(Object.values(VARIABLES).flatMap((definition) => [...definition.names] as string[]));
}

/** Names that look like those of this service but are not. */
export function unknownVariables(environment: Environment): string[] {
  const known = knownVariables();
  return Object.keys(environment)
    .filter((name) => name.startsWith('SERVICE_') && !isDatabaseVariable(name))
    .filter((name) => !known.has(name) && !REFUSED.has(name) && !isSecretFileVariable(name))
    .sort();
}
