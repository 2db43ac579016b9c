import { readFileSync } from 'node:fs';
import { parse as parseDotenv } from 'dotenv';
import { admissionLimits } from './admission-limits.js';
import { authSettings } from './auth-settings.js';
import { databaseUrl, databaseVariable, type Environment, migrationUrl } from './config-database.js';
import { sinksConfig } from './config-sinks.js';
import {
  foreignVariables,
  isBlank,
  isSet,
  misspelledVariables,
  REFUSED,
  unknownVariables,
} from './environment.js';
import { operationsAddress, tlsSettings } from './listener-settings.js';
import { notificationConfig } from './notification-settings.js';
import { withSecretFiles } from './secret-files.js';
import { isSetting, type Setting, type SettingTable } from './setting.js';
import { type SettingValues, TABLES } from './settings.js';

/**
 * Configuration of the service. Read once at start, then frozen. Its members are those of the tables in
 * `settings.ts`, and what `completed` derives from them.
 */
export type Config = Frozen<ReturnType<typeof completed>>;

type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Member in keyof T]: Frozen<T[Member]> }
    : T;

/** The environment is invalid. `message` lists each variable, its problem and an example. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`The configuration cannot be used:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/** Reads the environment, and the files of secrets it names. Throws a ConfigError that lists all problems. */
export function readConfig(given: Environment): Config {
  const problems: string[] = [];
  const environment = withSecretFiles(given, problems);
  const values: Values = {};
  for (const table of TABLES) readTable(table, values, environment, problems);
  for (const [name, why] of REFUSED) {
    if (isSet(environment[name])) problems.push(`${name}: ${why}`);
  }
  problems.push(...misspelledVariables(given));
  // Their types follow from the same tables.
  const config = completed(values as SettingValues, environment, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return deepFreeze(config);
}

/** The environment of the process, extended by a `.env` file in the working directory. */
export function loadEnvironment(processEnvironment: Environment, dotenvPath = '.env'): Environment {
  let content: string;
  try {
    content = readFileSync(dotenvPath, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return processEnvironment;
    // Continuing without it could mean running without its API keys.
    throw new ConfigError([`${dotenvPath}: it exists but cannot be read (${message})`]);
  }
  const set = Object.entries(processEnvironment).filter(
    ([name, value]) => isSet(value) || isBlank(name, value),
  );
  return { ...parseDotenv(content), ...Object.fromEntries(set) };
}

interface Values {
  [member: string]: unknown;
}

/** Adds the values of a table at their places: tables may share a group, such as `limits`. */
function readTable(table: SettingTable, values: Values, environment: Environment, problems: string[]): void {
  for (const [member, entry] of Object.entries(table)) {
    if (isSetting(entry)) {
      values[member] = readSetting(entry, environment, problems);
      continue;
    }
    const group = (values[member] ?? {}) as Values;
    readTable(entry, group, environment, problems);
    values[member] = group;
  }
}

function readSetting(
  { names, reader, fallback }: Setting,
  environment: Environment,
  problems: string[],
): unknown {
  const name =
    names.find((candidate) => isSet(environment[candidate])) ??
    names.find((candidate) => isBlank(candidate, environment[candidate]));
  if (name === undefined) return fallback;
  const value = reader.read(environment[name]?.trim() ?? '');
  if (value !== undefined) return value;
  problems.push(`${name}: must be ${reader.expected}; for example ${name}=${reader.example}`);
  return fallback;
}

/** Adds what follows from several settings, or from other variables. Problems are told in this order. */
function completed(values: SettingValues, environment: Environment, problems: string[]) {
  const url = databaseUrl(environment, problems);
  const tls = tlsSettings(values, problems);
  const auth = authSettings(values, isSet(environment.SERVICE_API_KEY_ENABLED), problems);
  const operations = operationsAddress(values, problems);
  const { migration, log, limits, evaluators } = values;
  return {
    ...values,
    tls,
    auth,
    operations,
    /** Prefix of all JSON routes but those of sessions, for example `/api/v1`. */
    apiBase: `${values.apiPrefix}/${values.apiVersion}`,
    databaseUrl: url,
    /** The variable that sets it, for errors about the database. */
    databaseVariable: databaseVariable(environment),
    migration: { ...migration, url: migrationUrl(migration.url, url, problems) },
    log: { ...log, level: log.level ?? (values.debug ? 'debug' : 'info') },
    limits: { ...limits, admission: admissionLimits(limits) },
    /** Their environment has no variables of the service, whose secrets they must not see. */
    evaluators: { ...evaluators, environment: foreignVariables(environment) },
    eventSinks: sinksConfig(values, problems),
    publicUrl: values.publicUrl?.replace(/\/+$/, '') ?? null,
    notifications: notificationConfig(values, problems),
    /** Unknown variables with the prefix of the service: probably misspelt. */
    unknownVariables: unknownVariables(environment),
  };
}

function deepFreeze<T extends object>(value: T): T {
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null) deepFreeze(member);
  }
  return Object.freeze(value);
}
