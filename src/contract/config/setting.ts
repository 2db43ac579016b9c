import type { Reader } from './config-readers.js';

/** One variable: its names (the first one set is used), its reader, its default, and its `--help` text. */
export interface Setting<T = unknown, Name extends string = string> {
  readonly names: readonly [Name, ...string[]];
  readonly reader: Reader<T>;
  readonly fallback: T;
  readonly shownDefault: string;
  readonly help: string;
}

/** Settings at the places that their values have in the configuration. */
export interface SettingTable {
  readonly [member: string]: Setting | SettingTable;
}

/** The values of the settings of a table. */
export type ValuesOf<Table> =
  Table extends Setting<infer Value> ? Value : { readonly [Member in keyof Table]: ValuesOf<Table[Member]> };

/** The first names of the settings of a table. */
export type NamesIn<Table> =
  Table extends Setting<unknown, infer Name>
    ? Name
    : { [Member in keyof Table]: NamesIn<Table[Member]> }[keyof Table];

/** A setting that lacks the last part of its declaration. */
interface WithoutHelp<T, Name extends string> {
  /** `shownDefault` is the default in the help, if that is not the text that stands for it. */
  help(text: string, shownDefault?: string): Setting<T, Name>;
}

type Names<Name extends string> = Name | readonly [Name, ...string[]];

/**
 * Declares a setting by its names, and by a default as its variable could state it: in seconds, for example, if
 * these are converted. The default can also be null, for nothing.
 */
export function setting<const Name extends string, T>(
  names: Names<Name>,
  fallback: string | number | boolean,
  reader: Reader<T>,
): WithoutHelp<T, Name>;
export function setting<const Name extends string, T>(
  names: Names<Name>,
  fallback: null,
  reader: Reader<T>,
): WithoutHelp<T | null, Name>;
export function setting<const Name extends string, T>(
  given: Names<Name>,
  fallback: string | number | boolean | null,
  reader: Reader<T>,
): WithoutHelp<T | null, Name> {
  const names = typeof given === 'string' ? ([given] as const) : given;
  const text = String(fallback ?? '');
  const value = fallback === null ? null : reader.read(text);
  if (value === undefined) throw new Error(`${names[0]}: its default must be ${reader.expected}`);
  return {
    help: (help, shownDefault = text) => ({
      names,
      reader: { ...reader, example: reader.example ?? text },
      fallback: value,
      shownDefault,
      help,
    }),
  };
}

/** Whether an entry of a table is a setting, not a table of further ones. */
export function isSetting(entry: Setting | SettingTable): entry is Setting {
  return Array.isArray(entry.names);
}
