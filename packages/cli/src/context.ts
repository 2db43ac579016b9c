import type { JsonValue } from '../../exact-json/src/index.js';
import type { Clients } from './clients.js';
import type { Surroundings } from './surroundings.js';

export const FORMATS = ['table', 'json', 'yaml'] as const;
export type Format = (typeof FORMATS)[number];

/** The options of every command, as the parser takes them. */
export const GLOBAL_OPTIONS = {
  server: { type: 'string', describe: 'Address of the server, for example https://controls.example.com' },
  context: { type: 'string', describe: 'Name of a context that login has made' },
  namespace: { type: 'string', describe: 'Namespace that the key must be of, and the documents' },
  output: { type: 'string', choices: FORMATS, describe: 'Form of the output' },
  key: { type: 'string', describe: 'API key; others on this machine can see it. Better: login' },
} as const;

/** A row of a table by the names of its columns. */
export type Row = { readonly [column: string]: string };

/** The options of every command. */
export interface GlobalArgs {
  readonly server?: string | undefined;
  readonly context?: string | undefined;
  readonly namespace?: string | undefined;
  readonly output?: Format | undefined;
  readonly key?: string | undefined;
}

/** What a command works with. */
export interface CommandContext extends Surroundings {
  /** The options of every command, as they are given. */
  readonly args: GlobalArgs;
  /** The `--namespace`; undefined if none is given. */
  readonly namespace: string | undefined;
  readonly format: Format;
  /** Whether `--server` or `--context` names a server: then a command that needs none asks it. */
  readonly isOnline: boolean;
  /** The clients of the server of `--server`, `--context`, the environment or the current context. */
  connect(): Promise<Clients>;
  /** Prints a value as `--output` says: as a table of `rows`, or whole as JSON or YAML. */
  output(value: JsonValue, rows: readonly Row[] | string): Promise<void>;
  /** Prints lines for people to the standard output; nothing if `--output` asks for JSON or YAML. */
  say(text: string): Promise<void>;
  /** Prints a warning or a note to the standard error. */
  warn(text: string): Promise<void>;
  /** Shows how far long work is, on a terminal only. An empty text removes it. */
  progress(text: string): Promise<void>;
  /** Asks a question with the answers y and n; undefined if there is no terminal to ask on. */
  confirm(question: string): Promise<boolean | undefined>;
  readonly paint: Paint;
}

/** Colours of a text; the text itself where there are none. */
export type Paint = (colour: 'red' | 'green' | 'yellow' | 'cyan' | 'dim' | 'bold', text: string) => string;
