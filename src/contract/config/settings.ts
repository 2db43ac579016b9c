import { ADAPTERS } from './adapter-settings.js';
import { CALL_LIMITS, LOAD_LIMITS } from './admission-limits.js';
import { APPROVALS } from './approval-settings.js';
import { AUTH_MODES } from './auth-modes.js';
import { ACCESS } from './auth-settings.js';
import { DATABASE } from './config-database.js';
import { SINKS } from './config-sinks.js';
import { EVALUATORS, FRESHNESS, PACKS, STRICTNESS } from './evaluation-settings.js';
import { AUDIT, EVENTS } from './event-settings.js';
import { LISTENER } from './listener-settings.js';
import { MEMORY } from './memory-settings.js';
import { NOTIFICATIONS } from './notification-settings.js';
import { PROCESS, REPORTS } from './process-settings.js';
import { SAMPLES } from './sample-settings.js';
import { isSetting, type NamesIn, type Setting, type SettingTable, type ValuesOf } from './setting.js';
import { TELEMETRY } from './telemetry-settings.js';

/** All settings, in the order of `--help`. The place of a setting in its table is that of its value in `Config`. */
export const TABLES = [
  LISTENER,
  ACCESS,
  AUTH_MODES,
  REPORTS,
  STRICTNESS,
  CALL_LIMITS,
  LOAD_LIMITS,
  PROCESS,
  DATABASE,
  FRESHNESS,
  EVALUATORS,
  PACKS,
  MEMORY,
  APPROVALS,
  ADAPTERS,
  SAMPLES,
  EVENTS,
  SINKS,
  NOTIFICATIONS,
  AUDIT,
  TELEMETRY,
] as const;

type MergedValues<Tables extends readonly unknown[]> = Tables extends readonly [infer First, ...infer Rest]
  ? ValuesOf<First> & MergedValues<Rest>
  : unknown;

/** What the variables are set to. */
export type SettingValues = MergedValues<typeof TABLES>;

/** The first name of each variable. */
export type SettingName = NamesIn<(typeof TABLES)[number]>;

/** Every variable the service reads. A test compares the table in docs/configuration.md with it. */
export const SETTINGS: readonly Setting[] = TABLES.flatMap(settingsIn);

function settingsIn(table: SettingTable): Setting[] {
  return Object.values(table).flatMap((entry) => (isSetting(entry) ? [entry] : settingsIn(entry)));
}
