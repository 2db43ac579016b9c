import { z } from 'zod';
import { list, report, text } from '../../../../src/contract/input/fields.js';
import { threshold } from '../detector/detector.js';
import { knownWord } from '../detector/known-word.js';
import { PLATFORMS } from './programs.js';

/** What can be forbidden, whichever program it is. */
export const FORBIDDABLE = [
  'substitution',
  'pipe_to_shell',
  'eval',
  'download_and_run',
  'sudo',
  'redirect_outside',
  'write_device',
  'background',
  'fork_bomb',
  'unknown_program',
] as const;

export type Forbidden = (typeof FORBIDDABLE)[number];

const MAX_PROGRAMS = 1_000;
const MAX_CALLS = 100;
const MAX_PARTS = 50;
/** Longest name, flag or argument in a configuration, in characters. */
const MAX_NAME_LENGTH = 256;

const programName = (): z.ZodType<string> =>
  text({ min: 1, max: MAX_NAME_LENGTH, pattern: /^[^\s'"\\;&|<>()$`]+$/ });

const deniedCall = z.object({
  program: programName().meta({ description: 'Name of the program, or its path when it contains a slash.' }),
  subcommand: text({ min: 1, max: MAX_NAME_LENGTH, pattern: /^[^\s'"\\;&|<>()$`-][^'"\\;&|<>()$`]*$/ })
    .optional()
    .meta({
      description:
        'The command of the program, its first words that are neither options nor their values: push, or remote add.',
    }),
  flags: list(text({ min: 2, max: MAX_NAME_LENGTH, pattern: /^--?[^\s=]+$/ }), { max: MAX_PARTS })
    .optional()
    .meta({ description: 'Flags that must all be given, in any order and grouping.' }),
  arguments: list(text({ min: 1, max: MAX_NAME_LENGTH }), { min: 1, max: MAX_PARTS })
    .optional()
    .meta({ description: 'Arguments of which one must be given, as they are written in a command.' }),
});

/** A call that is denied: of a program, with its command, all of the flags and one of the arguments. */
export type DeniedCall = z.output<typeof deniedCall>;

export const shellConfig = z
  .object({
    deny_programs: list(programName(), { min: 1, max: MAX_PROGRAMS }).optional().meta({
      description: 'Programs that must not run. A name stands for the program in every folder.',
    }),
    allow_programs: list(programName(), { min: 1, max: MAX_PROGRAMS })
      .optional()
      .meta({
        description:
          'Programs that may run. Any other is found, and so is whatever cannot be told for certain. A name stands for ' +
          'the program in the folders of the system; others are listed with their path.',
      }),
    deny: list<DeniedCall>(deniedCall, { min: 1, max: MAX_CALLS }).optional().meta({
      description:
        'Calls that must not be made: a program with the subcommand, all of the flags and one of the arguments.',
    }),
    forbid: list(knownWord(FORBIDDABLE, 'construct'), { min: 1, max: FORBIDDABLE.length })
      .optional()
      .meta({ description: `What must not occur, whichever program runs: ${FORBIDDABLE.join(', ')}.` }),
    platform: knownWord(PLATFORMS, 'platform')
      .optional()
      .meta({
        description:
          'Whose names of programs are meant: posix, darwin (letter case ignored), windows (also .exe, .cmd, .bat and .com, ' +
          'and backslashes in paths) or any. Default any for what is denied, posix for allow_programs.',
      }),
    threshold: threshold(0.5),
  })
  .transform((config, sink) => {
    const { deny_programs, allow_programs, deny, forbid } = config;
    if ((deny_programs ?? allow_programs ?? deny ?? forbid) === undefined) {
      const message =
        'needs at least one of deny_programs, allow_programs, deny and forbid: without them nothing is found';
      report(sink, 'value_error', message, config);
    }
    return config;
  });

export type ShellConfig = z.output<typeof shellConfig>;
