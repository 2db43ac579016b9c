/** What a process gives to the command, and tests give in its place. */
export interface Surroundings {
  readonly stdin: AsyncIterable<string | Uint8Array> & { readonly isTTY?: boolean };
  readonly stdout: TextOutput;
  readonly stderr: TextOutput;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that relative paths begin in. */
  readonly cwd: string;
  /** Ends with Ctrl-C, and when the reader of the output has gone. */
  readonly signal: AbortSignal;
}

/** A stream of text. */
export interface TextOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** Resolves when more may be written. */
  write(text: string): Promise<void>;
}
