import { type SimpleCommand, UNKNOWN, type Word } from '../../../shell-reader/src/index.js';
import { assignedName, checkValue, isReservedVariable } from './assignments.js';
import { joinedText } from './assumed-text.js';
import { commandsInCode } from './code-texts.js';
import { type Call, type Calls, checkArguments } from './launched.js';
import { grammarOf, isLauncher } from './launchers/rows.js';
import { DOWNLOADERS, ELEVATING, SHELLS } from './programs.js';
import { executedBy, runsCode } from './shell-call.js';
import { isOutside } from './subset.js';
import { MAY_RUN, RUNS_LATER, type TextScope } from './text-scope.js';
import { checkUnknownProgram } from './unknown-programs.js';
import { checkWindowsShell, WINDOWS_SHELLS } from './windows-texts.js';
import { checkWritten } from './written-targets.js';

/** Most programs that run one another in one command. */
const MAX_LAYERS = 16;

/** Builtins that evaluate the names of variables they are given, or words for completion. */
const EVALUATES =
  /^(?:let|test|\[|printf|read|mapfile|readarray|unset|declare|typeset|local|export|readonly|wait|getopts|set|compgen|complete)$/;

/** Checks calls of programs, with the programs and texts that they run. */
export class CallCheck implements Calls {
  constructor(private readonly text: TextScope) {}

  call(command: SimpleCommand, words: readonly Word[], layers: number, fromInput: boolean): void {
    const { findings, rules, downloads } = this.text;
    const [program, ...args] = words;
    if (program === undefined) return;
    const { value } = program;
    const isPattern = program.pattern && value !== '[';
    const isTooDeep = layers > MAX_LAYERS;
    if (isTooDeep || program.dynamic || isPattern || value === '' || (fromInput && value.includes('{}'))) {
      findings.unknown(program);
      if (isTooDeep) return;
      // A variable may be empty, or a wrapper.
      if (program.splits && value === UNKNOWN) this.call(command, args, layers + 1, fromInput);
      // Braces make several words, the first of which is the program.
      if (program.dynamic || !isPattern || /[*?[{]/.test(value)) return;
    }
    const path = rules.pathOf(value, this.text.text.slice(program.start, program.end));
    const name = rules.nameOf(path);
    const call: Call = { command, name, program, args, layers, fromInput };
    this.#program(call, path);
    if (WINDOWS_SHELLS.has(name)) checkWindowsShell(this.text, call);
    else if (runsCode(name)) this.shell(call);
    else if (name === '.' || name === 'source') {
      if (args.length > 0) findings.outside(program);
      this.script(command, args[0], program);
    } else if (grammarOf(name) !== undefined) checkArguments(this.text, this, call);
    else if (path.includes('/') && downloads.has(path)) findings.forbidden('download_and_run', program);
    if (!runsCode(name) && !isLauncher(name)) checkUnknownProgram(this.text, call);
  }

  /** What a call is, whatever the program runs. */
  #program(call: Call, path: string): void {
    const { rules, findings, functions, downloads } = this.text;
    const { command, name, program, args } = call;
    functions.call(path, command.pipeFrom >= 0);
    if (rules.isDenied(path)) findings.add('program_denied', program);
    if (!rules.isAllowed(program.value)) findings.add('program_not_allowed', program);
    if (ELEVATING.has(name)) findings.forbidden('sudo', program);
    if (name === 'eval') findings.forbidden('eval', program);
    const score = rules.calls.score(call);
    const { end } = args.at(-1) ?? program;
    if (score > 0) findings.add('call_denied', { start: program.start, end }, score);
    if (DOWNLOADERS.has(name)) downloads.add(command, args);
    for (const word of args) {
      const assigned = assignedName(word.value);
      if (assigned === undefined) continue;
      if (isReservedVariable(assigned)) findings.outside(word);
      checkValue(assigned, word.value.slice(word.value.indexOf('=') + 1), word, this.text);
    }
    const outside = rules.isStrict ? isOutside(name, args) : undefined;
    if (outside !== undefined) findings.outside(outside);
    if (EVALUATES.test(name)) {
      for (const word of args) {
        if (word.value.includes('[') || name.startsWith('comp')) this.text.evaluates(word.value, word);
      }
    }
    if (name === 'echo' || name === 'printf') this.text.writes = { words: args, start: command.start };
    checkWritten(name, args, findings);
  }

  shell({ command, name, program, args }: Call): void {
    const executed = executedBy(name, args);
    if (executed.kind === 'text') this.text.word(executed.word, command);
    else if (executed.kind === 'input') this.input(command, program, SHELLS.has(name));
    else if (executed.kind === 'file') {
      this.script(command, executed.word, program);
      if (executed.word.value.startsWith(UNKNOWN)) this.text.findings.outside(executed.word);
    } else {
      for (const each of commandsInCode(executed.word?.value ?? '', name))
        this.text.guess(each, program, MAY_RUN);
    }
  }

  input(
    command: SimpleCommand,
    program: Word,
    isShell: boolean,
    kind: 'commands' | 'cron' = 'commands',
  ): void {
    const { findings, downloads, written } = this.text;
    const input = command.redirects.findLast(({ operator }) => operator.startsWith('<'));
    if (input?.operator === '<<' || input?.operator === '<<-') {
      if (isShell) this.text.readingDocuments.set(command, kind);
    } else if (input?.operator === '<<<') {
      if (isShell && kind === 'cron') this.text.cron(input.target.value, input.target);
      else if (isShell) this.text.word(input.target, command);
    } else if (input !== undefined) this.script(command, input.target, program);
    else if (command.pipeFrom >= 0) {
      const pipeline = { start: command.pipeFrom, end: command.end };
      findings.forbidden('pipe_to_shell', command);
      if (downloads.lastAt >= pipeline.start) findings.forbidden('download_and_run', pipeline);
      if (!isShell || written?.start !== pipeline.start) findings.unknown(program);
      else if (kind === 'cron') this.text.cron(joinedText(written.words), pipeline);
      else this.text.texts(written.words);
    }
  }

  script(command: SimpleCommand, file: Word | undefined, program: Word): void {
    const { findings, downloads, files } = this.text;
    if (file === undefined) return;
    const isInput = file.value === '/dev/stdin';
    if (isInput && command.pipeFrom >= 0) findings.forbidden('pipe_to_shell', command);
    if (downloads.has(file.value) || (file.substitutes && downloads.lastAt >= file.start)) {
      findings.forbidden('download_and_run', command);
    }
    if (file.substitutes || isInput) findings.unknown(program);
    const written = files.take(file.value);
    if (written !== undefined) this.text.guess(written, file, RUNS_LATER);
  }
}
