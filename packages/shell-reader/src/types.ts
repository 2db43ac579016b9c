/** A word of a command. Positions are in UTF-16 code units of the text that is read. */
export interface Word {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  /** The text after removal of quotes and escapes; each piece that is known only at run time is U+0000. */
  readonly value: string;
  /** Whether a part is known only at run time: a variable, a substitution, arithmetic. */
  readonly dynamic: boolean;
  /** Whether such a part is outside quotes, so that the word may become none, or several. */
  readonly splits: boolean;
  /** Whether a part is replaced by the output of a command, or by a file that one writes or reads. */
  readonly substitutes: boolean;
  /** Whether it has a pattern of file names, or braces that make several words. */
  readonly pattern: boolean;
  /** Whether a part is quoted or escaped. */
  readonly quoted: boolean;
  /** Where the value stands unchanged in the text, or -1. */
  readonly verbatim: number;
  /**
   * The value when each unknown piece is empty, the default that is written for it (`${x:-rm}`), or a blank for IFS: what
   * it is when nothing has set the variables.
   */
  readonly assumed: string;
}

/** A redirection of a command. */
export interface Redirect {
  readonly operator: string;
  /** The file, the descriptor or the delimiter of a here-document; the text of a here-string. */
  readonly target: Word;
  readonly start: number;
}

/** A variable that is assigned before, or instead of, the name of a program. */
export interface Assignment {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  /** The whole assignment; of a list of values only the begin. */
  readonly word: Word;
  /** Where the value begins in the value of the word. */
  readonly valueAt: number;
}

/** A simple command: assignments, words and redirections. The first word names the program. */
export interface SimpleCommand {
  readonly start: number;
  readonly end: number;
  readonly words: readonly Word[];
  readonly assignments: readonly Assignment[];
  readonly redirects: readonly Redirect[];
  /** Begin of the pipeline whose output it reads, also through groups and loops around it; -1 for none. */
  readonly pipeFrom: number;
}

/**
 * Receives what a text contains, in the order of its ends: commands in substitutions before the command that has them as
 * words.
 */
export interface ShellVisitor {
  command(command: SimpleCommand): void;
  /** A redirection of a group, loop or condition. */
  redirect(redirect: Redirect): void;
  /** `$(…)`, a backquoted command, `<(…)` or `>(…)`. */
  substitution(start: number, end: number): void;
  /** A backquoted command with escapes: the command without them, and where the quoted one stands. */
  decoded(command: string, start: number, end: number): void;
  /** A list that runs in the background. */
  background(start: number, end: number): void;
  /** A command that is the input of another process: the lines of a here-document. */
  hereDocument(command: SimpleCommand | undefined, start: number, end: number): void;
  /**
   * A text that the shell reads as arithmetic, a subscript, the name of a variable or a prompt when it runs, so that
   * commands in it may run: `[[ $x -eq 1 ]]`, `${a[$i]}`, `${!x}`, `${x@P}`. Not for plain numbers.
   */
  evaluated(value: string, start: number, end: number): void;
  /** A variable that something else than an assignment sets: a loop, `${x:=…}`, a coprocess. */
  assigned(name: string, start: number, end: number): void;
  enterFunction(name: string): void;
  leaveFunction(start: number, end: number): void;
}

/** Why a text could not be read to its end. */
export interface Problem {
  readonly message: string;
  readonly at: number;
}

/** Thrown inside the reader, never out of it. */
export class Unreadable extends Error {
  constructor(
    message: string,
    readonly at: number,
  ) {
    super(message);
  }
}
