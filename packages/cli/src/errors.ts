/** What is wrong, and what to do: printed without a stack, and the command ends with 1. */
export class CliError extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CliError';
    this.hint = hint;
  }
}

/** A use of the command that its `--help` does not have. */
export class UsageError extends CliError {}

/** The text of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
