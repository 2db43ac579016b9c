import type { InferredOptionTypes, Options, PositionalOptions } from 'yargs';
import type { CommandContext } from './context.js';

/** 0: done, or the same. 1: an error, or bad input. 2: different (`diff`), or failed cases (`test`). */
export type ExitCode = 0 | 1 | 2;

/** An example of `--help`, which a test runs in a folder with the files of `init` against a service. */
export interface Example {
  /** The line as it is typed, for example "control-enforcement validate controls". */
  readonly line: string;
  /** What it does. */
  readonly does: string;
  /** The code that it ends with, in a test; 0 if absent. */
  readonly code?: ExitCode;
}

type OptionsOf = { readonly [name: string]: Options };
type PositionalsOf = { readonly [name: string]: PositionalOptions };
type CamelCase<N> = N extends `${infer A}-${infer B}` ? `${A}${Capitalize<CamelCase<B>>}` : N;
/** The parser gives `dry-run` as `dryRun` too. */
type Camel<T> = { readonly [N in keyof T as CamelCase<N>]: T[N] };
type Args<P extends PositionalsOf, O extends OptionsOf> = Camel<
  InferredOptionTypes<P> & InferredOptionTypes<O>
>;

interface Definition<P extends PositionalsOf, O extends OptionsOf> {
  readonly examples: readonly Example[];
  /** The arguments that its usage in the table names, by name. */
  readonly positionals?: P;
  readonly options?: O;
  run(context: CommandContext, args: Args<P, O>): Promise<ExitCode>;
}

/** A command as it is run, of a file of `commands`, with its usage and summary in `command-table.ts`. */
export interface Command {
  readonly examples: readonly Example[];
  readonly positionals: PositionalsOf;
  readonly options: OptionsOf;
  run(context: CommandContext, args: { readonly [name: string]: unknown }): Promise<ExitCode>;
}

/** A command whose arguments have the types of its options and positionals. Errors are `CliError`s. */
export function defineCommand<
  const P extends PositionalsOf = Record<never, never>,
  const O extends OptionsOf = Record<never, never>,
>({ examples, positionals, options, run }: Definition<P, O>): Command {
  return {
    examples,
    positionals: positionals ?? {},
    options: options ?? {},
    // The parser gives each option the type that its definition has.
    run: (context, args) => run(context, args as Args<P, O>),
  };
}

/** The option of commands that read files. */
export const FILES = {
  files: {
    type: 'string',
    array: true,
    demandOption: true,
    describe: 'Files, and folders with *.yaml, *.yml and *.json; "-" is the standard input',
  },
} as const satisfies PositionalsOf;
